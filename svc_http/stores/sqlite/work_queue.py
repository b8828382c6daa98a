"""Passes units of work from event loops to SQLite threads, and their outcomes back.

Rule 1: a unit is one function; once a thread has taken it, it runs to its end, even if its caller
        was cancelled.
Rule 2: the wait in the queue is bounded; exceeding it raises an error. Tenants take turns, and
        share the threads (`tenant_lines`).
Rule 3: a thread wakes each event loop once per batch, and a loop wakes a thread once for all jobs
        of one turn. A busy thread takes the jobs that arrived meanwhile without being woken.
"""

import asyncio
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from attrs import field, frozen

from svc_core.operation.ports import NO_SPACE, StorageUnavailable
from svc_http.stores.relational.tenant_lines import TenantLines

R = TypeVar("R")

WAIT_SECONDS_MAX = 5.0
WATCHES_PER_WAIT = 10
"""How often waits are checked: a unit waits at most a tenth longer than promised."""

Work = Callable[[sqlite3.Connection], R]


class SqliteJob(NamedTuple):
    """A unit of work of a tenant, the future of its caller, and its time of queueing (loop's)."""

    tenant: str
    work: Work[Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    queued_at: float


class JobOutcome(NamedTuple):
    """The outcome of a job: its value, or the exception to raise in its caller."""

    job: SqliteJob
    value: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    """How long it computed, where that is measured."""

    def settle(self) -> None:
        """Resolve the future of the caller, unless it was cancelled."""
        if self.job.future.done():
            return
        if self.error is None:
            self.job.future.set_result(self.value)
        else:
            self.job.future.set_exception(self.error)


@frozen(eq=False)
class WorkQueue:
    """A bounded queue of jobs from any number of event loops to the reader or writer threads."""

    lines: TenantLines[SqliteJob]
    wait_seconds: float = WAIT_SECONDS_MAX
    _ready: threading.Condition = field(factory=threading.Condition, init=False)
    _watchers: set[asyncio.AbstractEventLoop] = field(factory=set, init=False)
    _waking: set[asyncio.AbstractEventLoop] = field(factory=set, init=False)
    _closed: threading.Event = field(factory=threading.Event, init=False)

    async def run(self, tenant: str, work: Work[R]) -> R:
        """Run `work` of a tenant on a thread; what it returns or raises.

        Raises:
            Overloaded: the queue is full; the work will not be done.
            StorageUnavailable: the store is closed, or the wait was too long.
        """
        loop = asyncio.get_running_loop()
        job = SqliteJob(tenant, work, loop, loop.create_future(), loop.time())
        with self._ready:
            if self._closed.is_set():
                raise StorageUnavailable("the store is closed")
            self.lines.add(job)
        if loop not in self._waking:
            self._waking.add(loop)
            loop.call_soon(self._wake, loop)
        if loop not in self._watchers:
            self._watchers.add(loop)
            self._watch_later(loop)
        return cast(R, await job.future)

    def take(self, count: int) -> list[SqliteJob]:
        """At most `count` jobs, at least one; none when the queue is closed and empty."""
        with self._ready:
            while not (jobs := self.lines.take(count)):
                if self._closed.is_set() and not self.lines.count:
                    self._ready.notify_all()
                    return []
                self._ready.wait()
            if self.lines.is_ready:
                # One thread was woken for all of them; the remaining jobs need another.
                self._ready.notify()
            return jobs

    def release(self, outcomes: Sequence[JobOutcome]) -> None:
        """End a batch of this thread, which then takes another: its tenants may have the place."""
        with self._ready:
            for outcome in outcomes:
                self.lines.note(outcome.job.tenant, outcome.seconds)
            self.lines.release([outcome.job for outcome in outcomes])

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds` for a job or for the end of the queue; whether either came."""
        with self._ready:
            return self._ready.wait_for(
                lambda: bool(self.lines.count) or self._closed.is_set(), seconds
            )

    def close(self) -> None:
        """Accept no more jobs; those in the queue still run."""
        with self._ready:
            self._closed.set()
            self._ready.notify_all()

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wake one thread for all jobs that were submitted in one turn of the loop."""
        self._waking.discard(loop)
        with self._ready:
            self._ready.notify()

    def _watch_later(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(self.wait_seconds / WATCHES_PER_WAIT, self._watch, loop)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Fail the jobs that have waited too long; check again while any job waits."""
        with self._ready:
            late = [*self.lines.drop_late(loop.time() - self.wait_seconds)]
            is_waiting = bool(self.lines.count)
        deliver_outcomes(
            JobOutcome(job, error=StorageUnavailable("waited too long for the store"))
            for job in late
        )
        if is_waiting:
            self._watch_later(loop)
        else:
            self._watchers.discard(loop)


def deliver_outcomes(outcomes: Iterable[JobOutcome]) -> None:
    """Resolve the futures of all outcomes, waking each event loop once."""
    batches: dict[asyncio.AbstractEventLoop, list[JobOutcome]] = {}
    for outcome in outcomes:
        batches.setdefault(outcome.job.loop, []).append(outcome)
    for loop, batch in batches.items():
        try:
            loop.call_soon_threadsafe(_settle, batch)
        except RuntimeError:
            # The loop is closed, so nobody waits for the outcome; the work was done all the same.
            continue


def _settle(batch: list[JobOutcome]) -> None:
    for outcome in batch:
        outcome.settle()


_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_full(error: sqlite3.Error) -> bool:
    """Whether SQLite failed for lack of disk space: for rows, or for its shared memory file."""
    name = getattr(error, "sqlite_errorname", None)  # errors of the driver itself have none
    return name in {"SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"}


def sqlite_fault_text(error: sqlite3.Error) -> str:
    """The fault of a database file, phrased to follow its name: SQLite's message, or 'no space'."""
    return NO_SPACE if is_full(error) else str(error)


def translate_error(error: BaseException) -> BaseException:
    """Translate an error of SQLite into `StorageUnavailable` if it is a fault of the store.

    Errors that point to a defect of a statement are returned unchanged.
    """
    code = getattr(error, "sqlite_errorcode", None)
    # The low byte is the primary code, the rest is detail (such as SQLITE_IOERR_FSYNC).
    if isinstance(error, zlib.error):
        unavailable = StorageUnavailable(f"a row cannot be expanded: {error}", is_damaged=True)
    elif isinstance(error, sqlite3.Error) and code is not None and code & 0xFF in _UNAVAILABLE:
        unavailable = StorageUnavailable(
            f"{error.sqlite_errorname}: {sqlite_fault_text(error)}",
            is_full=is_full(error),
            is_damaged=code & 0xFF in _DAMAGED,
        )
    else:
        return error
    unavailable.__cause__ = error
    return unavailable
