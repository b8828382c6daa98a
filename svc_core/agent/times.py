"""Reads the span of time that a question names: "last week", "since 2024", "Q2 2025"."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache

from attrs import frozen

from svc_core import data
from svc_core.agent.text_query import expressions
from svc_core.base import instants, periods
from svc_core.text.quantities import claim_words, months
from svc_core.text.words import fold_case

_DAY = timedelta(days=1)
_UNITS = {"hour": timedelta(hours=1), "day": _DAY, "week": 7 * _DAY}
_LETTERS = {"week": "W", "month": "M", "quarter": "Q", "year": "A"}
_AGO = re.compile(expressions("ago")[0])
_YEARS = re.compile(r"\b((?:19|20)\d\d)\s?(?:-|–|to|until|a|à)?\s?((?:19|20)\d\d)\b(?!-)")
_QUARTER = re.compile(r"\b([qt][1-4])\b(?![\s-]*(?:of )?\d)", re.IGNORECASE)
_YEAR_BEFORE, _YEAR_AFTER = (
    re.compile(expressions(f"year_{way}")[0]) for way in ("before", "after")
)
_BEHIND = re.compile(r"\b(week|month|quarter|year) (last|next)\b")
_CALENDAR = re.compile(r"\b(this|last|previous|next)\s+(week|month|quarter|year)\b", re.IGNORECASE)
_NEAR = re.compile(r"\b(today|yesterday)\b", re.IGNORECASE)
_ABSOLUTE = re.compile(expressions("date")[0], re.IGNORECASE)
_DATE_JOINT = re.compile(expressions("date_joint")[0])
_LEAD = re.compile(r"\b(?:in|im|en|since|until|during|this)\s+$")
_OPEN_END = ("since", "after", "from", "starting")
_OPEN_START = ("before", "until", "till", "by", "up to")


@cache
def number_words() -> Mapping[str, int]:
    """Small numbers by their digits and words in four languages."""
    words = {
        word: int(keys[0]) for word, keys in claim_words("number").items() if keys[0].isdigit()
    }
    return {**{str(number): number for number in range(1, 10_000)}, **words}


@cache
def _english() -> dict[str, str]:
    """The English words of time by those of other languages."""
    rows = (row for row in data.table_rows("asking.tsv") if row[0].startswith("time_"))
    pairs = [(word.replace("_", " "), kind[5:]) for kind, words in rows for word in words.split()]
    return dict(sorted(pairs, reverse=True))  # a longer phrase before those that it begins with


_WORDS = re.compile(rf"\b(?:{'|'.join(map(re.escape, _english()))})\b")


@frozen
class TimeSpan:
    """The time from one instant up to another, not included; None is open. `text` is its wording.

    `period` is the named one, such as `2025-Q2`; `is_fiscal` where it is a company's; `parts` are
    the times of a question that names several ("2023 and 2024"), of which others are none.
    """

    start: datetime | None
    end: datetime | None
    text: str
    period: str | None = None
    is_fiscal: bool = False
    parts: tuple["TimeSpan", ...] = ()

    @property
    def interval(self) -> str:
        """The span as operations take it; they include the end."""
        first = None if self.start is None else instants.render(self.start)
        return f"{first or '..'}/{self.last or '..'}"

    @property
    def last(self) -> str | None:
        """The last instant of it, as operations take it."""
        return None if self.end is None else instants.render(self.end - timedelta(microseconds=1))

    def contains(self, stamp: object, end: object = None) -> bool:
        """Whether a date or an instant, as rows write it, or the time from it to `end` meets it."""
        if self.parts:
            return any(part.contains(stamp, end) for part in self.parts)
        first, last = _instant(stamp), _instant(end) or _instant(stamp)
        if first is None or last is None:
            return False
        return (self.start is None or last >= self.start) and (self.end is None or first < self.end)


def _instant(stamp: object) -> datetime | None:
    text = str(stamp or "")
    try:
        return instants.parse(text if "T" in text else f"{text}T00:00:00Z")
    except instants.InstantError:
        return None


def _in_numbers(text: str, now: date) -> str:
    """A text with its dates as ISO 8601 writes them, each with the month and year behind it.

    The year of one that has none is the latest in which its month has begun.
    """
    later, start = "", len(text) + 1
    for match in reversed([*_named_dates().finditer(text)]):
        joint = _DATE_JOINT.fullmatch(text[match.end() : start])
        name = match["month"] or match["nth_month"]
        day = match["day"] or match["nth"] or match["dotted"] or match["bare"]
        year = match["year"] or match["dotted_year"]
        is_whole = day or year or joint or _LEAD.search(text[: match.start()])
        if not (is_whole if name else joint):
            continue
        month = months().get(name or "") or int(name or later[5:7])
        year = year or (joint and later[:4]) or f"{now.year - (month > now.month)}"
        later = f"{year}-{month:02}" + (f"-{int(day):02}" if day else "")
        is_range = joint and joint[1]
        head = f"{text[: match.start()]}{'between ' * bool(is_range)}{later}"
        text = f"{head}{' and ' if is_range else text[match.end() : start]}{text[start:]}"
        start = match.start()
    return text


def with_year(text: str, year: int) -> str:
    """A text with this year behind a quarter that it names alone, or with the one beside it.

    So of 2024 "and in Q2" is of that year, and "and in the year before" of 2023.
    """
    plain = in_english(text)
    dated = _QUARTER.sub(rf"\1 {year}", plain)
    dated = _YEAR_BEFORE.sub(f"{year - 1}", _YEAR_AFTER.sub(f"{year + 1}", dated))
    return text if dated == plain else dated


def in_english(text: str) -> str:
    """A folded text with its words of time in English: "third quarter of 2025" is "q3 2025"."""
    text = _WORDS.sub(lambda match: _english()[match[0]], fold_case(text))
    return _YEARS.sub(r"between \1 and \2", _BEHIND.sub(r"\2 \1", text))


def time_span(text: str, now: datetime) -> TimeSpan | None:
    """The time that a question names; None where it names none."""
    plain = _in_numbers(in_english(text), now)
    return _relative(plain, now) or _join(plain, list(_absolute(plain)))


def impossible_date(text: str, now: datetime) -> str | None:
    """The first day of a text that no calendar has, as ISO 8601 writes it; None where all are."""
    plain = _in_numbers(in_english(text), now)
    days = (match["iso"] or "" for match in _ABSOLUTE.finditer(plain))
    return next((day for day in days if "01" <= day[8:] <= "31" and _instant(day) is None), None)


def without_times(text: str) -> str:
    """A question without the words that name a time, folded."""
    text = _in_numbers(in_english(text), date.max)
    for pattern in (_AGO, _CALENDAR, _NEAR, _ABSOLUTE):
        text = pattern.sub(" ", text)
    return text


def _relative(text: str, now: datetime) -> TimeSpan | None:
    if (ago := _AGO.search(text)) and (count := number_words().get(ago[1] or "1")):
        unit = ago[2]
        months = {"month": 1, "quarter": 3, "year": 12}.get(unit)
        start = now - count * _UNITS[unit] if months is None else _months_ago(now, count * months)
        return TimeSpan(start, None, ago[0])
    if match := _CALENDAR.search(text):
        period = periods.period_of(now.date(), _LETTERS[match[2]])
        if match[1] != "this":
            day = period.end + _DAY if match[1] == "next" else period.start - _DAY
            period = periods.period_of(day, _LETTERS[match[2]])
        return _of(period, match[0])
    if near := _NEAR.search(text):
        start = _midnight(now.date()) - _DAY * (near[1] == "yesterday")
        return TimeSpan(start, start + _DAY, near[1])
    return None


def _months_ago(now: datetime, months: int) -> datetime:
    year, month = divmod(now.year * 12 + now.month - 1 - months, 12)
    if year < 1:
        return datetime.min.replace(tzinfo=UTC)
    first = now.replace(year=year, month=month + 1, day=1)
    return first + _DAY * (min(now.day, periods.period_of(first.date(), "M").end.day) - 1)


def _join(text: str, dates: list[tuple[int, TimeSpan]]) -> TimeSpan | None:
    """The span of the first date by the words before it ("since"), or up to a second date."""
    if not dates:
        return None
    at, first = dates[0]
    before = text[:at].rstrip(" (")
    if len(dates) > 1 and {"between", "from"} & {*before.split()[-2:]}:
        return TimeSpan(first.start, dates[1][1].end, f"{first.text} to {dates[1][1].text}")
    if len(dates) == 1 and before.endswith(_OPEN_END):
        start = first.end if before.endswith("after") else first.start
        return TimeSpan(start, None, f"since {first.text}")
    if len(dates) == 1 and before.endswith(_OPEN_START):
        end = first.start if before.endswith("before") else first.end
        return TimeSpan(None, end, f"until {first.text}")
    spans = tuple(sorted({span for _, span in dates}, key=lambda span: (span.interval, span.text)))
    text = " and ".join(span.text for span in spans)
    end = max((span.end for span in spans if span.end), default=None)
    return TimeSpan(spans[0].start, end, text, parts=spans) if len(spans) > 1 else first


def _absolute(text: str) -> Iterator[tuple[int, TimeSpan]]:
    for match in _ABSOLUTE.finditer(text):
        try:
            period = periods.read_period(_period_text(match))
        except ValueError:
            continue
        yield match.start(), _of(period, match[0].strip(), is_fiscal=bool(match["fiscal"]))


def _period_text(match: re.Match[str]) -> str:
    """A date in the form of `periods.read_period`."""
    if quarter := match["quarter"] or match["q"]:
        return f"{match['quarters'] or match['turned']}-{quarter.upper()}"
    return match["iso"] or match["alone"]


def _of(period: periods.CalendarPeriod, text: str, *, is_fiscal: bool = False) -> TimeSpan:
    end = period.end + _DAY if period.end < date.max else period.end
    return TimeSpan(_midnight(period.start), _midnight(end), text, period.text, is_fiscal)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


@cache
def _named_dates() -> re.Pattern[str]:
    """Dates of named months, with all they state, and days that only the date behind them dates."""
    names = "|".join(map(re.escape, sorted(months(), key=len, reverse=True)))
    return re.compile(expressions("named_date")[0].replace("MONTH", f"(?:{names})"))
