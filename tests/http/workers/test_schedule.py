"""Reports are made when they are due: whole, once, from what was taken in since the last one."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import attrs
import pytest

from svc_core.contract.problem import Problem
from svc_core.operation.context import Context
from svc_core.operation.ports import Overloaded, StorageUnavailable
from svc_core.reports.composition import Window
from svc_core.reports.model import FACETS, REPORTS, ReportRow
from svc_core.reports.profiles import operations as profiles
from svc_core.reports.profiles.model import DUE, ProfileInput
from svc_core.reports.report_runs import make_report
from svc_http.service.workers import due_queue
from svc_http.service.workers import schedules as schedule
from svc_http.service.workers.schedules import SETTLING, run_due, schedule_loop
from svc_http.service.workers.source_pulls import add_source, pull

pytestmark = pytest.mark.anyio

TENANT = "wsp_" + "a" * 24
Make = Callable[..., bytes]


async def profile(house: Any, tenant: str = TENANT, **members: Any) -> str:
    wish = ProfileInput(**{"name": "Ports", "topic": "Cranes", "frequency": "hourly", **members})
    creation = await house.service.write(
        tenant, lambda ctx: profiles.create_profile(ctx, profiles.CreateProfile(wish))
    )
    return str(creation.location.rpartition("/")[2])


async def taken_in(house: Any, publisher: Any, body: bytes) -> None:
    source = await add_source(house.service, publisher.publish("/feed", body))
    await pull(house.service, source, house.fetcher)


async def reports(house: Any) -> list[ReportRow]:
    return list(await house.rows(REPORTS, TENANT))


async def due(house: Any, profile_id: str) -> Any:
    return await house.service.read(TENANT, lambda ctx: ctx.value(DUE, profile_id))


async def titles_of(house: Any, report: ReportRow) -> list[str]:
    facets = await house.service.read(TENANT, lambda ctx: ctx.value(FACETS, report.id))
    return [source.title for source in facets.sources]


async def come_due(house: Any, profile_id: str) -> Any:
    """Move the clock to when the profile's run has settled; that run's instant."""
    at = (await due(house, profile_id)).next_run_at
    assert at is not None
    house.clock.advance((at + SETTLING - house.clock.now()).total_seconds())
    return at


async def test_a_due_profile_gets_one_report_and_its_next_run(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    id_ = await profile(any_house)
    await taken_in(any_house, publisher, feed("Cranes stop in the port"))
    at = await come_due(any_house, id_)
    (report,) = await run_due(any_house.service)
    assert [report] == await reports(any_house)
    assert (report.profile_id, report.period.end) == (id_, at)
    assert report.counts.sources == 1
    after = await due(any_house, id_)
    assert after.next_run_at == at + timedelta(hours=1)
    assert after.covered_until == at
    assert (after.last_report_id, after.report_generated_at) == (report.id, any_house.clock.now())
    assert await run_due(any_house.service) == ()


async def test_nothing_is_made_before_it_is_due_and_settled(any_house: Any) -> None:
    id_ = await profile(any_house)
    await come_due(any_house, id_)
    any_house.clock.advance(-0.001)
    assert await run_due(any_house.service) == ()
    assert await reports(any_house) == []


async def test_manual_and_paused_profiles_are_never_due(any_house: Any) -> None:
    await profile(any_house, frequency="manual")
    paused_id = await profile(any_house)

    async def pause(ctx: Context) -> None:
        target = await ctx.load(profiles.PROFILES, paused_id)
        paused = attrs.evolve(ctx, target=target)
        await profiles.PROFILE_ROWS.set_members(paused, status="paused")

    await any_house.service.write(TENANT, pause)
    any_house.clock.advance(10 * 86_400)
    assert await run_due(any_house.service) == ()


async def test_each_report_covers_what_came_since_the_one_before(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    id_ = await profile(any_house)
    titles = ["Cranes stop in the port", "Cranes were sold to Malta"]
    citations = []
    for number in (1, 2):
        await taken_in(any_house, publisher, feed(*titles[:number]))
        at = await come_due(any_house, id_)
        (report,) = await run_due(any_house.service)
        citations.append(await titles_of(any_house, report))
    assert citations == [titles[:1], titles[1:]]
    assert report.period.start == at - timedelta(hours=1)


async def test_what_is_taken_in_at_the_instant_of_a_run_is_told_once(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    id_ = await profile(any_house)
    at = (await due(any_house, id_)).next_run_at
    assert at is not None
    any_house.clock.advance((at - any_house.clock.now()).total_seconds())
    await taken_in(any_house, publisher, feed("Cranes stop in the port"))
    source_counts = []
    for _ in range(2):
        await come_due(any_house, id_)
        (report,) = await run_due(any_house.service)
        source_counts.append(report.counts.sources)
    assert source_counts == [1, 0]


async def test_workspaces_are_served_apart(any_house: Any) -> None:
    tenants = [f"wsp_{letter * 24}" for letter in "abc"]
    ids = {tenant: await profile(any_house, tenant) for tenant in tenants}
    await come_due(any_house, ids[TENANT])
    assert len(await run_due(any_house.service)) == 3
    for tenant in tenants:
        assert [row.profile_id for row in await any_house.rows(REPORTS, tenant)] == [ids[tenant]]


async def test_workspaces_take_turns_however_many_profiles_one_has(
    any_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The crowd was due before the others, and fills all that one look sees."""
    monkeypatch.setattr(due_queue, "DUE_MAX", 6)
    crowd, others = TENANT, [f"wsp_{letter * 24}" for letter in "bc"]
    ids = [await profile(any_house, crowd) for _ in range(9)]
    await come_due(any_house, ids[0])
    single_ids = [await profile(any_house, tenant) for tenant in others]
    any_house.clock.advance(3_600)
    made = await run_due(any_house.service)
    assert len(made) == 11
    places = [[report.profile_id for report in made].index(id_) for id_ in single_ids]
    assert max(places) <= 2


