"""Of two requests with the same Idempotency-Key, the second waits for the first.

The store alone keeps a key from taking effect twice. Here the second request waits without taking
a place in the store's queue, and is told what it waits for when its turn does not come (Spec:
Representation rules 5). Several processes over one store meet at the store.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from svc_core import problem
from svc_core.problem import ProblemType
from svc_http.requests.exchange import busy

WAIT_SECONDS_MAX = 5.0
"""How long a request waits for another with its key; clients give up not much later."""


class Turns:
    """A lock for each key that is in use, gone with the last request that needs it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def take(
        self, key: Hashable, late: ProblemType = problem.IDEMPOTENCY_IN_PROGRESS
    ) -> AsyncIterator[None]:
        """Hold the key while the block runs, after whoever holds it now has given it back.

        Raises:
            Problem: `late`; it was not given back in time.
        """
        lock = self._locks.setdefault(key, asyncio.Lock())
        try:
            async with asyncio.timeout(WAIT_SECONDS_MAX):
                await lock.acquire()
        except TimeoutError as missed:
            raise busy(late) from missed
        try:
            yield
        finally:
            lock.release()
