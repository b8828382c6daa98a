"""Fiscal periods of a company, told by the year ends that its annual reports state.

A fiscal year of 52 or 53 weeks ends up to six days before or after the same day of the year; months
are counted with that slack.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from typing import Any

ANNUAL_FORMS = ("10-K", "20-F", "40-F")
YEAR_DAYS = 365.2425  # of the Gregorian calendar, on average
MONTH_DAYS = YEAR_DAYS / 12
SLACK_DAYS = 9  # six of a year of weeks, and that months are not equally long

_PERIODS: dict[int | None, dict[int, str]] = {
    None: {0: "FY", 3: "Q1", 6: "Q2", 9: "Q3"},
    3: {3: "Q1", 6: "Q2", 9: "Q3", 0: "Q4"},
    6: {6: "H1", 0: "H2"},
    9: {9: "M9"},
    12: {0: "FY"},
}
"""By its months, none for an instant, and how many months of the year are over at its end: the
words of the SEC's document and entity information."""


def months(days: int) -> int | None:
    """How many months so many days are; None where they are not a quarter or several."""
    found = round(days / MONTH_DAYS)
    fits = abs(days - found * MONTH_DAYS) <= SLACK_DAYS
    return found if fits and found in {3, 6, 9, 12} else None


def annual_ends(facts: Iterable[dict[str, Any]]) -> Iterable[tuple[date, int | None]]:
    """The ends of the years that annual reports are about, with the reports' names for them."""
    latest: dict[str, tuple[date, int | None]] = {}
    for fact in facts:
        if fact.get("fp") != "FY" or not str(fact.get("form")).startswith(ANNUAL_FORMS):
            continue
        with suppress(KeyError, TypeError, ValueError):  # such a fact is rejected in its turn
            end = date.fromisoformat(fact["end"])
            is_year = months((end - date.fromisoformat(fact["start"])).days + 1) == 12
            if is_year and end > latest.get(fact["accn"], (date.min,))[0]:
                year = fact.get("fy")
                latest[fact["accn"]] = (end, year if isinstance(year, int) else None)
    return latest.values()


class FiscalYears:
    """The fiscal years of one company."""

    def __init__(self, reports: Iterable[tuple[date, int | None]]) -> None:
        """Know the ends of years that were reported, each with the name its report gives it."""
        told = dict(reports)
        named = Counter(year - _year(end) for end, year in told.items() if year is not None)
        self._ends = sorted(end.toordinal() for end in told)
        self._lead = named.most_common(1)[0][0] if named else None

    def of(self, start: date | None, end: date) -> dict[str, Any]:
        """The fiscal year and period that a period, or an instant without a start, belongs to."""
        if self._lead is None:
            return {"fiscalYear": None, "fiscalPeriod": None}
        place = bisect_left(self._ends, end.toordinal() - SLACK_DAYS)
        anchor = self._ends[min(place, len(self._ends) - 1)]
        days = end.toordinal() - anchor
        begun = -((SLACK_DAYS - days) // YEAR_DAYS)  # years since the anchor, rounded up
        over = round(days / MONTH_DAYS)
        length = None if start is None else months((end - start).days + 1) or 0
        is_end = abs(days - over * MONTH_DAYS) <= SLACK_DAYS
        return {
            "fiscalYear": _year(date.fromordinal(anchor)) + int(begun) + self._lead,
            "fiscalPeriod": _PERIODS.get(length, {}).get(over % 12) if is_end else None,
        }


def _year(end: date) -> int:
    """The calendar year of a year end; 1 January ends a year of weeks of the year before."""
    return date.fromordinal(end.toordinal() - SLACK_DAYS).year
