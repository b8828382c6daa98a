"""Reads dates as feeds write them: RFC 3339, W3C-DTF, RFC 822, and common errors in them.

Rule 1: an incomplete date (a month, a year) or one that stands for "none" (the epoch, year 1) is
        `None`.
Rule 2: a time without a zone stays without one; its zone is guessed from the other dates of the
        document (`common_zone`). A zone with an unknown or ambiguous name (`IST` is India, Israel
        and Ireland) makes the date unreadable instead.
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone, tzinfo

_EARLIEST = datetime(1970, 1, 2, tzinfo=UTC)  # zero dates of every platform lie before it
_CHARS_MAX = 100

_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:?\d\d.*)?")
_RFC822 = re.compile(
    r"(?:[^\W\d]+\.?,?\s+)?(?P<day>\d{1,2})[\s-]+(?P<month>[^\W\d]{3,12})\.?[\s-]+(?P<year>\d{4}|\d\d)"
    r"(?:,?\s+(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d+)?)?)?"
    r"\s*+(?P<zone>(?:[^()\s]++(?:\s++[^()\s]++)*+)?)\s*(?:\([^()]*\))?"
)
_OFFSET = re.compile(r"(?:GMT|UTC?)?([+-])(\d\d?):?(\d\d)?")

_MONTH_NAMES = """
    jan ene gen|feb fev fév|mar mär|apr abr avr|may mai mag|jun giu juin|jul lug juil|aug ago aoû|
    sep set|oct okt out ott|nov|dec dez dic déc
"""
_MONTHS = {
    name: number
    for number, names in enumerate(_MONTH_NAMES.split("|"), start=1)
    for name in names.split()
}
"""Month abbreviations: English, then Spanish, Portuguese, French, Italian and German."""

_ZONE_TABLE = """
    UT:0 UTC:0 GMT:0 Z:0 WET:0 EST:-300 EDT:-240 CST:-360 CDT:-300 MST:-420 MDT:-360 PST:-480
    PDT:-420 AKST:-540 AKDT:-480 HST:-600 CET:60 MET:60 WEST:60 CEST:120 MEST:120 EET:120 EEST:180
    MSK:180 PKT:300 HKT:480 SGT:480 AWST:480 JST:540 KST:540 AEST:600 AEDT:660 NZST:720 NZDT:780
"""
_ZONES = {
    name: int(minutes) for name, _, minutes in (row.partition(":") for row in _ZONE_TABLE.split())
}
"""Minutes east of UTC of the zone names that are unambiguous in feeds."""


def parse_date(text: str) -> datetime | None:
    """Parses a date with its own zone, or none; `None` where the text is no date."""
    text = text.strip()
    if len(text) > _CHARS_MAX:
        return None
    try:
        moment = _iso(text) if _ISO.fullmatch(text) else _rfc822(text)
    except (ValueError, OverflowError):  # day 32, hour 25, an offset past the year 9999
        return None
    return moment if moment is not None and in_utc(moment) is not None else None


def in_utc(moment: datetime | None, zone: tzinfo = UTC) -> datetime | None:
    """A date in UTC; one without a zone is taken to be in `zone`. `None` if it is out of range."""
    if moment is None:
        return None
    try:
        utc = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:  # an offset past the year 9999
        return None
    return utc if utc >= _EARLIEST else None


def common_zone(moments: Iterable[datetime | None]) -> tzinfo | None:
    """The most frequent UTC offset of these dates; `None` where none has an offset."""
    offsets = Counter(time.utcoffset() for time in moments if time is not None and time.tzinfo)
    by_count = sorted(offsets, key=lambda offset: (-offsets[offset], offset or timedelta()))
    return timezone(by_count[0] or timedelta()) if by_count else None


def _iso(text: str) -> datetime:
    return datetime.fromisoformat(text.replace(" +", "+").replace(" Z", "Z").replace(" UTC", "Z"))


def _rfc822(text: str) -> datetime | None:
    match = _RFC822.fullmatch(text)
    if match is None:
        return None
    month, name = _month(match["month"].lower()), match["zone"].upper()
    zone = _zone(name) if name else None
    if month is None or (name and zone is None):
        return None
    hour, minute = int(match["hour"] or 0), int(match["minute"] or 0)
    second = min(int(match["second"] or 0), 59)  # RFC 5322 allows the leap second 60
    return datetime(_year(match["year"]), month, int(match["day"]), hour, minute, second, 0, zone)


def _month(name: str) -> int | None:
    return _MONTHS.get(name[:3]) or _MONTHS.get(name[:4])


def _year(digits: str) -> int:
    # RFC 5322, 4.3: two digits 00-49 are 2000-2049, 50-99 are 1950-1999.
    year = int(digits)
    if len(digits) == 4:
        return year
    return year + (2000 if year < 50 else 1900)


def _zone(name: str) -> timezone | None:
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))
    east_minutes = _ZONES.get(name.removeprefix("ETC/"))
    return None if east_minutes is None else timezone(timedelta(minutes=east_minutes))
