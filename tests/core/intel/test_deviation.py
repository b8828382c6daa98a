"""How far a number is off: against a slow oracle, and laws."""

import itertools
from datetime import timedelta
from statistics import mean, stdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.intel.signals.deviation import (
    POINT_GAP,
    highest_threshold,
    matched_names,
    moves,
    spread,
    thin_points,
)

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60)
HOUR = 3_600 * 1_000_000
DAY = timedelta(hours=24)


@given(NUMBERS)
def test_one_run_gives_the_mean_and_deviation_that_two_runs_give(numbers: list[float]) -> None:
    moments = spread(numbers)
    assert moments.count == len(numbers)
    assert moments.mean == pytest.approx(mean(numbers), abs=1e-6)
    assert moments.deviation == pytest.approx(stdev(numbers), abs=1e-3)


def test_a_large_offset_costs_no_digits() -> None:
    assert spread([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]).deviation == pytest.approx(5.477225575)


@pytest.mark.parametrize("numbers", [[], [1.0], [0.1] * 9])
def test_numbers_that_do_not_differ_say_nothing_of_another(numbers: list[float]) -> None:
    assert spread(numbers).z_score(5.0) is None


def test_the_mean_of_many_is_off_by_more_deviations_than_one() -> None:
    usual = spread([1.0, 2.0, 3.0])
    assert usual.z_score(4.0) == pytest.approx(2.0)
    assert usual.z_score(4.0, sample_size=4) == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("z_score", "level"),
    [
        (None, None),
        (0.0, None),
        (1.49, None),
        (1.5, 1.5),
        (-2.0, 2),
        (2.99, 2),
        (3.0, 3),
        (-9.0, 3),
    ],
)
def test_the_highest_threshold_that_is_reached_counts(
    z_score: float | None, level: float | None
) -> None:
    assert highest_threshold([1.5, 2, 3], z_score) == level


prices = st.lists(st.tuples(st.integers(0, 60 * HOUR), st.floats(0, 1)), max_size=20)


@given(prices, st.randoms())
def test_a_move_is_from_the_furthest_point_of_the_window_in_any_order(
    points: list[tuple[int, float]], random: Any
) -> None:
    permutation = list(points)
    random.shuffle(permutation)
    found = list(moves(permutation, DAY))
    assert found == list(moves(points, DAY))
    windows = {
        last: [first for first in points if last[0] - 24 * HOUR <= first[0] < last[0]]
        for last in points
    }
    assert {last for _, last in found} == {last for last, window in windows.items() if window}
    for first, last in found:
        assert abs(first[1] - last[1]) == max(abs(share - last[1]) for _, share in windows[last])


@given(prices, st.randoms(), st.integers(0, 20))
def test_the_same_points_are_kept_in_whatever_order_and_portions_they_come(
    points: list[tuple[int, float]], random: Any, split: int
) -> None:
    permutation = list(points)
    random.shuffle(permutation)
    first = thin_points(permutation[:split])
    assert thin_points((*first, *permutation[split:])) == thin_points(points)


def test_points_are_kept_for_a_day_however_often_a_price_is_read() -> None:
    points: tuple[tuple[int, float], ...] = ()
    for at in range(0, 30 * HOUR, HOUR // 12):
        points = thin_points((*points, (at, 0.5)))
    assert len(points) <= 50
    assert points[0][0] <= points[-1][0] - 24 * HOUR
    gaps = [after[0] - before[0] for before, after in itertools.pairwise(points[:-1])]
    assert min(gaps) >= POINT_GAP


@pytest.mark.parametrize(
    ("reports", "count"),
    [
        ([], 0),
        ([("riot", "a"), ("protest", "a"), ("flood", "a")], 1),
        ([("riot", "a"), ("protest", "b"), ("flood", "c")], 3),
        ([("riot", "a"), ("protest", "a"), ("riot", "b"), ("flood", "c")], 3),
        ([("riot", "a"), ("riot", "b"), ("riot", "c")], 1),
    ],
)
def test_each_name_needs_a_teller_of_its_own(reports: list[tuple[str, str]], count: int) -> None:
    assert len(matched_names(reports)) == count
