"""What processes tell each other: that something was committed, and where.

Rule 1: a notice is sent after the commit and on a connection of its own. Inside of the
        transaction it would make all commits of the database wait for each other.
Rule 2: commits are told together, at most one notice every few milliseconds.
Rule 3: a notice can be lost, with its sender or with the connection. So once a second the server
        is asked what it has committed, and where that is more than this process has, all is taken
        to have changed. Other databases of the server count as well: that is heard for nothing.
"""

import asyncio
import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from svc_http.storage.errors import StorageUnavailable
from svc_http.storage.postgres.connection import connect, told

CHANNEL = "svc_commits"
PAUSE_SECONDS = 0.005
RETRY_SECONDS = 0.5
LOOK_SECONDS = 1.0
ANSWER_SECONDS = 3.0

_SNAPSHOT = "SELECT pg_current_snapshot()::text"

Hearing = Callable[[frozenset[str] | None], None]
"""Told what was written to; None where nobody knows."""


class Notices:
    """A connection that tells and listens, made anew whenever it is lost."""

    def __init__(self, dsn: str, heard: Hearing) -> None:
        self._dsn = dsn
        self._heard = heard
        self._origin = secrets.token_hex(8)
        self._untold: set[str] = set()
        self._ready = asyncio.Event()
        self._own_commits = 0
        self._snapshot = ""
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to listen; from now on nothing is missed.

        Raises:
            StorageUnavailable: there is no connection to be had.
        """
        self._task = asyncio.create_task(self._run(await self._listening()))

    def tell(self, names: frozenset[str]) -> None:
        """Have the others told soon."""
        self._own_commits += 1
        self._untold |= names
        self._ready.set()

    async def close(self) -> None:
        """Tell nobody any more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self, connection: Any) -> None:
        while True:
            try:
                await self._serve(connection)
            except Exception as error:
                if told(error) is error:
                    raise
            finally:
                connection.terminate()
            while connection.is_closed():
                await asyncio.sleep(RETRY_SECONDS)
                with suppress(StorageUnavailable):
                    connection = await self._listening()
            self._heard(None)

    async def _listening(self) -> Any:
        connection = await connect(self._dsn)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await connection.add_listener(CHANNEL, self._hear)
                self._snapshot = await connection.fetchval(_SNAPSHOT)
        except BaseException as error:
            connection.terminate()
            raise told(error) from error
        return connection

    async def _serve(self, connection: Any) -> None:
        loop = asyncio.get_running_loop()
        look_at = loop.time() + LOOK_SECONDS
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(look_at):
                    await self._ready.wait()
            async with asyncio.timeout(ANSWER_SECONDS):
                if self._ready.is_set():
                    await self._tell(connection)
                if loop.time() >= look_at:
                    await self._look(connection)
                    look_at = loop.time() + LOOK_SECONDS
            await asyncio.sleep(PAUSE_SECONDS)

    async def _tell(self, connection: Any) -> None:
        self._ready.clear()
        names, self._untold = self._untold, set()
        payload = json.dumps([self._origin, *sorted(names)])
        await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, payload)

    async def _look(self, connection: Any) -> None:
        """Hear of a commit that nobody told of.

        A snapshot says which transactions have written and which of them are running. When none
        is, neither now nor before, those in between are counted.
        """
        own, self._own_commits = self._own_commits, 0
        before, self._snapshot = self._snapshot, await connection.fetchval(_SNAPSHOT)
        if self._snapshot != before and _ended(before, self._snapshot) != own:
            self._heard(None)

    def _hear(self, _connection: Any, _pid: int, _channel: str, payload: str) -> None:
        origin, *names = json.loads(payload)
        if origin != self._origin:
            self._heard(frozenset(names))


def _ended(before: str, after: str) -> int | None:
    """How many transactions that wrote ended between two snapshots; None where some run on."""
    (_, first, running), (_, last, still) = before.split(":"), after.split(":")
    return None if running or still else int(last) - int(first)
