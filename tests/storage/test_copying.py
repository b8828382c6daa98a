"""A copied store says what the first one said, goes on where it stood, and is whole or not there."""

import asyncio
import sqlite3
import stat
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from svc_core import ids
from svc_core.host import Progress, silent
from svc_core.ledger.log.seal import TreeHead, seal_batch
from svc_core.ledger.records import Draft
from svc_core.ports import LedgerHead, SealedLine, Transaction
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_core.testing.storage_agreement import agreement_machine
from svc_core.testing.sync_store import SyncStore
from svc_http.storage import MemoryStorage, SqliteStorage, StoreBusy, copying
from svc_http.storage.copying import Copied
from svc_http.storage.errors import Unfit
from svc_http.storage.parts import BATCH_ROWS, LINES, Filled
from svc_http.storage.sqlite.copying import UNFINISHED, filling, reading
from svc_http.storage.sqlite.lock import FileLock

EXAMPLES = settings(
    max_examples=30,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
EPOCH = b"8 bytes."


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as made:
        yield made


def opened(path: Path) -> SqliteStorage:
    return SqliteStorage.open(path, SAMPLES, epoch=EPOCH)


async def copied(source: Path, target: Path, *, with_seals: bool = False) -> Copied:
    async with reading(source, SAMPLES, is_alone=True) as held:
        async with filling(target, SAMPLES, await held.epoch()) as filled:
            return await copying.copy(
                held, filled, SAMPLES, with_seals=with_seals, tell=silent
            )


def test_a_store_that_was_copied_says_the_same(runner: asyncio.Runner, tmp_path: Path) -> None:
    numbers = count()
    paths: dict[object, Path] = {}

    def fresh() -> Path:
        return tmp_path / f"{next(numbers)}.db"

    def kept(path: Path) -> SqliteStorage:
        store = opened(path)
        paths[store] = path
        return store

    def moved(store: Any) -> SqliteStorage:
        path = fresh()
        runner.run(copied(paths.pop(store), path))
        return kept(path)

    machine = agreement_machine(
        {"memory": lambda: MemoryStorage(SAMPLES, epoch=EPOCH), "sqlite": lambda: kept(fresh())},
        runner.run,
        again={"sqlite": moved},
    )
    run_state_machine_as_test(machine, settings=EXAMPLES)
