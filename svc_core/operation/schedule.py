"""Schedules: when a recurring task is due, in its own time zone.

Rule 1: a local time that a clock change skips is due at the first instant after the gap.
Rule 2: a local time that a clock change repeats is due once, at its first occurrence.
Rule 3: the next run lies strictly after the given instant, so a run never makes itself due again.
Rule 4: a day that a zone leaves out whole has no run of its own; a weekly or monthly one that
        falls on it is due by rule 1, so that no week and no month goes without.
Rule 5: hourly runs are at the whole hours of UTC, which no clock change moves.

`zoneinfo` reads the IANA database, which is reference data like the Unicode tables: the same
answer for everybody, no state of this machine.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from attrs import frozen

from svc_core.wire import InputFault

Frequency = Literal["hourly", "daily", "weekdays", "weekly", "monthly", "manual"]

TIMED_FREQUENCIES: frozenset[str] = frozenset({"daily", "weekdays", "weekly", "monthly"})
"""Frequencies that need a time of day."""

EVERY_DAY: frozenset[str] = frozenset({"daily", "weekdays"})
"""Frequencies whose next run is at most a few days away."""

_LOCAL_ZONES = frozenset({"localtime", "posixrules", "Factory"})  # names of a machine's own zone

_DAY_MAX = {"weekly": 7, "monthly": 28}

DAYS_MAX = 64
"""Two months and a few days: every timed frequency has a run within that, either way."""


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
    if name in _LOCAL_ZONES or name.startswith(("posix/", "right/")):
        return False
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def schedule_faults(
    schedule: Schedule, *, time_of_day: str, day: str, zone: str
) -> list[InputFault]:
    """The faults of a schedule whose members contradict each other, by their JSON Pointers.

    A timed frequency needs a time of day, and only a weekly or monthly one takes a day.
    """
    problems, frequency = [], schedule.frequency
    if frequency in TIMED_FREQUENCIES and schedule.time_of_day is None:
        problems.append(InputFault(time_of_day, f"is required when it is {frequency}"))
    if schedule.day is not None and schedule.day > _DAY_MAX.get(frequency, 0):
        limit = _DAY_MAX.get(frequency)
        reason = "has no meaning" if limit is None else f"must be at most {limit}"
        problems.append(InputFault(day, f"{reason} when it is {frequency}"))
    if not is_zone(schedule.zone):
        problems.append(InputFault(zone, "must be an IANA time zone such as Europe/Paris"))
    return problems


def next_run(schedule: Schedule, after: datetime) -> datetime | None:
    """The first instant strictly after `after` (aware) at which it is due; None when manual."""
    if schedule.frequency == "manual":
        return None
    if schedule.frequency == "hourly":
        return _whole_hour(after) + timedelta(hours=1)
    return next(instant for instant in _instants(schedule, after, 1) if instant > after)


def last_run(schedule: Schedule, until: datetime) -> datetime | None:
    """The latest instant at or before `until` (aware) at which it was due; None when manual."""
    if schedule.frequency == "manual":
        return None
    if schedule.frequency == "hourly":
        return _whole_hour(until)
    return next(instant for instant in _instants(schedule, until, -1) if instant <= until)


def period_start(schedule: Schedule, end: datetime) -> datetime:
    """Where the period of a run at `end` begins: at the run before it.

    An hourly run covers its hour, a manual one the day before it.
    """
    if schedule.frequency not in TIMED_FREQUENCIES:
        return end - timedelta(hours=1 if schedule.frequency == "hourly" else 24)
    return next(instant for instant in _instants(schedule, end, -1) if instant < end)


def _whole_hour(instant: datetime) -> datetime:
    return instant.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _instants(schedule: Schedule, around: datetime, step: Literal[1, -1]) -> Iterator[datetime]:
    """The runs day by day, later or earlier ones, from a day on the other side of `around`.

    From there, as a clock that is set back over midnight shows the day before once more.
    """
    zone = ZoneInfo(schedule.zone)
    hour, minute = (int(part) for part in (schedule.time_of_day or "00:00").split(":"))
    first = around.astimezone(zone).date() - timedelta(days=step)
    for offset in range(DAYS_MAX):
        day = first + timedelta(days=offset * step)
        if _falls_on(schedule, day) and not _is_passed_over(schedule, day, zone):
            yield _instant(day, time(hour, minute), zone)
    raise AssertionError("every timed frequency has a run within these days")


def _is_passed_over(schedule: Schedule, day: date, zone: ZoneInfo) -> bool:
    """Whether the zone leaves the day out whole (rule 4; Samoa did, 2011-12-30).

    Midnight and noon of such a day both lie in the gap.
    """
    if schedule.frequency not in EVERY_DAY or _exists(datetime.combine(day, time(12), zone)):
        return False
    return _instant(day, time(), zone) == _instant(day + timedelta(days=1), time(), zone)


def _falls_on(schedule: Schedule, day: date) -> bool:
    if schedule.frequency == "weekdays":
        return day.weekday() < 5
    if schedule.frequency == "weekly":
        return day.isoweekday() == (schedule.day or 1)
    if schedule.frequency == "monthly":
        return day.day == (schedule.day or 1)
    return True


def _exists(local: datetime) -> bool:
    round_trip = local.astimezone(UTC).astimezone(local.tzinfo)
    return round_trip.replace(tzinfo=None) == local.replace(tzinfo=None)


def _instant(day: date, clock_time: time, zone: ZoneInfo) -> datetime:
    local = datetime.combine(day, clock_time, zone)
    if _exists(local):
        return local.astimezone(UTC)
    # In a gap the two readings of the local time lie on either side of the change, and the
    # change itself is where the offset moves: the first valid instant (rule 1).
    high, low = local.astimezone(UTC), local.replace(fold=1).astimezone(UTC)
    offset = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        if middle.astimezone(zone).utcoffset() == offset:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)