async def test_workers_beside_each_other_make_every_report_once_and_the_single_one_early(
    any_house: Any,
) -> None:
    ids = [await profile(any_house) for _ in range(9)]
    single_id = await profile(any_house, f"wsp_{'b' * 24}")
    await come_due(any_house, ids[0])
    rounds = await asyncio.gather(*(run_due(any_house.service) for _ in range(3)))
    made = [report.profile_id for reports in rounds for report in reports]
    assert sorted(made) == sorted([*ids, single_id])
    (places,) = [row for row in rounds if single_id in {report.profile_id for report in row}]
    assert [report.profile_id for report in places].index(single_id) <= 1


@pytest.mark.parametrize("is_read", [True, False])
async def test_a_profile_that_is_deleted_while_its_report_is_made_gets_none(
    any_house: Any, monkeypatch: pytest.MonkeyPatch, is_read: bool
) -> None:
    id_ = await profile(any_house)
    await come_due(any_house, id_)
    compose = schedule.compose_report

    async def delete(ctx: Context) -> None:
        await profiles.delete_profile(ctx, profiles.ProfileRequest(id_))

    async def compose_late(service: Any, *arguments: Any) -> Any:
        report = await compose(service, *arguments) if is_read else None
        await service.write(TENANT, delete)
        return report or await compose(service, *arguments)

    monkeypatch.setattr(schedule, "compose_report", compose_late)
    assert await run_due(any_house.service) == ()
    assert await reports(any_house) == []


