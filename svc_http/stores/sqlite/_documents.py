"""Reads and writes documents in the SQLite tables of their collections.

A list walks one index in its order and checks the other filters row by row, so that a page costs
about the same anywhere in a list. The choice of the index (`_driver`) is made here by counting up
to a limit, because the planner of SQLite knows no statistics per tenant.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar, Unpack

from svc_core.base import compact
from svc_core.operation.ports import (
    Collection,
    CrossTenantFilters,
    Filters,
    Position,
    Slice,
    StaleVersionError,
    StoredRow,
    TenantRow,
)
from svc_http.stores import tenancy as scopes
from svc_http.stores.selection import (
    NUMBER_MAX,
    NUMBER_MIN,
    Criteria,
    check_searchable,
    criteria_of,
)
from svc_http.stores.sorted_rows import slice_of
from svc_http.stores.sqlite._rows import RowState, RowWriter, owner_token
from svc_http.stores.sqlite._table import Shape, SqliteTable
from svc_http.stores.sqlite._write_batch import WriteBatch

T = TypeVar("T")
Tables = Mapping[str, SqliteTable]
Row = tuple[Any, ...]
"""Identifier, version, order and bytes; a number after them, where that is the sort key."""

PROBED_MAX = 200
"""Counting stops here: enough to tell rare filter values from common ones, in about 10 µs."""

SORTED_MAX = 500
"""The limit of counting where a list is sorted by a number, or filtered by numbers alone. Sorting
so many rows takes about 4 ms; a lower limit would walk over more of a large list instead."""

RUN_ROWS_MAX = 20_000
"""The largest number of rows between the bounds of a search that are counted, in about 2 ms. Beyond
it the text index is walked without a range of row numbers."""

_json = compact.compact_encoder(ascii_only=True)

_to_document: Callable[[Any], StoredRow[Any]] = partial(tuple.__new__, StoredRow)
"""The same as `Document._make`, without a Python frame for each row of a page."""

_SORT_KEYS = (itemgetter(4, 0), itemgetter(2, 0))
"""The sort keys for merging rows of several runs: a number, or the order of the collection."""


class SqliteDocuments:
    """The documents that one transaction may read and write."""

    __slots__ = ("_connection", "_tables", "_tenant", "_writes")

    def __init__(
        self, connection: sqlite3.Connection, tables: Tables, tenant: str, writes: WriteBatch | None
    ) -> None:
        """Serve rows of `tenant`; `writes` is None in a reading transaction."""
        self._connection = connection
        self._tables = tables
        self._tenant = tenant
        self._writes = writes

    async def get(self, collection: Collection[T], id_: str) -> StoredRow[T] | None:
        """The row, or None when this tenant has no such row."""
        owner = scopes.read_owner(collection, self._tenant)
        row = self._connection.execute(
            declared_table(self._tables, collection).get, (owner, id_)
        ).fetchone()
        return None if row is None else StoredRow(id_, *row)

    async def get_many(
        self, collection: Collection[T], ids: Sequence[str]
    ) -> dict[str, StoredRow[T]]:
        """The rows that are there; see the port."""
        owner = scopes.read_owner(collection, self._tenant)
        statement = declared_table(self._tables, collection).get_many
        records = self._connection.execute(statement, (owner, _json(ids)))
        rows = {row[0]: _to_document(row) for row in records}
        return {id_: rows[id_] for id_ in ids if id_ in rows}

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

    async def scan(
        self,
        collection: Collection[T],
        *,
        order: str | None = None,
        after: Position | None = None,
        limit: int,
        **filters: Unpack[Filters],
    ) -> Slice[T]:
        """At most `limit` rows in list order; see the port."""
        owner, criteria = self._criteria(collection, order, **filters)
        if criteria.is_empty:
            # A filter without values matches no row, and IN () would be no valid statement.
            return Slice(())
        walk = self._walk(collection, owner, criteria, order, after)
        statement, tail = walk.table.scan(walk.shape), [*walk.values, limit + 1]
        runs = (self._connection.execute(statement, [*head, *tail]) for head in walk.heads)
        if len(walk.heads) == 1:
            rows = next(runs).fetchall()
        else:
            rows = _merge(runs, limit + 1, _SORT_KEYS[order is None])
        if order is None:
            return slice_of(list(map(_to_document, rows)), limit)
        end = Position(rows[limit - 1][4], rows[limit - 1][0]) if len(rows) > limit else None
        return Slice(tuple([_to_document(row[:4]) for row in rows[:limit]]), end)

    async def count(
        self, collection: Collection[T], *, limit: int, **filters: Unpack[Filters]
    ) -> int:
        """How many rows there are, up to a limit; see the port."""
        owner, criteria = self._criteria(collection, **filters)
        if criteria.is_empty:
            return 0
        walk = self._walk(collection, owner, criteria, is_single=True)
        values = [*walk.heads[0], *walk.values, limit]
        count: int = self._connection.execute(walk.table.count(walk.shape), values).fetchone()[0]
        return count

    async def search(
        self,
        collection: Collection[T],
        terms: Mapping[str, int],
        *,
        after: Position | None = None,
        limit: int,
        **filters: Unpack[Filters],
    ) -> Slice[T]:
        """At most `limit` rows that hold any of `terms`; see the port."""
        check_searchable(collection)
        owner, criteria = self._criteria(collection, **filters)
        if not terms or criteria.is_empty:
            return Slice(())
        table = self._flushed_table(collection)
        words = {match_query(owner, (term,)): weight for term, weight in terms.items()}
        run = self._row_run(table, owner, criteria)
        if run is not None and run[0] is None:
            return Slice(())
        shape = _shape(criteria, None, None, after)._replace(has_run=run is not None)
        place = () if after is None else (after.rank, after.order, after.id)
        checks = (value for name, _ in shape.checks for value in criteria.where[name])
        texts = [match_query(owner, criteria.words, "AND")] if criteria.words else []
        best = [*place[:1], limit] if criteria.is_all else []
        values = [_json(words), *(run or ()), owner, *texts, *_bounds(criteria), *place, *checks]
        values += [*best, limit + 1]
        rows = self._connection.execute(table.search(shape), values).fetchall()
        end = None
        if len(rows) > limit:
            id_, _, order, _, rank = rows[limit - 1]
            end = Position(order, id_, rank)
        return Slice(tuple(_to_document(row[:4]) for row in rows[:limit]), end)

    def _row_run(
        self, table: SqliteTable, owner: str, criteria: Criteria
    ) -> tuple[int | None, ...] | None:
        """The lowest and the highest row number between the bounds of the order; None for too many.

        Rows are numbered in the order of insertion, so those of a period lie close together, and
        the text index can be limited to a range of row numbers.
        """
        bounds = criteria[1:3]
        if bounds == (None, None):
            return None
        low, high = (NUMBER_MIN, NUMBER_MAX)
        start, end = (low if bounds[0] is None else bounds[0]), bounds[1]
        values = (owner, start, high if end is None else end, RUN_ROWS_MAX + 1)
        first, last, count = self._connection.execute(table.run, values).fetchone()
        return None if count > RUN_ROWS_MAX else (first, last)

    def _criteria(
        self, collection: Collection[Any], order: str | None = None, **filters: Unpack[Filters]
    ) -> tuple[str, Criteria]:
        """The owner of the rows that a list reads, and the criteria that they must meet."""
        owner = scopes.read_owner(collection, self._tenant)
        return owner, criteria_of(collection, order, **filters)

    def _walk(
        self,
        collection: Collection[Any],
        owner: str,
        criteria: Criteria,
        order: str | None = None,
        after: Position | None = None,
        *,
        is_single: bool = False,
    ) -> "_Walk":
        """The shape and values of a statement; with `is_single` one unordered run has all rows."""
        table = (
            self._flushed_table(collection)
            if criteria.words
            else declared_table(self._tables, collection)
        )
        driver = None if criteria.words else self._driver(table, owner, criteria, order)
        if order is None and after is not None and criteria.end is not None:
            # Only the tighter of the two upper bounds is passed, because SQLite might begin the
            # index walk at the other one.
            if after.order <= criteria.end:
                criteria = criteria._replace(end=None)
            else:
                after = None
        if after is not None:  # likewise for the number that is the sort key
            spans = [
                span.below(after.order) if span.name == order else span for span in criteria[3]
            ]
            criteria = criteria._replace(spans=tuple(spans))
        shape = _shape(criteria, driver, order, after)
        if criteria.is_whole:
            place = () if after is None else (after.order, after.id)
            return _Walk(table, shape, [[owner]], [*_bounds(criteria), *place])
        heads: list[list[str]] = [[owner]]
        if criteria.words:
            heads = [[match_query(owner, criteria.words, "AND"), owner]]
        elif driver is not None and driver in criteria.where:
            heads = [[owner, value] for value in criteria.where[driver]]
            if is_single and len(heads) > 1:
                shape = shape._replace(is_several=True)
                heads = [[owner, _json(criteria.where[driver])]]
        place = () if after is None else (after.order, after.id)
        checks = (value for name, _ in shape.checks for value in criteria.where[name])
        return _Walk(table, shape, heads, [*_bounds(criteria), *place, *checks])

    def _flushed_table(self, collection: Collection[Any]) -> SqliteTable:
        """The table, after the pending words of the batch were written to its text index."""
        if self._writes is not None:
            self._writes.texts.write()
        return declared_table(self._tables, collection)

    def _writer(self, collection: Collection[Any], id_: str) -> RowWriter:
        if self._writes is None:
            raise AssertionError("a reading transaction writes")
        table = declared_table(self._tables, collection)
        owner = scopes.write_owner(collection, self._tenant)
        self._writes.names.add(collection.name)
        return RowWriter(self._connection, self._writes.texts, table, owner, id_)

    def _driver(
        self, table: SqliteTable, owner: str, criteria: Criteria, order: str | None
    ) -> str | None:
        """The filter or number whose index the statement walks: the rarest one if it is rare, else
        one whose index is in list order; None walks the collection in its order."""
        if criteria.is_whole:
            return order
        names = list(criteria.where)
        if order is not None:
            rankings = table.collection.rankings
            names = [*(name for name in criteria.where if order in rankings.get(name, ())), order]
        spans = [span.name for span in criteria.spans if not span.wraps]
        # Whether no filter index is in list order.
        is_single = len(names) == (order is not None)
        stop = SORTED_MAX if is_single else PROBED_MAX
        choices = [*names, *(name for name in (*criteria.where, *spans) if name not in names)]
        if len(choices) < 2 and names:
            return choices[0]
        counts = {name: self._probe(table, owner, name, criteria, stop) for name in choices}
        best = min(counts, key=lambda name: counts[name], default=None)
        is_rare = best is None or counts[best] < stop
        if is_rare or (order is None and best in names):
            return best
        return names[0] if names else None

    def _probe(
        self, table: SqliteTable, owner: str, name: str, criteria: Criteria, stop: int
    ) -> int:
        probes: list[tuple[object, ...]] = [(value,) for value in criteria.where.get(name, ())]
        if name in table.numbers:
            spans = [span for span in criteria.spans if span.name == name and not span.wraps]
            probes = [(span.low, span.high) for span in spans] or [(NUMBER_MIN, NUMBER_MAX)]
        return sum(
            self._connection.execute(table.probe(name), (owner, *values, stop)).fetchone()[0]
            for values in probes
        )


class _Walk(NamedTuple):
    """A list statement: its shape, the leading values of each run, and the values common to all."""

    table: SqliteTable
    shape: Shape
    heads: list[list[str]]
    values: list[Any]


def _shape(
    criteria: Criteria, driver: str | None, order: str | None, after: Position | None
) -> Shape:
    where, start, end, spans, words = criteria
    return Shape(
        driver,
        tuple([(name, len(values)) for name, values in where.items() if name != driver]),
        tuple([(span.name, span.wraps) for span in spans]) if spans else (),
        start is not None,
        end is not None,
        after is not None,
        order,
        bool(words),
    )


def _bounds(criteria: Criteria) -> list[int]:
    bounds = [number for number in criteria[1:3] if number is not None]
    if not criteria.spans:
        return bounds
    return bounds + [edge for span in criteria.spans for edge in (span.low, span.high)]


def _current_row(writer: RowWriter, expect: int | None) -> RowState | None:
    old = writer.find()
    current = 0 if old is None else old.version
    if expect is not None and expect != current:
        raise StaleVersionError(current)
    return old


def scan_across(
    connection: sqlite3.Connection, table: SqliteTable, limit: int, bounds: CrossTenantFilters
) -> tuple[TenantRow[Any], ...]:
    """Rows of every tenant with the lowest `(order, tenant, id)` first."""
    after, end = bounds.get("after"), bounds.get("end")
    filters = criteria_of(table.collection, where=bounds.get("where")).where
    checks = tuple((name, len(values)) for name, values in filters.items())
    values = [value for name in filters for value in filters[name]]
    edges = [*(after or ()), *(() if end is None else (end,))]
    statement = table.across(checks, after is not None, end is not None)
    rows = connection.execute(statement, [*edges, *values, limit])
    return tuple(TenantRow(row[0], StoredRow(*row[1:])) for row in rows)


def declared_table(tables: Tables, collection: Collection[Any]) -> SqliteTable:
    """The table of a collection.

    Raises:
        AssertionError: the store was opened without it.
    """
    try:
        return tables[collection.name]
    except KeyError:
        raise AssertionError(f"{collection.name} is not declared to this store") from None


def match_query(owner: str, terms: Iterable[str], operator: str = "OR") -> str:
    """The FTS5 query for rows of `owner` with any (or all) of `terms`, each one quoted token."""
    tokens = f" {operator} ".join(_quote(term) for term in dict.fromkeys(terms))
    return f"owner : {_quote(owner_token(owner))} AND tokens : ({tokens})"


def _quote(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'


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
