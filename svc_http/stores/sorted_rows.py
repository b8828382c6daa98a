"""An ordered in-memory table: the rows of one collection and tenant, kept sorted."""

import bisect
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import field, frozen

from svc_core.operation.ports import IndexedRow, Position, Slice, StoredRow
from svc_http.stores.selection import Criteria


@frozen
class MemoryRow:
    """One document with its index data: keys, facets, numbers and tokens."""

    document: StoredRow[Any]
    record: IndexedRow
    tokens: frozenset[str]

    def matches(self, criteria: Criteria) -> bool:
        """Whether the row meets all criteria except the bounds of its order."""
        return (
            all(set(self.values(name)) & set(choices) for name, choices in criteria.where.items())
            and all(span.contains(self.record.numbers[span.name]) for span in criteria.spans)
            and self.tokens.issuperset(criteria.words)
        )

    def values(self, name: str) -> tuple[str | None, ...]:
        """The values of a key or facet."""
        if name in self.record.facets:
            return self.record.facets[name]
        return (self.record.keys[name],)


@frozen(eq=False)
class SortedRows:
    """The rows of one collection and tenant, with their sort keys in ascending order."""

    rows: dict[str, MemoryRow] = field(factory=dict)
    sort_keys: list[tuple[int, str]] = field(factory=list)

    def set(self, id_: str, row: MemoryRow | None) -> None:
        """Store `row` under `id_`, or remove the row of that identifier if `row` is None."""
        old = self.rows.pop(id_, None)
        if old is not None:
            del self.sort_keys[bisect.bisect_left(self.sort_keys, (old.document.order, id_))]
        if row is not None:
            self.rows[id_] = row
            bisect.insort(self.sort_keys, (row.document.order, id_))

    def select(self, criteria: Criteria, after: Position | None = None) -> Iterator[MemoryRow]:
        """The rows that meet the criteria, in descending `(order, id)`, from below `after`."""
        rows, keys, start, end = self.rows, self.sort_keys, criteria.start, criteria.end
        # The empty identifier sorts before every other identifier of the same order.
        first = 0 if start is None else bisect.bisect_left(keys, (start, ""))
        stop = len(keys) if end is None else bisect.bisect_left(keys, (end + 1, ""))
        if after is not None:
            stop = min(stop, bisect.bisect_left(keys, (after.order, after.id)))
        if criteria.is_whole:
            for index in range(stop - 1, first - 1, -1):
                yield rows[keys[index][1]]
            return
        for index in range(stop - 1, first - 1, -1):
            row = rows[keys[index][1]]
            if row.matches(criteria):
                yield row


def slice_of(documents: Sequence[StoredRow[Any]], limit: int) -> Slice[Any]:
    """A page of at most `limit` rows; `documents` holds one row more if there is a next page."""
    if len(documents) <= limit:
        return Slice(tuple(documents))
    last = documents[limit - 1]
    return Slice(tuple(documents[:limit]), Position(last.order, last.id))
