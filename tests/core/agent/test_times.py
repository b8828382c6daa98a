"""What spans of time questions name."""

from datetime import UTC, datetime

import pytest

from svc_core.agent.times import impossible_date, time_span, with_year, without_times

NOW = datetime(2026, 1, 31, 3, tzinfo=UTC)
LAST = "T23:59:59.999999Z"
SPANS = {
    "in the last 7 days": "2026-01-24T03:00:00Z/..",
    "past two hours": "2026-01-31T01:00:00Z/..",
    "in the past three months": "2025-10-31T03:00:00Z/..",
    "in the past quarter": "2025-10-31T03:00:00Z/..",
    "last 9000 years": "0001-01-01T00:00:00Z/..",
    "this year": f"2026-01-01T00:00:00Z/2026-12-31{LAST}",
    "last month": f"2025-12-01T00:00:00Z/2025-12-31{LAST}",
    "Yesterday": f"2026-01-30T00:00:00Z/2026-01-30{LAST}",
    "today": f"2026-01-31T00:00:00Z/2026-01-31{LAST}",
    "in March 2026": f"2026-03-01T00:00:00Z/2026-03-31{LAST}",
    "on 3 March 2026": f"2026-03-03T00:00:00Z/2026-03-03{LAST}",
    "on March 3rd, 2026": f"2026-03-03T00:00:00Z/2026-03-03{LAST}",
    "since 2026-01-01": "2026-01-01T00:00:00Z/..",
    "after May 2024": "2024-06-01T00:00:00Z/..",
    "before 2025?": f"../2024-12-31{LAST}",
    "by January 2025.": f"../2025-01-31{LAST}",
    "between 2024 and 2025": f"2024-01-01T00:00:00Z/2025-12-31{LAST}",
    "from 2020-01-01 to 2021-01-01": f"2020-01-01T00:00:00Z/2021-01-01{LAST}",
    "Q2 2025": f"2025-04-01T00:00:00Z/2025-06-30{LAST}",
    "2025 Q3": f"2025-07-01T00:00:00Z/2025-09-30{LAST}",
    "the third quarter of 2025": f"2025-07-01T00:00:00Z/2025-09-30{LAST}",
    "next month": f"2026-02-01T00:00:00Z/2026-02-28{LAST}",
    "more in 2025 than in 2023": f"2023-01-01T00:00:00Z/2025-12-31{LAST}",
    "2020 2025": f"2020-01-01T00:00:00Z/2025-12-31{LAST}",
    "de 2020 à 2025": f"2020-01-01T00:00:00Z/2025-12-31{LAST}",
    "fiscal year 2023": f"2023-01-01T00:00:00Z/2023-12-31{LAST}",
    "from the 1st to the 8th of July 2025": f"2025-07-01T00:00:00Z/2025-07-08{LAST}",
    "vom 1. bis zum 8. Juli 2025": f"2025-07-01T00:00:00Z/2025-07-08{LAST}",
    "du 1er au 8 juillet 2025": f"2025-07-01T00:00:00Z/2025-07-08{LAST}",
    "from January to March 2024": f"2024-01-01T00:00:00Z/2024-03-31{LAST}",
    "el 18 de enero de 2013": f"2013-01-18T00:00:00Z/2013-01-18{LAST}",
    "am 12.3.2025": f"2025-03-12T00:00:00Z/2025-03-12{LAST}",
    "vom 3. 2. 2025 bis zum 5. 3. 2025": f"2025-02-03T00:00:00Z/2025-03-05{LAST}",
    "on 7 July": f"2025-07-07T00:00:00Z/2025-07-07{LAST}",
    "by October or December 2026": f"2026-10-01T00:00:00Z/2026-12-31{LAST}",
    "im dritten Quartal 2025": f"2025-07-01T00:00:00Z/2025-09-30{LAST}",
    "1 julio 8 julio 2025": f"2025-07-01T00:00:00Z/2025-07-08{LAST}",
    "July 8 2025, 1 July and July 2025": f"2025-07-01T00:00:00Z/2025-07-31{LAST}",
    "FY2023": f"2023-01-01T00:00:00Z/2023-12-31{LAST}",
}


@pytest.mark.parametrize(("text", "interval"), SPANS.items())
def test_a_span_is_read_against_now(text: str, interval: str) -> None:
    span = time_span(text, NOW)
    assert span is not None
    assert span.interval == interval


@pytest.mark.parametrize(
    "text", ["CVSS above 9", "40 February 2024", "2024-13-44", "may I ask", "10-K", "revenue2024"]
)
def test_what_names_no_time_has_no_span(text: str) -> None:
    assert time_span(text, NOW) is None


IMPOSSIBLE = {
    "on 31 February 2025": "2025-02-31",
    "am 30.2.2025": "2025-02-30",
    "el 31 de abril de 2025": "2025-04-31",
    "du 28 au 31 juin 2025": "2025-06-31",
    "February 29th, 2025": "2025-02-29",
    "between 2024-01-01 and 2024-13-01": "2024-13-01",
    "29 February 2024": None,
    "May 99 people": None,
    "version 15.0.2000": None,
    "10.1.2025.4": None,
}


@pytest.mark.parametrize(("text", "day"), IMPOSSIBLE.items())
def test_a_day_that_no_calendar_has_is_noticed(text: str, day: str | None) -> None:
    assert impossible_date(text, NOW) == day


def test_the_last_day_of_all_ends_nowhere_later() -> None:
    assert time_span("31 December 9999", NOW) is not None


def test_words_of_time_are_left_out() -> None:
    assert without_times("How many in March 2026 and in the last 7 days?").split() == [
        "how", "many", "in", "and", "in", "the", "?",
    ]  # fmt: skip


DATES = [
    ("2025", "2025-03-01", True),
    ("2025", "2025-12-31T23:59:59Z", True),
    ("2025", "2026-01-01T00:00:00Z", False),
    ("since 2025", "2026-01-01", True),
    ("before 2025", "2024-01-01", True),
    ("before 2025", "2025", False),
    ("2025", None, False),
]


@pytest.mark.parametrize(("text", "stamp", "is_held"), DATES)
def test_a_date_of_a_row_lies_in_a_span(text: str, stamp: str | None, is_held: bool) -> None:
    span = time_span(text, NOW)
    assert span is not None
    assert span.contains(stamp) is is_held


YEARS = {
    "and in Q2?": "and in q2 2024?",
    "and in the year before?": "and in 2023",
    "Und im Vorjahr?": "und im 2023",
    "et l'année d'avant ?": "et 2023",
    "¿y el año siguiente?": "¿y 2025",
    "and in the year before the war?": "and in the year before the war?",
    "And in 2019?": "And in 2019?",
}


@pytest.mark.parametrize(("text", "dated"), YEARS.items())
def test_a_year_beside_one_is_that_of_the_question_before(text: str, dated: str) -> None:
    assert with_year(text, 2024) == dated
