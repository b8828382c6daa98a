"""What is kept has an end where the operator wants one, and does not come back by itself."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest

from svc_core.automations.model import OVER, RUNS, AutomationRun
from svc_core.catalog import COLLECTIONS
from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.folding.contributions import CONTRIBUTIONS
from svc_core.intel.intake.row_retention import ENDING, end_rows
from svc_core.intel.news.model import NEWS_TEXTS
from svc_core.operation.ports import FeedPosition
from svc_core.reports.model import FACETS
from svc_core.reports.profiles import operations as profiles
from svc_core.reports.profiles.model import ProfileInput
from svc_core.reports.report_runs import make_report
from svc_http import system
from svc_http.service.database_maintenance import room_of
from svc_http.service.workers.retention import forget_readings, forget_runs
from svc_http.service.workers.source_pulls import add_source, pull, run_passes
from svc_http.settings import Settings
from svc_http.stores import SqliteStorage
from tests.counted import Counted, KilledError
from tests.http.workers.conftest import House

pytestmark = pytest.mark.anyio
TENANT = "wsp_" + "a" * 24
OWNER = "usr_" + "a" * 24
AGE = timedelta(days=30)
Make = Callable[..., bytes]

QUAKES = (
    b'{"type":"FeatureCollection","metadata":{"generated":%d,"title":"USGS","count":1},'
    b'"features":[{"type":"Feature","id":"us7000","properties":{"mag":5.1,"place":"Malta",'
    b'"time":1767200000000,"updated":1767200000000,"type":"earthquake","status":"reviewed",'
    b'"url":"https://quakes.example/us7000","code":"7000","net":"us","ids":",us7000,",'
    b'"title":"M 5.1 - Malta"},"geometry":{"type":"Point","coordinates":[14.4,35.9,10.0]}}]}'
)


async def taken(house: Any, publisher: Any, body: bytes, path: str = "/feed") -> Any:
    source = await add_source(house.service, publisher.publish(path, body))
    return await pull(house.service, source, house.fetcher, force=True)


def keeping(house: Any, *names: str, **members: Any) -> Any:
    host = attrs.evolve(house.service.host, retention=dict.fromkeys(names, AGE))
    return attrs.evolve(house.service, host=host, **members)


async def changes(house: Any, kind: str) -> list[str]:
    feed = await house.service.read(
        "", lambda ctx: ctx.tx.changes.read(FeedPosition(), limit=100_000)
    )
    return [change.change_type for change in feed.changes if change.resource_type == kind]


async def test_old_items_go_with_a_tombstone_and_come_back_only_with_other_words(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    await taken(any_house, publisher, feed("A", "B"))
    any_house.clock.advance(AGE.total_seconds())
    await taken(any_house, publisher, feed("A", "B", "C"))
    await forget_readings(keeping(any_house))
    await forget_readings(keeping(any_house, "news"))
    assert len(await any_house.news()) == 3
    any_house.clock.advance(1)
    for _ in range(2):
        await forget_readings(keeping(any_house, "news"))
        assert [item.title for item in await any_house.news()] == ["C"]
        assert (await changes(any_house, "newsItem")).count("deleted") == 2
        assert len(await any_house.rows(NEWS_TEXTS)) == 1
        outcome = await taken(any_house, publisher, feed("A", "B", "C"))
        assert (outcome.run.created, outcome.run.updated) == (0, 0)
    assert all(not row.said for row in await any_house.rows(CONTRIBUTIONS) if row.gone)
    await taken(any_house, publisher, feed("A", "B changed", "C"))
    assert sorted(item.title for item in await any_house.news()) == ["B changed", "C"]


async def test_an_old_event_stays_away_though_its_document_has_a_new_stamp(
    any_house: Any, publisher: Any
) -> None:
    await taken(any_house, publisher, QUAKES % 1_767_200_100_000, "/quakes.geojson")
    assert len(await any_house.rows(OSINT_EVENTS)) == 1
    any_house.clock.advance(AGE.total_seconds() + 1)
    await forget_readings(keeping(any_house, "news", "event"))
    assert await any_house.rows(OSINT_EVENTS) == []
    assert (await changes(any_house, "osintEvent"))[-1] == "deleted"
    await taken(any_house, publisher, QUAKES % 1_767_300_000_000, "/quakes.geojson")
    assert await any_house.rows(OSINT_EVENTS) == []
    await run_passes(any_house.service)


async def test_a_report_keeps_what_it_cites(any_house: Any, publisher: Any, feed: Make) -> None:
    await taken(any_house, publisher, feed("Cranes stop in the port"))
    request = profiles.CreateProfile(ProfileInput("Ports", "Cranes", "manual"))
    creation = await any_house.service.write(
        TENANT, lambda ctx: profiles.create_profile(ctx, request)
    )
    report = await make_report(any_house.service, TENANT, creation.location.rpartition("/")[2])

    async def sources() -> list[tuple[str, str]]:
        facets = await any_house.service.read(TENANT, lambda ctx: ctx.value(FACETS, report.id))
        return [(source.title, source.url) for source in facets.sources]

    before = await sources()
    any_house.clock.advance(AGE.total_seconds() + 1)
    await forget_readings(keeping(any_house, "news"))
    assert await any_house.news() == []
    assert before
    assert await sources() == before


async def test_units_are_short_and_who_is_killed_leaves_the_rest_to_two_others(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    titles = [f"Item {number}" for number in range(40)]
    await taken(any_house, publisher, feed(*titles))
    any_house.clock.advance(AGE.total_seconds() + 1)
    mortal = Counted(any_house.service.storage, dies_after=1)
    with pytest.raises(KilledError):
        await end_rows(attrs.evolve(any_house.service, storage=mortal), "news", AGE)
    assert 0 < len(await any_house.news()) < len(titles)
    counts = await asyncio.gather(*(end_rows(any_house.service, "news", AGE) for _ in range(2)))
    assert await any_house.news() == []
    assert sum(counts) < len(titles)
    assert (await changes(any_house, "newsItem")).count("deleted") == len(titles)


def test_the_collections_that_end_are_ordered_by_their_last_change() -> None:
    assert all(number in collection.numbers for collection, number in ENDING.values())


async def test_runs_that_are_over_go_and_those_that_wait_stay(any_house: Any) -> None:
    async def add(ctx: Any) -> None:
        for number, status in enumerate((*OVER, "queued", "running")):
            run: Any = AutomationRun(
                id=f"run_{number:024x}", automation_id="aut_" + "a" * 24, owner_id=OWNER,
                instructions="What?", trigger="manual", status=status, created_at=ctx.now,
                updated_at=ctx.now,
            )  # fmt: skip
            await ctx.create(RUNS, run.id, run)

    await any_house.service.write(TENANT, add)
    any_house.clock.advance(AGE.total_seconds())
    assert await forget_runs(any_house.service, AGE) == 0
    any_house.clock.advance(1)
    assert await forget_runs(any_house.service, AGE) == 3
    assert {run.status for run in await any_house.rows(RUNS, TENANT)} == {"queued", "running"}
    feed = await any_house.service.read(
        TENANT, lambda ctx: ctx.tx.changes.read(FeedPosition(), limit=99)
    )
    tombstones = [change for change in feed.changes if change.change_type == "deleted"]
    assert len(tombstones) == 3
    assert all(change.owner for change in tombstones)


async def test_the_room_is_told_with_what_the_settings_would_remove(
    tmp_path: Path, publisher: Any, feed: Make
) -> None:
    file = tmp_path / "svc.db"
    house = House(SqliteStorage.open(file, COLLECTIONS, epoch=bytes(8)))
    house.clock.advance((system.now() - house.clock.now() - timedelta(days=2)).total_seconds())
    await taken(house, publisher, feed("A", "B"))
    await house.close()
    for days, expired in ((0, None), (1, 2), (3, 0)):
        room = await room_of(Settings(news_days=days), str(file))
        assert room == sorted(room, key=lambda row: -row["bytes"])
        (news,) = [row for row in room if row["part"] == "news"]
        assert (news["rows"], news["expired"]) == (2, expired)
        assert 100 < news["bytes"] < 10_000
