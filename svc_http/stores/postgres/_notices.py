"""Exchanges notices between processes about which collections were written to.

Rule 1: a notice is sent after the commit, on a connection of its own. Inside of the transaction,
        NOTIFY would serialize all commits of the database.
Rule 2: notices are batched: at most one every few milliseconds.
Rule 3: a notice can be lost, with its sender or with the connection. So once a second the server is
        asked how many transactions it has committed. If those are more than this process has
        committed and heard of, every collection counts as changed. Commits to other databases of
        the server count as well and cause false alarms, which are harmless.
"""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from svc_core.operation.ports import ANY_COLLECTION, SharedUnavailable, Signals, StorageUnavailable
from svc_http.stores.postgres._connection import connect, translate_postgres_error
from svc_http.stores.postgres._history import DatabaseHistory

PAUSE_SECONDS = 0.005
RETRY_SECONDS = 0.5
LOOK_SECONDS = 1.0
ANSWER_SECONDS = 3.0

_ORIGIN = "@"
"""The prefix that marks the name of the sending process among those of collections."""

_SNAPSHOT = "SELECT pg_current_snapshot()::text"

NoticeListener = Callable[[frozenset[str] | None], None]
"""Called with the names of the collections written to; None if they are unknown."""


class Notices:
    """Sends and receives notices, and polls the server for commits whose notice was lost."""

    def __init__(
        self, dsn: str, signals: Signals, listener: NoticeListener, history: DatabaseHistory
    ) -> None:
        self._dsn = dsn
        self._history = history
        self._signals = signals
        self._listener = listener
        self._origin = _ORIGIN + secrets.token_hex(8)
        self._unsent: set[str] = set()
        self._ready = asyncio.Event()
        self._own_commits = 0
        self._snapshot = ""
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start to listen and to poll; from now on no commit goes unnoticed for more than a second.

        Raises:
            StorageUnavailable: the server cannot be reached or refuses the connection.
        """
        connection = await connect(self._dsn)
        await self._signals.hear(self._on_signal)
        self._tasks = [
            asyncio.create_task(self._poll_loop(connection)),
            asyncio.create_task(self._send_loop()),
        ]

    def tell(self, names: frozenset[str]) -> None:
        """Queue a notice about these collections for the other processes."""
        self._own_commits += 1
        self._unsent |= names
        self._ready.set()

    async def close(self) -> None:
        """Stop listening, and send the last notice."""
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
            # Without the notice the others find the commit by polling, within a second.
            with suppress(SharedUnavailable):
                await self._signals.tell(names)
        except asyncio.CancelledError:  # it may not have been sent: `close` sends it again
            self._unsent |= names
            self._ready.set()
            raise

    def _on_signal(self, names: frozenset[str]) -> None:
        if names == ANY_COLLECTION:
            self._listener(None)
        elif self._origin not in names:
            self._listener(frozenset(name for name in names if not name.startswith(_ORIGIN)))

    async def _poll_loop(self, connection: Any) -> None:
        while True:
            try:
                while True:
                    async with asyncio.timeout(ANSWER_SECONDS):
                        await self._poll(connection)
                        await self._history.note(connection)
                    await asyncio.sleep(LOOK_SECONDS)
            except Exception as error:
                if translate_postgres_error(error) is error:
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
        """Detect commits without a notice.

        A snapshot of the server lists the transaction numbers that are assigned and those that are
        running. If none ran, neither now nor the last time, the numbers in between were used by
        transactions that have ended, and their count is compared with the own commits.
        """
        own, self._own_commits = self._own_commits, 0
        before, self._snapshot = self._snapshot, await connection.fetchval(_SNAPSHOT)
        if before and self._snapshot != before and _commits_between(before, self._snapshot) != own:
            self._listener(None)


def _commits_between(before: str, after: str) -> int | None:
    """How many writing transactions ended between two snapshots; None while any is running."""
    (_, first, running), (_, last, still_running) = before.split(":"), after.split(":")
    return None if running or still_running else int(last) - int(first)
