"""Reads and writes documents in the PostgreSQL tables of their collections."""

from collections.abc import Mapping
from typing import Any, TypeVar

from svc_core.operation.ports import (
    Collection,
    IndexedRow,
    Position,
    StaleVersionError,
    StoredRow,
)
from svc_core.operation.ports import tenancy as scopes
from svc_core.operation.ports.selection import Criteria
from svc_http.stores.postgres._lists import PostgresLists
from svc_http.stores.postgres._session import Session
from svc_http.stores.postgres._table import (
    PostgresTable,
    facet_columns,
    with_facets,
    without_facets,
)
from svc_http.stores.relational.documents_reading import RelationalDocuments
from svc_http.stores.relational.list_statements import WHOLE, IndexWalk

T = TypeVar("T")

NARROW_MAX = 5_000
"""The most rows between the bounds of a search that are checked one by one, in about 20 ms."""


class PostgresDocuments(RelationalDocuments[PostgresLists]):
    """The documents that one transaction may read and write."""

    _session: Session

    async def put(
        self, collection: Collection[T], id_: str, value: T, *, expect: int | None = None
    ) -> StoredRow[T]:
        """Write the row; see the port."""
        table = self._table(collection)
        owner = scopes.write_owner(collection, self._tenant)
        self._session.write(collection.name)
        record = collection.record(value)
        values = [owner, id_, *table.cells(owner, record)]
        statement = _put(table, record, values, expect)
        rows = await self._session.rows(statement, *values)
        if not rows:
            raise StaleVersionError(await self._version(table, owner, id_))
        return StoredRow(id_, rows[0]["version"], record.order, record.raw)

    async def delete(
        self, collection: Collection[T], id_: str, *, expect: int | None = None
    ) -> StoredRow[T] | None:
        """Remove the row; see the port."""
        table = self._table(collection)
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

    def _statements(
        self, collection: Collection[Any], owner: str, criteria: Criteria
    ) -> PostgresLists:
        return PostgresLists(collection, owner, criteria)

    async def _page(
        self,
        lists: PostgresLists,
        walk: IndexWalk,
        order: str | None,
        after: Position | None,
        limit: int,
    ) -> list[Any]:
        return await self._rows(lists, lists.page(walk, order, after, limit))

    async def _count(self, lists: PostgresLists, walk: IndexWalk, limit: int) -> int:
        ((count,),) = await self._rows(lists, lists.count(walk, limit))
        return int(count)

    async def _search(
        self, lists: PostgresLists, terms: Mapping[str, int], after: Position | None, limit: int
    ) -> list[Any]:
        is_narrow = False
        if (lists.criteria.start, lists.criteria.end) != (None, None):
            ((count,),) = await self._rows(lists, lists.probe([WHOLE], NARROW_MAX + 1))
            is_narrow = count <= NARROW_MAX
        return await self._rows(lists, lists.search(terms, after, limit, is_narrow=is_narrow))

    async def _version(self, table: PostgresTable, owner: str, id_: str) -> int:
        rows = await self._session.rows(table.version, owner, id_)
        return rows[0]["version"] if rows else 0


def _put(table: PostgresTable, record: IndexedRow, values: list[object], expect: int | None) -> str:
    """The statement that writes a row if its version is `expect`; it may append to `values`."""
    if expect is None:
        statement = table.upsert
    elif expect == 0:
        statement = table.insert
    else:
        statement = table.update
        values.append(expect)
    names, texts = facet_columns(record)
    if names or (expect != 0 and record.facets):
        statement = with_facets(table, statement, at=len(values) + 1, is_new=expect == 0)
        values += [names, texts]
    return statement
