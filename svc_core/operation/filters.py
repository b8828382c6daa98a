"""Filters of lists: each is one field of a request class, with the index that it goes by.

The default of the field says what the filter reads in a row. The collection takes its indexes from
the request class, and a page its bounds, so a new filter is one declaration:

    status: FilterValues[MarketStatus] = _MARKET.key(lambda row: row.status)

and a docstring below it.

Rule 1: the values of one filter are alternatives; different filters must all match. Two filters of
        one index narrow each other.
Rule 2: a filter depends on its request alone, so cursors are bound to what it selects. What depends
        on other rows is looked up afterwards (`svc_core.search.lists.Listing`).
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache, partial
from itertools import chain
from math import ceil, floor
from operator import attrgetter
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypedDict, TypeVar

import attrs
from attrs import frozen

from svc_core.base.boxes import Box
from svc_core.base.instants import Interval
from svc_core.base.unset import UNSET, Maybe, Unset, or_default
from svc_core.operation.declaration import QUERY
from svc_core.operation.members import UNDATED, Share, micros
from svc_core.operation.period import box_bounds
from svc_core.operation.ports import RowBounds
from svc_core.operation.source_members import SEVERITIES, Place, Severity, cells_at
from svc_core.wire.constraints import Doc, Example, MaxLen, MinLen, Pattern

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")
Range = tuple[int | None, int | None]
Values = tuple[str, ...]

VALUES_MAX = 50  # of one filter: each is a walk of its own

UnboundedValues = Annotated[Maybe[tuple[T, ...]], QUERY]
FilterValues = Annotated[Maybe[tuple[T, ...]], QUERY, MaxLen(VALUES_MAX)]

Name = Annotated[str, MinLen(1), MaxLen(200)]
Flag = Annotated[Maybe[bool], QUERY]
ShareFilter = Annotated[Maybe[Share], QUERY]
Code = Annotated[str, Pattern("[A-Za-z]{2}", "an ISO 3166-1 alpha-2 code")]
Providers = Annotated[
    FilterValues[Annotated[str, Pattern("[a-z][a-z0-9-]{0,39}", "a provider such as usgs")]],
    Doc("Comma list of providers."),
    Example(["usgs", "gdacs"]),
]
Types = Annotated[
    FilterValues[Annotated[str, Pattern("[A-Za-z0-9-]{1,64}", "a type of event")]],
    Doc("Comma list of types."),
    Example(["earthquake", "flood"]),
]
Countries = Annotated[
    FilterValues[Code], Doc("Comma list of ISO 3166-1 alpha-2 codes."), Example(["EC", "CL"])
]
MinSeverity = Annotated[
    Maybe[Severity], QUERY, Doc("Only rows of at least this severity."), Example("medium")
]
MinConfidence = Annotated[ShareFilter, Doc("Only rows of at least this confidence."), Example(0.5)]

IncludeRevoked = Annotated[
    bool, QUERY, Doc("Include rows that their source revoked or deprecated."), Example(False)
]
LatestFirst = Annotated[
    Maybe[Literal["updatedAt"]], QUERY, Doc("The row written last comes first.")
]


# -- declarations ------------------------------------------------------------------------------

ORDER = "order"
"""What a filter goes by that bounds the order of the list itself, which is no number of its own."""


@frozen
class Filter:
    """How one input narrows a list: by a key, a facet or a number of the collection.

    `read` gives what the index has of a row; None where the collection declares that by itself.
    `choose` turns the input into the values, or the range, that are admitted; None admits all. The
    order of the list is bounded as well where the filter `is_ordered`.
    """

    kind: Literal["keys", "facets", "numbers"]
    index: str
    read: Callable[[Any], Any] | None
    choose: Callable[[Any], Any]
    is_ordered: bool = False


class Indexes(TypedDict, Generic[T]):
    """The indexes of a collection, by name."""

    keys: Mapping[str, Callable[[T], str | None]]
    facets: Mapping[str, Callable[[T], Iterable[str]]]
    numbers: Mapping[str, Callable[[T], int | None]]


class FilterFields(Generic[T]):
    """Declares the fields of requests that list rows of a model `T`: each call makes one field.

    An index has the name of its field unless it is given another. Without a `read` it is one that
    the collection has for another list.
    """

    def key(
        self,
        read: Callable[[T], str | None] | None = None,
        index: str = "",
        *,
        form: Callable[[str], str] = str,
        choose: Callable[[Any], Iterable[str] | None] | None = None,
        default: Any = UNSET,
    ) -> Any:
        """A filter by the one value that a row has; `form` is how both are compared."""
        values = choose or partial(map, form)
        return _field(Filter("keys", index, _mapped(read, form), values), default)

    def facet(
        self,
        read: Callable[[T], Iterable[str]] | None = None,
        index: str = "",
        *,
        form: Callable[[str], str] = str,
        choose: Callable[[Any], Iterable[str] | None] | None = None,
    ) -> Any:
        """A filter by values of which a row has any number; `form` as of a key."""
        forms: Any = partial(map, form)
        return _field(Filter("facets", index, _mapped(read, forms), choose or forms))

    def area(self, read: Callable[[T], Place | None] | None = None) -> Any:
        """A filter by where a row lies, which is the `place` of the collection too."""
        cells = None if read is None else lambda row: cells_at(read(row))
        return _field(Filter("facets", "cell", cells, attrgetter("cells")))

    def number(
        self,
        read: Callable[[T], int | None] | None,
        index: str,
        choose: Callable[[Any], Range | None],
        *,
        is_ordered: bool = False,
    ) -> Any:
        """A filter by a number; `choose` gives the range that an input admits."""
        return _field(Filter("numbers", index, read, choose, is_ordered))

    def at_least(self, read: Callable[[T], float | None], index: str, steps: int = 1) -> Any:
        """A filter by the least of a number, which the index has in so many steps of one."""
        number = _mapped(read, lambda fraction: round(fraction * steps))
        return self.number(number, index, lambda least: (ceil(round(least * steps, 3)), None))

    def at_most(self, read: Callable[[T], float | None], index: str, steps: int = 1) -> Any:
        """A filter by the most of a number, likewise."""
        number = _mapped(read, lambda fraction: round(fraction * steps))
        return self.number(number, index, lambda most: (None, floor(round(most * steps, 3))))

    def later(self, read: Callable[[T], datetime | None] | None = None, index: str = ORDER) -> Any:
        """A filter by an instant, which is not included; without a `read` of the list's order."""
        return self.number(_mapped(read, micros), index, lambda start: (micros(start) + 1, None))

    def earlier(self, read: Callable[[T], datetime | None], index: str) -> Any:
        """A filter by an instant that is not reached."""
        return self.number(_mapped(read, micros), index, lambda end: (None, micros(end) - 1))

    def within(
        self,
        read: Callable[[T], datetime | None] | None = None,
        index: str = ORDER,
        *,
        is_ordered: bool = False,
    ) -> Any:
        """A filter by an interval with its edges; without a `read` of the order of the list."""
        return self.number(_mapped(read, micros), index, _edges, is_ordered=is_ordered)

    def indexes(
        self,
        *requests: Any,
        keys: Mapping[str, Callable[[T], str | None]] | None = None,
        facets: Mapping[str, Callable[[T], Iterable[str]]] | None = None,
        numbers: Mapping[str, Callable[[T], int | None]] | None = None,
    ) -> Indexes[T]:
        """The indexes that the filters of some request classes go by, and others."""
        tables: dict[str, dict[str, Any]] = {"keys": {}, "facets": {}, "numbers": {}}
        for _, filter_ in chain.from_iterable(map(filters_of, requests)):
            if filter_.read is not None:
                tables[filter_.kind][filter_.index] = filter_.read
        return {
            "keys": {**tables["keys"], **(keys or {})},
            "facets": {**tables["facets"], **(facets or {})},
            "numbers": {**tables["numbers"], **(numbers or {})},
        }


