"""A fair queue of units of work, in which tenants take turns.

Rule 1: a tenant that was served goes to the end of the line, however many units it has waiting.
Rule 2: the length of the queue and the wait in it are bounded; exceeding either raises an error.
        One tenant fills at most half of the queue.
Rule 3: a unit that was taken runs to its end, even if its caller was cancelled.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

from attrs import define

from svc_core.operation.ports import Overloaded, StorageUnavailable, Transaction

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
    """The queue of the writing or the reading connections.

    With `one_at_a_time` (writing) a batch holds jobs of one tenant, which gets no other batch until
    `release`. Otherwise (reading) a batch holds one job of each tenant in turn, and leaves an equal
    share of the queue to every other connection.
    """

    def __init__(self, units_max: int, *, takers: int, one_at_a_time: bool) -> None:
        self._units_max = units_max
        self._takers = takers
        self._one_at_a_time = one_at_a_time
        self._ready: dict[str, deque[Job]] = {}
        self._busy: dict[str, deque[Job]] = {}
        self._idle: deque[asyncio.Future[None]] = deque()
        self._count = 0
        self._is_closed = False

    async def run(self, tenant: str, unit: Unit) -> Any:
        """Queue `unit` and wait for it; what it returns or raises.

        Raises:
            Overloaded: the queue is full; the unit was not and will not be run.
            StorageUnavailable: the store is closed, or the server is unavailable.
        """
        loop = asyncio.get_running_loop()
        jobs = self._busy[tenant] if tenant in self._busy else self._ready.get(tenant, deque())
        if self._is_closed:
            raise StorageUnavailable("the store is closed")
        if self._count >= self._units_max or len(jobs) >= max(1, self._units_max // 2):
            raise Overloaded(f"{self._count} units of work are waiting")
        job = Job(tenant, unit, loop.create_future(), monotonic())
        jobs.append(job)
        self._count += 1
        if tenant not in self._busy:
            self._ready[tenant] = jobs
            self._wake()
        return await job.future

    async def take(self, count: int) -> list[Job]:
        """At most `count` jobs, at least one; none when the queue is closed and empty."""
        while not self._ready:
            if self._is_closed and not self._count:
                self._wake()
                return []
            waiter = asyncio.get_running_loop().create_future()
            self._idle.append(waiter)
            await waiter
        batch: list[Job] = []
        if self._one_at_a_time:
            tenant = next(iter(self._ready))
            jobs = self._busy[tenant] = self._ready.pop(tenant)
            batch += (jobs.popleft() for _ in range(min(count, len(jobs))))
        else:
            for _ in range(min(count, -(-self._count // self._takers))):
                tenant = next(iter(self._ready))
                jobs = self._ready.pop(tenant)
                batch.append(jobs.popleft())
                if jobs:
                    self._ready[tenant] = jobs
        self._count -= len(batch)
        return batch

    def release(self, tenant: str) -> None:
        """End the batch of a tenant, which joins the end of the line if it has more jobs."""
        jobs = self._busy.pop(tenant, None)
        if jobs:
            self._ready[tenant] = jobs
        if self._ready or self._is_closed:
            self._wake()

    def give_up(self, cutoff: float) -> None:
        """Fail the jobs that were queued at or before the cutoff."""
        for tenant, jobs in [*self._ready.items(), *self._busy.items()]:
            while jobs and jobs[0].queued_at <= cutoff:
                self._count -= 1
                jobs.popleft().settle(StorageUnavailable("waited too long for the store"))
            if not jobs:
                self._ready.pop(tenant, None)

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
