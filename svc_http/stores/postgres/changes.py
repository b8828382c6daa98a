"""The change feed: one gapless count per scope, in the order of commits.

Rule 1: whoever writes holds the lock of its tenant until its commit (`writing`), so the next
        position is the highest plus one, and positions become visible in their order.
Rule 2: `seq` merges the two scopes of a reader: of two commits of which one was acknowledged
        before the other began, it is lower in the first. It never leaves the house.
Rule 3: an entry is text in JSON without other characters than ASCII, because a text of PostgreSQL
        cannot hold U+0000.
"""

import json
from collections import Counter
from typing import Any

from svc_core.base import compact
from svc_core.operation.ports import Change, ChangeSlice, FeedPosition
from svc_http.stores import change_details, scopes
from svc_http.stores.moments import from_microseconds, to_microseconds
from svc_http.stores.postgres.session import Session, Statement, statements

GLOBAL_SCOPE = "*"
"""The scope of global entries; the scope of a tenant begins with a slash."""

_json = compact.encoder(ascii_only=True)

_SQL = statements("changes.sql")


class PostgresChanges:
    """The feed of one tenant: global entries and its own."""

    def __init__(self, session: Session, tenant: str) -> None:
        self._session = session
        self._tenant = tenant
        self._tenant_scope = f"/{tenant}"
        self._pending: list[tuple[str, int, str, str, str | None]] = []
        self._counts = Counter[str]()
        session.buffers.append(self)

    async def append(self, change: Change) -> None:
        """Add an entry; see the port."""
        self._session.write()
        scopes.check_publisher(change, self._tenant)
        scope = GLOBAL_SCOPE if change.everybody else self._tenant_scope
        self._counts[scope] += 1
        names = (change.id, change.change_type, change.resource_id, change.version)
        entry = (*names, to_microseconds(change.occurred_at), change.path)
        place, details = self._counts[scope], change_details.details_text(change)
        self._pending.append((scope, place, change.resource_type, _json(entry), details))

    async def read(
        self, after: FeedPosition, *, types: tuple[str, ...] | None = None, limit: int
    ) -> ChangeSlice:
        """At most `limit` entries after the position; see the port."""
        values = (GLOBAL_SCOPE, self._tenant_scope, after.everybody, after.own, limit + 1)
        if types is None:
            rows = await self._session.fetch(_SQL["read"], *values)
        else:
            rows = await self._session.fetch(
                _SQL["read_types"], *values, list(dict.fromkeys(types))
            )
        entries = [row for row in rows if row["seq"] is not None]
        changes = tuple(_change(row) for row in entries[:limit])
        if len(entries) > limit:
            return ChangeSlice(changes, _position_after(after, entries[:limit]), more=True)
        heads = max(rows[0]["everybody"], after.everybody), max(rows[0]["own"], after.own)
        return ChangeSlice(changes, FeedPosition(*heads), more=False)

    async def head(self) -> FeedPosition:
        """The position after the newest entry that this transaction can see."""
        (row,) = await self._session.fetch(_SQL["heads"], GLOBAL_SCOPE, self._tenant_scope)
        return FeedPosition(*row)

    async def epoch(self) -> bytes:
        """The eight bytes that name this feed's life."""
        (row,) = await self._session.rows(_SQL["epoch"])
        epoch: bytes = row["value"]
        return epoch

    def take_statements(self) -> list[Statement]:
        """The statement that writes what waits."""
        if not self._pending:
            return []
        columns: list[object] = [list(column) for column in zip(*self._pending, strict=True)]
        self.discard()
        return [(_SQL["append"], columns)]

    def discard(self) -> None:
        """Drop what waits."""
        self._pending.clear()
        self._counts.clear()


def _position_after(after: FeedPosition, entries: list[Any]) -> FeedPosition:
    places = {row["scope"] == GLOBAL_SCOPE: row["position"] for row in entries}
    return FeedPosition(places.get(True, after.everybody), places.get(False, after.own))


def _change(row: Any) -> Change:
    id_, change_type, resource_id, version, occurred_at, path = json.loads(row["entry"])
    kind, is_global = row["resource_type"], row["scope"] == GLOBAL_SCOPE
    at = from_microseconds(occurred_at)
    details = change_details.details_of(row["details"])
    return Change(id_, change_type, kind, resource_id, version, at, path, is_global, **details)
