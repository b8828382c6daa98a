"""Real documents fold to the number of events that they tell, counted in the plainest way."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.graphs import derivation
from svc_core.intel.incidents.model import INCIDENTS
from tests.core.intel.incident_documents import fold, take

Real = Callable[[str], list[Path]]


def _features(collection: Any) -> list[Any]:
    return [feature["properties"] for feature in collection["features"]]


def _articles(body: bytes) -> set[Any]:
    return {line.split("\t")[-1] for line in body.decode().splitlines()}


def _alerts(body: bytes) -> set[Any]:
    return {(feature["eventtype"], feature["eventid"]) for feature in _features(json.loads(body))}


def _events(body: bytes) -> set[Any]:
    return {event["id"] for event in json.loads(body)["events"]}


COUNTS: dict[str, tuple[Callable[[bytes], set[Any]], int]] = {
    "gdelt_events2": (_articles, 0),
    "gdelt_events1": (_articles, 1),  # an article of an agency stands in two papers
    "gdacs_api": (_alerts, 0),
    "eonet": (_events, 0),
}


@pytest.mark.parametrize("folder", COUNTS)
def test_real_documents_fold_to_the_true_number(
    house: Any, real_documents: Real, folder: str
) -> None:
    count, copies = COUNTS[folder]
    names: set[Any] = set()
    for path in real_documents(folder):
        body = path.read_bytes()
        names |= count(body)
        take(house, body, f"https://{path.name}.example/")
    fold(house)
    rows = house.run(lambda ctx: ctx.tx.documents.scan(INCIDENTS, limit=100_000)).rows
    assert len(rows) == len(names) - copies
    events = house.run(lambda ctx: ctx.tx.documents.scan(OSINT_EVENTS, limit=100_000)).rows
    places = {event["incidentId"]: set() for event in map(json.loads, (row.raw for row in events))}
    for event in map(json.loads, (row.raw for row in events)):
        places[event["incidentId"]].add((event["place"] or {}).get("id"))
    for event in map(json.loads, (row.raw for row in rows)):
        id_ = (event["place"] or {}).get("id")
        assert id_ in places[event["id"]]
        (*ends,) = (
            edge["target"]
            for edge in derivation.edges(event)
            if edge["type"] == derivation.LOCATED_IN
        )
        assert ends == ([] if id_ is None else [id_])
        if id_ is not None:  # and the same for a row that was stored before places had ids
            assert derivation.location_id({**event["place"], "id": None}) == id_
