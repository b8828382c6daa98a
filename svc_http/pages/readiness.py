"""Whether this process can serve, looked at once for all who ask.

Rule 1: ready means that the store answers and, where it has failed, that it takes a write again.
        A disk that is full lets everything be read: that it has room again is seen by writing
        what has no room in the pages that are there already.
Rule 2: anybody may ask, as often as they like. There is one look at a time, and none within a
        second of the last, unless the store has failed since; the others are told what it found.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from svc_core.contract import problem
from svc_core.contract.answer import Answer
from svc_core.operation.ports import SYSTEM, Ids, Storage, Transaction
from svc_http.exchange.exchange import RETRY_SECONDS, busy

TRIAL_BYTES = 32 * 1024
"""What is written to see whether the store takes it: more than a page of it can have free."""


class ProbeTarget(Protocol):
    """A store, and whether it was seen to fail."""

    storage: Storage
    ids: Ids
    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    is_doubted: bool


class Readiness:
    """The last look at a store, and the one that is under way."""

    def __init__(self, runtime: ProbeTarget) -> None:
        self._runtime = runtime
        self._look: asyncio.Task[Exception | None] | None = None
        self._until = 0.0

    async def judge(self) -> None:
        """Pass where the store can be used.

        Raises:
            Exception: it cannot, as this look has found.
            Problem: STORAGE_UNAVAILABLE; it cannot, as another has found.
        """
        is_mine = self._look is None or self._is_over(self._look)
        if self._look is None or is_mine:
            self._look = asyncio.create_task(self._probe())
        fault = await asyncio.shield(self._look)
        if fault is not None:
            raise fault if is_mine else busy(problem.STORAGE_UNAVAILABLE)

    def _is_over(self, look: asyncio.Task[Exception | None]) -> bool:
        if not look.done():
            return False
        is_refuted = self._runtime.is_doubted and look.result() is None
        return is_refuted or self._runtime.monotonic() >= self._until

    async def _probe(self) -> Exception | None:
        runtime = self._runtime
        try:
            if runtime.is_doubted:
                trial = Answer(b"", 204, (), runtime.ids.random(TRIAL_BYTES), runtime.now())
                await runtime.storage.write(SYSTEM, lambda tx: tx.answers.put("readyz", "", trial))
                runtime.is_doubted = False
            await runtime.storage.read(SYSTEM, _touch)
        except Exception as fault:  # told to whoever asked; the next look is another
            return fault
        finally:
            self._until = runtime.monotonic() + RETRY_SECONDS
        return None


async def _touch(tx: Transaction) -> None:
    await tx.changes.head()
