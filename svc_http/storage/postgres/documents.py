# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""Documents over the tables of their collections."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

from svc_core.ports import (
    Collection,
    Document,
    Owned,
    Position,
    Record,
    Slice,
    StaleVersionError,
)
from svc_http.storage import scopes
from svc_http.storage.postgres.session import Session, numbered
from svc_http.storage.postgres.table import Table, with_facets, without_facets

T = TypeVar("T")
Where = Mapping[str, tuple[str, ...]]

PROBED_MAX = 200
"""Counting stops here: enough to tell a rare filter from a common one."""

_document: Callable[[Any], Document[Any]] = partial(tuple.__new__, Document)


class Stored(NamedTuple):
    """A table, and the number by which rows say that this process wrote them."""

    table: Table
    shape: int


Tables = Mapping[str, Stored]


class PostgresDocuments:
    """The rows that one transaction may see."""

    def __init__(self, session: Session, tables: Tables, tenant: str) -> None:
        self._session = session
        self._tables = tables
        self._tenant = tenant

    async def get(self, collection: Collection[T], id_: str) -> Document[T] | None:
        """The row, or None when this tenant has no such row."""
        owner = scopes.reading(collection, self._tenant)
        table = declared(self._tables, collection).table
        found = await self._session.rows(table.get, owner, id_)
        return Document(id_, *found[0]) if found else None

    async def put(
        self, collection: Collection[T], id_: str, value: T, *, expect: int | None = None
    ) -> Document[T]:
        """Write the row; see the port."""
        table, shape = declared(self._tables, collection)
        owner = scopes.writing(collection, self._tenant)
        self._session.write(collection.name)
        record = collection.record(value)
        statement, values = _put(table, shape, owner, id_, record, expect)
        found = await self._session.rows(statement, *values)
        if not found:
            raise StaleVersionError(await self._version(table, owner, id_))
        return Document(id_, found[0]["version"], record.order, record.raw)

    async def delete(
        self, collection: Collection[T], id_: str, *, expect: int | None = None
    ) -> Document[T] | None:
        """Remove the row; see the port."""
        table = declared(self._tables, collection).table
        owner = scopes.writing(collection, self._tenant)
        self._session.write(collection.name)
        values = (owner, id_) if expect is None else (owner, id_, expect)
        bound = "" if expect is None else " AND version = $3"
        statement = f"{table.remove}{bound} RETURNING version, ord, body"
        found = await self._session.rows(without_facets(table, statement), *values)
        if found:
            return Document(id_, *found[0])
        if expect is not None:
            current = await self._version(table, owner, id_)
            if current != expect:
                raise StaleVersionError(current)
        return None

    async def scan(
        self,
        collection: Collection[T],
        *,
        where: Where | None = None,
        start: int | None = None,
        end: int | None = None,
        after: Position | None = None,
        limit: int,
    ) -> Slice[T]:
        """At most `limit` rows in list order; see the port."""
        table = declared(self._tables, collection).table
        filters = declared_filters(table, where)
        if not all(filters.values()):
            return Slice((), more=False)
        owner = scopes.reading(collection, self._tenant)
        driver = await self._driver(table, owner, filters)
        asked = _scan(table, owner, filters, driver, start, end, after, limit + 1)
        found = await self._session.rows(numbered(asked.text), *asked.values)
        return Slice(tuple(map(_document, found[:limit])), more=len(found) > limit)

    async def search(
        self,
        collection: Collection[T],
        terms: tuple[str, ...],
        *,
        start: int | None = None,
        end: int | None = None,
        limit: int,
    ) -> tuple[Document[T], ...]:
        """At most `limit` rows that hold any of `terms`; see the port."""
        if collection.search is None:
            raise AssertionError(f"{collection.name} declares no text index")
        table = declared(self._tables, collection).table
        owner = scopes.reading(collection, self._tenant)
        wanted = sorted({*terms} - {""})
        asked = _Query(f"SELECT c.id, c.version, c.ord, c.body FROM {table.rows} AS c")
        asked.add(" WHERE c.tenant = ? AND c.tokens && ?::text[]", owner, wanted)
        asked.bound("c", start, end, None)
        asked.add(
            " ORDER BY (SELECT count(*) FROM unnest(?::text[]) AS t (term)"
            " WHERE t.term = ANY (c.tokens)) DESC, c.ord DESC, c.id DESC LIMIT ?",
            wanted,
            limit,
        )
        found = await self._session.rows(numbered(asked.text), *asked.values)
        return tuple(map(_document, found))

    async def across(
        self, collection: Collection[T], where: Where | None, end: int | None, limit: int
    ) -> tuple[Owned[T], ...]:
        """Rows of every tenant with the lowest `(order, tenant, id)` first."""
        table = declared(self._tables, collection).table
        filters = declared_filters(table, where)
        asked = _Query(
            f"SELECT c.tenant, c.id, c.version, c.ord, c.body FROM {table.rows} AS c WHERE TRUE"
        )
        if collection.scope != "tenant":
            asked.add(" AND c.tenant = ?", scopes.writing(collection, ""))
        asked.bound("c", None, end, None)
        asked.check(table, filters)
        asked.add(" ORDER BY c.ord, c.tenant, c.id LIMIT ?", limit)
        found = await self._session.rows(numbered(asked.text), *asked.values)
        return tuple(Owned(row[0], Document(*row[1:])) for row in found)

    async def _version(self, table: Table, owner: str, id_: str) -> int:
        found = await self._session.rows(table.version, owner, id_)
        return found[0]["version"] if found else 0

    async def _driver(self, table: Table, owner: str, filters: Where) -> str | None:
        """The filter whose index is walked: of several, one with few rows."""
        if len(filters) < 2:
            return next(iter(filters), None)
        asked = _Query("SELECT ")
        for name, values in filters.items():
            asked.probe(table, owner, name, values)
        (counts,) = await self._session.rows(numbered(asked.text), *asked.values)
        return min(zip(counts, filters, strict=True), key=lambda each: each[0])[1]


