"""Stores the answers of idempotent requests in SQLite, for requests that are repeated."""

import json
import sqlite3
from datetime import datetime

from svc_core.base import compact
from svc_core.contract.answer import Answer
from svc_core.operation.ports import PURGED_BYTES
from svc_http.stores import tenancy as scopes
from svc_http.stores.microseconds import from_microseconds, to_microseconds

_json = compact.compact_encoder(ascii_only=True)

_GET = (
    "SELECT fingerprint, status, headers, body, at FROM answers"
    " WHERE tenant = ? AND operation = ? AND key = ?"
)
_PUT = (
    "INSERT INTO answers (tenant, operation, key, fingerprint, status, headers, body, at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, operation, key) DO UPDATE SET"
    " fingerprint = excluded.fingerprint, status = excluded.status,"
    " headers = excluded.headers, body = excluded.body, at = excluded.at"
)
_PURGE = (
    "DELETE FROM answers WHERE rowid IN (WITH old AS (SELECT rowid AS id, at, length(body) AS size"
    " FROM answers WHERE at < ? ORDER BY at, tenant, operation, key LIMIT ?) SELECT id FROM"
    " (SELECT id, sum(size) OVER (ORDER BY at, id ROWS UNBOUNDED PRECEDING) - size AS before"
    " FROM old) WHERE before < ?)"
)


class SqliteAnswers:
    """The stored answers of one tenant, by operation and idempotency key."""

    __slots__ = ("_connection", "_tenant", "_writable")

    def __init__(self, connection: sqlite3.Connection, tenant: str, writable: bool) -> None:
        self._connection = connection
        self._tenant = tenant
        self._writable = writable

    async def get(self, operation: str, key: str) -> Answer | None:
        """The stored answer, whatever its age."""
        row = self._connection.execute(_GET, (self._tenant, operation, key)).fetchone()
        if row is None:
            return None
        fingerprint, status, headers, body, at = row
        pairs = tuple((name, value) for name, value in json.loads(headers))
        return Answer(fingerprint, status, pairs, body, from_microseconds(at))

    async def put(self, operation: str, key: str, answer: Answer) -> None:
        """Store the answer in place of an earlier one."""
        self._require_writable()
        self._connection.execute(
            _PUT,
            (
                self._tenant,
                operation,
                key,
                answer.fingerprint,
                answer.status,
                _json(answer.headers),
                answer.body,
                to_microseconds(answer.at),
            ),
        )

    async def purge(self, before: datetime, *, limit: int) -> int:
        """Delete at most `limit` answers of all tenants from before a time; how many were."""
        self._require_writable()
        scopes.check_purger(self._tenant)
        return self._connection.execute(
            _PURGE, (to_microseconds(before), limit, PURGED_BYTES)
        ).rowcount

    def _require_writable(self) -> None:
        if not self._writable:
            raise AssertionError("a reading transaction writes")
