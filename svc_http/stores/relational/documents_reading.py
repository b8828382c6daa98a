"""Reads documents from the tables of their collections, alike in every store with tables."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar, Unpack

from svc_core.operation.ports import (
    Collection,
    CrossTenantFilters,
    Filters,
    Position,
    Slice,
    StoredRow,
    TenantRow,
)
from svc_core.operation.ports import tenancy as scopes
from svc_core.operation.ports.selection import Criteria, check_searchable, criteria_of
from svc_http.stores.relational.list_statements import (
    PROBED_MAX,
    IndexWalk,
    ListStatements,
    StatementDraft,
    whole_walk,
)
from svc_http.stores.relational.sessions import TableSession

T = TypeVar("T")
L = TypeVar("L", bound=ListStatements)

_to_document: Callable[[Any], StoredRow[Any]] = partial(tuple.__new__, StoredRow)
"""The same as `StoredRow._make`, without a Python frame for each row of a page."""


class CollectionTable(Protocol):
    """The statements that find rows of a collection by their identifiers."""

    @property
    def get(self) -> str:
        """Version, order and bytes of a row."""

    @property
    def get_many(self) -> str:
        """Identifier, version, order and bytes of rows."""


class RelationalDocuments(ABC, Generic[L]):
    """The documents that one transaction may read."""

    def __init__(
        self, session: TableSession, tables: Mapping[str, CollectionTable], tenant: str
    ) -> None:
        self._session = session
        self._tables = tables
        self._tenant = tenant

    async def get(self, collection: Collection[T], id_: str) -> StoredRow[T] | None:
        """The row, or None when this tenant has no such row."""
        owner = scopes.read_owner(collection, self._tenant)
        rows = await self._session.rows(self._table(collection).get, owner, id_)
        return next(iter(self._stored(collection, [(id_, *row) for row in rows])), None)

    async def get_many(
        self, collection: Collection[T], ids: Sequence[str]
    ) -> dict[str, StoredRow[T]]:
        """The rows that are there; see the port."""
        owner = scopes.read_owner(collection, self._tenant)
        records = await self._session.rows(self._table(collection).get_many, owner, list(ids))
        rows = {row.id: row for row in self._stored(collection, records)}
        return {id_: rows[id_] for id_ in ids if id_ in rows}

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
        if lists.criteria.is_all or (order is None and lists.criteria.is_whole):
            statement, values = lists.whole_page(order, after, limit + 1)
            records = await self._session.rows(statement, *values)
        else:
            records = await self._page(
                lists, await self._walk(lists, order), order, after, limit + 1
            )
        rows = tuple(self._stored(collection, records[:limit]))
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
        return await self._count(lists, await self._walk(lists, None, is_count=True), limit)

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
        rows = await self._search(lists, terms, after, limit + 1)
        end = None
        if len(rows) > limit:
            id_, _, order, _, rank = rows[limit - 1]
            end = Position(order, id_, rank)
        rows = rows[:limit]
        return Slice(tuple(self._stored(collection, rows)), end, tuple(row[4] for row in rows))

    async def across(
        self, collection: Collection[T], limit: int, bounds: CrossTenantFilters
    ) -> tuple[TenantRow[T], ...]:
        """Rows of every tenant with the lowest `(order, tenant, id)` first."""
        lists = self._lists(collection, None, where=bounds.get("where"), end=bounds.get("end"))
        if lists is None:
            return ()
        query, place = lists.across(bounds.get("after"), limit), bounds.get("heads_after")
        if place is not None:
            query = lists.heads(place, limit)
        rows = await self._rows(lists, query)
        documents = self._stored(collection, [row[1:] for row in rows])
        return tuple(map(TenantRow, [row[0] for row in rows], documents))

    def _table(self, collection: Collection[Any]) -> Any:
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
    ) -> L | None:
        """The statements of a list; None if no row can match."""
        owner = scopes.read_owner(collection, self._tenant)
        self._table(collection)
        criteria = criteria_of(collection, order, **filters)
        return None if criteria.is_empty else self._statements(collection, owner, criteria)

    async def _walk(self, lists: L, order: str | None, *, is_count: bool = False) -> IndexWalk:
        """The walk of the rarest filter if it is rare, else one that is in list order."""
        in_order, others = lists.walks(order, is_count=is_count)
        if others or len(in_order) > 1:
            walks, limit = [*in_order, *others], PROBED_MAX if in_order else lists.sorted_max
            (counts,) = await self._rows(lists, lists.probe(walks, limit))
            fewest, best = min(zip(counts, walks, strict=True), key=lambda pair: pair[0])
            if fewest < limit:
                return best
        return in_order[0] if in_order else whole_walk(order)

    def _stored(
        self,
        collection: Collection[Any],  # noqa: ARG002 - for stores that compress some
        records: Iterable[Any],
    ) -> list[StoredRow[Any]]:
        """Rows of identifier, version, order and body as documents."""
        return [_to_document(row[:4]) for row in records]

    async def _rows(self, lists: L, query: StatementDraft) -> list[Any]:
        return await self._session.rows(lists.placeholders(query.text), *query.values)

    @abstractmethod
    def _statements(self, collection: Collection[Any], owner: str, criteria: Criteria) -> L:
        """The statements of a list."""

    @abstractmethod
    async def _page(
        self, lists: L, walk: IndexWalk, order: str | None, after: Position | None, limit: int
    ) -> list[Any]:
        """The rows of a walk in the order of the list."""

    @abstractmethod
    async def _count(self, lists: L, walk: IndexWalk, limit: int) -> int:
        """How many rows a walk finds, up to a limit."""

    @abstractmethod
    async def _search(
        self, lists: L, terms: Mapping[str, int], after: Position | None, limit: int
    ) -> list[Any]:
        """Rows by the total weight of their terms, which is a further column."""
