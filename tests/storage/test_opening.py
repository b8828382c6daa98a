"""A store is opened in one call, by its place, for every kind of host; a newer one is refused."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from svc_core import catalog
from svc_core.base import drive
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_http import stores as storage
from svc_http.run.cli import main
from svc_http.stores import StoreBusy, StoreNewer, StoreUnusable
from svc_http.stores import migration_steps as steps
from svc_http.stores.postgres import _migrations as of_postgres
from svc_http.stores.sqlite import _migrations as of_sqlite
from tests.postgres import PostgresServer

DURABLE = ("sqlite", "postgres")


def put(tx: Any) -> Any:
    return tx.documents.put(NOTES, "a", Note("a", "word"))


async def get(tx: Any) -> Any:
    row = await tx.documents.get(NOTES, "a")
    return row and row.version


@pytest.fixture
def place_of(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[str], str]:
    def place(kind: str) -> str:
        if kind == "memory":
            return ":memory:"
        if kind == "sqlite":
            return str(tmp_path / "svc.db")
        server: PostgresServer = request.getfixturevalue("postgres")
        return server.dsn(server.fresh())

    return place


@pytest.mark.parametrize("kind", ["memory", *DURABLE])
def test_one_call_opens_a_store_and_its_block_closes_it(kind: str, place_of: Any) -> None:
    place = place_of(kind)

    async def use() -> None:
        async with storage.open(place, SAMPLES) as store:
            await store.write("ann", put)
        again = await storage.open(place, SAMPLES)
        assert await again.read("ann", get) == (None if kind == "memory" else 1)
        await again.close()

    asyncio.run(use())


@pytest.mark.parametrize("kind", DURABLE)
def test_a_threaded_store_serves_threads_and_any_loop(kind: str, place_of: Any) -> None:
    store = storage.open_threaded(place_of(kind), SAMPLES)
    events: list[Any] = []
    store.watch(events.append)
    before = store.version

    drive.run(store.write("ann", put))
    assert drive.run(store.read("ann", get)) == 1
    for version in (2, 3):  # each in a loop of its own
        asyncio.run(store.write("ann", put))
        assert asyncio.run(store.read("ann", get)) == version
    assert len(drive.run(store.across(NOTES, limit=9))) == 1

    assert store.version > before
    assert events
    drive.run(store.close())


def test_a_threaded_store_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    with pytest.raises(StoreUnusable, match="cannot be"):
        storage.open_threaded(tmp_path)
    store = storage.open_threaded(tmp_path / "svc.db", SAMPLES)
    with pytest.raises(StoreBusy):
        storage.open_threaded(tmp_path / "svc.db", SAMPLES)
    with pytest.raises(ZeroDivisionError):
        drive.run(store.write("ann", lambda tx: 1 // 0))  # type: ignore[arg-type, return-value]
    drive.run(store.close())


# -- newer -------------------------------------------------------------------------------------


def _written_by_newer(place: str, postgres: PostgresServer | None) -> None:
    """Have a newer version write in the store."""
    later = steps.FORMAT + 1
    if postgres is None:
        with closing(sqlite3.connect(place)) as connection:
            connection.execute(f"PRAGMA user_version = {later}")
        return
    database = place.partition("@/")[2].partition("?")[0]
    postgres.do(f"UPDATE meta SET value = '{later}' WHERE name = 'format'", database=database)


@pytest.mark.parametrize("kind", DURABLE)
def test_a_database_of_a_newer_version_is_refused_and_not_touched(
    kind: str,
    place_of: Any,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    place = place_of(kind)

    async def open_newer() -> None:
        async with storage.open(place, catalog.COLLECTIONS):
            pass

    asyncio.run(open_newer())
    server = request.getfixturevalue("postgres") if kind == "postgres" else None
    _written_by_newer(place, server)

    with pytest.raises(StoreNewer, match=r"is of a newer svc .*install that version, or restore"):
        asyncio.run(open_newer())
    for command in (("db", "status"), ("db", "migrate"), ("db", "backup", "copy.db")):
        assert main([*command, "--db", place]) == 1
        assert "the database is of a newer svc" in capsys.readouterr().err
    assert not (tmp_path / "copy.db").exists()
    if kind == "sqlite":
        assert main(["db", "restore", place, "--db", "restored.db"]) == 1
        assert "the database is of a newer svc" in capsys.readouterr().err
        assert not (tmp_path / "restored.db").exists()


def test_what_is_stored_and_its_format_change_together() -> None:
    """Whoever adds a collection or a step lets FORMAT grow, so that earlier versions refuse it.

    Once for each release: what came since the last one is written here under the same number.
    """
    names = sorted(collection.name for collection in catalog.COLLECTIONS)
    print_ = sha256(
        "\n".join([*names, *of_sqlite._FIXED_STEPS, *of_postgres._FIXED_STEPS]).encode()
    )
    assert (steps.FORMAT, print_.hexdigest()[:12]) == (2, "29540658ef17")
