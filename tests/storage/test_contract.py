"""Every store keeps every promise of the contract."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest

from svc_core import drive
from svc_core.testing.sample import SAMPLES
from svc_core.testing.storage_contract import StorageContract
from svc_http.storage import MemoryStorage, SqliteStorage
from svc_http.storage.postgres import PostgresStorage
from tests.postgres import EPOCH, PostgresServer

R = TypeVar("R")


class TestMemory(StorageContract):
    def make_store(self) -> MemoryStorage:
        return MemoryStorage(SAMPLES)

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        return drive.run(coroutine)


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


class TestPostgres(StorageContract):
    server: PostgresServer

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
        dsn = self.server.made_for(SAMPLES)
        return self.runner.run(PostgresStorage.open(dsn, SAMPLES, epoch=EPOCH))

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        return self.runner.run(coroutine)
