"""Stores the answers of idempotent requests in PostgreSQL, for requests that are repeated."""

import json
from datetime import datetime

from svc_core.base import compact
from svc_core.contract.answer import Answer
from svc_core.operation.ports import PURGED_BYTES
from svc_http.stores import tenancy as scopes
from svc_http.stores.microseconds import from_microseconds, to_microseconds
from svc_http.stores.postgres._session import Session, Statement, session_statements

_json = compact.compact_encoder(ascii_only=True)

_SQL = session_statements("answers.sql")


class PostgresAnswers:
    """The stored answers of one tenant, by operation and idempotency key."""

    def __init__(self, session: Session, tenant: str) -> None:
        self._session = session
        self._tenant = tenant
        self._pending: dict[tuple[str, str], Answer] = {}
        session.buffers.append(self)

    async def get(self, operation: str, key: str) -> Answer | None:
        """The stored answer, whatever its age."""
        if (operation, key) in self._pending:
            return self._pending[operation, key]
        rows = await self._session.rows(_SQL["get"], self._tenant, operation, key)
        if not rows:
            return None
        fingerprint, status, headers, body, at = rows[0]
        pairs = tuple((name, value) for name, value in json.loads(headers))
        return Answer(fingerprint, status, pairs, body, from_microseconds(at))

    async def put(self, operation: str, key: str, answer: Answer) -> None:
        """Store the answer in place of an earlier one."""
        self._session.write()
        self._pending[operation, key] = answer

    async def purge(self, before: datetime, *, limit: int) -> int:
        """Delete at most `limit` answers of all tenants from before a time; how many were."""
        self._session.write()
        scopes.check_purger(self._tenant)
        values = (to_microseconds(before), limit, PURGED_BYTES)
        return len(await self._session.fetch(_SQL["purge"], *values))

    def take_statements(self) -> list[Statement]:
        """The statement that writes the buffered answers, which leave the buffer."""
        if not self._pending:
            return []
        rows = [
            (*place, *answer[:2], _json(answer.headers), answer.body, to_microseconds(answer.at))
            for place, answer in self._pending.items()
        ]
        self.discard()
        columns = (list(column) for column in zip(*rows, strict=True))
        return [(_SQL["put"], [self._tenant, *columns])]

    def discard(self) -> None:
        """Drop the buffered answers."""
        self._pending.clear()
