"""Opens a store by its address: `:memory:`, the path of a SQLite file, or a PostgreSQL URL.

async with stores.open("/var/lib/desk/svc.db") as store:  # or: store = await stores.open(...)
    ...

store = stores.threaded("postgresql://desk@db.example.org/desk")  # for hosts without a loop
"""

import asyncio
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar, Unpack

from svc_core.contract import cursor
from svc_core.operation.ports import (
    Collection,
    CommitListener,
    CrossTenantFilters,
    Signals,
    Storage,
    StorageUnavailable,
    TenantRow,
    Transaction,
)
from svc_http import system
from svc_http.settings import EXAMPLE_DSN, MEMORY, POSTGRES
from svc_http.settings_text import without_secret
from svc_http.stores.errors import StoreUnusable
from svc_http.stores.history_file import HistoryFile
from svc_http.stores.memory import MemoryStorage
from svc_http.stores.sqlite import SqliteStorage
from svc_http.stores.sqlite.work_queue import sqlite_fault_text

R = TypeVar("R")
T = TypeVar("T")


class ClosableStore(Storage, Protocol):
    """An open store; whoever opened it closes it."""

    async def close(self) -> None:
        """Finish the units of work that were accepted, then release all resources."""


class StoreOpening:
    """A store yet to be opened: await it, or use it with `async with`, which also closes it."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, ClosableStore]]) -> None:
        self._make = make

    def __await__(self) -> Generator[Any, Any, ClosableStore]:
        """Open the store; the caller closes it."""
        return self._make().__await__()

    async def __aenter__(self) -> ClosableStore:
        self._store = await self
        return self._store

    async def __aexit__(self, *_: object) -> None:
        await self._store.close()


def open(
    place: Path | str,
    collections: Iterable[Collection[Any]] | None = None,
    *,
    signals: Signals | None = None,
    history: str | None = None,
) -> StoreOpening:
    """Open the store at `place`, creating or migrating it if necessary: `async with` or await it.

    `place` has the form of the setting `db`: a path, a `postgresql://` address, or `:memory:`.
    `collections` defaults to those of the catalogue, which is imported only in that case.
    `signals` carries the notices of commits between the processes that share a PostgreSQL database;
    it defaults to the database itself. `history` is the file that remembers a PostgreSQL database.

    Raises:
        StoreBusy: another process has the file.
        StoreNewer, StoreOlder: another version of this program wrote it; the message names it.
        StoreUnusable: the file cannot be read or made, or there is no such PostgreSQL database.
        DriverMissing: PostgreSQL needs a package that is not installed.
    """
    rows = _catalogue_collections() if collections is None else tuple(collections)
    return StoreOpening(lambda: _open_store(str(place), rows, signals, HistoryFile(history)))


def _catalogue_collections() -> tuple[Collection[Any], ...]:
    from svc_core.catalog import COLLECTIONS  # noqa: PLC0415 - who brings others needs no catalogue

    return COLLECTIONS


async def _open_store(
    place: str,
    collections: tuple[Collection[Any], ...],
    signals: Signals | None,
    history: HistoryFile,
) -> ClosableStore:
    epoch = system.SystemIds().random(cursor.EPOCH_BYTES)
    if place.startswith(POSTGRES):
        with postgres_backend(without_secret(place)) as backend:
            store: ClosableStore = await backend.PostgresStorage.open(
                place, collections, epoch=epoch, signals=signals, history=history
            )
        return store
    if place == MEMORY:
        return MemoryStorage(collections, epoch=epoch)
    try:
        return SqliteStorage.open(Path(place), collections, epoch=epoch)
    except sqlite3.Error as fault:
        raise StoreUnusable(
            f"{place} cannot be used as the database: {sqlite_fault_text(fault)}"
        ) from fault
    except OSError as error:
        raise StoreUnusable(
            f"{place} cannot be opened: {error.strerror}; choose another file with --db"
        ) from error


@contextmanager
def postgres_backend(label: str) -> Iterator[Any]:
    """Yields the PostgreSQL backend; failures inside of the block become one line that begins with
    `label`.

    Raises:
        DriverMissing: a package is not installed.
        StoreUnusable: there is no such database.
    """
    from svc_http.stores import postgres as backend  # noqa: PLC0415 - of an extra

    try:
        yield backend
    except StorageUnavailable as failure:
        raise StoreUnusable(f"{label} {_postgres_fault(failure.__cause__ or failure)}") from failure
    except ValueError as error:
        # The original message is withheld: it quotes the address, and the password in it.
        raise StoreUnusable(
            f"{label} is no address of a database, such as {EXAMPLE_DSN}"
        ) from error


_REFUSALS = {
    "28000": "does not let this user in; name another in SVC_DB",
    "28P01": "refuses the password; give the right one in SVC_DB, PGPASSWORD or ~/.pgpass",
    "3D000": "does not exist; make it with createdb, or name another in SVC_DB",
}
"""Explanations of refused connections, by the SQLSTATE of PostgreSQL."""


def _postgres_fault(failure: BaseException) -> str:
    """The reason why a database cannot be used, phrased to follow its name."""
    if isinstance(failure, OSError | TimeoutError):
        why = getattr(failure, "strerror", None) or "it does not answer in time"
        return f"cannot be reached: {why}; start PostgreSQL, or name another server in SVC_DB"
    code = getattr(failure, "sqlstate", None)
    return _REFUSALS.get(code or "", f"cannot be used as the database: {failure}")


# -- for hosts of every kind -------------------------------------------------------------------


def open_threaded(
    place: Path | str, collections: Iterable[Collection[Any]] | None = None
) -> "ThreadedStore":
    """Open the store at `place` in a thread of its own, for use from any thread or event loop.

    Open it in the process that uses it: after a server has forked, not before.

    Raises:
        StoreBusy, StoreNewer, StoreUnusable, DriverMissing: as `open`.
    """
    return ThreadedStore(open(place, collections))


class ThreadedStore:
    """A store that any thread uses by `drive.run`, and any event loop by `await`.

    The store runs in an event loop of its own, so a host may have none, one or many.
    """

    def __init__(self, opening: StoreOpening) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="svc-store", daemon=True
        )
        self._thread.start()
        try:
            future = asyncio.run_coroutine_threadsafe(opening.__aenter__(), self._loop)
            self._store = future.result()
        except BaseException:
            self._end()
            raise

    @property
    def version(self) -> int:
        """The version of the store; see `Storage.version`."""
        return self._store.version

    def watch(self, listener: CommitListener) -> None:
        """Call `listener` after every commit that wrote, in the thread of the store."""
        self._store.watch(listener)

    async def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit` on one consistent snapshot, in the thread of the store."""
        return await self._on_loop(self._store.read(tenant, unit))

    async def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit` and commit it, in the thread of the store."""
        return await self._on_loop(self._store.write(tenant, unit))

    async def across(
        self, collection: Collection[T], *, limit: int, **bounds: Unpack[CrossTenantFilters]
    ) -> tuple[TenantRow[T], ...]:
        """The rows of every tenant with the lowest `(order, tenant, id)` first."""
        return await self._on_loop(self._store.across(collection, limit=limit, **bounds))

    async def close(self) -> None:
        """Close the store and end its thread."""
        await self._on_loop(self._store.close())
        self._end()

    async def _on_loop(self, work: Coroutine[Any, Any, R]) -> R:
        """The result of the work. A caller without an event loop blocks, and is never suspended."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return future.result()
        return await asyncio.wrap_future(future)

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
