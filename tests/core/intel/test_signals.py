"""Signals are listed, found by every filter, expire by the clock and are dismissed by hand."""

import json
from collections.abc import Sequence
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import pytest

from svc_core.base import ids
from svc_core.contract import problem
from svc_core.intel.entities.model import EntityRef
from svc_core.intel.linking.references import id_of
from svc_core.intel.signals.detectors import DETECTORS, signal_evidence, signal_of, write_signals
from svc_core.intel.signals.model import Signal, SignalType
from svc_core.intel.signals.operations import DismissSignal, dismiss_signal
from svc_core.operation.source_members import SourceRef
from svc_core.testing.clock import START
from tests.core.intel.incident_documents import take

House = Any
HOUR = timedelta(hours=1)
INCIDENT = "inc_" + "1" * 24


def finding(key: str, *, hours: float = 1, **members: Any) -> Signal:
    """Something that was found so many hours ago."""
    end = START - hours * HOUR
    usual: dict[str, Any] = {
        "type_": "marketMove",
        "measure": 0.2,
        "evidence": signal_evidence(0.5, 0.3, end - HOUR, end, threshold=0.1),
        "sources": (SourceRef(ids.derived_id("src", "a", "", key), "manifold", "M", None, None,
                              START),),
    }  # fmt: skip
    return signal_of(key=key, title=key, **(usual | members))


ROWS = (
    finding("move", hours=1),
    finding("strong", hours=2, measure=0.5),
    finding("over", hours=49),
    finding("kev", hours=3, type_="kevAdded", measure=0, tags=("ransomware",),
            entities=(EntityRef(id_of("cik:0000320193"), "Apple", "vendor"),)),
    finding("grave", hours=4, type_="escalation", measure=3, incident_ids=(INCIDENT,)),
)  # fmt: skip


@pytest.fixture
def signals(house: House) -> House:
    house.run(lambda ctx: write_signals(ctx, ROWS))
    return house


def titles(house: House, query: str = "") -> list[str]:
    return [row["title"] for row in house.rows("listSignals", query)]


def test_every_type_has_one_detector() -> None:
    assert set(DETECTORS) == set(get_args(SignalType))
    for type_, detector in DETECTORS.items():
        assert detector.type == type_
        assert detector.parameters["activeHours"] > 0
        assert (
            detector.strength(0) <= detector.strength(1) <= detector.strength(9) <= 1
        )  # the more, the stronger


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("", ["move", "strong", "kev", "grave", "over"]),
        ("sort=strength", ["strong", "grave", "kev", "over", "move"]),
        ("type=kevAdded", ["kev"]),
        ("type=kevAdded,escalation", ["kev", "grave"]),
        ("tag=markets", ["move", "strong", "over"]),
        ("tag=ransomware", ["kev"]),
        ("tag=ransomware&type=marketMove", []),
        ("minStrength=0.7", ["strong", "kev", "grave"]),
        ("minStrength=0.71", ["strong", "grave"]),
        ("status=active", ["move", "strong", "kev", "grave"]),
        ("status=expired", ["over"]),
        ("status=dismissed", []),
        (f"incidentId={INCIDENT}", ["grave"]),
        (f"incidentId=inc_{'2' * 24}", []),
        ("entityId=" + id_of("cik:0000320193"), ["kev"]),
        ("entityId=" + id_of("cik:0000320194"), []),
    ],
)
def test_a_filter_finds_its_rows_and_no_others(
    signals: House, query: str, matches: Sequence[str]
) -> None:
    names = titles(signals, query)
    assert (names if "sort" not in query else sorted(names)) == (
        list(matches) if "sort" not in query else sorted(matches)
    )
    if "sort" in query:
        strengths = [row["strength"] for row in signals.rows("listSignals", query)]
        assert strengths == sorted(strengths, reverse=True)


def test_a_time_is_when_it_was_the_case_or_when_it_was_written(signals: House) -> None:
    two, three = (f"{START - n * HOUR:%Y-%m-%dT%H:%M:%SZ}" for n in (2, 3))
    assert titles(signals, f"datetime={three}/{two}") == ["strong", "kev"]
    assert titles(signals, f"datetime={two}/..") == ["move", "strong"]
    now = f"{signals.clock.now():%Y-%m-%dT%H:%M:%SZ}"
    assert titles(signals, f"updatedSince={now}") == []
    signals.clock.advance(60)
    signals.run(lambda ctx: write_signals(ctx, [finding("later", hours=10)]))
    assert titles(signals, f"updatedSince={now}") == ["later"]


STATES = ("active", "expired", "dismissed")


