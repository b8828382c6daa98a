"""How far a number is off its usual course: pure functions over numbers with their times.

Times are microseconds since 1970.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from math import sqrt

from attrs import frozen

Point = tuple[int, float]

POINT_GAP = 30 * 60 * 1_000_000  # between two points that are kept
POINTS_MAX = 50  # a day of them

_MICRO = timedelta(microseconds=1)


@frozen
class Spread:
    """How many numbers there were, their mean, and the squares of what they were off it, summed."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation of the sample; 0 of fewer than two."""
        return sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0

    def z_score(self, number: float, of: int = 1) -> float | None:
        """How many standard deviations the mean of so many numbers is off; None without any."""
        error = self.deviation / sqrt(of)
        # What is left of equal numbers by rounding is no deviation.
        return None if error <= abs(self.mean) * 1e-12 else (number - self.mean) / error


def spread(numbers: Iterable[float]) -> Spread:
    """Mean and deviation in one run, without losing digits (Welford, 1962)."""
    count, mean, squares = 0, 0.0, 0.0
    for number in numbers:
        count += 1
        off = number - mean
        mean += off / count
        squares += off * (number - mean)
    return Spread(count, mean, squares)


def reached(thresholds: Sequence[float], z_score: float | None) -> float | None:
    """The highest of the thresholds that a deviation reaches; None for none."""
    return max((one for one in thresholds if z_score and abs(z_score) >= one), default=None)


def apart(told: Iterable[tuple[str, str]]) -> set[str]:
    """As many names as can each be told by another teller: one article tells of one event.

    A largest matching of names and tellers, by augmenting paths (Berge, 1957).
    """
    tellers: dict[str, set[str]] = {}
    for name, teller in told:
        tellers.setdefault(name, set()).add(teller)
    chosen: dict[str, str] = {}

    def is_placed(name: str, seen: set[str]) -> bool:
        for teller in sorted(tellers[name] - seen):
            seen.add(teller)
            if teller not in chosen or is_placed(chosen[teller], seen):
                chosen[teller] = name
                return True
        return False

    return {name for name in sorted(tellers) if is_placed(name, set())}


def moved(points: Sequence[Point], last: Point, window: timedelta) -> Point | None:
    """The point of the window before the last one from which it is furthest; None without any.

    The window holds its beginning. Of equally far ones it is the earliest.
    """
    since = last[0] - window // _MICRO
    known = sorted(one for one in points if since <= one[0] < last[0])
    return max(known, key=lambda one: abs(last[1] - one[1]), default=None)


def thinned(points: Sequence[Point], last: Point) -> tuple[Point, ...]:
    """The points and one more: the older ones lie `POINT_GAP` apart, and reach back a day."""
    kept = [one for one in points if one[0] != last[0]]
    if len(kept) > 1 and kept[-1][0] - kept[-2][0] < POINT_GAP:
        kept.pop()
    return tuple(sorted([*kept, last]))[-POINTS_MAX:]
