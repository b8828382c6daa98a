"""Opening a store by its place: in memory, in a SQLite file, or in a PostgreSQL database.

async with storage.open("/var/lib/desk/svc.db") as store:  # or: store = await storage.open(...)
    ...

store = storage.threaded("postgresql://desk@db.example.org/desk")  # for hosts without a loop
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
    Heard,
    Lowest,
    Owned,
    Signals,
    Storage,
    StorageUnavailable,
    Transaction,
)
from svc_http import system
from svc_http.settings import EXAMPLE_DSN, MEMORY, POSTGRES
from svc_http.settings_text import without_secret
from svc_http.stores.errors import Unusable
from svc_http.stores.memory.storage import MemoryStorage
from svc_http.stores.sqlite import SqliteStorage
from svc_http.stores.sqlite.work import words

R = TypeVar("R")
T = TypeVar("T")


class Store(Storage, Protocol):
    """A store that was opened, to be closed by whoever opened it."""

    async def close(self) -> None:
        """Finish the units of work that were handed in, then give everything back."""


class StoreOpening:
    """A store that is about to be opened: awaited, or entered and then closed at the end."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, Store]]) -> None:
        self._make = make

    def __await__(self) -> Generator[Any, Any, Store]:
        """Open it; whoever awaits it closes it."""
        return self._make().__await__()

    async def __aenter__(self) -> Store:
        self._store = await self
        return self._store

    async def __aexit__(self, *_: object) -> None:
        await self._store.close()


def open(
    place: Path | str,
    collections: Iterable[Collection[Any]] | None = None,
    *,
    signals: Signals | None = None,
) -> StoreOpening:
    """The store at `place`, made or migrated where that is due: `async with` it, or await it.

    `place` is what the setting `db` takes: a file, a `postgresql://` address, or `:memory:`.
    Without `collections` they are those of the catalogue, which is loaded for that.
    `signals` is where processes of one PostgreSQL database tell each other of commits; without it
    that is the database.

    Raises:
        StoreBusy: another process has the file.
        Newer: a newer version of this program wrote it.
        Unusable: the file cannot be read or made, or there is no such PostgreSQL database.
        DriverMissing: PostgreSQL needs a package that is not installed.
    """
    rows = _catalogue_collections() if collections is None else tuple(collections)
    return StoreOpening(lambda: _open_store(str(place), rows, signals))


def _catalogue_collections() -> tuple[Collection[Any], ...]:
    from svc_core.catalog import COLLECTIONS  # noqa: PLC0415 - who brings others needs no catalogue

    return COLLECTIONS


async def _open_store(
    place: str, collections: tuple[Collection[Any], ...], signals: Signals | None
) -> Store:
    epoch = system.SystemIds().random(cursor.EPOCH_BYTES)
    if place.startswith(POSTGRES):
        with postgres(without_secret(place)) as backend:
            store: Store = await backend.PostgresStorage.open(
                place, collections, epoch=epoch, signals=signals
            )
        return store
    if place == MEMORY:
        return MemoryStorage(collections, epoch=epoch)
    try:
        return SqliteStorage.open(Path(place), collections, epoch=epoch)
    except sqlite3.Error as fault:
        raise Unusable(f"{place} cannot be used as the database: {words(fault)}") from fault
    except OSError as error:
        raise Unusable(
            f"{place} cannot be opened: {error.strerror}; choose another file with --db"
        ) from error


@contextmanager
def postgres(label: str) -> Iterator[Any]:
    """The backend; what keeps it from a database is told in a line that begins with `label`.

    Raises:
        DriverMissing: a package is not installed.
        Unusable: there is no such database.
    """
    from svc_http.stores import postgres as backend  # noqa: PLC0415 - of an extra

    try:
        yield backend
    except StorageUnavailable as failure:
        raise Unusable(f"{label} {_postgres_fault(failure.__cause__ or failure)}") from failure
    except ValueError as error:
        # Its own words are not told: they quote the address, and the password in it.
        raise Unusable(f"{label} is no address of a database, such as {EXAMPLE_DSN}") from error


_REFUSALS = {
    "28000": "does not let this user in; name another in SVC_DB",
    "28P01": "refuses the password; give the right one in SVC_DB, PGPASSWORD or ~/.pgpass",
    "3D000": "does not exist; make it with createdb, or name another in SVC_DB",
}
"""What PostgreSQL says at the door, by its SQLSTATE."""


def _postgres_fault(failure: BaseException) -> str:
    """Why a database cannot be used, to stand after its name."""
    if isinstance(failure, OSError | TimeoutError):
        why = getattr(failure, "strerror", None) or "it does not answer in time"
        return f"cannot be reached: {why}; start PostgreSQL, or name another server in SVC_DB"
    code = getattr(failure, "sqlstate", None)
    return _REFUSALS.get(code or "", f"cannot be used as the database: {failure}")


# -- for hosts of every kind -------------------------------------------------------------------


def threaded(
    place: Path | str, collections: Iterable[Collection[Any]] | None = None
) -> "ThreadedStore":
    """The store at `place` in a thread of its own, for threads and event loops alike.

    Open it in the process that uses it: after a server has forked, not before.

    Raises:
        StoreBusy, Newer, Unusable, DriverMissing: as `open`.
    """
    return ThreadedStore(open(place, collections))


class ThreadedStore:
    """A store that any thread uses by `drive.run`, and any event loop by `await`.

    It lives in an event loop of its own, so a host need not have one, or may have many.
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
        """As that of the store."""
        return self._store.version

    def watch(self, listener: Heard) -> None:
        """As that of the store; `listener` is called in a thread of the store's."""
        self._store.watch(listener)

    async def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """As that of the store; `unit` runs where the store does."""
        return await self._on_loop(self._store.read(tenant, unit))

    async def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """As that of the store; `unit` runs where the store does."""
        return await self._on_loop(self._store.write(tenant, unit))

    async def across(
        self, collection: Collection[T], *, limit: int, **bounds: Unpack[Lowest]
    ) -> tuple[Owned[T], ...]:
        """As that of the store."""
        return await self._on_loop(self._store.across(collection, limit=limit, **bounds))

    async def close(self) -> None:
        """Give the store back and end its thread."""
        await self._on_loop(self._store.close())
        self._end()

    async def _on_loop(self, work: Coroutine[Any, Any, R]) -> R:
        """What becomes of the work; without a loop this thread waits, and nothing is suspended."""
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
