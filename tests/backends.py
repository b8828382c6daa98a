"""The store that tests of the server stand on: in memory, or where `--backend` says."""

import tempfile
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from svc_core.operation.ports import Collection, CommitListener, Transaction
from svc_http.stores import MemoryStorage, SqliteStorage
from svc_http.stores.postgres import PostgresStorage
from tests.postgres import PostgresServer

NAMES = ("memory", "sqlite", "postgres")
EPOCH = b"12345678"


class Backend:
    """What was chosen for this run, and the server that it needs."""

    name = "memory"
    _server: PostgresServer | None = None

    @property
    def server(self) -> PostgresServer:
        """A server for all tests of this process, each with a database of its own on it."""
        if self._server is None:
            self._server = PostgresServer()
        return self._server

    def close(self) -> None:
        """Stop the server, if there is one."""
        if self._server is not None:
            self._server.close()


BACKEND = Backend()


def make_store(collections: Iterable[Collection[Any]], *, epoch: bytes = EPOCH) -> Any:
    """An empty store of the chosen kind."""
    return store_of(BACKEND.name, collections, epoch=epoch)


def store_of(
    name: str,
    collections: Iterable[Collection[Any]],
    *,
    epoch: bytes = EPOCH,
    folder: Path | None = None,
) -> Any:
    """An empty store of this kind, with a database of its own, or a file of its own in `folder`."""
    declarations = tuple(collections)
    if name == "memory":
        return MemoryStorage(declarations, epoch=epoch)
    if name == "sqlite":
        return Opening(_Sqlite(declarations, epoch, folder))
    return Opening(_Postgres(declarations, epoch))


class _Sqlite:
    def __init__(
        self, collections: tuple[Collection[Any], ...], epoch: bytes, folder: Path | None
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="svc-test-", dir=folder)
        self._made = (collections, epoch)

    async def open(self) -> SqliteStorage:
        collections, epoch = self._made
        return SqliteStorage.open(Path(self._folder.name, "svc.db"), collections, epoch=epoch)

    def drop(self) -> None:
        self._folder.cleanup()


class _Postgres:
    def __init__(self, collections: tuple[Collection[Any], ...], epoch: bytes) -> None:
        self._made = (collections, epoch)
        # In a thread, because there may be an event loop in this one.
        self._dsn = _aside(lambda: BACKEND.server.lend(collections, epoch=epoch))

    async def open(self) -> PostgresStorage:
        collections, epoch = self._made
        return await PostgresStorage.open(self._dsn, collections, epoch=epoch)

    def drop(self) -> None:
        _aside(lambda: BACKEND.server.give_back(self._dsn))


def _aside(work: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


class Opening:
    """A store that is opened by the first who asks it, inside their event loop."""

    def __init__(self, place: Any) -> None:
        self._place = place
        self._store: Any = None
        self._watchers: list[CommitListener] = []

    @property
    def version(self) -> int:
        return 0 if self._store is None else self._store.version

    def watch(self, listener: CommitListener) -> None:
        if self._store is None:
            self._watchers.append(listener)
        else:
            self._store.watch(listener)

    async def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[Any]]) -> Any:
        return await (await self._open()).read(tenant, unit)

    async def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[Any]]) -> Any:
        return await (await self._open()).write(tenant, unit)

    async def across(self, collection: Collection[Any], **how: Any) -> Any:
        return await (await self._open()).across(collection, **how)

    async def close(self) -> None:
        """Close the store and throw away what it holds. Safe to repeat."""
        if self._place is None:
            return
        place, self._place = self._place, None
        if self._store is not None:
            await self._store.close()
        place.drop()

    async def _open(self) -> Any:
        if self._store is None:
            store = await self._place.open()
            if self._store is not None:  # two asked at once
                await store.close()
                return self._store
            self._store = store
            for listener in self._watchers:
                store.watch(listener)
        return self._store
