"""What is bounded ends the same when the bound is met: passes, scenes, lists, graphs, facts."""

import json
from typing import Any

import pytest

from svc_core.base import drive
from svc_core.intel.economy import statements
from svc_core.intel.entities.model import ENTITIES
from svc_core.intel.folding.due_rows import BatchSize
from svc_core.intel.fusion.parts import owners
from svc_core.intel.graphs import neighbours
from svc_core.intel.incidents import fold_passes as passes
from svc_core.intel.incidents import incident_members as members
from svc_core.intel.incidents.fold_passes import fold_new
from svc_core.intel.linking.references import id_of
from svc_core.intel.signals import detection as detecting
from svc_core.intel.signals.detection import detect_new
from svc_core.intel.signals.news_outliers import topic_signals
from svc_core.search import lists as searching
from svc_http.run.demo.demo_feeds import data_documents
from tests.core import demo
from tests.core.cves import product, record
from tests.core.intel.incident_documents import rss, take
from tests.core.intel.news.test_grouping import Work


def world(house: Any, *names: str) -> None:
    """Some documents of the demo, with what follows from them."""
    documents = {document.file_name: document for document in data_documents(house.clock.now())}
    for name in names:
        demo.take(house, name, documents[name].body, **documents[name].options)


def state_of(house: Any) -> list[tuple[str, int]]:
    rows = house.rows("listIncidents", "limit=100")
    return sorted((row["id"], row["observationCount"]) for row in rows)


@pytest.mark.parametrize("bounds", [{"MEMBERS_MAX": 0}, {"HOPS_MAX": 1}, {"UNITS_MAX": 1}], ids=str)
def test_events_alone_are_folded_the_same_within_any_bound(
    house_factory: Any, monkeypatch: pytest.MonkeyPatch, bounds: dict[str, int]
) -> None:
    states = []
    for limits in ({}, bounds):
        house = house_factory()
        world(house, "usgs.json", "misp-event.json")
        for name, number in limits.items():
            monkeypatch.setattr(passes, name, number)
        drive.run(fold_new(Work(house)))
        states.append(state_of(house))
    assert states[0] == states[1] != []


def test_what_others_took_back_is_no_member() -> None:
    assert members.report_member("inc_" + "0" * 24, []) is None


def test_a_pass_ends_and_leaves_the_rest_due(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    take(house, rss("quay.example", "Port strike in Chile", "Vote in Chile"), "https://q.example")
    monkeypatch.setattr(detecting, "UNITS_MAX", 1)
    monkeypatch.setattr(detecting, "SUBJECTS", 1)
    assert drive.run(detect_new(Work(house))) == 0


@pytest.mark.parametrize(
    ("seconds", "rows"), [(0.1, 10), (0.05, 20), (0.0, 20), (0.2, 5), (60.0, 4)]
)
def test_a_unit_takes_as_many_rows_as_the_one_before_had_time_for(
    seconds: float, rows: int
) -> None:
    size = BatchSize(10, least=4, most=30)
    size.adapt(10, seconds)
    assert size.rows == rows
    for _ in range(9):
        size.adapt(size.rows, 0.0)
    assert size.rows == 30


def test_a_topic_without_news_stands_out_in_nothing(house: Any) -> None:
    assert house.run(lambda ctx: topic_signals(ctx, "shipping|2026-01-02")).signals == []


def test_a_vendor_that_is_another_company_is_not_the_company_s() -> None:
    product = {"product": "Mail"}
    row = {
        "id": "ent_a",
        "cveId": "CVE-2025-0001",
        "publishedAt": "2025-01-01T00:00:00Z",
        "affected": [{"vendor": "Cisco", **product}, {"vendor": "Microsoft", **product}],
    }
    ((id_, (basis, _)),) = owners([id_of("cik:0000789019")], [row]).items()
    assert (id_, basis) == ("ent_a", "vendor Microsoft as of 2025-01-01")


def test_a_page_of_which_nothing_looked_at_is_meant_goes_on(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world(house, "polymarket.json", "kalshi.json")
    query = "label=Yes&minProbability=0.6"
    every = [row["id"] for row in house.rows("listMarkets", f"{query}&limit=100")]
    monkeypatch.setattr(searching, "AT_ONCE", 1)
    monkeypatch.setattr(searching, "LOOKED_AT_MAX", 1)
    pages = house.pages("listMarkets", f"{query}&limit=1")
    assert [row["id"] for body in pages for row in body["data"]] == every
    assert len(pages) > len(every) > 0


def test_facts_of_many_rows_are_chained_one_by_one(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world(house, "sec-companyfacts-microsoft.json")
    (company,) = house.rows("listEntities", "designator=cik:789019")
    request = {"path": {"entityId": company["id"]}, "query": "includeSuperseded=true&limit=100"}
    before = json.loads(house.send("listFinancialObservations", **request).body)["data"]
    monkeypatch.setattr(statements, "ROWS_SCANNED", 1)
    documents = {document.file_name: document for document in data_documents(house.clock.now())}
    demo.take(house, "the same again", documents["sec-companyfacts-microsoft.json"].body)
    after = json.loads(house.send("listFinancialObservations", **request).body)["data"]
    assert [row["id"] for row in after] == [row["id"] for row in before]


def test_a_node_with_much_leaves_room_for_others(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world(house, "sec-tickers.json")
    for number in range(4):
        affected_product = product("Microsoft" if number else "Apple", "Mail")
        demo.take(
            house, f"cve{number}", record(f"CVE-2025-000{number}", affected=[affected_product])
        )
    monkeypatch.setattr(neighbours, "SCANNED_MIN", 1)
    monkeypatch.setattr(neighbours, "SCANNED_MAX", 1)
    query = "designator=cik:789019,cik:320193"
    nodes = [row["id"] for row in house.rows("listEntities", query)]

    async def edges(ctx: Any) -> list[Any]:
        graph = neighbours.Neighbours(ctx, neighbours.EdgeCriteria())
        await graph.resolve(nodes)
        return await graph.edges_at(nodes, 10)

    edges_ = house.run(edges)
    assert {item[end] for item in edges_ for end in neighbours.ENDS} >= set(nodes)


def test_the_first_rows_of_a_walk_are_as_many_as_asked_for(house: Any) -> None:
    world(house, "sec-tickers.json")

    async def first(ctx: Any) -> list[str]:
        return [row.id async for row in ctx.every(ENTITIES, 2)]

    assert len(house.run(first)) == 2
