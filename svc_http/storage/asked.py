"""What a list is narrowed to, checked against the declaration once for every backend."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Unpack

from attrs import frozen

from svc_core.ports import DEGREE, LATITUDE, LONGITUDE, NO_NUMBER, Box, Collection, Filters

Where = Mapping[str, tuple[str, ...]]
NUMBER_MIN = NO_NUMBER + 1
NUMBER_MAX = 2**63 - 1


class Span(NamedTuple):
    """The values of a number from `low` to `high`, or, where it `wraps`, all but those between."""

    name: str
    low: int
    high: int
    wraps: bool = False

    def holds(self, number: int) -> bool:
        """Whether the number is one of them."""
        if self.wraps:
            return number >= self.low or NO_NUMBER < number <= self.high
        return self.low <= number <= self.high


@frozen
class Asked:
    """Filters that are declared, each value and word once, with a box as spans of its edges."""

    where: Where
    start: int | None
    end: int | None
    spans: tuple[Span, ...]
    words: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no row can match: a filter has no value, or a span no number."""
        return not all(self.where.values()) or any(
            span.low > span.high and not span.wraps for span in self.spans
        )


def asked(
    collection: Collection[Any], order: str | None = None, **filters: Unpack[Filters]
) -> Asked:
    """The filters of a list of this collection.

    Raises:
        AssertionError: a filter or an order is not declared.
    """
    where, ranges = filters.get("where") or {}, filters.get("ranges") or {}
    words, box = filters.get("words") or (), filters.get("box")
    unknown = where.keys() - collection.keys.keys() - collection.facets.keys()
    unknown |= {*ranges, *(() if order is None else (order,))} - {*collection.number_names}
    if unknown:
        raise AssertionError(f"{collection.name} declares no {sorted(unknown)}")
    if words:
        searchable(collection)
    if box is not None and collection.place is None:
        raise AssertionError(f"{collection.name} declares no place")
    spans = [Span(name, *_bounds(*bounds)) for name, bounds in ranges.items()]
    return Asked(
        {name: tuple(dict.fromkeys(values)) for name, values in where.items()},
        filters.get("start"),
        filters.get("end"),
        (*spans, *(() if box is None else _edges(box))),
        tuple(dict.fromkeys(words)),
    )


def searchable(collection: Collection[Any]) -> None:
    """Pass a collection that has a text index.

    Raises:
        AssertionError: it has none.
    """
    if collection.search is None:
        raise AssertionError(f"{collection.name} declares no text index")


def _bounds(low: int | None, high: int | None) -> tuple[int, int]:
    return NUMBER_MIN if low is None else low, NUMBER_MAX if high is None else high


def _edges(box: Box) -> tuple[Span, Span]:
    west, south, east, north = (round(degrees * DEGREE) for degrees in box)
    return Span(LONGITUDE, west, east, west > east), Span(LATITUDE, south, north)
