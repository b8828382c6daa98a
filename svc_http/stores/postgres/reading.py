"""Units that read: those that wait together share one snapshot.

Rule 1: a snapshot is taken with the first statement after the units were handed in, so it holds
        every commit that was acknowledged before.
Rule 2: one statement is a snapshot by itself. A unit that is known to ask once is run without a
        transaction; should it ask again, one is begun, and what it was told is asked there anew:
        where that is the same, all of it is of that snapshot, else the unit runs again.
Rule 3: whoever waits is told at once; nothing that was read can be lost any more.
Rule 4: a statement that fails ends the snapshot and its unit; the units after it get another.
"""

import asyncio
from collections import deque
from functools import partial
from typing import Any

from attrs import field, frozen

from svc_http.stores.postgres.connection import is_lost, is_retryable, translate_error
from svc_http.stores.postgres.documents import Tables
from svc_http.stores.postgres.links import Link
from svc_http.stores.postgres.queues import Job
from svc_http.stores.postgres.session import RetryNeeded, Session
from svc_http.stores.postgres.transaction import PostgresTransaction

UNITS_PER_SNAPSHOT = 32
"""How many reads share a snapshot; a slow one delays no more than these."""

_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class SnapshotSession(Session):
    """What the units of one snapshot ask, or of none as long as none asks twice."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection, is_writable=False)
        self._first_query: tuple[Any, ...] = ()
        self._first_rows: list[Any] = []
        self.count = 0
        """How often the present unit has asked."""
        self.is_torn = False

    async def rows(self, statement: str, *values: object) -> list[Any]:
        """What a statement returns.

        Raises:
            Torn: what was asked without a transaction is another by now.
        """
        self.count += 1
        if self.count == 2 and not self.connection.is_in_transaction():
            await self.do(_BEGIN)
            self.is_torn = self._first_rows != await super().rows(*self._first_query)
        if self.is_torn:
            raise RetryNeeded
        records = await super().rows(statement, *values)
        if self.count == 1:
            self._first_query, self._first_rows = (statement, *values), records
        return records


@frozen(eq=False)
class Reader:
    """Answers from snapshots."""

    tables: Tables
    counts: dict[Any, int] = field(factory=dict)
    """How often a unit of this code has asked at most."""

    async def read(self, link: Link, jobs: list[Job]) -> None:
        """Run the units and tell those who wait."""
        waiting, turns = deque(jobs), 1
        while waiting:
            try:
                session = SnapshotSession(await link.connection())
                await link.run(session, partial(self._answer, session, waiting))
            except RetryNeeded:
                continue  # with what is known now, the unit begins with a transaction
            except Exception as error:  # the edge: all who wait are told
                turns -= 1
                if turns < 0 or not (is_lost(error) or is_retryable(error)):
                    while waiting:
                        waiting.popleft().settle(translate_error(error))

    async def _answer(self, session: SnapshotSession, waiting: deque[Job]) -> None:
        """Answer from one snapshot, as long as it lasts.

        Raises:
            Exception: it was lost, or never was.
        """
        while waiting and not session.is_broken:
            job, session.count = waiting[0], 0
            code = getattr(job.unit, "__code__", None)
            if self.counts.get(code, 2) > 1 and not session.connection.is_in_transaction():
                await session.do(_BEGIN)
            job.error = None
            try:
                job.value = await job.unit(PostgresTransaction(session, self.tables, job.tenant))
            except BaseException as error:  # the edge: the waiter is told
                task = asyncio.current_task()
                if (task is not None and task.cancelling()) or is_lost(error):
                    raise
                job.error = translate_error(error)
            finally:
                if session.count > self.counts.get(code, -1):
                    self.counts[code] = session.count
            if session.is_torn:
                raise RetryNeeded
            waiting.popleft().settle()
        if session.connection.is_in_transaction():
            await session.do("COMMIT")
