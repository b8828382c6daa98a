"""Every store keeps every promise of the contract."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier
from typing import Any, TypeVar

import pytest

from svc_core.base import drive
from svc_core.testing.sample import SAMPLES
from svc_core.testing.storage_contract import StorageContract, Store
from svc_core.testing.sync_store import SyncStore
from svc_http.stores import MemoryStorage, SqliteStorage
from svc_http.stores.postgres import PostgresLimits, PostgresStorage
from tests.postgres import EPOCH, PostgresServer
from tests.storage.efforts import ONE_READER, lines_run, postgres_pages, sqlite_steps

R = TypeVar("R")


def in_threads(coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    start = Barrier(len(coroutines))

    def work(coroutine: Coroutine[Any, Any, Any]) -> Any:
        start.wait()
        try:
            return drive.run(coroutine)
        except Exception as failure:
            return failure

    with ThreadPoolExecutor(len(coroutines)) as pool:
        return list(pool.map(work, coroutines))


async def gather_all(coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    return await asyncio.gather(*coroutines, return_exceptions=True)


class TestMemory(StorageContract):
    def make_store(self) -> MemoryStorage:
        return MemoryStorage(SAMPLES)

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        return drive.run(coroutine)

    def at_once(self, coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
        return in_threads(coroutines)

    def effort(self, work: Callable[[], Any]) -> int:
        return lines_run(work)


class TestSqlite(StorageContract):
    def setup_method(self) -> None:
        self.folder = TemporaryDirectory()
        self.runner = asyncio.Runner()
        super().setup_method()

    def teardown_method(self) -> None:
        super().teardown_method()
        self.runner.close()
        self.folder.cleanup()

    def make_store(self) -> SqliteStorage:
        return SqliteStorage.open(Path(self.folder.name, "svc.db"), SAMPLES, epoch=b"8 bytes.")

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        return self.runner.run(coroutine)

    def at_once(self, coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
        return self.runner.run(gather_all(coroutines))

    def effort(self, work: Callable[[], Any]) -> int:
        return sqlite_steps(self.sync.store, work)


class TestPostgres(StorageContract):
    server: PostgresServer
    limits = PostgresLimits()

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _server(cls, postgres: PostgresServer) -> None:
        cls.server = postgres

    def setup_method(self) -> None:
        self.runner = asyncio.Runner()
        super().setup_method()

    def teardown_method(self) -> None:
        super().teardown_method()
        self.runner.close()

    def make_store(self) -> PostgresStorage:
        self.dsn = self.server.made_for(SAMPLES)
        opening = PostgresStorage.open(self.dsn, SAMPLES, epoch=EPOCH, limits=self.limits)
        return self.runner.run(opening)

    def test_rows_that_a_question_does_not_return_make_it_no_dearer(self) -> None:
        self.sync.close()
        self.limits = ONE_READER
        self.sync = SyncStore(self.make_store(), self.run)
        super().test_rows_that_a_question_does_not_return_make_it_no_dearer()

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        return self.runner.run(coroutine)

    def at_once(self, coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
        return self.runner.run(gather_all(coroutines))

    def effort(self, work: Callable[[], Any]) -> int:
        return postgres_pages(work)

    def make_others(self, store: Store) -> Sequence[Store]:
        opening = (PostgresStorage.open(self.dsn, SAMPLES, epoch=EPOCH) for _ in range(2))
        return [self.runner.run(task) for task in opening]
