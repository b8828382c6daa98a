"""When something is due: frequencies, zones and clock changes, by example.

`test_schedule_calendar.py` has the laws and the calendar that is walked minute by minute.
"""

from datetime import UTC, datetime

import pytest

from svc_core.operation.schedule import Schedule, is_zone, last_run, next_run, period_start


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
        # A gap that ends at midnight: the day's run is at the first instant of the next day.
        (Schedule("daily", "23:30", "America/Nuuk"), "2024-03-30 12:00", "2024-03-31 01:00"),
        (Schedule("daily", "23:30", "America/Nuuk"), "2024-03-31 01:00", "2024-04-01 00:30"),
        # Samoa had no 2011-12-30, a Friday: no daily run of its own, but a weekly one.
        (Schedule("daily", "07:30", "Pacific/Apia"), "2011-12-29 17:30", "2011-12-30 17:30"),
        (Schedule("daily", "00:00", "Pacific/Apia"), "2011-12-29 12:00", "2011-12-30 10:00"),
        (Schedule("weekdays", "07:30", "Pacific/Apia"), "2011-12-29 17:30", "2012-01-01 17:30"),
        (Schedule("weekly", "07:30", "Pacific/Apia", 5), "2011-12-29 17:30", "2011-12-30 10:00"),
        # Hourly runs are at whole hours of UTC, wherever the profile is at home.
        (Schedule("hourly", None, "Asia/Kathmandu"), "2026-03-04 10:20", "2026-03-04 11:00"),
    ],
)
def test_the_next_run_is_the_first_due_instant_after(
    schedule: Schedule, after: str, due: str
) -> None:
    assert next_run(schedule, at(after)) == at(due)


def test_a_manual_schedule_is_never_due() -> None:
    assert next_run(Schedule("manual"), at("2026-03-04 10:20")) is None
    assert last_run(Schedule("manual"), at("2026-03-04 10:20")) is None


@pytest.mark.parametrize(
    ("schedule", "until", "due"),
    [
        (Schedule("hourly"), "2026-03-04 10:20", "2026-03-04 10:00"),
        (Schedule("hourly"), "2026-03-04 10:00", "2026-03-04 10:00"),
        (Schedule("daily", "07:30"), "2026-03-04 07:30", "2026-03-04 07:30"),
        (Schedule("daily", "07:30"), "2026-03-04 07:29", "2026-03-03 07:30"),
        (Schedule("weekdays", "07:30"), "2026-03-08 08:00", "2026-03-06 07:30"),
        (Schedule("monthly", "07:30", "UTC", 28), "2026-03-28 07:29", "2026-02-28 07:30"),
        (Schedule("daily", "02:30", "Europe/Paris"), "2026-10-25 01:30", "2026-10-25 00:30"),
        # Sunday 00:00 has been, and the clock was set back to Saturday 23:01 a minute later.
        (Schedule("daily", "00:00", "America/St_Johns"), "2010-11-07 03:00", "2010-11-07 02:30"),
    ],
)
def test_the_last_run_is_the_newest_that_is_not_later(
    schedule: Schedule, until: str, due: str
) -> None:
    assert last_run(schedule, at(until)) == at(due)


@pytest.mark.parametrize(
    ("name", "is_zone_name"),
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
def test_only_names_of_the_time_zone_database_are_zones(name: str, is_zone_name: bool) -> None:
    assert is_zone(name) is is_zone_name


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
        # Asked for just after midnight, two months after the other offset.
        (Schedule("daily", "00:15", "Europe/Paris"), "2026-05-09 22:30", "2026-05-09 22:15"),
    ],
)
def test_a_report_covers_the_time_since_the_run_before(
    schedule: Schedule, end: str, start: str
) -> None:
    assert period_start(schedule, at(end)) == at(start)
