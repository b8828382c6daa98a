"""A file becomes what the declarations ask for, whole or not at all."""

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from svc_core.operation.ports import Collection
from svc_core.testing.sample import NOTES, NOTICES, SAMPLES, Note
from svc_core.testing.sync_store import SyncStore, a_change
from svc_http.stores import SqliteStorage, StoreBusy
from svc_http.stores.sqlite import migrate_sqlite, renew_sqlite_epoch, sqlite_status

EPOCH = b"8 bytes."
DETAILS = "details of changes"
FIXED_STEPS = (
    "meta and declared shapes",
    "changes",
    "answers",
    "ledger",
    "outbox dropped",
    DETAILS,
)
BARE: Collection[Note] = evolve(NOTES, keys={}, facets={}, numbers={}, place=None, search=None)


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as loop:
        yield loop


def fill(runner: asyncio.Runner, path: Path, collection: Collection[Note]) -> None:
    """A file with 1,200 notes: more than are held in memory while filters are filled."""

    async def fill(tx: Any) -> None:
        for number in range(1200):
            note = Note(
                f"n{number:04}",
                f"word{number}",
                number,
                "open" if number % 2 else "done",
                topics=("t", "u") if number % 3 == 0 else (),
                weight=number,
            )
            await tx.documents.put(collection, note.id, note)

    store = SqliteStorage.open(path, [collection], epoch=EPOCH)
    runner.run(store.write("ann", fill))
    runner.run(store.close())


def at_desk(runner: asyncio.Runner, path: Path, *collections: Collection[Note]) -> SyncStore:
    return SyncStore(SqliteStorage.open(path, collections, epoch=b"another."), runner.run)


def test_a_missing_file_lacks_every_step_and_is_not_made_by_asking(tmp_path: Path) -> None:
    path = tmp_path / "svc.db"
    state = sqlite_status(path, SAMPLES)
    assert state.applied == ()
    assert state.pending == (*FIXED_STEPS, *(f"collection {step.name}" for step in SAMPLES))
    assert not path.exists()


def test_steps_are_numbered_and_taken_once(tmp_path: Path) -> None:
    path = tmp_path / "svc.db"
    steps = migrate_sqlite(path, [NOTES], epoch=EPOCH)
    assert [step.number for step in steps] == [1, 2, 3, 4, 5, 6, 7]
    assert migrate_sqlite(path, [NOTES], epoch=EPOCH) == ()
    assert [step.step for step in migrate_sqlite(path, SAMPLES, epoch=EPOCH)] == [
        "collection sample_notices",
        "collection sample_secrets",
    ]
    state = sqlite_status(path, SAMPLES)
    assert [step.number for step in state.applied] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert state.pending == ()


def test_a_file_of_before_loses_the_queue_that_nothing_used(tmp_path: Path) -> None:
    path = tmp_path / "svc.db"
    migrate_sqlite(path, [NOTES], epoch=EPOCH)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE schema_migrations SET step = 'outbox' WHERE step = 'outbox dropped'")
    connection.execute("CREATE TABLE outbox (seq INTEGER PRIMARY KEY, tenant TEXT)")
    connection.execute("CREATE INDEX i_outbox ON outbox (tenant)")
    assert [step.step for step in migrate_sqlite(path, [NOTES], epoch=EPOCH)] == ["outbox dropped"]
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE name LIKE '%outbox'")
    assert tables.fetchall() == []
    connection.close()


