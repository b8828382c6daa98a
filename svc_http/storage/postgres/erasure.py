"""What erased content leaves behind in the server's files, and how it goes.

PostgreSQL keeps the old version of a row until its table is vacuumed. So after an erasure that is
done, and again when every snapshot from before it must have ended.

What remains, and for how long, is the operator's to say: the write-ahead log until its segments
are used again, copies of it that are archived or streamed, backups; and a page that was vacuumed
keeps the bytes in its free part until something else is written there. `docs` name the settings.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from svc_http.storage.errors import StorageUnavailable
from svc_http.storage.postgres.connection import IDLE_SECONDS, STATEMENT_SECONDS, is_of_server

PAUSES_SECONDS = (0.0, IDLE_SECONDS + STATEMENT_SECONDS + 1.0)
"""When to vacuum after an erasure; no snapshot of ours lasts longer than the last of them."""
TRIES_PAUSE_SECONDS = 1.0


class Erasures:
    """Has the lines of ledgers vacuumed."""

    def __init__(self, connect: Callable[[], Awaitable[Any]]) -> None:
        self._connect = connect
        self._task: asyncio.Task[None] | None = None
        self._is_wanted = asyncio.Event()

    def begin(self) -> None:
        """Say that content was erased."""
        self._is_wanted.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Leave what is not done to the server's own vacuuming."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while True:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            for pause in PAUSES_SECONDS:
                await asyncio.sleep(pause)
                while not await self._is_done():
                    await asyncio.sleep(TRIES_PAUSE_SECONDS)

    async def _is_done(self) -> bool:
        try:
            connection = await self._connect()
        except StorageUnavailable:
            return False
        try:
            await connection.execute("VACUUM ledger_lines, ledger_keys")
        except Exception as error:
            if not is_of_server(error):
                raise
            return False
        finally:
            connection.terminate()
        return True
