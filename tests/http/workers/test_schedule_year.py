"""A year of schedules through the worker, by a clock that is moved: nothing twice, no hole.

What is due is asked of the store, as the worker does; what was made is asked of the store and of
the change feed.
"""

import asyncio
import contextlib
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import anyio
import attrs
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
    run_state_machine_as_test,
)

from svc_core import catalog
from svc_core.operation.context import Context
from svc_core.operation.ports import FeedPosition
from svc_core.operation.schedule import last_run, next_run
from svc_core.reports.model import FACETS, REPORTS, ReportRow
from svc_core.reports.profiles import operations as profiles
from svc_core.reports.profiles import subscriptions
from svc_core.reports.profiles.model import (
    DUE,
    PROFILES,
    SUBSCRIPTIONS,
    Due,
    Profile,
    ProfileInput,
)
from svc_core.reports.profiles.operations import subscription_of
from svc_core.reports.report_runs import make_report
from svc_core.testing.clock import START
from svc_http.service.workers import schedules as schedule
from svc_http.service.workers.schedules import SETTLING, run_due
from svc_http.stores import MemoryStorage
from tests.sampling import examples

pytestmark = pytest.mark.anyio

TENANT = "wsp_" + "a" * 24
DAY = timedelta(days=1)


class Town:
    """What people and the scheduler do with the profiles of one workspace."""

    def __init__(self, house: Any) -> None:
        self.house = house
        self.service = house.service

    @property
    def now(self) -> datetime:
        now: datetime = self.house.clock.now()
        return now

    def move_to(self, at: datetime) -> None:
        self.house.clock.advance((at - self.now).total_seconds())

    # -- people --------------------------------------------------------------------------------

    async def profile(self, **members: Any) -> str:
        wish = ProfileInput(**{"name": "Ports", "topic": "Cranes", **members})
        creation = await self.service.write(
            TENANT, lambda ctx: profiles.create_profile(ctx, profiles.CreateProfile(wish))
        )
        return str(creation.location.rpartition("/")[2])

    async def patch(self, id_: str, **members: Any) -> None:
        async def unit(ctx: Context) -> None:
            target = await ctx.load(PROFILES, id_)
            await profiles.PROFILE_ROWS.set_members(attrs.evolve(ctx, target=target), **members)

        await self.service.write(TENANT, unit)

    async def subscribe(self, id_: str, status: Any) -> None:
        async def unit(ctx: Context) -> None:
            subscription = await subscription_of(ctx, id_)
            target = await ctx.load(SUBSCRIPTIONS, subscription.id)
            row = attrs.evolve(ctx, target=target)
            await subscriptions.SUBSCRIPTION_ROWS.set_members(row, status=status)

        await self.service.write(TENANT, unit)

    async def delete(self, id_: str) -> None:
        await self.service.write(
            TENANT, lambda ctx: profiles.delete_profile(ctx, profiles.ProfileRequest(id_))
        )

    # -- the scheduler -------------------------------------------------------------------------

    async def run(self) -> list[ReportRow]:
        """Let the worker make all that is due now."""
        rows_made: list[ReportRow] = []
        while rows := await run_due(self.service):
            rows_made += rows
        return rows_made

    async def run_until(self, end: datetime, late: Callable[[], timedelta]) -> list[ReportRow]:
        """Move the clock from one due run to the next, each time a little late."""
        rows_made: list[ReportRow] = []
        while True:
            (first,) = await self.house.storage.across(DUE, limit=1)
            upcoming = DUE.decode(first.document.raw).next_run_at
            if upcoming is None or upcoming >= end:
                self.move_to(end)
                return rows_made
            self.move_to(max(upcoming + SETTLING + late(), self.now))
            rows = await self.run()
            assert rows, "what is due is made"
            rows_made += rows

    # -- what is there -------------------------------------------------------------------------

    async def due(self, id_: str) -> Due:
        row: Due = await self.service.read(TENANT, lambda ctx: ctx.value(DUE, id_))
        return row

    async def current(self, id_: str) -> Profile:
        row: Profile = await self.service.read(TENANT, lambda ctx: ctx.value(PROFILES, id_))
        return row

    async def reports(self, id_: str | None = None) -> list[ReportRow]:
        """The reports (of a profile), the earliest period first."""
        rows = await self.house.rows(REPORTS, TENANT)
        own = [row for row in rows if id_ in (None, row.profile_id)]
        return sorted(own, key=lambda row: row.period.end)

    async def feed(self, change_type: str = "created") -> list[str]:
        """The identifiers of the reports that the change feed tells of, in its order."""
        feed = await self.service.read(
            TENANT, lambda ctx: ctx.tx.changes.read(FeedPosition(), limit=100_000)
        )
        return [
            change.resource_id
            for change in feed.changes
            if (change.resource_type, change.change_type) == ("report", change_type)
        ]

    async def check_once(self, rows_made: list[ReportRow]) -> None:
        """What the worker says that it made is what is there, and what the feed tells, once."""
        assert sorted(row.id for row in rows_made) == sorted(row.id for row in await self.reports())
        assert await self.feed() == [row.id for row in rows_made]
        assert await self.feed("updated") == []
        assert len({(row.profile_id, row.period.end) for row in rows_made}) == len(rows_made)

    async def check_tiles(self, id_: str) -> list[ReportRow]:
        """Each report of the profile begins where the one before it ended."""
        rows = await self.reports(id_)
        assert all(row.period.start < row.period.end <= row.generated_at for row in rows)
        for before, after in pairwise(rows):
            assert after.period.start == before.period.end
        for row in rows:
            await self.service.read(TENANT, lambda ctx, row=row: ctx.load(FACETS, row.id))
        return rows


