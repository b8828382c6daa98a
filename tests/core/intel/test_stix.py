"""Entities as STIX 2.1: what the OASIS library and validator say of every bundle of the demo."""

import json
from typing import Any

import pytest
import stix2

from svc_core.intel.graphs.entity_bundle import graph_bundle
from svc_core.intel.graphs.neighbours import Node
from svc_core.intel.linking.references import id_of
from svc_core.ledger.transfer.marking import IDS
from svc_core.operation.declaration import STIX
from tests.core.intel.test_walk import edge
from tests.core.ledger.stix.test_validity import faults, references

APT28 = id_of("attack:G0007")


def bundle_of(house: Any, id_: str) -> Any:
    answer = house.send("getEntity", path={"entityId": id_}, query="format=stix")
    assert answer.media_type == STIX.media_type
    return json.loads(answer.body)


def objects(house: Any, id_: str) -> dict[str, Any]:
    return {item["id"]: item for item in bundle_of(house, id_)["objects"]}


def test_the_bundle_of_each_type_is_valid_and_closed(demo_house: Any) -> None:
    rows = demo_house.rows("listEntities", "limit=100")
    by_type = {row["type"]: row for row in rows}
    assert len(by_type) > 8
    for row in by_type.values():
        document = bundle_of(demo_house, row["id"])
        assert faults(document) == []
        stix2.parse(json.dumps(document), allow_custom=False)
        ids = [item["id"] for item in document["objects"]]
        assert len(set(ids)) == len(ids)
        assert set(references(document)) <= set(ids)


def test_what_a_release_calls_its_objects_they_are_called_here(demo_house: Any) -> None:
    by_id = objects(demo_house, APT28)
    actor = by_id["intrusion-set--00000000-0000-4000-8000-000000000007"]
    assert actor["name"] == "APT28"
    assert {"source_name": "mitre-attack", "external_id": "G0007"} in actor["external_references"]
    told_of = "relationship--00000000-0000-4000-8000-000000009000"
    assert by_id[told_of]["source_ref"] == actor["id"]
    assert by_id[told_of]["created_by_ref"] in by_id


def test_a_bundle_has_what_the_graph_has(demo_house: Any) -> None:
    answer = demo_house.send("getEntityGraph", path={"entityId": APT28})
    graph = json.loads(answer.body)["data"]
    items = objects(demo_house, APT28).values()
    ties = [item for item in items if item["type"] == "relationship"]
    names = {node["id"]: node["label"] for node in graph["nodes"]}
    labels = {item["id"]: item.get("name") for item in items}
    # An indicator of which no pattern is known is no object of STIX.
    assert {
        (item["relationship_type"], labels[item["source_ref"]], labels[item["target_ref"]])
        for item in ties
    } == {
        (edge["type"], names[edge["sourceId"]], names[edge["targetId"]])
        for edge in graph["edges"]
        if {names[edge["sourceId"]], names[edge["targetId"]]} <= {*labels.values()}
    }
    assert all(0 <= item["confidence"] <= 100 for item in ties)
    assert all(IDS["amber"] in item["object_marking_refs"] for item in ties)


def test_a_bundle_is_the_same_whoever_asks_and_has_a_tag(demo_house: Any) -> None:
    first, again = (
        demo_house.send("getEntity", tenant=tenant, path={"entityId": APT28}, query="format=stix")
        for tenant in ("wsp_a", "wsp_b")
    )
    assert first.body == again.body
    assert dict(first.headers)["ETag"]


# -- tables ------------------------------------------------------------------------------------

ROW = {
    "createdAt": "2026-01-02T03:04:05Z",
    "updatedAt": "2026-01-03T03:04:05.678901Z",
    "designators": [],
    "aliases": [],
}


def node(id_: str, type_: str, label: str = "A name", **row: Any) -> Node:
    return Node(id_, type_, label, None, (id_,), is_revoked=False, row=ROW | row)