async def test_a_profile_that_is_gone_when_its_turn_comes_gets_none(
    any_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = await profile(any_house)
    await come_due(any_house, id_)
    rows = await any_house.storage.across(DUE, limit=1)
    await any_house.service.write(
        TENANT, lambda ctx: profiles.delete_profile(ctx, profiles.ProfileRequest(id_))
    )

    async def across(*_: Any, **__: Any) -> Any:
        return rows

    monkeypatch.setattr(any_house.storage, "across", across)
    assert await run_due(any_house.service) == ()


async def test_what_another_worker_has_made_meanwhile_is_not_composed_again(
    any_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [await profile(any_house) for _ in range(5)]
    await come_due(any_house, ids[0])
    rows = await any_house.storage.across(DUE, end=2**62, limit=9)
    assert len(await run_due(any_house.service)) == 5

    async def across(*_: Any, **__: Any) -> Any:
        return rows  # as it was before the other one came

    async def compose_late(*_: Any) -> Any:
        raise AssertionError("there is nothing to make")

    monkeypatch.setattr(any_house.storage, "across", across)
    monkeypatch.setattr(schedule, "compose_report", compose_late)
    assert await run_due(any_house.service) == ()


@pytest.mark.parametrize("failure", [StorageUnavailable("gone"), Overloaded("full")])
async def test_a_store_that_is_away_puts_no_report_off(
    any_house: Any, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    id_ = await profile(any_house)
    await come_due(any_house, id_)
    compose = schedule.compose_report

    async def compose_late(*_: Any) -> Any:
        raise failure

    monkeypatch.setattr(schedule, "compose_report", compose_late)
    with pytest.raises(type(failure)):
        await run_due(any_house.service)
    monkeypatch.setattr(schedule, "compose_report", compose)
    assert len(await run_due(any_house.service)) == 1


async def test_one_report_that_fails_keeps_no_other_waiting(
    any_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = await profile(any_house), await profile(any_house)
    await come_due(any_house, good)
    compose = schedule.compose_report

    async def compose_late(service: Any, tenant: str, id_: str, window: Any) -> Any:
        if id_ == bad:
            raise ArithmeticError("a defect")
        return await compose(service, tenant, id_, window)

    monkeypatch.setattr(schedule, "compose_report", compose_late)
    with pytest.raises(ExceptionGroup) as error:
        await run_due(any_house.service)
    assert [str(failure) for failure in error.value.exceptions] == ["a defect"]
    assert [row.profile_id for row in await reports(any_house)] == [good]
    assert await run_due(any_house.service) == ()  # the bad one waits for its next try


async def test_the_loop_makes_what_becomes_due_and_ends_when_cancelled(any_house: Any) -> None:
    id_ = await profile(any_house)
    await come_due(any_house, id_)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: schedule_loop(any_house.service, round_seconds=0.01))
        with anyio.fail_after(60):
            while not await reports(any_house):
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()


# -- by hand -----------------------------------------------------------------------------------


async def test_a_report_is_made_by_hand_for_a_named_period(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    id_ = await profile(any_house, frequency="manual")
    await taken_in(any_house, publisher, feed("Cranes stop in the port", "Cranes sold to Malta"))
    now = any_house.clock.now()
    start, end = now - timedelta(minutes=150), now - timedelta(minutes=90)
    window = Window(end, start, "published")
    report = await make_report(any_house.service, TENANT, id_, window)
    assert (report.period.start, report.period.end) == (start, end)
    assert await titles_of(any_house, report) == ["Cranes sold to Malta"]
    assert await make_report(any_house.service, TENANT, id_, window) == report


async def test_a_period_without_a_beginning_is_taken(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    id_ = await profile(any_house)
    await taken_in(any_house, publisher, feed("Cranes stop in the port"))
    now = any_house.clock.now()
    until = await make_report(any_house.service, TENANT, id_, Window(now, None, "published"))
    assert until.counts.sources == 1


async def test_a_report_by_hand_without_a_period_covers_all_at_first(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    id_ = await profile(any_house)
    await taken_in(any_house, publisher, feed("Cranes stop in the port"))
    report = await make_report(any_house.service, TENANT, id_)
    assert report.counts.sources == 1
    assert (await due(any_house, id_)).last_report_id == report.id


async def test_no_report_is_made_for_a_profile_of_another_workspace(any_house: Any) -> None:
    id_ = await profile(any_house)
    with pytest.raises(Problem):
        await make_report(any_house.service, "wsp_" + "b" * 24, id_)
