"""Runs units of work on threads that own the SQLite connections: group commit and snapshots.

Rule 1: one writer. Many units commit together, so that one flush to disk serves them all; a
        failing unit undoes its own work alone.
Rule 2: a batch runs without savepoints. If a unit fails after it has written, the whole batch is
        rolled back and runs again, with a savepoint around each unit.
Rule 3: no caller learns of success before COMMIT has returned; a failing COMMIT fails every unit.
Rule 4: readers see one consistent snapshot, taken after the unit was submitted. A statement of a
        unit that has computed for too long is given up.
"""

# Group commit
#
# A durable commit waits for one flush to disk (fsync), which takes longer than the work of most
# units. So the writer takes all units that wait, up to UNITS_PER_COMMIT, runs them in turn in one
# transaction, and flushes once. While it flushes, the next batch gathers in the queue: under load
# batches grow by themselves, and a lone unit waits for nobody.
#
# Each unit must still look like a transaction of its own. A batch moves through these states:
#
#   optimistic --all units ran--> COMMIT --ok--> every caller is told its result
#   optimistic --a unit fails, nothing written--> it alone gets its error; the batch goes on
#   optimistic --a unit fails after a write--> torn: ROLLBACK, then the batch runs again
#   again, each unit in a savepoint --a unit fails--> ROLLBACK TO its savepoint; the batch goes on
#   any --SQLite has ended the transaction, or COMMIT fails--> every unit of the batch fails
#
# Why it is right: units run serially, so each one sees the writes of those before it, exactly as if
# they had committed. That is safe only while every earlier unit does commit: hence the whole batch
# is torn, and no caller learns anything before COMMIT has returned. Whether a unit has written
# shows in `total_changes`, which SQLite increases with every row inserted, updated or deleted, and
# in the length of the text buffer, whose statements have not reached SQLite yet.
#
# A unit may therefore run twice. It is a function of its transaction and nothing else (rule of the
# port), so the second run cannot be told from the first.
#
# What was tried: a savepoint around each unit from the start. It costs a fifth of all work, because
# FTS5 flushes at each savepoint, and few units fail after they have written (most refusals are
# judged before the first write). What is weak: one unit that always fails late makes the neighbours
# of its batch run twice; the size of the batch bounds that cost. And a slow unit delays the others.
#
# Disk full and input/output errors make SQLite roll back by itself. Then no savepoint is left to
# return to: `_check_alive` sees that no transaction is open and fails the whole batch.

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

from attrs import field, frozen

from svc_core.operation.ports import CommitListener, StorageUnavailable
from svc_http.stores.sqlite._history import FileHistory
from svc_http.stores.sqlite._traces import RETRY_SECONDS
from svc_http.stores.sqlite._write_batch import WriteBatch
from svc_http.stores.sqlite.file_connection import connect_reader
from svc_http.stores.sqlite.work_queue import (
    JobOutcome,
    SqliteJob,
    WorkQueue,
    deliver_outcomes,
    translate_error,
)

UNITS_PER_COMMIT = 64
"""Beyond 64, measured, a larger batch gains nothing and each unit waits longer."""
UNIT_SECONDS = 5.0
"""Computing after which a statement of a reading unit is given up: as long as PostgreSQL has."""
STEPS_PER_LOOK = 100_000
"""Instructions of SQLite's machine between two looks at the time: about a millisecond."""
UNITS_PER_SNAPSHOT = 32
"""How many reads share a snapshot and a wake-up; a slow read delays at most these."""


