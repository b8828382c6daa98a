"""Probes whether this process can serve, once for all requests that ask at the same time.

Rule 1: ready means that the store can be read and, after a failure, that it can be written again.
        A full disk can still be read. That it has room again is seen by writing more than fits
        into the free space of the pages that the database has already.
Rule 2: anybody may ask, as often as they like. At most one probe runs at a time, and none within a
        second of the last, unless the store has failed since; other requests share its outcome.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from svc_core.contract import problem
from svc_core.contract.answer import Answer
from svc_core.operation.ports import SYSTEM, Ids, Storage, Transaction
from svc_http.exchange.http_exchange import RETRY_SECONDS, busy

TRIAL_BYTES = 32 * 1024
"""How much a probe writes: more than a page of the database can have free."""


class ProbeTarget(Protocol):
    """The parts of a running service that a probe needs; `is_doubted` is set after a failure."""

    storage: Storage
    ids: Ids
    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    is_doubted: bool


class Readiness:
    """The last probe of the store, and the one that is running."""

    def __init__(self, runtime: ProbeTarget) -> None:
        self._runtime = runtime
        self._probing: asyncio.Task[Exception | None] | None = None
        self._until = 0.0

    async def judge(self) -> None:
        """Return where the store can be used.

        Raises:
            Exception: the failure that the probe of this request has found.
            Problem: STORAGE_UNAVAILABLE; the probe of another request has found a failure.
        """
        is_mine = self._probing is None or self._is_over(self._probing)
        if self._probing is None or is_mine:
            self._probing = asyncio.create_task(self._probe())
        fault = await asyncio.shield(self._probing)
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
        except Exception as fault:  # raised by `judge`, for the request that began this probe
            return fault
        finally:
            self._until = runtime.monotonic() + RETRY_SECONDS
        return None


async def _touch(tx: Transaction) -> None:
    await tx.changes.head()
