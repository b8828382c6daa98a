"""A PostgreSQL server that dies, hangs, refuses or comes back, under a store that stays open."""

import asyncio
import signal
from collections.abc import Iterator, Sized
from typing import Any

import asyncpg
import pytest

from svc_core.operation.ports import FeedPosition, StorageUnavailable, Transaction
from svc_core.testing.promises.bench import an_answer
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_core.testing.sealed_lines import plain_growth
from svc_core.testing.sync_store import a_change
from svc_http.stores.postgres import PostgresStorage, migrate_postgres, postgres_status
from svc_http.stores.postgres import _connection as connection
from tests.postgres import EPOCH, PostgresServer, open_store, until

KILLS = 4


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One that is killed, so it is nobody else's."""
    instance = PostgresServer()
    yield instance
    instance.close()


def create(id_: str) -> Any:
    async def unit(tx: Transaction) -> str:
        await tx.documents.put(NOTES, id_, Note(id_, f"word{id_}", topics=("t",)), expect=0)
        await tx.changes.append(a_change(id_))
        await tx.answers.put("op", id_, an_answer(id_.encode()))
        head = await tx.ledger.head()
        size = 0 if head is None else head.size
        await tx.ledger.append(*plain_growth(size, id_)[:3], expect=size)
        return id_

    return unit


async def works(store: PostgresStorage) -> bool:
    try:
        await store.write("ann", lambda tx: tx.changes.head())
        await store.read("ann", lambda tx: tx.changes.head())
    except StorageUnavailable:
        return False
    return True


def test_nothing_acknowledged_is_lost_when_the_server_is_killed_under_load(
    server: PostgresServer,
) -> None:
    acks: set[str] = set()
    failures: list[StorageUnavailable] = []

    async def client(store: PostgresStorage, name: str, stop: asyncio.Event) -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            try:
                acks.add(await store.write("ann", create(f"{name}-{turn}")))
            except StorageUnavailable as failure:
                failures.append(failure)
                await asyncio.sleep(0.01)

    async def main(dsn: str) -> None:
        async with open_store(dsn) as first, open_store(dsn) as two:
            stop = asyncio.Event()
            clients = [
                asyncio.ensure_future(client(store, f"{place}-{number}", stop))
                for place, store in enumerate((first, two))
                for number in range(6)
            ]
            for _ in range(KILLS):
                await _wait_for_growth(acks, 60)
                await asyncio.to_thread(server.kill)
                await _wait_for_growth(failures, 1)
                await asyncio.to_thread(server.start)
            await _wait_for_growth(acks, 60)
            stop.set()
            await asyncio.gather(*clients)
            async with open_store(dsn) as fresh:
                await _check(fresh, acks)

    asyncio.run(main(server.made_for(SAMPLES)))
    assert all("PostgreSQL" in str(failure) for failure in failures)


async def _wait_for_growth(rows: Sized, by: int) -> None:
    had = len(rows)
    await until(lambda: _is(len(rows) >= had + by))


async def _is(fact: bool) -> bool:
    return fact


async def _check(store: PostgresStorage, acks: set[str]) -> None:
    """What was acknowledged is there, and whatever is there is whole."""

    async def read_all(tx: Transaction) -> tuple[Any, ...]:
        rows = await tx.documents.scan(NOTES, where={"topic": ("t",)}, limit=99_999)
        feed = await tx.changes.read(FeedPosition(), limit=99_999)
        head = await tx.ledger.head()
        assert head is not None
        assert len(await tx.ledger.lines(0, head.size)) == head.size
        return {row.id for row in rows.rows}, [change.id for change in feed.changes], feed, head

    ids, changes, feed, head = await store.read("ann", read_all)
    assert ids >= acks
    assert {*changes} == ids
    assert len(changes) == len(ids) == feed.position.own == head.size
    lines = await store.read("ann", lambda tx: tx.ledger.get_many([*ids]))
    assert lines.keys() == ids


