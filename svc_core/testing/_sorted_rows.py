"""An ordered in-memory table: the rows of one collection and tenant, kept sorted."""

import bisect
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from attrs import field, frozen

from svc_core.operation.ports import IndexedRow, Position, Slice, StoredRow
from svc_core.operation.ports.selection import Criteria

FEW_OF = 8
"""One row in so many is few: they are put in order, where a list would walk over all."""


@frozen
class ModelRow:
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

    def marks(self) -> Iterator[tuple[str, str | None]]:
        """The values of its filters by their names, and its words under the empty name."""
        yield from self.record.keys.items()
        for name, choices in self.record.facets.items():
            yield from ((name, choice) for choice in choices)
        yield from (("", token) for token in self.tokens)

    def values(self, name: str) -> tuple[str | None, ...]:
        """The values of a key or facet."""
        if name in self.record.facets:
            return self.record.facets[name]
        return (self.record.keys[name],)


@frozen(eq=False)
class SortedRows:
    """The rows of one collection and tenant, with their sort keys in ascending order.

    `holders` has the identifiers of the rows that hold a value of a filter, or a word under the
    empty name; `numbers` the rows by each number, the lowest first.
    """

    rows: dict[str, ModelRow] = field(factory=dict)
    sort_keys: list[tuple[int, str]] = field(factory=list)
    holders: dict[tuple[str, str | None], set[str]] = field(factory=lambda: defaultdict(set))
    numbers: dict[str, list[tuple[int, str]]] = field(factory=lambda: defaultdict(list))

    def set(self, id_: str, row: ModelRow | None) -> None:
        """Store `row` under `id_`, or remove the row of that identifier if `row` is None."""
        old = self.rows.pop(id_, None)
        if old is not None:
            del self.sort_keys[bisect.bisect_left(self.sort_keys, (old.document.order, id_))]
            for name, number in old.record.numbers.items():
                del self.numbers[name][bisect.bisect_left(self.numbers[name], (number, id_))]
            for mark in old.marks():
                self.holders[mark].discard(id_)
        if row is not None:
            self.rows[id_] = row
            bisect.insort(self.sort_keys, (row.document.order, id_))
            for name, number in row.record.numbers.items():
                bisect.insort(self.numbers[name], (number, id_))
            for mark in row.marks():
                self.holders[mark].add(id_)

    def select(
        self,
        criteria: Criteria,
        after: Position | None = None,
        *,
        terms: Collection[str] | None = None,
    ) -> Iterator[ModelRow]:
        """The rows that meet the criteria, in descending `(order, id)`, from below `after`; with
        `terms`, those that hold any of these words."""
        rows, keys, start, end = self.rows, self.sort_keys, criteria.start, criteria.end
        # The empty identifier sorts before every other identifier of the same order.
        first = 0 if start is None else bisect.bisect_left(keys, (start, ""))
        stop = len(keys) if end is None else bisect.bisect_left(keys, (end + 1, ""))
        if after is not None:
            stop = min(stop, bisect.bisect_left(keys, (after.order, after.id)))
        if criteria.is_whole and terms is None:
            for index in range(stop - 1, first - 1, -1):
                yield rows[keys[index][1]]
            return
        size, few = min(self._candidates(criteria, terms), key=itemgetter(0))
        positions: Iterable[tuple[int, str]] = (keys[n] for n in range(stop - 1, first - 1, -1))
        if size * FEW_OF < stop - first:
            low, high = keys[first], keys[stop - 1]
            places = sorted(((rows[id_].document.order, id_) for id_ in {*few}), reverse=True)
            positions = (place for place in places if low <= place <= high)
        for _, id_ in positions:
            row = rows[id_]
            if row.matches(criteria) and (terms is None or not row.tokens.isdisjoint(terms)):
                yield row

    def ranked(self, name: str, after: Position | None) -> Iterator[ModelRow]:
        """All rows by a number, the highest first, from below `after`."""
        ranks = self.numbers[name]
        stop = len(ranks)
        if after is not None:
            stop = bisect.bisect_left(ranks, (after.order, after.id))
        return (self.rows[ranks[index][1]] for index in range(stop - 1, -1, -1))

    def _candidates(
        self, criteria: Criteria, terms: Collection[str] | None
    ) -> Iterator[tuple[int, Iterable[str]]]:
        """For each filter the identifiers of the rows that meet it, and how many they are."""
        marks = [[(name, choice) for choice in row] for name, row in criteria.where.items()]
        marks += [[("", word)] for word in criteria.words]
        marks += [] if terms is None else [[("", term) for term in terms]]
        for filter_marks in marks:
            sets: list[Collection[str]] = [self.holders.get(mark, ()) for mark in filter_marks]
            yield sum(map(len, sets)), chain.from_iterable(sets)
        for span in criteria.spans:
            ranks = self.numbers[span.name]
            runs = [
                range(
                    bisect.bisect_left(ranks, (low, "")), bisect.bisect_left(ranks, (high + 1, ""))
                )
                for low, high in span.parts
            ]
            places = chain.from_iterable(runs)
            # `map` binds the ranks of this span, where an expression would read those of the last.
            yield sum(map(len, runs)), map(itemgetter(1), map(ranks.__getitem__, places))


def slice_of(documents: Sequence[StoredRow[Any]], limit: int) -> Slice[Any]:
    """A page of at most `limit` rows; `documents` holds one row more if there is a next page."""
    if len(documents) <= limit:
        return Slice(tuple(documents))
    last = documents[limit - 1]
    return Slice(tuple(documents[:limit]), Position(last.order, last.id))
