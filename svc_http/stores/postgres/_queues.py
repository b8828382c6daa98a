"""A fair queue of units of work, in which tenants take turns (`tenant_lines`).

Rule 1: the wait in it is bounded; exceeding it raises an error.
Rule 2: a unit that was taken runs to its end, even if its caller was cancelled.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

from attrs import define

from svc_core.operation.ports import StorageUnavailable, Transaction
from svc_http.stores.relational.tenant_lines import TenantLines

Unit = Callable[[Transaction], Awaitable[Any]]


@define(eq=False)
class Job:
    """A unit of work: its tenant, the future of its caller, its time of queueing, its outcome."""

    tenant: str
    unit: Unit
    future: asyncio.Future[Any]
    queued_at: float
    value: Any = None
    error: BaseException | None = None

    def settle(self, error: BaseException | None = None) -> None:
        """Resolve the future of the caller with the outcome, unless it was cancelled."""
        error = error or self.error
        if self.future.done():
            return
        if error is None:
            self.future.set_result(self.value)
        else:
            self.future.set_exception(error)


class FairQueue:
    """The queue of the writing or the reading connections (`tenant_lines`)."""

    def __init__(self, units_max: int, *, takers: int, one_at_a_time: bool) -> None:
        self._lines = TenantLines[Job](units_max, places=takers, is_mixed=not one_at_a_time)
        self._idle: deque[asyncio.Future[None]] = deque()
        self._is_closed = False
        self.note = self._lines.note

    async def run(self, tenant: str, unit: Unit) -> Any:
        """Queue `unit` and wait for it; what it returns or raises.

        Raises:
            Overloaded: the queue is full; the unit was not and will not be run.
            StorageUnavailable: the store is closed, or the server is unavailable.
        """
        loop = asyncio.get_running_loop()
        if self._is_closed:
            raise StorageUnavailable("the store is closed")
        job = Job(tenant, unit, loop.create_future(), monotonic())
        self._lines.add(job)
        self._wake()
        return await job.future

    async def take(self, count: int) -> list[Job]:
        """At most `count` jobs, at least one; none when the queue is closed and empty."""
        while not (batch := self._lines.take(count)):
            if self._is_closed and not self._lines.count:
                self._wake()
                return []
            waiter = asyncio.get_running_loop().create_future()
            self._idle.append(waiter)
            await waiter
        return batch

    def release(self, batch: list[Job]) -> None:
        """End a batch, whose tenants may have their places again."""
        self._lines.release(batch)
        if self._lines.is_ready or self._is_closed:
            self._wake()

    def give_up(self, cutoff: float) -> None:
        """Fail the jobs that were queued at or before the cutoff."""
        for job in self._lines.drop_late(cutoff):
            job.settle(StorageUnavailable("waited too long for the store"))

    def close(self) -> None:
        """Accept no more jobs; those in the queue still run."""
        self._is_closed = True
        self._wake()

    def _wake(self) -> None:
        while self._idle:
            waiter = self._idle.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