@pytest.fixture
def town(any_house: Any) -> Town:
    return Town(any_house)


def punctual() -> timedelta:
    return timedelta()


def runs_between(profile: Profile, start: datetime, end: datetime) -> list[datetime]:
    runs, run = [], next_run(profile.schedule, start)
    while run is not None and run < end:
        runs.append(run)
        run = next_run(profile.schedule, run)
    return runs


# -- a year ------------------------------------------------------------------------------------

YEAR: list[dict[str, Any]] = [
    {"frequency": "daily", "schedule_time_of_day": "02:30", "timezone": "Europe/Paris"},
    {
        "frequency": "weekly",
        "schedule_time_of_day": "23:59",
        "timezone": "America/St_Johns",
        "schedule_day": 7,
    },
    {"frequency": "monthly", "schedule_time_of_day": "07:30", "schedule_day": 28},
    {"frequency": "manual"},
]


async def test_a_year_has_one_report_for_each_period_and_no_hole(town: Town) -> None:
    flushes = not isinstance(town.house.storage, MemoryStorage)  # the daily ones cost seconds
    ids = [await town.profile(**members) for members in YEAR[flushes:]]
    late, end = random.Random(1), START + 365 * DAY
    rows_made = await town.run_until(end, lambda: timedelta(seconds=late.randrange(3_000)))
    for id_ in ids:
        rows = await town.check_tiles(id_)
        profile = await town.current(id_)
        assert [row.period.end for row in rows] == runs_between(profile, START, end)
    await town.check_once(rows_made)
    assert len(rows_made) == 52 + 12 + (0 if flushes else 365)


@pytest.mark.soak
@pytest.mark.parametrize(
    "members",
    [
        {"frequency": "hourly", "timezone": "Asia/Kathmandu"},
        {"frequency": "weekdays", "schedule_time_of_day": "00:00", "timezone": "Africa/Cairo"},
        {"frequency": "daily", "schedule_time_of_day": "02:15", "timezone": "Australia/Lord_Howe"},
    ],
)
@pytest.mark.parametrize("seed", range(2))
async def test_every_year_has_one_report_for_each_period(
    town: Town, members: dict[str, Any], seed: int
) -> None:
    id_ = await town.profile(**members)
    late, end = random.Random(seed), START + 365 * DAY
    rows_made = await town.run_until(end, lambda: timedelta(seconds=late.randrange(3_500)))
    rows = await town.check_tiles(id_)
    assert [row.period.end for row in rows] == runs_between(await town.current(id_), START, end)
    await town.check_once(rows_made)