def test_a_file_of_before_keeps_its_changes_and_takes_more_of_them(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    path = tmp_path / "svc.db"
    sync = at_desk(runner, path, NOTES)
    sync.append("ann", a_change("a"))
    sync.close()
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE changes DROP COLUMN details")
        connection.execute("DELETE FROM schema_migrations WHERE step = ?", (DETAILS,))
    connection.close()
    assert sqlite_status(path, [NOTES]).pending == (DETAILS,)
    change = evolve(a_change("b"), change_type="updated", changed_fields=("name",))
    sync = at_desk(runner, path, NOTES)
    sync.append("ann", change)
    assert sync.feed("ann").changes == (a_change("a"), change)
    sync.close()


def test_a_new_filter_is_filled_from_stored_rows(runner: asyncio.Runner, tmp_path: Path) -> None:
    path = tmp_path / "svc.db"
    fill(runner, path, BARE)
    assert sqlite_status(path, [NOTES]).pending == (
        "collection sample_notes: +author +latitude +longitude +status +topic +weight text index",
    )
    sync = at_desk(runner, path, NOTES)
    assert len(sync.scan("ann", NOTES, where={"status": ("open",)}, limit=9999).rows) == 600
    assert len(sync.scan("ann", NOTES, where={"topic": ("t",)}, limit=9999).rows) == 400
    assert sync.count("ann", NOTES, ranges={"weight": (3, 7)}) == 5
    assert sync.scan("ann", NOTES, order="weight", limit=1).rows[0].id == "n1199"
    hits = sync.search("ann", NOTES, {"word1199": 1}).rows
    assert [(row.id, row.version) for row in hits] == [("n1199", 1)]
    sync.delete("ann", NOTES, "n1199")
    sync.put("ann", NOTES, "n0003", Note("n0003", "", status="done"))
    assert len(sync.scan("ann", NOTES, where={"status": ("open",)}, limit=9999).rows) == 598
    assert sync.search("ann", NOTES, {"word1199": 1, "word3": 1}).rows == ()
    sync.close()


def test_stored_bytes_and_versions_do_not_change(runner: asyncio.Runner, tmp_path: Path) -> None:
    path = tmp_path / "svc.db"
    fill(runner, path, BARE)
    with sqlite3.connect(path) as connection:
        raw = b'{"id": "n0001", "text": "spaced out", "written": 1}'
        connection.execute("UPDATE c_sample_notes SET body = ? WHERE id = 'n0001'", (raw,))
    connection.close()
    sync = at_desk(runner, path, NOTES)
    row = sync.get("ann", NOTES, "n0001")
    assert row is not None
    assert (row.raw, row.version) == (raw, 1)
    assert [row.id for row in sync.search("ann", NOTES, {"spaced": 1}).rows] == ["n0001"]
    sync.close()


def test_a_filter_that_went_and_came_back_is_filled_again(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    path = tmp_path / "svc.db"
    fill(runner, path, NOTES)
    sync = at_desk(runner, path, BARE)
    sync.put("ann", BARE, "n0001", Note("n0001", "new words", 5000, "done", topics=("t",)))
    sync.close()
    assert sqlite_status(path, [NOTES]).applied[-1].step == (
        "collection sample_notes: -author -latitude -longitude -status -topic -weight text index"
    )
    sync = at_desk(runner, path, NOTES)
    filters = {"status": ("done",), "topic": ("t",)}
    assert sync.scan("ann", NOTES, where=filters, limit=1).rows[0].id == "n0001"
    assert sync.search("ann", NOTES, {"word1": 1}).rows == ()
    assert len(sync.search("ann", NOTES, {"words": 1}).rows) == 1
    sync.close()


def test_a_step_that_fails_leaves_the_file_as_it_was(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    path = tmp_path / "svc.db"
    fill(runner, path, BARE)
    before = sqlite_status(path, [BARE])

    def fail(_: Note) -> str:
        raise ZeroDivisionError

    fault: Collection[Note] = evolve(NOTES, keys={"status": fail})
    with pytest.raises(ZeroDivisionError):
        SqliteStorage.open(path, [NOTICES, fault], epoch=EPOCH)
    assert sqlite_status(path, [BARE]) == before
    sync = at_desk(runner, path, BARE)
    assert len(sync.scan("ann", BARE, limit=9999).rows) == 1200
    sync.close()


def test_a_path_that_cannot_be_opened_is_let_go(tmp_path: Path) -> None:
    path = tmp_path / "svc.db"
    path.mkdir()
    for _ in range(2):
        with pytest.raises(sqlite3.OperationalError):
            SqliteStorage.open(path, SAMPLES, epoch=EPOCH)


def test_the_epoch_stays_until_it_is_renewed(runner: asyncio.Runner, tmp_path: Path) -> None:
    path = tmp_path / "svc.db"
    fill(runner, path, NOTES)

    def epoch() -> bytes:
        sync = at_desk(runner, path, NOTES)
        try:
            return sync.read("ann", lambda tx: tx.changes.epoch())
        finally:
            sync.close()

    assert epoch() == EPOCH
    renew_sqlite_epoch(path, b"restored")
    assert epoch() == b"restored"


def test_a_file_in_use_is_looked_at_but_not_migrated(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    path = tmp_path / "svc.db"
    sync = at_desk(runner, path, NOTES)
    assert sqlite_status(path, SAMPLES).pending == (
        "collection sample_notices",
        "collection sample_secrets",
    )
    with pytest.raises(StoreBusy):
        migrate_sqlite(path, SAMPLES, epoch=EPOCH)
    with pytest.raises(StoreBusy):
        renew_sqlite_epoch(path, EPOCH)
    sync.close()


@pytest.mark.parametrize(
    "collection",
    [
        evolve(NOTES, name="drop table"),
        evolve(NOTES, name="1st"),
        evolve(NOTES, keys={"status; --": lambda note: note.status}),
        evolve(NOTES, keys={"Topic": lambda note: note.status}),
        evolve(NOTES, facets={"topic\n": lambda note: note.topics}),
    ],
    ids=["space", "digit", "statement", "case", "newline"],
)
def test_a_name_that_is_no_identifier_is_refused(
    collection: Collection[Note], tmp_path: Path
) -> None:
    with pytest.raises(AssertionError):
        SqliteStorage.open(tmp_path / "svc.db", [collection], epoch=EPOCH)
    migrate_sqlite(tmp_path / "svc.db", [NOTES], epoch=EPOCH)
