"""Proofs from a store that keeps hashes of few levels: what to read, and what to make of it.

Rule 1: a plan is made from sizes alone. It names ranges of kept hashes, reads nothing itself, and
        combines what was read into the hashes of the proof.
Rule 2: no plan reads the log: at most 255 hashes of each level beside a path, and as many at the
        right edge, however long the log is.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from attrs import frozen

from svc_core.ledger.log.tree import (
    Frontier,
    Hash,
    consistency_ranges,
    extend,
    inclusion_ranges,
    root,
)
from svc_core.ports import LEDGER_LEVELS

GAP_MAX: Final = 256
"""Hashes that are read in vain to save a read: as many as a tile has."""


class Span(NamedTuple):
    """The kept hashes of `level` from number `start` up to and without `end`."""

    level: int
    start: int
    end: int


Part = tuple[Span, ...]
Made = dict[Part, Hash]


@frozen
class Plan:
    """Hashes to be made, each from the spans of its part. `spans` are all that must be read."""

    parts: tuple[Part, ...]

    @property
    def spans(self) -> tuple[Span, ...]:
        """What to read, by level and number; near ones are joined."""
        joined: list[Span] = []
        for span in sorted(span for part in self.parts for span in part):
            last = joined[-1] if joined else span
            if joined and last.level == span.level and span.start - last.end <= GAP_MAX:
                joined[-1] = Span(last.level, last.start, max(last.end, span.end))
            else:
                joined.append(span)
        return tuple(joined)

    def combine(self, read: Sequence[Sequence[Hash]], made: Made | None = None) -> tuple[Hash, ...]:
        """The hashes of the proof, from those of each of `spans`, in that order.

        `made` remembers each part, for further plans on the same tree: proofs of records that
        stand together have most of their hashes in common.

        Raises:
            ValueError: a span has another number of hashes.
        """
        sources = list(zip(self.spans, read, strict=True))
        for span, hashes in sources:
            if len(hashes) != span.end - span.start:
                raise ValueError(f"{len(hashes)} hashes were read of {span}.")
        made = {} if made is None else made
        for part in self.parts:
            if part not in made:
                made[part] = _combine(part, sources)
        return tuple([made[part] for part in self.parts])


def inclusion_plan(index: int, size: int) -> Plan:
    """The plan of the proof that leaf `index` is in the tree of `size` leaves.

    Raises:
        ValueError: there is no such leaf.
    """
    return _plan(inclusion_ranges(index, size))


def consistency_plan(old: int, size: int) -> Plan:
    """The plan of the proof that the tree of `size` leaves begins with that of `old` leaves.

    Raises:
        ValueError: the old tree is larger.
    """
    return _plan(consistency_ranges(old, size))


def frontier_plan(size: int) -> Plan:
    """The plan of the frontier that the tree had at `size`; `tree.root` makes its root of it."""
    bits = (1 << level for level in reversed(range(size.bit_length())) if size >> level & 1)
    at = 0
    ranges = []
    for width in bits:
        ranges.append((at, at + width))
        at += width
    return _plan(ranges)


def _plan(ranges: Iterable[tuple[int, int]]) -> Plan:
    return Plan(tuple(_spans(start, end) for start, end in ranges))


def _spans(start: int, end: int) -> tuple[Span, ...]:
    """The leaves from `start` to `end` as kept nodes, the largest first.

    A subtree of a proof starts at a multiple of the power of two that is not below its width, so
    that no kept level up to its width cuts across its start.
    """
    spans = []
    at = start
    for level in reversed(LEDGER_LEVELS):
        stop = end >> level << level
        if 1 << level <= end - start and stop > at:
            spans.append(Span(level, at >> level, stop >> level))
            at = stop
    return tuple(spans)


def _combine(part: Sequence[Span], sources: Sequence[tuple[Span, Sequence[Hash]]]) -> Hash:
    frontier: Frontier = ()
    for span in part:
        frontier += extend((), 0, _cut(span, sources))
    return root(frontier)


def _cut(span: Span, sources: Sequence[tuple[Span, Sequence[Hash]]]) -> Sequence[Hash]:
    for read, hashes in sources:
        if read.level == span.level and read.start <= span.start and span.end <= read.end:
            return hashes[span.start - read.start : span.end - read.start]
    raise AssertionError("the spans to be read cover those of every part")