@pytest.mark.parametrize("seconds", [3_569, 3_570, 3_571, 3_599, 3_600, 3_601, 3_629, 3_630])
async def test_a_run_that_is_nearly_an_hour_late_takes_none_from_the_next(
    house: Any, seconds: int
) -> None:
    town = Town(house)
    id_ = await town.profile(frequency="hourly")
    rows_made = await town.run_until(START + DAY, lambda: timedelta(seconds=seconds))
    rows = await town.check_tiles(id_)
    assert rows == rows_made
    ends = runs_between(await town.current(id_), START, START + DAY)
    holes = {end for end in ends if end not in [row.period.end for row in rows]}
    # Only a run at whose time the next one is over as well is caught up by that.
    assert bool(holes) is (seconds >= 3_600)
    assert all(end + timedelta(hours=1) in [row.period.end for row in rows] for end in holes)


# -- what comes between ------------------------------------------------------------------------


async def test_three_days_of_absence_are_caught_up_by_one_report_each(town: Town) -> None:
    hourly = await town.profile(frequency="hourly")
    daily = await town.profile(frequency="daily", schedule_time_of_day="07:30")
    weekly = await town.profile(frequency="weekly", schedule_time_of_day="07:30", schedule_day=1)
    rows_made = await town.run_until(START + DAY, punctual)
    counts = {id_: len(await town.reports(id_)) for id_ in (hourly, daily, weekly)}
    start = town.now
    town.move_to(start + 3 * DAY)
    back = await town.run()
    assert sorted(row.profile_id for row in back) == sorted((hourly, daily, weekly))
    assert all(row.period.end - row.period.start >= 2 * DAY for row in back)
    end = START + 5 * DAY
    rows_made += back + await town.run_until(end, punctual)
    for id_ in (hourly, daily, weekly):
        rows = await town.check_tiles(id_)
        caught_up = rows[counts[id_]]
        runs = runs_between(await town.current(id_), START, end)
        assert caught_up.period.end == max(run for run in runs if run <= start + 3 * DAY - SETTLING)
        assert [row.period.end for row in rows[counts[id_] :]] == [
            run for run in runs if run >= caught_up.period.end
        ]
    await town.check_once(rows_made)


@pytest.mark.parametrize("part", ["profile", "subscription"])
async def test_after_a_pause_the_first_report_tells_what_came_meanwhile(
    town: Town, part: str
) -> None:
    id_ = await town.profile(frequency="daily", schedule_time_of_day="07:30")

    async def switch(status: Any) -> None:
        await (town.patch(id_, status=status) if part == "profile" else town.subscribe(id_, status))

    rows_made = await town.run_until(START + 3 * DAY, punctual)
    await switch("paused")
    assert await town.run_until(START + 40 * DAY, punctual) == []
    await switch("active")
    rows_made += await town.run_until(START + 43 * DAY, punctual)
    rows = await town.check_tiles(id_)
    spans = [row.period.end - row.period.start for row in rows[1:]]
    assert [span for span in spans if span != DAY] == [38 * DAY]
    await town.check_once(rows_made)


async def test_a_schedule_that_changes_leaves_no_hole(town: Town) -> None:
    id_ = await town.profile(frequency="hourly")
    rows_made = await town.run_until(START + timedelta(hours=12), punctual)
    changes: list[dict[str, Any]] = [
        {"frequency": "daily", "schedule_time_of_day": "07:30"},
        {"timezone": "Pacific/Auckland"},
        {"schedule_time_of_day": "07:29"},
        {"frequency": "manual", "schedule_time_of_day": None},
        {"frequency": "weekdays", "schedule_time_of_day": "18:00"},
        {"timezone": "America/New_York"},
        {"frequency": "hourly", "schedule_time_of_day": None},
    ]
    for number, members in enumerate(changes, 1):
        await town.patch(id_, **members)
        days = 4 * number - 3 * (members.get("frequency") == "hourly")
        rows_made += await town.run_until(START + days * DAY, punctual)
        runs = runs_between(await town.current(id_), START, town.now)
        upcoming = (await town.due(id_)).next_run_at
        assert upcoming is None or upcoming >= town.now
        if runs:
            assert (await town.reports(id_))[-1].period.end == runs[-1]
    await town.check_tiles(id_)
    await town.check_once(rows_made)


