"""Pure rules of graphs: which edges match, which are the same edge, and how far a graph reaches.

Rule 1: a graph grows from its root breadth first, and both ends of every edge are among its nodes.
Rule 2: the nodes of one level take turns, each with its strongest edge first, so that a node with
        a million edges leaves room for its neighbours.
Rule 3: where there is no room for an edge, `truncated` says so and the walk ends.

Edges have the members of the wire (`svc_core.intel.entities.relation.Edge`).
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
"""Types whose edges are never merged: two payments between the same parties are two edges."""


# -- which edges count -------------------------------------------------------------------------


@frozen
class EdgeCriteria:
    """The criteria that an edge must meet; None is no criterion.

    `at` is a date or a time in UTC at which the edge must have been valid.
    """

    types: Sequence[str] | None = None
    min_confidence: float = 0
    at: str | None = None
    revoked: bool = False
    surface: str | None = None

    def allows(self, type_: str) -> bool:
        """Whether edges of this type may match."""
        return self.types is None or type_ in self.types

    def matches(self, edge: Edge) -> bool:
        """Whether an edge meets all criteria."""
        return (
            self.allows(edge["type"])
            and edge["confidence"] >= self.min_confidence
            and (self.revoked or not edge["revoked"])
            and (self.surface is None or edge["surface"] == self.surface)
            and (self.at is None or _is_valid(edge, self.at))
        )


def _is_valid(edge: Edge, at: str) -> bool:
    """Whether an edge was valid at a time; an absent bound is open.

    Both are compared as precisely as the less precise one: a day matches every time of it.
    """
    start, end = edge["validFrom"], edge["validTo"]
    return not (
        (start is not None and _is_before(at, start)) or (end is not None and _is_before(end, at))
    )


def _is_before(first: str, second: str) -> bool:
    first, second = first.rstrip("Z"), second.rstrip("Z")
    length = min(len(first), len(second))
    return first[:length] < second[:length]


# -- which edges are one -----------------------------------------------------------------------


_OPTIONAL = ("validFrom", "validTo", "stixId")  # taken from the oldest edge that has them


def edge_identity(edge: Edge) -> tuple[str, ...]:
    """The key that equal edges share: type and ends, for undirected edges in either order."""
    ends = (edge["sourceId"], edge["targetId"])
    own = (edge["id"],) if edge["type"] in DISTINCT_TYPES else ()
    return (edge["type"], *(ends if edge["directed"] else sorted(ends)), *own)


def merge_edges(edges: Iterable[Edge]) -> list[Edge]:
    """The edges with equal ones merged into the oldest of them, which gains what others report."""
    groups: dict[tuple[str, ...], dict[str, Edge]] = defaultdict(dict)
    for edge in edges:
        groups[edge_identity(edge)][edge["id"]] = edge
    return [_merge(sorted(group.values(), key=age)) for group in groups.values()]


def age(edge: Edge) -> tuple[str, str]:
    """A sort key that puts the oldest edge first."""
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
    """A graph that grows: its caller adds the edges at the `frontier` until that is empty.

    `nodes` are ids with their distance from the root, in the order in which they were reached.
    """

    # The walk is a breadth-first search with bounds. A round hands `take` every edge at the nodes
    # of the frontier; the ends that are new become the next frontier, one step further out. It
    # stops when the frontier lies at the depth that was asked for, when a round reaches nothing
    # new, or when an edge found no room.
    #
    # An edge is taken with both of its ends or not at all, so nodes and edges stay a closed graph.
    # That is why the room of an edge is checked before it is added: it needs a place among the
    # edges and one for each end that is new.
    #
    # After the first edge without room the walk ends although later levels might have edges
    # between known nodes: going on would make the result depend on which of them come first. The
    # answer is then the nearest part of the graph, and says that it is cut (`is_truncated`).
    #
    # In which order edges compete for room is the matter of `round_robin`: strongest first would
    # let one node with very many strong edges fill the graph, so the nodes take turns.

    root: str
    depth: int
    nodes_max: int = NODES_MAX
    edges_max: int = EDGES_MAX
    nodes: dict[str, int] = field(factory=dict)
    edges: dict[str, Edge] = field(factory=dict)
    frontier: list[str] = field(factory=list)
    is_truncated: bool = False

    def __attrs_post_init__(self) -> None:
        """Begin at the root."""
        self.nodes[self.root] = 0
        self.frontier = [self.root]

    def take(self, edges: Iterable[Edge]) -> None:
        """Add all edges at the frontier; the new nodes that they lead to are the next frontier."""
        nodes: list[str] = []
        owners = {node: node for node in self.frontier}
        for edge in round_robin(edges, ("sourceId", "targetId"), owners):
            ends = (edge["sourceId"], edge["targetId"])
            new = [end for end in ends if end not in self.nodes]
            if edge["id"] in self.edges:
                continue
            if len(self.edges) >= self.edges_max or len(self.nodes) + len(new) > self.nodes_max:
                self.is_truncated = True
                continue
            self.edges[edge["id"]] = edge
            for end in new:
                self.nodes[end] = self.nodes[self.frontier[0]] + 1
                nodes.append(end)
        is_done = self.is_truncated or self.nodes[self.frontier[0]] + 1 >= self.depth
        self.frontier = [] if is_done else nodes


def round_robin(edges: Iterable[E], ends: Sequence[str], owners: Mapping[str, str]) -> list[E]:
    """The edges in turn by node: the strongest edge of each node, then the second of each.

    `ends` are the members that name the ends of an edge; `owners` maps such a name to its node.
    """
    queues: dict[str, list[E]] = {node: [] for node in owners.values()}
    for edge in sorted(edges, key=lambda edge: (-edge["confidence"], edge["id"])):
        for node in {owners[edge[end]] for end in ends if edge[end] in owners}:
            queues[node].append(edge)
    turns = chain.from_iterable(zip_longest(*queues.values()))
    return list({edge["id"]: edge for edge in turns if edge is not None}.values())
