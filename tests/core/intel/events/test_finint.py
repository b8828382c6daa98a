"""Listing indicators: what each filter finds, the newest of each series, and what changed."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from svc_core.base import instants
from svc_core.contract import problem
from svc_core.intel.economy import indicators

Take = Callable[..., Any]

WRITE_TIME = "2026-01-02T03:04:05Z"

FILTERS = [
    ("", 77),
    ("provider=fred", 27),
    ("provider=fred,ecb", 33),
    ("indicator=GDP", 8),
    ("indicator=GDP,SP.POP.TOTL&provider=worldbank", 15),
    ("area=EUU", 3),
    ("country=de", 8),
    ("country=DE,FR", 16),
    ("frequency=M", 6),
    ("frequency=Q,A", 45),
    ("frequency=W", 0),
    ("indicator=GDP&periodFrom=2024-Q3&periodTo=2024", 2),
    ("indicator=GDP&periodFrom=2024-07-02&periodTo=2024-12-31", 1),
    ("indicator=GDP&periodFrom=2024&periodTo=2024-11", 3),
    ("periodFrom=2024&periodTo=2024-Q3&provider=worldbank", 0),
    ("periodFrom=2026&periodTo=2025", 0),
    ("indicator=A191RL1Q225SBEA", 5),
    ("indicator=A191RL1Q225SBEA&vintage=2024-06-01", 1),
    ("indicator=A191RL1Q225SBEA&vintage=2024-09-01", 2),
    ("vintage=2020-01-01", 0),
    ("updatedSince=2026-01-02T03:04:04Z", 77),
    (f"updatedSince={WRITE_TIME}", 0),
    ("latest=true", 22),
    ("latest=true&provider=fred", 4),
    ("latest=true&country=DE&periodTo=2023", 2),
]


@pytest.mark.parametrize(("query", "count"), FILTERS)
def test_a_filter_finds_all_that_match_page_by_page(world: Any, query: str, count: int) -> None:
    ids = [row["id"] for row in world.every("listIndicators", f"{query}&limit=7".lstrip("&"))]
    assert len(ids) == len(set(ids)) == count


def test_periods_come_newest_first_and_rows_written_last_by_choice(
    house: Any, take: Take, world: Any
) -> None:
    starts = [row["periodStart"] for row in world.rows("listIndicators", "limit=100")]
    assert starts == sorted(starts, reverse=True)
    for minute, day in enumerate(("2024-03-04", "2024-03-01")):
        rates = {"base": "EUR", "date": day, "rates": {"USD": 1}}
        take(house, f"rates-{minute}", json.dumps(rates).encode())
        house.clock.advance(60)
    by_period = [row["period"] for row in house.rows("listIndicators", "sort=period")]
    by_writing = [row["period"] for row in house.rows("listIndicators", "sort=updatedAt")]
    assert (by_period, by_writing) == (["2024-03-04", "2024-03-01"], ["2024-03-01", "2024-03-04"])
    since = instants.render(house.clock.now() - timedelta(seconds=90))
    (row,) = house.rows("listIndicators", f"updatedSince={since}")
    assert row["period"] == "2024-03-01"


def test_the_newest_of_a_series_is_its_newest_vintage(world: Any) -> None:
    (row,) = world.rows("listIndicators", "indicator=A191RL1Q225SBEA&latest=true")
    assert (row["period"], row["value"]) == ("2024-Q2", 3.0)
    (row,) = world.rows(
        "listIndicators", "indicator=A191RL1Q225SBEA&latest=true&vintage=2024-06-01"
    )
    assert (row["period"], row["value"]) == ("2024-Q1", 1.3)


CHANGES = [
    ("indicator=EUR/CHF&latest=true", (0.9321, -0.0003, -0.032185)),
    # The day before has no value, the one before that has.
    ("indicator=DGS10&periodFrom={yesterday}&periodTo={yesterday}", (4.14, 0.04, 0.966184)),
    ("indicator=UAH.EUR.SP00.A&latest=true", (49.01, None, None)),
    ("indicator=UNE_RATE.PT.Y&area=EA20", (None, None, None)),
    ("indicator=A191RL1Q225SBEA&periodFrom=2024-Q2&vintage=2024-08-01", (1.4, 1.4, 100.0)),
]


@pytest.mark.parametrize(("query", "expected"), CHANGES)
def test_a_change_is_since_the_nearest_earlier_value(
    world: Any, query: str, expected: tuple[float | None, ...]
) -> None:
    yesterday = f"{world.clock.now() - timedelta(days=1):%Y-%m-%d}"
    (row,) = world.rows("listIndicators", query.format(yesterday=yesterday) + "&include=change")
    assert (row["previousValue"], row["change"], row["changePercent"]) == expected
    reply = world.send("getIndicator", path={"indicatorId": row["id"]}, query="include=change")
    assert json.loads(reply.body)["data"] == row


def test_what_was_not_asked_for_is_absent(world: Any) -> None:
    row = world.rows("listIndicators", "limit=1")[0]
    assert not {"previousValue", "change", "changePercent"} & set(row)
    reply = world.send("getIndicator", path={"indicatorId": row["id"]})
    assert json.loads(reply.body)["data"] == row


def test_from_nothing_to_something_is_no_percentage(house: Any, take: Take) -> None:
    rates = {"base": "EUR", "start_date": "", "rates": {"2024-03-01": {"USD": 0}}}
    rates["rates"]["2024-03-04"] = {"USD": 2}
    take(house, "rates", json.dumps(rates).encode())
    row = house.rows("listIndicators", "include=change&latest=true")[0]
    assert (row["previousValue"], row["change"], row["changePercent"]) == (0, 2, None)


def test_rows_are_lines_where_that_is_asked_for(world: Any) -> None:
    reply = world.send("listIndicators", query="provider=ecb&format=ndjson")
    rows = [json.loads(line) for line in reply.body.splitlines()]
    assert rows == world.rows("listIndicators", "provider=ecb")


REFUSALS = [
    ("periodFrom=2024-Q9", problem.INVALID_PARAMETER),
    ("periodFrom=2023-02-29", problem.INVALID_PARAMETER),
    ("periodTo=yesterday", problem.INVALID_PARAMETER),
    ("sort=period&latest=true", problem.CONFLICTING_PARAMETERS),
]


@pytest.mark.parametrize(("query", "kind"), REFUSALS)
def test_what_cannot_be_asked_is_refused_by_its_name(world: Any, query: str, kind: Any) -> None:
    refusal = world.refusal("listIndicators", query=query)
    assert refusal.type is kind
    assert refusal.detail.startswith(query.partition("=")[0])


def test_a_cursor_is_of_one_list_alone(world: Any) -> None:
    reply = world.body("listIndicators", "latest=true&limit=1")
    cursor = reply["meta"]["page"]["nextCursor"]
    refusal = world.refusal("listIndicators", query=f"limit=1&cursor={cursor}")
    assert refusal.type is problem.INVALID_CURSOR


def test_a_page_looks_at_so_many_series_and_says_where_to_go_on(house: Any, take: Take) -> None:
    rates = {f"X{number:02}": 1 for number in range(indicators.SERIES_SCAN_MAX + 50)}
    document = {"base": "EUR", "date": "2024-03-01", "rates": rates}
    take(house, "rates", json.dumps(document).encode())
    late = {"base": "EUR", "date": "2025-03-01", "rates": {"X00": 1, "X70": 2}}
    take(house, "late", json.dumps(late).encode())
    pages = house.pages("listIndicators", "latest=true&limit=100&periodFrom=2025")
    matches = [row["value"] for body in pages for row in body["data"]]
    assert (sorted(matches), len(pages)) == ([1, 2], 2)


# -- as documents say it -----------------------------------------------------------------------


def test_a_later_document_says_the_value_whichever_is_read_first(
    house_factory: Callable[[], Any], take: Take
) -> None:
    def answer(day: str, value: Any) -> bytes:
        row = {"realtime_start": day, "realtime_end": day, "date": "2024-01-01", "value": value}
        span = {"realtime_start": day, "realtime_end": day, "observation_start": "x"}
        return json.dumps({**span, "observations": [row]}).encode()

    options = {"series": "GDP", "frequency": "Q"}
    old, new = ("old", answer("2024-04-25", "1.6")), ("new", answer("2024-05-30", "."))
    for order in ([old, new], [new, old]):
        house = house_factory()
        for name, body in order:
            take(house, name, body, options)
        (row,) = house.rows("listIndicators")
        assert (row["value"], row["status"], len(row["sources"])) == (None, "M", 2)


def test_the_same_document_again_changes_nothing(house: Any, take: Take) -> None:
    rates = json.dumps({"base": "EUR", "date": "2024-03-01", "rates": {"USD": 1.1}}).encode()
    take(house, "rates", rates)
    before = house.rows("listIndicators")
    house.clock.advance(60)
    again = take(house, "rates", rates)
    assert (again.created, again.updated, house.rows("listIndicators")) == (0, 0, before)


@pytest.mark.parametrize(
    ("first", "second", "value", "updates"),
    [
        (("2024-03-01", "2024-03-01"), ("2024-03-02", "2024-03-02"), "1", 0),
        (("2024-03-01", "2024-03-01"), ("2024-03-02", "2024-03-02"), "2", 1),
        (("2024-03-01", "9999-12-31"), ("2024-03-01", "2024-03-27"), "1", 1),
    ],
)
def test_a_value_asked_for_on_another_day_is_no_change(
    house: Any, take: Take, first: Any, second: Any, value: str, updates: int
) -> None:
    for vintage, figure in ((first, "1"), (second, value)):
        span = dict(zip(("realtime_start", "realtime_end"), vintage, strict=True))
        rows = [{**span, "date": "2024-01-01", "value": figure}]
        options = {"observation_start": "x", **span, "observations": rows}
        body = json.dumps(options).encode()
        report = take(house, "gdp", body, {"series": "GDP", "frequency": "Q"})
    assert (report.created, report.updated) == (0, updates)
