"""Reads and writes documents in the SQLite tables of their collections."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any, TypeVar, Unpack

from svc_core.operation.ports import (
    Collection,
    Filters,
    Position,
    StaleVersionError,
    StoredRow,
)
from svc_core.operation.ports import tenancy as scopes
from svc_core.operation.ports.selection import Criteria
from svc_http.stores.relational.documents_reading import RelationalDocuments
from svc_http.stores.relational.filter_columns import filter_digest
from svc_http.stores.relational.list_statements import IndexWalk
from svc_http.stores.sqlite._lists import SqliteLists
from svc_http.stores.sqlite._rows import RowState, RowWriter
from svc_http.stores.sqlite._session import SqliteSession
from svc_http.stores.sqlite.row_compression import expand_row

T = TypeVar("T")
Row = tuple[Any, ...]
"""Identifier, version, order and bytes; a number after them, where that is the sort key."""

JOINED_MIN = 8
"""From so many values of a filter on, one statement reads their rows if they are few: a statement
for each value takes 5 µs and more, and counting the rows of all of them less than two of those."""

RUN_ROWS_MAX = 20_000
"""The largest number of rows between the bounds of a search that are counted, in about 2 ms. Beyond
it the text index is walked without a range of row numbers."""

_SORT_KEYS = (itemgetter(4, 0), itemgetter(2, 0))
"""The sort keys for merging rows of several runs: a number, or the order of the collection."""


class SqliteDocuments(RelationalDocuments[SqliteLists]):
    """The documents that one transaction may read and write."""

    _session: SqliteSession

    async def put(
        self, collection: Collection[T], id_: str, value: T, *, expect: int | None = None
    ) -> StoredRow[T]:
        """Write the row; see the port."""
        writer = self._writer(collection, id_)
        record = collection.record(value)
        if not expect and writer.insert(record):
            return StoredRow(id_, 1, record.order, record.raw)
        old = _current_row(writer, expect)
        if old is None:
            raise AssertionError("a row that could not be inserted is there")
        return StoredRow(id_, writer.update(old, record), record.order, record.raw)

    async def delete(
        self, collection: Collection[T], id_: str, *, expect: int | None = None
    ) -> StoredRow[T] | None:
        """Remove the row; see the port."""
        writer = self._writer(collection, id_)
        old = _current_row(writer, expect)
        if old is None:
            return None
        document = await self.get(collection, id_)
        writer.remove(old)
        return document

    def _lists(
        self, collection: Collection[Any], order: str | None, **filters: Unpack[Filters]
    ) -> SqliteLists | None:
        if filters.get("words"):
            self._session.write_texts()
        return super()._lists(collection, order, **filters)

    def _statements(
        self, collection: Collection[Any], owner: str, criteria: Criteria
    ) -> SqliteLists:
        distinctive = collection.layout.distinctive
        if distinctive:  # of which the rows have digests
            where = {
                name: tuple(map(filter_digest, values)) if name in distinctive else values
                for name, values in criteria.where.items()
            }
            criteria = criteria._replace(where=where)
        return SqliteLists(collection, owner, criteria)

    async def _page(
        self,
        lists: SqliteLists,
        walk: IndexWalk,
        order: str | None,
        after: Position | None,
        limit: int,
    ) -> list[Row]:
        if len(walk.choices) == 1:
            return await self._rows(lists, lists.walk_page(walk, order, after, limit))
        if len(walk.choices) >= JOINED_MIN:
            rows_max = 2 * limit
            ((count,),) = await self._rows(lists, lists.probe([walk], rows_max + 1))
            if count <= rows_max:
                rows = await self._rows(lists, lists.joint_page(walk, order, after, rows_max))
                return list({row[0]: row for row in rows}.values())[:limit]
        pages = (
            lists.walk_page(walk._replace(choices=(choice,)), order, after, limit)
            for choice in walk.choices
        )
        runs = (self._session.cursor(page.text, page.values) for page in pages)
        return _merge(runs, limit, _SORT_KEYS[order is None])

    async def _count(self, lists: SqliteLists, walk: IndexWalk, limit: int) -> int:
        if len(walk.choices) == 1:
            ((count,),) = await self._rows(lists, lists.count(walk, limit))
            return int(count)
        numbers = set[int]()  # a row may have two of the values of a facet
        for choice in walk.choices:
            query = lists.row_numbers(walk._replace(choices=(choice,)), limit)
            numbers.update(row for (row,) in await self._rows(lists, query))
        return min(len(numbers), limit)

    async def _search(
        self, lists: SqliteLists, terms: Mapping[str, int], after: Position | None, limit: int
    ) -> list[Row]:
        self._session.write_texts()
        run = None
        if (lists.criteria.start, lists.criteria.end) != (None, None):
            ((first, last, count),) = await self._rows(lists, lists.row_run(RUN_ROWS_MAX + 1))
            if not count:
                return []
            run = (first, last) if count <= RUN_ROWS_MAX else None
        return await self._rows(lists, lists.search(terms, run, after, limit))

    def _stored(self, collection: Collection[Any], records: Iterable[Any]) -> list[StoredRow[Any]]:
        if collection.layout.is_compressed:
            records = [(row[0], row[1], row[2], expand_row(row[3], row[0])) for row in records]
        return super()._stored(collection, records)

    def _writer(self, collection: Collection[Any], id_: str) -> RowWriter:
        table = self._table(collection)
        owner = scopes.write_owner(collection, self._tenant)
        self._session.write(collection.name)
        texts = self._session.batch.texts
        return RowWriter(self._session.connection, texts, table, owner, id_)


def _current_row(writer: RowWriter, expect: int | None) -> RowState | None:
    old = writer.find()
    current = 0 if old is None else old.version
    if expect is not None and expect != current:
        raise StaleVersionError(current)
    return old


# -- runs of rows ------------------------------------------------------------------------------


def _merge(
    runs: Iterable[sqlite3.Cursor], count: int, sort_key: Callable[[Row], tuple[Any, ...]]
) -> list[Row]:
    """The first `count` rows of several ordered runs; a row that is in two of them comes once.

    A run is abandoned at the first row that sorts after all rows that are needed, so of many runs
    most rows are never read.
    """
    rows: dict[str, Row] = {}
    last: tuple[Any, ...] | None = None
    rows_max = count
    for run in runs:
        for row in run:
            if last is not None and sort_key(row) <= last:
                break
            rows[row[0]] = row
        run.close()  # so that the next run can reuse the prepared statement
        if len(rows) >= rows_max:
            rows_max = 2 * count  # sorting after each of thousands of runs would take seconds
            best = sorted(rows.values(), key=sort_key, reverse=True)[:count]
            rows, last = {row[0]: row for row in best}, sort_key(best[-1])
    return sorted(rows.values(), key=sort_key, reverse=True)
