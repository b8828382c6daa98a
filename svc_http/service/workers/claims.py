"""What one process has begun: each piece of work once, and its failures told.

Rule 1: what is under way is not begun again, though its row may still be due.
Rule 2: what failed can be left alone for a while, so that one broken row is in nobody's way.
Rule 3: what others must not take meanwhile is claimed for a while, and the claim renewed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Generic, TypeVar

from svc_http import system
from svc_http.service.service import OnFailure

K = TypeVar("K")
T = TypeVar("T")

CLAIM: Final = timedelta(seconds=30)
"""How long work belongs to a worker that says no more of it."""
RENEW_SECONDS: Final = 10.0
"""How often a worker says that it still has it: it may fail to twice."""


class KeyedTasks(Generic[K, T]):
    """Work by what it is about, for the tasks of one event loop.

    `on_failure` hears of what went wrong; `pause` says for how many seconds that is left alone.
    """

    def __init__(
        self, on_failure: OnFailure, pause: Callable[[BaseException], float] = lambda _: 0.0
    ) -> None:
        self._on_failure = on_failure
        self._pause = pause
        self._under_way: dict[K, asyncio.Task[T]] = {}
        self._pauses: dict[K, float] = {}

    def __len__(self) -> int:
        """How much is under way."""
        return len(self._under_way)

    def busy_keys(self) -> set[K]:
        """What is not to be begun now: it is under way, or left alone."""
        now = system.monotonic()
        self._pauses = {key: until for key, until in self._pauses.items() if until > now}
        return self._under_way.keys() | self._pauses.keys()

    def begin(self, key: K, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Have the work done, about what is not taken."""
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
        """Wait until all has ended."""
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def give_back(self) -> None:
        """Cancel all, and wait until it has ended."""
        for task in self._under_way.values():
            task.cancel()
        await self.wait()


@asynccontextmanager
async def claim_renewal(
    renew: Callable[[datetime], Awaitable[object]],
    now: Callable[[], datetime],
    on_failure: OnFailure,
) -> AsyncIterator[None]:
    """Have `renew` say until when the work is claimed, again and again while the block runs."""

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
