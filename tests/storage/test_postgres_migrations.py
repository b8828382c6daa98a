"""A database becomes what the declarations ask for, while it is in use."""

import asyncio
from collections import Counter
from typing import Any

import asyncpg
import pytest
from attrs import evolve

from svc_core.operation.ports import Collection, StorageUnavailable, Transaction
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_http.stores.postgres import (
    PostgresStorage,
    migrate_postgres,
    postgres_status,
)
from svc_http.stores.postgres import _backfill as filling
from svc_http.stores.postgres import _storage as storing
from tests.postgres import EPOCH, PostgresServer, open_store, until

FIXED_STEPS = ("feed, answers and ledgers", "details of changes")
BARE: Collection[Note] = evolve(NOTES, keys={}, facets={}, numbers={}, place=None, search=None)
ALL_STEPS = "+author +latitude +longitude +status +topic +weight text index"
ROWS = 450
"""More than are filled at a time."""


@pytest.fixture
def dsn(postgres: PostgresServer) -> str:
    return postgres.dsn(postgres.fresh())


def note(number: int, **members: Any) -> Note:
    how = {
        "text": f"word{number}",
        "written": number,
        "status": "open" if number % 2 else "done",
        "topics": ("t", "u") if number % 3 == 0 else (),
        "weight": number,
    }
    return Note(f"n{number:04}", **(how | members))


async def fill(store: PostgresStorage, collection: Collection[Note], count: int = ROWS) -> None:
    async def unit(tx: Transaction) -> None:
        for number in range(count):
            await tx.documents.put(collection, note(number).id, note(number))

    await store.write("ann", unit)


def put(id_: str, value: Note) -> Any:
    return lambda tx: tx.documents.put(BARE, id_, value)


async def count_notes(store: PostgresStorage, **filters: Any) -> int:
    return await store.read("ann", lambda tx: tx.documents.count(NOTES, limit=9999, **filters))


async def search(store: PostgresStorage, *terms: str) -> list[tuple[str, int]]:
    weights = dict.fromkeys(terms, 1)
    rows = await store.read("ann", lambda tx: tx.documents.search(NOTES, weights, limit=9))
    return [(row.id, row.version) for row in rows.rows]


async def finds_all(store: PostgresStorage) -> None:
    assert await count_notes(store, where={"status": ("open",)}) == ROWS // 2
    assert await count_notes(store, where={"topic": ("t",)}) == ROWS // 3
    assert await count_notes(store, ranges={"weight": (3, 7)}) == 5
    assert await search(store, f"word{ROWS - 1}") == [(f"n{ROWS - 1:04}", 1)]


def test_processes_that_start_at_once_take_each_step_once(dsn: str) -> None:
    async def main() -> None:
        opening = (PostgresStorage.open(dsn, SAMPLES, epoch=bytes([n]) * 8) for n in range(4))
        stores = await asyncio.gather(*opening)
        assert len((await postgres_status(dsn, SAMPLES)).applied) == 6
        epochs = [await store.read("ann", lambda tx: tx.changes.epoch()) for store in stores]
        assert len({*epochs}) == 1
        for store in stores:
            await store.close()

    asyncio.run(main())


def test_filters_are_added_while_an_older_process_writes(dsn: str) -> None:
    async def main() -> None:
        async with open_store(dsn, BARE) as older:
            await fill(older, BARE)
            stop = asyncio.Event()

            async def write(number: int) -> int:
                turn = 0
                while not stop.is_set():
                    turn += 1
                    update = note(number, text=f"changed{turn}", status="open")
                    await older.write("bob", put("x", update))
                return turn

            writing = [asyncio.ensure_future(write(number)) for number in range(3)]
            assert (await postgres_status(dsn, [NOTES])).pending == (
                f"collection sample_notes: {ALL_STEPS}",
            )
            async with open_store(dsn, NOTES) as newer:
                stop.set()
                turns = await asyncio.gather(*writing)
                assert sum(turns) > 20
                await finds_all(newer)
                assert (await postgres_status(dsn, [NOTES])).applied[-1].step.endswith(ALL_STEPS)
                # The older one goes on, and what it wrote last is found once it was looked for.
                await older.write("ann", lambda tx: tx.documents.put(BARE, "new", note(9999)))
                await sweep(dsn, newer)
                assert await search(newer, "word9999") == [("new", 1)]
                assert await count_notes(newer, where={"status": ("open",)}) == ROWS // 2 + 1
                last = await newer.read("bob", lambda tx: tx.documents.scan(NOTES, limit=2))
                assert last.rows[0].version == sum(turns)
                rows = await newer.read(
                    "bob",
                    lambda tx: tx.documents.scan(NOTES, where={"status": ("open",)}, limit=2),
                )
                assert rows == last

    asyncio.run(main())


async def sweep(dsn: str, store: PostgresStorage) -> None:
    connection = await asyncpg.connect(dsn)
    await filling.sweep_backfill(connection, store._tables.values())
    await connection.close()


def test_a_store_looks_by_itself_for_what_older_processes_wrote(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "MAINTENANCE_SECONDS", 0.01)

    async def main() -> None:
        async with open_store(dsn, BARE) as older, open_store(dsn, NOTES) as newer:
            await older.write("ann", lambda tx: tx.documents.put(BARE, "new", note(1)))

            async def is_found() -> bool:
                return await search(newer, "word1") == [("new", 1)]

            await until(is_found)

    asyncio.run(main())


