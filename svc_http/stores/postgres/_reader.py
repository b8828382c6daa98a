"""Runs reading units, several on one snapshot of the PostgreSQL database.

Rule 1: a snapshot is taken with the first statement after the units were submitted, so it includes
        every commit that was acknowledged before.
Rule 2: a single statement is a snapshot by itself. A unit whose code has sent one statement so far
        runs without a transaction. If it sends a second one, a transaction begins and the first
        statement is repeated in it: if its result is the same, everything that the unit has read
        belongs to that snapshot; otherwise the unit runs again.
Rule 3: every caller gets its result at once, because a reading unit has nothing to commit.
Rule 4: a failing statement ends the snapshot and its unit; the units after it get another one.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

from attrs import field, frozen

from svc_http.stores.postgres._connection import is_lost, is_retryable, translate_postgres_error
from svc_http.stores.postgres._links import Link
from svc_http.stores.postgres._queues import Job
from svc_http.stores.postgres._session import RetryNeeded, Session
from svc_http.stores.postgres._table import Tables
from svc_http.stores.postgres._transaction import PostgresTransaction

UNITS_PER_SNAPSHOT = 32
"""How many reads share a snapshot; a slow read delays at most these."""

_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class SnapshotSession(Session):
    """A session that begins its snapshot only when a unit sends a second statement."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection, is_writable=False)
        self._first_query: tuple[Any, ...] = ()
        self._first_rows: list[Any] = []
        self.count = 0
        """How many statements the present unit has sent."""
        self.is_torn = False

    async def rows(self, statement: str, *values: object) -> list[Any]:
        """The rows that a statement returns.

        Raises:
            RetryNeeded: the rows read before the transaction have changed since.
        """
        self.count += 1
        if self.count == 2 and not self.connection.is_in_transaction():
            await self.execute(_BEGIN)
            self.is_torn = self._first_rows != await super().rows(*self._first_query)
        if self.is_torn:
            raise RetryNeeded
        records = await super().rows(statement, *values)
        if self.count == 1:
            self._first_query, self._first_rows = (statement, *values), records
        return records


@frozen(eq=False)
class SnapshotReader:
    """Runs batches of reading units; remembers how many statements each kind of unit sends."""

    tables: Tables
    note: Callable[[str, float], None]
    """Is told of each unit its tenant and how long it has run."""
    counts: dict[Any, int] = field(factory=dict)
    """The most statements that a unit with this code object has sent."""

    async def read(self, link: Link, jobs: list[Job]) -> None:
        """Run the units of a batch and give each caller its result."""
        waiting, turns = deque(jobs), 1
        while waiting:
            try:
                session = SnapshotSession(await link.connection())
                await link.run(session, partial(self._answer, session, waiting))
            except RetryNeeded:
                continue  # its count is known now, so the unit begins with a transaction
            except Exception as error:  # the edge: all callers get it
                turns -= 1
                if turns < 0 or not (is_lost(error) or is_retryable(error)):
                    while waiting:
                        waiting.popleft().settle(translate_postgres_error(error))

    async def _answer(self, session: SnapshotSession, waiting: deque[Job]) -> None:
        """Run units on one snapshot until a statement fails.

        Raises:
            Exception: the snapshot was lost, or could not be taken.
        """
        while waiting and not session.is_broken:
            job, session.count = waiting[0], 0
            code = getattr(job.unit, "__code__", None)
            if self.counts.get(code, 2) > 1 and not session.connection.is_in_transaction():
                await session.execute(_BEGIN)
            job.error, began = None, monotonic()
            try:
                job.value = await job.unit(PostgresTransaction(session, self.tables, job.tenant))
            except BaseException as error:  # the edge: the caller gets it
                task = asyncio.current_task()
                if (task is not None and task.cancelling()) or is_lost(error):
                    raise
                job.error = translate_postgres_error(error)
            finally:
                self.note(job.tenant, monotonic() - began)
                if session.count > self.counts.get(code, -1):
                    self.counts[code] = session.count
            if session.is_torn:
                raise RetryNeeded
            waiting.popleft().settle()
        if session.connection.is_in_transaction():
            await session.execute("COMMIT")
