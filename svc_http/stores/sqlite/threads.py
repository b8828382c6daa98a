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
from svc_http.stores.sqlite.work import Job, Outcome, WorkQueue, deliver, told
from svc_http.stores.sqlite.writes import Writes

UNITS_PER_COMMIT = 64
"""Beyond 64, measured, a larger batch gains nothing and each unit waits longer."""
UNITS_PER_SNAPSHOT = 32
"""How many reads share a snapshot and a wake-up; a slow one delays no more than these."""


@frozen(eq=False)
class Writer:
    """The thread that commits. `committed` is called after a commit, before anybody is told."""

    connection: sqlite3.Connection
    writes: Writes
    queue: WorkQueue
    committed: Heard
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
            deliver(outcomes)

    def _next(self) -> list[Job]:
        while self.writes.traces.left and not self.queue.wait(RETRY_SECONDS):
            self.writes.traces.clear()
        return self.queue.take(self.units_per_commit)

    def _commit(self, batch: list[Job]) -> list[Outcome]:
        changes = self.connection.total_changes
        try:
            try:
                outcomes = self._transact(batch, self._run if len(batch) > 1 else self._run_apart)
            except _Torn:
                _rollback(self.connection)
                outcomes = self._transact(batch, self._run_apart)
        except sqlite3.Error as error:
            _rollback(self.connection)
            return [Outcome(job, error=told(error)) for job in batch]
        if self.connection.total_changes != changes:
            self.committed(frozenset(self.writes.names))
        return outcomes

    def _transact(self, batch: list[Job], run: Callable[[Job], Outcome]) -> list[Outcome]:
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

    def _run(self, job: Job) -> Outcome:
        """Run one unit.

        Raises:
            _Torn: it failed after it had written.
            sqlite3.Error: the whole transaction is lost, and every unit of it.
        """
        before = self._written()
        try:
            return Outcome(job, job.work(self.connection))
        except BaseException as error:  # the thread's edge: the waiter is told
            self._check_alive(error)
            if self._written() != before:
                raise _Torn from error
            return Outcome(job, error=told(error))

    def _run_apart(self, job: Job) -> Outcome:
        """Run one unit inside its savepoint.

        Raises:
            sqlite3.Error: the whole transaction is lost, and every unit of it.
        """
        mark = self.writes.texts.mark()
        self.connection.execute("SAVEPOINT unit")
        try:
            outcome = Outcome(job, job.work(self.connection))
        except BaseException as error:  # the thread's edge: the waiter is told
            self._check_alive(error)
            self.connection.execute("ROLLBACK TO unit")
            self.writes.texts.undo(mark)
            outcome = Outcome(job, error=told(error))
        self.connection.execute("RELEASE unit")
        return outcome

    def _written(self) -> tuple[int, int]:
        """What grows with everything that a unit writes."""
        return self.connection.total_changes, len(self.writes.texts)

    def _check_alive(self, error: BaseException) -> None:
        if isinstance(error, sqlite3.Error) and not self.connection.in_transaction:
            # SQLite itself rolled back everything (disk full, input/output error).
            raise error


class _Torn(Exception):  # noqa: N818 - said as the state that it is
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
            deliver(self._answer(batch))

    def _answer(self, batch: list[Job]) -> list[Outcome]:
        try:
            self.connection.execute("BEGIN")
            outcomes = [self._run(job) for job in batch]
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            _rollback(self.connection)
            return [Outcome(job, error=told(error)) for job in batch]
        return outcomes

    def _run(self, job: Job) -> Outcome:
        try:
            return Outcome(job, job.work(self.connection))
        except BaseException as error:  # the thread's edge: the waiter is told
            return Outcome(job, error=told(error))


def _start(serve: Callable[[], None], name: str) -> threading.Thread:
    # A daemon: a process that forgets to close the store ends all the same, and loses nothing
    # that was acknowledged.
    thread = threading.Thread(target=serve, name=name, daemon=True)
    thread.start()
    return thread


def _rollback(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
