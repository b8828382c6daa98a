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
from svc_http.requests.exchange import busy

WAIT_SECONDS_MAX = 5.0
"""How long a request waits for another with its key; clients give up not much later."""


class Turns:
    """A lock for each key that is in use, gone with the last request that needs it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def take(self, key: Hashable) -> AsyncIterator[None]:
        """Hold the key while the block runs, after whoever holds it now has given it back.

        Raises:
            Problem: IDEMPOTENCY_IN_PROGRESS; it was not given back in time.
        """
        lock = self._locks.setdefault(key, asyncio.Lock())
        try:
            async with asyncio.timeout(WAIT_SECONDS_MAX):
                await lock.acquire()
        except TimeoutError as late:
            raise busy(problem.IDEMPOTENCY_IN_PROGRESS) from late
        try:
            yield
        finally:
            lock.release()
