"""Builds and verifies Merkle inclusion and consistency proofs (RFC 9162, 2.1.3 and 2.1.4).

Rule 1: a proof is a list of ranges of leaves, each of which stands for the hash of its subtree.
Rule 2: a plan is made from ranges alone. It names the spans of stored hashes to read, reads
        nothing itself, and combines the hashes that the caller read into those of the proof.
Rule 3: no plan reads the log: at most 255 hashes of each level beside a path, and as many at the
        right edge, however long the log is.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from attrs import frozen

from svc_core.ledger.log.tree import EMPTY_ROOT, HASH_BYTES, Frontier, Hash, extend, node, root
from svc_core.operation.ports import LEDGER_LEVELS

SIZE_MAX: Final = 2**63 - 1
"""Leaves that a tree may have: what readers of the tlog formats hold sizes in."""
GAP_MAX: Final = 256
"""Hashes that are read in vain to save a read: as many as a tile has."""


class ProofError(ValueError):
    """A proof does not prove the statement that it is given for."""


# -- what proofs consist of --------------------------------------------------------------------


def inclusion_ranges(index: int, size: int) -> Iterator[tuple[int, int]]:
    """Return the range of leaves under each hash of an inclusion proof, from the leaf upwards.

    Raises:
        ValueError: there is no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"A tree of {size} leaves has no leaf {index}.")
    return _path(index, size, 0)