def sort_orders(default: Any = UNSET, **numbers: str) -> Any:
    """The field that names what a list is sorted by: a number of the collection for each value.

    A value without a number sorts by the order of the list.
    """
    return attrs.field(default=default, metadata={"orders": numbers})


def _field(filter_: Filter, default: Any = UNSET) -> Any:
    return attrs.field(default=default, metadata={"filter": filter_})


def _mapped(
    read: Callable[[T], S | None] | None, form: Callable[[S], R]
) -> Callable[[T], R | None] | None:
    """Reads what `form` makes of what `read` gives."""
    if read is None:
        return None

    def index(row: T) -> R | None:
        member = read(row)
        return None if member is None else form(member)

    return index


def _edges(interval: Interval) -> Range | None:
    if interval.start is None and interval.end is None:
        return None
    # What has no date is in no interval.
    start = UNDATED + 1 if interval.start is None else micros(interval.start)
    return start, None if interval.end is None else micros(interval.end)


def severities_from(least: Severity) -> tuple[Severity, ...]:
    """The severities that are at least as grave."""
    return SEVERITIES[SEVERITIES.index(least) :]


# -- what a request selects --------------------------------------------------------------------


class Selection(NamedTuple):
    """What a request narrows a list to, before anything is looked up.

    A named tuple, because every page makes one.
    """

    where: Mapping[str, Values]
    ranges: Mapping[str, Range]
    bounds: RowBounds
    order: str | None
    is_sorted: bool


