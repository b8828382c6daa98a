"""Reads and writes documents in the PostgreSQL tables of their collections."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, Unpack

from svc_core.operation.ports import (
    Collection,
    CrossTenantFilters,
    Filters,
    IndexedRow,
    Position,
    Slice,
    StaleVersionError,
    StoredRow,
    TenantRow,
)
from svc_http.stores import tenancy as scopes
from svc_http.stores.postgres._query import PROBED_MAX, Lists, PostgresQuery
from svc_http.stores.postgres._session import Session, number_parameters
from svc_http.stores.postgres._table import PostgresTable, column_pairs, with_facets, without_facets
from svc_http.stores.selection import check_searchable, criteria_of

T = TypeVar("T")

NARROW_MAX = 5_000
"""The most rows between the bounds of a search that are checked one by one, in about 20 ms."""


def _documents(records: Iterable[Any]) -> list[StoredRow[Any]]:
    """The same as `Document._make` on the first four columns, without a Python frame per row."""
    new: Any = tuple.__new__
    return [new(StoredRow, row[:4]) for row in records]  # slicing a record is the fastest way


class ShapedTable(NamedTuple):
    """A table, and the shape number that this process writes into its rows."""

    table: PostgresTable
    shape: int


Tables = Mapping[str, ShapedTable]


class PostgresDocuments:
    """The documents that one transaction may read and write."""

    def __init__(self, session: Session, tables: Tables, tenant: str) -> None:
        self._session = session
        self._tables = tables
        self._tenant = tenant

    async def get(self, collection: Collection[T], id_: str) -> StoredRow[T] | None:
        """The row, or None when this tenant has no such row."""
        owner = scopes.read_owner(collection, self._tenant)
        rows = await self._session.rows(self._table(collection).table.get, owner, id_)
        return StoredRow(id_, *rows[0]) if rows else None

    async def get_many(
        self, collection: Collection[T], ids: Sequence[str]
    ) -> dict[str, StoredRow[T]]:
        """The rows that are there; see the port."""
        owner = scopes.read_owner(collection, self._tenant)
        records = await self._session.rows(self._table(collection).table.get_many, owner, ids)
        rows = {row.id: row for row in _documents(records)}
        return {id_: rows[id_] for id_ in ids if id_ in rows}

    async def put(
        self, collection: Collection[T], id_: str, value: T, *, expect: int | None = None
    ) -> StoredRow[T]:
        """Write the row; see the port."""
        target = self._table(collection)
        owner = scopes.write_owner(collection, self._tenant)
        self._session.write(collection.name)
        record = collection.record(value)
        values = [owner, id_, *target.table.values(owner, target.shape, record)]
        statement = _put(target.table, record, values, expect)
        rows = await self._session.rows(statement, *values)
        if not rows:
            raise StaleVersionError(await self._version(target.table, owner, id_))
        return StoredRow(id_, rows[0]["version"], record.order, record.raw)

    async def delete(
        self, collection: Collection[T], id_: str, *, expect: int | None = None
    ) -> StoredRow[T] | None:
        """Remove the row; see the port."""
        table = self._table(collection).table
        owner = scopes.write_owner(collection, self._tenant)
        self._session.write(collection.name)
        values = (owner, id_) if expect is None else (owner, id_, expect)
        condition = "" if expect is None else " AND version = $3"
        statement = f"{table.remove}{condition} RETURNING version, ord, body"
        rows = await self._session.rows(without_facets(table, statement), *values)
        if rows:
            return StoredRow(id_, *rows[0])
        if expect is not None:
            current = await self._version(table, owner, id_)
            if current != expect:
                raise StaleVersionError(current)
        return None

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
        lists = self._lists(collection, order, **filters)
        if lists is None:
            return Slice(())
        if order is None and lists.is_whole:
            statement, values = lists.page(after, limit + 1)
            records = await self._session.rows(statement, *values)
        else:
            driver = await self._driver(lists, order)
            records = await self._rows(lists.scan(driver, order, after, limit + 1))
        rows = tuple(_documents(records[:limit]))
        if len(records) <= limit:
            return Slice(rows)
        last = records[limit - 1]
        return Slice(rows, Position(last[2 if order is None else 4], last[0]))

    async def count(
        self, collection: Collection[T], *, limit: int, **filters: Unpack[Filters]
    ) -> int:
        """How many rows there are, up to a limit; see the port."""
        lists = self._lists(collection, None, **filters)
        if lists is None:
            return 0
        rows = await self._rows(lists.count(await self._driver(lists, None), limit))
        return int(rows[0][0])

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
        lists = self._lists(collection, None, **filters)
        if not terms or lists is None:
            return Slice(())
        narrow = await self._is_narrow(lists)
        rows = await self._rows(lists.search(terms, after, limit + 1, is_narrow=narrow))
        end = None
        if len(rows) > limit:
            id_, _, order, _, rank = rows[limit - 1]
            end = Position(order, id_, rank)
        return Slice(tuple(_documents(rows[:limit])), end)

    async def across(
        self, collection: Collection[T], limit: int, bounds: CrossTenantFilters
    ) -> tuple[TenantRow[T], ...]:
        """Rows of every tenant with the lowest `(order, tenant, id)` first."""
        criteria = criteria_of(collection, where=bounds.get("where"), end=bounds.get("end"))
        if criteria.is_empty:
            return ()
        lists = Lists(self._table(collection).table, self._tenant, criteria)
        rows = await self._rows(lists.across(bounds.get("after"), limit))
        return tuple(TenantRow(row[0], StoredRow(*row[1:])) for row in rows)

    def _table(self, collection: Collection[Any]) -> ShapedTable:
        """The table of a collection.

        Raises:
            AssertionError: the store was opened without it.
        """
        try:
            return self._tables[collection.name]
        except KeyError:
            raise AssertionError(f"{collection.name} is not declared to this store") from None

    def _lists(
        self, collection: Collection[Any], order: str | None, **filters: Unpack[Filters]
    ) -> Lists | None:
        """The statements of a list; None if no row can match."""
        owner, table = scopes.read_owner(collection, self._tenant), self._table(collection).table
        criteria = criteria_of(collection, order, **filters)
        return None if criteria.is_empty else Lists(table, owner, criteria)

    async def _rows(self, query: PostgresQuery) -> list[Any]:
        return await self._session.rows(number_parameters(query.text), *query.values)

    async def _version(self, table: PostgresTable, owner: str, id_: str) -> int:
        rows = await self._session.rows(table.version, owner, id_)
        return rows[0]["version"] if rows else 0

    async def _is_narrow(self, lists: Lists) -> bool:
        """Whether few enough rows lie between the bounds of a search to check them one by one."""
        if lists.is_open:
            return False
        rows = await self._rows(lists.window(NARROW_MAX + 1))
        return int(rows[0][0]) <= NARROW_MAX

    async def _driver(self, lists: Lists, order: str | None) -> str | None:
        """The filter whose index the statement walks: the rarest one if it is rare, else one whose
        index is in list order."""
        ordered_names, other_names = lists.drivers(order)
        if other_names or len(ordered_names) > 1:
            names = [*ordered_names, *other_names]
            (counts,) = await self._rows(lists.probe(names))
            fewest, best = min(zip(counts, names, strict=True), key=lambda pair: pair[0])
            if fewest < PROBED_MAX:
                return best
        return next(iter(ordered_names), None)


def _put(table: PostgresTable, record: IndexedRow, values: list[object], expect: int | None) -> str:
    """The statement that writes a row if its version is `expect`; it may append to `values`."""
    if expect is None:
        statement = table.upsert
    elif expect == 0:
        statement = table.insert
    else:
        statement = table.update
        values.append(expect)
    names, texts = column_pairs(record)
    if names or (expect != 0 and record.facets):
        statement = with_facets(table, statement, at=len(values) + 1, is_new=expect == 0)
        values += [names, texts]
    return statement
