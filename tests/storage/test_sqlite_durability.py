"""What was acknowledged survives; what failed left nothing; what waits does not wait for ever."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from svc_core.base.drive import Suspended
from svc_core.contract.answer import Answer
from svc_core.operation.ports import (
    FeedPosition,
    Overloaded,
    Position,
    StorageUnavailable,
    Transaction,
)
from svc_core.testing.clock import START
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_core.testing.sync_store import SyncStore, a_change
from svc_http.stores import SqliteStorage, StoreBusy
from svc_http.stores.sqlite import SqliteLimits
from svc_http.stores.sqlite._threads import UNITS_PER_SNAPSHOT
from tests.nursery import DEVNULL, program

KILLS = 20
ACKNOWLEDGED_BEFORE_KILL = 40
EPOCH = b"8 bytes."


def create(id_: str) -> Callable[[Transaction], Awaitable[None]]:
    """A unit as of one request: a document, its change and its kept answer."""

    async def unit(tx: Transaction) -> None:
        await tx.documents.put(NOTES, id_, Note(id_, f"word{id_}", topics=("t",)), expect=0)
        await tx.changes.append(a_change(id_))
        await tx.answers.put("op", id_, Answer(b"f", 201, (), id_.encode(), START))

    return unit


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as loop:
        yield loop


@contextmanager
def open_store(runner: asyncio.Runner, path: Path, **how: Any) -> Iterator[SqliteStorage]:
    store = SqliteStorage.open(path, SAMPLES, epoch=EPOCH, limits=SqliteLimits(**how))
    try:
        yield store
    finally:
        runner.run(store.close())


# -- kill -9 -----------------------------------------------------------------------------------

WRITER = """
import asyncio, sys
from svc_core.testing.sample import SAMPLES
from svc_http.stores import SqliteStorage
from svc_http.stores.sqlite import SqliteLimits
{create}

async def main():
    store = SqliteStorage.open(sys.argv[1], SAMPLES, epoch=b"8 bytes.")
    async def client(number):
        for turn in range(100_000):
            id_ = f"{{sys.argv[2]}}-{{number}}-{{turn}}"
            await store.write("ann", create(id_))
            sys.stdout.write(id_ + "\\n")
            sys.stdout.flush()
    await asyncio.gather(*(client(number) for number in range(8)))

asyncio.run(main())
"""
CREATE = """
from svc_core.contract.answer import Answer
from svc_core.testing.clock import START
from svc_core.testing.sync_store import a_change
from svc_core.testing.sample import NOTES, Note

def create(id_):
    async def unit(tx):
        await tx.documents.put(NOTES, id_, Note(id_, f"word{id_}", topics=("t",)), expect=0)
        await tx.changes.append(a_change(id_))
        await tx.answers.put("op", id_, Answer(b"f", 201, (), id_.encode(), START))
    return unit
