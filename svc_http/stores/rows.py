"""The rows of one collection and tenant in memory, in their order."""

import bisect
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import field, frozen

from svc_core.operation.ports import Document, Position, Record, Slice
from svc_http.stores.selection import Asked


@frozen
class Row:
    """One document with what it is found by."""

    document: Document[Any]
    record: Record
    tokens: frozenset[str]

    def matches(self, asked: Asked) -> bool:
        """Whether the row has all that is asked, but for the bounds of its order."""
        return (
            all(set(self.values(name)) & set(wanted) for name, wanted in asked.where.items())
            and all(span.holds(self.record.numbers[span.name]) for span in asked.spans)
            and self.tokens.issuperset(asked.words)
        )

    def values(self, name: str) -> tuple[str | None, ...]:
        """The values of a key or facet."""
        if name in self.record.facets:
            return self.record.facets[name]
        return (self.record.keys[name],)


@frozen(eq=False)
class Rows:
    """The rows of one collection and tenant, with their sort keys in ascending order."""

    rows: dict[str, Row] = field(factory=dict)
    line: list[tuple[int, str]] = field(factory=list)

    def set(self, id_: str, row: Row | None) -> None:
        """Put `row` in the place of `id_`, or clear the place."""
        old = self.rows.pop(id_, None)
        if old is not None:
            del self.line[bisect.bisect_left(self.line, (old.document.order, id_))]
        if row is not None:
            self.rows[id_] = row
            bisect.insort(self.line, (row.document.order, id_))

    def matching(self, asked: Asked, after: Position | None = None) -> Iterator[Row]:
        """The rows that have all that is asked, from the highest `(order, id)` below `after`."""
        rows, line, start, end = self.rows, self.line, asked.start, asked.end
        # No identifier is shorter than the empty one, which so stands before all of its order.
        first = 0 if start is None else bisect.bisect_left(line, (start, ""))
        stop = len(line) if end is None else bisect.bisect_left(line, (end + 1, ""))
        if after is not None:
            stop = min(stop, bisect.bisect_left(line, (after.order, after.id)))
        if asked.is_whole:
            for place in range(stop - 1, first - 1, -1):
                yield rows[line[place][1]]
            return
        for place in range(stop - 1, first - 1, -1):
            row = rows[line[place][1]]
            if row.matches(asked):
                yield row


def sliced(documents: Sequence[Document[Any]], limit: int) -> Slice[Any]:
    """The first `limit` rows of a list in its own order, of which one more was looked for."""
    if len(documents) <= limit:
        return Slice(tuple(documents))
    last = documents[limit - 1]
    return Slice(tuple(documents[:limit]), Position(last.order, last.id))