def test_a_server_that_is_down_refuses_soon_and_is_found_again(server: PostgresServer) -> None:
    async def main(dsn: str) -> None:
        async with open_store(dsn) as store:
            await store.write("ann", create("before"))
            await asyncio.to_thread(server.kill)
            version = store.version
            for run in (store.write, store.read):
                async with asyncio.timeout(3):
                    with pytest.raises(StorageUnavailable, match="cannot be used now"):
                        await run("ann", lambda tx: tx.changes.head())
            with pytest.raises(StorageUnavailable):
                await PostgresStorage.open(dsn, SAMPLES, epoch=EPOCH)
            with pytest.raises(StorageUnavailable):
                await postgres_status(dsn, SAMPLES)
            await asyncio.to_thread(server.start)
            await until(lambda: works(store))
            await store.write("ann", create("after"))
            # What it may have missed meanwhile counts as changed.
            await until(lambda: _is(store.version > version + 1))

    asyncio.run(main(server.made_for(SAMPLES)))


def test_connections_that_were_ended_are_made_again_without_a_word(server: PostgresServer) -> None:
    async def main(dsn: str) -> None:
        async with open_store(dsn) as store:
            await store.write("ann", create("a"))
            await store.read("ann", lambda tx: tx.changes.head())
            session = await asyncpg.connect(server.dsn())
            await session.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'svc'"
            )
            await session.close()
            await store.write("ann", create("b"))
            row = await store.read("ann", lambda tx: tx.documents.scan(NOTES, limit=9))
            assert [row.id for row in row.rows] == ["b", "a"]

    asyncio.run(main(server.made_for(SAMPLES)))


def test_a_connection_that_is_lost_within_a_unit_has_it_run_again_once(
    server: PostgresServer,
) -> None:
    async def main(dsn: str) -> None:
        runs: list[str] = []

        async def cut(tx: Any) -> None:
            runs.append("")
            await create(f"x{len(runs)}")(tx)
            if len(runs) in fault_at:
                pid = tx._session.connection.get_server_pid()
                await asyncio.to_thread(server.do, f"SELECT pg_terminate_backend({pid})")
            await tx.documents.get(NOTES, "a")

        async with open_store(dsn) as store:
            fault_at = {1}
            await store.write("ann", cut)
            assert len(runs) == 2
            fault_at = {3, 4}
            with pytest.raises(StorageUnavailable):
                await store.write("ann", cut)
            assert len(runs) == 4
            row = await store.read("ann", lambda tx: tx.documents.scan(NOTES, limit=9))
            assert [row.id for row in row.rows] == ["x2"]

    asyncio.run(main(server.made_for(SAMPLES)))


def test_a_server_that_hangs_is_given_up_and_found_again(server: PostgresServer) -> None:
    async def main(dsn: str) -> None:
        async with open_store(dsn, stall_seconds=0.3, wait_seconds=1.0) as store:
            await store.write("ann", create("before"))
            await store.read("ann", lambda tx: tx.changes.head())
            server.signal(signal.SIGSTOP)
            try:
                tasks = [run("ann", create("lost")) for run in (store.write, store.write)]
                tasks.append(store.read("ann", lambda tx: tx.changes.head()))
                async with asyncio.timeout(10):
                    results = await asyncio.gather(*tasks, return_exceptions=True)
            finally:
                server.signal(signal.SIGCONT)
            assert [type(outcome) for outcome in results] == [StorageUnavailable] * 3
            await until(lambda: works(store))
            await store.write("ann", create("after"))

    asyncio.run(main(server.made_for(SAMPLES)))


def test_a_commit_of_which_nobody_knows_is_told_so_and_not_done_again(
    server: PostgresServer,
) -> None:
    async def main(dsn: str) -> None:
        runs: list[str] = []

        async def unit(tx: Any) -> None:
            runs.append("")
            await create("a")(tx)
            real = tx._session.connection

            class Cut:
                def __getattr__(self, name: str) -> Any:
                    return getattr(real, name)

                async def execute(self, commands: str) -> None:
                    await real.execute(commands)
                    if commands == "COMMIT":
                        real.terminate()
                        raise ConnectionResetError("cut")

            tx._session.connection = Cut()

        async with open_store(dsn) as store:
            version = store.version
            with pytest.raises(StorageUnavailable):
                await store.write("ann", unit)
            assert len(runs) == 1
            assert store.version > version
            row = await store.read("ann", lambda tx: tx.documents.scan(NOTES, limit=9))
            assert [row.id for row in row.rows] == ["a"]

    asyncio.run(main(server.made_for(SAMPLES)))


