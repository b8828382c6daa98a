"""Valid time cut in pieces: sets of valid times, breakpoints, and the segments between them.

Rule 1: an interval takes its beginning in and leaves its end out; null is minus or plus infinity.
Rule 2: between two breakpoints nothing begins and nothing ends: a fold is constant there.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from itertools import chain, pairwise
from typing import Annotated, Final

from attrs import frozen

from svc_core.ledger.records import Record
from svc_core.wire.constraints import Doc, Example


@frozen
class Periods:
    """A set of valid times: whether minus infinity is in it, and where that changes, ascending."""

    starts_inside: bool
    changes: tuple[str, ...] = ()

    def __invert__(self) -> "Periods":
        """The valid times that are not in it."""
        return Periods(not self.starts_inside, self.changes)

    def within(self, start: str | None, end: str | None) -> "Periods":
        """Those of it from `start` on and before `end`."""
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


def union(sets: list[Periods], *, at_least: int = 1) -> Periods:
    """The valid times that are in any of them, or in so many of them."""
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

    valid_from: Annotated[
        str | None, Doc("Where it begins; null for minus infinity."), Example(None)
    ]
    valid_to: Annotated[
        str | None,
        Doc("Where it ends, itself outside; null for plus infinity."),
        Example("2026-01-31T00:00:00.000000Z"),
    ]


def breakpoints(records: Iterable[Record]) -> list[str]:
    """Where the interval of any of them begins or ends, ascending, each once."""
    bounds = chain.from_iterable([(record.valid_from, record.valid_to) for record in records])
    return sorted({bound for bound in bounds if bound is not None})


def segments(records: Iterable[Record]) -> tuple[Segment, ...]:
    """All of valid time, cut where the interval of any of the records begins or ends."""
    return tuple([Segment(*bounds) for bounds in pairwise((None, *breakpoints(records), None))])
