"""Events on their way out of the house."""

import sqlite3

from svc_core.ports import OutboxEvent
from svc_http.storage.sqlite.moments import from_stored, to_stored

_ADD = (
    "INSERT INTO outbox (tenant, id, type, subject, body, occurred_at)"
    " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, id) DO NOTHING"
)
_PENDING = (
    "SELECT id, type, subject, body, occurred_at FROM outbox WHERE tenant = ? ORDER BY seq LIMIT ?"
)
_DONE = "DELETE FROM outbox WHERE tenant = ? AND id = ?"


class SqliteOutbox:
    """The outgoing events of one tenant."""

    __slots__ = ("_connection", "_tenant", "_writable")

    def __init__(self, connection: sqlite3.Connection, tenant: str, writable: bool) -> None:
        self._connection = connection
        self._tenant = tenant
        self._writable = writable

    async def add(self, event: OutboxEvent) -> None:
        """Queue an event with this unit of work."""
        self._require_writable()
        stored = (
            self._tenant,
            event.id,
            event.type,
            event.subject,
            event.body,
            to_stored(event.occurred_at),
        )
        if self._connection.execute(_ADD, stored).rowcount == 0:
            raise AssertionError(f"the event {event.id} is already queued")

    async def pending(self, *, limit: int) -> tuple[OutboxEvent, ...]:
        """The oldest events of this tenant."""
        rows = self._connection.execute(_PENDING, (self._tenant, limit))
        return tuple(
            OutboxEvent(id_, type_, subject, body, from_stored(occurred_at))
            for id_, type_, subject, body, occurred_at in rows
        )

    async def done(self, id_: str) -> None:
        """Take an event off the queue."""
        self._require_writable()
        self._connection.execute(_DONE, (self._tenant, id_))

    def _require_writable(self) -> None:
        if not self._writable:
            raise AssertionError("a reading transaction writes")
