"""What processes hear of each other, and what leaves the server's files."""

import asyncio
import importlib
import re
import subprocess
import sys
from typing import Any

import asyncpg
import pytest

from svc_core.operation.ports import CommitListener
from svc_core.testing.sample import NOTES, NOTICES, SAMPLES, SECRETS, Note
from svc_core.testing.sealed_lines import plain_growth
from svc_http.extras import install_line
from svc_http.stores import errors
from svc_http.stores.history_file import HistoryFile
from svc_http.stores.postgres import PostgresStorage
from svc_http.stores.postgres import _notices as notices
from svc_http.stores.postgres import _storage as storing
from svc_http.stores.postgres._history import DatabaseHistory
from tests.postgres import PostgresServer, open_store, until

EVERY = frozenset({NOTES.name, NOTICES.name, SECRETS.name})


@pytest.fixture
def dsn(postgres: PostgresServer) -> str:
    return postgres.made_for(SAMPLES)


def put(id_: str) -> Any:
    return lambda tx: tx.documents.put(NOTES, id_, Note(id_, ""))


def heard_by(store: PostgresStorage) -> list[frozenset[str]]:
    events: list[frozenset[str]] = []
    store.watch(events.append)
    return events


def test_another_process_hears_what_was_written_to_and_the_writer_once(dsn: str) -> None:
    async def main() -> None:
        async with open_store(dsn) as first, open_store(dsn) as two:
            at_one, at_two, version = heard_by(first), heard_by(two), two.version
            await first.write("ann", put("a"))
            assert at_one == [frozenset({NOTES.name})]

            async def is_heard() -> bool:
                return bool(at_two)

            await until(is_heard)
            assert at_two[0] == frozenset({NOTES.name})
            assert two.version > version
            row = await two.read("ann", lambda tx: tx.documents.get(NOTES, "a"))
            assert row is not None

    asyncio.run(main())


def test_many_commits_are_few_notices(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "PAUSE_SECONDS", 0.2)

    async def main() -> None:
        async with open_store(dsn) as first, open_store(dsn) as two:
            at_two = heard_by(two)
            for number in range(50):
                await first.write(f"t{number}", put("a"))

            async def is_heard() -> bool:
                return bool(at_two)

            await until(is_heard)
            assert len(at_two) < 20

    asyncio.run(main())


def test_a_commit_that_nobody_told_of_is_heard_all_the_same(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "LOOK_SECONDS", 0.05)

    async def main() -> None:
        async with open_store(dsn) as store:
            at_store = heard_by(store)
            session = await asyncpg.connect(dsn)

            async def is_heard() -> bool:
                await session.execute("UPDATE meta SET value = value")  # between any two looks
                return EVERY in at_store

            await until(is_heard)
            await session.close()

    asyncio.run(main())


def test_what_a_process_wrote_itself_it_does_not_take_for_another_s() -> None:
    original = notices._commits_between
    assert original("10:10:", "13:13:") == 3
    assert original("10:12:10", "13:13:") is original("10:10:", "11:13:11") is None


def test_a_listener_that_was_cut_off_listens_again_and_takes_all_to_have_changed(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "RETRY_SECONDS", 0.01)

    async def main() -> None:
        async with open_store(dsn) as first, open_store(dsn) as two:
            at_two = heard_by(two)
            session = await asyncpg.connect(dsn)

            async def are_cut_off() -> bool:  # both at once; before its first look none is known
                pids = await session.fetch(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE query LIKE '%pg_current_snapshot%' AND pid <> pg_backend_pid()"
                    " AND datname = current_database()"
                )
                return len(pids) == 2

            await until(are_cut_off)
            await session.close()

            async def is_heard(names: frozenset[str] = EVERY) -> bool:
                return names in at_two

            await until(is_heard)
            await first.write("ann", put("a"))
            await until(lambda: is_heard(frozenset({NOTES.name})))

    asyncio.run(main())


class StuckSignals:
    """Signals of which the first does not get through."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.told: list[frozenset[str]] = []

    async def tell(self, names: frozenset[str]) -> None:
        if not self.begun.is_set():
            self.begun.set()
            await asyncio.Event().wait()
        self.told.append(names)

    async def hear(self, heard: CommitListener) -> None:
        pass


def test_who_ends_while_a_commit_is_being_told_tells_of_it(dsn: str) -> None:
    async def main() -> None:
        signals = StuckSignals()
        ending = notices.Notices(dsn, signals, lambda _: None, DatabaseHistory(HistoryFile()))
        await ending.start()
        ending.tell(EVERY)
        await signals.begun.wait()
        await ending.close()
        (notice,) = signals.told
        assert notice >= EVERY

    asyncio.run(main())


def test_the_lines_of_a_ledger_are_vacuumed_after_an_erasure(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "MAINTENANCE_SECONDS", 0.01)
    monkeypatch.setattr(storing, "SNAPSHOT_SECONDS", 0.05)

    async def main() -> None:
        async with open_store(dsn) as store:
            growth = plain_growth(0, "a", "b")
            await store.write("ann", lambda tx: tx.ledger.append(*growth[:3], expect=0))
            await store.write("ann", lambda tx: tx.ledger.erase("a", b"erased"))
            looking = await asyncpg.connect(dsn)

            async def is_vacuumed() -> bool:
                counts = await looking.fetch(
                    "SELECT vacuum_count FROM pg_stat_user_tables"
                    " WHERE relname IN ('ledger_lines', 'ledger_keys')"
                )
                return [row[0] >= 2 for row in counts] == [True, True]

            await until(is_vacuumed)
            await looking.close()

    asyncio.run(main())


def test_a_missing_driver_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("svc_http.stores.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    cure = re.escape(install_line("postgres"))
    with pytest.raises(errors.DriverMissing, match=cure) as failure:
        importlib.import_module("svc_http.stores.postgres")
    assert failure.value.exit_code == 1


def test_storage_without_postgres_needs_no_driver() -> None:
    script = "import sys, svc_http.stores; assert 'asyncpg' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