def consistency_ranges(old: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the range of leaves under each hash of a consistency proof, in its order.

    Raises:
        ValueError: the old tree is larger.
    """
    if not 0 <= old <= size:
        raise ValueError(f"A tree of {size} leaves does not begin with {old} leaves.")
    if old in (0, size):
        return
    # The proof climbs from the last complete subtree of the old tree; if it is all of that tree,
    # its hash is the old root, which the verifier has (RFC 9162, 2.1.4.1).
    level = _zeros(old)
    if old != 1 << level:
        yield old - (1 << level), old
    yield from _path(old - 1, size, level)


def frontier_ranges(size: int) -> Iterator[tuple[int, int]]:
    """Yield the range of leaves under each hash of the frontier of a tree of `size` leaves."""
    start = 0
    for level in reversed(range(size.bit_length())):
        if size >> level & 1:
            yield start, start + (1 << level)
            start += 1 << level


def _path(index: int, size: int, level: int) -> Iterator[tuple[int, int]]:
    """The siblings on the way from the node over `index` at `level` to the root."""
    meeting = (index ^ (size - 1)).bit_length()
    for height in range(level, meeting):
        start = (index >> height ^ 1) << height
        yield start, min(start + (1 << height), size)
    # Above the meeting point the path is the right edge, and what is not to its left is missing.
    for height in range(meeting, index.bit_length()):
        if index >> height & 1:
            end = index >> height << height
            yield end - (1 << height), end


def _zeros(number: int) -> int:
    return (number & -number).bit_length() - 1


# -- from a store --------------------------------------------------------------------------------


class Span(NamedTuple):
    """The stored hashes of one tree level, from number `start` to before `end`."""

    level: int
    start: int
    end: int


Part = tuple[Span, ...]
PartHashes = dict[Part, Hash]


@frozen
class ProofPlan:
    """The hashes of a proof to compute, each from stored spans; `spans` says what to read."""

    parts: tuple[Part, ...]

    @property
    def spans(self) -> tuple[Span, ...]:
        """The spans to read from the store, sorted; close ones are merged into one read."""
        spans: list[Span] = []
        for span in sorted(span for part in self.parts for span in part):
            last = spans[-1] if spans else span
            if spans and last.level == span.level and span.start - last.end <= GAP_MAX:
                spans[-1] = Span(last.level, last.start, max(last.end, span.end))
            else:
                spans.append(span)
        return tuple(spans)

    def combine(
        self, reads: Sequence[Sequence[Hash]], cache: PartHashes | None = None
    ) -> tuple[Hash, ...]:
        """Compute the hashes of the proof; `reads` are the hashes of each of `spans`, in order.

        `cache` keeps each computed hash for further plans on the same tree: proofs of
        neighbouring records have most of their hashes in common.

        Raises:
            ValueError: the number of hashes does not fit the span.
        """
        sources = list(zip(self.spans, reads, strict=True))
        for span, hashes in sources:
            if len(hashes) != span.end - span.start:
                raise ValueError(f"{len(hashes)} hashes were read of {span}.")
        cache = {} if cache is None else cache
        for part in self.parts:
            if part not in cache:
                cache[part] = _combine(part, sources)
        return tuple([cache[part] for part in self.parts])


def plan(ranges: Iterable[tuple[int, int]]) -> ProofPlan:
    """Plan the computation of the hashes over these ranges of leaves."""
    return ProofPlan(tuple(_spans(start, end) for start, end in ranges))


def _spans(start: int, end: int) -> tuple[Span, ...]:
    """The leaves from `start` to `end` as kept nodes, the largest first.

    A subtree of a proof starts at a multiple of the power of two that is not below its width, so
    that no kept level up to its width cuts across its start.
    """
    spans = []
    position = start
    for level in reversed(LEDGER_LEVELS):
        stop = end >> level << level
        if 1 << level <= end - start and stop > position:
            spans.append(Span(level, position >> level, stop >> level))
            position = stop
    return tuple(spans)


def _combine(part: Sequence[Span], sources: Sequence[tuple[Span, Sequence[Hash]]]) -> Hash:
    frontier: Frontier = ()
    for span in part:
        frontier += extend((), 0, _cut(span, sources))
    return root(frontier)


def _cut(span: Span, sources: Sequence[tuple[Span, Sequence[Hash]]]) -> Sequence[Hash]:
    for source, hashes in sources:
        if source.level == span.level and source.start <= span.start and span.end <= source.end:
            return hashes[span.start - source.start : span.end - source.start]
    raise AssertionError("the spans to be read cover those of every part")


# -- verifying ---------------------------------------------------------------------------------


def verify_inclusion(index: int, size: int, leaf: Hash, proof: Sequence[Hash], root: Hash) -> None:
    """Check that `leaf` is leaf number `index` of the tree with this `size` and `root`.

    Raises:
        ProofError: the proof does not show it.
    """
    if not 0 <= index < size <= SIZE_MAX:
        raise ProofError(f"A tree of {size} leaves has no leaf {index}.")
    _check_hashes(leaf, root, *proof)
    if _climb(leaf, _steps(index, size, 0, proof)) != root:
        raise ProofError("The proof leads to another root.")


def verify_consistency(
    old: int, size: int, old_root: Hash, root: Hash, proof: Sequence[Hash]
) -> None:
    """Check that the tree of `size` and `root` is an extension of that of `old` and `old_root`.

    Raises:
        ProofError: the proof does not show it.
    """
    if not 0 <= old <= size <= SIZE_MAX:
        raise ProofError(f"A tree of {size} leaves does not begin with {old} leaves.")
    _check_hashes(old_root, root, *proof)
    if old in (0, size):
        if proof:
            raise ProofError("Equal trees, or an empty one, need no proof.")
        if old_root != (root if old else EMPTY_ROOT):
            raise ProofError("The old root is another.")
        return
    level = _zeros(old)
    is_whole = old == 1 << level
    seed, path = (old_root, proof) if is_whole else (b"".join(proof[:1]), proof[1:])
    steps = _steps(old - 1, size, level, path)
    if _climb(seed, [step for step in steps if step.is_left]) != old_root:
        raise ProofError("The proof leads to another old root.")
    if _climb(seed, steps) != root:
        raise ProofError("The proof leads to another root.")


def is_consistent(old: int, size: int, old_root: Hash, root: Hash, proof: Sequence[Hash]) -> bool:
    """Whether the proof shows what `verify_consistency` asks for."""
    try:
        verify_consistency(old, size, old_root, root, proof)
    except ProofError:
        return False
    return True


class _Step(NamedTuple):
    """A hash on the way to a root, and whether it stands to the left of it."""

    is_left: bool
    hash: Hash


def _steps(index: int, size: int, level: int, path: Sequence[Hash]) -> list[_Step]:
    ranges = list(_path(index, size, level))
    if len(path) != len(ranges):
        raise ProofError(f"The path has {len(path)} hashes; {len(ranges)} lead to the root.")
    return [_Step(start < index, hash_) for (start, _), hash_ in zip(ranges, path, strict=True)]


def _climb(value: Hash, steps: Iterable[_Step]) -> Hash:
    """The root that a proof leads to from the node `value`."""
    for is_left, sibling in steps:
        value = node(sibling, value) if is_left else node(value, sibling)
    return value


def _check_hashes(*hashes: Hash) -> None:
    if any(len(hash_) != HASH_BYTES for hash_ in hashes):
        raise ProofError(f"A hash has {HASH_BYTES} bytes.")
