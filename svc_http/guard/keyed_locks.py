"""Makes the second of two requests with the same Idempotency-Key wait for the first.

That a key takes effect only once is guaranteed by the store, also across processes. The locks here
let the second request wait without a working slot and without a place in the store's queue, and
refuse it with IDEMPOTENCY_IN_PROGRESS after a time (Spec: Representation rules 5).
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import ExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from svc_core.contract import problem
from svc_core.contract.problem import ProblemType
from svc_http.exchange.fair_shares import Bound, Shares
from svc_http.exchange.http_exchange import Exchange, busy

WAIT_SECONDS_MAX = 5.0
"""How long a request waits for another with its key; clients time out not much later."""


class KeyedLocks:
    """A lock for each key in use, which is freed with the last request that needs it.

    At most `waiting_max` requests wait; for one more, the caller with the most loses one.
    """

    def __init__(self, waiting_max: int) -> None:
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        self._waits: Shares[asyncio.Timeout] = Shares(Bound(waiting_max))

    @asynccontextmanager
    async def take(
        self,
        key: Hashable,
        exchange: Exchange,
        late: ProblemType = problem.IDEMPOTENCY_IN_PROGRESS,
    ) -> AsyncIterator[None]:
        """Hold the lock of a key while the block runs.

        Raises:
            Problem: `late`; the lock was not free in time. OVERLOADED; no working slot is free.
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
