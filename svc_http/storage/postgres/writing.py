"""Units that write: those of one tenant commit together.

Rule 1: every writing transaction first takes the lock of its tenant and keeps it to its end, so
        that the writing units of a tenant run as if one after another, in whichever process.
        It is one lock for one transaction, so none waits for another in a circle.
Rule 2: READ COMMITTED, so each statement sees what was committed before the lock was had.
Rule 3: a savepoint for each unit would cost two messages, and few units fail after they have
        written. So a batch runs without; when one fails that late, all of it is taken back and
        every unit of the batch runs again, each inside a savepoint.
Rule 4: nobody hears of success before COMMIT has returned. Where the connection is lost while it
        runs, nobody knows what became of it: all are told that the store is unavailable, and the
        work is not done again.
"""

import asyncio
import random
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from attrs import define, frozen

from svc_http.storage.errors import StorageUnavailable
from svc_http.storage.postgres.connection import is_lost, is_of_server, is_passing, told
from svc_http.storage.postgres.documents import Tables
from svc_http.storage.postgres.links import Link
from svc_http.storage.postgres.queues import Job
from svc_http.storage.postgres.session import Session, Torn
from svc_http.storage.postgres.transaction import PostgresTransaction

UNITS_PER_COMMIT = 64
TURNS_MAX = 3
"""How often a batch is begun that met a deadlock."""
PAUSE_SECONDS = 0.05


@define
class Outcome:
    """What a job came to: its value, or the exception that is to be raised."""

    job: Job
    value: Any = None
    error: BaseException | None = None


@frozen(eq=False)
class Writer:
    """Commits batches. `committed` is called before anybody is told, with what was written."""

    tables: Tables
    committed: Callable[[Session], None]

    async def write(self, link: Link, jobs: list[Job]) -> None:
        """Run and commit the units of one tenant, and tell those who wait."""
        outcomes = [Outcome(job) for job in jobs]
        try:
            await self._settle(link, outcomes)
        except Exception as error:  # the edge: all who wait are told
            for job in jobs:
                job.fail(told(error))
            return
        for outcome in outcomes:
            if outcome.error is None:
                outcome.job.settle(outcome.value)
            else:
                outcome.job.fail(told(outcome.error))

    async def _settle(self, link: Link, outcomes: list[Outcome]) -> None:
        """Commit the batch, again where that is right.

        Raises:
            Exception: the whole batch is lost.
        """
        is_apart, lost, turn = False, 0, 1
        while True:
            batch = _Batch(self, outcomes, is_apart)
            connection = await link.connection()
            clock = asyncio.get_running_loop().time
            session = Session(connection, clock, is_writable=True, is_eager=is_apart)
            try:
                await link.guarded(session, batch.run)
                return
            except Torn:
                is_apart = True
            except Exception as error:
                if batch.is_committing:
                    # It may be there or not, so others look, and no cache goes on with the old.
                    self.committed(session)
                    raise
                lost += is_lost(error)
                turn += 1
                if not ((is_lost(error) and lost < 2) or (is_passing(error) and turn <= TURNS_MAX)):
                    raise
                await asyncio.sleep(random.uniform(0, PAUSE_SECONDS))  # noqa: S311


class _Batch:
    """One attempt to run and commit the units of a batch."""

    def __init__(self, writer: Writer, outcomes: list[Outcome], is_apart: bool) -> None:
        self._writer = writer
        self._outcomes = outcomes
        self._is_apart = is_apart
        self.is_committing = False

    async def run(self, session: Session) -> None:
        """Run every unit and commit.

        Raises:
            Torn: a unit left something that only a rollback of everything takes back.
            Exception: the whole transaction is lost, and every unit of it.
        """
        tenant = self._outcomes[0].job.tenant
        tx = PostgresTransaction(session, self._writer.tables, tenant)
        await session.do(f"BEGIN; SELECT pg_advisory_xact_lock({lock_of(tenant)})")
        for outcome in self._outcomes:
            if self._is_apart:
                await self._run_apart(session, tx, outcome)
            elif not await self._run(session, tx, outcome):
                await session.do("ROLLBACK")
                return
        await session.flush()
        self.is_committing = True
        await session.do("COMMIT")
        if session.writes:
            self._writer.committed(session)

    async def _run(self, session: Session, tx: PostgresTransaction, outcome: Outcome) -> bool:
        """Run one unit; false where it was alone and all that it did is to be taken back.

        Raises:
            Torn: it failed after it had written, or what it asked broke the transaction.
        """
        before = session.writes
        outcome.error = None
        try:
            outcome.value = await outcome.job.unit(tx)
        except BaseException as error:  # the edge: the waiter is told
            _check_ours(error, session)
            outcome.error = error
        if not session.is_broken and (outcome.error is None or session.writes == before):
            return True
        if outcome.error is None or len(self._outcomes) > 1:
            raise Torn from outcome.error
        return False

    async def _run_apart(self, session: Session, tx: PostgresTransaction, outcome: Outcome) -> None:
        """Run one unit inside its savepoint."""
        await session.do("SAVEPOINT unit")
        outcome.error = None
        try:
            outcome.value = await outcome.job.unit(tx)
            if session.is_broken:
                raise AssertionError("a unit goes on after a statement that failed")
            await session.flush()
        except BaseException as error:  # the edge: the waiter is told
            _check_ours(error, session)
            outcome.error = error
            session.forget()
            await session.do("ROLLBACK TO unit")
        await session.do("RELEASE unit")


def lock_of(tenant: str) -> int:
    """The number of the lock that a tenant's writers take: 64 bits of the SHA-256 of its name."""
    return int.from_bytes(sha256(tenant.encode()).digest()[:8], signed=True)


def _check_ours(error: BaseException, session: Session) -> None:
    """Pass on what ends more than the unit: the end of this task, of the connection, a deadlock."""
    task = asyncio.current_task()
    if isinstance(error, Torn) or (task is not None and task.cancelling()):
        raise error
    if is_of_server(error) and (is_lost(error) or is_passing(error)):
        raise error
    if session.connection.is_closed():
        raise StorageUnavailable("PostgreSQL: the connection was lost") from error
