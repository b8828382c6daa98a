"""Rows that state their own index data, so that a store can be tested with any declaration."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, frozen

from svc_core.operation.ports import Collection


@frozen
class OutlineRow:
    """The index data of a row: what the functions of its collection would have read from it."""

    id: str
    order: int
    keys: Mapping[str, str]
    facets: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, int]
    place: tuple[float, float] | None = None
    words: str = ""


def outline_of(collection: Collection[Any]) -> Collection[OutlineRow]:
    """A collection of the same tables and indexes, whose rows are outlines."""
    return evolve(
        collection,
        model=OutlineRow,
        order=lambda row: row.order,
        keys={name: _reader("keys", name) for name in collection.keys},
        facets={name: _reader("facets", name, ()) for name in collection.facets},
        numbers={name: _reader("numbers", name) for name in collection.numbers},
        place=None if collection.place is None else lambda row: row.place,
        search=None if collection.search is None else lambda row: row.words,
        parent=None,
    )


def _reader(member: str, name: str, absence: Any = None) -> Callable[[OutlineRow], Any]:
    return lambda row: getattr(row, member).get(name, absence)
