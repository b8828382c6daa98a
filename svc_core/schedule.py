"""When something recurring is due next, in its own time zone.

Rule 1: a local time that a clock change skips is due at the first instant after the gap.
Rule 2: a local time that a clock change repeats is due once, at its first occurrence.
Rule 3: the next run lies strictly after the given instant, so a run never makes itself due again.

`zoneinfo` reads the IANA database, which is reference data like the Unicode tables: the same
answer for everybody, no state of this machine.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from attrs import frozen

Frequency = Literal["hourly", "daily", "weekdays", "weekly", "monthly", "manual"]

TIMED: frozenset[str] = frozenset({"daily", "weekdays", "weekly", "monthly"})
"""Frequencies that need a time of day."""

_OWN = frozenset({"localtime", "posixrules", "Factory"})  # what a machine calls its own zone

DAYS_AHEAD_MAX = 64
"""Two months and a few days: every timed frequency has a run, and one before it, within that."""


@frozen
class Schedule:
    """A frequency with its local time of day (`HH:MM`), IANA zone and day.

    `day` is 1..7 from Monday for weekly and 1..28 for monthly schedules; None means the first.
    """

    frequency: Frequency
    time_of_day: str | None = None
    zone: str = "UTC"
    day: int | None = None


def is_zone(name: str) -> bool:
    """Whether `name` is an IANA time zone that means the same on every machine."""
    if name in _OWN or name.startswith(("posix/", "right/")):
        return False
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def next_run(schedule: Schedule, after: datetime) -> datetime | None:
    """The first instant strictly after `after` (aware) at which it is due; None when manual."""
    if schedule.frequency == "manual":
        return None
    if schedule.frequency == "hourly":
        hour = after.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        return hour + timedelta(hours=1)
    due = (instant for instant in _instants(schedule, after) if instant > after)
    return next(due)


def period_start(schedule: Schedule, end: datetime) -> datetime:
    """Where the period of a run at `end` begins: at the run before it.

    An hourly run covers its hour, a manual one the day before it.
    """
    if schedule.frequency not in TIMED:
        return end - timedelta(hours=1 if schedule.frequency == "hourly" else 24)
    reach = end - timedelta(days=DAYS_AHEAD_MAX - 2)
    return [instant for instant in _instants(schedule, reach) if instant < end][-1]


def _instants(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    zone = ZoneInfo(schedule.zone)
    hour, minute = (int(part) for part in (schedule.time_of_day or "00:00").split(":"))
    first = after.astimezone(zone).date() - timedelta(days=1)
    for offset in range(DAYS_AHEAD_MAX):
        day = first + timedelta(days=offset)
        if _falls_on(schedule, day):
            yield _instant(day, time(hour, minute), zone)


def _falls_on(schedule: Schedule, day: date) -> bool:
    if schedule.frequency == "weekdays":
        return day.weekday() < 5
    if schedule.frequency == "weekly":
        return day.isoweekday() == (schedule.day or 1)
    if schedule.frequency == "monthly":
        return day.day == (schedule.day or 1)
    return True


def _instant(day: date, at: time, zone: ZoneInfo) -> datetime:
    local = datetime.combine(day, at, zone)
    instant = local.astimezone(UTC)
    if instant.astimezone(zone).replace(tzinfo=None) == local.replace(tzinfo=None):
        return instant
    # In a gap the two readings of the local time lie on either side of the change, and the
    # change itself is where the offset moves: the first valid instant (rule 1).
    before, behind = instant, local.replace(fold=1).astimezone(UTC)
    low, high = min(before, behind), max(before, behind)
    offset = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        if middle.astimezone(zone).utcoffset() == offset:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)
