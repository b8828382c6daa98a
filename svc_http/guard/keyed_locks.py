"""Of two requests with the same Idempotency-Key, the second waits for the first.

The store alone keeps a key from taking effect twice. Here the second request waits without taking
a working slot or a place in the store's queue, and is told what it waits for when its turn does not
come (Spec: Representation rules 5). Several processes over one store meet at the store.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import ExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from svc_core.contract import problem
from svc_core.contract.problem import ProblemType
from svc_http.exchange.exchange import Exchange, busy
from svc_http.exchange.load import WaitingRoom

WAIT_SECONDS_MAX = 5.0
"""How long a request waits for another with its key; clients give up not much later."""


class KeyedLocks:
    """A lock for each key that is in use, gone with the last request that needs it.

    So many requests wait at once; for one more, one of the caller that has the most gives up.
    """

    def __init__(self, waiting_max: int) -> None:
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        self._waits = WaitingRoom(waiting_max)

    @asynccontextmanager
    async def take(
        self,
        key: Hashable,
        exchange: Exchange,
        late: ProblemType = problem.IDEMPOTENCY_IN_PROGRESS,
    ) -> AsyncIterator[None]:
        """Hold the key while the block runs, after whoever holds it now has given it back.

        Raises:
            Problem: `late`; it was not given back in time. OVERLOADED; there is no working slot.
        """
        lock = self._locks.setdefault(key, asyncio.Lock())
        with ExitStack() as stack:
            with exchange.resting():
                try:
                    async with self._waits.place(WAIT_SECONDS_MAX, *exchange.shares):
                        await lock.acquire()
                except TimeoutError as error:
                    raise busy(late) from error
                stack.callback(lock.release)
            yield
