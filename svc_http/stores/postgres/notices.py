"""What processes tell each other: that something was committed, and where.

Rule 1: a notice is sent after the commit and on a connection of its own. Inside of the
        transaction it would make all commits of the database wait for each other.
Rule 2: commits are told together, at most one notice every few milliseconds.
Rule 3: a notice can be lost, with its sender or with the connection. So once a second the server
        is asked what it has committed, and where that is more than this process has, all is taken
        to have changed. Other databases of the server count as well: that is heard for nothing.
"""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from svc_core.operation.ports import EVERYTHING, SharedUnavailable, Signals, StorageUnavailable
from svc_http.stores.postgres.connection import connect, translate_error

PAUSE_SECONDS = 0.005
RETRY_SECONDS = 0.5
LOOK_SECONDS = 1.0
ANSWER_SECONDS = 3.0

_ORIGIN = "@"
"""Before the name of the process that tells, which stands among those of collections."""

_SNAPSHOT = "SELECT pg_current_snapshot()::text"

NoticeListener = Callable[[frozenset[str] | None], None]
"""Told what was written to; None where nobody knows."""


class Notices:
    """What this process tells and hears, and a connection by which it looks for itself."""

    def __init__(self, dsn: str, signals: Signals, listener: NoticeListener) -> None:
        self._dsn = dsn
        self._signals = signals
        self._listener = listener
        self._origin = _ORIGIN + secrets.token_hex(8)
        self._unsent: set[str] = set()
        self._ready = asyncio.Event()
        self._own_commits = 0
        self._snapshot = ""
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin to listen; from now on nothing is missed for longer than a second.

        Raises:
            StorageUnavailable: there is no connection to be had.
        """
        connection = await connect(self._dsn)
        await self._signals.hear(self._on_signal)
        self._tasks = [
            asyncio.create_task(self._poll_loop(connection)),
            asyncio.create_task(self._send_loop()),
        ]

    def tell(self, names: frozenset[str]) -> None:
        """Have the others told soon."""
        self._own_commits += 1
        self._unsent |= names
        self._ready.set()

    async def close(self) -> None:
        """Tell the last of it, and nobody any more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._ready.is_set():
            await self._send()

    async def _send_loop(self) -> None:
        while await self._ready.wait():
            await self._send()
            await asyncio.sleep(PAUSE_SECONDS)

    async def _send(self) -> None:
        self._ready.clear()
        names, self._unsent = frozenset({self._origin, *self._unsent}), set()
        try:
            with suppress(SharedUnavailable):  # then the others look, within a second
                await self._signals.tell(names)
        except asyncio.CancelledError:  # nobody knows whether it was told: who closes tells it
            self._unsent |= names
            self._ready.set()
            raise

    def _on_signal(self, names: frozenset[str]) -> None:
        if names == EVERYTHING:
            self._listener(None)
        elif self._origin not in names:
            self._listener(frozenset(name for name in names if not name.startswith(_ORIGIN)))

    async def _poll_loop(self, connection: Any) -> None:
        while True:
            try:
                while True:
                    async with asyncio.timeout(ANSWER_SECONDS):
                        await self._poll(connection)
                    await asyncio.sleep(LOOK_SECONDS)
            except Exception as error:
                if translate_error(error) is error:
                    raise
            finally:
                connection.terminate()
            while connection.is_closed():
                await asyncio.sleep(RETRY_SECONDS)
                with suppress(StorageUnavailable):
                    connection = await connect(self._dsn)
            self._snapshot = ""
            self._listener(None)

    async def _poll(self, connection: Any) -> None:
        """Hear of a commit that nobody told of.

        A snapshot says which transactions have written and which of them are running. When none
        is, neither now nor before, those in between are counted.
        """
        own, self._own_commits = self._own_commits, 0
        before, self._snapshot = self._snapshot, await connection.fetchval(_SNAPSHOT)
        if before and self._snapshot != before and _ended(before, self._snapshot) != own:
            self._listener(None)


def _ended(before: str, after: str) -> int | None:
    """How many transactions that wrote ended between two snapshots; None where some run on."""
    (_, first, running), (_, last, still_running) = before.split(":"), after.split(":")
    return None if running or still_running else int(last) - int(first)
