"""Derives the fiscal year and period of dates from the year ends in annual reports.

A fiscal year of 52 or 53 weeks ends up to six days before or after the same day of the year; months
are counted with that slack.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date
from typing import Any

from attrs import frozen

# How a date gets its fiscal year. The SEC states `fy` and `fp` of a filing, not of its facts, and a
# report of 2024 repeats figures of 2022 and 2023. The year of a fact follows from its dates alone.
#
# - An anchor is the end of a fiscal year that an annual report states. Anchors of one company that
#   lie whole years apart (with the slack) form a calendar. A company that moves its year end has
#   several calendars, one after the other; a lone anchor amid another calendar is an error in a
#   report and is dropped.
# - A date belongs to the first calendar that does not end before it, else to the last one. Its year
#   is that of the nearest anchor at or after it; before or beyond the anchors, whole years are
#   counted from the nearest one, since the calendar goes on.
# - What lies between the last anchor of one calendar and the first year of the next one is
#   a transition period. It has neither fiscal year nor period: any name would be a guess.
# - Companies call a year by the calendar year of its end, or by the one before (retailers whose
#   year ends in January). The `lead` of a calendar is that difference, by majority of its reports.
# - The period (Q1, H1, FY, ...) follows from two numbers: the length in months, and the months of
#   the year that are over at the end. An end between whole months has no period.
#
# The weak spot is a company whose annual reports are all missing: it has no anchors, so all years
# are unknown.

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
"""Names of fiscal periods, as in the SEC's document and entity information.

The first key is the length in months, None for an instant; the second is how many months of the
fiscal year are over at the end, modulo 12.
"""


def month_count(days: int) -> int | None:
    """The number of months in so many days: 3, 6, 9 or 12; None for other lengths."""
    count = round(days / MONTH_DAYS)
    is_near = abs(days - count * MONTH_DAYS) <= SLACK_DAYS
    return count if is_near and count in {3, 6, 9, 12} else None


def annual_ends(facts: Iterable[dict[str, Any]]) -> Iterable[tuple[date, int | None]]:
    """The last day of the fiscal year of each annual report, with its name for the year."""
    latest: dict[str, tuple[date, int | None]] = {}
    for fact in facts:
        if fact.get("fp") != "FY" or not str(fact.get("form")).startswith(ANNUAL_FORMS):
            continue
        with suppress(KeyError, TypeError, ValueError):  # such a fact is rejected in its turn
            end = date.fromisoformat(fact["end"])
            is_year = month_count((end - date.fromisoformat(fact["start"])).days + 1) == 12
            if is_year and end > latest.get(fact["accn"], (date.min,))[0]:
                year = fact.get("fy")
                latest[fact["accn"]] = (end, year if isinstance(year, int) else None)
    return latest.values()


@frozen
class _Calendar:
    """Year ends that are whole years apart, as ordinals of days.

    `lead` is the number that is added to the calendar year of an end to get the name of the year.
    """

    ends: tuple[int, ...]
    lead: int


class FiscalYears:
    """The fiscal years of one company, which may change the day on which they end.

    What lies between the last year of one calendar and the first of the next, a transition
    period, belongs to no fiscal year.
    """

    def __init__(self, reports: Iterable[tuple[date, int | None]]) -> None:
        """Learn the calendars from year ends, each with the name that its report gives the year."""
        year_names = {end.toordinal(): year for end, year in reports}
        leads = {
            end: year - _year(date.fromordinal(end))
            for end, year in year_names.items()
            if year is not None
        }
        self._calendars = [
            _Calendar(run, _mode([leads[end] for end in run if end in leads] or leads.values()))
            for run in _runs(sorted(year_names) if leads else ())
        ]

    def period_of(self, start: date | None, end: date) -> dict[str, Any]:
        """The members `fiscalYear` and `fiscalPeriod` of a period or an instant (no `start`)."""
        day = end.toordinal()
        ahead = [calendar for calendar in self._calendars if calendar.ends[-1] >= day - SLACK_DAYS]
        if not self._calendars:
            return {"fiscalYear": None, "fiscalPeriod": None}
        calendar = ahead[0] if ahead else self._calendars[-1]
        place = bisect_left(calendar.ends, day - SLACK_DAYS)
        anchor = calendar.ends[min(place, len(calendar.ends) - 1)]
        days = day - anchor
        year_offset = -((SLACK_DAYS - days) // YEAR_DAYS)  # years since the anchor, rounded up
        if year_offset < 0 and place == 0 and calendar is not self._calendars[0]:
            return {"fiscalYear": None, "fiscalPeriod": None}
        months_over = round(days / MONTH_DAYS)
        length = None if start is None else month_count((end - start).days + 1) or 0
        is_end = abs(days - months_over * MONTH_DAYS) <= SLACK_DAYS
        return {
            "fiscalYear": _year(date.fromordinal(anchor)) + int(year_offset) + calendar.lead,
            "fiscalPeriod": _PERIODS.get(length, {}).get(months_over % 12) if is_end else None,
        }


def _runs(ends: Sequence[int]) -> list[tuple[int, ...]]:
    """Splits year ends, in order, into calendars; a lone end within a calendar is dropped."""
    runs: list[list[int]] = []
    for end in ends:
        if runs and _are_years(end - runs[-1][-1]):
            runs[-1].append(end)
        elif len(runs) > 1 and len(runs[-1]) == 1 and _are_years(end - runs[-2][-1]):
            runs.pop()
            runs[-1].append(end)
        else:
            runs.append([end])
    return [tuple(run) for run in runs]


def _are_years(days: int) -> bool:
    return abs(days - round(days / YEAR_DAYS) * YEAR_DAYS) <= SLACK_DAYS


def _mode(leads: Iterable[int]) -> int:
    return Counter(leads).most_common(1)[0][0]


def _year(end: date) -> int:
    """The calendar year of a year end; a year of weeks that ends on 1 January is the one before."""
    return date.fromordinal(end.toordinal() - SLACK_DAYS).year
