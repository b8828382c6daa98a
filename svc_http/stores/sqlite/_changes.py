# ruff: noqa: S608 - the statements share a list of columns, values are parameters
"""The change feed in SQLite: entries in commit order, with a gapless position per scope.

Rule 1: `seq` orders the commits of all tenants. It never leaves the store, because it would reveal
        to a tenant how much the others write. `position` counts the entries of one scope.
Rule 2: there is one writer thread, so numbers are assigned in the order in which they become
        visible.
"""

import sqlite3
from collections.abc import Iterable
from itertools import chain
from typing import Any

from attrs import evolve

from svc_core.operation.ports import Change, ChangeSlice, FeedPosition
from svc_http.stores import change_details
from svc_http.stores import tenancy as scopes
from svc_http.stores.microseconds import from_microseconds, to_microseconds

GLOBAL_SCOPE = "*"
"""The scope of global entries; the scope of a tenant is a slash and its name."""

_COLUMNS = "id, change_type, resource_type, resource_id, version, occurred_at, path, details"
_APPEND = (
    f"INSERT INTO changes (scope, position, {_COLUMNS}) VALUES"
    " (?1, (SELECT coalesce(max(position), 0) + 1 FROM changes WHERE scope = ?1),"
    " ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
)
_HEAD = "SELECT coalesce(max(position), 0) FROM changes WHERE scope = ?"
_READ = (
    f"SELECT seq, scope, position, {_COLUMNS} FROM changes"
    " WHERE scope = ? AND position > ? ORDER BY position LIMIT ?"
)
_READ_TYPE = (
    f"SELECT seq, scope, position, {_COLUMNS} FROM changes"
    " WHERE scope = ? AND resource_type = ? AND position > ? ORDER BY position LIMIT ?"
)
_EPOCH = "SELECT value FROM meta WHERE name = 'epoch'"

Entry = tuple[Any, ...]


class SqliteChanges:
    """The feed of one tenant: the global entries merged with its own."""

    __slots__ = ("_connection", "_tenant", "_tenant_scope", "_writable")

    def __init__(self, connection: sqlite3.Connection, tenant: str, writable: bool) -> None:
        self._connection = connection
        self._tenant = tenant
        self._tenant_scope = f"/{tenant}"
        self._writable = writable

    async def append(self, change: Change) -> None:
        """Add an entry; see the port."""
        if not self._writable:
            raise AssertionError("a reading transaction writes")
        scopes.check_publisher(change, self._tenant)
        self._connection.execute(
            _APPEND,
            (
                GLOBAL_SCOPE if change.everybody else self._tenant_scope,
                change.id,
                change.change_type,
                change.resource_type,
                change.resource_id,
                change.version,
                to_microseconds(change.occurred_at),
                change.path,
                change_details.details_text(change),
            ),
        )

    async def read(
        self, after: FeedPosition, *, types: tuple[str, ...] | None = None, limit: int
    ) -> ChangeSlice:
        """At most `limit` entries after the position; see the port."""
        entries = sorted(
            chain(
                self._entries(GLOBAL_SCOPE, after.everybody, types, limit + 1),
                self._entries(self._tenant_scope, after.own, types, limit + 1),
            )
        )
        changes = tuple(_change(entry) for entry in entries[:limit])
        if len(entries) > limit:
            return ChangeSlice(changes, _position_after(after, entries[:limit]), has_more=True)
        head = await self.head()
        position = FeedPosition(max(head.everybody, after.everybody), max(head.own, after.own))
        return ChangeSlice(changes, position, has_more=False)

    async def head(self) -> FeedPosition:
        """The position after the newest entry of this snapshot."""
        return FeedPosition(self._head(GLOBAL_SCOPE), self._head(self._tenant_scope))

    async def epoch(self) -> bytes:
        """The epoch of the feed: eight bytes, new after every restore."""
        epoch: bytes = self._connection.execute(_EPOCH).fetchone()[0]
        return epoch

    def _entries(
        self, scope: str, after: int, types: tuple[str, ...] | None, limit: int
    ) -> Iterable[Entry]:
        if types is None:
            return self._connection.execute(_READ, (scope, after, limit))
        # One index scan per type: with IN, SQLite would read all entries of the types and sort.
        return chain.from_iterable(
            self._connection.execute(_READ_TYPE, (scope, type_, after, limit))
            for type_ in dict.fromkeys(types)
        )

    def _head(self, scope: str) -> int:
        position: int = self._connection.execute(_HEAD, (scope,)).fetchone()[0]
        return position


def _position_after(after: FeedPosition, entries: list[Entry]) -> FeedPosition:
    position = after
    for _, scope, number, *_ in entries:
        if scope == GLOBAL_SCOPE:
            position = evolve(position, everybody=number)
        else:
            position = evolve(position, own=number)
    return position


def _change(entry: Entry) -> Change:
    _, scope, _, id_, change_type, resource_type, resource_id, version, *rest = entry
    occurred_at, path, details = rest
    return Change(
        id=id_,
        change_type=change_type,
        resource_type=resource_type,
        resource_id=resource_id,
        version=version,
        occurred_at=from_microseconds(occurred_at),
        path=path,
        everybody=scope == GLOBAL_SCOPE,
        **change_details.details_of(details),
    )
