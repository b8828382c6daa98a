"""The claim loop: begins the due rows of a queue, each once at a time, and holds their claims.

Rule 1: a key whose task is running is not begun again, though its row may still be due.
Rule 2: a key whose task failed can be paused, so that one broken row does not delay the others.
Rule 3: work that other processes must not take is claimed for a while, and the claim is renewed.
        Who is cancelled gives it back; that of a dead process expires, or is freed by the next
        process that has the store alone.
"""

import asyncio
from abc import ABCMeta, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any, Final, Generic, TypeVar

from attrs import frozen

from svc_core.operation.context import Context
from svc_core.operation.ports import Collection, TenantRow
from svc_http import system
from svc_http.service.commits import Commits
from svc_http.service.service_units import OnFailure, Service
from svc_http.service.workers.due_queue import DUE_MAX, DueQueue, RowKey, row_key

K = TypeVar("K")
R = TypeVar("R")
T = TypeVar("T")

CLAIM: Final = timedelta(seconds=30)
"""How long a claim lasts without a renewal."""
RENEW_SECONDS: Final = 10.0
"""How often a claim is renewed: two renewals in a row may fail."""


class KeyedTasks(Generic[K, T]):
    """The running tasks of one event loop, by the key of their work.

    `on_failure` gets each failure; `pause` gives the seconds for which its key is then paused.
    """

    def __init__(
        self, on_failure: OnFailure, pause: Callable[[BaseException], float] = lambda _: 0.0
    ) -> None:
        self._on_failure = on_failure
        self._pause = pause
        self._under_way: dict[K, asyncio.Task[T]] = {}
        self._pauses: dict[K, float] = {}

    def __len__(self) -> int:
        """The number of running tasks."""
        return len(self._under_way)

    def busy_keys(self) -> set[K]:
        """The keys that must not be begun now: they are running or paused."""
        now = system.monotonic()
        self._pauses = {key: until for key, until in self._pauses.items() if until > now}
        return self._under_way.keys() | self._pauses.keys()

    def begin(self, key: K, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a task for a key that is not busy."""
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
        """Wait until all tasks have ended."""
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def give_back(self) -> None:
        """Cancel all tasks, and wait until they have ended."""
        for task in self._under_way.values():
            task.cancel()
        await self.wait()


class ClaimLoop(KeyedTasks[RowKey, T], Generic[R, T], metaclass=ABCMeta):
    """The due rows of one queue that this process works on; a subclass is one kind of work.

    Once cancelled it is `ending`, and what runs is given back, or finished where it `finishes`.
    """

    queue: Collection[R]
    look_seconds: float
    """How often the queue is read without a commit."""
    gather_seconds: float
    """How long it waits after a commit for others."""
    window = DUE_MAX
    """Rows that are read beyond those under way, which may still be due and hide others."""
    claim_index = "is_held"
    """The index that is true of a claimed row."""
    takeover_rows = DUE_MAX
    """Claimed rows of one page at a takeover."""
    finishes = False
    is_ending = False

    def __init__(self, service: Service, on_failure: OnFailure) -> None:
        """Let `on_failure` hear of each failure; it stops no other row."""
        super().__init__(on_failure, self.pause_seconds)
        self._service = service
        self._due = DueQueue(service, self.queue)

    @abstractmethod
    async def attend(self, row: TenantRow[R]) -> T:
        """Do the work of one row."""

    @abstractmethod
    async def free(self, ctx: Context, id_: str) -> object:
        """Free the claim of a process that has ended."""

    def pause_seconds(self, failure: BaseException) -> float:
        """How long a row is paused after this failure."""
        del failure
        return 0.0

    async def begin_due(self) -> list[asyncio.Task[T]]:
        """Begin the work that is due now."""
        busy = self.busy_keys()
        rows = await self._due.rows(min(len(busy) + self.window, DUE_MAX))
        rows = [row for row in rows if row_key(row) not in busy]
        return [self.begin(row_key(row), self.attend(row)) for row in rows]

    async def run(self, commits: Commits) -> None:
        """Work for ever: after each commit, and every `look_seconds` without one."""
        try:
            await commits.rounds(
                self.begin_due, look_seconds=self.look_seconds, gather_seconds=self.gather_seconds
            )
        finally:
            self.is_ending = True
            await (self.wait() if self.finishes else self.give_back())

    async def take_over(self) -> int:
        """Free at once what the previous process had claimed; return how many rows.

        Only for a process that has the store to itself, and before its loops begin: what other
        processes hold would be done twice. A row that cannot be freed waits until its claim
        expires.
        """
        total, count, filters = 0, 1, {self.claim_index: ("true",)}
        storage = self._service.storage
        while count:
            count = 0
            for row in await storage.across(self.queue, where=filters, limit=self.takeover_rows):
                try:
                    await self._service.write(row.tenant, partial(self.free, id_=row.document.id))
                except Exception as failure:  # one broken row must not stop the others
                    self._on_failure(failure)
                else:
                    count += 1
            total += count
        return total


@frozen
class Claim:
    """A row that this process has claimed: how the claim is renewed, and how it is given back."""

    tenant: str
    renew: Callable[..., Awaitable[object]]
    """Called with a context and the new end of the claim, `until`."""
    release: Callable[[Context], Awaitable[object]]

    @asynccontextmanager
    async def held(self, service: Service, on_failure: OnFailure) -> AsyncIterator[None]:
        """Renew the claim every ten seconds while the block runs; release it when cancelled."""

        async def renewals() -> None:
            while True:
                await asyncio.sleep(RENEW_SECONDS)
                until = service.now() + CLAIM
                try:
                    await service.write(self.tenant, partial(self.renew, until=until))
                except Exception as failure:  # the next time may be in time
                    on_failure(failure)

        renewing = asyncio.create_task(renewals())
        try:
            yield
        except asyncio.CancelledError:
            await service.write(self.tenant, self.release)
            raise
        finally:
            renewing.cancel()
