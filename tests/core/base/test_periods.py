"""Periods as statistics write them."""

from datetime import date

import pytest

from svc_core.base import periods


@pytest.mark.parametrize(
    ("days", "frequency"),
    [
        (["2024-01-01"], None),
        (["2024-01-01", "2024-01-01"], None),
        (["2024-01-05", "2024-01-08"], "D"),
        (["2024-01-13", "2024-01-06"], "W"),
        (["2023-02-01", "2023-03-01", "2023-06-01"], "M"),
        (["2023-01-01", "2023-04-01"], "Q"),
        (["2023-01-01", "2023-07-01"], "S"),
        (["2022-09-30", "2023-09-30"], "A"),
    ],
)
def test_the_space_between_dates_tells_their_frequency(
    days: list[str], frequency: str | None
) -> None:
    assert periods.frequency_of(map(date.fromisoformat, days)) == frequency


def test_a_week_that_ends_beyond_the_calendar_is_none() -> None:
    with pytest.raises(ValueError, match="out of range"):
        periods.period_of(date.max, "W")
