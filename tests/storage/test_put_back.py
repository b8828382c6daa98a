"""A database that is put back to an older state, under a consumer that follows its change feed.

The consumer does as the documents say: it remembers a watermark, and starts over when that is gone.
What it must never do is to go on with its old watermark and miss what was written meanwhile.
"""

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from svc_core.operation.ports import FeedPosition, Storage, StorageUnavailable, Transaction
from svc_core.testing.sample import SAMPLES
from svc_core.testing.sync_store import a_change
from svc_http.stores import SqliteStorage
from svc_http.stores.history_file import HistoryFile
from svc_http.stores.postgres import PostgresStorage
from svc_http.stores.postgres import _history as histories
from svc_http.stores.postgres._connection import connect
from svc_http.stores.postgres._maintenance import renew_postgres_epoch
from svc_http.stores.sqlite._storage import renew_sqlite_epoch
from tests.postgres import PostgresServer, until

EPOCH = b"8 bytes."
LOST, FRESH = 10, 14
"""Changes that are lost, and those that come after: more, so that the old watermark is in range."""


class Place(NamedTuple):
    """What a consumer remembers: the watermark, as an epoch and a position."""

    epoch: bytes
    position: FeedPosition


async def write(store: Storage, count: int, prefix: str) -> None:
    async def unit(tx: Transaction) -> None:
        for number in range(count):
            await tx.changes.append(a_change(f"{prefix}{number}"))

    await store.write("ann", unit)


async def end(store: Storage) -> Place:
    async def unit(tx: Transaction) -> Place:
        return Place(await tx.changes.epoch(), await tx.changes.head())

    return await store.read("ann", unit)


async def is_gone(store: Storage, place: Place) -> bool:
    """Whether the watermark is refused, as `GET /changes` does."""
    now = await end(store)
    return now.epoch != place.epoch or now.position.own < place.position.own


# -- SQLite ------------------------------------------------------------------------------------


def opened(path: Path, epoch: bytes = EPOCH) -> SqliteStorage:
    return SqliteStorage.open(path, SAMPLES, epoch=epoch)


@pytest.mark.parametrize("knows", [True, False], ids=["remembers", "history file put back too"])
@pytest.mark.parametrize("way", ["in place", "another file"])
def test_a_file_that_was_put_back_begins_a_new_epoch(
    tmp_path: Path, way: str, *, knows: bool
) -> None:
    path, copy = tmp_path / "svc.db", tmp_path / "copy.db"
    memory = tmp_path / "svc.db.history"

    async def main() -> None:
        store = opened(path)
        await write(store, 3, "before")
        await store.close()
        shutil.copyfile(path, copy)
        remembered = memory.read_bytes()
        store = opened(path)
        await write(store, LOST, "lost")
        place = await end(store)
        await store.close()
        if not knows:
            memory.write_bytes(remembered)
        if way == "another file":
            copy.replace(path)
        else:
            shutil.copyfile(copy, path)
        store = opened(path, b"renewed.")
        await write(store, FRESH, "fresh")
        assert await is_gone(store, place) is (knows or way == "another file")
        newer = await end(store)
        await store.close()
        store = opened(path, b"no more.")
        assert not await is_gone(store, newer), "once is enough"
        await store.close()

    asyncio.run(main())


def test_a_file_that_is_opened_again_keeps_its_epoch(tmp_path: Path) -> None:
    async def main() -> None:
        for turn in range(3):
            store = opened(tmp_path / "svc.db", bytes([turn]) * 8)
            await write(store, turn, f"turn{turn}")
            assert (await end(store)).epoch == bytes(8)
            await store.close()

    asyncio.run(main())


@pytest.mark.parametrize("changes", [3, 0])
def test_what_was_renewed_twice_meanwhile_is_renewed_once_more_and_not_at_every_start(
    tmp_path: Path, changes: int
) -> None:
    path = tmp_path / "svc.db"

    async def main() -> None:
        store = opened(path)
        await write(store, 3, "before")
        await store.close()
        for epoch in (b"by hand.", b"and then"):
            renew_sqlite_epoch(path, epoch)
        if not changes:
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("DELETE FROM changes")
        epochs = []
        for turn in range(3):
            store = opened(path, bytes([turn]) * 8)
            epochs.append((await end(store)).epoch)
            await store.close()
        assert epochs == [bytes(8)] * 3

    asyncio.run(main())


@pytest.mark.parametrize(
    "memory",
    [
        b"",
        b"{",
        b'{"epoch": 1}',
        b"null",
        bytes(9),
        b'{"epoch": "zz", "scope": "wsp_a", "position": 1, "proof": ""}',
        b'{"epoch": "00", "scope": "wsp_a", "position": 9223372036854775808, "proof": ""}',
        b'{"epoch": "00", "scope": [], "position": 1, "proof": null}',
    ],
)
def test_a_history_file_that_cannot_be_read_is_as_if_it_were_not_there(
    tmp_path: Path, memory: bytes
) -> None:
    (tmp_path / "svc.db.history").write_bytes(memory)

    async def main() -> None:
        store = opened(tmp_path / "svc.db")
        await write(store, 1, "a")
        await store.close()

    asyncio.run(main())
    assert HistoryFile(tmp_path / "svc.db.history").mark is not None


def test_what_cannot_be_remembered_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "svc.db.history").mkdir()

    async def main() -> None:
        store = opened(tmp_path / "svc.db")
        await write(store, 1, "a")
        await store.close()

    asyncio.run(main())


