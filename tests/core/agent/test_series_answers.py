"""What is said of values over time: all of few, the ends of many, extremes and changes."""

from datetime import UTC, datetime
from typing import Any

import pytest

from svc_core.agent.agent_ports import Turn
from tests.core.agent.asker import Reply, Rows, answer, page

NOW = datetime(2026, 1, 31, 3, tzinfo=UTC)
OIL = [
    ("2023-Q4", 40.0),
    ("2024-Q1", 50.0),
    ("2024-Q2", 45.0),
    ("2024-Q3", 60.0),
    ("2024-Q4", 60.0),
]


def series_row(
    period: str, number: float | None, name: str = "Debt of the state", **members: Any
) -> dict[str, Any]:
    month = {"Q1": "-01", "Q2": "-04", "Q3": "-07", "Q4": "-10"}.get(
        period[5:], period[4:] or "-01"
    )
    frequency = "Q" if "Q" in period else "M" if period[4:] else "A"
    return {
        "id": f"{name} {period} {number}", "name": name, "value": number, "period": period,
        "periodStart": f"{period[:4]}{month}-01", "frequency": frequency, "currency": "EUR",
        "area": {"countryCode": "DE", "label": "Germany"}, "indicatorCode": "x",
        "provider": "Heron",
    } | members  # fmt: skip


def ask(question: str, rows: list[dict[str, Any]]) -> Reply:
    return answer(Turn(question, NOW), Rows({"list_finint": [page(rows)]}))


CODED = [series_row("2024", 7, "Months of cover", indicatorCode="RES.TOT.MO")]
CODES = [
    ("RES.TOT.MO", "was 7 EUR for 2024", ["RES.TOT.MO"]),
    ("res.tot.mo of Germany in 2024", "was 7 EUR for 2024", ["RES.TOT.MO"]),
    ("debt in RES", "", []),
]


@pytest.mark.parametrize(("question", "part", "codes"), CODES)
def test_a_series_answers_to_the_code_that_its_source_writes(
    question: str, part: str, codes: list[str]
) -> None:
    tools = Rows({"list_finint": [page(CODED)]})
    assert part in answer(Turn(question, NOW), tools).text
    assert [inputs["indicator"] for inputs in tools.inputs if "indicator" in inputs] == codes


QUARTERS = [series_row(period, number) for period, number in OIL]
SHARES = [series_row(period, number, unit="%", currency=None) for period, number in OIL]
RATES = [series_row(period, number - 50, "Growth of the debt") for period, number in OIL]
SCALED = [series_row(period, number, unitMultiplier=6) for period, number in OIL]
MONTHS = [series_row(f"2024-{month:02}", month) for month in range(1, 13)]
YEARS = [series_row(f"{year}", year - 1990) for year in range(2000, 2024)]
REVISED = [
    series_row("2024", number, vintage={"start": f"2025-0{number}-01"}) for number in (2, 3, 1)
]
SUNK = [series_row("2023", 5), series_row("2024", -5)]
STILL = [series_row("2023", 5), series_row("2024", 5)]

SERIES = [
    ("debt of Germany", QUARTERS, ["was 60 EUR for 2024-Q4"], ["2024-Q3"]),
    ("debt of Germany before July 2024", QUARTERS, ["for 2024-Q2"], ["2024-Q1", "2024-Q3"]),
    ("debt of Germany in 2024", QUARTERS, ["was 50", "was 45", "2024-Q3", "2024-Q4"], ["2023-Q4"]),
    ("debt of Germany each quarter of 2024", QUARTERS, ["was 50", "was 45"], ["rose", "2023"]),
    ("quarterly debt of Germany", [*QUARTERS, *YEARS], ["2023-Q4", "2024-Q4"], ["for 2023,"]),
    ("debt of Germany by month", QUARTERS, ["does not know values “by month”"], ["was"]),
    ("Schulden von Deutschland pro Quartal", QUARTERS, ["2023-Q4", "2024-Q2"], []),
    ("dette de l'Allemagne par trimestre", QUARTERS, ["2023-Q4", "2024-Q2"], []),
    ("deuda de Alemania cada trimestre", QUARTERS, ["2023-Q4", "2024-Q2"], []),
    ("debt of Germany since 2001", YEARS, ["Of 23 values one at an end", "2001", "2023"], ["2009"]),
    ("How did the debt of Germany evolve from 2023 to 2024?", QUARTERS,
     ["rose by 20 EUR from 2023-Q4 to 2024-Q4, by 50%", "was 45"], []),
    ("debt of Germany in 2023-Q4 and 2024-Q1", SHARES, ["least, 10 percentage points less"], []),
    ("debt of Germany in 2023-Q4 and 2024-Q1", QUARTERS, ["10 EUR less"], []),
    ("Did the debt of Germany change in 2024?", SHARES, ["rose by 10 percentage points"], ["20%"]),
    ("Did the debt of Germany change in 2024?", SCALED, ["rose by 10 from"], ["10 EUR"]),
    ("Did the debt of Germany change?", SUNK, ["fell by 10 EUR from 2023 to 2024"], ["%"]),
    ("Did the debt of Germany change?", STILL, ["was the same at both ends"], ["rose", "fell"]),
    ("debt of Germany in 2024", REVISED, ["was 3 EUR"], ["was 1 ", "was 2 "]),
    ("What was the highest debt of Germany in 2024?", QUARTERS,
     ["The highest of 4 values", "2024-Q3", "2024-Q4"], ["2024-Q1"]),
    ("In which year was the debt of Germany lowest?", QUARTERS,
     ["The lowest of 5 values", "was 40 EUR for 2023-Q4"], ["was 45"]),
    ("In which month was the debt of Germany lowest?", QUARTERS, ["not know values “"], ["was 4"]),
    ("In which quarter of 2024 did the debt of Germany fall the most?", QUARTERS,
     ["largest of 4 changes", "fell by 5 EUR from 2024-Q1 to 2024-Q2, by 10%"], ["was"]),
    ("In which quarter of 2024 did the debt of Germany rise the most?", QUARTERS,
     ["largest of 4 changes", "rose by 15 EUR from 2024-Q2 to 2024-Q3"], ["was"]),
    ("In which quarter did the debt of Germany change the most?", QUARTERS,
     ["largest of 4 changes", "2024-Q2 to 2024-Q3"], ["was"]),
    ("In which month of 2024 did the debt of Germany fall the most?", MONTHS, [], ["largest"]),
    ("In which quarter did the debt growth of Germany fall the most?", RATES,
     ["The lowest of 5 values", "was -10"], ["largest"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "rows", "parts", "others"), SERIES)
def test_the_values_that_are_asked_for_are_said(
    question: str, rows: list[dict[str, Any]], parts: list[str], others: list[str]
) -> None:
    text = ask(question, rows).text
    assert [part for part in parts if part not in text] == []
    assert [part for part in others if part in text] == []


def test_the_extreme_of_values_that_are_not_all_there_is_said_so() -> None:
    pages = [page([row], str(number + 1)) for number, row in enumerate(YEARS)]
    reply = answer(Turn("highest debt of Germany", NOW), Rows({"list_finint": pages}))
    assert "The highest of at least 16 values" in reply.text


def test_a_series_that_measures_something_else_too_is_not_meant() -> None:
    rows = [*QUARTERS, *RATES]
    assert "Growth" not in ask("debt of Germany", rows).text
    assert "Growth" in ask("debt growth of Germany", rows).text
