"""Units on PostgreSQL: turns and limits, what runs again, what a snapshot shows."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from svc_core.operation.ports import (
    DuplicateRecordError,
    FeedPosition,
    Overloaded,
    StaleVersionError,
    StorageUnavailable,
    Transaction,
)
from svc_core.testing.promises.bench import Mishap, an_answer
from svc_core.testing.sample import NOTES, Note
from svc_core.testing.sealed_lines import plain_growth
from svc_core.testing.sync_store import a_change
from svc_http.stores.postgres import PostgresStorage
from tests.postgres import SAMPLES, PostgresServer, open_store


@pytest.fixture
def dsn(postgres: PostgresServer) -> str:
    return postgres.made_for(SAMPLES)


def create(id_: str) -> Callable[[Transaction], Awaitable[None]]:
    async def unit(tx: Transaction) -> None:
        await tx.documents.put(NOTES, id_, Note(id_, f"word{id_}", topics=("t",)), expect=0)
        await tx.changes.append(a_change(id_))
        await tx.answers.put("op", id_, an_answer(id_.encode()))

    return unit


async def note_ids(store: PostgresStorage, tenant: str = "ann") -> list[str]:
    page = await store.read(tenant, lambda tx: tx.documents.scan(NOTES, limit=999))
    return sorted(row.id for row in page.rows)


async def change_ids(store: PostgresStorage, tenant: str = "ann") -> list[str]:
    page = await store.read(tenant, lambda tx: tx.changes.read(FeedPosition(), limit=999))
    return [change.id for change in page.changes]


async def outcomes_of(*works: Awaitable[Any]) -> list[Any]:
    return await asyncio.gather(*works, return_exceptions=True)


# -- what runs again ---------------------------------------------------------------------------


def test_units_that_wait_together_are_committed_together(dsn: str) -> None:
    async def main() -> None:
        async with open_store(dsn) as store:
            version = store.version
            await outcomes_of(
                *(store.write("ann", create(f"n{number:03}")) for number in range(200))
            )
            assert len(await note_ids(store)) == len(await change_ids(store)) == 200
            assert store.version - version <= 200 // 64 + 2

    asyncio.run(main())


def test_a_unit_runs_again_only_when_one_of_its_commit_fails_after_it_has_written(
    dsn: str,
) -> None:
    runs: dict[str, int] = {}

    def count_run(id_: str, fails: str = "") -> Callable[[Transaction], Awaitable[str]]:
        async def unit(tx: Transaction) -> str:
            runs[id_] = runs.get(id_, 0) + 1
            if fails == "early":
                await tx.documents.get(NOTES, id_)
                raise Mishap
            await create(id_)(tx)
            if fails == "late":
                raise Mishap
            return id_

        return unit

    async def main() -> None:
        async with open_store(dsn) as store:
            early = [count_run("a"), count_run("lost", "early"), count_run("b")]
            results = await outcomes_of(*(store.write("ann", unit) for unit in early))
            assert (results[0], type(results[1]), results[2]) == ("a", Mishap, "b")
            assert runs == {"a": 1, "lost": 1, "b": 1}
            late = [count_run("c"), count_run("gone", "late"), count_run("d")]
            results = await outcomes_of(*(store.write("ann", unit) for unit in late))
            assert (results[0], type(results[1]), results[2]) == ("c", Mishap, "d")
            assert runs == {"a": 1, "lost": 1, "b": 1, "c": 2, "gone": 2, "d": 1}
            with pytest.raises(Mishap):
                await store.write("ann", count_run("alone", "late"))
            assert runs["alone"] == 1
            assert await note_ids(store) == await change_ids(store) == ["a", "b", "c", "d"]

    asyncio.run(main())


def test_a_statement_that_fails_takes_back_its_unit_alone_even_when_that_is_swallowed(
    dsn: str,
) -> None:
    async def fail(tx: Transaction) -> None:
        await create("lost")(tx)
        await tx.documents.get(NOTES, "\x00")  # which no text of PostgreSQL holds

    async def swallow(tx: Transaction) -> None:
        with suppress(Exception):
            await fail(tx)

    async def main() -> None:
        async with open_store(dsn) as store:
            units = [create("a"), fail, swallow, create("b")]
            results = await outcomes_of(*(store.write("ann", unit) for unit in units))
            assert results[0] is results[3] is None
            assert [isinstance(outcome, Exception) for outcome in results[1:3]] == [True, True]
            assert isinstance((await outcomes_of(store.write("ann", swallow)))[0], Exception)
            assert await note_ids(store) == await change_ids(store) == ["a", "b"]

    asyncio.run(main())


def test_a_record_that_is_there_already_is_refused_to_its_unit_and_the_others_commit(
    dsn: str,
) -> None:
    def seal(id_: str) -> Callable[[Transaction], Awaitable[int]]:
        async def unit(tx: Transaction) -> int:
            head = await tx.ledger.head()
            size = 0 if head is None else head.size
            await tx.ledger.append(*plain_growth(size, id_)[:3], expect=size)
            await tx.changes.append(a_change(id_))
            return size

        return unit

    async def two_units(tx: Transaction) -> None:
        await seal("c")(tx)
        assert len(await tx.ledger.lines(0, 9)) == 3
        try:
            await seal("a")(tx)
        except DuplicateRecordError:
            await seal("d")(tx)

    async def main() -> None:
        async with open_store(dsn) as store:
            await store.write("ann", seal("a"))
            results = await outcomes_of(*(store.write("ann", seal(id_)) for id_ in "bab"))
            assert [type(outcome) for outcome in results] == [
                int,
                DuplicateRecordError,
                DuplicateRecordError,
            ]
            await store.write("ann", two_units)
            head = await store.read("ann", lambda tx: tx.ledger.head())
            assert head is not None
            assert head.size == 4
            assert await change_ids(store) == ["a", "b", "c", "d"]

    asyncio.run(main())


def test_a_unit_whose_waiter_is_gone_runs_whole(dsn: str) -> None:
    async def main() -> None:
        async with open_store(dsn) as store:
            for turn in range(5):
                works = [
                    asyncio.ensure_future(store.write("ann", create(f"{turn}-{number}")))
                    for number in range(20)
                ]
                await asyncio.sleep(0)
                for work in works[::2]:
                    work.cancel()
                await outcomes_of(*works)
            await store.write("ann", create("last"))
            ids = await note_ids(store)
            assert len(ids) == 101
            assert sorted(await change_ids(store)) == ids

    asyncio.run(main())


# -- turns and limits --------------------------------------------------------------------------


def test_a_tenant_with_much_to_do_holds_up_nobody(dsn: str) -> None:
    order: list[str] = []

    def note_unit(tenant: str) -> Callable[[Transaction], Awaitable[None]]:
        async def unit(tx: Transaction) -> None:
            await tx.documents.get(NOTES, "a")
            order.append(tenant)

        return unit

    async def main() -> None:
        for run in ("read", "write"):
            async with open_store(dsn, writers=1, readers=1) as store:
                order.clear()
                tasks = [getattr(store, run)("ann", note_unit("ann")) for _ in range(1000)]
                few = [getattr(store, run)("bob", note_unit("bob")) for _ in range(3)]
                await asyncio.gather(*tasks, *few)
                assert max(at for at, name in enumerate(order) if name == "bob") < 150

    asyncio.run(main())


def test_a_tenant_that_waits_for_another_process_holds_up_nobody(dsn: str) -> None:
    async def main() -> None:
        release, ready = asyncio.Event(), asyncio.Event()

        async def hold(_: Transaction) -> None:
            ready.set()
            await release.wait()

        async with open_store(dsn) as second, open_store(dsn) as store:
            holding = asyncio.ensure_future(second.write("ann", hold))
            await ready.wait()
            waiting = asyncio.ensure_future(store.write("ann", create("late")))
            await store.write("bob", create("soon"))
            assert not waiting.done()
            release.set()
            await asyncio.gather(holding, waiting)
            assert await note_ids(store) == ["late"]

    asyncio.run(main())


def test_a_full_queue_refuses_at_once_and_one_tenant_fills_half_of_it(dsn: str) -> None:
    async def main() -> None:
        release, ready = asyncio.Event(), asyncio.Event()

        async def hold(_: Transaction) -> None:
            ready.set()
            await release.wait()

        async with open_store(dsn, writers=1, units_waiting=8) as store:
            holding = asyncio.ensure_future(store.write("ann", hold))
            await ready.wait()
            waiting = []
            for tenant, count in (("ann", 4), ("bob", 4)):
                waiting += [
                    asyncio.ensure_future(store.write(tenant, create(f"n{number}")))
                    for number in range(count)
                ]
                await asyncio.sleep(0)
                with pytest.raises(Overloaded):
                    await store.write(tenant, create("more"))
            with pytest.raises(Overloaded):
                await store.write("cat", create("more"))
            release.set()
            await asyncio.gather(holding, *waiting)
            assert len(await note_ids(store)) == len(await note_ids(store, "bob")) == 4

    asyncio.run(main())


def test_a_wait_that_is_too_long_ends(dsn: str) -> None:
    async def main() -> None:
        release, ready = asyncio.Event(), asyncio.Event()

        async def hold(_: Transaction) -> None:
            ready.set()
            await release.wait()

        async with open_store(dsn, writers=1, wait_seconds=0.1) as store:
            holding = asyncio.ensure_future(store.write("ann", hold))
            await ready.wait()
            for tenant in ("ann", "bob"):
                with pytest.raises(StorageUnavailable, match="waited too long"):
                    await store.write(tenant, create("late"))
            release.set()
            await holding
            await store.write("ann", create("next"))
            assert await note_ids(store) == ["next"]

    asyncio.run(main())


def test_a_unit_that_waits_for_something_else_is_given_up(dsn: str) -> None:
    async def forever(tx: Transaction) -> None:
        await tx.documents.get(NOTES, "a")
        await asyncio.Event().wait()

    async def main() -> None:
        async with open_store(dsn, stall_seconds=0.2) as store:
            for run in (store.write, store.read):
                with pytest.raises(StorageUnavailable, match="does not answer"):
                    await run("ann", forever)
            await store.write("ann", create("next"))
            assert await note_ids(store) == ["next"]

    asyncio.run(main())


def test_a_closed_store_refuses_and_one_that_closes_finishes(dsn: str) -> None:
    async def main() -> None:
        async with open_store(dsn) as store:
            works = [
                asyncio.ensure_future(store.write(f"t{n % 9}", create(f"{n}"))) for n in range(50)
            ]
            await asyncio.sleep(0)
        assert await asyncio.gather(*works) == [None] * 50
        with pytest.raises(StorageUnavailable, match="closed"):
            await store.read("ann", lambda tx: tx.changes.head())

    asyncio.run(main())


# -- snapshots ---------------------------------------------------------------------------------


def test_a_unit_that_is_known_to_ask_once_still_sees_one_snapshot_when_it_asks_again(
    dsn: str,
) -> None:
    """A unit of the same code asks once, then several times, while rows change in between."""

    async def main() -> None:
        async with open_store(dsn) as store:
            between: list[Callable[[], Awaitable[None]]] = []

            def look(*ids: str) -> Callable[[Transaction], Awaitable[list[int]]]:
                async def unit(tx: Transaction) -> list[int]:
                    page = []
                    for id_ in ids:
                        row = await tx.documents.get(NOTES, id_)
                        page.append(0 if row is None else row.version)
                        while between:
                            await between.pop()()
                    return page

                return unit

            async def two_reads(tx: Transaction) -> None:
                for id_ in ("a", "b"):
                    await tx.documents.put(NOTES, id_, Note(id_, ""))

            async def write() -> None:
                await store.write("ann", two_reads)

            async def elsewhere() -> None:
                await store.write("bob", two_reads)

            await write()
            assert await store.read("ann", look("a")) == [1]
            between.append(elsewhere)
            assert await store.read("ann", look("a", "b")) == [1, 1]
            assert await store.read("ann", look("a")) == [1]
            between.append(write)
            assert await store.read("ann", look("a", "b")) == [1, 1]
            fresh = await PostgresStorage.open(dsn, SAMPLES, epoch=bytes(8))
            assert await fresh.read("ann", look("a")) == [2]
            assert await fresh.read("ann", look("b")) == [2]
            between.append(write)
            assert await fresh.read("ann", look("a", "b")) == [3, 3]
            await fresh.close()

    asyncio.run(main())


def test_a_statement_that_fails_ends_only_its_own_reading_unit(dsn: str) -> None:
    async def main() -> None:
        async with open_store(dsn, readers=1) as store:
            await store.write("ann", create("a"))
            good = [store.read("ann", lambda tx: tx.documents.get(NOTES, "a")) for _ in range(3)]
            bad = store.read("ann", lambda tx: tx.documents.get(NOTES, "\x00"))
            results = await outcomes_of(good[0], bad, *good[1:])
            assert [isinstance(outcome, Exception) for outcome in results] == [
                False,
                True,
                False,
                False,
            ]

    asyncio.run(main())


def test_a_stale_write_is_told_the_version_that_is_there(dsn: str) -> None:
    async def main() -> None:
        async with open_store(dsn) as first, open_store(dsn) as two:
            await first.write("ann", create("a"))

            async def claim(tx: Transaction) -> None:
                await tx.documents.put(NOTES, "a", Note("a", "taken"), expect=1)

            works = (store.write("ann", claim) for store in (first, two) * 5)
            results = await outcomes_of(*works)
            stale = [outcome for outcome in results if isinstance(outcome, StaleVersionError)]
            assert len(stale) == 9
            assert {outcome.current for outcome in stale} == {2}

    asyncio.run(main())


def test_a_reader_of_the_feed_follows_twelve_writers_of_three_processes(dsn: str) -> None:
    async def main() -> None:
        async with open_store(dsn) as first, open_store(dsn) as two, open_store(dsn) as three:
            stores, total = (first, two, three), 12 * 25
            ids: list[str] = []

            async def writer(number: int) -> None:
                for turn in range(25):
                    id_ = f"{number}-{turn}"
                    await stores[number % 3].write("ann", create(id_))
                    ids.append(id_)

            async def follow() -> list[str]:
                feed_ids: list[str] = []
                at = FeedPosition()
                while len(feed_ids) < total:
                    part = await first.read("ann", lambda tx, at=at: tx.changes.read(at, limit=7))
                    assert part.position.own == len(feed_ids) + len(part.changes)
                    feed_ids += [change.id for change in part.changes]
                    at = part.position
                return feed_ids

            feed_ids, *_ = await asyncio.gather(follow(), *(writer(number) for number in range(12)))
            assert len(set(feed_ids)) == total
            assert set(feed_ids) == set(ids)
            for number in range(12):
                turns = [id_ for id_ in feed_ids if id_.startswith(f"{number}-")]
                assert turns == [f"{number}-{turn}" for turn in range(25)]

    asyncio.run(main())
