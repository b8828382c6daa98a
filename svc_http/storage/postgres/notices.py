"""What processes tell each other: that something was committed, and where.

Rule 1: a notice is sent after the commit and on a connection of its own. Inside of the
        transaction it would make all commits of the database wait for each other.
Rule 2: commits are told together, at most one notice every few milliseconds.
Rule 3: a notice can be lost, with its sender or with the connection. So once a second the server
        is asked for its snapshot, which is another one after every commit of anybody; then all is
        taken to have changed.
"""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from svc_http.storage.errors import StorageUnavailable
from svc_http.storage.postgres.connection import is_of_server

CHANNEL = "svc_commits"
PAUSE_SECONDS = 0.005
LOOK_SECONDS = 1.0
RETRY_SECONDS = 0.5
ANSWER_SECONDS = 3.0

Hearing = Callable[[frozenset[str] | None], None]
"""Told what was written to; None where nobody knows."""


class Notices:
    """A connection that tells and listens, made anew whenever it is lost."""

    def __init__(self, connect: Callable[[], Awaitable[Any]], heard: Hearing) -> None:
        self._connect = connect
        self._heard = heard
        self._origin = secrets.token_hex(8)
        self._untold: set[str] = set()
        self._ready = asyncio.Event()
        self._snapshot = ""
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to listen; from now on nothing is missed."""
        connection = await self._listening()
        self._task = asyncio.create_task(self._run(connection))

    def tell(self, names: frozenset[str]) -> None:
        """Have the others told soon."""
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
                if not is_of_server(error):
                    raise
            finally:
                connection.terminate()
            connection = await self._listening_again()
            self._heard(None)

    async def _listening_again(self) -> Any:
        while True:
            with suppress(StorageUnavailable):
                return await self._listening()
            await asyncio.sleep(RETRY_SECONDS)

    async def _listening(self) -> Any:
        connection = await self._connect()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await connection.add_listener(CHANNEL, self._hear)
                await self._look(connection)
        except BaseException as error:
            connection.terminate()
            if is_of_server(error):
                raise StorageUnavailable(f"PostgreSQL: {error}") from error
            raise
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
                    if await self._look(connection):
                        self._heard(None)
                    look_at = loop.time() + LOOK_SECONDS
            await asyncio.sleep(PAUSE_SECONDS)

    async def _tell(self, connection: Any) -> None:
        self._ready.clear()
        names, self._untold = self._untold, set()
        payload = json.dumps([self._origin, *sorted(names)])
        await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, payload)

    async def _look(self, connection: Any) -> bool:
        """Whether anybody may have committed since the last look."""
        before = self._snapshot
        self._snapshot = await connection.fetchval("SELECT pg_current_snapshot()::text")
        return self._snapshot != before

    def _hear(self, _connection: Any, _pid: int, _channel: str, payload: str) -> None:
        origin, *names = json.loads(payload)
        if origin != self._origin:
            self._heard(frozenset(names))
