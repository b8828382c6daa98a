"""A copied store says what the first one did, goes on where it stood, and is whole or not there."""

import asyncio
import signal
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, get_args

import asyncpg
import pytest
from attrs import evolve
from hypothesis import HealthCheck
from hypothesis.stateful import run_state_machine_as_test

from svc_core.contract.answer import Answer
from svc_core.ledger.append.batches import stored_line
from svc_core.ledger.log.record_seals import TreeHead, seal_batch
from svc_core.ledger.records import Draft, encode_line, split_line
from svc_core.operation.host import Progress, silent
from svc_core.operation.ports import (
    Change,
    ChangeType,
    FeedPosition,
    LedgerHead,
    StorageUnavailable,
    Transaction,
)
from svc_core.testing.clock import START
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_core.testing.sealed_lines import Growth, record_time
from svc_core.testing.storage_agreement import agreement_machine
from svc_core.testing.sync_store import SyncStore
from svc_http.stores import MemoryStorage, SqliteStorage, StoreBusy
from svc_http.stores import copies as copying
from svc_http.stores.contents import BATCH_ROWS, CHANGES, LINES, CopyTarget, Part, Row
from svc_http.stores.copies import CopyReport
from svc_http.stores.errors import CopyRefused
from svc_http.stores.postgres import PostgresStorage
from svc_http.stores.postgres import database_copy as tables
from svc_http.stores.sqlite import file_copy as files
from svc_http.stores.sqlite.file_lock import FileLock
from tests.nursery import program
from tests.postgres import EPOCH, PostgresServer
from tests.sampling import examples

