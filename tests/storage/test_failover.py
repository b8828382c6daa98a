"""A standby that takes over, and a recovery to a point in time, under a consumer of the feed."""

import asyncio
import shutil
from collections.abc import Iterator

import pytest

from svc_core.testing.sample import SAMPLES
from tests.postgres import PostgresServer, until
from tests.storage.test_put_back import FRESH, LOST, connected, end, is_gone, works, write

pytestmark = pytest.mark.soak


@pytest.fixture
def primary() -> Iterator[PostgresServer]:
    instance = PostgresServer()
    yield instance
    instance.close()


@pytest.fixture
def standby(primary: PostgresServer) -> Iterator[PostgresServer]:
    """A second server that follows the first one."""
    instance = PostgresServer()
    instance.stop()
    shutil.rmtree(instance.folder / "data")
    primary.back_up(instance.folder / "data", is_standby=True)
    instance.start()
    yield instance
    instance.close()


async def follows(primary: PostgresServer) -> bool:
    """Whether the standby has everything."""
    command = "SELECT sum(pg_current_wal_lsn() - replay_lsn) FROM pg_stat_replication"
    return await asyncio.to_thread(primary.do, command) == ["0"]


@pytest.mark.parametrize("lost", [0, LOST], ids=["planned", "behind"])
def test_a_promoted_standby_begins_a_new_epoch_for_servers_that_run(
    primary: PostgresServer, standby: PostgresServer, lost: int
) -> None:
    # What is lost without a trace must be noticed. That nothing was lost, nobody can prove.
    dsn = primary.made_for(SAMPLES)
    both = f"{dsn},{standby.folder}&target_session_attrs=read-write"

    async def main() -> None:
        first, two = await connected(both), await connected(both)
        await write(first, 3, "before")
        await until(lambda: follows(primary))
        if lost:
            standby.stop()
            await write(first, lost, "lost")
        place = await end(two)
        primary.kill()
        if lost:
            standby.start()
        standby.promote()
        await until(lambda: works(first))
        await until(lambda: works(two))
        await write(first, FRESH, "fresh")
        assert await is_gone(first, place)
        assert await is_gone(two, place)
        assert (await end(first)).epoch == (await end(two)).epoch
        await first.close()
        await two.close()

    asyncio.run(main())


def test_a_server_that_was_open_on_the_standby_notices_its_promotion(
    primary: PostgresServer, standby: PostgresServer
) -> None:
    dsn = primary.made_for(SAMPLES)

    async def main() -> None:
        first = await connected(dsn)
        await write(first, 3, "before")
        place = await end(first)
        await until(lambda: follows(primary))
        reader = await connected(dsn.replace(str(primary.folder), str(standby.folder)))
        assert not await is_gone(reader, place)
        primary.kill()
        standby.promote()
        assert await is_gone(reader, place)
        await reader.close()
        await first.close()

    asyncio.run(main())


def test_a_recovery_to_a_point_in_time_begins_a_new_epoch(primary: PostgresServer) -> None:
    dsn, copy = primary.made_for(SAMPLES), primary.folder / "copy"

    async def main() -> None:
        store = await connected(dsn)
        await write(store, 3, "before")
        primary.back_up(copy)
        await write(store, LOST, "lost")
        place = await end(store)
        primary.stop()
        primary.put_back(copy)
        (primary.folder / "data" / "recovery.signal").touch()
        primary.start(
            restore_command="false", recovery_target="immediate", recovery_target_action="promote"
        )
        await until(lambda: works(store))
        await write(store, FRESH, "fresh")
        assert await is_gone(store, place)
        await store.close()

    asyncio.run(main())
