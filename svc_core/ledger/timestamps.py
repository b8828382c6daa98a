"""Parses and formats the ledger's instants: 27-character UTC texts that sort by time.

Rule 1: what is sealed is what was sent. A leap second or a seventh digit, which other readers map
        or cut, is refused here with its own code, because a sealed value is never altered.
Rule 2: RFC 3339 and nothing more. `datetime.fromisoformat` also takes week dates, commas, bare
        dates and missing offsets, so it is not used.
Rule 3: an interval is `[from, to)`; None is an open side; an empty one is refused.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from attrs import define

from svc_core.contract import problem
from svc_core.contract.problem import Problem

RFC_3339: Final = (
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})"
    # Zeros behind the sixth digit say nothing; 32 digits are finer than any clock will be.
    r"(?:\.([0-9]{1,32}))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_RFC_3339: Final = re.compile(RFC_3339)
# The form that is kept, on every day but 29 February: nothing is left to work out.
_PLAINLY_CANONICAL: Final = re.compile(
    r"(?!0000)[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z"
)
_DIGITS: Final = 6
_MICROSECOND: Final = timedelta(microseconds=1)


def canonical_time(text: str, pointer: str = "timestamp") -> str:
    """Convert an RFC 3339 date-time to the canonical text `YYYY-MM-DDTHH:MM:SS.ffffffZ`.

    Order is kept, the same instant in two offsets gives one text, and a canonical text is itself.
    `pointer` names the input in the problem detail: a JSON Pointer or a parameter name.

    Raises:
        Problem: TIMESTAMP_INVALID where the text is anything else or lies outside the years 0001
            to 9999 in UTC, TIMESTAMP_LEAP_SECOND for second 60, TIMESTAMP_PRECISION where more
            than six digits of a second are not zero.
    """
    if _PLAINLY_CANONICAL.fullmatch(text):
        return text
    match = _RFC_3339.fullmatch(text)
    if match is None:
        raise _invalid(pointer, "must be RFC 3339 with an offset, such as 2026-01-31T09:30:00Z")
    second, fraction = int(match[6]), (match[7] or "").rstrip("0")
    try:
        instant = _minute(match) + timedelta(seconds=min(second, 59))
    except (ValueError, OverflowError) as error:
        raise _invalid(pointer, "must be a time that exists in the years 0001 to 9999") from error
    if second > 60:
        raise _invalid(pointer, "must be a time that exists in the years 0001 to 9999")
    if second == 60:
        raise Problem(
            problem.TIMESTAMP_LEAP_SECOND, f"{pointer}: is a leap second, which has no place in UTC"
        )
    if len(fraction) > _DIGITS:
        raise Problem(
            problem.TIMESTAMP_PRECISION, f"{pointer}: has {len(fraction)} digits of a second"
        )
    return utc_text(instant.replace(microsecond=int(fraction.ljust(_DIGITS, "0"))))


def utc_text(instant: datetime) -> str:
    """Format an aware `datetime` as the canonical text."""
    # `strftime` does not fill the year up to four digits everywhere; `isoformat` does.
    return f"{instant.astimezone(UTC).isoformat(timespec='microseconds')[:-6]}Z"


def successor(text: str) -> str:
    """Return the canonical text of the next microsecond.

    Raises:
        Problem: TIMESTAMP_INVALID at the end of the year 9999.
    """
    digits = text[20:26]
    if digits != "999999":
        return f"{text[:20]}{int(digits) + 1:06}Z"
    try:
        return utc_text(datetime.fromisoformat(f"{text[:-1]}+00:00") + _MICROSECOND)
    except OverflowError as error:
        raise _invalid("timestamp", "has no successor: time ends with the year 9999") from error


@define
class SealedTime:
    """The newest time that was sealed in this process, which a clock that is set back is behind."""

    latest: str = ""

    def note(self, recorded_at: str | None) -> None:
        """Note a time that was sealed."""
        self.latest = max(self.latest, recorded_at or "")

    def ahead_seconds(self, now: datetime) -> int:
        """By how many whole seconds it is ahead; 0 where it is not."""
        if self.latest <= utc_text(now):
            return 0
        return int((datetime.fromisoformat(self.latest) - now).total_seconds())


def check_interval(start: str | None, end: str | None, pointer: str = "/validTo") -> None:
    """Check that the interval `[start, end)` is not empty; None is an open side.

    Raises:
        Problem: INTERVAL_EMPTY if both are set and `start` is not before `end`.
    """
    if start is not None and end is not None and start >= end:
        raise Problem(problem.INTERVAL_EMPTY, f"{pointer}: must be later than validFrom")


def _minute(match: re.Match[str]) -> datetime:
    """Return the matched date-time in UTC, cut to the minute.

    Raises:
        ValueError: there is no such day, time or offset.
        OverflowError: it lies outside the years that a `datetime` holds.
    """
    year, month, day, hour, minute = map(int, match.group(1, 2, 3, 4, 5))
    local = datetime(year, month, day, hour, minute, tzinfo=UTC)
    if match[8] is None:
        return local
    hours, minutes = int(match[9]), int(match[10])
    # RFC 3339, 5.6: time-numoffset = ("+" / "-") time-hour ":" time-minute.
    if hours > 23 or minutes > 59:
        raise ValueError(hours, minutes)
    offset = timedelta(hours=hours, minutes=minutes)
    return local - offset if match[8] == "+" else local + offset


def _invalid(pointer: str, reason: str) -> Problem:
    return Problem(problem.TIMESTAMP_INVALID, f"{pointer}: {reason}")