def test_deadlocks_are_tried_again_and_then_told(server: PostgresServer) -> None:
    async def main(dsn: str) -> None:
        runs: list[str] = []

        def deadlocks(times: int) -> Any:
            async def unit(tx: Any) -> None:
                runs.append("")
                if len(runs) <= times:
                    await tx._session.rows(
                        "DO $$ BEGIN RAISE SQLSTATE '40P01' USING MESSAGE = 'deadlock'; END $$"
                    )

            return unit

        async with open_store(dsn) as store:
            await store.write("ann", deadlocks(2))
            assert len(runs) == 3
            runs.clear()
            with pytest.raises(StorageUnavailable, match="deadlock"):
                await store.write("ann", deadlocks(99))
            assert len(runs) == 3

    asyncio.run(main(server.made_for(SAMPLES)))


UNAVAILABLE = ("53100", "53300", "55P03", "57014", "25006", "58030", "XX001", "25P03")


@pytest.mark.parametrize("code", [*UNAVAILABLE, "22012", "23505", "42601"])
def test_what_the_server_refuses_is_told_by_what_it_means(
    server: PostgresServer, code: str
) -> None:
    async def main(dsn: str) -> None:
        async def unit(tx: Any) -> None:
            await tx._session.rows(f"DO $$ BEGIN RAISE SQLSTATE '{code}'; END $$")

        async with open_store(dsn) as store:
            for run in (store.write, store.read):
                with pytest.raises(Exception) as failure:  # noqa: PT011
                    await run("ann", unit)
                assert isinstance(failure.value, StorageUnavailable) == (code in UNAVAILABLE)
            await store.write("ann", create("a"))

    asyncio.run(main(server.made_for(SAMPLES)))


def test_a_statement_and_a_lock_take_a_limited_time(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = {**connection.UNIT_SETTINGS, "statement_timeout": "100ms", "lock_timeout": "200ms"}

    async def main(dsn: str) -> None:
        async with open_store(dsn) as second:
            monkeypatch.setattr(connection.connect, "__defaults__", (short,))
            async with open_store(dsn) as store:
                with pytest.raises(StorageUnavailable, match="statement timeout"):
                    await store.read("ann", lambda tx: _session(tx).rows("SELECT pg_sleep(9)"))
                release, ready = asyncio.Event(), asyncio.Event()

                async def hold(_: Transaction) -> None:
                    ready.set()
                    await release.wait()

                holding = asyncio.ensure_future(second.write("ann", hold))
                await ready.wait()
                with pytest.raises(StorageUnavailable, match="timeout"):
                    await store.write("ann", create("a"))
                release.set()
                await holding
                await store.write("ann", create("a"))

    asyncio.run(main(server.made_for(SAMPLES)))


def _session(tx: Any) -> Any:
    return tx._session


@pytest.mark.parametrize(
    "dsn", ["postgresql://svc@/nowhere?host={folder}", "postgresql://svc@127.0.0.1:1/x"]
)
def test_a_database_that_cannot_be_reached_is_told_in_one_line(
    server: PostgresServer, dsn: str
) -> None:
    async def main(dsn: str) -> None:
        for ask in (
            PostgresStorage.open(dsn, SAMPLES, epoch=EPOCH),
            migrate_postgres(dsn, SAMPLES, epoch=EPOCH),
        ):
            with pytest.raises(StorageUnavailable) as failure:
                await ask
            assert "\n" not in str(failure.value)

    asyncio.run(main(dsn.format(folder=server.folder)))


def test_an_address_that_cannot_be_read_is_no_state_of_the_server() -> None:
    with pytest.raises(ValueError, match="scheme"):
        asyncio.run(PostgresStorage.open("not://x", SAMPLES, epoch=EPOCH))
