"""What `include` adds to the rows of a list is what it adds to each of them read alone."""

import json
from typing import Any

import pytest

LISTS = {
    "listIncidents": ("getIncident", "incidentId", "articles,footprint,track"),
    "listEntities": ("getEntity", "entityId", "candidates"),
    "listActors": ("getEntity", "entityId", "candidates"),
    "listCountries": ("getCountry", "code", "indicators,risk"),
    "listOsintEvents": ("getOsintEvent", "eventId", "raw"),
    "listIndicators": ("getIndicator", "indicatorId", "change"),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_row_of_a_list_includes_what_it_does_alone(folded_house: Any, name: str) -> None:
    detail, place, include = LISTS[name]
    parts = include.split(",")
    rows = folded_house.rows(name, f"limit=100&include={include}")
    told = []
    for row in rows:
        path = {place: row.get("id") or row["countryCode"]}
        reply = folded_house.send(detail, path=path, query=f"include={include}")
        whole = json.loads(reply.body)["data"]
        assert {part: row[part] for part in parts} == {part: whole[part] for part in parts}
        told += [part for part in parts if row[part]]
    assert set(told) == set(parts)
    first_row = folded_house.rows(name, "limit=1")[0]
    assert first_row.keys().isdisjoint(parts)