@frozen(eq=False)
class WriterThread:
    """The thread that writes and commits; it calls `on_commit` before any caller gets a result."""

    connection: sqlite3.Connection
    writes: WriteBatch
    queue: WorkQueue
    history: FileHistory
    on_commit: CommitListener
    units_per_commit: int = UNITS_PER_COMMIT
    thread: threading.Thread = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Start the thread; it ends when the queue is closed and empty."""
        object.__setattr__(self, "thread", _start(self._serve, "svc-sqlite-writer"))

    def _serve(self) -> None:
        while batch := self._next():
            outcomes = self._commit(batch)
            # The caller of an erasure gets its result when the content is gone from the log too,
            # unless a reader still holds an older snapshot.
            self.writes.traces.clear()
            deliver_outcomes(outcomes)
            self.queue.release(outcomes)

    def _next(self) -> list[SqliteJob]:
        while self.writes.traces.may_remain and not self.queue.wait(RETRY_SECONDS):
            self.writes.traces.clear()
        return self.queue.take(self.units_per_commit)

    def _commit(self, batch: list[SqliteJob]) -> list[JobOutcome]:
        changes = self.connection.total_changes
        try:
            try:
                run = self._run if len(batch) > 1 else self._run_in_savepoint
                outcomes = self._transact(batch, run)
            except _TornBatch:
                _rollback(self.connection)
                outcomes = self._transact(batch, self._run_in_savepoint)
        except (sqlite3.Error, StorageUnavailable) as error:
            _rollback(self.connection)
            return [JobOutcome(job, error=translate_error(error)) for job in batch]
        if self.connection.total_changes != changes:
            self.history.note()
            self.on_commit(frozenset(self.writes.names))
        return outcomes

    def _transact(
        self, batch: list[SqliteJob], run: Callable[[SqliteJob], JobOutcome]
    ) -> list[JobOutcome]:
        """Run every unit in one transaction and commit it.

        Raises:
            _TornBatch: a unit has left writes that only a rollback of the batch can undo.
            sqlite3.Error: the whole transaction is lost, and every unit of it.
            StorageUnavailable: the file was replaced.
        """
        self.history.check()
        self.writes.texts.clear()
        self.writes.names.clear()
        self.connection.execute("BEGIN IMMEDIATE")
        outcomes = [run(job) for job in batch]
        self.writes.texts.write()
        self.connection.execute("COMMIT")
        return outcomes

    def _run(self, job: SqliteJob) -> JobOutcome:
        """Run one unit without a savepoint.

        Raises:
            _TornBatch: the unit failed after it had written.
            sqlite3.Error: the whole transaction is lost, and every unit of it.
        """
        before = self._write_counts()
        try:
            return JobOutcome(job, job.work(self.connection))
        except BaseException as error:  # the edge of the thread: the caller gets it
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
        except BaseException as error:  # the edge of the thread: the caller gets it
            self._check_alive(error)
            self.connection.execute("ROLLBACK TO unit")
            self.writes.texts.undo(mark)
            outcome = JobOutcome(job, error=translate_error(error))
        self.connection.execute("RELEASE unit")
        return outcome

    def _write_counts(self) -> tuple[int, int]:
        """Two counters of which at least one grows with every write of a unit."""
        return self.connection.total_changes, len(self.writes.texts)

    def _check_alive(self, error: BaseException) -> None:
        if isinstance(error, sqlite3.Error) and not self.connection.in_transaction:
            # SQLite itself rolled back everything (disk full, input/output error).
            raise error


class _TornBatch(Exception):  # noqa: N818 - named after the state
    """A unit failed after it had written, so its whole batch must be rolled back."""


@frozen(eq=False)
class ReaderThread:
    """A thread that runs reading units, several on one snapshot.

    It connects with its first unit: most commands have fewer units than there are readers, and a
    connection begins by reading the whole schema.
    """

    path: Path
    queue: WorkQueue
    check: Callable[[], None]
    unit_seconds: float = UNIT_SECONDS
    thread: threading.Thread = field(init=False)
    _connections: list[sqlite3.Connection] = field(init=False, factory=list)

    def __attrs_post_init__(self) -> None:
        """Start the thread; it ends when the queue is closed and empty."""
        object.__setattr__(self, "thread", _start(self._serve, "svc-sqlite-reader"))

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of this thread, from the first use on."""
        if not self._connections:
            self._connections.append(connect_reader(self.path))
        return self._connections[0]

    def close(self) -> None:
        """Wait for the end of the thread and close its connection."""
        self.thread.join()
        for connection in self._connections:
            connection.close()

    def _serve(self) -> None:
        while batch := self.queue.take(UNITS_PER_SNAPSHOT):
            outcomes = self._answer(batch)
            deliver_outcomes(outcomes)
            self.queue.release(outcomes)

    def _answer(self, batch: list[SqliteJob]) -> list[JobOutcome]:
        try:
            self.check()
            self.connection.execute("BEGIN")
            outcomes = [self._run(job) for job in batch]
            self.connection.execute("COMMIT")
        except (sqlite3.Error, StorageUnavailable) as error:
            _rollback(*self._connections)
            return [JobOutcome(job, error=translate_error(error)) for job in batch]
        return outcomes

    def _run(self, job: SqliteJob) -> JobOutcome:
        began, value, failure = time.thread_time(), None, None
        end = began + self.unit_seconds
        self.connection.set_progress_handler(lambda: time.thread_time() > end, STEPS_PER_LOOK)
        try:
            value = job.work(self.connection)
        except BaseException as error:  # the edge of the thread: the caller gets it
            failure = translate_error(error)
        return JobOutcome(job, value, failure, time.thread_time() - began)


def _start(serve: Callable[[], None], name: str) -> threading.Thread:
    # A daemon thread does not keep alive a process that forgets to close the store; such a process
    # loses nothing that was acknowledged.
    thread = threading.Thread(target=serve, name=name, daemon=True)
    thread.start()
    return thread


def _rollback(*connections: sqlite3.Connection) -> None:
    for connection in connections:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
