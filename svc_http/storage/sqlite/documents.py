"""Documents over the tables of their collections."""

import heapq
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any, TypeVar

from svc_core.ports import (
    Collection,
    Document,
    Owned,
    Position,
    Slice,
    StaleVersionError,
)
from svc_http.storage import scopes
from svc_http.storage.sqlite.rows import Place, RowWriter, owner_token
from svc_http.storage.sqlite.table import Shape, Table
from svc_http.storage.sqlite.texts import Texts

T = TypeVar("T")
Where = Mapping[str, tuple[str, ...]]
Tables = Mapping[str, Table]
Row = tuple[str, int, int, bytes]

PROBED_MAX = 200
"""Counting stops here: enough to tell a rare filter from a common one, in about 10 µs."""

_document: Callable[[Row], Document[Any]] = partial(tuple.__new__, Document)
"""What `Document._make` gives, without a Python frame for each row of a page."""

_BY_SORT_KEY = itemgetter(2, 0)


class SqliteDocuments:
    """The rows that one transaction may see."""

    __slots__ = ("_connection", "_tables", "_tenant", "_texts")

    def __init__(
        self, connection: sqlite3.Connection, tables: Tables, tenant: str, texts: Texts | None
    ) -> None:
        """See rows of `tenant`; `texts` is None where nothing may be written."""
        self._connection = connection
        self._tables = tables
        self._tenant = tenant
        self._texts = texts

    async def get(self, collection: Collection[T], id_: str) -> Document[T] | None:
        """The row, or None when this tenant has no such row."""
        owner = scopes.reading(collection, self._tenant)
        row = self._connection.execute(
            declared(self._tables, collection).get, (owner, id_)
        ).fetchone()
        return None if row is None else Document(id_, *row)

    async def put(
        self, collection: Collection[T], id_: str, value: T, *, expect: int | None = None
    ) -> Document[T]:
        """Write the row; see the port."""
        writer = self._writer(collection, id_)
        record = collection.record(value)
        if not expect and writer.insert(record):
            return Document(id_, 1, record.order, record.raw)
        old = _expected(writer, expect)
        if old is None:
            raise AssertionError("a row that could not be inserted is there")
        return Document(id_, writer.update(old, record), record.order, record.raw)

    async def delete(
        self, collection: Collection[T], id_: str, *, expect: int | None = None
    ) -> Document[T] | None:
        """Remove the row; see the port."""
        writer = self._writer(collection, id_)
        old = _expected(writer, expect)
        if old is None:
            return None
        document = await self.get(collection, id_)
        writer.remove(old)
        return document

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
        table = declared(self._tables, collection)
        owner = scopes.reading(collection, self._tenant)
        filters = declared_filters(table, where)
        if not all(filters.values()):
            # No value is wanted, so no row is, and a statement that says so has no plan.
            return Slice((), more=False)
        driver = self._driver(table, owner, filters)
        checks = tuple((name, len(filters[name])) for name in filters if name != driver)
        upper, bound = _upper(end, after)
        statement = table.scan(Shape(driver, checks, start is not None, upper))
        tail = [
            *([] if start is None else [start]),
            *bound,
            *(value for name, _ in checks for value in filters[name]),
            limit + 1,
        ]
        heads: list[list[str]] = (
            [[owner]] if driver is None else [[owner, value] for value in filters[driver]]
        )
        runs = [self._connection.execute(statement, [*head, *tail]).fetchall() for head in heads]
        return _slice(runs[0] if len(runs) == 1 else _merged(runs, limit + 1), limit)

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
        table = declared(self._tables, collection)
        owner = scopes.reading(collection, self._tenant)
        if not terms:
            return ()
        if self._texts is not None:
            self._texts.write()
        bounds = [bound for bound in (start, end) if bound is not None]
        found = self._connection.execute(
            table.search(start is not None, end is not None),
            [match_query(owner, terms), owner, *bounds, limit],
        )
        return tuple(map(_document, found))

    def _writer(self, collection: Collection[Any], id_: str) -> RowWriter:
        if self._texts is None:
            raise AssertionError("a reading transaction writes")
        table = declared(self._tables, collection)
        owner = scopes.writing(collection, self._tenant)
        return RowWriter(self._connection, self._texts, table, owner, id_)

    def _driver(self, table: Table, owner: str, filters: Where) -> str | None:
        """The filter whose index is walked: of several, one with few rows."""
        if len(filters) < 2:
            return next(iter(filters), None)
        return min(filters, key=lambda name: self._probed(table, owner, name, filters[name]))

    def _probed(self, table: Table, owner: str, name: str, values: tuple[str, ...]) -> int:
        statement = table.probe(name)
        return sum(
            self._connection.execute(statement, (owner, value, PROBED_MAX)).fetchone()[0]
            for value in values
        )


def _expected(writer: RowWriter, expect: int | None) -> Place | None:
    old = writer.find()
    current = 0 if old is None else old.version
    if expect is not None and expect != current:
        raise StaleVersionError(current)
    return old


def across(
    connection: sqlite3.Connection, table: Table, where: Where | None, end: int | None, limit: int
) -> tuple[Owned[Any], ...]:
    """Rows of every tenant with the lowest `(order, tenant, id)` first."""
    filters = declared_filters(table, where)
    checks = tuple((name, len(values)) for name, values in filters.items())
    values = [value for name in filters for value in filters[name]]
    bound = [] if end is None else [end]
    found = connection.execute(table.across(checks, end is not None), [*bound, *values, limit])
    return tuple(Owned(row[0], Document(*row[1:])) for row in found)


def declared(tables: Tables, collection: Collection[Any]) -> Table:
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
    unknown = set(where) - set(table.keys) - set(table.facets)
    if unknown:
        raise AssertionError(f"{table.collection.name} declares no filter {sorted(unknown)}")
    return {name: tuple(dict.fromkeys(values)) for name, values in where.items()}


def match_query(owner: str, terms: Iterable[str]) -> str:
    """The text query for rows of `owner` that hold any of `terms`, each a quoted whole token."""
    wanted = " OR ".join(_quoted(term) for term in dict.fromkeys(terms))
    return f"owner : {_quoted(owner_token(owner))} AND tokens : ({wanted})"


def _quoted(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'


# -- runs of rows ------------------------------------------------------------------------------


def _upper(end: int | None, after: Position | None) -> tuple[str | None, list[int | str]]:
    """The tighter of the two upper bounds: with both, the index would be walked from `end`."""
    if after is not None and (end is None or after.order <= end):
        return "after", [after.order, after.id]
    return (None, []) if end is None else ("end", [end])


def _merged(runs: list[list[Row]], count: int) -> list[Row]:
    """The first rows of several ordered runs; a row with two of the values comes once."""
    merged = heapq.merge(*runs, key=_BY_SORT_KEY, reverse=True)
    return list(islice({row[0]: row for row in merged}.values(), count))


def _slice(found: list[Row], limit: int) -> Slice[Any]:
    return Slice(tuple(map(_document, found[:limit])), more=len(found) > limit)
