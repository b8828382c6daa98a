"""A connection and the jobs that are done on it, one batch after another.

Rule 1: a link makes its connection when it has work and none is open, so the store goes on by
        itself when the server is back.
Rule 2: a server that says nothing is given up: nothing may take longer than the server's own
        limits allow, and a unit may wait for nothing but its transaction.
Rule 3: a batch whose connection was lost before COMMIT was sent is run once more, on another.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from svc_http.storage.errors import StorageUnavailable
from svc_http.storage.postgres.connection import STATEMENT_SECONDS
from svc_http.storage.postgres.queues import Job, Queue
from svc_http.storage.postgres.session import Session

STALL_SECONDS = STATEMENT_SECONDS + 2.0
"""How long a transaction may stand still."""


class Link:
    """A connection to be, and the transaction that runs on it."""

    def __init__(self, connect: Callable[[], Awaitable[Any]]) -> None:
        self._connect = connect
        self._connection: Any = None
        self._session: Session | None = None
        self._scope: asyncio.Timeout | None = None

    async def connection(self) -> Any:
        """The open connection, or a new one.

        Raises:
            StorageUnavailable: there is none to be had.
        """
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._connect()
        return self._connection

    async def guarded(self, session: Session, work: Callable[[Session], Awaitable[None]]) -> None:
        """Do `work`, unless it stands still; the transaction is over after it.

        Raises:
            StorageUnavailable: it stood still.
        """
        self._session = session
        try:
            async with asyncio.timeout(None) as self._scope:
                await work(session)
        except TimeoutError as stalled:
            self.drop()
            raise StorageUnavailable("PostgreSQL does not answer") from stalled
        except BaseException:
            await self.roll_back()
            raise
        finally:
            self._session = self._scope = None

    def give_up(self, since: float) -> None:
        """End the transaction if nothing has moved since then."""
        if self._session is not None and self._session.moved <= since and self._scope is not None:
            self._scope.reschedule(asyncio.get_running_loop().time())
            self._session = None

    async def roll_back(self) -> None:
        """Leave the transaction, with the connection if need be."""
        connection = self._connection
        if connection is None or not connection.is_in_transaction():
            return
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await connection.execute("ROLLBACK")
        except BaseException:
            self.drop()

    def drop(self) -> None:
        """Let go of the connection without a word to the server."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def close(self) -> None:
        """Take leave of the server."""
        connection, self._connection = self._connection, None
        if connection is not None and not connection.is_closed():
            await connection.close(timeout=STALL_SECONDS)


async def serve(
    link: Link, queue: Queue, count: int, work: Callable[[Link, list[Job]], Awaitable[None]]
) -> None:
    """Do the jobs of a queue until it is closed and empty."""
    try:
        while jobs := await queue.take(count):
            try:
                await work(link, jobs)
            finally:
                queue.done(jobs[0].tenant)
        await link.close()
    finally:
        link.drop()
