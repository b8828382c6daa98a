"""Graphs as rules: what counts, what is one, and how far a walk reaches, against a slow oracle."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.intel.graphs.rules import EdgeCriteria, Walk, merge_edges, round_robin
from tests.sampling import examples

Edge = dict[str, Any]


def edge(source: str, target: str, number: int = 0, **members: Any) -> Edge:
    """An edge of the wire between two nodes."""
    return {
        "id": f"rel_{number:04d}",
        "type": "uses",
        "sourceId": source,
        "targetId": target,
        "directed": True,
        "confidence": 0.5,
        "confidenceBasis": "sources",
        "validFrom": None,
        "validTo": None,
        "attributes": {},
        "evidence": [{"sourceId": f"src_{number}", "observationId": None, "url": None}],
        "revoked": False,
        "surface": "cyber",
        "providers": ["misp"],
        "stixId": None,
        "createdAt": "2026-01-01T00:00:00Z",
        **members,
    }


# -- which edges count -------------------------------------------------------------------------

PERIOD = {"validFrom": "2019-03", "validTo": "2021-06-30"}


@pytest.mark.parametrize(
    ("query", "members", "is_wanted"),
    [
        (EdgeCriteria(), {}, True),
        (EdgeCriteria(frozenset({"owns"})), {}, False),
        (EdgeCriteria(frozenset({"owns", "uses"})), {}, True),
        (EdgeCriteria(min_confidence=0.5), {}, True),
        (EdgeCriteria(min_confidence=0.51), {}, False),
        (EdgeCriteria(), {"revoked": True}, False),
        (EdgeCriteria(revoked=True), {"revoked": True}, True),
        (EdgeCriteria(surface="cyber"), {"surface": "economy"}, False),
        (EdgeCriteria(at="2019-02-28"), PERIOD, False),
        (EdgeCriteria(at="2019-03-01"), PERIOD, True),
        (EdgeCriteria(at="2021-06-30"), PERIOD, True),
        (EdgeCriteria(at="2021-06-30T23:59:59Z"), PERIOD, True),
        (EdgeCriteria(at="2021-07-01"), PERIOD, False),
        (EdgeCriteria(at="1999-01-01"), {"validTo": "2021"}, True),
        (EdgeCriteria(at="2021-12-31"), {"validTo": "2021"}, True),
        (EdgeCriteria(at="2022-01-01"), {"validTo": "2021"}, False),
        (EdgeCriteria(at="2030-01-01"), {"validFrom": "2021"}, True),
        (EdgeCriteria(at="2020-05-05"), {}, True),
        (EdgeCriteria(at="2022-03-18"), {"validFrom": "2022-03-18T12:00:00Z"}, True),
        (EdgeCriteria(at="2022-03-18T11:59:59Z"), {"validFrom": "2022-03-18T12:00:00Z"}, False),
        (EdgeCriteria(at="2022-03-18T12:00:00.5Z"), {"validFrom": "2022-03-18T12:00:00Z"}, True),
    ],
)
def test_an_edge_counts_where_it_is_all_that_is_asked_for(
    query: EdgeCriteria, members: Mapping[str, Any], is_wanted: bool
) -> None:
    assert query.matches(edge("a", "b", **members)) is is_wanted


# -- which edges are one -----------------------------------------------------------------------


def test_one_edge_that_several_rows_tell_of_is_the_oldest_with_what_all_tell() -> None:
    late = edge(
        "a", "b", 1, createdAt="2026-01-02T00:00:00Z", confidence=0.8,
        confidenceBasis="provider", providers=["mitre-attack"], validFrom="2020",
        attributes={"role": "late", "percentage": 5}, stixId="relationship--1",
    )  # fmt: skip
    first = edge("a", "b", 2, attributes={"role": "first"})
    (edge_,) = merge_edges([late, first])
    assert edge_["id"] == first["id"]
    assert (edge_["confidence"], edge_["confidenceBasis"]) == (0.8, "provider")
    assert edge_["attributes"] == {"role": "first", "percentage": 5}
    assert [item["sourceId"] for item in edge_["evidence"]] == ["src_2", "src_1"]
    assert (edge_["validFrom"], edge_["stixId"]) == ("2020", "relationship--1")


@pytest.mark.parametrize(
    ("edges", "count"),
    [
        ([edge("a", "b", 1), edge("a", "b", 2)], 1),
        ([edge("a", "b", 1), edge("b", "a", 2)], 2),
        ([edge("a", "b", 1, directed=False), edge("b", "a", 2, directed=False)], 1),
        ([edge("a", "b", 1), edge("a", "b", 2, type="targets")], 2),
        ([edge("a", "b", 1, type="paid"), edge("a", "b", 2, type="paid")], 2),
        ([edge("a", "b", 1, revoked=True), edge("a", "b", 2)], 1),
    ],
)
def test_edges_of_one_type_between_the_same_two_are_one(edges: list[Edge], count: int) -> None:
    joined_edges = merge_edges(edges)
    assert len(joined_edges) == count
    assert not any(item["revoked"] for item in joined_edges)


def test_edges_told_by_more_providers_are_surer() -> None:
    edges_ = [edge("a", "b", number, providers=[f"p{number}"]) for number in range(3)]
    assert [item["confidence"] for item in merge_edges(edges_)] == [0.75]


# -- how far a walk reaches --------------------------------------------------------------------

NODES = st.sampled_from("abcdefghij")
EDGES = st.lists(
    st.tuples(NODES, NODES, st.sampled_from([0.1, 0.5, 0.9])).filter(lambda e: e[0] != e[1]),
    max_size=40,
).map(lambda triples: [edge(s, t, n, confidence=c) for n, (s, t, c) in enumerate(triples)])


def walk_of(edges: Sequence[Edge], depth: int, nodes_max: int = 99, edges_max: int = 99) -> Walk:
    """A walk from `a` in which every node's edges are known at once."""
    walk = Walk("a", depth, nodes_max, edges_max)
    while walk.frontier:
        frontier = set(walk.frontier)
        walk.take([edge for edge in edges if frontier & {edge["sourceId"], edge["targetId"]}])
    return walk


