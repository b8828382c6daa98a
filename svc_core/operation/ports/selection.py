"""The filters of a list, checked against the declaration of its collection, for every backend."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Unpack

from svc_core.operation.ports import (
    DEGREE,
    LATITUDE,
    LONGITUDE,
    NO_NUMBER,
    Collection,
    Filters,
    GeoBox,
)

ValueFilters = Mapping[str, tuple[str, ...]]
_NO_FILTER: ValueFilters = {}
_PLAIN = frozenset({"where", "start", "end"})

NUMBER_MIN = NO_NUMBER + 1
NUMBER_MAX = 2**63 - 1


class NumberSpan(NamedTuple):
    """An inclusive range of a number; if it `wraps`, everything outside of `high` to `low`.

    A box across the 180th meridian wraps: longitudes at or above `low`, or at or below `high`.
    """

    name: str
    low: int
    high: int
    wraps: bool = False

    def contains(self, number: int) -> bool:
        """Whether the number lies in the range; `NO_NUMBER` never does."""
        if self.wraps:
            return number >= self.low or NO_NUMBER < number <= self.high
        return self.low <= number <= self.high

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """The ranges that it consists of, each from its lowest number to its highest."""
        if self.wraps:
            return ((self.low, NUMBER_MAX), (NUMBER_MIN, self.high))
        return ((self.low, self.high),)

    def is_walked_by(self, name: str, choice: tuple[int, ...]) -> bool:
        """Whether a walk of that number from the first of these numbers on is one of a part."""
        return name == self.name and choice[:1] in [part[:1] for part in self.parts]


class Criteria(NamedTuple):
    """The validated filters of a list: values and words without duplicates, a box as two ranges.

    A named tuple, because one is created for every list.
    """

    where: ValueFilters
    start: int | None
    end: int | None
    spans: tuple[NumberSpan, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether every row between the bounds matches."""
        return not (self.where or self.spans or self.words)

    @property
    def is_all(self) -> bool:
        """Whether every row matches."""
        return self.is_whole and self.start is None and self.end is None

    @property
    def is_empty(self) -> bool:
        """Whether no row can match: a filter has no value, or a span no number."""
        if self.is_whole:
            return False
        return not all(self.where.values()) or any(
            span.low > span.high and not span.wraps for span in self.spans
        )


def criteria_of(
    collection: Collection[Any], order: str | None = None, **filters: Unpack[Filters]
) -> Criteria:
    """The criteria of a list of this collection, from its filters.

    Raises:
        AssertionError: a filter or an order is not declared.
    """
    where, start, end = filters.get("where") or _NO_FILTER, filters.get("start"), filters.get("end")
    unknown = where.keys() - collection.keys.keys() - collection.facets.keys() if where else ()
    if unknown or (order is not None and order not in collection.number_names):
        raise AssertionError(f"{collection.name} declares no {sorted(unknown) or order}")
    where = (
        {name: tuple(dict.fromkeys(values)) for name, values in where.items()} if where else where
    )
    if filters.keys() <= _PLAIN:
        return Criteria(where, start, end)
    words = tuple(dict.fromkeys(filters.get("words") or ()))
    if words:
        check_searchable(collection)
    return Criteria(where, start, end, tuple(_spans(collection, filters)), words)


def _spans(collection: Collection[Any], filters: Filters) -> Iterator[NumberSpan]:
    for name, bounds in (filters.get("ranges") or {}).items():
        if name not in collection.number_names:
            raise AssertionError(f"{collection.name} declares no {name}")
        yield NumberSpan(name, *number_bounds(*bounds))
    box = filters.get("box")
    if box is not None:
        if collection.place is None:
            raise AssertionError(f"{collection.name} declares no place")
        yield from _edges(box)


def check_searchable(collection: Collection[Any]) -> None:
    """Check that a collection has a text index.

    Raises:
        AssertionError: it declares none.
    """
    if collection.search is None:
        raise AssertionError(f"{collection.name} declares no text index")


def number_bounds(low: int | None, high: int | None) -> tuple[int, int]:
    """The lowest and the highest number of a range; of an open end the first or last there is."""
    return NUMBER_MIN if low is None else low, NUMBER_MAX if high is None else high


def _edges(box: GeoBox) -> tuple[NumberSpan, NumberSpan]:
    west, south, east, north = (round(degrees * DEGREE) for degrees in box)
    return NumberSpan(LONGITUDE, west, east, west > east), NumberSpan(LATITUDE, south, north)
