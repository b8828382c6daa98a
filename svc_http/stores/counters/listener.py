"""Distributes the signals of a coordination server to the listeners of this process."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from svc_core.operation.ports import ANY_COLLECTION, CommitListener
from svc_http.stores.counters.circuit import ANSWER_SECONDS, PAUSE_SECONDS


class SignalListener:
    """The listeners of this process, served by one connected task; for one event loop.

    `listen` connects, calls `on_connect`, then `on_signal` for every signal, until it fails; it is
    called again a moment later.
    """

    def __init__(
        self,
        listen: Callable[["SignalListener"], Awaitable[None]],
        failures: tuple[type[Exception], ...],
    ) -> None:
        self._listen = listen
        self._failures = failures
        self._listeners: list[CommitListener] = []
        self._listening: asyncio.Task[None] | None = None
        self._is_connected = asyncio.Event()
        self._has_missed = False

    async def add(self, listener: CommitListener) -> None:
        """Call `listener` for every signal from now on, or from when the server is back."""
        self._listeners.append(listener)
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen_loop())
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._is_connected.wait()
        except TimeoutError:
            self._has_missed = True

    def on_connect(self) -> None:
        """Note a new connection; after a gap, tell the listeners that anything may have changed."""
        if self._has_missed:
            self._notify(ANY_COLLECTION)
        self._has_missed = True
        self._is_connected.set()

    def on_signal(self, text: str) -> None:
        """Pass on the names of a signal, which are separated by commas."""
        self._notify(frozenset(text.split(",")))

    async def close(self) -> None:
        """Stop listening."""
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
