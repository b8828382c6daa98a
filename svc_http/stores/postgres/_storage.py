"""The store in a PostgreSQL database, shared by any number of processes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from itertools import count
from time import monotonic
from typing import Any, NamedTuple, TypeVar, cast

from svc_core.operation.ports import (
    Collection,
    Signals,
    StorageUnavailable,
    Transaction,
)
from svc_http.stores.counters.postgres_coordination import on_postgres
from svc_http.stores.history_file import HistoryFile
from svc_http.stores.postgres import (
    _backfill as filling,
)
from svc_http.stores.postgres import (
    _copy_mark as copy_mark,
)
from svc_http.stores.postgres import (
    _migrations as migrations,
)
from svc_http.stores.postgres._connection import IDLE_SECONDS, STATEMENT_SECONDS
from svc_http.stores.postgres._history import DatabaseHistory
from svc_http.stores.postgres._links import STALL_SECONDS, Link
from svc_http.stores.postgres._maintenance import maintenance_connection
from svc_http.stores.postgres._notices import Notices
from svc_http.stores.postgres._queues import FairQueue
from svc_http.stores.postgres._reader import UNITS_PER_SNAPSHOT, SnapshotReader
from svc_http.stores.postgres._session import Session
from svc_http.stores.postgres._table import Tables
from svc_http.stores.postgres._writer import UNITS_PER_COMMIT, SessionWriter
from svc_http.stores.relational.storages import RelationalStorage
from svc_http.stores.relational.tenant_lines import UNITS_WAITING_MAX

R = TypeVar("R")

WATCHES_PER_WAIT = 10
"""How often waits are checked: a unit waits at most a tenth longer than promised."""
MAINTENANCE_SECONDS = 1.0
SWEEP_TURNS = 10
"""The number of maintenance turns between two searches for rows of older processes."""
SNAPSHOT_SECONDS = IDLE_SECONDS + STATEMENT_SECONDS + 1.0
"""The longest time that a snapshot of this program lasts."""


class PostgresLimits(NamedTuple):
    """The connections, queue lengths and timeouts of a store.

    Beside the writers and readers one connection listens, and one does maintenance now and then.
    """

    writers: int = 4
    readers: int = 4
    units_waiting: int = UNITS_WAITING_MAX
    units_per_commit: int = UNITS_PER_COMMIT
    wait_seconds: float = 5.0
    stall_seconds: float = STALL_SECONDS


class PostgresStorage(RelationalStorage):
    """A durable store for one event loop, opened by `open` and released by `close`.

    It promises: the writes of a unit that returned are on the server's disk; a unit that raised
    wrote nothing, unless the connection was lost during COMMIT, which raises
    `StorageUnavailable`; a unit whose caller was cancelled ran completely or not at all.

    Content that was erased from a ledger leaves the tables with a VACUUM, within seconds, and again
    when every older snapshot must have ended. Some copies remain for the operator to remove: the
    write-ahead log until its segments are reused, archived or streamed copies of it, backups, and
    the free space of a page until something else is written there.
    """

    def __init__(
        self,
        dsn: str,
        tables: Tables,
        limits: PostgresLimits,
        history: DatabaseHistory,
        *,
        signals: Signals | None = None,
    ) -> None:
        super().__init__()
        self._dsn = dsn
        self._tables = tables
        self._limits = limits
        self._history = history
        self.renewals = history.renewals
        self._vacuums: list[float] = []
        coordination = on_postgres(dsn)
        self._close_coordination = coordination.close  # it connects on first use
        self.notices = Notices(dsn, signals or coordination.signals, self._on_notice, history)
        self._writes = FairQueue(limits.units_waiting, takers=limits.writers, one_at_a_time=True)
        self._reads = FairQueue(limits.units_waiting, takers=limits.readers, one_at_a_time=False)
        self._links = [Link(dsn, history) for _ in range(limits.writers + limits.readers)]
        write = SessionWriter(tables, self._on_commit).write
        read = SnapshotReader(tables, self._reads.note).read
        serving = [
            link.serve(self._writes, limits.units_per_commit, write)
            if number < limits.writers
            else link.serve(self._reads, UNITS_PER_SNAPSHOT, read)
            for number, link in enumerate(self._links)
        ]
        self._serving = [asyncio.create_task(coroutine) for coroutine in serving]
        self._background = [
            asyncio.create_task(coroutine) for coroutine in (self._watch(), self._maintain())
        ]

    @classmethod
    async def open(
        cls,
        dsn: str,
        collections: Iterable[Collection[Any]],
        *,
        epoch: bytes,
        limits: PostgresLimits = PostgresLimits(),  # noqa: B008 - a frozen value
        signals: Signals | None = None,
        history: HistoryFile | None = None,
    ) -> "PostgresStorage":
        """Open the store in the database at `dsn` and migrate it if necessary.

        `epoch` is eight random bytes: the epoch of the change feed of a new database. `signals`
        carries the notices of commits between processes; it defaults to the database itself.
        `history` is what this server knows of the database, by default nothing yet.

        Raises:
            StorageUnavailable: the server refuses the connection, or has no such database.
        """
        declarations = tuple(collections)
        known = DatabaseHistory(history or HistoryFile())
        async with maintenance_connection(dsn) as connection:
            await migrations.apply_postgres(connection, declarations, epoch, also_drops=False)
            await copy_mark.check(connection)
            tables = await migrations.shaped_tables(connection, declarations)
            await known.settle(connection)
        store = cls(dsn, tables, limits, known, signals=signals)
        try:
            await store.notices.start()
        except BaseException:
            await store.close()
            raise
        return store

    async def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit` on one consistent snapshot; it may not write.

        Raises:
            Overloaded: too many units wait.
            StorageUnavailable: the server is unavailable, or the wait was too long.
        """
        return cast(R, await self._reads.run(tenant, unit))

    async def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit` and commit it durably before returning; an exception undoes all of it.

        Raises:
            Overloaded: too many units wait.
            StorageUnavailable: the server is unavailable, or the wait was too long; or the
                connection was lost during COMMIT, and the outcome is unknown.
        """
        return cast(R, await self._writes.run(tenant, unit))

    async def close(self) -> None:
        """Finish the accepted units, then close all connections."""
        self._writes.close()
        self._reads.close()
        await asyncio.gather(*self._serving, return_exceptions=True)
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self.notices.close()
        await self._close_coordination()

    def _on_commit(self, session: Session) -> None:
        self._note_commit(frozenset(session.names))
        self._history.note_commit(session.scope)
        self.notices.tell(frozenset(session.names))
        if session.has_erased:
            self._vacuums += [monotonic(), monotonic() + SNAPSHOT_SECONDS]

    def _on_notice(self, names: frozenset[str] | None) -> None:
        """Note a commit of another process; None stands for all collections."""
        self._note_commit(frozenset(self._tables) if names is None else names)

    async def _watch(self) -> None:
        """Fail the jobs that wait, and the transactions that stall, for too long."""
        wait, stall = self._limits.wait_seconds, self._limits.stall_seconds
        while True:
            await asyncio.sleep(min(wait, stall) / WATCHES_PER_WAIT)
            for queue in (self._writes, self._reads):
                queue.give_up(monotonic() - wait)
            for link in self._links:
                link.give_up(monotonic() - stall)

    async def _maintain(self) -> None:
        """Vacuum erased content, and fill rows that processes of an older release have written."""
        for turn in count(1):
            await asyncio.sleep(MAINTENANCE_SECONDS)
            due = [time for time in self._vacuums if time <= monotonic()]
            with suppress(StorageUnavailable):
                if due or turn % SWEEP_TURNS == 0:
                    async with maintenance_connection(self._dsn) as connection:
                        if due:
                            await connection.execute("VACUUM ledger_lines, ledger_keys")
                        await filling.sweep_backfill(connection, self._tables.values())
                    self._vacuums = [time for time in self._vacuums if time not in due]
