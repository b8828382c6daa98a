"""Units that read: those that wait together share one snapshot.

Rule 1: a snapshot is taken with the first statement after the units were handed in, so it holds
        every commit that was acknowledged before.
Rule 2: whoever waits is told at once; nothing that was read can be lost any more.
Rule 3: a statement that fails ends the snapshot and its unit; the units after it get another.
"""

import asyncio
from collections import deque

from attrs import define, field, frozen

from svc_http.storage.postgres.connection import is_lost, is_passing, told
from svc_http.storage.postgres.documents import Tables
from svc_http.storage.postgres.links import Link
from svc_http.storage.postgres.queues import Job, Queue
from svc_http.storage.postgres.session import Session
from svc_http.storage.postgres.transaction import PostgresTransaction

UNITS_PER_SNAPSHOT = 32
"""How many reads share a snapshot; a slow one delays no more than these."""

_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


@frozen(eq=False)
class Reader:
    """Answers from snapshots."""

    tables: Tables
    queue: Queue

    async def read(self, link: Link, jobs: list[Job]) -> None:
        """Run the units and tell those who wait."""
        batch = _Batch(self, deque(jobs))
        while batch.jobs:
            try:
                connection = await link.connection()
                clock = asyncio.get_running_loop().time
                session = Session(connection, clock, is_writable=False, is_eager=False)
                await link.guarded(session, batch.run)
            except Exception as error:  # the edge: all who wait are told
                if (is_lost(error) or is_passing(error)) and batch.has_turn():
                    continue
                while batch.jobs:
                    batch.jobs.popleft().fail(told(error))


@define(eq=False)
class _Batch:
    """The units of a batch that have not been answered."""

    reader: Reader
    jobs: deque[Job]
    turns: int = field(default=1)

    def has_turn(self) -> bool:
        """Whether the rest may be run once more; only once is."""
        self.turns -= 1
        return self.turns >= 0

    async def run(self, session: Session) -> None:
        """Answer from one snapshot, as long as it lasts.

        Raises:
            Exception: it was lost, or never was.
        """
        is_open = session.connection.is_in_transaction()
        await session.do(f"COMMIT; {_BEGIN}" if is_open else _BEGIN)
        while self.jobs:
            job = self.jobs[0]
            try:
                value = await job.unit(PostgresTransaction(session, self.reader.tables, job.tenant))
            except BaseException as error:  # the edge: the waiter is told
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                if is_lost(error):
                    raise
                self.jobs.popleft().fail(told(error))
            else:
                self.jobs.popleft().settle(value)
            if session.is_broken:
                await session.do("ROLLBACK")
                return
        if not len(self.reader.queue):
            await session.do("COMMIT")
