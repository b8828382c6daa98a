"""Those who hear what a place tells, and the one task that listens for all of them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from svc_core.operation.ports import EVERYTHING, Heard
from svc_http.stores.counters.circuit import ANSWER_SECONDS, PAUSE_SECONDS


class Ears:
    """The hearers of this process; for one event loop.

    `listen` connects, calls `connected`, then `told` for all that comes, until it fails; it is
    begun again a moment later.
    """

    def __init__(
        self, listen: Callable[["Ears"], Awaitable[None]], failures: tuple[type[Exception], ...]
    ) -> None:
        self._listen = listen
        self._failures = failures
        self._hearers: list[Heard] = []
        self._listening: asyncio.Task[None] | None = None
        self._is_connected = asyncio.Event()
        self._is_behind = False

    async def hear(self, heard: Heard) -> None:
        """Have `heard` called from now on, or from when the place is back."""
        self._hearers.append(heard)
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen_on())
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._is_connected.wait()
        except TimeoutError:
            self._is_behind = True

    def connected(self) -> None:
        """What is told from now on is heard; what was told since the last time was not."""
        if self._is_behind:
            self._call(EVERYTHING)
        self._is_behind = True
        self._is_connected.set()

    def told(self, text: str) -> None:
        """Pass on the names, with commas between them."""
        self._call(frozenset(text.split(",")))

    async def close(self) -> None:
        """Listen no more."""
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening

    def _call(self, names: frozenset[str]) -> None:
        for heard in self._hearers:
            heard(names)

    async def _listen_on(self) -> None:
        while True:
            with suppress(*self._failures):
                await self._listen(self)
            self._is_connected.clear()
            await asyncio.sleep(PAUSE_SECONDS)