def test_an_older_release_starts_beside_a_newer_one_and_its_rows_are_found(dsn: str) -> None:
    """A release is taken back, and comes again."""

    async def main() -> None:
        async with open_store(dsn, NOTES) as newer:
            await fill(newer, NOTES, 9)
        steps = (await postgres_status(dsn, [NOTES])).applied
        async with open_store(dsn, BARE) as older:
            assert (await postgres_status(dsn, [BARE])).pending == (
                f"collection sample_notes: {ALL_STEPS.replace('+', '-')}",
            )
            await older.write("ann", lambda tx: tx.documents.put(BARE, "n0001", note(77)))
        async with open_store(dsn, NOTES) as newer:
            assert (await postgres_status(dsn, [NOTES])).applied == steps
            await sweep(dsn, newer)
            assert await search(newer, "word77") == [("n0001", 2)]
            assert await search(newer, "word1") == []
            await newer.write("ann", lambda tx: tx.documents.put(NOTES, "n0001", note(78)))
            assert await search(newer, "word78") == [("n0001", 3)]

    asyncio.run(main())


def test_what_is_declared_no_longer_goes_when_it_is_asked_for(dsn: str) -> None:
    async def main() -> None:
        async with open_store(dsn, NOTES) as store:
            await fill(store, NOTES)
        subset: Collection[Note] = evolve(
            NOTES, keys={"status": NOTES.keys["status"]}, facets={}, search=None
        )
        async with open_store(dsn, subset) as store:
            await store.write("ann", lambda tx: tx.documents.put(subset, "n0000", note(0)))
        (step,) = await migrate_postgres(dsn, [subset], epoch=EPOCH)
        assert step.step == "collection sample_notes: -author -topic text index"
        assert (await postgres_status(dsn, [subset])).pending == ()
        async with open_store(dsn, subset) as store:
            assert await count_notes(store, where={}) == ROWS
            await store.write("ann", lambda tx: tx.documents.put(subset, "n0001", note(1)))
        async with open_store(dsn, NOTES) as store:
            assert await count_notes(store, where={"topic": ("u",)}) == ROWS // 3
            assert await search(store, "word1") == [("n0001", 2)]

    asyncio.run(main())


def test_a_step_that_was_cut_off_is_taken_up_again(dsn: str) -> None:
    """It fails once while rows are filled, and once while an index is built."""
    calls: Counter[str] = Counter()

    def cut(value: Note) -> str | None:
        calls["key"] += 1
        if calls["key"] == 300:
            raise ZeroDivisionError
        return value.status

    async def main() -> None:
        async with open_store(dsn, BARE) as older:
            await fill(older, BARE)
            fault: Collection[Note] = evolve(NOTES, keys={**NOTES.keys, "status": cut})
            with pytest.raises(ZeroDivisionError):
                await PostgresStorage.open(dsn, [fault], epoch=EPOCH)
            before = (await postgres_status(dsn, [NOTES])).applied
            await cut_off_while_an_index_is_built(dsn, fault)
            assert (await postgres_status(dsn, [NOTES])).applied == before
            await older.write("ann", lambda tx: tx.documents.put(BARE, "n0000", note(0)))
            async with open_store(dsn, fault) as newer:
                assert await count_notes(newer, where={"status": ("open",)}) == ROWS // 2
                assert await count_notes(newer, where={"topic": ("t",)}) == ROWS // 3
            # The rows that were filled once are not filled again.
            assert calls["key"] < 2 * ROWS + 210
            connection = await asyncpg.connect(dsn)
            assert await connection.fetchval(INVALID) == 0
            assert len(await connection.fetch(STALE)) == 1
            await connection.close()

    asyncio.run(main())


INVALID = "SELECT count(*) FROM pg_index WHERE NOT indisvalid"
STALE = "SELECT 1 FROM pg_class WHERE relname ~ '^s[0-9]+_c_'"


async def cut_off_while_an_index_is_built(dsn: str, collection: Collection[Note]) -> None:
    watching, looking = await asyncpg.connect(dsn), await asyncpg.connect(dsn)
    # An index that is built beside the work waits for older snapshots.
    await looking.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
    starting = asyncio.ensure_future(PostgresStorage.open(dsn, [collection], epoch=EPOCH))

    async def is_over() -> bool:
        return bool(
            await watching.fetch(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'"
            )
        )

    await until(is_over)
    with pytest.raises(StorageUnavailable):
        await starting
    await looking.close()
    assert await watching.fetchval(INVALID) == 1
    await watching.close()


def test_another_declaration_does_not_go_on_with_what_was_cut_off(dsn: str) -> None:
    def cut(value: Note) -> str | None:
        if value.written == 440:
            raise ZeroDivisionError
        return value.status

    async def main() -> None:
        async with open_store(dsn, BARE) as older:
            await fill(older, BARE)
        fault: Collection[Note] = evolve(BARE, keys={"status": cut})
        with pytest.raises(ZeroDivisionError):
            await PostgresStorage.open(dsn, [fault], epoch=EPOCH)
        async with open_store(dsn, NOTES) as newer:
            await finds_all(newer)

    asyncio.run(main())
