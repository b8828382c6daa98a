"""Units that write: those of one tenant commit together.

Rule 1: every writing transaction first takes the lock of its tenant and keeps it to its end, so
        that the writing units of a tenant run as if one after another, in whichever process.
        It is one lock for one transaction, so none waits for another in a circle.
Rule 2: READ COMMITTED, so each statement sees what was committed before the lock was had.
Rule 3: a savepoint for each unit would cost two messages, and few units fail after they have
        written. So a batch runs without; when one fails that late, all of it is taken back and
        every unit of the batch runs again, each inside a savepoint.
Rule 4: nobody hears of success before COMMIT has returned. A connection that is lost before it
        was sent is made again, once, and so is the work. Where one is lost while it runs, nobody
        knows what became of it: all are told that the store is unavailable.
"""

import asyncio
import random
from collections.abc import Callable
from functools import partial
from hashlib import sha256

from attrs import define, frozen

from svc_http.stores.postgres.connection import is_lost, is_passing, told
from svc_http.stores.postgres.documents import Tables
from svc_http.stores.postgres.links import Link
from svc_http.stores.postgres.queues import Job
from svc_http.stores.postgres.session import Session, Torn
from svc_http.stores.postgres.transaction import PostgresTransaction

UNITS_PER_COMMIT = 64
TURNS_MAX = 3
"""How often a batch is begun that meets deadlocks."""
PAUSE_SECONDS = 0.05


@frozen(eq=False)
class Writer:
    """Commits batches. `committed` is called before anybody is told, with what was written."""

    tables: Tables
    committed: Callable[[Session], None]

    async def write(self, link: Link, jobs: list[Job]) -> None:
        """Run and commit the units of one tenant, and tell those who wait."""
        lost = None
        try:
            await self._commit(link, jobs)
        except Exception as error:  # the edge: all who wait are told
            lost = told(error)
        for job in jobs:
            job.settle(lost)

    async def _commit(self, link: Link, jobs: list[Job]) -> None:
        """Commit the batch, on a further attempt where that is right.

        Raises:
            Exception: the whole batch is lost.
        """
        is_apart, turns = False, 0
        while True:
            session = Session(await link.connection(), is_writable=True, is_eager=is_apart)
            batch = _Batch(self, jobs)
            try:
                await link.guarded(session, partial(batch.run, session))
                return
            except Torn:
                is_apart = True
            except Exception as error:
                if batch.is_committing:
                    self.committed(session)  # it may be there, so nobody trusts what he remembers
                    raise
                turns += 1
                if turns >= (TURNS_MAX if is_passing(error) else 1 + is_lost(error)):
                    raise
                await asyncio.sleep(random.uniform(0, PAUSE_SECONDS))  # noqa: S311


@define(eq=False)
class _Batch:
    """One attempt to run and commit the units of a batch."""

    writer: Writer
    jobs: list[Job]
    is_committing: bool = False

    async def run(self, session: Session) -> None:
        """Run every unit and commit.

        Raises:
            Torn: a unit left something that only a rollback of everything takes back.
            Exception: the whole transaction is lost, and every unit of it.
        """
        tenant = self.jobs[0].tenant
        tx = PostgresTransaction(session, self.writer.tables, tenant)
        await session.do(f"BEGIN; SELECT pg_advisory_xact_lock({lock_of(tenant)})")
        for job in self.jobs:
            await (self._run_apart if session.is_eager else self._run)(session, tx, job)
        if session.is_broken:
            # A unit that was alone: it is told, and all that it did is taken back.
            await session.do("ROLLBACK")
            return
        await session.flush()
        self.is_committing = True
        await session.do("COMMIT")
        if session.writes:
            self.writer.committed(session)

    async def _run(self, session: Session, tx: PostgresTransaction, job: Job) -> None:
        """Run one unit.

        Raises:
            Torn: it failed after it had written, or what it asked broke the transaction.
        """
        before = session.writes
        await self._attempt(session, tx, job)
        if job.error is None and not session.is_broken:
            return
        if session.writes != before or session.is_broken:
            if job.error is None or len(self.jobs) > 1:
                raise Torn from job.error
            session.is_broken = True

    async def _run_apart(self, session: Session, tx: PostgresTransaction, job: Job) -> None:
        """Run one unit inside its savepoint."""
        await session.do("SAVEPOINT unit")
        await self._attempt(session, tx, job)
        if job.error is not None or session.is_broken:
            session.forget()
            await session.do("ROLLBACK TO unit")
        await session.do("RELEASE unit")

    async def _attempt(self, session: Session, tx: PostgresTransaction, job: Job) -> None:
        """Run one unit to its value or its error; one that ends more than the unit is raised."""
        job.value = job.error = None
        try:
            job.value = await job.unit(tx)
            if session.is_eager:
                await session.flush()
        except BaseException as error:  # the edge: the waiter is told
            task = asyncio.current_task()
            is_ours = isinstance(error, Torn) or (task is not None and task.cancelling())
            if is_ours or is_lost(error) or is_passing(error):
                raise
            job.error = told(error)
        if session.is_eager and session.is_broken and job.error is None:
            job.error = AssertionError("a unit went on after a statement that failed")


def lock_of(tenant: str) -> int:
    """The number of the lock that a tenant's writers take: 64 bits of the SHA-256 of its name."""
    return int.from_bytes(sha256(tenant.encode()).digest()[:8], signed=True)
