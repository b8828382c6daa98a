"""Keeps the answers of idempotent requests in a table, for requests that are repeated."""

import json
from abc import abstractmethod
from datetime import datetime
from typing import Any

from svc_core.base.compact import ascii_text
from svc_core.contract.answer import Answer
from svc_core.operation.ports import PURGED_BYTES
from svc_core.operation.ports import tenancy as scopes
from svc_http.stores.microseconds import from_microseconds, to_microseconds
from svc_http.stores.relational.sessions import TenantTables


class RelationalAnswers(TenantTables):
    """The stored answers of one tenant, by operation and idempotency key."""

    async def get(self, operation: str, key: str) -> Answer | None:
        """The stored answer, whatever its age."""
        values = (self._tenant, operation, key)
        for row in await self._session.rows(self.statements["get"], *values):
            fingerprint, status, headers, body, at = row
            pairs = tuple((name, text) for name, text in json.loads(headers))
            return Answer(fingerprint, status, pairs, body, from_microseconds(at))
        return None

    async def put(self, operation: str, key: str, answer: Answer) -> None:
        """Store the answer in place of an earlier one."""
        self._session.write()
        self._keep(operation, key, answer)

    async def purge(self, before: datetime, *, limit: int) -> int:
        """Delete at most `limit` answers of all tenants from before a time; how many were."""
        self._session.write()
        scopes.check_purger(self._tenant)
        values = (to_microseconds(before), limit, PURGED_BYTES)
        return len(await self._session.fetch(self.statements["purge"], *values))

    async def drop(self, limit: int) -> bool:
        """Delete at most `limit` answers of the tenant; whether there were any."""
        values = (self._tenant, limit, PURGED_BYTES)
        return bool(await self._session.fetch(self.statements["drop"], *values))

    @abstractmethod
    def _keep(self, operation: str, key: str, answer: Answer) -> None:
        """Write an answer."""


def answer_row(answer: Answer) -> tuple[Any, ...]:
    """An answer as it is stored: fingerprint, status, headers, body and time."""
    headers, at = ascii_text(answer.headers), to_microseconds(answer.at)
    return (answer.fingerprint, answer.status, headers, answer.body, at)
