"""Periods as statistics write them."""

from datetime import date

import pytest

from svc_core.base import periods

READ = {
    "2024": ("A", "2024", "2024-01-01", "2024-12-31"),
    "2024-A1": ("A", "2024", "2024-01-01", "2024-12-31"),
    "2024-S2": ("S", "2024-S2", "2024-07-01", "2024-12-31"),
    "2024-H1": ("S", "2024-S1", "2024-01-01", "2024-06-30"),
    "2024-Q1": ("Q", "2024-Q1", "2024-01-01", "2024-03-31"),
    "2024Q3": ("Q", "2024-Q3", "2024-07-01", "2024-09-30"),
    "2024-02": ("M", "2024-02", "2024-02-01", "2024-02-29"),
    "2023-M02": ("M", "2023-02", "2023-02-01", "2023-02-28"),
    "2024M12": ("M", "2024-12", "2024-12-01", "2024-12-31"),
    "2020-W53": ("W", "2020-W53", "2020-12-28", "2021-01-03"),
    "2026-W1": ("W", "2026-W01", "2025-12-29", "2026-01-04"),
    "2024-02-29": ("D", "2024-02-29", "2024-02-29", "2024-02-29"),
    "2024-D060": ("D", "2024-02-29", "2024-02-29", "2024-02-29"),
    "2013-01-18T00:00:00.000Z": ("D", "2013-01-18", "2013-01-18", "2013-01-18"),
    "2024-04-01/P3M": ("Q", "2024-Q2", "2024-04-01", "2024-06-30"),
    " 9999-12 ": ("M", "9999-12", "9999-12-01", "9999-12-31"),
}  # fmt: skip

INVALID = [
    "", "24", "20240", "2024-", "2024-13", "2024-00", "2024-Q0", "2024-Q5", "2024-S3", "2023-02-29",
    "2023-D366", "2023-D000", "2024-W54", "2023-W53", "2024-T1", "0000", "9999-W52", "2024-2025",
    "next year",
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), READ.items())
def test_a_period_is_read_and_written_in_one_way(text: str, expected: tuple[str, ...]) -> None:
    period = periods.read_period(text)
    fields = (period.frequency, period.text, period.start.isoformat(), period.end.isoformat())
    assert fields == expected
    assert periods.read_period(period.text) == period


@pytest.mark.parametrize("text", INVALID)
def test_what_names_no_period_is_none(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words are those of dates
        periods.read_period(text)


@pytest.mark.parametrize(
    ("text", "frequency", "expected"),
    [
        ("2024-03-31", "M", "2024-03"),
        ("2024-03-08", "W", "2024-W10"),
        ("2024-05", "Q", "2024-Q2"),
        ("2024-05", "A", "2024"),
        ("2024", "D", "2024"),
        ("2024-Q2", "M", "2024-Q2"),
        ("2024-Q2", "H", "2024-Q2"),
        ("2024-Q2", None, "2024-Q2"),
    ],
)
def test_a_date_stands_for_the_period_of_a_coarser_frequency(
    text: str, frequency: str | None, expected: str
) -> None:
    assert periods.read_period(text, frequency).text == expected


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
