"""Graphs as rules over values: which edges count, which are one, and how far a graph reaches.

Rule 1: a graph grows from its root by breadth, and every edge's ends are among its nodes.
Rule 2: among nodes that wait for their edges each has its turn, its strongest edge first, so that
        one with a million of them leaves room for its neighbours.
Rule 3: what there is no room for is owned up to in `truncated`, and ends the walk.

Edges are in the form of the wire (`svc_core.intel.entities.relation.Edge`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, TypeVar

from attrs import define, field, frozen

DEPTH_MAX = 3
NODES_MAX = 500
EDGES_MAX = 2_000

Edge = Mapping[str, Any]
E = TypeVar("E", bound=Edge)

DISTINCT_TYPES = frozenset({"paid"})
"""Types of edges of which each is one of its own, however many have the same two ends."""


# -- which edges count -------------------------------------------------------------------------


@frozen
class Wanted:
    """What an edge must be. What is None asks for nothing; `at` is a date or a time in UTC."""

    types: Sequence[str] | None = None
    min_confidence: float = 0
    at: str | None = None
    revoked: bool = False
    surface: str | None = None

    def allows(self, type_: str) -> bool:
        """Whether edges of this type are wanted."""
        return self.types is None or type_ in self.types

    def holds(self, edge: Edge) -> bool:
        """Whether it is such an edge."""
        return (
            self.allows(edge["type"])
            and edge["confidence"] >= self.min_confidence
            and (self.revoked or not edge["revoked"])
            and (self.surface is None or edge["surface"] == self.surface)
            and (self.at is None or _is_valid(edge, self.at))
        )


def _is_valid(edge: Edge, at: str) -> bool:
    """Whether it held then, as precisely as both are told; bounds that are untold are open."""
    start, end = edge["validFrom"], edge["validTo"]
    return not (
        (start is not None and _is_before(at, start)) or (end is not None and _is_before(end, at))
    )


def _is_before(first: str, second: str) -> bool:
    first, second = first.rstrip("Z"), second.rstrip("Z")
    length = min(len(first), len(second))
    return first[:length] < second[:length]


# -- which edges are one -----------------------------------------------------------------------


_OPTIONAL = ("validFrom", "validTo", "stixId")  # what the oldest that tells it tells


def edge_identity(edge: Edge) -> tuple[str, ...]:
    """What tells edges between known nodes apart."""
    ends = (edge["sourceId"], edge["targetId"])
    own = (edge["id"],) if edge["type"] in DISTINCT_TYPES else ()
    return (edge["type"], *(ends if edge["directed"] else sorted(ends)), *own)


def joined(edges: Iterable[Edge]) -> list[Edge]:
    """The edges, those that are one and the same as one: the oldest, with what the others tell."""
    groups: dict[tuple[str, ...], dict[str, Edge]] = defaultdict(dict)
    for edge in edges:
        groups[edge_identity(edge)][edge["id"]] = edge
    return [_merge(sorted(group.values(), key=age)) for group in groups.values()]


def age(edge: Edge) -> tuple[str, str]:
    """The oldest first."""
    return edge["createdAt"], edge["id"]


def _merge(edges: Sequence[Edge]) -> Edge:
    if len(edges) == 1:
        return edges[0]
    first, claims = edges[0], [edge for edge in edges if edge["confidenceBasis"] == "provider"]
    providers = {name for edge in edges for name in edge["providers"]}
    by_count = round(len(providers) / (len(providers) + 1), 3)
    return {
        **first,
        "confidence": max((edge["confidence"] for edge in claims), default=by_count),
        "confidenceBasis": "provider" if claims else "sources",
        **{name: _first(edge[name] for edge in edges) for name in _OPTIONAL},
        "attributes": {k: v for edge in reversed(edges) for k, v in edge["attributes"].items()},
        "evidence": list({str(e): e for edge in edges for e in edge["evidence"]}.values()),
        "revoked": all(edge["revoked"] for edge in edges),
        "providers": sorted(providers),
    }


def _first(values: Iterable[Any]) -> Any:
    return next((item for item in values if item is not None), None)


# -- how far a graph reaches -------------------------------------------------------------------


@define
class Walk:
    """A graph as it grows: whoever walks takes the edges at its `frontier` until that is empty.

    `nodes` are ids with their distance from the root, in the order in which they were reached.
    """

    root: str
    depth: int
    nodes_max: int = NODES_MAX
    edges_max: int = EDGES_MAX
    nodes: dict[str, int] = field(factory=dict)
    edges: dict[str, Edge] = field(factory=dict)
    frontier: list[str] = field(factory=list)
    truncated: bool = False

    def __attrs_post_init__(self) -> None:
        """Begin at the root."""
        self.nodes[self.root] = 0
        self.frontier = [self.root]

    def take(self, edges: Iterable[Edge]) -> None:
        """Take all edges at the frontier in; the nodes that they lead to are the next one."""
        nodes: list[str] = []
        owners = {node: node for node in self.frontier}
        for edge in in_turn(edges, ("sourceId", "targetId"), owners):
            ends = (edge["sourceId"], edge["targetId"])
            new = [end for end in ends if end not in self.nodes]
            if edge["id"] in self.edges:
                continue
            if len(self.edges) >= self.edges_max or len(self.nodes) + len(new) > self.nodes_max:
                self.truncated = True
                continue
            self.edges[edge["id"]] = edge
            for end in new:
                self.nodes[end] = self.nodes[self.frontier[0]] + 1
                nodes.append(end)
        is_done = self.truncated or self.nodes[self.frontier[0]] + 1 >= self.depth
        self.frontier = [] if is_done else nodes


def in_turn(edges: Iterable[E], ends: Sequence[str], owners: Mapping[str, str]) -> list[E]:
    """The edges, the strongest of each node, then the next of each; `owners` tells whose they are.

    `ends` are the members that name the ends of an edge.
    """
    queues: dict[str, list[E]] = {node: [] for node in owners.values()}
    for edge in sorted(edges, key=lambda edge: (-edge["confidence"], edge["id"])):
        for node in {owners[edge[end]] for end in ends if edge[end] in owners}:
            queues[node].append(edge)
    turns = chain.from_iterable(zip_longest(*queues.values()))
    return list({edge["id"]: edge for edge in turns if edge is not None}.values())