@pytest.mark.parametrize(
    "states", [choice for count in (1, 2, 3) for choice in combinations(STATES, count)]
)
def test_several_states_are_alternatives(signals: House, states: Sequence[str]) -> None:
    row = signals.rows("listSignals", "type=escalation")[0]["id"]
    signals.run(lambda ctx: dismiss_signal(ctx, DismissSignal(row)))
    by_title = {row["title"]: row["status"] for row in signals.rows("listSignals")}
    assert set(by_title.values()) == set(STATES)
    expected = [title for title, state in by_title.items() if state in states]
    assert titles(signals, f"status={','.join(states)}") == expected


def test_it_expires_when_its_time_is_over_and_its_tag_changes_with_it(signals: House) -> None:
    (row,) = [signal for signal in signals.rows("listSignals") if signal["title"] == "move"]
    path = {"signalId": row["id"]}
    first = signals.send("getSignal", path=path)
    assert json.loads(first.body)["data"] == row
    signals.clock.advance(46.99 * 3_600)
    assert signals.send("getSignal", path=path).headers == first.headers
    signals.clock.advance(0.01 * 3_600)
    later = signals.send("getSignal", path=path)
    assert json.loads(later.body)["data"] == row | {"status": "expired"}
    assert dict(later.headers)["ETag"] != dict(first.headers)["ETag"]


def test_pages_join_while_the_clock_goes_on(signals: House) -> None:
    signals.run(lambda ctx: write_signals(ctx, [finding(f"n{n}", hours=n + 5) for n in range(10)]))
    rows = signals.every(
        "listSignals", "status=active&limit=3", meanwhile=lambda: signals.clock.advance(1)
    )
    ids = [row["title"] for row in rows]
    assert ids == titles(signals, "status=active&limit=100")
    assert len(ids) == len(set(ids)) == 14


def test_a_cursor_is_not_of_a_list_of_another_state(signals: House) -> None:
    reply = signals.body("listSignals", "status=active&limit=1")
    cursor = reply["meta"]["page"]["nextCursor"]
    refusal = signals.refusal("listSignals", query=f"status=expired&limit=1&cursor={cursor}")
    assert refusal.type is problem.INVALID_CURSOR


def test_what_is_dismissed_stays_so_though_it_is_found_again(signals: House) -> None:
    id_ = ROWS[0].id
    for _ in range(2):
        signals.run(lambda ctx: dismiss_signal(ctx, DismissSignal(id_)))
    assert signals.run(lambda ctx: write_signals(ctx, ROWS)) == 0
    (row,) = signals.rows("listSignals", "status=dismissed")
    assert (row["id"], row["revision"]) == (id_, 2)
    changes = [change for change in signals.changes() if change["resourceId"] == id_]
    assert [change["changeType"] for change in changes] == ["created", "updated"]
    assert "status" in changes[1]["changedFields"]


def test_a_company_that_is_told_by_its_number_has_its_name(house: House) -> None:
    refs = (EntityRef(id_of("cik:0000320193"), "CIK 0000320193", "subject"),)
    house.run(lambda ctx: write_signals(ctx, [finding("filed", entities=refs)]))
    apple = {"cik_str": 320193, "ticker": "AAPL", "title": "Apple Inc."}
    take(house, json.dumps({"0": apple}).encode(), "https://sec.example/")
    (row,) = house.rows("listSignals")
    assert [entity["name"] for entity in row["entities"]] == ["Apple Inc."]


def test_an_entity_that_nobody_told_of_is_left_out(signals: House) -> None:
    (row,) = signals.rows("listSignals", "type=kevAdded")
    assert row["entities"] == []


def test_the_page_about_signals_tells_the_numbers_of_the_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "signals.md"
    lines = [line.split("|")[1:-1] for line in page.read_text().splitlines() if "| `" in line]
    table = {cells[0].strip(" `"): [cell.strip() for cell in cells[1:]] for cells in lines}
    assert set(table) == set(DETECTORS)
    for type_, detector in DETECTORS.items():
        trigger, _, strength, active = table[type_]
        days = round(detector.hours / 24)
        assert active == f"{days} day{'s' if days > 1 else ''}"
        base = f"{detector.base:g}" if detector.base else ""
        slope = ("m" if detector.slope == 1 else f"{detector.slope:g} m") if detector.slope else ""
        assert strength == " + ".join(filter(None, (base, slope)))
        for name in ("deltaMin", "factor", "itemsMin", "typesMin", "windowHours", "samplesMin"):
            if name in detector.numbers and (type_, name) != ("toneShift", "samplesMin"):
                assert f"{detector.numbers[name]:g}" in trigger
