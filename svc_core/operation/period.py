"""Area and time filters: the inputs of operations that can be narrowed to a place or a period.

Rule: `since` and `until` are the deprecated spelling of one `datetime` (Spec: Versioning); a
request uses one spelling, and both mean the same period.
"""

from datetime import date, datetime
from typing import Annotated

from svc_core.base import instants, periods
from svc_core.base.boxes import LONGITUDE_MAX, Box
from svc_core.base.instants import MILLIS_MAX, Interval
from svc_core.base.unset import Maybe, Unset, or_default
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation import ports
from svc_core.operation.declaration import QUERY, In, Trait
from svc_core.operation.members import micros
from svc_core.operation.ports import RowBounds
from svc_core.wire.constraints import Doc, Example, Ge, Le, Pattern

AreaFilter = Annotated[
    Maybe[Box],
    In("query", "bbox"),
    Doc("Only rows within this area; a west greater than the east crosses the antimeridian."),
    Example("177,-20,-178,-16"),
]
TimeFilter = Annotated[
    Maybe[Interval],
    In("query", "datetime"),
    Doc("RFC 3339 instant or `start/end` interval, `..` for an open end."),
    Example("2026-01-31T00:00:00Z/.."),
]
Since = Annotated[
    Maybe[int],
    QUERY,
    Trait.DEPRECATED,
    Ge(0),
    Le(MILLIS_MAX),
    Doc("Deprecated: `datetime=START/..`. Milliseconds since 1970, included."),
]
Until = Annotated[
    Maybe[int],
    QUERY,
    Trait.DEPRECATED,
    Ge(0),
    Le(MILLIS_MAX),
    Doc("Deprecated: `datetime=../END`. Milliseconds since 1970, included."),
]

UpdatedSince = Annotated[
    Maybe[datetime],
    QUERY,
    Doc("Only rows whose present version was written after this instant, not at it."),
    Example("2026-01-31T00:00:00Z"),
]

Period = Annotated[
    Maybe[str],
    Pattern(
        "[0-9]{4}(?:-(?:[0-9]{2}(?:-[0-9]{2})?|[ASQMWD][0-9]{1,3}))?",
        "a date or a period such as 2024-Q3",
    ),
]

Moment = Annotated[
    Maybe[str],
    QUERY,
    Pattern("[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ].{1,40})?", "an RFC 3339 date or date-time"),
]


ALL_TIMES = Interval(None, None)


def time_bounds(interval: Maybe[Interval]) -> RowBounds:
    """The bounds of a list that is ordered by instants, for `Context.page`."""
    span = or_default(interval, ALL_TIMES)
    return {
        "start": None if span.start is None else micros(span.start),
        "end": None if span.end is None else micros(span.end),
    }


def box_bounds(area: Box) -> ports.GeoBox:
    """The bounding box of a list, as the store takes it.

    180 and -180 are one meridian, so a box that ends at one of them includes the other.
    """
    west, east = area.west, area.east
    if (west, east) != (-LONGITUDE_MAX, LONGITUDE_MAX):
        west = LONGITUDE_MAX if west == -LONGITUDE_MAX else west
        east = -LONGITUDE_MAX if east == LONGITUDE_MAX else east
    return ports.GeoBox(west, area.south, east, area.north)


def parse_moment(name: str, text: str) -> date:
    """The day or UTC instant that the input `name` holds.

    Raises:
        Problem: INVALID_PARAMETER where there is no such day or time.
    """
    try:
        is_day = len(text) == len("2026-01-31")
        return date.fromisoformat(text) if is_day else instants.parse(text)
    except ValueError as error:
        raise Problem(problem.INVALID_PARAMETER, f"{name}: names no day or time") from error


def parse_period(name: str, text: str) -> periods.CalendarPeriod:
    """The period that the input `name` holds.

    Raises:
        Problem: INVALID_PARAMETER where there is no such period.
    """
    try:
        return periods.read_period(text)
    except ValueError as error:
        raise Problem(problem.INVALID_PARAMETER, f"{name}: names no period that exists") from error


def requested_interval(interval: Maybe[Interval], since: Maybe[int], until: Maybe[int]) -> Interval:
    """The interval that a request asks for, in either spelling; unbounded where it sends none.

    Raises:
        Problem: CONFLICTING_PARAMETERS for both spellings at once, INVALID_PARAMETER where
            `since` is later than `until`.
    """
    start = None if isinstance(since, Unset) else instants.from_millis(since)
    end = None if isinstance(until, Unset) else instants.from_millis(until)
    if isinstance(interval, Unset):
        if start is not None and end is not None and start > end:
            raise Problem(problem.INVALID_PARAMETER, "since: must not be later than until")
        return Interval(start, end)
    if start is not None or end is not None:
        raise Problem(
            problem.CONFLICTING_PARAMETERS,
            "datetime: cannot be combined with since or until, which it replaces",
            resolution="Use datetime or since/until, not both.",
        )
    return interval
