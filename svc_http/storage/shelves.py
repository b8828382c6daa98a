"""The rows of one collection and tenant in memory, in their order."""

import bisect
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from svc_core.ports import Document, Position, Record

Where = Mapping[str, tuple[str, ...]]


@frozen
class Row:
    """One document with what it is found by."""

    version: int
    record: Record
    tokens: frozenset[str]

    def matches(self, where: Where) -> bool:
        """Whether every filter finds one of its values here."""
        return all(set(self.values(name)) & set(wanted) for name, wanted in where.items())

    def values(self, name: str) -> tuple[str | None, ...]:
        """The values of a key or facet."""
        if name in self.record.facets:
            return self.record.facets[name]
        return (self.record.keys[name],)

    def document(self, id_: str) -> Document[Any]:
        """The row as the port gives it out."""
        return Document(id_, self.version, self.record.order, self.record.raw)


@frozen(eq=False)
class Shelf:
    """The rows of one collection and tenant, with their sort keys in ascending order."""

    rows: dict[str, Row] = field(factory=dict)
    line: list[tuple[int, str]] = field(factory=list)

    def set(self, id_: str, row: Row | None) -> None:
        """Put `row` in the place of `id_`, or clear the place."""
        old = self.rows.pop(id_, None)
        if old is not None:
            del self.line[bisect.bisect_left(self.line, (old.record.order, id_))]
        if row is not None:
            self.rows[id_] = row
            bisect.insort(self.line, (row.record.order, id_))

    def descending(self, after: Position | None) -> Iterator[tuple[str, Row]]:
        """The rows from the highest `(order, id)`, strictly after `after`."""
        stop = len(self.line)
        if after is not None:
            stop = bisect.bisect_left(self.line, (after.order, after.id))
        for place in range(stop - 1, -1, -1):
            id_ = self.line[place][1]
            yield id_, self.rows[id_]


def within(order: int, start: int | None, end: int | None) -> bool:
    """Whether an order lies between two bounds, both included."""
    return (start is None or order >= start) and (end is None or order <= end)
