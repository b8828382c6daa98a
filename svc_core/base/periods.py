"""Reads and writes the periods of statistics (SDMX 2.1, section 6, 4.2.6), with their days.

Rule 1: a period is written in one way: `2024`, `2024-S1`, `2024-Q1`, `2024-01`, `2024-W01`,
        `2024-01-31`; the reader also takes `2024-M01`, `2024M01`, `2024-A1`, `2024-D031` and the
        instant or span (`2024-01-01/P3M`) that begins one.
Rule 2: a period without a frequency of its own has the one that its form shows.
"""

import re
from calendar import monthrange
from collections.abc import Iterable
from datetime import date, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from attrs import frozen

Frequency = Literal["A", "S", "Q", "M", "W", "D"]

FREQUENCIES = "ASQMWD"
"""From a year to a day (SDMX, CL_FREQ)."""

_MONTHS = {"A": 12, "S": 6, "H": 6, "Q": 3, "M": 1}
_SPANS = {"P1Y": "A", "P12M": "A", "P6M": "S", "P3M": "Q", "P1M": "M", "P7D": "W", "P1W": "W"}
_FORM = re.compile(
    r"(\d{4})(?:-?([ASHQMWD])(\d{1,3})|-(\d\d)(?:-(\d\d)(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?)?)?"
    r"(?:/(P\w+))?"
)
_LEAST_DAYS = ((365, "A"), (181, "S"), (89, "Q"), (28, "M"), (7, "W"), (1, "D"))
"""Between the first days of two periods: from 1 February to 1 March there are 28."""


@frozen
class CalendarPeriod:
    """A period of a statistic: its frequency, its written form, its first and its last day."""

    frequency: str
    text: str
    start: date
    end: date


@lru_cache(maxsize=4096)  # documents repeat the same periods
def read_period(text: str, frequency: str | None = None) -> CalendarPeriod:
    """The period that `text` names, widened to the period of `frequency` where it is finer.

    Raises:
        ValueError: it names none.
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise ValueError("must be a date or a period such as 2024-Q3")
    year, unit, number, month, day, span = match.groups()
    first = int(year), int(month or 1), int(day or 1)
    kind = _SPANS.get(span or "") or unit or ("D" if day else "M" if month else "A")
    start = date(*first) if unit is None else _nth(first[0], unit, int(number))
    if frequency is not None and FREQUENCIES.find(frequency) in range(FREQUENCIES.find(kind)):
        kind = frequency
    return period_of(start, kind)


def _nth(year: int, unit: str, number: int) -> date:
    if unit == "W":
        return date.fromisocalendar(year, number, 1)
    if unit == "D":
        day = date.fromordinal(date(year, 1, 1).toordinal() + number - 1)
        if day.year != year:
            raise ValueError("must name a day that the year has")
        return day
    return date(year, (number - 1) * _MONTHS[unit] + 1, 1)


@lru_cache(maxsize=4096)
def period_of(day: date, frequency: str) -> CalendarPeriod:
    """The period of this frequency that a day lies in.

    Raises:
        ValueError: it ends after the year 9999.
    """
    if frequency == "D":
        return CalendarPeriod("D", day.isoformat(), day, day)
    if frequency == "W":
        year, week, _ = day.isocalendar()
        sunday = date.fromisocalendar(year, week, 7)
        return CalendarPeriod("W", f"{year:04}-W{week:02}", sunday - timedelta(days=6), sunday)
    months = _MONTHS[frequency]
    place = (day.month - 1) // months
    start = date(day.year, place * months + 1, 1)
    end = start.replace(month=start.month + months - 1)
    kind = "S" if months == 6 else frequency
    name = {"A": "", "M": f"-{start.month:02}"}.get(kind, f"-{kind}{place + 1}")
    last = end.replace(day=monthrange(end.year, end.month)[1])
    return CalendarPeriod(kind, f"{start.year:04}{name}", start, last)


def frequency_of(days: Iterable[date]) -> str | None:
    """The frequency of periods that begin on these days; None for fewer than two days."""
    gap = min(((late - early).days for early, late in pairwise(sorted(set(days)))), default=0)
    return next((letter for least, letter in _LEAST_DAYS if gap >= least), None)
