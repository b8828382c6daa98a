"""When something is due: frequencies, clock changes and a brute-force calendar."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.schedule import Schedule, is_zone, next_run, period_start


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "after", "due"),
    [
        (Schedule("hourly"), "2026-03-04 10:20", "2026-03-04 11:00"),
        (Schedule("hourly"), "2026-03-04 10:00", "2026-03-04 11:00"),
        (Schedule("daily", "07:30"), "2026-03-04 07:29", "2026-03-04 07:30"),
        (Schedule("daily", "07:30"), "2026-03-04 07:30", "2026-03-05 07:30"),
        (Schedule("daily", "07:30", "Asia/Tokyo"), "2026-03-04 00:00", "2026-03-04 22:30"),
        (Schedule("weekdays", "07:30"), "2026-03-06 08:00", "2026-03-09 07:30"),
        (Schedule("weekly", "07:30", "UTC", 3), "2026-03-04 08:00", "2026-03-11 07:30"),
        (Schedule("weekly", "07:30"), "2026-03-04 08:00", "2026-03-09 07:30"),
        (Schedule("monthly", "07:30", "UTC", 28), "2026-02-28 08:00", "2026-03-28 07:30"),
        (Schedule("monthly", "07:30"), "2026-03-04 08:00", "2026-04-01 07:30"),
        # Skipped by the clock change: due at the first instant after the gap.
        (Schedule("daily", "02:30", "Europe/Paris"), "2026-03-28 12:00", "2026-03-29 01:00"),
        (Schedule("daily", "02:00", "America/New_York"), "2026-03-07 12:00", "2026-03-08 07:00"),
        (Schedule("daily", "02:15", "Australia/Lord_Howe"), "2026-10-03 00:00", "2026-10-03 15:30"),
        # Repeated by the clock change: due once, at its first occurrence.
        (Schedule("daily", "02:30", "Europe/Paris"), "2026-10-24 12:00", "2026-10-25 00:30"),
        (Schedule("daily", "02:30", "Europe/Paris"), "2026-10-25 00:30", "2026-10-26 01:30"),
    ],
)
def test_the_next_run_is_the_first_due_instant_after(
    schedule: Schedule, after: str, due: str
) -> None:
    assert next_run(schedule, at(after)) == at(due)


def test_a_manual_schedule_is_never_due() -> None:
    assert next_run(Schedule("manual"), at("2026-03-04 10:20")) is None


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Europe/Paris", True),
        ("UTC", True),
        ("Mars/Base", False),
        ("../etc/passwd", False),
        ("", False),
        ("Europe", False),
        ("localtime", False),
        ("posix/Europe/Paris", False),
        ("right/UTC", False),
    ],
)
def test_only_names_of_the_time_zone_database_are_zones(name: str, known: bool) -> None:
    assert is_zone(name) is known


@pytest.mark.parametrize(
    ("schedule", "end", "start"),
    [
        (Schedule("hourly"), "2026-03-04 10:00", "2026-03-04 09:00"),
        (Schedule("daily", "07:30"), "2026-03-04 07:30", "2026-03-03 07:30"),
        (Schedule("weekdays", "07:30"), "2026-03-10 07:30", "2026-03-09 07:30"),
        (Schedule("weekdays", "07:30"), "2026-03-09 07:30", "2026-03-06 07:30"),
        (Schedule("weekly", "07:30"), "2026-03-09 07:30", "2026-03-02 07:30"),
        (Schedule("monthly", "07:30"), "2026-04-01 07:30", "2026-03-01 07:30"),
        (Schedule("monthly", "07:30"), "2026-03-01 07:30", "2026-02-01 07:30"),
        (Schedule("daily", "02:30", "Europe/Paris"), "2026-03-30 00:30", "2026-03-29 01:00"),
        (Schedule("manual"), "2026-03-04 07:30", "2026-03-03 07:30"),
    ],
)
def test_a_report_covers_the_time_since_the_run_before(
    schedule: Schedule, end: str, start: str
) -> None:
    assert period_start(schedule, at(end)) == at(start)


def calendar(schedule: Schedule, start: datetime, days: int) -> list[datetime]:
    """Every due instant by walking minute by minute: slow and plain."""
    zone = ZoneInfo(schedule.zone)
    due = []
    seen: set[str] = set()
    instant = start
    previous = instant.astimezone(zone).replace(tzinfo=None)
    for _ in range(days * 24 * 60):
        instant += timedelta(minutes=1)
        local = instant.astimezone(zone).replace(tzinfo=None)
        day = local.date()
        hour, minute = map(int, (schedule.time_of_day or "").split(":"))
        wanted = datetime(day.year, day.month, day.day, hour, minute)
        reached = previous < wanted <= local or local == wanted
        if reached and wanted.isoformat() not in seen:
            seen.add(wanted.isoformat())
            due.append(instant)
        previous = local
    return due


@given(
    start=st.datetimes(min_value=datetime(2026, 1, 1), max_value=datetime(2026, 12, 1)),
    hour=st.integers(0, 23),
    minute=st.sampled_from([0, 15, 30, 59]),
    zone=st.sampled_from(["UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe"]),
)
def test_daily_runs_equal_a_calendar_walked_by_minutes(
    start: datetime, hour: int, minute: int, zone: str
) -> None:
    schedule = Schedule("daily", f"{hour:02}:{minute:02}", zone)
    first = start.replace(second=0, microsecond=0, tzinfo=UTC)
    expected = calendar(schedule, first, 3)
    runs = []
    moment: datetime | None = first
    while len(runs) < len(expected) and moment is not None:
        moment = next_run(schedule, moment)
        assert moment is not None
        runs.append(moment)
    assert runs == expected
