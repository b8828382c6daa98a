"""The Merkle tree over the seals, as RFC 9162, 2.1 (and RFC 6962) define it.

Rule 1: a seal is a leaf hash already; a node is SHA-256(0x01 || left || right), and the root of
        nothing is the SHA-256 of nothing.
Rule 2: nothing is duplicated: a ragged edge is split at the largest power of two below its size.
Rule 3: a log that only grows needs its frontier alone: the roots of the complete subtrees that make
        up its size, largest first, one for each bit that is set.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from svc_core.ports import LEDGER_LEVELS, LedgerNode

Hash = bytes
"""32 bytes."""
Frontier = tuple[Hash, ...]

EMPTY_ROOT: Final[Hash] = sha256(b"").digest()
HASH_BYTES: Final = 32
SIZE_MAX: Final = 2**63 - 1
"""Leaves that a tree may have: what readers of the tlog formats hold sizes in."""
KEPT_LEVELS: Final = LEDGER_LEVELS[1:]
"""The levels above the leaves whose complete nodes a store keeps: those of the tlog tiles."""


class ProofError(ValueError):
    """The proof does not show what it should."""


class Growth(NamedTuple):
    """A tree after leaves were appended, with the nodes of `KEPT_LEVELS` that they completed."""

    size: int
    frontier: Frontier
    nodes: tuple[LedgerNode, ...]


def node(left: Hash, right: Hash) -> Hash:
    """The hash of two children."""
    return sha256(b"\x01" + left + right).digest()


def grow(frontier: Frontier, size: int, leaves: Iterable[Hash]) -> Growth:
    """Append `leaves` to a tree of `size`, level by level; each node is hashed once.

    Raises:
        ValueError: the frontier is not one of that size.
    """
    _check(frontier, size)
    row = list(leaves)
    total = size + len(row)
    edge: list[Hash] = []
    kept: list[LedgerNode] = []
    older = list(frontier)
    level = 0
    while older or row:
        start = size >> level
        if level in KEPT_LEVELS:
            kept += [LedgerNode(level, start + at, hash_) for at, hash_ in enumerate(row)]
        if start & 1:
            row.insert(0, older.pop())
        if len(row) & 1:
            edge.append(row.pop())
        row = pairs(row)
        level += 1
    return Growth(total, tuple(reversed(edge)), tuple(kept))


def extend(frontier: Frontier, size: int, leaves: Iterable[Hash]) -> Frontier:
    """The frontier after `leaves` were appended to a tree of `size`.

    Raises:
        ValueError: the frontier is not one of that size.
    """
    return grow(frontier, size, leaves).frontier


def pairs(row: Sequence[Hash]) -> list[Hash]:
    """The row of nodes above a row of an even length."""
    return [sha256(b"\x01" + a + b).digest() for a, b in zip(row[::2], row[1::2], strict=True)]


def root(frontier: Frontier) -> Hash:
    """The root of the tree that has this frontier."""
    if not frontier:
        return EMPTY_ROOT
    value = frontier[-1]
    for left in frontier[-2::-1]:
        value = node(left, value)
    return value


class Tree:
    """A tree in memory, over leaf hashes. It keeps every complete node: about 64 bytes a leaf."""

    def __init__(self, leaves: Iterable[Hash] = ()) -> None:
        """The tree of `leaves`."""
        self._rows: list[list[Hash]] = [[]]
        self.extend(leaves)

    def __len__(self) -> int:
        return len(self._rows[0])

    def append(self, leaf: Hash) -> None:
        """Add one leaf; it is half a node's hash on average, never more than one a level."""
        rows = self._rows
        index = len(rows[0])
        rows[0].append(leaf)
        level = 0
        while index & 1:
            leaf = sha256(b"\x01" + rows[level][-2] + leaf).digest()
            level += 1
            if level == len(rows):
                rows.append([])
            rows[level].append(leaf)
            index >>= 1

    def extend(self, leaves: Iterable[Hash]) -> None:
        """Add leaves, level by level."""
        rows = self._rows
        rows[0].extend(leaves)
        level = 0
        while len(rows[level]) > 1:
            if level + 1 == len(rows):
                rows.append([])
            done = 2 * len(rows[level + 1])
            rows[level + 1] += pairs(rows[level][done : len(rows[level]) & ~1])
            level += 1

    def root(self, size: int | None = None) -> Hash:
        """The root when the tree had `size` leaves, by default that of now.

        Raises:
            ValueError: it never had so many.
        """
        size = self._size(size)
        return self._range(0, size) if size else EMPTY_ROOT

    def inclusion(self, index: int, size: int | None = None) -> tuple[Hash, ...]:
        """The proof that leaf `index` is in the tree of `size` leaves, from the leaf upwards.

        Raises:
            ValueError: there is no such leaf or size.
        """
        size = self._size(size)
        return tuple(self._range(start, end) for start, end in inclusion_ranges(index, size))

    def consistency(self, old: int, size: int | None = None) -> tuple[Hash, ...]:
        """The proof that the tree of `size` leaves begins with that of `old` leaves.

        Raises:
            ValueError: there are no such sizes.
        """
        size = self._size(size)
        return tuple(self._range(start, end) for start, end in consistency_ranges(old, size))

    def _size(self, size: int | None) -> int:
        now = len(self)
        if size is None:
            return now
        if not 0 <= size <= now:
            raise ValueError(f"The tree has {now} leaves, not {size}.")
        return size

    def _range(self, start: int, end: int) -> Hash:
        width = end - start
        top = width.bit_length() - 1
        value = self._rows[top][start >> top]
        # A ragged range: the complete subtrees to the right of its first hang under their own root.
        right = b""
        for level in range(top):
            if width >> level & 1:
                left = self._rows[level][(end >> level) - 1]
                right = node(left, right) if right else left
        return node(value, right) if right else value