async def test_a_new_name_while_a_report_is_due_costs_no_report(town: Town) -> None:
    id_ = await town.profile(frequency="daily", schedule_time_of_day="07:30")
    run_at = (await town.due(id_)).next_run_at
    assert run_at is not None
    town.move_to(run_at + timedelta(seconds=5))
    await town.patch(id_, name="Harbours")
    town.move_to(run_at + SETTLING)
    assert [row.period.end for row in await town.run()] == [run_at]


async def test_a_report_by_hand_at_a_run_is_not_told_again(town: Town) -> None:
    """It covers the run that settles meanwhile; the next begins where it surely ends."""
    id_ = await town.profile(frequency="hourly")
    run_at = (await town.due(id_)).next_run_at
    assert run_at is not None
    town.move_to(run_at + 2 * SETTLING)
    by_hand = await make_report(town.service, TENANT, id_)
    assert await town.run() == []
    rows_made = await town.run_until(run_at + timedelta(hours=3), punctual)
    assert [row.period.end for row in rows_made] == [run_at + timedelta(hours=n) for n in (1, 2)]
    assert rows_made[0].period.start == by_hand.period.end - SETTLING


async def test_a_clock_that_jumps_neither_repeats_nor_forgets(town: Town) -> None:
    id_ = await town.profile(frequency="daily", schedule_time_of_day="07:30")
    rows_made: list[ReportRow] = []
    for hours in (30, -5, 24, -1, 50, -30, 10, 26, 24):
        town.move_to(town.now + timedelta(hours=hours))
        rows_made += await town.run()
    await town.check_tiles(id_)
    await town.check_once(rows_made)


# -- many workers ------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [2, 8])
async def test_workers_on_one_store_never_make_a_report_twice(town: Town, workers: int) -> None:
    ids = [await town.profile(name=f"P{number}", frequency="hourly") for number in range(5)]
    rows_made: list[ReportRow] = []
    for _ in range(4):
        first = (await town.due(ids[0])).next_run_at
        assert first is not None
        town.move_to(first + SETTLING)

        async def work() -> None:
            rows_made.extend(await town.run())

        async with anyio.create_task_group() as tasks:
            for _ in range(workers):
                tasks.start_soon(work)
    assert len(rows_made) == 4 * len(ids)
    for id_ in ids:
        assert len(await town.check_tiles(id_)) == 4
    assert sorted(await town.feed()) == sorted(row.id for row in rows_made)
    assert await town.feed("updated") == []


# -- defects -------------------------------------------------------------------------------------


