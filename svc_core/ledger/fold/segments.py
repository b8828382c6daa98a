"""Sets of valid times, the breakpoints of records, and the segments between them.

Rule 1: an interval includes its start and excludes its end; null is minus or plus infinity.
Rule 2: between two breakpoints no interval begins or ends, so a fold is constant there.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from itertools import chain, pairwise
from typing import Annotated, Final

from attrs import frozen

from svc_core.ledger.records import SealedRecord
from svc_core.wire.constraints import Example


@frozen
class Periods:
    """A set of valid times: whether it contains minus infinity, and where membership flips."""

    starts_inside: bool
    changes: tuple[str, ...] = ()

    def __invert__(self) -> "Periods":
        """Return the complement."""
        return Periods(not self.starts_inside, self.changes)

    def within(self, start: str | None, end: str | None) -> "Periods":
        """Return the intersection with the interval `[start, end)`."""
        if start is not None and end is not None and start >= end:
            return NEVER
        changes = self.changes
        first = 0 if start is None else bisect_right(changes, start)
        last = len(changes) if end is None else bisect_left(changes, end)
        opening = self.starts_inside ^ (first % 2 == 1)
        closing = self.starts_inside ^ (last % 2 == 1)
        inner = changes[first:last]
        if start is not None and opening:
            inner = (start, *inner)
        if end is not None and closing:
            inner = (*inner, end)
        return Periods(start is None and opening, inner)


NEVER: Final = Periods(False)
ALWAYS: Final = Periods(True)


def interval_union(sets: list[Periods], *, at_least: int = 1) -> Periods:
    """Return the valid times that are in at least `at_least` of the sets."""
    if len(sets) == at_least == 1:
        return sets[0]
    depth = sum(periods.starts_inside for periods in sets)
    starts_inside = depth >= at_least
    steps: Counter[str] = Counter()
    for periods in sets:
        step = -1 if periods.starts_inside else 1
        for bound in periods.changes:
            steps[bound] += step
            step = -step
    changes = []
    for bound in sorted(steps):
        before, depth = depth, depth + steps[bound]
        if (before >= at_least) is not (depth >= at_least):
            changes.append(bound)
    return Periods(starts_inside, tuple(changes))


# -- segments ----------------------------------------------------------------------------------


@frozen(slots=False)
class Segment:
    """A stretch of valid time over which the view does not change."""

    valid_from: Annotated[str | None, Example(None)]
    """Where it begins; null for minus infinity."""
    valid_to: Annotated[str | None, Example("2026-01-31T00:00:00.000000Z")]
    """Where it ends, itself outside; null for plus infinity."""


def breakpoints(records: Iterable[SealedRecord]) -> list[str]:
    """Return the instants at which the interval of a record begins or ends, ascending, unique."""
    bounds = chain.from_iterable([(record.valid_from, record.valid_to) for record in records])
    return sorted({bound for bound in bounds if bound is not None})


def split_segments(records: Iterable[SealedRecord]) -> tuple[Segment, ...]:
    """Partition all of valid time at the breakpoints of the records."""
    return tuple([Segment(*bounds) for bounds in pairwise((None, *breakpoints(records), None))])