def inclusion(index: int, size: int, hashes: Sequence[Hash]) -> tuple[Hash, ...]:
    """The proof that leaf `index` is in the tree of the first `size` of `hashes`.

    Raises:
        ValueError: there is no such leaf or size.
    """
    return Tree(hashes[:size]).inclusion(index, size)


def consistency(old: int, size: int, hashes: Sequence[Hash]) -> tuple[Hash, ...]:
    """The proof that the tree of the first `size` of `hashes` begins with that of `old`.

    Raises:
        ValueError: there are no such sizes.
    """
    return Tree(hashes[:size]).consistency(old, size)


# -- what proofs consist of --------------------------------------------------------------------


def inclusion_ranges(index: int, size: int) -> Iterator[tuple[int, int]]:
    """The leaves under each hash of an inclusion proof, from the leaf upwards.

    Raises:
        ValueError: there is no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"A tree of {size} leaves has no leaf {index}.")
    return _path(index, size, 0)


def consistency_ranges(old: int, size: int) -> Iterator[tuple[int, int]]:
    """The leaves under each hash of a consistency proof, in its order.

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


def _path(index: int, size: int, level: int) -> Iterator[tuple[int, int]]:
    """The siblings on the way from the node over `index` at `level` to the root."""
    meeting = (index ^ (size - 1)).bit_length()
    for at in range(level, meeting):
        start = (index >> at ^ 1) << at
        yield start, min(start + (1 << at), size)
    # Above the meeting point the path is the right edge, and what is not to its left is missing.
    for at in range(meeting, index.bit_length()):
        if index >> at & 1:
            end = index >> at << at
            yield end - (1 << at), end


def _zeros(number: int) -> int:
    return (number & -number).bit_length() - 1


# -- verifying ---------------------------------------------------------------------------------


def verify_inclusion(index: int, size: int, leaf: Hash, proof: Sequence[Hash], root: Hash) -> None:
    """Check that `leaf` has number `index` in the tree of `size` leaves with that `root`.

    Raises:
        ProofError: the proof does not show it.
    """
    if not 0 <= index < size <= SIZE_MAX:
        raise ProofError(f"A tree of {size} leaves has no leaf {index}.")
    _check_hashes(leaf, root, *proof)
    _check_length(proof, index, size, 0)
    if _climb(index, size, 0, leaf, proof) != root:
        raise ProofError("The proof leads to another root.")


def verify_consistency(
    old: int, size: int, old_root: Hash, root: Hash, proof: Sequence[Hash]
) -> None:
    """Check that the tree of `size` leaves with `root` begins with that of `old` and `old_root`.

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
    _check_length(path, old - 1, size, level)
    if _climb(old - 1, old, level, seed, _left(old - 1, size, level, path)) != old_root:
        raise ProofError("The proof leads to another old root.")
    if _climb(old - 1, size, level, seed, path) != root:
        raise ProofError("The proof leads to another root.")


def _climb(index: int, size: int, level: int, value: Hash, proof: Sequence[Hash]) -> Hash:
    """The root that a proof leads to, from the node `value` over leaf `index` at `level`."""
    meeting = max((index ^ (size - 1)).bit_length(), level)
    for at, sibling in enumerate(proof, level):
        right = at >= meeting or index >> at & 1
        value = node(sibling, value) if right else node(value, sibling)
    return value


def _left(index: int, size: int, level: int, path: Sequence[Hash]) -> list[Hash]:
    """The hashes of a path that lie to the left of it: the other ones the old tree lacked."""
    meeting = (index ^ (size - 1)).bit_length()
    return [sibling for at, sibling in enumerate(path, level) if at >= meeting or index >> at & 1]


def _check_length(path: Sequence[Hash], index: int, size: int, level: int) -> None:
    meeting = (index ^ (size - 1)).bit_length()
    expected = meeting - level + (index >> meeting).bit_count()
    if len(path) != expected:
        raise ProofError(f"The path has {len(path)} hashes; {expected} lead to the root.")


def _check_hashes(*hashes: Hash) -> None:
    if any(len(hash_) != HASH_BYTES for hash_ in hashes):
        raise ProofError(f"A hash has {HASH_BYTES} bytes.")


def _check(frontier: Frontier, size: int) -> None:
    if size < 0 or len(frontier) != size.bit_count():
        raise ValueError(f"A tree of {size} leaves has a frontier of {size.bit_count()} hashes.")