EXAMPLES = examples(
    12,
    stateful_step_count=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as loop:
        yield loop


ROOT = Path(__file__).parents[2]
LEDGER = "led_0123456789abcdef01234567"

Place = Path | str
"""Where a store is: a file, or the address of a database."""


def reading(place: Place) -> Any:
    if isinstance(place, Path):
        return files.file_source(place, SAMPLES, is_alone=True)
    return tables.database_source(place)


def filling(place: Place, epoch: bytes = EPOCH) -> Any:
    if isinstance(place, Path):
        return files.file_target(place, SAMPLES, epoch)
    return tables.database_target(place, SAMPLES, epoch)


async def copy(source: Place, target: Place, **how: Any) -> CopyReport:
    async with reading(source) as reader, filling(target, await reader.epoch()) as writer:
        return await copying.copy_store(
            reader, writer, SAMPLES, **{"with_seals": False, "tell": silent, **how}
        )


class Places:
    """Stores, each where it is; new ones are made for the samples."""

    def __init__(self, runner: asyncio.Runner, folder: Path, postgres: PostgresServer) -> None:
        self._runner = runner
        self._folder = folder
        self._postgres = postgres
        self._numbers = count()
        self._places: dict[object, Place] = {}

    def file(self) -> Path:
        return self._folder / f"{next(self._numbers)}.db"

    def database(self) -> str:
        return self._postgres.made_for(SAMPLES)

    def place(self, kind: str) -> Place:
        return self.file() if kind == "file" else self.database()

    def open_store(self, place: Place, epoch: bytes = EPOCH) -> Any:
        store: Any
        if isinstance(place, Path):
            store = SqliteStorage.open(place, SAMPLES, epoch=epoch)
        else:
            store = self._runner.run(PostgresStorage.open(place, SAMPLES, epoch=epoch))
        self._places[store] = place
        return store

    def move(self, store: object, *way: Callable[[], Place]) -> Any:
        """The store as it arrives from place to place."""
        place = self._places.pop(store)
        for make in way:
            target = make()
            self._runner.run(copy(place, target))
            place = target
        return self.open_store(place, b"not this")


@pytest.fixture
def places(runner: asyncio.Runner, tmp_path: Path, postgres: PostgresServer) -> Places:
    return Places(runner, tmp_path, postgres)


def test_a_store_says_the_same_wherever_it_is_copied(
    runner: asyncio.Runner, places: Places
) -> None:
    machine = agreement_machine(
        {
            "memory": lambda: MemoryStorage(SAMPLES, epoch=EPOCH),
            "sqlite": lambda: places.open_store(places.file()),
            "postgres": lambda: places.open_store(places.database()),
        },
        runner.run,
        reopen={
            "sqlite": lambda store: places.move(store, places.database, places.file),
            "postgres": lambda store: places.move(store, places.database),
        },
    )
    run_state_machine_as_test(machine, settings=EXAMPLES)


# -- what a copy holds -------------------------------------------------------------------------

KINDS = ("file", "database")
WAYS = [(source, target) for source in KINDS for target in KINDS]
CHANGE_TYPES: tuple[ChangeType, ...] = get_args(ChangeType)
NOTES_MADE = 2 * BATCH_ROWS + 50
LINES_MADE = 300
ANSWER = Answer(b"f" * 32, 201, (("ETag", '"1"'), ("Location", "/é")), b"\x00{}", START)


def a_change(number: int, *, for_all: bool = False) -> Change:
    """A change of any kind, which says all that there is to say of one."""
    kind: ChangeType = CHANGE_TYPES[number % len(CHANGE_TYPES)]
    change = Change(f"chg_{number}", kind, "note", f"n{number}", 1, START, None, for_all)
    if kind == "created":
        return change
    state = '"é"'.encode()
    return evolve(
        change, changed_fields=("a",), last_state=state, merged_into_id="n0", owner="usr_a"
    )


def draft(number: int, subject: str | None = None, target: str | None = None) -> Draft:
    """A subject of its own, or the erasure of a record about one."""
    members = {"reason": "a request"} if target else {"type": "other", "label": f"subject {number}"}
    payload = {**members, "salt": f"{number:022}"}
    kind: Any = "claim" if target else "subject"
    return Draft(kind, "erase" if target else "assert", subject, target, None, None, None, payload)


def seal(head: TreeHead, *drafts: Draft) -> tuple[Growth, TreeHead]:
    """An append, and the head after it."""
    batch = seal_batch(head, drafts, record_time(head.size))
    lines = [
        stored_line(*parts) for parts in zip(batch.records, batch.seals, batch.lines, strict=True)
    ]
    after = LedgerHead(batch.head.size, batch.head.encode())
    return Growth(tuple(lines), batch.nodes, after, head.size), batch.head


@pytest.fixture
def fill_place(places: Places, runner: asyncio.Runner) -> Callable[[Place], TreeHead]:
    """Fills a place with something of everything; the head of Ann's ledger in it."""

    async def rows(tx: Transaction) -> None:
        for number in range(NOTES_MADE):
            note = Note(f"n{number:04}", f"word{number}", number, topics=("t", "u"), weight=number)
            await tx.documents.put(NOTES, note.id, note)
        await tx.documents.put(NOTES, "n0000", Note("n0000", "again"))
        await tx.answers.put("create", "key", ANSWER)
        await tx.ledger.keep_checkpoint("2026-01-01", 1, b"signed")

    def fill(place: Place) -> TreeHead:
        sync = SyncStore(places.open_store(place), runner.run)
        sync.write("ann", rows)
        first, head = seal(TreeHead.empty(LEDGER), *map(draft, range(LINES_MADE)))
        sync.seal("ann", first)
        victim = first.lines[7]
        growth, head = seal(head, draft(LINES_MADE, victim.subject, victim.id))
        parts = split_line(victim.line)
        blank = encode_line(parts.head, None, parts.seal.decode())
        sync.seal("ann", growth)
        sync.write("ann", lambda tx: tx.ledger.erase(victim.id, blank))
        for number in range(4):
            sync.append("ann", a_change(number))
            sync.append("", a_change(10 + number, for_all=True))
        sync.append("bob", a_change(20))
        sync.close()
        return head

    return fill


@pytest.mark.parametrize("way", WAYS, ids=" to ".join)
def test_all_is_counted_on_both_sides_and_every_seal_is_recomputed(
    way: tuple[str, str], places: Places, runner: asyncio.Runner, fill_place: Any
) -> None:
    source, target = map(places.place, way)
    head = fill_place(source)
    news: list[Progress] = []

    report = runner.run(copy(source, target, with_seals=True, tell=news.append))

    assert report.source.counts == report.target.counts
    assert report.target.counts == {
        ("sample_notes", "ann"): NOTES_MADE,
        ("changes", "/ann"): 4,
        ("changes", "*"): 4,
        ("changes", "/bob"): 1,
        ("answers", "ann"): 1,
        ("ledgers", "ann"): 1,
        ("ledger_lines", "ann"): LINES_MADE + 1,
        ("ledger_nodes", "ann"): 1,
        ("ledger_checkpoints", "ann"): 1,
    }
    assert report.ledgers == {"ann": head}
    assert news[-1].done == news[-1].total == 2 * report.source.counts.total()
    assert [part.done for part in news] == sorted(part.done for part in news)


@pytest.mark.parametrize("way", WAYS, ids=" to ".join)
def test_a_reader_of_the_feed_goes_on_in_the_copy_without_a_gap(
    way: tuple[str, str], places: Places, runner: asyncio.Runner, fill_place: Any
) -> None:
    source, target = map(places.place, way)
    fill_place(source)
    sync = SyncStore(places.open_store(source), runner.run)
    page = sync.feed("ann", limit=3)
    rest = sync.feed("ann", page.position)
    sync.close()

    runner.run(copy(source, target))

    sync = SyncStore(places.open_store(target, b"not this"), runner.run)
    assert sync.read("ann", lambda tx: tx.changes.epoch()) == EPOCH
    assert sync.feed("ann", page.position) == rest
    assert [change.id for change in rest.changes] == [
        "chg_11",
        "chg_2",
        "chg_12",
        "chg_3",
        "chg_13",
    ]
    sync.append("ann", a_change(30))
    sync.append("", a_change(31, for_all=True))
    news = sync.feed("ann", rest.position)
    assert [change.id for change in news.changes] == ["chg_30", "chg_31"]
    assert news.position == FeedPosition(5, 5)
    sync.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_restored_feed_has_another_life(
    kind: str, places: Places, runner: asyncio.Runner, fill_place: Any
) -> None:
    source, target = places.file(), places.place(kind)
    fill_place(source)

    async def restore() -> None:
        async with reading(source) as reader, filling(target, b"restored") as writer:
            await copying.copy_store(reader, writer, SAMPLES, with_seals=False, tell=silent)

    runner.run(restore())
    sync = SyncStore(places.open_store(target), runner.run)
    assert sync.read("ann", lambda tx: tx.changes.epoch()) == b"restored"
    sync.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_is_read_as_it_was_when_the_copy_began(
    kind: str, places: Places, runner: asyncio.Runner, fill_place: Any
) -> None:
    source, target = places.place(kind), places.file()
    fill_place(source)
    sync = SyncStore(places.open_store(source), runner.run)

    async def backed_up() -> CopyReport:
        alone: Any = {"is_alone": False}
        shared = (
            tables.database_source(source)
            if kind == "database"
            else files.file_source(source, SAMPLES, **alone)
        )
        async with shared as reader, filling(target, await reader.epoch()) as writer:
            await sync.store.write("ann", lambda tx: tx.documents.delete(NOTES, "n0001"))
            await sync.store.write("ann", lambda tx: tx.changes.append(a_change(5)))
            return await copying.copy_store(reader, writer, SAMPLES, with_seals=True, tell=silent)

    counts = runner.run(backed_up()).target.counts
    assert (counts["sample_notes", "ann"], counts["changes", "/ann"]) == (NOTES_MADE, 4)
    sync.close()


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_place_with_something_in_it_is_left_alone(
    kind: str, places: Places, runner: asyncio.Runner, fill_place: Any
) -> None:
    source, target = places.file(), places.place(kind)
    fill_place(source)
    sync = SyncStore(places.open_store(target), runner.run)
    sync.append("bob", a_change(1))
    sync.close()

    with pytest.raises(CopyRefused, match="not empty"):
        runner.run(copy(source, target))

    sync = SyncStore(places.open_store(target), runner.run)
    assert [change.id for change in sync.feed("bob").changes] == ["chg_1"]
    assert sync.get("ann", NOTES, "n0000") is None
    sync.close()


def test_a_file_with_nothing_in_it_is_filled(
    places: Places, runner: asyncio.Runner, fill_place: Any
) -> None:
    source, empty, copy_file, spare = (places.file() for _ in range(4))
    fill_place(source)
    empty.touch()
    SyncStore(places.open_store(copy_file), runner.run).close()
    spare.write_text("Of somebody else.")
    for target in (empty, copy_file):
        runner.run(copy(source, target))
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
    for target in (spare, spare.parent):
        with pytest.raises(CopyRefused, match="not empty"):
            runner.run(copy(source, target))
    with pytest.raises(CopyRefused, match="cannot be used: No such file or directory"):
        runner.run(copy(source, places.file() / "no" / "such.db"))
    assert spare.read_text() == "Of somebody else."


def test_a_file_in_use_is_neither_copied_nor_filled(
    places: Places, runner: asyncio.Runner, fill_place: Any
) -> None:
    source, target = places.file(), places.file()
    fill_place(source)
    for busy in (source, target):
        lock = FileLock(busy)
        with pytest.raises(StoreBusy):
            runner.run(copy(source, target))
        lock.release()
    assert not target.exists()


def test_a_database_is_filled_by_one_copy_at_a_time(
    places: Places, runner: asyncio.Runner, fill_place: Any
) -> None:
    source, target = places.file(), places.database()
    fill_place(source)

    async def twice() -> None:
        async with reading(source) as reader, filling(target) as writer:
            await copying.copy_store(reader, writer, SAMPLES, with_seals=False, tell=silent)
            with pytest.raises(StorageUnavailable):
                async with filling(target):
                    pass

    runner.run(twice())
    SyncStore(places.open_store(target), runner.run).close()


class FaultyTarget:
    """A place that is being filled, with a fault."""

    def __init__(
        self, target: CopyTarget, fault: Callable[[Part, Sequence[Row]], Sequence[Row]]
    ) -> None:
        self._target = target
        self._fault = fault
        self.count, self.rows, self.epoch = target.count, target.rows, target.epoch

    async def add(self, part: Part, rows: Sequence[Row]) -> None:
        await self._target.add(part, self._fault(part, rows))


def lose_row(part: Part, rows: Sequence[Row]) -> Sequence[Row]:
    return rows[1:] if part is NOTES else rows


def alter_row(part: Part, rows: Sequence[Row]) -> Sequence[Row]:
    if part != LINES:
        return rows
    return [(*row[:-1], row[-1].replace(b"subject 5", b"subject X")) for row in rows]


def invert_rows(part: Part, rows: Sequence[Row]) -> Sequence[Row]:
    return rows[::-1] if part == CHANGES else rows


FAULTS = [
    (lose_row, "sample_notes of ann are 250 in the source and 247 in the copy"),
    (alter_row, "the rows of ledger_lines are as many, and say something else"),
    (invert_rows, "the rows of changes are as many, and say something else"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("fault", "words"), FAULTS, ids=["lost", "altered", "inverted"])
def test_a_copy_that_says_something_else_is_given_up(
    kind: str, fault: Any, words: str, places: Places, runner: asyncio.Runner, fill_place: Any
) -> None:
    source, target = places.file(), places.place(kind)
    fill_place(source)

    async def work() -> None:
        async with reading(source) as reader, filling(target) as writer:
            await copying.copy_store(
                reader, FaultyTarget(writer, fault), SAMPLES, with_seals=True, tell=silent
            )

    with pytest.raises(CopyRefused, match=words):
        runner.run(work())
    runner.run(copy(source, target))


ALTER_SQL = "CAST(replace({0}, '{1}', '{2}') AS BLOB)"
DAMAGES = [
    f"UPDATE ledger_bodies SET line = {ALTER_SQL.format('line', 'subject 5', 'subject X')}",
    f"UPDATE ledgers SET state = {ALTER_SQL.format('state', '301', '304')}",
    "UPDATE ledgers SET state = CAST('no head' AS BLOB)",
    "DELETE FROM ledger_lines WHERE subject = (SELECT max(subject) FROM ledger_lines)",
]


@pytest.mark.parametrize("damage", DAMAGES, ids=["line", "size", "head", "cut"])
def test_a_ledger_that_is_not_what_was_sealed_is_told_and_not_moved(
    damage: str, places: Places, runner: asyncio.Runner, fill_place: Any
) -> None:
    source, target = places.file(), places.file()
    fill_place(source)
    with closing(sqlite3.connect(source)) as connection:
        connection.execute(damage)
        connection.commit()
    with pytest.raises(CopyRefused, match="ledger of ann is not what was sealed"):
        runner.run(copy(source, target, with_seals=True))
    assert not target.exists()
    assert runner.run(copy(source, target)).ledgers == {}  # as a backup, which keeps what is there


# -- a copy that is killed ---------------------------------------------------------------------

KILL_SCRIPT = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.storage import test_copying as these

def tell(progress):
    if progress.done >= int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

source, target = sys.argv[1:3]
place = target if "://" in target else Path(target)
asyncio.run(these.copy(Path(source), place, tell=tell))
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_that_is_killed_is_no_database_until_it_was_repeated(
    kind: str, places: Places, runner: asyncio.Runner, fill_place: Any
) -> None:
    source, target = places.file(), places.place(kind)
    fill_place(source)
    for rows in (1, NOTES_MADE + 10, 2 * NOTES_MADE):
        process = program(KILL_SCRIPT, source, target, rows)
        assert (*process.communicate(), process.returncode) == ("", "", -signal.SIGKILL)
        with pytest.raises(
            (sqlite3.DatabaseError, CopyRefused), match=r"not a database|not finished"
        ):
            places.open_store(target)
        with pytest.raises((CopyRefused, sqlite3.DatabaseError)):
            runner.run(copy(target, places.file()))
    runner.run(copy(source, target))
    sync = SyncStore(places.open_store(target), runner.run)
    assert sync.get("ann", NOTES, "n0000").version == 2
    sync.close()
    if isinstance(target, Path):
        assert [*target.parent.glob(f"{target.name}.new*")] == []


def test_a_server_that_goes_away_is_told_and_leaves_a_copy_that_is_not_finished(
    places: Places, runner: asyncio.Runner, fill_place: Any
) -> None:
    source, target = places.file(), places.database()
    fill_place(source)
    sessions = (
        "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )

    async def cut() -> None:
        async with reading(source) as reader, filling(target) as writer:
            connection = await asyncpg.connect(target)
            await connection.execute(f"SELECT pg_terminate_backend(pid) {sessions}")
            await connection.close()
            await copying.copy_store(reader, writer, SAMPLES, with_seals=False, tell=silent)

    with pytest.raises(StorageUnavailable, match="PostgreSQL: "):
        runner.run(cut())
    with pytest.raises(CopyRefused, match="not finished"):
        places.open_store(target)
    runner.run(copy(source, target))
    SyncStore(places.open_store(target), runner.run).close()
