"""A durable store becomes what the declarations ask for, step by step, whole or not at all."""

import asyncio
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from svc_core.operation.ports import Collection, Transaction
from svc_core.testing.sample import NOTES, NOTICES, SAMPLES, Note
from svc_core.testing.sync_store import SyncStore, a_change
from svc_http.stores import SqliteStorage, StoreBusy, StoreOlder, postgres, sqlite
from svc_http.stores.migration_steps import SCHEMA
from svc_http.stores.postgres import _migrations as of_postgres
from svc_http.stores.sqlite import _migrations as of_sqlite
from tests.postgres import EPOCH, PostgresServer

BARE: Collection[Note] = evolve(NOTES, keys={}, facets={}, numbers={}, place=None, search=None)
ALL_STEPS = "author latitude longitude status topic weight"
ROWS = 1200
"""More than are held in memory, or filled at a time."""


class File:
    """A file of SQLite that does not exist yet."""

    fixed_steps = tuple(of_sqlite._FIXED_STEPS)

    def __init__(self, path: Path, runner: asyncio.Runner) -> None:
        self.path, self._run = path, runner.run

    def open(self, *collections: Collection[Any]) -> SyncStore:
        return SyncStore(SqliteStorage.open(self.path, collections, epoch=EPOCH), self._run)

    def migrate(self, collections: Iterable[Collection[Any]], epoch: bytes = EPOCH) -> Any:
        return sqlite.migrate_sqlite(self.path, collections, epoch=epoch)

    def status(self, *collections: Collection[Any]) -> Any:
        return sqlite.sqlite_status(self.path, collections)

    def renew_epoch(self, epoch: bytes) -> None:
        sqlite.renew_sqlite_epoch(self.path, epoch)

    def do(self, statement: str) -> None:
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute(statement)
            connection.commit()


class Database:
    """An empty database of PostgreSQL."""

    fixed_steps = tuple(of_postgres._FIXED_STEPS)

    def __init__(self, server: PostgresServer, runner: asyncio.Runner) -> None:
        self._server, self._run, self._name = server, runner.run, server.fresh()
        self._dsn = server.dsn(self._name)

    def open(self, *collections: Collection[Any]) -> SyncStore:
        opening = postgres.PostgresStorage.open(self._dsn, collections, epoch=EPOCH)
        return SyncStore(self._run(opening), self._run)

    def migrate(self, collections: Iterable[Collection[Any]], epoch: bytes = EPOCH) -> Any:
        return self._run(postgres.migrate_postgres(self._dsn, collections, epoch=epoch))

    def status(self, *collections: Collection[Any]) -> Any:
        return self._run(postgres.postgres_status(self._dsn, collections))

    def renew_epoch(self, epoch: bytes) -> None:
        self._run(postgres.renew_postgres_epoch(self._dsn, epoch))

    def do(self, statement: str) -> None:
        self._server.do(statement, database=self._name)


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as loop:
        yield loop


@pytest.fixture
def file(runner: asyncio.Runner, tmp_path: Path) -> File:
    return File(tmp_path / "svc.db", runner)


@pytest.fixture(params=["file", "database"])
def place(request: pytest.FixtureRequest, runner: asyncio.Runner) -> Any:
    if request.param == "file":
        return request.getfixturevalue("file")
    return Database(request.getfixturevalue("postgres"), runner)


def fill(place: Any, collection: Collection[Note]) -> None:
    async def unit(tx: Transaction) -> None:
        for number in range(ROWS):
            topics = ("t", "u") if number % 3 == 0 else ()
            status = "open" if number % 2 else "done"
            note = Note(
                f"n{number:04}", f"word{number}", number, status, topics=topics, weight=number
            )
            await tx.documents.put(collection, note.id, note)

    sync = place.open(collection)
    sync.write("ann", unit)
    sync.close()


# -- the steps that every store takes ----------------------------------------------------------


def test_a_new_store_lacks_every_step_and_is_not_made_by_asking(place: Any, file: File) -> None:
    status = place.status(*SAMPLES)
    assert status.applied == ()
    assert status.pending == (
        *place.fixed_steps, *(f"collection {each.name}" for each in SAMPLES)
    )  # fmt: skip
    assert not file.path.exists()


def test_steps_are_numbered_and_taken_once(place: Any) -> None:
    names = [*place.fixed_steps, "collection sample_notes"]
    steps = place.migrate([NOTES])
    assert [(step.number, step.step) for step in steps] == [*enumerate(names, 1)]
    assert place.migrate([NOTES]) == ()
    assert [step.step for step in place.migrate(SAMPLES)] == [
        "collection sample_notices",
        "collection sample_secrets",
    ]
    status = place.status(*SAMPLES)
    assert [step.number for step in status.applied] == [*range(1, len(names) + 3)]
    assert status.pending == ()