"""


def kill_life(path: Path, life: int) -> list[str]:
    """What a writer acknowledged before it was killed amid its work."""
    script = WRITER.format(create=CREATE)
    with program(script, path, life, stderr=DEVNULL) as child:
        lines = [child.stdout.readline() for _ in range(ACKNOWLEDGED_BEFORE_KILL + life)]
        child.kill()
        lines += child.stdout.readlines()
    return [line.strip() for line in lines if line.endswith("\n")]


def test_nothing_acknowledged_is_lost_and_nothing_is_torn(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    path = tmp_path / "svc.db"
    acks = [id_ for life in range(KILLS) for id_ in kill_life(path, life)]
    assert len(acks) >= KILLS * ACKNOWLEDGED_BEFORE_KILL
    with open_store(runner, path) as store:
        sync = SyncStore(store, runner.run)
        page = sync.scan("ann", NOTES, limit=1_000_000).rows
        feed = sync.feed("ann", limit=1_000_000)
        ids = {row.id for row in page}
        assert ids >= set(acks)
        assert {change.id for change in feed.changes} == ids
        assert len(feed.changes) == feed.position.own == len(ids)
        hits = sync.search("ann", NOTES, {f"word{id_}": 1 for id_ in acks[:50]}).rows
        assert {row.id for row in hits} == set(acks[:50])
        for id_ in ids:
            answer = sync.read("ann", lambda tx, id_=id_: tx.answers.get("op", id_))
            assert answer is not None
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM answers").fetchone() == (len(ids),)
    connection.close()


# -- one flush for many ------------------------------------------------------------------------


def test_units_that_wait_together_are_committed_together(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    with open_store(runner, tmp_path / "svc.db") as store:
        runner.run(_gather(store.write("ann", create(f"n{number}")) for number in range(640)))
        assert 10 <= store.version <= 40
        assert len(SyncStore(store, runner.run).scan("ann", NOTES, limit=999).rows) == 640


def test_a_failing_unit_takes_back_its_own_work_alone(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    class Mishap(Exception):  # noqa: N818
        pass

    async def fail(tx: Transaction) -> None:
        await create("lost")(tx)
        raise Mishap

    with open_store(runner, tmp_path / "svc.db") as store:
        units = [fail if number % 3 == 0 else create(f"n{number}") for number in range(60)]
        outcomes = runner.run(_outcomes(store.write("ann", unit) for unit in units))
        assert [type(outcome) for outcome in outcomes] == [Mishap, type(None), type(None)] * 20
        sync = SyncStore(store, runner.run)
        assert len(sync.scan("ann", NOTES, limit=99).rows) == 40
        assert sync.head("ann") == FeedPosition(0, 40)


@pytest.mark.parametrize(("writes", "runs"), [(False, 1), (True, 2)], ids=["early", "late"])
def test_a_unit_runs_again_only_when_one_of_its_commit_fails_after_it_has_written(
    writes: bool, runs: int, runner: asyncio.Runner, tmp_path: Path
) -> None:
    class Mishap(Exception):  # noqa: N818
        pass

    ran: list[str] = []

    def count_run(id_: str) -> Callable[[Transaction], Awaitable[None]]:
        async def unit(tx: Transaction) -> None:
            ran.append(id_)
            await create(id_)(tx)

        return unit

    async def fail(tx: Transaction) -> None:
        if writes:
            await create("lost")(tx)
        raise Mishap

    async def together(store: SqliteStorage) -> list[BaseException | None]:
        with block(store) as hold:
            holding = asyncio.ensure_future(store.write("ann", hold))
            await asyncio.sleep(0)
            units = [count_run("a"), fail, count_run("b")]
            waiting = asyncio.ensure_future(_outcomes(store.write("ann", unit) for unit in units))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        await holding
        return await waiting

    with open_store(runner, tmp_path / "svc.db") as store:
        outcomes = runner.run(together(store))
        assert [type(outcome) for outcome in outcomes] == [type(None), Mishap, type(None)]
        assert ran.count("a") == runs
        assert ran.count("b") == 1
        sync = SyncStore(store, runner.run)
        assert [row.id for row in sync.scan("ann", NOTES).rows] == ["b", "a"]
        assert [change.id for change in sync.feed("ann").changes] == ["a", "b"]
        assert {
            row.id
            for row in sync.search("ann", NOTES, {"worda": 1, "wordb": 1, "wordlost": 1}).rows
        } == {
            "a",
            "b",
        }


class Pause:
    def __await__(self) -> Iterator[None]:
        yield


def test_a_unit_that_waits_for_something_else_is_refused_and_undone(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    async def waits(tx: Transaction) -> None:
        await create("lost")(tx)
        await Pause()

    with open_store(runner, tmp_path / "svc.db") as store:
        sync = SyncStore(store, runner.run)
        with pytest.raises(Suspended):
            sync.write("ann", waits)
        assert sync.get("ann", NOTES, "lost") is None
        sync.write("ann", create("kept"))


def test_a_reader_sees_one_snapshot_however_much_is_written_meanwhile(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    ready, proceed = threading.Event(), threading.Event()

    async def twice(tx: Transaction) -> tuple[int, int]:
        before = await tx.documents.scan(NOTES, limit=9)
        ready.set()
        assert proceed.wait(5)
        after = await tx.documents.scan(NOTES, limit=9)
        return len(before.rows), len(after.rows)

    async def two_reads(store: SqliteStorage) -> tuple[int, int]:
        reading = asyncio.ensure_future(store.read("ann", twice))
        await asyncio.to_thread(ready.wait, 5)
        await store.write("ann", create("new"))
        proceed.set()
        return await reading

    with open_store(runner, tmp_path / "svc.db") as store:
        assert runner.run(two_reads(store)) == (0, 0)
        assert len(SyncStore(store, runner.run).scan("ann", NOTES).rows) == 1


# -- waiters that go away, queues that are full ------------------------------------------------


def test_cancelled_waiters_leave_the_store_usable(runner: asyncio.Runner, tmp_path: Path) -> None:
    async def cancel(store: SqliteStorage) -> None:
        for turn in range(600):
            task = asyncio.ensure_future(store.write("ann", create(f"n{turn}")))
            for _ in range(turn % 3):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    with open_store(runner, tmp_path / "svc.db") as store:
        runner.run(cancel(store))
        sync = SyncStore(store, runner.run)
        sync.write("ann", create("last"))
        rows, feed = sync.scan("ann", NOTES, limit=999).rows, sync.feed("ann", limit=999)
        assert {change.id for change in feed.changes} == {row.id for row in rows}
        assert len(feed.changes) == feed.position.own


@contextmanager
def block(store: SqliteStorage) -> Iterator[Callable[[Transaction], Awaitable[None]]]:
    """A unit that holds the thread it runs on until the block ends."""
    gate = threading.Event()

    async def hold(_: Transaction) -> None:
        assert gate.wait(30)

    try:
        yield hold
    finally:
        gate.set()


def test_reads_beyond_a_slow_batch_are_answered_by_the_other_thread(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    async def burst(store: SqliteStorage) -> None:
        with block(store) as hold:
            # As many as a thread takes, and another tenant's, all handed in within one turn.
            slow = [asyncio.ensure_future(store.read("ann", hold))]
            slow += [
                asyncio.ensure_future(store.read("ann", no_op))
                for _ in range(UNITS_PER_SNAPSHOT - 1)
            ]
            last = asyncio.ensure_future(store.read("bob", no_op))
            await asyncio.wait_for(last, 60)
            assert not slow[0].done()
        await asyncio.gather(*slow)

    async def no_op(_: Transaction) -> None:
        return

    with open_store(runner, tmp_path / "svc.db", readers=2) as store:
        runner.run(burst(store))


def test_a_read_without_end_is_given_up_and_the_next_is_answered(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    numbers = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"

    async def endless(tx: Any) -> Any:
        return await tx.documents._session.rows(f"{numbers} SELECT max(x) FROM n")

    with open_store(runner, tmp_path / "svc.db", readers=1, unit_seconds=0.05) as store:
        with pytest.raises(StorageUnavailable, match="interrupted"):
            runner.run(store.read("ann", endless))
        assert SyncStore(store, runner.run).scan("ann", NOTES, limit=9).rows == ()


def test_a_full_queue_refuses_at_once(runner: asyncio.Runner, tmp_path: Path) -> None:
    async def crowd(store: SqliteStorage) -> list[object]:
        with block(store) as hold:
            first = asyncio.ensure_future(store.write("ann", hold))
            tasks: list[asyncio.Future[None]] = []
            failures: list[object] = []
            while not failures:
                task = asyncio.ensure_future(store.write("ann", create(f"n{len(tasks)}")))
                await asyncio.sleep(0)
                if task.done():
                    failures.append(task.exception())
                else:
                    tasks.append(task)
        await asyncio.gather(first, *tasks)
        return [len(tasks), *failures]

    with open_store(runner, tmp_path / "svc.db", units_waiting=10, units_per_commit=1) as store:
        waiting, refusal = runner.run(crowd(store))
        assert waiting in (4, 5)
        assert isinstance(refusal, Overloaded)
        rows = SyncStore(store, runner.run).scan("ann", NOTES, limit=99).rows
        assert len(rows) == waiting


def test_a_wait_that_is_too_long_ends(runner: asyncio.Runner, tmp_path: Path) -> None:
    async def wait(store: SqliteStorage) -> None:
        with block(store) as hold:
            holding = asyncio.ensure_future(store.write("ann", hold))
            await asyncio.sleep(0)
            with pytest.raises(StorageUnavailable, match="too long"):
                await store.write("ann", create("late"))
        await holding
        await store.write("ann", create("later"))

    with open_store(runner, tmp_path / "svc.db", wait_seconds=0.5, units_per_commit=1) as store:
        runner.run(wait(store))
        assert [row.id for row in SyncStore(store, runner.run).scan("ann", NOTES).rows] == ["later"]


def test_a_closed_store_refuses_and_an_abandoned_loop_harms_nobody(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    store = SqliteStorage.open(tmp_path / "svc.db", SAMPLES, epoch=EPOCH)
    with block(store) as hold, asyncio.Runner() as spare:
        task = spare.get_loop().create_task(store.write("ann", hold))
        spare.run(asyncio.sleep(0))
        task.cancel()
    runner.run(store.write("ann", create("kept")))
    runner.run(store.close())
    with pytest.raises(StorageUnavailable, match="closed"):
        runner.run(store.read("ann", lambda tx: tx.documents.get(NOTES, "kept")))


# -- one process, a full disk ------------------------------------------------------------------


def test_a_second_owner_is_told_who_the_first_is(runner: asyncio.Runner, tmp_path: Path) -> None:
    path = tmp_path / "svc.db"
    with open_store(runner, path), pytest.raises(StoreBusy, match=f"process {os.getpid()};"):
        SqliteStorage.open(path, SAMPLES, epoch=EPOCH)
    with open_store(runner, path):
        pass


def test_a_full_disk_refuses_writes_and_reads_go_on(runner: asyncio.Runner, tmp_path: Path) -> None:
    with open_store(runner, tmp_path / "svc.db") as store:
        sync = SyncStore(store, runner.run)
        sync.write("ann", create("first"))
        full = store._writer.connection.execute("PRAGMA page_count").fetchone()[0]
        store._writer.connection.execute(f"PRAGMA max_page_count={full}")
        outcomes = runner.run(
            _outcomes(store.write("ann", create(f"n{number}")) for number in range(400))
        )
        failures = [outcome for outcome in outcomes if outcome is not None]
        assert failures
        assert {type(outcome) for outcome in failures} == {StorageUnavailable}
        rows = sync.scan("ann", NOTES, limit=999).rows
        assert len(rows) == 1 + len(outcomes) - len(failures)
        assert sync.head("ann").own == len(rows)
        store._writer.connection.execute("PRAGMA max_page_count=1000000")
        sync.write("ann", create("room again"))
        assert sync.get("ann", NOTES, "room again") is not None


def test_a_failing_commit_fails_every_unit_of_it(runner: asyncio.Runner, tmp_path: Path) -> None:
    with open_store(runner, tmp_path / "svc.db") as store:
        connection = store._writer.connection
        connection.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
        connection.execute(
            "CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)"
        )

        async def orphan(_: Transaction) -> None:
            connection.execute("INSERT INTO child VALUES (1)")

        units = [create("a"), orphan, create("b")]
        outcomes = runner.run(_outcomes(store.write("ann", unit) for unit in units))
        failures = [outcome for outcome in outcomes if outcome is not None]
        sync = SyncStore(store, runner.run)
        count = len(sync.scan("ann", NOTES).rows)
        assert len(failures) + count == 3
        assert failures
        assert all(isinstance(outcome, sqlite3.IntegrityError) for outcome in failures)
        sync.write("ann", create("c"))


def test_a_lost_snapshot_fails_its_reads_and_later_ones_go_on(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    with open_store(runner, tmp_path / "svc.db", readers=1) as store:

        async def lose(_: Transaction) -> None:
            store._readers[0].connection.execute("ROLLBACK")

        sync = SyncStore(store, runner.run)
        with pytest.raises(sqlite3.OperationalError):
            sync.read("ann", lose)
        assert sync.scan("ann", NOTES).rows == ()


def test_a_page_walk_repeats_and_loses_nothing_while_rows_are_inserted(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    async def note(store: SqliteStorage, number: int, name: str) -> None:
        value = Note(f"{name}{number}", "", written=number)
        await store.write("ann", lambda tx: tx.documents.put(NOTES, value.id, value))

    async def walk(store: SqliteStorage) -> list[str]:
        await _gather(note(store, number, "old") for number in range(300))
        inserting = asyncio.gather(*(note(store, number, "new") for number in range(300)))
        ids: list[str] = []
        after: Position | None = None
        while True:
            page = await store.read(
                "ann", lambda tx, after=after: tx.documents.scan(NOTES, after=after, limit=7)
            )
            ids += [row.id for row in page.rows]
            after = page.end
            if after is None:
                await inserting
                return ids

    with open_store(runner, tmp_path / "svc.db") as store:
        ids = runner.run(walk(store))
        assert len(ids) == len(set(ids))
        old = [id_ for id_ in ids if id_.startswith("old")]
        assert old == [f"old{number}" for number in reversed(range(300))]


async def _gather(work: Any) -> None:
    await asyncio.gather(*work)


async def _outcomes(work: Any) -> list[BaseException | None]:
    return await asyncio.gather(*work, return_exceptions=True)
