"""Measures how far a number departs from its usual course, over numbers with their times.

Times are microseconds since 1970.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from math import sqrt

from attrs import frozen

Point = tuple[int, float]

POINT_GAP = 30 * 60 * 1_000_000  # between two points that are kept
POINTS_MAX = 50  # a day of them

_MICRO = timedelta(microseconds=1)


@frozen
class Spread:
    """Statistics of some numbers: count, mean, and the sum of squared deviations from the mean."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation of the sample; 0 of fewer than two."""
        return sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0

    def z_score(self, number: float, sample_size: int = 1) -> float | None:
        """How many standard errors `number`, the mean of `sample_size` numbers, is off the mean.

        None where the numbers did not vary.
        """
        error = self.deviation / sqrt(sample_size)
        # Equal numbers leave a tiny rest by rounding, which is no deviation.
        return None if error <= abs(self.mean) * 1e-12 else (number - self.mean) / error


def spread(numbers: Iterable[float]) -> Spread:
    """Mean and deviation in one pass, without losing digits (Welford, 1962)."""
    count, mean, squares = 0, 0.0, 0.0
    for number in numbers:
        count += 1
        offset = number - mean
        mean += offset / count
        squares += offset * (number - mean)
    return Spread(count, mean, squares)


def highest_threshold(thresholds: Sequence[float], z_score: float | None) -> float | None:
    """The highest of the thresholds that a deviation reaches; None for none."""
    return max((level for level in thresholds if z_score and abs(z_score) >= level), default=None)


def matched_names(reports: Iterable[tuple[str, str]]) -> set[str]:
    """A largest set of names each of which can be given a source of its own.

    `reports` are pairs of a name and a source that mentions it. One article reports one event, so
    two names that only one article mentions count once. It is a maximum matching of names and
    sources, found by augmenting paths (Berge, 1957).
    """
    sources: dict[str, set[str]] = {}
    for name, source in reports:
        sources.setdefault(name, set()).add(source)
    matching: dict[str, str] = {}

    def is_placed(name: str, seen: set[str]) -> bool:
        for source in sorted(sources[name] - seen):
            seen.add(source)
            if source not in matching or is_placed(matching[source], seen):
                matching[source] = name
                return True
        return False

    return {name for name in sorted(sources) if is_placed(name, set())}


def moves(points: Sequence[Point], window: timedelta) -> Iterator[tuple[Point, Point]]:
    """Each point with the one in the window before it that differs most from it.

    The window includes its beginning. Of points that differ equally it is the earliest.
    """
    span = window // _MICRO
    for last in sorted(points):
        earlier = [point for point in sorted(points) if last[0] - span <= point[0] < last[0]]
        if earlier:
            yield max(earlier, key=lambda point: abs(last[1] - point[1])), last


def thin_points(points: Iterable[Point]) -> tuple[Point, ...]:
    """The latest point of each `POINT_GAP` of the calendar, and of these the newest `POINTS_MAX`.

    The same points in any order, and any number of them at a time, leave the same.
    """
    latest: dict[int, Point] = {}
    for point in points:
        slot = point[0] // POINT_GAP
        latest[slot] = max(point, latest.get(slot, point))
    return tuple(sorted(latest.values()))[-POINTS_MAX:]
