"""The stores say the same after any work."""

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis.stateful import run_state_machine_as_test

from svc_core.testing.sample import SAMPLES
from svc_core.testing.storage_agreement import agreement_machine
from svc_http.stores import MemoryStorage, SqliteStorage
from svc_http.stores.postgres import PostgresStorage
from tests.postgres import PostgresServer
from tests.sampling import examples

EXAMPLES = examples(
    50,
    stateful_step_count=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as loop:
        yield loop


def test_all_stores_say_the_same(
    runner: asyncio.Runner, tmp_path: Path, postgres: PostgresServer
) -> None:
    numbers = count()
    paths: dict[object, Path] = {}
    names: dict[object, str] = {}

    def open_file(path: Path) -> SqliteStorage:
        store = SqliteStorage.open(path, SAMPLES, epoch=bytes(8))
        paths[store] = path
        return store

    def connect(dsn: str) -> PostgresStorage:
        store = runner.run(PostgresStorage.open(dsn, SAMPLES, epoch=bytes(8)))
        names[store] = dsn
        return store

    machine = agreement_machine(
        {
            "memory": lambda: MemoryStorage(SAMPLES),
            "sqlite": lambda: open_file(tmp_path / f"{next(numbers)}.db"),
            "postgres": lambda: connect(postgres.made_for(SAMPLES)),
        },
        runner.run,
        reopen={
            "sqlite": lambda store: open_file(paths.pop(store)),
            "postgres": lambda store: connect(names.pop(store)),
        },
    )
    run_state_machine_as_test(machine, settings=EXAMPLES)