@cache  # Bounded: one entry for each request class in the source.
def filters_of(request: Any) -> tuple[tuple[str, Filter], ...]:
    """The filters of a request class, each with the name of its field."""
    fields = ((item.name, item.metadata.get("filter")) for item in attrs.fields(request))
    return tuple(
        (name, attrs.evolve(filter_, index=filter_.index or name))
        for name, filter_ in fields
        if filter_ is not None
    )


def list_selection(request: Any) -> Selection:
    """What a request narrows its list to, and how it sorts."""
    request_class: Any = type(request)
    where: dict[str, Values] = {}
    ranges: dict[str, Range] = {}
    box = None
    for member, filter_ in filters_of(request_class):
        parameter = getattr(request, member)
        choice = None if isinstance(parameter, Unset) else filter_.choose(parameter)
        if isinstance(parameter, Box):
            box = box_bounds(parameter)
        if choice is not None and filter_.kind == "numbers":
            for index in (filter_.index, ORDER) if filter_.is_ordered else (filter_.index,):
                ranges[index] = _meet(ranges.get(index, choice), choice)
        elif choice is not None:
            values = tuple(choice)
            before = where.get(filter_.index, values)
            where[filter_.index] = tuple(text for text in before if text in values)
    start, end = ranges.pop(ORDER, (None, None))
    sort = or_default(getattr(request, "sort", UNSET), None)
    return Selection(
        where=where,
        ranges=ranges,
        bounds={"start": start, "end": end, "box": box},
        order=_orders_of(request_class).get(sort or ""),
        is_sorted=sort is not None,
    )


@cache
def _orders_of(request: Any) -> Mapping[str, str]:
    tables = (item.metadata.get("orders") for item in attrs.fields(request))
    return next((table for table in tables if table is not None), {})


def _meet(first: Range, second: Range) -> Range:
    """The range that lies in both."""
    lows, highs = zip(first, second, strict=True)
    return (
        max((low for low in lows if low is not None), default=None),
        min((high for high in highs if high is not None), default=None),
    )


def sent_filters(request: object, *names: str) -> dict[str, Values]:
    """The filters of these names that were sent."""
    filters = {name: getattr(request, name) for name in names}
    return {name: texts for name, texts in filters.items() if not isinstance(texts, Unset)}
