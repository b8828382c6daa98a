"""The store in one SQLite file, owned by one process: one writer thread and a few readers."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from svc_core.base import drive
from svc_core.operation.ports import (
    Collection,
    Transaction,
)
from svc_http.stores.history_file import HistoryFile
from svc_http.stores.migration_steps import AppliedStep, MigrationStatus
from svc_http.stores.relational.storages import RelationalStorage
from svc_http.stores.relational.tenant_lines import UNITS_WAITING_MAX, TenantLines
from svc_http.stores.sqlite import _migrations as migrations
from svc_http.stores.sqlite._history import FileHistory, renew_file
from svc_http.stores.sqlite._session import SqliteSession
from svc_http.stores.sqlite._table import Tables, build_table
from svc_http.stores.sqlite._texts import Texts
from svc_http.stores.sqlite._threads import (
    UNIT_SECONDS,
    UNITS_PER_COMMIT,
    ReaderThread,
    WriterThread,
)
from svc_http.stores.sqlite._traces import Traces
from svc_http.stores.sqlite._transaction import SqliteTransaction
from svc_http.stores.sqlite._write_batch import WriteBatch
from svc_http.stores.sqlite.file_connection import connect_reader, connect_writer
from svc_http.stores.sqlite.file_lock import FileLock
from svc_http.stores.sqlite.work_queue import WAIT_SECONDS_MAX, WorkQueue

R = TypeVar("R")

FAULTS_MAX = 10
"""The faults that a check of a file names."""

READERS = 2
"""One more than reading rows needs, so that a text search does not delay a page."""


class SqliteLimits(NamedTuple):
    """The readers and the lengths and waits of the queues of a store."""

    readers: int = READERS
    units_waiting: int = UNITS_WAITING_MAX
    wait_seconds: float = WAIT_SECONDS_MAX
    units_per_commit: int = UNITS_PER_COMMIT
    unit_seconds: float = UNIT_SECONDS


class SqliteStorage(RelationalStorage):
    """A durable store, opened by `open` and released by `close`.

    It promises: the writes of a unit that returned are on disk; a unit that raised wrote nothing;
    a unit whose caller was cancelled ran completely or not at all.
    """

    def __init__(
        self,
        path: Path,
        lock: FileLock,
        connection: sqlite3.Connection,
        history: FileHistory,
        *,
        tables: Tables,
        limits: SqliteLimits,
    ) -> None:
        super().__init__()
        self._lock = lock
        self._tables = tables
        self._batch = WriteBatch(Texts(connection), Traces(connection), set())
        self._writes, self._reads = (
            WorkQueue(
                TenantLines(limits.units_waiting, places=places, is_mixed=True), limits.wait_seconds
            )
            for places in (1, limits.readers)
        )
        self._writer = WriterThread(
            connection,
            self._batch,
            self._writes,
            history,
            self._note_commit,
            limits.units_per_commit,
        )
        self._readers = tuple(
            ReaderThread(path, self._reads, history.check, limits.unit_seconds)
            for _ in range(limits.readers)
        )

    @classmethod
    def open(
        cls,
        path: Path | str,
        collections: Iterable[Collection[Any]],
        *,
        epoch: bytes,
        limits: SqliteLimits = SqliteLimits(),  # noqa: B008 - a frozen value
    ) -> "SqliteStorage":
        """Lock the file, create or migrate it if necessary, and start the threads.

        `epoch` is eight random bytes: the epoch of the change feed of a new file, and of one that
        is not the file that was known (`<path>.history`).

        Raises:
            StoreBusy: another process holds the lock of the file.
        """
        path, declarations = Path(path).absolute(), tuple(collections)
        with ExitStack() as opening:
            lock = opening.enter_context(FileLock(path))
            connection = opening.enter_context(closing(connect_writer(path)))
            migrations.apply(connection, declarations, epoch)
            history = FileHistory(path, connection, HistoryFile(f"{path}.history"))
            renewals = history.settle(epoch)
            opening.pop_all()
        tables = {collection.name: build_table(collection) for collection in declarations}
        store = cls(path, lock, connection, history, tables=tables, limits=limits)
        store.renewals += renewals
        return store

    async def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit` on one consistent snapshot; it may not write.

        Raises:
            Overloaded: too many units wait.
            StorageUnavailable: the disk fails, or the wait was too long.
        """
        return await self._reads.run(tenant, partial(self._run, tenant, unit, None))

    async def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit` and commit it durably before returning; an exception undoes all of it.

        Raises:
            Overloaded: too many units wait.
            StorageUnavailable: the disk fails or is full, or the wait was too long.
        """
        return await self._writes.run(tenant, partial(self._run, tenant, unit, self._batch))

    async def close(self) -> None:
        """Finish the accepted units, then close and unlock the file."""
        await asyncio.to_thread(self._close)

    def _run(
        self,
        tenant: str,
        unit: Callable[[Transaction], Awaitable[R]],
        writes: WriteBatch | None,
        connection: sqlite3.Connection,
    ) -> R:
        session = SqliteSession(connection, writes)
        coroutine: Any = unit(SqliteTransaction(session, self._tables, tenant))
        result: R = drive.run(coroutine)
        return result

    def _close(self) -> None:
        self._reads.close()
        self._writes.close()
        for reader in self._readers:
            reader.close()
        self._writer.thread.join()
        # SQLite moves the write-ahead log into the file when the last connection closes.
        self._writer.connection.close()
        self._lock.release()


def migrate_sqlite(
    path: Path | str, collections: Iterable[Collection[Any]], *, epoch: bytes
) -> tuple[AppliedStep, ...]:
    """Apply the pending migration steps to a file that no process uses; the steps applied now.

    A file that was there is then written anew, without the room that they left, as is one of which
    a tenth is such room: steps that were applied when it was opened leave it there.

    Raises:
        StoreBusy: a process uses the file.
    """
    with FileLock(Path(path)), closing(connect_writer(Path(path))) as connection:
        steps = migrations.apply(connection, tuple(collections), epoch)
        pages, free_pages = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count")
        )
        if (steps and steps[0].number > 1) or free_pages * 10 > pages:
            connection.execute("VACUUM")
        return steps


def sqlite_status(path: Path | str, collections: Iterable[Collection[Any]]) -> MigrationStatus:
    """The applied and pending steps, also while a server runs; a missing file lacks all steps."""
    declarations = tuple(collections)
    if not Path(path).exists():
        return migrations.status_of(sqlite3.connect(":memory:"), declarations)
    with closing(connect_reader(Path(path))) as connection:
        return migrations.status_of(connection, declarations)


def file_faults(path: Path) -> dict[str, str]:
    """What SQLite finds wrong with the pages and indexes of a file, under `file`; empty if nothing.

    It takes as long as reading the whole file; servers may go on meanwhile.
    """
    try:
        with closing(connect_reader(path)) as connection:
            rows = connection.execute(f"PRAGMA integrity_check({FAULTS_MAX})").fetchall()
        texts = [text for (text,) in rows if text != "ok"]
    except sqlite3.Error as error:
        texts = [str(error)]
    return {"file": "; ".join(texts)} if texts else {}


def renew_sqlite_epoch(path: Path | str, epoch: bytes) -> None:
    """Begin this epoch of the change feed, which invalidates all watermarks.

    Raises:
        StoreBusy: a process uses the file.
    """
    with FileLock(Path(path)), closing(connect_writer(Path(path))) as connection:
        renew_file(Path(path), connection, epoch)
