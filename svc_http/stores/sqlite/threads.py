"""The threads that own the connections.

Rule 1: one writer. Many units commit together, so that one flush to disk serves them all; a
        failing unit takes back its own work alone.
Rule 2: a savepoint for each unit would cost a fifth of all work, and few units fail after they
        have written. So a batch runs without; when one fails that late, all of it is taken back
        and every unit of the batch runs again, each inside a savepoint.
Rule 3: nobody hears of success before COMMIT has returned; a failing COMMIT fails every unit.
Rule 4: readers see one consistent snapshot, taken after the unit was handed in.
"""

import sqlite3
import threading
from collections.abc import Callable

from attrs import field, frozen

from svc_core.operation.ports import Heard
from svc_http.stores.sqlite.traces import RETRY_SECONDS
from svc_http.stores.sqlite.work import (
    JobOutcome,
    SqliteJob,
    WorkQueue,
    deliver_outcomes,
    translate_error,
)
from svc_http.stores.sqlite.writes import WriterState

UNITS_PER_COMMIT = 64
"""Beyond 64, measured, a larger batch gains nothing and each unit waits longer."""
UNITS_PER_SNAPSHOT = 32
"""How many reads share a snapshot and a wake-up; a slow one delays no more than these."""


@frozen(eq=False)
class Writer:
    """The thread that commits. `on_commit` is called after a commit, before anybody is told."""

    connection: sqlite3.Connection
    writes: WriterState
    queue: WorkQueue
    on_commit: Heard
    units_per_commit: int = UNITS_PER_COMMIT
    thread: threading.Thread = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Start the thread; it ends when the queue is closed and empty."""
        object.__setattr__(self, "thread", _start(self._serve, "svc-sqlite-writer"))

    def _serve(self) -> None:
        while batch := self._next():
            outcomes = self._commit(batch)
            # Whoever erases hears of it when the content is gone, unless a reader was in the way.
            self.writes.traces.clear()
            deliver_outcomes(outcomes)

    def _next(self) -> list[SqliteJob]:
        while self.writes.traces.left and not self.queue.wait(RETRY_SECONDS):
            self.writes.traces.clear()
        return self.queue.take(self.units_per_commit)

    def _commit(self, batch: list[SqliteJob]) -> list[JobOutcome]:
        changes = self.connection.total_changes
        try:
            try:
                outcomes = self._transact(
                    batch, self._run if len(batch) > 1 else self._run_in_savepoint
                )
            except _TornBatch:
                _rollback(self.connection)
                outcomes = self._transact(batch, self._run_in_savepoint)
        except sqlite3.Error as error:
            _rollback(self.connection)
            return [JobOutcome(job, error=translate_error(error)) for job in batch]
        if self.connection.total_changes != changes:
            self.on_commit(frozenset(self.writes.names))
        return outcomes

    def _transact(
        self, batch: list[SqliteJob], run: Callable[[SqliteJob], JobOutcome]
    ) -> list[JobOutcome]:
        """Run and commit every unit.

        Raises:
            _Torn: a unit left something that only a rollback of everything takes back.
            sqlite3.Error: the whole transaction is lost, and every unit of it.
        """
        self.writes.texts.clear()
        self.writes.names.clear()
        self.connection.execute("BEGIN IMMEDIATE")
        outcomes = [run(job) for job in batch]
        self.writes.texts.write()
        self.connection.execute("COMMIT")
        return outcomes

    def _run(self, job: SqliteJob) -> JobOutcome:
        """Run one unit.

        Raises:
            _Torn: it failed after it had written.
            sqlite3.Error: the whole transaction is lost, and every unit of it.
        """
        before = self._write_counts()
        try:
            return JobOutcome(job, job.work(self.connection))
        except BaseException as error:  # the thread's edge: the waiter is told
            self._check_alive(error)
            if self._write_counts() != before:
                raise _TornBatch from error
            return JobOutcome(job, error=translate_error(error))

    def _run_in_savepoint(self, job: SqliteJob) -> JobOutcome:
        """Run one unit inside its savepoint.

        Raises:
            sqlite3.Error: the whole transaction is lost, and every unit of it.
        """
        mark = self.writes.texts.mark()
        self.connection.execute("SAVEPOINT unit")
        try:
            outcome = JobOutcome(job, job.work(self.connection))
        except BaseException as error:  # the thread's edge: the waiter is told
            self._check_alive(error)
            self.connection.execute("ROLLBACK TO unit")
            self.writes.texts.undo(mark)
            outcome = JobOutcome(job, error=translate_error(error))
        self.connection.execute("RELEASE unit")
        return outcome

    def _write_counts(self) -> tuple[int, int]:
        """What grows with everything that a unit writes."""
        return self.connection.total_changes, len(self.writes.texts)

    def _check_alive(self, error: BaseException) -> None:
        if isinstance(error, sqlite3.Error) and not self.connection.in_transaction:
            # SQLite itself rolled back everything (disk full, input/output error).
            raise error


class _TornBatch(Exception):  # noqa: N818 - said as the state that it is
    """A unit failed after it had written, so what its batch did must be taken back."""


@frozen(eq=False)
class Reader:
    """A thread that answers from snapshots."""

    connection: sqlite3.Connection
    queue: WorkQueue
    thread: threading.Thread = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Start the thread; it ends when the queue is closed and empty."""
        object.__setattr__(self, "thread", _start(self._serve, "svc-sqlite-reader"))

    def _serve(self) -> None:
        while batch := self.queue.take(UNITS_PER_SNAPSHOT):
            deliver_outcomes(self._answer(batch))

    def _answer(self, batch: list[SqliteJob]) -> list[JobOutcome]:
        try:
            self.connection.execute("BEGIN")
            outcomes = [self._run(job) for job in batch]
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            _rollback(self.connection)
            return [JobOutcome(job, error=translate_error(error)) for job in batch]
        return outcomes

    def _run(self, job: SqliteJob) -> JobOutcome:
        try:
            return JobOutcome(job, job.work(self.connection))
        except BaseException as error:  # the thread's edge: the waiter is told
            return JobOutcome(job, error=translate_error(error))


def _start(serve: Callable[[], None], name: str) -> threading.Thread:
    # A daemon: a process that forgets to close the store ends all the same, and loses nothing
    # that was acknowledged.
    thread = threading.Thread(target=serve, name=name, daemon=True)
    thread.start()
    return thread


def _rollback(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
