"""Reads the change feed from a table: entries in commit order, with a gapless position per scope.

Rule 1: `seq` orders the commits of all tenants. It never leaves the store, because it would reveal
        to a tenant how much the others write. `position` counts the entries of one scope.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from svc_core.operation.ports import Change, ChangeSlice, FeedPosition
from svc_core.operation.ports import tenancy as scopes
from svc_http.stores import change_details
from svc_http.stores.microseconds import from_microseconds, to_microseconds
from svc_http.stores.relational.sessions import TableSession, TenantTables

GLOBAL_SCOPE: Final = "*"
"""The scope of global entries; the scope of a tenant is a slash and its name."""


class RelationalFeed(TenantTables):
    """The feed of one tenant: the global entries merged with its own.

    A row that is read begins with the heads of both scopes, the scope, the position, the type of
    the resource and the details; the rest is the entry. A feed without entries after the position
    is one row of the heads and no values.
    """

    def __init__(self, session: TableSession, tenant: str) -> None:
        super().__init__(session, tenant)
        self._scopes = (GLOBAL_SCOPE, f"/{tenant}")

    async def append(self, change: Change) -> None:
        """Add an entry; see the port."""
        self._session.write()
        scopes.check_publisher(change, self._tenant)
        members = (
            change.id,
            change.change_type,
            change.resource_id,
            change.version,
            to_microseconds(change.occurred_at),
            change.path,
        )
        scope = self._scopes[0 if change.everybody else 1]
        details = change_details.details_text(change)
        self._add(scope, change.resource_type, members, details)

    async def read(
        self, after: FeedPosition, *, types: tuple[str, ...] | None = None, limit: int
    ) -> ChangeSlice:
        """At most `limit` entries after the position; see the port."""
        values: list[Any] = [*self._scopes, after.everybody, after.own, limit + 1]
        if types is not None:
            values.append(list(dict.fromkeys(types)))
        statement = self.statements["read" if types is None else "read_types"]
        rows = [tuple(row) for row in await self._session.fetch(statement, *values)]
        entries = [row for row in rows if row[2] is not None]
        changes = tuple(self._change(*row[2:]) for row in entries[:limit])
        if len(entries) > limit:
            places = {row[2] == GLOBAL_SCOPE: row[3] for row in entries[:limit]}
            place = FeedPosition(places.get(True, after.everybody), places.get(False, after.own))
            return ChangeSlice(changes, place, has_more=True)
        everybody, own = rows[0][:2]
        head = FeedPosition(max(everybody, after.everybody), max(own, after.own))
        return ChangeSlice(changes, head, has_more=False)

    async def head(self) -> FeedPosition:
        """The position of the newest entries that this transaction can see."""
        (row,) = await self._session.fetch(self.statements["heads"], *self._scopes)
        return FeedPosition(*row)

    async def epoch(self) -> bytes:
        """The epoch of the feed: eight bytes, new after every restore."""
        ((epoch,),) = await self._session.rows(self.statements["epoch"])
        return bytes(epoch)

    async def drop(self, limit: int) -> bool:
        """Delete at most `limit` entries of the tenant's own, the oldest first."""
        return bool(await self._session.fetch(self.statements["drop"], self._scopes[1], limit))

    def _change(
        self, scope: str, _: int, resource_type: str, details: str | None, *entry: Any
    ) -> Change:
        id_, change_type, resource_id, version, occurred_at, path = self._members(entry)
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

    @abstractmethod
    def _add(
        self, scope: str, resource_type: str, members: tuple[Any, ...], details: str | None
    ) -> None:
        """Write an entry after the last one of its scope."""

    @abstractmethod
    def _members(self, entry: Sequence[Any]) -> Sequence[Any]:
        """Identifier, kind, resource, version, time and path of a stored entry."""