def declared(tables: Tables, collection: Collection[Any]) -> Stored:
    """The table of a collection.

    Raises:
        AssertionError: the store was opened without it.
    """
    try:
        return tables[collection.name]
    except KeyError:
        raise AssertionError(f"{collection.name} is not declared to this store") from None


def declared_filters(table: Table, where: Where | None) -> Where:
    """The filters, each value once.

    Raises:
        AssertionError: a name is neither a key nor a facet.
    """
    if not where:
        return {}
    collection = table.collection
    unknown = where.keys() - collection.keys.keys() - collection.facets.keys()
    if unknown:
        raise AssertionError(f"{collection.name} declares no filter {sorted(unknown)}")
    return {name: tuple(dict.fromkeys(values)) for name, values in where.items()}


# -- statements --------------------------------------------------------------------------------


def _put(
    table: Table, shape: int, owner: str, id_: str, record: Record, expect: int | None
) -> tuple[str, list[object]]:
    """The statement that writes a row if what is expected is there, and its values."""
    values = [owner, id_, *table.values(shape, record)]
    if expect is None:
        statement = table.upsert
    elif expect == 0:
        statement = table.insert
    else:
        statement = table.update
        values.append(expect)
    pairs = [(name, value) for name, found in record.facets.items() for value in found]
    if pairs or (expect != 0 and record.facets):
        statement = with_facets(table, statement, at=len(values) + 1, is_new=expect == 0)
        values += [[name for name, _ in pairs], [value for _, value in pairs]]
    return statement, values


def _scan(
    table: Table,
    owner: str,
    filters: Where,
    driver: str | None,
    start: int | None,
    end: int | None,
    after: Position | None,
    count: int,
) -> "_Query":
    """A listing: one walk of an index, or one for each value of the filter that is walked."""
    wanted = filters[driver] if driver is not None else ()
    line = "f" if driver in table.collection.facets else "c"
    asked = _Query("SELECT c.id, c.version, c.ord, c.body FROM ")
    if len(wanted) > 1:
        asked = _Query(
            "SELECT DISTINCT ON (r.ord, r.id) r.* FROM unnest(?::text[]) AS v (value)"
            " CROSS JOIN LATERAL (SELECT c.id, c.version, c.ord, c.body FROM ",
            wanted,
        )
    asked.walk(table, owner, driver, wanted)
    asked.bound(line, start, end, after)
    asked.check(table, {name: filters[name] for name in filters if name != driver})
    asked.add(f" ORDER BY {line}.ord DESC, {line}.id DESC LIMIT ?", count)
    if len(wanted) > 1:
        asked.add(") AS r ORDER BY r.ord DESC, r.id DESC LIMIT ?", count)
    return asked


class _Query:
    """A statement in the making: its text, with a question mark for each of its values."""

    def __init__(self, text: str, *values: object) -> None:
        self.text = text
        self.values = [*values]

    def add(self, text: str, *values: object) -> None:
        """Go on with the text and its values."""
        self.text += text
        self.values += values

    def walk(self, table: Table, owner: str, driver: str | None, wanted: tuple[str, ...]) -> None:
        """The table whose index is walked, and where the walk goes."""
        value = ("v.value", ()) if len(wanted) > 1 else ("?", wanted)
        if driver is None:
            self.add(f"{table.rows} AS c WHERE c.tenant = ?", owner)
        elif driver in table.collection.facets:
            self.add(
                f"{table.facet_rows} AS f JOIN {table.rows} AS c ON c.tenant = f.tenant"
                f" AND c.id = f.id WHERE f.name = '{driver}' AND f.tenant = ?",
                owner,
            )
            self.add(f" AND f.value = {value[0]}", *value[1])
        else:
            self.add(f"{table.rows} AS c WHERE c.tenant = ?", owner)
            self.add(f" AND c.k_{driver} = {value[0]}", *value[1])

    def bound(
        self, line: str, start: int | None, end: int | None, after: Position | None
    ) -> None:
        """Both ends of the walk: of two upper bounds the tighter, where the walk begins."""
        if start is not None:
            self.add(f" AND {line}.ord >= ?::bigint", start)
        if after is not None and (end is None or after.order <= end):
            self.add(f" AND ({line}.ord, {line}.id) < (?::bigint, ?)", after.order, after.id)
        elif end is not None:
            self.add(f" AND {line}.ord <= ?::bigint", end)

    def check(self, table: Table, filters: Where) -> None:
        """Filters that are looked at row by row."""
        for name, values in filters.items():
            if name in table.collection.facets:
                self.add(
                    f" AND EXISTS (SELECT FROM {table.facet_rows} AS g WHERE g.tenant = c.tenant"
                    f" AND g.id = c.id AND g.name = '{name}' AND g.value = ANY (?::text[]))",
                    values,
                )
            else:
                # The empty text keeps the planner from walking this index and sorting.
                self.add(f" AND c.k_{name} || '' = ANY (?::text[])", values)

    def probe(self, table: Table, owner: str, name: str, values: tuple[str, ...]) -> None:
        """One column: how many rows a filter finds, up to a limit."""
        source, condition = table.rows, f"k_{name}"
        if name in table.collection.facets:
            source, condition = table.facet_rows, f"name = '{name}' AND value"
        self.add(
            f"{', ' if self.values else ''}(SELECT count(*) FROM (SELECT FROM {source}"
            f" WHERE tenant = ? AND {condition} = ANY (?::text[]) LIMIT {PROBED_MAX}) AS p)",
            owner,
            values,
        )
