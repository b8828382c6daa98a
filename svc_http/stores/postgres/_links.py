"""Runs batches of jobs on a PostgreSQL connection, which is reopened after a failure.

Rule 1: a link connects when it has work and no open connection, so the store recovers by itself
        when the server is back.
Rule 2: a server that does not answer is given up: no statement may take longer than the server's
        own limits allow, and a unit may await nothing but its transaction.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from svc_core.operation.ports import StorageUnavailable
from svc_http.stores.postgres._connection import STATEMENT_SECONDS, connect
from svc_http.stores.postgres._history import DatabaseHistory
from svc_http.stores.postgres._queues import FairQueue, Job
from svc_http.stores.postgres._session import Session

STALL_SECONDS = STATEMENT_SECONDS + 2.0
"""How long a transaction may make no progress."""


class Link:
    """A connection that is opened on demand, and the transaction that runs on it."""

    def __init__(self, dsn: str, history: DatabaseHistory) -> None:
        self._dsn = dsn
        self._history = history
        self._is_judged = False
        self._connection: Any = None
        self._session: Session | None = None
        self._task: asyncio.Task[Any] | None = None
        self._is_stalled = False

    async def connection(self) -> Any:
        """The open connection, or a new one, on which the history of the database was judged.

        Raises:
            StorageUnavailable: the server cannot be reached or refuses the connection.
        """
        if self._connection is None or self._connection.is_closed():
            self._connection, self._is_judged = await connect(self._dsn), False
        if not self._is_judged:
            try:
                async with asyncio.timeout(STALL_SECONDS):
                    self._is_judged = await self._history.settle(self._connection)
            except BaseException:
                self.drop()
                raise
        return self._connection

    async def run(self, session: Session, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` until it ends or stalls; roll back a transaction that it leaves open.

        Raises:
            StorageUnavailable: it has made no progress for too long.
        """
        self._session, self._task = session, asyncio.current_task()
        try:
            await work()
        except asyncio.CancelledError:
            self.drop()
            if not self._is_stalled or self._task is None:
                raise
            self._task.uncancel()
            raise StorageUnavailable("PostgreSQL does not answer") from None
        except BaseException:
            await self._roll_back()
            raise
        finally:
            self._session, self._is_stalled = None, False

    def give_up(self, cutoff: float) -> None:
        """Cancel the transaction if it has made no progress since the cutoff."""
        session, task = self._session, self._task
        if session is not None and session.active_at <= cutoff and task is not None:
            # The task waits inside of the transaction, so the cancellation ends it there.
            self._is_stalled, self._session = task.cancel(), None

    def drop(self) -> None:
        """Close the connection at once, without a message to the server."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def _roll_back(self) -> None:
        try:
            async with asyncio.timeout(STALL_SECONDS):
                if self._connection is not None and self._connection.is_in_transaction():
                    await self._connection.execute("ROLLBACK")
        except BaseException:
            self.drop()

    async def serve(
        self, queue: FairQueue, count: int, work: Callable[["Link", list[Job]], Awaitable[None]]
    ) -> None:
        """Run the jobs of a queue, batch by batch, until it is closed and empty."""
        try:
            while jobs := await queue.take(count):
                try:
                    await work(self, jobs)
                finally:
                    queue.release(jobs)
        finally:
            self.drop()
