"""Graphs of entities and of attacks: filters, pages, evidence, against the documents themselves."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from svc_core.contract import problem
from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import read_document, recognise_format
from svc_core.intel.entities.relation import RELATIONS
from svc_core.intel.graphs import cyber_graph as cyber
from svc_core.intel.graphs import neighbours
from svc_core.intel.graphs.cyber_graph import GetCyberGraph
from svc_core.intel.graphs.operations import GetEntityGraph
from svc_core.intel.linking.references import id_of
from svc_core.operation.inputs import inputs_of
from tests.core import demo
from tests.core.cves import product, record
from tests.core.intel.incident_documents import fold, gdelt, rss

Graph = dict[str, Any]
Edge = dict[str, Any]

APT28, CHOPSTICK = id_of("attack:G0007"), id_of("attack:S0023")


def graph(house: Any, root: str, query: str = "") -> Graph:
    """The graph around an entity, whose promises hold."""
    view: Graph = house.body("getEntityGraph", query, path={"entityId": root})["data"]
    assert view["counts"] == {"nodes": len(view["nodes"]), "edges": len(view["edges"])}
    check_closed(view)
    degree = Counter(end for edge in view["edges"] for end in (edge["sourceId"], edge["targetId"]))
    assert all(node["degree"] == degree[node["id"]] for node in view["nodes"])
    return view


def check_closed(view: Graph) -> None:
    ids = [node["id"] for node in view["nodes"]]
    assert len(set(ids)) == len(ids)
    assert len({edge["id"] for edge in view["edges"]}) == len(view["edges"])
    for edge in view["edges"]:
        assert {edge["sourceId"], edge["targetId"]} <= set(ids)
        assert edge["evidence"]


def check_page(body: Any) -> None:
    page = body["data"]
    check_closed(page)
    ends = {edge[end] for edge in page["edges"] for end in ("sourceId", "targetId")}
    assert {node["id"] for node in page["nodes"]} == ends
    assert page["counts"] == {"nodes": len(page["nodes"]), "edges": len(page["edges"])}
    assert body["meta"]["pageCount"] == len(page["edges"])


def pages(house: Any, query: str = "", between: Any = lambda: None) -> Iterator[Graph]:
    """The pages of the cyber graph, whose promises hold."""
    for body in house.pages("getCyberGraph", query, meanwhile=between):
        check_page(body)
        yield body["data"]


def edges(house: Any, query: str = "") -> list[Edge]:
    return [edge for page in pages(house, query) for edge in page["edges"]]


def labels(view: Graph) -> set[str]:
    return {node["label"] for node in view["nodes"]}


# -- one entity --------------------------------------------------------------------------------


def test_a_graph_has_what_its_documents_tell(demo_house: Any) -> None:
    view = graph(demo_house, APT28)
    assert view["rootId"] == view["nodes"][0]["id"] == APT28
    assert {"CHOPSTICK", "Mimikatz", "Spearphishing Attachment"} <= labels(view)
    (edge,) = [edge for edge in view["edges"] if edge["targetId"] == CHOPSTICK]
    assert (edge["type"], edge["sourceId"], edge["directed"]) == ("uses", APT28, True)


def test_any_id_of_an_entity_names_its_graph(demo_house: Any) -> None:
    (row,) = demo_house.rows("listEntities", "designator=attack:G0007&limit=100")
    alias = next(iter(row["mergedIds"]))
    assert graph(demo_house, alias) == graph(demo_house, row["id"])
    refusal = demo_house.refusal("getEntityGraph", path={"entityId": "ent_" + "0" * 24})
    assert refusal.type is problem.NOT_FOUND


GRAPH_FILTERS: dict[str, tuple[str, str, Callable[[Edge], bool]]] = {
    "types": (APT28, "types=uses,targets", lambda e: e["type"] in {"uses", "targets"}),
    "minConfidence": (APT28, "minConfidence=0.6", lambda e: e["confidence"] >= 0.6),
}


def test_every_parameter_of_the_graph_is_asked_for() -> None:
    names = {field.name for field in inputs_of(GetEntityGraph) if field.place == "query"}
    assert names == {
        *GRAPH_FILTERS,
        "at",
        "depth",
        "includeRevoked",
        "limitNodes",
        "limit",
        "cursor",
    }
    names = {field.name for field in inputs_of(GetCyberGraph) if field.place == "query"}
    assert names == {"types", "nodeTypes", "rootId", "depth", "includeRevoked", "limit", "cursor"}


@pytest.mark.parametrize("name", GRAPH_FILTERS)
def test_a_filter_finds_what_it_says_and_nothing_else(demo_house: Any, name: str) -> None:
    root, query, holds = GRAPH_FILTERS[name]
    every = graph(demo_house, root)["edges"]
    matches = {edge["id"] for edge in every if holds(edge)}
    assert 0 < len(matches) < len(every)
    assert {edge["id"] for edge in graph(demo_house, root, query)["edges"]} == matches


def test_what_did_not_hold_at_a_time_is_absent(demo_house: Any) -> None:
    rows = demo_house.rows("listEntities", "limit=100&type=company,organization,person")
    graphs = [(row["id"], graph(demo_house, row["id"])["edges"]) for row in rows]
    root, every = next((r, e) for r, e in graphs if any(edge["validFrom"] for edge in e))
    since = min(edge["validFrom"][:4] for edge in every if edge["validFrom"])
    before, later = f"{int(since) - 1}-12-31", f"{since}-12-31"
    view = graph(demo_house, root, f"at={before}")
    assert view["asOf"] == f"{before}T00:00:00Z"
    untold = {edge["id"] for edge in every if edge["validFrom"] is None}
    assert {edge["id"] for edge in view["edges"]} == untold
    assert len(graph(demo_house, root, f"at={later}")["edges"]) > len(untold)


@pytest.mark.parametrize("at", ["2020-13-01", "2020-02-30", "2020-01-01T25:00:00Z", "2020-01-01T"])
def test_a_time_that_is_none_is_refused(demo_house: Any, at: str) -> None:
    refusal = demo_house.refusal("getEntityGraph", path={"entityId": APT28}, query=f"at={at}")
    assert refusal.type is problem.INVALID_PARAMETER


def test_a_step_further_holds_what_is_nearer(demo_house: Any) -> None:
    near, middle, far = (graph(demo_house, APT28, f"depth={depth}") for depth in (1, 2, 3))
    for inner, outer in ((near, middle), (middle, far)):
        assert labels(inner) < labels(outer)
        assert {e["id"] for e in inner["edges"]} < {e["id"] for e in outer["edges"]}


@pytest.mark.parametrize(
    ("scan_max", "looked_up", "query"),
    [(1, 100, "depth=2"), (5, 100, "depth=2"), (2_000, 1, "depth=2&limitNodes=3")],
)
def test_of_what_has_too_many_edges_some_are_shown(
    demo_house: Any, monkeypatch: pytest.MonkeyPatch, scan_max: int, looked_up: int, query: str
) -> None:
    whole = graph(demo_house, APT28, "depth=2")
    monkeypatch.setattr(neighbours, "SCANNED_MAX", scan_max)
    monkeypatch.setattr(neighbours, "SCANNED_MIN", 1)
    monkeypatch.setattr(neighbours, "LOOKUP_BATCH", looked_up)
    cut = graph(demo_house, APT28, query)
    assert cut["truncated"]
    assert labels(cut) < labels(whole)
    assert {edge["id"] for edge in cut["edges"]} < {edge["id"] for edge in whole["edges"]}


def test_a_graph_that_is_cut_says_so(demo_house: Any) -> None:
    whole = graph(demo_house, APT28, "depth=2")
    cut = graph(demo_house, APT28, "depth=2&limitNodes=3")
    assert (whole["truncated"], cut["truncated"], len(cut["nodes"])) == (False, True, 3)
    assert cut["nodes"][0]["id"] == APT28


def test_what_was_revoked_is_absent_unless_asked_for(demo_house: Any) -> None:
    heir = id_of("attack:G0035")
    assert graph(demo_house, heir)["edges"] == []
    (edge,) = graph(demo_house, heir, "includeRevoked=true")["edges"]
    assert (edge["type"], edge["targetId"]) == ("revoked-by", heir)
    every, live = edges(demo_house, "limit=100&includeRevoked=true"), edges(demo_house, "limit=100")
    assert {edge["type"] for edge in every} - {edge["type"] for edge in live} == {"revoked-by"}


def test_a_maker_is_joined_to_the_vulnerabilities_of_its_products(demo_house: Any) -> None:
    root = id_of("CVE-2024-21762")
    (edge,) = graph(demo_house, root)["edges"]
    assert (edge["type"], edge["targetId"]) == ("affectedBy", root)
    assert edge["attributes"] == {"vendor": "Fortinet"}
    back = graph(demo_house, edge["sourceId"], "types=affectedBy")
    assert [edge["id"] for edge in back["edges"]] == [edge["id"]]
    (page,) = pages(demo_house, f"rootId={root}")
    assert {node["type"] for node in page["nodes"]} == {"vendor", "vulnerability"}


def test_who_takes_part_in_an_incident_is_joined_to_it(house_factory: Callable[[], Any]) -> None:
    house = house_factory()
    for name in ("misp-event.json", "misp-galaxy.json"):
        take(house, f"https://misp.example/{name}", demo.body(name))
    fold(house)
    actors = house.rows("listEntities", "type=threatActor&limit=100")
    graphs = [graph(house, row["id"], "types=mentionedWith") for row in actors]
    hits = [view for view in graphs if view["edges"]]
    assert hits
    (edge,) = hits[0]["edges"]
    assert {edge["sourceId"], edge["targetId"]} > {hits[0]["rootId"]}
    assert "incident" in {node["type"] for node in hits[0]["nodes"]}


def test_where_an_incident_was_is_a_step_from_it(house: Any) -> None:
    take(house, "https://sec.example/tickers.json", json.dumps(TICKERS).encode())
    for host in ("pier.example", "quay.example"):
        take(house, f"https://{host}/", rss(host, "A mill of Quillard Systems shuts in La Paz"))
    take(house, "https://gdelt.example/", gdelt({"id": 1, "url": "https://pier.example/0"}))
    fold(house)
    ((company,), (event,)) = (house.rows(name) for name in ("listEntities", "listIncidents"))
    assert labels(graph(house, company["id"])) == {company["name"], event["title"]}
    view = graph(house, company["id"], "depth=2")
    (place,) = [node for node in view["nodes"] if node["type"] == "place"]
    assert (place["label"], place["countryCode"]) == (event["place"]["name"], "BO")
    (edge,) = [tie for tie in view["edges"] if tie["targetId"] == place["id"]]
    assert (edge["type"], edge["sourceId"]) == ("locatedIn", event["id"])
    (osint_event,) = house.rows("listOsintEvents")
    assert place["id"] == event["place"]["id"] == osint_event["place"]["id"] is not None


TICKERS = {"0": {"cik_str": 1999001, "ticker": "QLSY", "title": "Quillard Systems Inc"}}


# -- pages of one entity's graph ---------------------------------------------------------------


def graph_pages(house: Any, root: str, query: str, between: Any = lambda: None) -> list[Graph]:
    bodies = house.pages("getEntityGraph", query, path={"entityId": root}, meanwhile=between)
    for body in bodies:
        check_page(body)
    return [body["data"] for body in bodies]


@pytest.mark.parametrize("query", ["", "&depth=2", "&depth=2&minConfidence=0.6", "&types=uses"])
def test_pages_of_a_graph_have_each_of_its_edges_once(demo_house: Any, query: str) -> None:
    every = graph(demo_house, APT28, query.lstrip("&"))
    whole = {edge["id"]: edge for edge in every["edges"]}
    assert len(whole) > 3
    for limit in (1, 2, 7, 100):
        views = graph_pages(demo_house, APT28, f"limit={limit}{query}")
        assert [len(page["edges"]) for page in views[:-1]] == [limit] * (len(views) - 1)
        edges_ = [edge for page in views for edge in page["edges"]]
        assert {edge["id"]: edge for edge in edges_} == whole
        assert len(edges_) == len(whole)
        # A node says on every page how many edges it has in the whole graph.
        assert all(node in every["nodes"] for page in views for node in page["nodes"])
    first = demo_house.body("getEntityGraph", f"limit=1{query}", path={"entityId": APT28})
    token = first["meta"]["page"]["nextCursor"]
    (rest,) = graph_pages(demo_house, APT28, f"cursor={token}{query}")
    assert len(rest["edges"]) == len(whole) - 1


def test_a_page_of_a_graph_without_edges_is_empty(demo_house: Any) -> None:
    (view,) = graph_pages(demo_house, APT28, "limit=20&minConfidence=1&types=none")
    whole = graph(demo_house, APT28, "types=none")
    assert (view["nodes"], view["edges"], view["asOf"]) == ([], [], whole["asOf"])


def test_a_page_of_a_graph_is_gone_on_from_while_edges_come(house_factory: Any) -> None:
    house = house_factory()
    take(house, "https://tools.example/", bundle(range(5)))
    root = id_of(f"stix:{ACTOR}")
    before = {edge["id"] for edge in graph(house, root)["edges"]}
    turns = iter((9, 13))
    views = graph_pages(
        house, root, "limit=2",
        lambda: take(house, "https://tools.example/", bundle(range(next(turns, 0)))),
    )  # fmt: skip
    ids = [edge["id"] for page in views for edge in page["edges"]]
    assert len(ids) == len(set(ids))
    assert before <= set(ids)
    assert len(graph(house, root)["edges"]) > len(before)


@pytest.mark.parametrize(
    "variant",
    ["depth=2", "minConfidence=0.5", "types=uses", "at=2026-01-31", "includeRevoked=true",
     "limitNodes=400"],
)  # fmt: skip
def test_a_cursor_of_another_graph_is_refused(demo_house: Any, variant: str) -> None:
    request = {"path": {"entityId": APT28}}
    body = demo_house.body("getEntityGraph", "limit=1", **request)
    token = body["meta"]["page"]["nextCursor"]
    assert token is not None
    for tenant, root, query in (
        ("wsp_a", APT28, f"&{variant}"),
        ("wsp_a", CHOPSTICK, ""),
        ("wsp_b", APT28, ""),
    ):
        refusal = demo_house.refusal(
            "getEntityGraph", tenant=tenant, path={"entityId": root}, query=f"cursor={token}{query}"
        )
        assert refusal.type is problem.INVALID_CURSOR
    for query in ("limit=0", "limit=101", "limit=x"):
        refusal = demo_house.refusal("getEntityGraph", **request, query=query)
        assert refusal.type is problem.INVALID_PARAMETER


# -- who attacks whom with what ----------------------------------------------------------------


def test_pages_of_any_size_have_the_same_edges_once(demo_house: Any) -> None:
    whole = edges(demo_house, "limit=100")
    for limit in (1, 2, 7):
        views = list(pages(demo_house, f"limit={limit}"))
        assert [edge for page in views for edge in page["edges"]] == whole
        assert all(len(page["edges"]) <= limit for page in views)
    around = edges(demo_house, f"limit=100&rootId={APT28}&depth=2")
    assert edges(demo_house, f"limit=2&rootId={APT28}&depth=2") == around
    assert around


def test_pages_go_on_behind_what_is_looked_at_for_one(
    demo_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = edges(demo_house, "limit=100")
    for name in ("ROWS_AT_ONCE", "CVES_AT_ONCE"):
        monkeypatch.setattr(cyber, name, 2)
    for name in ("ROWS_MAX", "CVES_MAX"):
        monkeypatch.setattr(cyber, name, 4)
    assert edges(demo_house, "limit=7") == whole


QUERIES = [
    "types=uses,mitigates", "nodeTypes=actor,technique", "types=affectedBy",
    "nodeTypes=vendor,vulnerability",
]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_a_filter_of_the_cyber_graph_finds_what_it_says(demo_house: Any, query: str) -> None:
    name, _, value = query.partition("=")
    types = set(value.split(","))
    (whole,) = pages(demo_house, "limit=100")
    kinds = {node["id"]: node["type"] for node in whole["nodes"]}

    def holds(edge: Edge) -> bool:
        ends = {kinds[edge["sourceId"]], kinds[edge["targetId"]]}
        return edge["type"] in types if name == "types" else ends <= types

    matches = [edge for edge in whole["edges"] if holds(edge)]
    assert 0 < len(matches) < len(whole["edges"])
    assert edges(demo_house, f"limit=3&{query}") == matches


def test_a_depth_is_one_around_a_root(demo_house: Any) -> None:
    refusal = demo_house.refusal("getCyberGraph", query="depth=2")
    assert refusal.type is problem.CONFLICTING_PARAMETERS
    assert edges(demo_house, "rootId=ent_" + "0" * 24) == []


def test_companies_and_kin_are_no_part_of_the_cyber_graph(demo_house: Any) -> None:
    types = {edge["type"] for edge in edges(demo_house, "limit=100")}
    assert types.isdisjoint({"owns", "family", "subsidiaryOf", "paid", "directs"})


def flaw(*vendors: str) -> bytes:
    """A vulnerability in products of these."""
    products = [product(vendor, "Mail") for vendor in vendors]
    return json.dumps(record("CVE-2025-0001", affected=products)).encode()


def test_a_maker_that_is_known_by_its_name_is_joined_from_both_ends(house: Any) -> None:
    company = {"cik_str": 1999001, "ticker": "KBSX", "title": "Kestrel Bay Systems Inc"}
    take(house, "https://sec.example/tickers.json", json.dumps({"0": company}).encode())
    take(house, "https://cve.example/1.json", flaw("Kestrel Bay Systems"))
    (reverse,) = graph(house, id_of("CVE-2025-0001"))["edges"]
    assert reverse["sourceId"] == id_of("cik:0001999001")
    assert graph(house, reverse["sourceId"])["edges"] == [reverse]


def test_pages_go_on_within_the_makers_of_one_vulnerability(
    house_factory: Callable[[], Any],
) -> None:
    house = house_factory()
    take(house, "https://sec.example/tickers.json", demo.body("sec-tickers.json"))
    vendors = ("Microsoft", "Apple", "Cisco", "Fortinet", "Palo Alto Networks")
    take(house, "https://cve.example/1.json", flaw(*vendors))
    whole = edges(house, "limit=100")
    assert len(whole) > 2
    for limit in (1, 2):
        assert edges(house, f"limit={limit}") == whole


# -- while others write ------------------------------------------------------------------------


ACTOR = "intrusion-set--40000000-0000-4000-8000-000000999999"


def bundle(numbers: range) -> bytes:
    """A STIX bundle in which one actor uses so many tools."""
    about = {"created": "2026-01-01T00:00:00Z", "modified": "2026-01-01T00:00:00Z"}

    def uuid(number: int) -> str:
        return f"40000000-0000-4000-8000-{number:012d}"

    objects: list[Any] = [{"type": "intrusion-set", "id": ACTOR, "name": "Reed", **about}]
    for number in numbers:
        tool = f"tool--{uuid(number)}"
        objects += [
            {"type": "tool", "id": tool, "name": f"Tool {number}", **about},
            {"type": "relationship", "id": f"relationship--{uuid(number)}", **about,
             "relationship_type": "uses", "source_ref": ACTOR, "target_ref": tool},
        ]  # fmt: skip
    return json.dumps({"type": "bundle", "id": f"bundle--{uuid(0)}", "objects": objects}).encode()


def take(house: Any, location: str, body: bytes) -> None:
    stream = Body(body)
    document = read_document(stream, recognise_format(stream), Origin(name=location))
    house.take(house.add(location), document)


def test_a_walk_meets_every_edge_once_while_others_tell_of_them_again(
    house_factory: Callable[[], Any],
) -> None:
    house = house_factory()
    take(house, "https://one.example/a.json", bundle(range(60)))
    before = {edge["id"] for edge in edges(house, "limit=100")}
    numbers = count(step=10)

    def others_tell_of_the_same_relations_and_of_more() -> None:
        house.clock.advance(60)
        number = next(numbers)
        take(house, f"https://two.example/{number}.json", bundle(range(number, number + 15)))

    walk = pages(house, "limit=7", others_tell_of_the_same_relations_and_of_more)
    ids = [edge["id"] for page in walk for edge in page["edges"]]
    assert len(ids) == len(set(ids))
    assert before <= set(ids)


def test_one_relation_under_keys_of_two_schemes_is_one_edge(
    house_factory: Callable[[], Any],
) -> None:
    house = house_factory()
    take(house, "https://mitre.example/attack.json", demo.body("attack.json"))
    before = edges(house, "limit=100")
    attack = json.loads(demo.body("attack.json"))["objects"]
    (use,) = [
        item for item in attack
        if item["type"] == "relationship" and item["relationship_type"] == "uses"
        and item["source_ref"].endswith("000007") and item["target_ref"].endswith("000023")
    ]  # fmt: skip
    about = {name: use[name] for name in ("created", "modified")}
    ends = {name: use[f"{name}_ref"] for name in ("source", "target")}
    uuid = f"{'5' * 8}-0000-4000-8000-{'5' * 12}"
    copies = [{"type": "relationship", "id": f"relationship--{uuid}",
               "relationship_type": "uses", "source_ref": ends["source"],
               "target_ref": ends["target"], **about}]  # fmt: skip
    house.clock.advance(60)
    whole = {"type": "bundle", "id": f"bundle--{uuid}", "objects": copies}
    take(house, "https://other.example/report.json", json.dumps(whole).encode())
    page = house.run(lambda ctx: ctx.tx.documents.count(RELATIONS, limit=1_000))
    after = edges(house, "limit=100")
    assert [edge["id"] for edge in after] == [edge["id"] for edge in before]
    assert page > len(after)  # what was revoked, and the copy
    (edge,) = [
        edge for edge in after if edge["targetId"] == CHOPSTICK and edge["sourceId"] == APT28
    ]
    assert len({edge["sourceId"] for edge in edge["evidence"]}) == 2


# -- real documents ----------------------------------------------------------------------------


def real(path: str) -> bytes:
    root = os.environ["SVC_REAL_DATA"]  # noqa: TID251 - what the tests are given
    return (Path(root) / path).read_bytes()


TYPES = {
    "intrusion-set", "malware", "tool", "attack-pattern", "campaign", "course-of-action",
    "identity", "vulnerability", "indicator",
}  # fmt: skip


def ties(objects: list[Any], *, is_whole: bool = False) -> set[tuple[str, str, str]]:
    """The relationships of a bundle between things that are rows, by type and names of its ends."""
    by_id = {item["id"]: item for item in objects}
    pairs = set()
    for item in objects:
        if item["type"] != "relationship":
            continue
        ends = [by_id.get(item[end], {"type": ""}) for end in ("source_ref", "target_ref")]
        flags = [part.get("revoked") or part.get("x_mitre_deprecated") for part in (item, *ends)]
        if all(end["type"] in TYPES for end in ends) and (is_whole or not any(flags)):
            pairs.add((item["relationship_type"], *(end["name"] for end in ends)))
    return pairs


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize(
    ("path", "count"),
    [("attack_stix21/ics-attack-18.1.json", 603), ("attack_stix20/enterprise_dev.json", None)],
)
def test_a_release_of_attack_gives_its_relationships_and_no_other(
    house_factory: Callable[[], Any], path: str, count: int | None
) -> None:
    house, body = house_factory(), real(path)
    take(house, "https://mitre.example/attack.json", body)
    objects = json.loads(body)["objects"]
    for query, is_whole in (("", False), ("&includeRevoked=true", True)):
        views = list(pages(house, f"limit=100{query}"))
        names = {node["id"]: node["label"] for page in views for node in page["nodes"]}
        triples = [
            (edge["type"], names[edge["sourceId"]], names[edge["targetId"]])
            for page in views
            for edge in page["edges"]
        ]
        assert set(triples) == ties(objects, is_whole=is_whole)
        if count is not None and not is_whole:
            assert len(triples) == count


@pytest.mark.needs("SVC_REAL_DATA")
def test_what_is_around_a_group_is_what_its_release_says(house_factory: Callable[[], Any]) -> None:
    house = house_factory()
    take(house, "https://mitre.example/a.json", real("attack_stix21/ics-attack-18.1.json"))
    view = graph(house, id_of("attack:G0034"))  # Sandworm Team, counted in the file
    assert view["counts"] == {"nodes": 14, "edges": 13}
    assert Counter(edge["type"] for edge in view["edges"]) == {"uses": 10, "attributed-to": 3}


@pytest.mark.needs("SVC_REAL_DATA")
def test_each_payment_is_an_edge_of_its_own(house_factory: Callable[[], Any]) -> None:
    house = house_factory()
    take(house, "https://parties.example/ftm.json", real("ftm/entities.ftm.json"))
    root = id_of("ftm:c326dd8021ee75fe9608f31ecb4e2e7388144102")  # paid 126 times in the file
    view = graph(house, root)
    assert view["counts"]["edges"] == 126
    assert all(edge["type"] == "paid" and edge["targetId"] == root for edge in view["edges"])
