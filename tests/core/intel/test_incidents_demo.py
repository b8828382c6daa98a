"""In the demo every filter of incidents finds something and leaves something out."""

import json
from collections import Counter
from typing import Any

import pytest

from svc_core.intel.incidents.operations import OPERATIONS
from svc_core.operation.inputs import inputs_of
from tests.core.intel.incident_documents import incident_of, incidents


@pytest.fixture(scope="module")
def rows(folded_house: Any) -> list[Any]:
    return incidents(folded_house)


QUERIES = {
    "category": "disaster,cyber",
    "status": "emerging",
    "minSeverity": "high",
    "minConfidence": "0.9",
    "provider": "feed",
    "minSources": "3",
    "country": "ec",
    "bbox": "-180,-60,0,80",
    "datetime": "{startedAt}/..",
    "entityId": "{entityId}",
}
WHOLE = {"sort", "limit", "cursor", "updatedSince", "q", "include"}
"""What orders, pages, adds, or cannot tell rows apart that were folded at one moment."""


def test_every_filter_is_asked() -> None:
    (operation,) = (operation for operation in OPERATIONS if operation.id == "listIncidents")
    names = {item.name for item in inputs_of(operation.request) if item.place == "query"}
    assert names - WHOLE == set(QUERIES)


@pytest.mark.parametrize("name", QUERIES)
def test_a_filter_finds_and_leaves_out(folded_house: Any, rows: list[Any], name: str) -> None:
    ids = {
        "startedAt": sorted(row["startedAt"] for row in rows if row["startedAt"])[len(rows) // 2],
        "entityId": next(entity["entityId"] for row in rows for entity in row["entities"]),
    }
    rows_ = incidents(folded_house, f"limit=100&{name}={QUERIES[name].format(**ids)}")
    assert 0 < len(rows_) < len(rows)


def test_the_demo_has_incidents_of_every_kind(folded_house: Any, rows: list[Any]) -> None:
    assert set(Counter(row["status"] for row in rows)) == {
        "emerging",
        "active",
        "monitoring",
        "closed",
    }
    assert max(row["sourceCount"] for row in rows) >= 3
    providers = [{ref["provider"] for ref in row["sources"]} for row in rows]
    assert {"usgs", "gdacs", "reliefweb"} in providers  # one quake
    assert {"feed", "gdelt"} in providers
    assert any(row["relatedIncidentIds"] for row in rows)
    assert any(row["mergedIds"] for row in rows)
    assert any(row["cameo"] for row in rows)
    (cyclone,) = (row for row in rows if row["title"] == "Cyclone Tala")
    assert len(incident_of(folded_house, cyclone["id"], "include=track")["track"]) == 3
    areas = (incident_of(folded_house, row["id"], "include=footprint")["footprint"] for row in rows)
    assert any(areas)
    assert len(json.dumps(rows)) < 1_000_000
