"""Reports from what was observed beside the news: events, vulnerabilities, signals."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from svc_core.base import drive
from svc_core.intel.incidents.fold_passes import fold_new
from svc_core.intel.signals.detection import detect_new
from svc_core.reports import observations as observed
from svc_core.reports.composition import Window
from svc_core.reports.observations import is_in_times
from svc_core.testing.clock import START
from tests.core import demo
from tests.core.intel.incident_documents import rss, take
from tests.core.intel.news.test_grouping import Work
from tests.core.report_building import publish

HOUR = timedelta(hours=1)

FIRST, LATER = (START - HOUR, START), (START - 9 * HOUR, START)
TIMES = {
    "taken in in time": (START, START, LATER, START - 99 * HOUR, True),
    "taken in before": (START, LATER[0], LATER, START - 99 * HOUR, False),
    "taken in after": (START, START + HOUR, LATER, START - 99 * HOUR, False),
    "late, but no archive": (START - 99 * HOUR, START, LATER, START - 99 * HOUR, True),
    "of an archive": (START - 100 * HOUR, START, LATER, START - 99 * HOUR, False),
    "undated and new": (None, START, LATER, START - 99 * HOUR, True),
    "undated, of a first report": (None, START, FIRST, FIRST[0], False),
    "of a period": (START, START + 9 * HOUR, LATER, None, True),
    "before it": (START - 10 * HOUR, START, LATER, None, False),
    "after it": (START + HOUR, START, LATER, None, False),
    "undated, in no period": (None, START, (None, START), None, False),
    "from any time on": (START - 9999 * HOUR, START, (None, START), None, True),
}


@pytest.mark.parametrize("case", TIMES)
def test_what_a_report_covers_is_of_its_times(case: str) -> None:
    *arguments, expected = TIMES[case]
    assert is_in_times(*arguments) is expected


def world(house: Any) -> None:
    """The demo, with its incidents and signals."""
    demo.take_all(house)
    drive.run(fold_new(Work(house)))
    drive.run(detect_new(Work(house)))


def compose_on(house: Any, topic: str, window: Window | None = None) -> dict[str, Any]:
    profile = house.profile(topic=topic)
    row = publish(house, profile["id"], window)
    reply = house.send("getReport", path={"reportId": row.id}, query="include=sources,graph")
    detail: dict[str, Any] = json.loads(reply.body)["data"]
    return detail


def test_a_report_cites_what_was_observed_as_it_cites_news(house: Any) -> None:
    world(house)
    quake = compose_on(house, "Earthquake near Esmeraldas in Ecuador")
    kinds = {source["id"].partition("_")[0] for source in quake["sources"]}
    assert "obs" in kinds
    names = {source["name"] for source in quake["sources"]}
    assert any("USGS" in name for name in names)
    assert any("USGS" not in name for name in names)
    every = {source["id"] for source in quake["sources"]}
    events = house.rows("listOsintEvents", "limit=100")
    assert every & {event["id"] for event in events if event["provider"] == "usgs"}


def test_words_that_very_many_rows_hold_are_passed_over(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world(house)
    usgs = {row["id"] for row in house.rows("listOsintEvents", "provider=usgs&limit=100")}
    for limit in (observed.COUNTED_MAX, 1):
        monkeypatch.setattr(observed, "COUNTED_MAX", limit)
        report = compose_on(house, "Earthquake near Esmeraldas in Ecuador")
        assert usgs & {source["id"] for source in report["sources"]}


def test_vulnerabilities_of_the_period_are_evidence(house: Any) -> None:
    world(house)
    cves = house.rows("listCves", "limit=100")
    newest = max((cve for cve in cves if cve["publishedAt"]), key=lambda cve: cve["publishedAt"])
    day = datetime.fromisoformat(newest["publishedAt"]).astimezone(UTC)
    window = Window(day + HOUR, day - HOUR, by="published")
    report = compose_on(
        house, f"{newest['cveId']} {newest['title'] or ''} {newest['description']}", window
    )
    assert newest["id"] in {source["id"] for source in report["sources"]}


def test_signals_of_a_row_are_evidence_and_what_is_measured_over_many_is_not(house: Any) -> None:
    world(house)
    signals = house.rows("listSignals", "limit=100")
    measures = {len(signal["observationIds"]) > 1: signal for signal in signals}
    assert len(measures) == 2
    for is_measure, signal in measures.items():
        at = datetime.fromisoformat(signal["detectedAt"]).astimezone(UTC)
        window = Window(at + HOUR, at - HOUR, by="published")
        report = compose_on(house, f"{signal['title']} {signal['summary']}", window)
        sources = {source["id"] for source in report["sources"]}
        assert (signal["id"] in sources) is not is_measure


def test_the_graph_of_a_report_carries_the_ids_of_entities(house: Any) -> None:
    world(house)
    titles = ("Microsoft mends a fault in its mail server", "Mail servers of Microsoft stand open")
    take(house, rss("quay.example", *titles), "https://quay.example/feed")
    report = compose_on(house, "Faults in mail servers of Microsoft")
    ids = {node["label"]: node["entityId"] for node in report["graph"]["nodes"]}
    entity_ids = {row["id"] for row in house.rows("listEntities", "limit=100")}
    assert ids["Microsoft"] is not None
    assert {id_ for id_ in ids.values() if id_} <= entity_ids
    assert all(
        node["entityId"] is None for node in report["graph"]["nodes"] if node["type"] != "entity"
    )
