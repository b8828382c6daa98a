"""Wakes tasks when the store commits, so that workers and event streams need not poll it.

Rule 1: a commit wakes the waiting tasks, from whatever thread it comes.
Rule 2: a waiter names the version that it last read, so no commit between two reads is missed.
Rule 3: commits of other processes may show only in the store's version, so every wait has an end.
"""

# How no wake-up is lost. A waiter reads `version`, then the store, then calls `after(version)`.
# `after` registers its future first and compares the version second. A commit raises the version
# before it notifies, so a commit that comes before the registration is seen in the comparison, and
# one that comes after it finds the future in `_waiting`. The other order (compare, then register)
# would lose a commit that falls between the two.
#
# Commits are announced on the thread that made them, possibly thousands a second. They share one
# pending `call_soon_threadsafe`: `_is_called` is set by the committing thread and cleared on the
# event loop before the futures are resolved, so a commit during the wake-up schedules another one.
# The weak spot: only one event loop is served at a time; a call of `after` from another loop takes
# the object over, which tests do and the server never does.

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import Final, NoReturn, TypeVar

from svc_core.operation.context import Context
from svc_core.operation.ports import Storage, Transaction

R = TypeVar("R")

NEWS_SECONDS: Final = 5.0
"""How often a stream reads the store without a wake-up, to see what other processes wrote."""
GATHER_SECONDS: Final = 0.02
"""How long a stream waits after a commit, so that many commits in a row cause one read."""


class Commits:
    """Lets the tasks of one event loop wait for commits of one store."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Future[None]] = set()
        self._is_wake_scheduled = False
        storage.watch(self._wake)

    @property
    def version(self) -> int:
        """The version of the store; read it before the store itself and hand it to `after`."""
        return self._storage.version

    async def after(self, version: int, seconds: float) -> bool:
        """Wait until the store is past `version`; False when it was not within `seconds`."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._is_wake_scheduled = loop, False
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiting.add(waiter)
        try:
            # Compare the version only after the waiter is registered (see above).
            if self._storage.version == version:
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await waiter
        finally:
            self._waiting.discard(waiter)
        return self._storage.version != version

    async def rounds(
        self, work: Callable[[], Awaitable[object]], *, look_seconds: float, gather_seconds: float
    ) -> NoReturn:
        """Repeat the work for ever: after each commit, and every `look_seconds` without one.

        After a commit it waits `gather_seconds`, so that many commits in a row cause one round.
        """
        while True:
            version = self.version
            await work()
            if await self.after(version, look_seconds):
                await asyncio.sleep(gather_seconds)

    def _wake(self, _names: frozenset[str]) -> None:
        """Schedule one wake-up on the event loop; called on the thread that committed."""
        loop = self._loop
        if loop is None or self._is_wake_scheduled or not self._waiting:
            return
        self._is_wake_scheduled = True
        with suppress(RuntimeError):  # the loop has ended meanwhile, and with it everybody's wait
            loop.call_soon_threadsafe(self._wake_all)

    def _wake_all(self) -> None:
        self._is_wake_scheduled = False
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)


class StoreWatch:
    """Reads the store as one tenant and waits for its next commit (`operation.stream.Watch`)."""

    def __init__(
        self,
        storage: Storage,
        tenant: str,
        context: Callable[[Transaction, datetime], Context],
        commits: Commits,
        now: Callable[[], datetime],
    ) -> None:
        self._storage = storage
        self._tenant = tenant
        self._context = context
        self._commits = commits
        self._now = now
        self._version = -1

    async def read(self, usecase: Callable[[Context], Awaitable[R]]) -> R:
        """Run a use case for the caller on one snapshot, as it is now."""
        self._version = self._commits.version
        now = self._now()

        async def unit(tx: Transaction) -> R:
            return await usecase(self._context(tx, now))

        return await self._storage.read(self._tenant, unit)

    async def news(self) -> None:
        """Return once something was committed since the last `read` began, or after a while."""
        if await self._commits.after(self._version, NEWS_SECONDS):
            await asyncio.sleep(GATHER_SECONDS)
