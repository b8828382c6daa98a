"""Runs writing units on PostgreSQL; the units of one tenant commit together.

Rule 1: every writing transaction first takes the advisory lock of its tenant and keeps it to its
        end, so that the writing units of a tenant run serially across all processes. A
        transaction takes one such lock, so no two can deadlock over them.
Rule 2: the isolation level is READ COMMITTED, so every statement sees what was committed before the
        lock was granted.
Rule 3: a savepoint per unit would cost two messages, and few units fail after they have written. So
        a batch runs without savepoints. If a unit fails after a write, the batch is rolled back and
        runs again with a savepoint around each unit (see the theory in `sqlite._threads`).
Rule 4: no caller learns of success before COMMIT has returned. If the connection is lost before
        COMMIT was sent, the batch runs once more on a new one. If it is lost during COMMIT, the
        outcome is unknown: every caller gets `StorageUnavailable`.
"""

import asyncio
import random
from collections.abc import Callable
from functools import partial
from hashlib import sha256

from attrs import define, frozen

from svc_http.stores.postgres._connection import is_lost, is_retryable, translate_postgres_error
from svc_http.stores.postgres._links import Link
from svc_http.stores.postgres._queues import Job
from svc_http.stores.postgres._session import RetryNeeded, Session
from svc_http.stores.postgres._table import Tables
from svc_http.stores.postgres._transaction import PostgresTransaction

UNITS_PER_COMMIT = 64
ATTEMPTS_MAX = 3
"""How often a batch is attempted that meets deadlocks."""
PAUSE_SECONDS = 0.05


@frozen(eq=False)
class SessionWriter:
    """Commits batches of units; calls `on_commit` before any caller gets its result."""

    tables: Tables
    on_commit: Callable[[Session], None]

    async def write(self, link: Link, jobs: list[Job]) -> None:
        """Run and commit the units of one tenant, then give each caller its result."""
        failure = None
        try:
            await self._commit(link, jobs)
        except Exception as error:  # the edge: all callers get it
            failure = translate_postgres_error(error)
        for job in jobs:
            job.settle(failure)

    async def _commit(self, link: Link, jobs: list[Job]) -> None:
        """Commit the batch, with further attempts after lost connections and deadlocks.

        Raises:
            Exception: the whole batch has failed.
        """
        uses_savepoints, attempts = False, 0
        while True:
            session = Session(await link.connection(), is_writable=True, is_eager=uses_savepoints)
            batch = _Batch(self, jobs)
            try:
                await link.run(session, partial(batch.run, session))
                return
            except RetryNeeded:
                uses_savepoints = True
            except Exception as error:
                if batch.is_committing:
                    self.on_commit(session)  # it may be committed: caches must be dropped
                    raise
                attempts += 1
                if attempts >= (ATTEMPTS_MAX if is_retryable(error) else 1 + is_lost(error)):
                    raise
                await asyncio.sleep(random.uniform(0, PAUSE_SECONDS))  # noqa: S311


@define(eq=False)
class _Batch:
    """One attempt to run and commit the units of a batch."""

    writer: SessionWriter
    jobs: list[Job]
    is_committing: bool = False

    async def run(self, session: Session) -> None:
        """Run every unit and commit.

        Raises:
            RetryNeeded: a unit has left writes that only a rollback of the batch can undo.
            Exception: the whole transaction is lost, and every unit of it.
        """
        tenant = self.jobs[0].tenant
        tx = PostgresTransaction(session, self.writer.tables, tenant)
        await session.execute(f"BEGIN; SELECT pg_advisory_xact_lock({lock_of(tenant)})")
        for job in self.jobs:
            await (self._run_in_savepoint if session.is_eager else self._run)(session, tx, job)
        if session.is_broken:
            # The only unit of the batch has failed: it gets its error, and its writes are undone.
            await session.execute("ROLLBACK")
            return
        await session.flush()
        self.is_committing = True
        await session.execute("COMMIT")
        if session.writes:
            self.writer.on_commit(session)

    async def _run(self, session: Session, tx: PostgresTransaction, job: Job) -> None:
        """Run one unit.

        Raises:
            RetryNeeded: the unit failed after a write, or a failed statement broke the transaction.
        """
        before = session.writes
        await self._attempt(session, tx, job)
        if job.error is None and not session.is_broken:
            return
        if session.writes != before or session.is_broken:
            if job.error is None or len(self.jobs) > 1:
                raise RetryNeeded from job.error
            session.is_broken = True

    async def _run_in_savepoint(self, session: Session, tx: PostgresTransaction, job: Job) -> None:
        """Run one unit inside its savepoint."""
        await session.execute("SAVEPOINT unit")
        await self._attempt(session, tx, job)
        if job.error is not None or session.is_broken:
            session.discard()
            await session.execute("ROLLBACK TO unit")
        await session.execute("RELEASE unit")

    async def _attempt(self, session: Session, tx: PostgresTransaction, job: Job) -> None:
        """Run one unit and store its value or error; an error of the whole batch is raised."""
        job.value = job.error = None
        try:
            job.value = await job.unit(tx)
            if session.is_eager:
                await session.flush()
        except BaseException as error:  # the edge: the caller gets it
            task = asyncio.current_task()
            is_ours = isinstance(error, RetryNeeded) or (task is not None and task.cancelling())
            if is_ours or is_lost(error) or is_retryable(error):
                raise
            job.error = translate_postgres_error(error)
        if session.is_eager and session.is_broken and job.error is None:
            job.error = AssertionError("a unit went on after a statement that failed")


def lock_of(tenant: str) -> int:
    """The number of a tenant's advisory lock: the first 64 bits of the SHA-256 of its name."""
    return int.from_bytes(sha256(tenant.encode()).digest()[:8], signed=True)