def distances(edges: Sequence[Edge]) -> dict[str, int]:
    """How far each node is from `a`, by trying every edge again and again (Bellman and Ford)."""
    distance_of = {"a": 0}
    for _ in range(len(edges) + 1):
        for edge_ in edges:
            ends = edge_["sourceId"], edge_["targetId"]
            for near, far in (ends, ends[::-1]):
                if near in distance_of:
                    distance_of[far] = min(distance_of.get(far, 99), distance_of[near] + 1)
    return distance_of


@given(EDGES, st.integers(1, 3))
def test_a_walk_reaches_what_lies_within_its_depth(edges: list[Edge], depth: int) -> None:
    walk, far = walk_of(edges, depth), distances(edges)
    assert walk.nodes == {node: steps for node, steps in far.items() if steps <= depth}
    near = {node for node, steps in far.items() if steps < depth}
    assert walk.edges.keys() == {
        edge["id"] for edge in edges if near & {edge["sourceId"], edge["targetId"]}
    }
    assert not walk.is_truncated


@given(EDGES, st.integers(1, 3), st.integers(1, 8), st.integers(1, 12))
def test_a_graph_keeps_its_bounds_and_every_edge_has_its_ends(
    edges: list[Edge], depth: int, nodes_max: int, edges_max: int
) -> None:
    walk, whole = walk_of(edges, depth, nodes_max, edges_max), walk_of(edges, depth)
    assert len(walk.nodes) <= nodes_max
    assert len(walk.edges) <= edges_max
    for edge_ in walk.edges.values():
        assert {edge_["sourceId"], edge_["targetId"]} <= walk.nodes.keys()
    assert all(walk.nodes[node] == whole.nodes[node] for node in walk.nodes)
    is_whole = (walk.nodes, walk.edges.keys()) == (whole.nodes, whole.edges.keys())
    assert walk.is_truncated is not is_whole


@given(EDGES, st.integers(1, 2), st.integers(1, 8))
def test_a_step_further_loses_nothing(edges: list[Edge], depth: int, nodes_max: int) -> None:
    near, far = (walk_of(edges, steps, nodes_max) for steps in (depth, depth + 1))
    assert near.nodes.keys() <= far.nodes.keys()
    assert near.edges.keys() <= far.edges.keys()


@given(EDGES, st.randoms(use_true_random=False), st.integers(1, 8))
@examples(50)
def test_the_order_in_which_edges_are_found_does_not_matter(
    edges: list[Edge], chance: Any, nodes_max: int
) -> None:
    shuffled_edges = list(edges)
    chance.shuffle(shuffled_edges)
    first, second = walk_of(edges, 3, nodes_max), walk_of(shuffled_edges, 3, nodes_max)
    assert list(first.nodes.items()) == list(second.nodes.items())
    assert list(first.edges) == list(second.edges)


def test_a_node_with_a_thousand_edges_leaves_room_for_its_neighbours() -> None:
    hub = [edge("hub", f"leaf{number}", number) for number in range(1_000)]
    few = [edge("small", f"other{number}", 2_000 + number) for number in range(3)]
    root = [edge("a", "hub", 5_000), edge("a", "small", 5_001)]
    walk = walk_of([*hub, *few, *root], 2, nodes_max=12)
    assert walk.is_truncated
    assert {f"other{number}" for number in range(3)} <= walk.nodes.keys()


def test_of_each_node_the_strongest_edges_come_first() -> None:
    edges_ = [
        edge("a", "x", 1, confidence=0.2),
        edge("a", "y", 2, confidence=0.9),
        edge("b", "z", 3, confidence=0.1),
    ]
    owners = {"a": "a", "b": "b"}
    turns = round_robin(edges_, ("sourceId", "targetId"), owners)
    assert [turn["targetId"] for turn in turns] == ["y", "z", "x"]
    assert Counter(turn["id"] for turn in turns).most_common(1)[0][1] == 1
