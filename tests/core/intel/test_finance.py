"""What companies reported: what each filter finds, as it is known now and was on a day."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from svc_core.contract import problem
from svc_core.formats.companies import xbrl
from svc_core.intel.economy.statement import Metric
from svc_core.intel.linking.references import id_of
from svc_core.testing.clock import START
from svc_http.run.demo.demo_feeds import data_documents
from tests.core import demo

APPLE, MICROSOFT, QUAY = (
    id_of(f"cik:{number}") for number in ("0000320193", "0000789019", "0009990417")
)
MILLION = 1_000_000


@pytest.fixture(scope="module")
def demo_house(house_factory: Any) -> Any:
    house = house_factory()
    for document in data_documents(START):
        if document.file_name.startswith("sec-"):
            demo.take(house, document.file_name, json.loads(document.body))
    return house


def page(house: Any, entity: str, query: str = "") -> dict[str, Any]:
    body: dict[str, Any] = house.body("listFinancialObservations", query, path={"entityId": entity})
    return body


def rows(house: Any, entity: str, query: str = "") -> list[dict[str, Any]]:
    facts: list[dict[str, Any]] = house.every(
        "listFinancialObservations", f"limit=3&{query}", path={"entityId": entity}
    )
    return facts


FILTERS = [
    (MICROSOFT, "", 16),
    (MICROSOFT, "includeSuperseded=true", 29),
    (MICROSOFT, "metric=revenue", 5),
    (MICROSOFT, "metric=revenue,netIncome", 9),
    (MICROSOFT, "metric=revenue&includeSuperseded=true", 11),
    (MICROSOFT, "metric=capex", 0),
    (MICROSOFT, "concept=us-gaap:SalesRevenueNet", 3),
    (MICROSOFT, "concept=SalesRevenueNet", 3),
    (MICROSOFT, "concept=SalesRevenueNet&metric=revenue", 1),
    (MICROSOFT, "concept=SalesRevenueNet&metric=netIncome", 0),
    (MICROSOFT, "concept=SalesRevenueNet,Assets", 5),
    (MICROSOFT, "concept=ifrs-full:Assets", 0),
    (MICROSOFT, "periodType=instant", 4),
    (MICROSOFT, "periodType=duration", 12),
    (MICROSOFT, "periodType=duration,instant", 16),
    (MICROSOFT, "months=12", 12),
    (MICROSOFT, "months=3,6", 0),
    (MICROSOFT, "months=12&periodType=instant", 0),
    (MICROSOFT, "from=2018-06-30&to=2018&metric=revenue", 1),
    (MICROSOFT, "from=2018-07-01&metric=revenue", 1),
    (MICROSOFT, "from=2016-Q2&to=2017-06&metric=revenue", 2),
    (MICROSOFT, "to=2014", 0),
    (MICROSOFT, "asOf=2016-07-27", 0),
    (MICROSOFT, "asOf=2016-07-28", 3),
    (MICROSOFT, "asOf=2018-08-02&metric=revenue", 3),
    (MICROSOFT, "asOf=2018-08-03&metric=revenue", 4),
    (MICROSOFT, "asOf=2018-08-03T23:59:59-01:00&metric=revenue", 4),
    (MICROSOFT, "asOf=2018-08-03&metric=revenue&includeSuperseded=true", 8),
    (MICROSOFT, "asOf=9999-12-31", 16),
    (APPLE, "metric=revenue&months=3", 2),
    (QUAY, "", 7),
    (QUAY, "months=6", 1),
    (QUAY, "metric=netIncome", 2),
]


@pytest.mark.parametrize(("entity", "query", "count"), FILTERS)
@pytest.mark.parametrize("sort", ["periodEnd", "filedDate"])
def test_a_filter_finds_all_that_match_page_by_page(
    demo_house: Any, entity: str, query: str, count: int, sort: str
) -> None:
    facts = rows(demo_house, entity, f"sort={sort}&{query}")
    assert len({row["id"] for row in facts}) == len(facts) == count
    days = [
        row["periodEnd"] if sort == "periodEnd" else row["filing"]["filedDate"] for row in facts
    ]
    assert days == sorted(days, reverse=True)


def yearly(house: Any, entity: str, query: str) -> dict[str, Any]:
    return {row["periodEnd"]: row["value"] for row in rows(house, entity, query)}


def test_a_restated_year_has_its_newest_figure_and_on_a_day_before_it_the_older_one(
    demo_house: Any,
) -> None:
    now = yearly(demo_house, MICROSOFT, "metric=revenue&months=12")
    assert now == {
        "2015-06-30": 93_580 * MILLION,
        "2016-06-30": 91_154 * MILLION,
        "2017-06-30": 96_571 * MILLION,
        "2018-06-30": 110_360 * MILLION,
        "2019-06-30": 125_843 * MILLION,
    }
    earlier = yearly(demo_house, MICROSOFT, "metric=revenue&months=12&asOf=2018-08-02")
    assert earlier["2016-06-30"] == 85_320 * MILLION
    assert earlier["2017-06-30"] == 89_950 * MILLION
    assert all(isinstance(value, int) for value in now.values())


def test_the_rows_of_a_restated_year_lead_to_each_other(demo_house: Any) -> None:
    query = "metric=revenue&from=2017&to=2017&sort=filedDate&includeSuperseded=true"
    newest, correction, first = rows(demo_house, MICROSOFT, query)
    assert [row["restated"] for row in (first, correction, newest)] == [False, True, True]
    assert (first["supersedesId"], newest["supersededById"]) == (None, None)
    assert first["supersededById"] == correction["id"] == newest["supersedesId"]
    assert correction["supersededById"] == newest["id"]


def test_a_row_has_its_period_by_its_dates_and_nothing_of_how_it_is_found(demo_house: Any) -> None:
    (row,) = page(demo_house, APPLE, "metric=revenue&from=2018-09-01&to=2018-09-29&months=3")[
        "data"
    ]
    assert (row["fiscalYear"], row["fiscalPeriod"]) == (2018, "Q4")
    assert (row["filing"]["fiscalYear"], row["filing"]["fiscalPeriod"]) == (2018, "FY")
    assert not {"fact", "supersededDate", "repeatedDate"} & row.keys()
    (share,) = page(demo_house, APPLE, "metric=epsDiluted")["data"]
    assert (share["value"], share["currency"], share["unit"]) == (11.89, "USD", "{share}-1")


def test_every_id_of_a_company_answers_with_its_own(demo_house: Any) -> None:
    alias = id_of("lei:INR2EJN1ERAN0W5ZP974")
    (entity,) = {row["entityId"] for row in rows(demo_house, MICROSOFT)}
    assert rows(demo_house, alias) == rows(demo_house, MICROSOFT)
    assert json.loads(demo_house.send("getEntity", path={"entityId": alias}).body)["data"][
        "id"
    ] == (entity)


def test_who_is_not_known_is_not_found_and_who_reported_nothing_has_no_rows(
    demo_house: Any,
) -> None:
    unknown = "ent_" + "0" * 24
    refusal = demo_house.refusal("listFinancialObservations", path={"entityId": unknown})
    assert refusal.type is problem.NOT_FOUND
    demo.take(demo_house, "quiet.json", {"0": {"cik_str": 7, "ticker": "QT", "title": "Quiet Inc"}})
    assert page(demo_house, id_of("cik:0000000007"))["data"] == []


@pytest.mark.parametrize(
    "query",
    ["asOf=2018-02-30", "asOf=2018-08-03T25:00:00Z", "asOf=soon", "from=2018-13", "months=4"],
)
def test_a_day_that_does_not_exist_is_refused(demo_house: Any, query: str) -> None:
    path = {"entityId": MICROSOFT}
    refusal = demo_house.refusal("listFinancialObservations", path=path, query=query)
    assert refusal.type is problem.INVALID_PARAMETER


def test_a_walk_while_a_report_comes_in_repeats_and_skips_nothing_that_stays(
    house: Any,
) -> None:
    bodies = {document.file_name: document.body for document in data_documents(START)}
    whole, earlier = (json.loads(bodies["sec-companyfacts-microsoft.json"]) for _ in range(2))
    for concept in earlier["facts"]["us-gaap"].values():
        for unit, facts in concept["units"].items():
            concept["units"][unit] = [fact for fact in facts if fact["filed"] < "2019"]
    demo.take(house, "facts.json", earlier)
    before = {row["id"] for row in rows(house, MICROSOFT)}
    first = page(house, MICROSOFT, "limit=3")
    demo.take(house, "facts.json", whole)
    after = {row["id"] for row in rows(house, MICROSOFT)}
    cursor = first["meta"]["page"]["nextCursor"]
    rest = page(house, MICROSOFT, f"limit=100&cursor={cursor}")["data"]
    ids = [row["id"] for row in (*first["data"], *rest)]
    assert len(set(ids)) == len(ids)
    assert before & after <= set(ids) <= before | after
    assert before - after
    assert after - before


def test_the_metrics_of_rows_are_those_of_the_table() -> None:
    assert list(get_args(Metric)) == list(dict.fromkeys(xbrl.metrics().values()))


# -- a real document ---------------------------------------------------------------------------

REVENUE = [  # in millions, of the fiscal years from 2009 to 2025, as annual reports have them
    42_905, 65_225, 108_249, 156_508, 170_910, 182_795, 233_715, 215_639, 229_234, 265_595,
    260_174, 274_515, 365_817, 394_328, 383_285, 391_035, 416_161,
]  # fmt: skip


@pytest.mark.needs("SVC_REAL_DATA")
def test_the_years_of_a_real_company_have_the_figures_of_its_reports(
    house: Any, real_documents: Callable[[str], list[Path]]
) -> None:
    for path in real_documents("sec_edgar"):
        if path.name == "companyfacts_CIK0000320193.json":
            demo.take(house, path.name, json.loads(path.read_bytes()))
    facts = rows(house, APPLE, "metric=revenue&months=12&from=2009-09-01")
    assert [row["value"] for row in facts[::-1]] == [fact * MILLION for fact in REVENUE]
    assert [row["fiscalYear"] for row in facts[::-1]] == list(range(2009, 2026))
    before = yearly(house, APPLE, "metric=revenue&months=12&asOf=2010-01-24")
    assert before == {
        "2009-09-26": 36_537 * MILLION,
        "2008-09-27": 32_479 * MILLION,
        "2007-09-29": 24_006 * MILLION,
    }