def test_a_step_is_added_to_a_store_that_the_version_before_goes_on_using(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = place.open(NOTES)
    older.append("ann", a_change("a"))
    if isinstance(place, File):  # which one process has at a time
        older.close()
    with monkeypatch.context() as newer:
        for module in (of_sqlite, of_postgres):
            steps = {**module._FIXED_STEPS, "made up": ("CREATE TABLE made_up (name text)",)}
            newer.setattr(module, "_FIXED_STEPS", steps)
        assert place.status(NOTES).pending == ("made up",)
        sync = place.open(NOTES)
        place.do("INSERT INTO made_up VALUES ('x')")
        assert [change.id for change in sync.feed("ann").changes] == ["a"]
        assert place.status(NOTES).pending == ()
        sync.close()
    if isinstance(place, File):
        older = place.open(NOTES)
    older.append("ann", a_change("b"))
    older.close()
    again = place.open(NOTES)
    assert [change.id for change in again.feed("ann").changes] == ["a", "b"]
    again.close()


def test_a_store_of_an_earlier_step_is_refused_with_what_migrates_it(place: Any) -> None:
    place.migrate([NOTES])
    place.do(f"DELETE FROM schema_migrations WHERE step = '{SCHEMA}'")
    for work in (place.open, place.status, lambda notes: place.migrate([notes])):
        with pytest.raises(StoreOlder, match=r"commit 4a8c5ca3 first: svc db migrate$"):
            work(NOTES)


def test_the_epoch_stays_until_it_is_renewed(place: Any) -> None:
    def epoch() -> bytes:
        sync = place.open(NOTES)
        try:
            return sync.read("ann", lambda tx: tx.changes.epoch())
        finally:
            sync.close()

    place.migrate([NOTES], b"another.")
    assert epoch() == b"another."
    place.renew_epoch(b"restored")
    assert epoch() == b"restored"


# -- the steps of a declaration ----------------------------------------------------------------


def test_a_new_filter_is_filled_from_stored_rows(place: Any) -> None:
    fill(place, BARE)
    added = f"{ALL_STEPS} ".replace(" ", " +").removesuffix("+")
    assert place.status(NOTES).pending == (f"collection sample_notes: +{added}text index",)
    sync = place.open(NOTES)
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


def test_indexes_of_another_form_are_filled_anew(place: Any) -> None:
    fill(place, NOTES)
    step = "+form2" if isinstance(place, Database) else "form 2"
    newer = evolve(
        NOTES,
        order=lambda note: -note.written,
        facets={**NOTES.facets, "topic": lambda note: note.topics[1:]},
        search=lambda note: f"new{note.text}",
        form=2,
    )
    assert place.status(newer).pending == (f"collection sample_notes: {step}",)
    sync = place.open(newer)
    assert [row.id for row in sync.scan("ann", newer, limit=2).rows] == ["n0000", "n0001"]
    assert sync.scan("ann", newer, where={"topic": ("t",)}, limit=1).rows == ()
    assert sync.search("ann", newer, {"word7": 1}).rows == ()
    hits = sync.search("ann", newer, {"newword7": 1}).rows
    assert [(row.id, row.version) for row in hits] == [("n0007", 1)]
    sync.close()
    assert place.status(newer).pending == ()


def test_stored_bytes_and_versions_do_not_change(place: Any) -> None:
    raw = '{"id": "n0001", "text": "spaced out", "written": 1}'
    fill(place, BARE)
    blob = f"x'{raw.encode().hex()}'" if isinstance(place, File) else f"'{raw}'"
    place.do(f"UPDATE c_sample_notes SET body = {blob} WHERE id = 'n0001'")
    sync = place.open(NOTES)
    row = sync.get("ann", NOTES, "n0001")
    assert row is not None
    assert (row.raw, row.version) == (raw.encode(), 1)
    assert [row.id for row in sync.search("ann", NOTES, {"spaced": 1}).rows] == ["n0001"]
    sync.close()


@pytest.mark.parametrize(
    "collection",
    [
        evolve(NOTES, name="drop table"),
        evolve(NOTES, name="1st"),
        evolve(NOTES, name="x" * 60),
        evolve(NOTES, keys={"status; --": lambda note: note.status}),
        evolve(NOTES, keys={"Topic": lambda note: note.status}),
        evolve(NOTES, facets={"topic\n": lambda note: note.topics}),
    ],
    ids=["space", "digit", "long", "statement", "case", "newline"],
)
def test_a_name_that_is_no_identifier_is_refused(place: Any, collection: Collection[Note]) -> None:
    with pytest.raises(AssertionError):
        place.open(collection)
    place.migrate([NOTES])


# -- files -------------------------------------------------------------------------------------


def test_a_filter_that_went_and_came_back_is_filled_again(file: File) -> None:
    fill(file, NOTES)
    sync = file.open(BARE)
    sync.put("ann", BARE, "n0001", Note("n0001", "new words", 5000, "done", topics=("t",)))
    sync.close()
    removed = f"{ALL_STEPS} ".replace(" ", " -").removesuffix("-")
    assert file.status(NOTES).applied[-1].step == f"collection sample_notes: -{removed}text index"
    sync = file.open(NOTES)
    filters = {"status": ("done",), "topic": ("t",)}
    assert sync.scan("ann", NOTES, where=filters, limit=1).rows[0].id == "n0001"
    assert sync.search("ann", NOTES, {"word1": 1}).rows == ()
    assert len(sync.search("ann", NOTES, {"words": 1}).rows) == 1
    sync.close()


def test_a_step_that_fails_leaves_the_file_as_it_was(file: File) -> None:
    def fail(_: Note) -> str:
        raise ZeroDivisionError

    fill(file, BARE)
    before = file.status(BARE)
    with pytest.raises(ZeroDivisionError):
        file.open(NOTICES, evolve(NOTES, keys={"status": fail}))
    assert file.status(BARE) == before
    sync = file.open(BARE)
    assert len(sync.scan("ann", BARE, limit=9999).rows) == ROWS
    sync.close()


def test_a_path_that_cannot_be_opened_is_let_go(file: File) -> None:
    file.path.mkdir()
    for _ in range(2):
        with pytest.raises(sqlite3.OperationalError):
            file.open(*SAMPLES)


def test_a_file_in_use_is_looked_at_but_not_migrated(file: File) -> None:
    sync = file.open(NOTES)
    assert file.status(*SAMPLES).pending == (
        "collection sample_notices",
        "collection sample_secrets",
    )
    with pytest.raises(StoreBusy):
        file.migrate(SAMPLES)
    with pytest.raises(StoreBusy):
        file.renew_epoch(EPOCH)
    sync.close()