def tie(**members: Any) -> Any:
    """The relationship that an edge between two companies is."""
    ends = node("ent_a", "company"), node("ent_b", "company")
    times = {"updatedAt": "2026-01-01T00:00:00Z", **members}
    document = json.loads(graph_bundle(ends[0], ends, [edge("ent_a", "ent_b", 1, **times)]))
    assert faults(document) == []
    (link,) = [item for item in document["objects"] if item["type"] == "relationship"]
    return link


@pytest.mark.parametrize(
    ("members", "name", "value"),
    [
        ({"type": "subsidiaryOf"}, "relationship_type", "subsidiary-of"),
        ({"type": "attributed-to"}, "relationship_type", "attributed-to"),
        ({"validFrom": "2019"}, "start_time", "2019-01-01T00:00:00.000Z"),
        ({"validFrom": "2019-03"}, "start_time", "2019-03-01T00:00:00.000Z"),
        ({"validTo": "2021-06-30"}, "stop_time", "2021-06-30T00:00:00.000Z"),
        ({"validFrom": "2022-03-18T01:02:03.4Z"}, "start_time", "2022-03-18T01:02:03.400Z"),
        ({"validFrom": "2019", "validTo": "2019"}, "stop_time", None),
        ({"validFrom": "2020", "validTo": "2019"}, "stop_time", None),
        ({"confidence": 0.666}, "confidence", 67),
        ({"confidence": 0}, "confidence", 0),
        ({"attributes": {"description": "In a report."}}, "description", "In a report."),
    ],
)
def test_an_edge_is_a_relationship(members: Any, name: str, value: Any) -> None:
    assert tie(**members).get(name) == value


@pytest.mark.parametrize(
    ("node", "type_", "members"),
    [
        (node("e", "company"), "identity", {"identity_class": "organization"}),
        (node("e", "person"), "identity", {"identity_class": "individual"}),
        (node("e", "sector"), "identity", {"identity_class": "class"}),
        (node("e", "vessel"), "identity", {"identity_class": "unknown"}),
        (node("e", "threatActor"), "intrusion-set", {}),
        (node("e", "malware", aliases=["B"]), "malware", {"is_family": True, "aliases": ["B"]}),
        (node("e", "vulnerability", "CVE-2024-3400"), "vulnerability", {}),
        (node("e", "courseOfAction"), "course-of-action", {}),
        (
            node("e", "country", designators=[{"scheme": "iso3166-1", "value": "UA"}]),
            "location", {"country": "UA"},
        ),
        (node("e", "indicator", "192.0.2.1"), "indicator",
         {"pattern": "[ipv4-addr:value = '192.0.2.1']"}),
        (node("e", "indicator", "a.example"), "indicator",
         {"pattern": "[domain-name:value = 'a.example']"}),
        (node("e", "indicator", "ab" * 32), "indicator",
         {"pattern": f"[file:hashes.'SHA-256' = '{'ab' * 32}']"}),
        (node("e", "indicator", "https://a.example/it's"), "indicator",
         {"pattern": "[url:value = 'https://a.example/it\\'s']"}),
        # What STIX has no object for is an identity where it is asked for itself.
        (node("e", "indicator", "Address of the loader"), "identity", {}),
        (node("e", "country"), "identity", {}),
    ],
)  # fmt: skip
def test_an_entity_is_an_object(node: Node, type_: str, members: Any) -> None:
    whole = json.loads(graph_bundle(node, [node], []))
    assert faults(whole) == []
    (item,) = [item for item in whole["objects"] if item.get("created", "")[:7] == "2026-01"
              and item["modified"][:10] == "2026-01-03"]  # fmt: skip
    assert item["type"] == type_
    assert {name: item[name] for name in members} == members
    assert item["modified"] == "2026-01-03T03:04:05.678Z"


def test_no_edge_leads_to_what_is_no_object() -> None:
    ends = node("ent_a", "company"), node("ent_b", "indicator", "Address of the loader")
    told_of = edge("ent_b", "ent_a", 1, updatedAt="2026-01-01T00:00:00Z")
    document = json.loads(graph_bundle(ends[0], ends, [told_of]))
    assert "relationship" not in {item["type"] for item in document["objects"]}
