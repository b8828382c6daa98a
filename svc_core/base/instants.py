"""Reads and writes instants (RFC 3339) and intervals of them.

Rule 1: an instant in memory is an aware `datetime` in UTC, from year 1 to year 9999.
Rule 2: the reader takes what RFC 3339 allows and nothing more; `datetime.fromisoformat` takes
        week dates, spaces and missing offsets too, so it is not used.
Rule 3: the writer always gives `YYYY-MM-DDTHH:MM:SS(.ffffff)?Z`, and reading that gives the
        instant back.
"""

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from typing import Final

from attrs import frozen

_FORM: Final = (
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})"
    # Nine digits are nanoseconds; no clock that feeds us writes more.
    r"(?:\.([0-9]{1,9}))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_INSTANT = re.compile(_FORM)
_PLAIN = re.sub(r"\((?!\?)", "(?:", _FORM)
INTERVAL_FORM: Final = rf"(?:{_PLAIN}|{_PLAIN}/(?:\.\.|{_PLAIN})|\.\./{_PLAIN})"
"""The form of an interval as a regular expression; it does not check days or the order."""
_SPACE_FOR_PLUS = re.compile(r"[^ ]{19,29} [0-9]{2}:[0-9]{2}")

_SPAN = re.compile("([0-9]{1,6})([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LAST_MICROSECOND: Final = 999_999
_OPEN: Final = ".."

MILLIS_MAX: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, counted from 1970."""


class InstantError(ValueError):
    """The text is no instant or interval, or the value cannot be written as one."""


@frozen
class Interval:
    """From `start` to `end`, both included; None is an open side. An instant has both equal."""

    start: datetime | None
    end: datetime | None

    def contains(self, instant: datetime) -> bool:
        """Whether `instant` lies in the interval, its bounds included."""
        return (self.start is None or self.start <= instant) and (
            self.end is None or instant <= self.end
        )


def span(text: str) -> timedelta | None:
    """The span of time that a text such as `90s`, `10m` or `7d` names; None where it names none."""
    match = _SPAN.fullmatch(text)
    return None if match is None else timedelta(**{_UNITS[match[2]]: int(match[1])})


def parse(text: str) -> datetime:
    """The instant that an RFC 3339 date-time names, in UTC, cut to microseconds.

    A leap second (23:59:60 UTC on the last day of a month) becomes the last microsecond of its
    minute, because a `datetime` cannot hold it. `-00:00` is UTC.

    Raises:
        InstantError: the text is anything else, or lies outside the years 0001 to 9999 in UTC.
    """
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise InstantError(_refusal_reason(text))
    year, month, day, hour, minute, second = map(int, match.group(1, 2, 3, 4, 5, 6))
    fraction, sign, offset_hours, offset_minutes = match.group(7, 8, 9, 10)
    micros = int(fraction[:6].ljust(6, "0")) if fraction else 0
    try:
        instant = datetime(year, month, day, hour, minute, min(second, 59), micros, UTC)
        if sign is not None:
            instant -= _offset(sign, int(offset_hours), int(offset_minutes))
    except (ValueError, OverflowError) as error:
        raise InstantError(
            "The date-time names a day or time that does not exist in the years 0001 to 9999."
        ) from error
    return instant if second <= 59 else _leap(instant, second)


def render(instant: datetime) -> str:
    """The instant as `YYYY-MM-DDTHH:MM:SSZ`, with six digits of fraction where it has one.

    Raises:
        InstantError: the value has no offset, or lies outside the years 0001 to 9999 in UTC.
    """
    if instant.tzinfo is not UTC:
        instant = _in_utc(instant)
    return f"{instant.isoformat()[:-6]}Z"


def parse_interval(text: str) -> Interval:
    """An instant, or two of them joined by `/`; `..` stands for one open side.

    Raises:
        InstantError: a side is empty or no instant, both are open, there are more than two, or
            the first is later than the second.
    """
    sides = text.split("/")
    if len(sides) == 1:
        instant = parse(text)
        return Interval(instant, instant)
    if len(sides) > 2:
        raise InstantError("An interval has two sides, joined by one slash.")
    start, end = (None if side == _OPEN else parse(side) for side in sides)
    if start is None and end is None:
        raise InstantError("An interval is open on one side at most; leave it out for all times.")
    if start is not None and end is not None and start > end:
        raise InstantError("The interval ends before it starts.")
    return Interval(start, end)


def from_millis(millis: int) -> datetime:
    """The instant so many milliseconds after 1970 began, exactly.

    Raises:
        InstantError: it lies outside the years 0001 to 9999.
    """
    try:
        return EPOCH + timedelta(milliseconds=millis)
    except OverflowError as error:
        raise InstantError("The instant lies outside the years 0001 to 9999 in UTC.") from error


def micros(instant: datetime) -> int:
    """Microseconds since 1970: exact, sortable, the same number in every backend."""
    return (instant - EPOCH) // _MICROSECOND


def _offset(sign: str, hours: int, minutes: int) -> timedelta:
    # RFC 3339, 5.6: time-numoffset = ("+" / "-") time-hour ":" time-minute.
    if hours > 23 or minutes > 59:
        raise ValueError("The offset is no time of day.")
    offset = timedelta(hours=hours, minutes=minutes)
    return offset if sign == "+" else -offset


def _leap(instant: datetime, second: int) -> datetime:
    """The last microsecond before a leap second; `instant` is its second 59, in UTC."""
    month_days = monthrange(instant.year, instant.month)[1]
    at_month_end = (instant.day, instant.hour, instant.minute) == (month_days, 23, 59)
    if second > 60 or not at_month_end:
        raise InstantError(
            "Seconds run to 59; 60 exists only as 23:59:60 UTC on the last day of a month."
        )
    return instant.replace(microsecond=_LAST_MICROSECOND)


def _in_utc(instant: datetime) -> datetime:
    if instant.utcoffset() is None:
        raise InstantError("An instant without an offset has no place on the time line.")
    try:
        return instant.astimezone(UTC)
    except OverflowError as error:
        raise InstantError("The instant lies outside the years 0001 to 9999 in UTC.") from error


def _refusal_reason(text: str) -> str:
    if _SPACE_FOR_PLUS.fullmatch(text):
        return "A space stands where the offset's sign belongs; percent-encode + as %2B."
    return "Not an RFC 3339 date-time such as 2026-01-31T08:30:00Z, with seconds and offset."
