"""Scales: instants as positions, and the instants that are worth a label.

Rule 1: a scale is true to length, except that no stretch between two neighbouring points is drawn
        narrower than its share: what cannot be seen cannot be read.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import accumulate, pairwise
from typing import Final

from attrs import frozen

SECOND: Final = 1_000_000
DAY: Final = 86_400 * SECOND


def microseconds(instant: str) -> int:
    """Microseconds from the first day of the calendar to a ledger's instant.

    It never raises for what the grammar of a head lets pass, so the 31st of February counts on.
    """
    year, month, day = max(int(instant[:4]), 1), int(instant[5:7]), int(instant[8:10])
    hours, minutes, seconds = int(instant[11:13]), int(instant[14:16]), int(instant[17:19])
    days = date(year, month, 1).toordinal() + day - 1
    return days * DAY + (hours * 3600 + minutes * 60 + seconds) * SECOND + int(instant[20:26])


@frozen
class Scale:
    """Where instants (in microseconds) are drawn; `points` ascend, and each has its position."""

    points: tuple[int, ...]
    positions: tuple[float, ...]

    @staticmethod
    def over(points: Sequence[int], start: float, length: float, share: float) -> "Scale":
        """A scale over points, from `start` on for `length` (less than 0 goes backwards).

        `share` of the length is dealt out evenly among the stretches, the rest by their duration.
        """
        points = sorted(set(points))
        stretches = [later - earlier for earlier, later in pairwise(points)]
        total = sum(stretches) or 1
        widths = [
            length * (share / len(stretches) + (1 - share) * each / total) for each in stretches
        ]
        return Scale(tuple(points), tuple(accumulate(widths, initial=start)))

    def at(self, instant: int) -> float:
        """The position of an instant, which must not lie outside the points."""
        index = min(bisect_right(self.points, instant), len(self.points) - 1)
        if index == 0:
            return self.positions[0]
        before, after = self.points[index - 1], self.points[index]
        left, right = self.positions[index - 1], self.positions[index]
        return left + (right - left) * (instant - before) / (after - before)


# -- labels ------------------------------------------------------------------------------------

_MONTHS: Final = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)
_YEARS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_MONTH_STEPS: Final = (1, 3, 6)
_SECONDS: Final = (1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86_400, 604_800)
TICKS_MAX: Final = 9


def day_of(instant: str) -> str:
    """The day of an instant in words."""
    return f"{int(instant[8:10])} {_MONTHS[int(instant[5:7]) - 1]} {instant[:4]}"


def moment(instant: str, *, within_a_day: bool) -> str:
    """The day of an instant; its time where all that is shown lies within a day."""
    if not within_a_day:
        return day_of(instant)
    clock, fraction = instant[11:19], instant[20:26].rstrip("0")
    return f"{clock}.{fraction}" if fraction else clock


def ticks(first: int, last: int) -> list[tuple[int, str]]:
    """Round instants from `first` to `last` with their labels: at most nine, at even steps."""
    span = last - first
    for seconds in _SECONDS:
        if span <= seconds * SECOND * TICKS_MAX:
            return list(_by_seconds(first, last, seconds))
    months = span / (DAY * 30.44)
    for step in _MONTH_STEPS:
        if months <= step * TICKS_MAX:
            return list(_by_months(first, last, step))
    fitting = [step for step in _YEARS if months / 12 <= step * TICKS_MAX]
    return list(_by_months(first, last, 12 * fitting[0]))


def _by_seconds(first: int, last: int, seconds: int) -> Iterator[tuple[int, str]]:
    step = seconds * SECOND
    # Weeks begin on a Monday: the first day of the calendar was one.
    offset = DAY if step > DAY else 0
    at = -(-(first - offset) // step) * step + offset
    while at <= last:
        day, rest = divmod(at, DAY)
        on = date.fromordinal(day)
        clock = f"{rest // (3600 * SECOND):02}:{rest // (60 * SECOND) % 60:02}"
        if seconds < 60:
            clock += f":{rest // SECOND % 60:02}"
        midnight = f"{on.day} {_MONTHS[on.month - 1]} {on.year}"
        yield at, clock if rest else midnight
        at += step


def _by_months(first: int, last: int, step: int) -> Iterator[tuple[int, str]]:
    on = date.fromordinal(min(first // DAY, date.max.toordinal()))
    count = (on.year * 12 + on.month - 1) // step * step
    while count < 9999 * 12 + 12:
        year, month = divmod(count, 12)
        count += step
        if year < 1:
            continue
        at = date(year, month + 1, 1).toordinal() * DAY
        if at > last:
            return
        if at >= first:
            yield at, str(year) if step >= 12 else f"{_MONTHS[month]} {year}"
