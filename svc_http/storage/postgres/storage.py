"""The store in a PostgreSQL database: any number of processes, each with a few connections."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar, cast

from svc_core.ports import SYSTEM, Collection, Heard, Owned, Transaction
from svc_http.storage.asked import Where
from svc_http.storage.errors import StorageUnavailable
from svc_http.storage.postgres import erasure, filling, migrations, unfinished
from svc_http.storage.postgres.connection import SERVES, TENDS, connect
from svc_http.storage.postgres.documents import Tables
from svc_http.storage.postgres.links import STALL_SECONDS, Link, serve
from svc_http.storage.postgres.maintenance import tended
from svc_http.storage.postgres.notices import Notices
from svc_http.storage.postgres.queues import UNITS_WAITING_MAX, WAIT_SECONDS_MAX, Queue
from svc_http.storage.postgres.reading import UNITS_PER_SNAPSHOT, Reader
from svc_http.storage.postgres.session import Session
from svc_http.storage.postgres.transaction import PostgresTransaction
from svc_http.storage.postgres.writing import UNITS_PER_COMMIT, Writer

T = TypeVar("T")
R = TypeVar("R")

WRITERS = READERS = 4
"""Connections of each kind; one more listens, and one tends the tables now and then."""
WATCHES_PER_WAIT = 10
"""How often waits are looked at: a unit waits at most a tenth longer than promised."""
SWEEP_SECONDS = 10.0


class PostgresStorage:
    """A durable store; made by `open`, given back by `close`, of one event loop.

    What is promised: a unit that returned is on the server's disk; a unit that raised left
    nothing, but where the connection was lost during COMMIT, which is told as
    `StorageUnavailable`; a unit whose waiter was cancelled ran whole or not at all.
    """

    def __init__(
        self,
        dsn: str,
        tables: Tables,
        *,
        writers: int,
        readers: int,
        units_waiting: int,
        wait_seconds: float,
        units_per_commit: int,
        stall_seconds: float,
    ) -> None:
        self._dsn = dsn
        self._tables = tables
        self._version = 0
        self._watchers: tuple[Heard, ...] = ()
        self._wait_seconds = wait_seconds
        self._stall_seconds = stall_seconds
        self._writes = Queue(one_at_a_time=True, units_max=units_waiting)
        self._reads = Queue(one_at_a_time=False, units_max=units_waiting, takers=readers)
        connected = partial(connect, dsn, SERVES)
        self.notices = Notices(connected, self._heard)
        self._erasures = erasure.Erasures(partial(connect, dsn, TENDS))
        self._links = [Link(connected) for _ in range(writers + readers)]
        writer, reader = Writer(tables, self._committed), Reader(tables, self._reads)
        self._serving = [
            asyncio.create_task(serve(link, self._writes, units_per_commit, writer.write))
            for link in self._links[:writers]
        ]
        self._serving += [
            asyncio.create_task(serve(link, self._reads, UNITS_PER_SNAPSHOT, reader.read))
            for link in self._links[writers:]
        ]
        self._tending = [asyncio.create_task(each) for each in (self._watch(), self._sweep())]

    @classmethod
    async def open(
        cls,
        dsn: str,
        collections: Iterable[Collection[Any]],
        *,
        epoch: bytes,
        writers: int = WRITERS,
        readers: int = READERS,
        units_waiting: int = UNITS_WAITING_MAX,
        wait_seconds: float = WAIT_SECONDS_MAX,
        units_per_commit: int = UNITS_PER_COMMIT,
        stall_seconds: float = STALL_SECONDS,
    ) -> "PostgresStorage":
        """The store in the database of this name, with what the declarations add to it.

        `epoch` is eight random bytes that name the feed of a database that is made now.

        Raises:
            StorageUnavailable: the server does not let us in, or there is no such database.
            Unfit: it is a copy that was not finished.
        """
        declared = tuple(collections)
        async with tended(dsn) as connection:
            await migrations.apply(connection, declared, epoch, also_drops=False)
            await unfinished.check(connection)
            tables = await migrations.stored(connection, declared)
        store = cls(
            dsn,
            tables,
            writers=writers,
            readers=readers,
            units_waiting=units_waiting,
            wait_seconds=wait_seconds,
            units_per_commit=units_per_commit,
            stall_seconds=stall_seconds,
        )
        try:
            await store.notices.start()
        except BaseException:
            await store.close()
            raise
        return store

    @property
    def version(self) -> int:
        """A number that grows with every commit that wrote, whoever's.

        One of another process counts when its notice comes, or a second later at the latest.
        """
        return self._version

    def watch(self, heard: Heard) -> None:
        """Have `heard` called after every commit that wrote, on the event loop."""
        self._watchers = (*self._watchers, heard)

    async def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit` on one consistent snapshot; it may not write.

        Raises:
            Overloaded: too many units wait.
            StorageUnavailable: the server cannot do it now, or the wait was too long.
        """
        return cast(R, await self._reads.run(tenant, unit))

    async def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit` and commit it durably before returning; an exception undoes all of it.

        Raises:
            Overloaded: too many units wait.
            StorageUnavailable: the server cannot do it now, or the wait was too long; or the
                connection was lost during COMMIT, and nobody knows.
        """
        return cast(R, await self._writes.run(tenant, unit))

    async def across(
        self,
        collection: Collection[T],
        *,
        where: Where | None = None,
        end: int | None = None,
        limit: int,
    ) -> tuple[Owned[T], ...]:
        """Rows of every tenant with the lowest `(order, tenant, id)` first."""

        async def unit(tx: Transaction) -> tuple[Owned[T], ...]:
            own = cast(PostgresTransaction, tx)
            return await own.documents.across(collection, where, end, limit)

        return await self.read(SYSTEM, unit)

    async def close(self) -> None:
        """Finish the units that were handed in, then take leave of the server."""
        self._writes.close()
        self._reads.close()
        await asyncio.gather(*self._serving, return_exceptions=True)
        for task in self._tending:
            task.cancel()
        await asyncio.gather(*self._tending, return_exceptions=True)
        await self._erasures.close()
        await self.notices.close()

    def _committed(self, session: Session) -> None:
        names = frozenset(session.names)
        self._heard(names)
        self.notices.tell(names)
        if session.has_erased:
            self._erasures.begin()

    def _heard(self, names: frozenset[str] | None) -> None:
        """Note a commit; where nobody knows what it wrote to, it may be anything."""
        self._version += 1
        for heard in self._watchers:
            heard(frozenset(self._tables) if names is None else names)

    async def _watch(self) -> None:
        """Give up what waits or stands still for too long."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(min(self._wait_seconds, self._stall_seconds) / WATCHES_PER_WAIT)
            now = loop.time()
            for queue in (self._writes, self._reads):
                queue.give_up(now - self._wait_seconds)
            for link in self._links:
                link.give_up(now - self._stall_seconds)

    async def _sweep(self) -> None:
        """Fill now and then what processes of an older release wrote."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            with suppress(StorageUnavailable):
                async with tended(self._dsn) as connection:
                    await filling.sweep(connection, self._tables.values())
