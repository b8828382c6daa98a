"""Schedules against a calendar that is walked minute by minute, and the laws of runs.

The calendar knows nothing of the code: it looks at the clock on the wall at every minute of a
year and notes when each local time was first shown or passed.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.operation.schedule import (
    TIMED_FREQUENCIES,
    Frequency,
    Schedule,
    is_zone,
    last_run,
    next_run,
    period_start,
)

DAY = 24 * 60  # minutes
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EPOCH_DAYS = EPOCH.toordinal()


def minutes(year: int, month: int = 1, day: int = 1) -> int:
    return (date(year, month, day) - date(1970, 1, 1)).days * DAY


def instant(minute: int) -> datetime:
    return EPOCH + timedelta(minutes=minute)


# -- the calendar ------------------------------------------------------------------------------


class Calendar:
    """When each local time of a stretch was first shown or passed by the clock on the wall."""

    def __init__(self, zone: str, first: int, end: int) -> None:
        self.zone = zone
        self.first, self.end = first, end
        self.reached: dict[int, int] = {}
        self.days: set[int] = set()
        clock, highest = ZoneInfo(zone), 0
        for minute in range(first - 2 * DAY, end):
            local = datetime.fromtimestamp(minute * 60, clock)
            wall = local.toordinal() * DAY + local.hour * 60 + local.minute - EPOCH_DAYS * DAY
            if wall > highest:
                self.days.add(wall // DAY)
                for minute_index in range(highest + 1 if highest else wall, wall + 1):
                    self.reached[minute_index] = minute
                highest = wall

    def runs(self, frequency: str, at: str, day: int | None) -> list[datetime]:
        """Every run in the stretch."""
        hour, minute = map(int, at.split(":"))
        rows = []
        for number in range(self.first // DAY - 1, self.end // DAY + 2):
            is_there = number in self.days or frequency in ("weekly", "monthly")
            wall = number * DAY + hour * 60 + minute
            if is_there and self.falls_on(frequency, number, day) and wall in self.reached:
                rows.append(self.reached[wall])
        return [instant(minute) for minute in rows if self.first < minute < self.end]

    @staticmethod
    def falls_on(frequency: str, number: int, day: int | None) -> bool:
        on = date(1970, 1, 1) + timedelta(days=number)
        return {
            "daily": True,
            "weekdays": on.strftime("%a") not in ("Sat", "Sun"),
            "weekly": on.strftime("%u") == str(day),
            "monthly": on.strftime("%d") == f"{day:02}" if day else False,
        }[frequency]


def by_hand(zone: str, year: int) -> Any:
    return pytest.param(zone, date(year, 1, 1), 367, marks=pytest.mark.soak, id=f"{zone}-{year}")


STRETCHES = [
    ("Europe/Paris", date(2026, 1, 1), 367),
    ("Australia/Lord_Howe", date(2026, 3, 20), 20),  # half an hour back
    ("Australia/Lord_Howe", date(2026, 9, 20), 20),  # half an hour forward
    ("Africa/Cairo", date(2014, 5, 10), 140),  # four changes in a year, at midnight
    ("Pacific/Apia", date(2011, 12, 15), 30),  # a day left out
    ("America/St_Johns", date(2010, 10, 25), 20),  # back a minute after midnight
    *(by_hand("Pacific/Apia", year) for year in (2010, 2011, 2012, 2026)),
    by_hand("UTC", 2026),
    by_hand("America/New_York", 2026),
    by_hand("Australia/Lord_Howe", 2026),
    by_hand("America/St_Johns", 2026),  # 3:30
    by_hand("Asia/Kathmandu", 2026),  # 5:45, no change
    by_hand("Africa/Casablanca", 2026),  # back for Ramadan
    by_hand("Africa/Cairo", 2014),
    by_hand("America/Nuuk", 2024),  # the gap ends at midnight
    by_hand("America/Sao_Paulo", 2018),  # the gap begins at midnight
]
TIMES = ["00:00", "00:30", "01:45", "02:00", "02:15", "02:59", "03:30", "12:00", "23:30", "23:59"]
KINDS: list[tuple[Frequency, int | None]] = [
    ("daily", None),
    ("weekdays", None),
    ("weekly", 5),
    ("weekly", 7),
    ("monthly", 1),
    ("monthly", 28),
]


def minute_walk(schedule: Schedule, first: datetime, end: datetime) -> Iterator[datetime]:
    run = next_run(schedule, first)
    while run is not None and run < end:
        yield run
        run = next_run(schedule, run)


@pytest.mark.parametrize(("zone", "start", "days"), STRETCHES)
def test_the_runs_equal_a_calendar_walked_by_minutes(zone: str, start: date, days: int) -> None:
    first = minutes(start.year, start.month, start.day)
    end = first + days * DAY
    calendar = Calendar(zone, first, end)
    for frequency, day in KINDS:
        for at in TIMES:
            expected = calendar.runs(frequency, at, day)
            schedule = Schedule(frequency, at, zone, day)
            assert list(minute_walk(schedule, instant(first), instant(end))) == expected
            for before, run in zip(expected[::3], expected[1::3], strict=False):
                assert period_start(schedule, run) == before
                assert last_run(schedule, run) == run
                assert last_run(schedule, run + timedelta(minutes=45)) == run
                assert last_run(schedule, run - timedelta(seconds=1)) == before


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "Australia/Lord_Howe"])
def test_hourly_runs_are_the_hours_of_the_year_in_every_zone(zone: str) -> None:
    first, end = instant(minutes(2026)), instant(minutes(2027))
    hours = list(minute_walk(Schedule("hourly", None, zone), first, end))
    assert hours == [first + timedelta(hours=n) for n in range(1, 365 * 24)]


def test_the_calendar_says_what_everybody_can_check_of_a_gap_and_an_overlap() -> None:
    spring = Calendar("Australia/Lord_Howe", minutes(2026, 10, 2), minutes(2026, 10, 6))
    assert datetime(2026, 10, 3, 15, 30, tzinfo=UTC) in spring.runs("daily", "02:15", None)
    autumn = Calendar("Australia/Lord_Howe", minutes(2026, 4, 3), minutes(2026, 4, 7))
    runs = autumn.runs("daily", "01:45", None)
    assert datetime(2026, 4, 4, 14, 45, tzinfo=UTC) in runs  # the first of two
    assert datetime(2026, 4, 4, 15, 15, tzinfo=UTC) not in runs


# -- laws --------------------------------------------------------------------------------------

ZONES = sorted(zone for zone in available_timezones() if is_zone(zone))
INSTANTS = st.datetimes(
    min_value=datetime(1972, 1, 1), max_value=datetime(2060, 1, 1), timezones=st.just(UTC)
)
TIMES_OF_DAY = st.builds("{:02}:{:02}".format, st.integers(0, 23), st.integers(0, 59))


@st.composite
def schedules(draw: Any, among: frozenset[str] = TIMED_FREQUENCIES | {"hourly"}) -> Schedule:
    frequency = draw(st.sampled_from(sorted(among)))
    days = {"weekly": st.integers(1, 7), "monthly": st.integers(1, 28)}
    return Schedule(
        frequency,
        draw(TIMES_OF_DAY) if frequency in TIMED_FREQUENCIES else None,
        draw(st.sampled_from(ZONES)),
        draw(days.get(frequency, st.none())),
    )


def run_after(schedule: Schedule, after: datetime) -> datetime:
    run = next_run(schedule, after)
    assert run is not None
    return run


@given(schedule=schedules(), at=INSTANTS)
def test_the_next_run_is_strictly_later_and_nothing_lies_between(
    schedule: Schedule, at: datetime
) -> None:
    run = run_after(schedule, at)
    assert run > at
    assert run.utcoffset() == timedelta()
    assert run_after(schedule, run - timedelta(microseconds=1)) == run  # it is found again
    between = at + (run - at) / 2
    assert run_after(schedule, between) == run
    assert last_run(schedule, between) == last_run(schedule, at)


@given(schedule=schedules(), start=INSTANTS, span=st.timedeltas(timedelta(), timedelta(days=40)))
def test_a_later_instant_never_has_an_earlier_run(
    schedule: Schedule, start: datetime, span: timedelta
) -> None:
    assert run_after(schedule, start) <= run_after(schedule, start + span)


@given(schedule=schedules(), at=INSTANTS)
def test_the_last_run_and_the_next_are_neighbours(schedule: Schedule, at: datetime) -> None:
    last, run = last_run(schedule, at), run_after(schedule, at)
    assert last is not None
    assert last <= at < run
    assert run_after(schedule, last) == run
    assert period_start(schedule, run) == last
    assert last_run(schedule, run) == run


@given(schedule=schedules(frozenset({"daily"})), at=INSTANTS)
def test_every_local_day_has_exactly_one_daily_run(schedule: Schedule, at: datetime) -> None:
    """A run is of the day at whose time of day, or first instant after it, the clock stands."""
    zone = ZoneInfo(schedule.zone)
    runs = [at]
    for _ in range(10):
        runs.append(run_after(schedule, runs[-1]))
    days = [shown_day(schedule, run, zone) for run in runs[1:]]
    for before, after in pairwise(days):
        missing = {before + timedelta(days=n) for n in range(1, (after - before).days)}
        assert before < after
        assert all(not is_real_day(day, zone) for day in missing)


def shown_day(schedule: Schedule, run: datetime, zone: ZoneInfo) -> date:
    """The local day of a run: its own, or the day before when a gap moved it past midnight."""
    local = run.astimezone(zone)
    if local.strftime("%H:%M") >= (schedule.time_of_day or ""):
        return local.date()
    return local.date() - timedelta(days=1)


def is_real_day(day: date, zone: ZoneInfo) -> bool:
    """Whether any quarter of an hour of that day was ever shown in the zone."""
    start = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(hours=16)
    quarters = (start + timedelta(minutes=15 * n) for n in range(56 * 4))
    return any(quarter.astimezone(zone).date() == day for quarter in quarters)


@given(old=schedules(), new=schedules(), at=INSTANTS)
def test_other_zone_data_or_another_schedule_never_runs_an_instant_twice(
    old: Schedule, new: Schedule, at: datetime
) -> None:
    """New zone data are another zone by the same name: what was planned stays as it was."""
    next_instant = run_after(old, at)
    following = run_after(new, next_instant)
    assert following > next_instant
    assert last_run(new, following) == following