def test_a_file_that_is_replaced_under_a_server_is_refused_by_it(tmp_path: Path) -> None:
    path, copy = tmp_path / "svc.db", tmp_path / "copy.db"

    async def main() -> None:
        store = opened(path)
        await write(store, 3, "before")
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
        await write(store, LOST, "lost")
        place = await end(store)
        copy.replace(path)
        for work in (write(store, 1, "late"), end(store)):
            with pytest.raises(StorageUnavailable, match="replaced while the server used it"):
                await work
        path.rename(copy)
        with pytest.raises(StorageUnavailable, match="restart the server"):
            await end(store)
        copy.rename(path)
        await store.close()
        store = opened(path, b"renewed.")
        await write(store, FRESH, "fresh")
        assert await is_gone(store, place)
        await store.close()

    asyncio.run(main())


# -- PostgreSQL --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One that is stopped and copied, so it is nobody else's."""
    instance = PostgresServer()
    yield instance
    instance.close()


async def connected(dsn: str, memory: HistoryFile | None = None) -> PostgresStorage:
    return await PostgresStorage.open(dsn, SAMPLES, epoch=EPOCH, history=memory)


async def mark_of(memory: HistoryFile, store: Storage) -> None:
    """Wait until the newest change is remembered."""
    newest = (await end(store)).position.own

    async def is_known() -> bool:
        return memory.mark is not None and memory.mark.position == newest

    await until(is_known)


async def works(store: Storage) -> bool:
    try:
        await end(store)
    except StorageUnavailable:
        return False
    return True


def test_a_data_directory_that_was_put_back_begins_one_new_epoch_for_all_servers(
    server: PostgresServer, tmp_path: Path
) -> None:
    dsn = server.made_for(SAMPLES)
    copy = server.folder / "copy"

    async def main() -> None:
        memory = HistoryFile(tmp_path / "history")
        first, two = await connected(dsn, memory), await connected(dsn)
        await write(first, 3, "before")
        server.stop()
        server.save(copy)
        server.start()
        await until(lambda: works(first))
        await write(first, LOST, "lost")
        place = await end(first)
        await mark_of(memory, first)
        await first.close()  # only its file knows of the changes now
        server.stop()
        server.put_back(copy)
        server.start()
        await until(lambda: works(two))
        await write(two, FRESH, "fresh")
        assert not await is_gone(two, place)  # this one never knew of them
        stores = await asyncio.gather(
            *(connected(dsn, HistoryFile(tmp_path / "history")) for _ in range(4))
        )
        assert await is_gone(two, place)
        assert len({(await end(store)).epoch for store in (two, *stores)}) == 1
        for store in (two, *stores):
            await store.close()

    asyncio.run(main())


@pytest.mark.soak
def test_a_server_that_runs_notices_with_its_next_connection(server: PostgresServer) -> None:
    dsn = server.made_for(SAMPLES)
    copy = server.folder / "copy2"

    async def main() -> None:
        memory = HistoryFile()
        store = await connected(dsn, memory)
        await write(store, 3, "before")
        server.stop()
        server.save(copy)
        server.start()
        await until(lambda: works(store))
        await write(store, LOST, "lost")
        place = await end(store)
        await mark_of(memory, store)
        server.stop()
        server.put_back(copy)
        server.start()
        await until(lambda: works(store))
        assert await is_gone(store, place)
        await store.close()

    asyncio.run(main())


def test_a_database_that_was_renewed_twice_meanwhile_is_renewed_once_more(
    server: PostgresServer,
) -> None:
    dsn, memory = server.made_for(SAMPLES), HistoryFile()

    async def main() -> None:
        store = await connected(dsn, memory)
        await write(store, 3, "before")
        await mark_of(memory, store)
        await store.close()
        for epoch in (b"by hand.", b"and then"):
            await renew_postgres_epoch(dsn, epoch)
        renewals = []
        for _ in range(2):
            store = await connected(dsn, memory)
            assert await works(store)
            renewals += store.renewals
            await store.close()
        assert len(renewals) == 1

    asyncio.run(main())


def test_a_database_restored_from_a_dump_begins_a_new_epoch(server: PostgresServer) -> None:
    dsn = server.made_for(SAMPLES)

    async def main() -> None:
        store = await connected(dsn)
        await write(store, 3, "before")
        place = await end(store)
        await store.close()
        store = await connected(dsn)
        assert not await is_gone(store, place)
        await store.close()
        # A copy within the cluster, as pg_restore makes one: the same server, another database.
        name = await asyncio.to_thread(server.fresh, dsn.partition("@/")[2].partition("?")[0])
        store = await connected(server.dsn(name))
        assert await is_gone(store, place)
        await store.close()

    asyncio.run(main())


def test_a_role_that_may_not_ask_where_the_database_lives_has_its_mark(
    server: PostgresServer,
) -> None:
    dsn = server.made_for(SAMPLES)
    name = dsn.partition("@/")[2].partition("?")[0]
    server.do(
        "CREATE ROLE plain LOGIN",
        "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM public",
        f"GRANT ALL ON DATABASE {name} TO plain",
        "GRANT ALL ON SCHEMA public TO plain",
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO plain",
        database=name,
    )

    async def main() -> None:
        memory = HistoryFile()
        store = await connected(dsn.replace("svc@", "plain@"), memory)
        assert await origin(dsn, "plain") == ""
        await write(store, 3, "before")
        place = await end(store)
        await mark_of(memory, store)
        await store.close()
        other = "UPDATE changes SET entry = '[\"chg_other\"]' WHERE position = 3"
        await asyncio.to_thread(server.do, other, database=name)
        store = await connected(dsn.replace("svc@", "plain@"), memory)
        assert await is_gone(store, place)
        await store.close()

    asyncio.run(main())


async def origin(dsn: str, role: str) -> Any:
    connection = await connect(dsn.replace("svc@", f"{role}@"))
    try:
        return await histories.origin_of(connection)
    finally:
        await connection.close()
