"""A connection and the jobs that are done on it, one batch after another.

Rule 1: a link makes its connection when it has work and none is open, so the store goes on by
        itself when the server is back.
Rule 2: a server that says nothing is given up: nothing may take longer than the server's own
        limits allow, and a unit may wait for nothing but its transaction.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from svc_core.operation.ports import StorageUnavailable
from svc_http.stores.postgres.connection import STATEMENT_SECONDS, connect
from svc_http.stores.postgres.queues import Job, Queue
from svc_http.stores.postgres.session import Session

STALL_SECONDS = STATEMENT_SECONDS + 2.0
"""How long a transaction may stand still."""


class Link:
    """A connection to be, and the transaction that runs on it."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection: Any = None
        self._session: Session | None = None
        self._task: asyncio.Task[Any] | None = None
        self._is_stalled = False

    async def connection(self) -> Any:
        """The open connection, or a new one.

        Raises:
            StorageUnavailable: there is none to be had.
        """
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect(self._dsn)
        return self._connection

    async def run(self, session: Session, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work`, unless it stands still; what it leaves open is rolled back.

        Raises:
            StorageUnavailable: it stood still.
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
        """End the transaction if nothing has moved since then."""
        if (
            self._session is not None
            and self._session.active_at <= cutoff
            and self._task is not None
        ):
            # It waits inside of the transaction, so there it ends.
            self._is_stalled, self._session = self._task.cancel(), None

    def drop(self) -> None:
        """Let go of the connection without a word to the server."""
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
        self, queue: Queue, count: int, work: Callable[["Link", list[Job]], Awaitable[None]]
    ) -> None:
        """Do the jobs of a queue until it is closed and empty."""
        try:
            while jobs := await queue.take(count):
                try:
                    await work(self, jobs)
                finally:
                    queue.release(jobs[0].tenant)
        finally:
            self.drop()
