"""Waiting for news: whoever follows the store sleeps until something was committed.

Rule 1: nobody looks again and again; a commit wakes them, from whatever thread it comes.
Rule 2: who asks names the version that they have seen, so no commit between two looks is missed.
Rule 3: a store that other processes write as well tells of them through its version alone, so
        every wait has an end.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import Final, NoReturn, TypeVar

from svc_core.operation.context import Context
from svc_core.operation.ports import Storage, Transaction

R = TypeVar("R")

NEWS_SECONDS: Final = 5.0
"""How often the store is looked at when nothing was heard: what other processes wrote."""
GATHER_SECONDS: Final = 0.02
"""How long commits are gathered before one look, so that a busy store is not asked at each."""


class Commits:
    """The commits of one store, for the waiters of one event loop."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Future[None]] = set()
        self._is_called = False
        storage.watch(self._heard)

    @property
    def version(self) -> int:
        """What to hand to `after`, read before looking at the store."""
        return self._storage.version

    async def after(self, version: int, seconds: float) -> bool:
        """Wait until the store is past `version`; False when it was not within `seconds`."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._is_called = loop, False
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiting.add(waiter)
        try:
            # Only now that a commit would be heard can the version be believed.
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
        """Do the work, and again soon after a commit, or after a while without one; for ever.

        Commits are gathered before one look, so that a busy store is not asked at each.
        """
        while True:
            version = self.version
            await work()
            if await self.after(version, look_seconds):
                await asyncio.sleep(gather_seconds)

    def _heard(self, _names: frozenset[str]) -> None:
        """A commit, told on the thread that made it; many of them are one call."""
        loop = self._loop
        if loop is None or self._is_called or not self._waiting:
            return
        self._is_called = True
        with suppress(RuntimeError):  # the loop has ended meanwhile, and with it everybody's wait
            loop.call_soon_threadsafe(self._wake_all)

    def _wake_all(self) -> None:
        self._is_called = False
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)


class Following:
    """A caller's view of the store, and the wait for a commit (`operation.stream.Watch`)."""

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
