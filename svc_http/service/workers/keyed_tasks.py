"""Runs tasks by key in one process, each key once at a time, and renews their claims.

Rule 1: a key whose task is running is not begun again, though its row may still be due.
Rule 2: a key whose task failed can be paused, so that one broken row does not delay the others.
Rule 3: work that other processes must not take is claimed for a while, and the claim is renewed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Generic, TypeVar

from svc_http import system
from svc_http.service.service_units import OnFailure

K = TypeVar("K")
T = TypeVar("T")

CLAIM: Final = timedelta(seconds=30)
"""How long a claim lasts without a renewal."""
RENEW_SECONDS: Final = 10.0
"""How often a claim is renewed: two renewals in a row may fail."""


class KeyedTasks(Generic[K, T]):
    """The running tasks of one event loop, by the key of their work.

    `on_failure` gets each failure; `pause` gives the seconds for which its key is then paused.
    """

    def __init__(
        self, on_failure: OnFailure, pause: Callable[[BaseException], float] = lambda _: 0.0
    ) -> None:
        self._on_failure = on_failure
        self._pause = pause
        self._under_way: dict[K, asyncio.Task[T]] = {}
        self._pauses: dict[K, float] = {}

    def __len__(self) -> int:
        """The number of running tasks."""
        return len(self._under_way)

    def busy_keys(self) -> set[K]:
        """The keys that must not be begun now: they are running or paused."""
        now = system.monotonic()
        self._pauses = {key: until for key, until in self._pauses.items() if until > now}
        return self._under_way.keys() | self._pauses.keys()

    def begin(self, key: K, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a task for a key that is not busy."""
        task = self._under_way[key] = asyncio.create_task(work)
        task.add_done_callback(partial(self._end, key))
        return task

    def _end(self, key: K, task: asyncio.Task[T]) -> None:
        del self._under_way[key]
        failure = None if task.cancelled() else task.exception()
        if failure is not None:
            self._pauses[key] = system.monotonic() + self._pause(failure)
            self._on_failure(failure)

    async def wait(self) -> None:
        """Wait until all tasks have ended."""
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def give_back(self) -> None:
        """Cancel all tasks, and wait until they have ended."""
        for task in self._under_way.values():
            task.cancel()
        await self.wait()


@asynccontextmanager
async def claim_renewal(
    renew: Callable[[datetime], Awaitable[object]],
    now: Callable[[], datetime],
    on_failure: OnFailure,
) -> AsyncIterator[None]:
    """Renew a claim while the block runs: `renew` is called with its new end every ten seconds."""

    async def renewals() -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                await renew(now() + CLAIM)
            except Exception as failure:  # the next time may be in time
                on_failure(failure)

    renewing = asyncio.create_task(renewals())
    try:
        yield
    finally:
        renewing.cancel()