async def test_a_failing_profile_is_tried_ever_more_rarely_while_others_go_on(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = [await town.profile(frequency="hourly") for _ in range(2)]
    compose, tries, is_broken = schedule.compose_report, [], True

    async def compose_or_fail(service: Any, tenant: str, id_: str, window: Any) -> Any:
        if id_ == bad and is_broken:
            tries.append(town.now)
            raise ArithmeticError("a defect")
        return await compose(service, tenant, id_, window)

    monkeypatch.setattr(schedule, "compose_report", compose_or_fail)
    for _ in range(6 * 60):
        town.house.clock.advance(60)
        with contextlib.suppress(ExceptionGroup):
            await run_due(town.service)
    waits = [after - before for before, after in pairwise(tries)]
    assert len(tries) == 6  # after 5, 10, 20, 40 and 80 minutes
    assert all(before < after for before, after in pairwise(waits))
    assert len(await town.check_tiles(good)) == 6
    is_broken = False
    await town.run_until(town.now + DAY, punctual)
    first, *rest = await town.check_tiles(bad)
    assert first.period.end.minute == 0  # late, yet it ends at a run
    assert all(row.period.end - row.period.start == timedelta(hours=1) for row in rest)
    assert (await town.due(bad)).failures == 0


# -- whatever order ----------------------------------------------------------------------------

SCHEDULES: list[dict[str, Any]] = [
    {"frequency": "hourly"},
    {"frequency": "manual"},
    {"frequency": "daily", "schedule_time_of_day": "00:00"},
    {"frequency": "daily", "schedule_time_of_day": "02:30"},
    {"frequency": "weekdays", "schedule_time_of_day": "23:30"},
    {"frequency": "weekly", "schedule_time_of_day": "12:00"},
    {"frequency": "monthly", "schedule_time_of_day": "02:00"},
]
ZONES = ["UTC", "Europe/Paris", "Australia/Lord_Howe", "America/Nuuk", "Asia/Kathmandu"]


@attrs.define
class ExpectedState:
    """What a person would say of one profile: when it is due next and how far it was told."""

    profile: Profile
    is_active: bool = True
    next_run_at: datetime | None = None
    covered_until: datetime | None = None
    reports: int = 0

    def plan(self, now: datetime) -> None:
        floor = now if self.covered_until is None else max(now, self.covered_until)
        self.next_run_at = next_run(self.profile.schedule, floor) if self.is_active else None


class Machine(RuleBasedStateMachine):
    """Changes, pauses, absences and reports in any order, beside a model of a few lines."""

    ids = Bundle("made")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.town = Town(MACHINE_HOUSE(MemoryStorage(catalog.COLLECTIONS)))
        self.expected: dict[str, ExpectedState] = {}

    def teardown(self) -> None:
        self.runner.close()

    def do(self, work: Any) -> Any:
        return self.runner.run(work)

    @rule(target=ids, members=st.sampled_from(SCHEDULES), zone=st.sampled_from(ZONES))
    def create(self, members: dict[str, Any], zone: str) -> str:
        id_: str = self.do(self.town.profile(**members, timezone=zone))
        self.expected[id_] = ExpectedState(self.do(self.town.current(id_)))
        self.expected[id_].plan(self.town.now)
        return id_

    @rule(id_=ids, members=st.sampled_from(SCHEDULES), zone=st.sampled_from(ZONES))
    def reschedule(self, id_: str, members: dict[str, Any], zone: str) -> None:
        whole = {"schedule_time_of_day": None, **members, "timezone": zone}
        self.do(self.town.patch(id_, **whole))
        state, before = self.expected[id_], self.expected[id_].profile.schedule
        state.profile = self.do(self.town.current(id_))
        if state.profile.schedule != before:
            state.plan(self.town.now)

    @rule(id_=ids, name=st.sampled_from(["Ports", "Harbours"]))
    def rename(self, id_: str, name: str) -> None:
        self.do(self.town.patch(id_, name=name))

    @rule(id_=ids, is_active=st.booleans())
    def switch(self, id_: str, is_active: bool) -> None:
        self.do(self.town.subscribe(id_, "active" if is_active else "paused"))
        state = self.expected[id_]
        if state.is_active != is_active:
            state.is_active = is_active
            state.plan(self.town.now)

    @rule(id_=consumes(ids))
    def delete(self, id_: str) -> None:
        self.do(self.town.delete(id_))
        del self.expected[id_]

    @rule(
        span=st.one_of(
            st.timedeltas(timedelta(), timedelta(hours=2)), st.timedeltas(timedelta(), 40 * DAY)
        ),
        work=st.booleans(),
    )
    def wait(self, span: timedelta, work: bool) -> None:
        self.town.move_to(self.town.now + span)
        if not work:
            return
        rows, ready = self.do(self.town.run()), self.town.now - SETTLING
        expected_runs = set()
        for id_, state in self.expected.items():
            if state.next_run_at is None or state.next_run_at > ready:
                continue
            end = last_run(state.profile.schedule, ready)
            assert end is not None
            state.covered_until, state.next_run_at = end, next_run(state.profile.schedule, end)
            state.reports += 1
            expected_runs.add((id_, end))
        assert {(row.profile_id, row.period.end) for row in rows} == expected_runs
        assert len(rows) == len(expected_runs)

    @invariant()
    def everything_is_as_a_person_would_say(self) -> None:
        for id_, state in self.expected.items():
            due = self.do(self.town.due(id_))
            assert (due.next_run_at, due.covered_until) == (state.next_run_at, state.covered_until)
            assert len(self.do(self.town.check_tiles(id_))) == state.reports
        assert len(self.do(self.town.reports())) == sum(
            state.reports for state in self.expected.values()
        )


MACHINE_HOUSE: Any = None


@pytest.fixture
def machine_house(house: Any) -> Any:
    return type(house)


def test_changes_pauses_and_absences_in_any_order_leave_no_hole(machine_house: Any) -> None:
    global MACHINE_HOUSE  # noqa: PLW0603 - a state machine is made without arguments
    MACHINE_HOUSE = machine_house
    run_state_machine_as_test(Machine, settings=examples(40, stateful_step_count=20))
