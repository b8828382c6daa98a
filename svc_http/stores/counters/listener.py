"""Those who hear what a place tells, and the one task that listens for all of them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from svc_core.operation.ports import EVERYTHING, Heard
from svc_http.stores.counters.circuit import ANSWER_SECONDS, PAUSE_SECONDS


class SignalListener:
    """The hearers of this process; for one event loop.

    `listen` connects, calls `connected`, then `told` for all that comes, until it fails; it is
    begun again a moment later.
    """

    def __init__(
        self,
        listen: Callable[["SignalListener"], Awaitable[None]],
        failures: tuple[type[Exception], ...],
    ) -> None:
        self._listen = listen
        self._failures = failures
        self._listeners: list[Heard] = []
        self._listening: asyncio.Task[None] | None = None
        self._is_connected = asyncio.Event()
        self._has_missed = False

    async def add(self, listener: Heard) -> None:
        """Have `listener` called from now on, or from when the place is back."""
        self._listeners.append(listener)
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen_loop())
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._is_connected.wait()
        except TimeoutError:
            self._has_missed = True

    def on_connect(self) -> None:
        """What is told from now on is heard; what was told since the last time was not."""
        if self._has_missed:
            self._notify(EVERYTHING)
        self._has_missed = True
        self._is_connected.set()

    def on_signal(self, text: str) -> None:
        """Pass on the names, with commas between them."""
        self._notify(frozenset(text.split(",")))

    async def close(self) -> None:
        """Listen no more."""
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening

    def _notify(self, names: frozenset[str]) -> None:
        for listener in self._listeners:
            listener(names)

    async def _listen_loop(self) -> None:
        while True:
            with suppress(*self._failures):
                await self._listen(self)
            self._is_connected.clear()
            await asyncio.sleep(PAUSE_SECONDS)
