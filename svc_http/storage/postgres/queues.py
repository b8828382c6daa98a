"""The line of the units of work, in which tenants take turns.

Rule 1: a tenant that has had its turn goes to the end of the line, however much it has waiting.
Rule 2: the line has an end and the wait in it too; both are told, neither is silent. One tenant
        fills at most half of it.
Rule 3: once taken a unit runs whole, whoever still waits for it.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from svc_core.ports import Transaction
from svc_http.storage.errors import Overloaded, StorageUnavailable

UNITS_WAITING_MAX = 10_000
"""A second's work or less; whoever comes later would give up before the answer."""
WAIT_SECONDS_MAX = 5.0

Unit = Callable[[Transaction], Awaitable[Any]]


class Job(NamedTuple):
    """A unit of work, whose it is, who waits for it and since when."""

    tenant: str
    unit: Unit
    future: asyncio.Future[Any]
    since: float

    def settle(self, value: Any) -> None:
        """Tell the waiter what came of it, unless it has gone."""
        if not self.future.done():
            self.future.set_result(value)

    def fail(self, error: BaseException) -> None:
        """Tell the waiter why nothing came of it, unless it has gone."""
        if not self.future.done():
            self.future.set_exception(error)


class Queue:
    """Jobs on their way to the connections of one kind.

    Where tenants are served one at a time, a batch holds jobs of one tenant, who has no other
    until `done`.
    """

    def __init__(
        self, *, one_at_a_time: bool, units_max: int = UNITS_WAITING_MAX, takers: int = 1
    ) -> None:
        self._one_at_a_time = one_at_a_time
        self._units_max = units_max
        self._own_max = max(1, units_max // 2)
        self._takers = takers
        self._jobs: dict[str, deque[Job]] = {}
        self._line: deque[str] = deque()
        self._busy: set[str] = set()
        self._idle: deque[asyncio.Future[None]] = deque()
        self._count = 0
        self._is_closed = False

    def __len__(self) -> int:
        """How many jobs wait."""
        return self._count

    async def run(self, tenant: str, unit: Unit) -> Any:
        """What `unit` returns or raises.

        Raises:
            Overloaded: the queue is full; the unit was not and will not be run.
            StorageUnavailable: the store is closed, or cannot do it.
        """
        loop = asyncio.get_running_loop()
        own = self._jobs.get(tenant, ())
        if self._is_closed:
            raise StorageUnavailable("the store is closed")
        if self._count >= self._units_max or len(own) >= self._own_max:
            raise Overloaded(f"{self._count} units of work are waiting")
        job = Job(tenant, unit, loop.create_future(), loop.time())
        if own:
            self._jobs[tenant].append(job)
        else:
            self._jobs[tenant] = deque((job,))
            if tenant not in self._busy:
                self._line.append(tenant)
        self._count += 1
        self._wake()
        return await job.future

    async def take(self, count: int) -> list[Job]:
        """At most `count` jobs, at least one; none when the queue is closed and empty."""
        while not self._line:
            if self._is_closed and not self._count:
                self._wake()
                return []
            waiter = asyncio.get_running_loop().create_future()
            self._idle.append(waiter)
            await waiter
        if not self._one_at_a_time:
            return self._take_in_turns(count)
        tenant = self._line.popleft()
        self._busy.add(tenant)
        return self._pop(tenant, count)

    def done(self, tenant: str) -> None:
        """Let the next batch of a tenant be taken, after those who are in the line."""
        if tenant in self._busy:
            self._busy.discard(tenant)
            if tenant in self._jobs:
                self._line.append(tenant)
        if self._line or self._is_closed:
            self._wake()

    def give_up(self, since: float) -> None:
        """Fail the jobs that have waited since then or longer."""
        late = []
        for tenant, jobs in [*self._jobs.items()]:
            count = 0
            while count < len(jobs) and jobs[count].since <= since:
                count += 1
            if count:
                late += self._pop(tenant, count)
        self._line = deque(tenant for tenant in self._line if tenant in self._jobs)
        for job in late:
            job.fail(StorageUnavailable("waited too long for the store"))

    def close(self) -> None:
        """Take no more jobs; those that wait are still done."""
        self._is_closed = True
        while self._idle:
            self._wake()

    def _take_in_turns(self, count: int) -> list[Job]:
        """One job of each tenant in turn, and no more than leaves as much to each taker."""
        taken: list[Job] = []
        for _ in range(min(count, -(-self._count // self._takers))):
            tenant = self._line.popleft()
            taken += self._pop(tenant, 1)
            if tenant in self._jobs:
                self._line.append(tenant)
        return taken

    def _pop(self, tenant: str, count: int) -> list[Job]:
        jobs = self._jobs[tenant]
        taken = [jobs.popleft() for _ in range(min(count, len(jobs)))]
        if not jobs:
            del self._jobs[tenant]
        self._count -= len(taken)
        return taken

    def _wake(self) -> None:
        while self._idle:
            waiter = self._idle.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
