"""The cyber graph, of who attacks whom with what: in pages of all edges, or around one node.

Rule: an edge that several rows report has the position of the oldest of them, so that a walk
through the pages meets it once, also while more rows come in that report it.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, get_args

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe, Unset, or_default
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import PagedResource
from svc_core.intel.entities.relation import RELATIONS, CyberGraph, CyberType
from svc_core.intel.entities.vulnerability import CVES
from svc_core.intel.folding.read_declarations import CYBER, reading
from svc_core.intel.graphs import derivation
from svc_core.intel.graphs.derivation import AFFECTED_BY
from svc_core.intel.graphs.neighbours import Neighbours, Node, json_rows
from svc_core.intel.graphs.operations import Depth, RelationTypes, edge_page, public_edge, text
from svc_core.intel.graphs.rules import NODES_MAX, Edge, EdgeCriteria
from svc_core.operation.context import Context
from svc_core.operation.declaration import QUERY, Operation
from svc_core.operation.filters import FilterValues, IncludeRevoked, sent_filters
from svc_core.operation.members import EntityId, PageRequest
from svc_core.operation.ports import Position

ROWS_AT_ONCE = 200
ROWS_MAX = 2_000  # looked at for one page: some 100 ms
CVES_AT_ONCE, CVES_MAX = 100, 600  # the same of vulnerabilities, which have more to read
ALIKE_MAX = 5_000  # rows between the ends of one page that are looked at

TYPES: Mapping[str, CyberType] = {
    "threatActor": "actor", "malware": "malware", "tool": "tool", "attackPattern": "technique",
    "campaign": "campaign", "vulnerability": "vulnerability", "product": "product",
    "company": "organization", "organization": "organization", "government": "organization",
    "sector": "sector", "country": "country", "indicator": "indicator", "person": "person",
    "courseOfAction": "mitigation",
}  # fmt: skip
"""Node types of the cyber graph by entity type; entities of other types are not in the graph."""


@frozen
class GetCyberGraph(PageRequest):
    """Edges of the cyber graph."""

    types: RelationTypes = UNSET
    node_types: FilterValues[CyberType] = UNSET
    """Comma list of types of both ends."""
    root_id: Annotated[Maybe[EntityId], QUERY] = UNSET
    """Only the surroundings of this node."""
    depth: Annotated[Maybe[Depth], QUERY] = UNSET
    """Steps from `rootId`, else 1."""
    include_revoked: IncludeRevoked = False


async def get_cyber_graph(ctx: Context, request: GetCyberGraph) -> PagedResource[CyberGraph]:
    """Who attacks whom with what: actors, malware, techniques, vulnerabilities and what joins them,
    in pages of edges with their ends; a page may be short although another follows. With `rootId`
    only what is around that node, up to 500 nodes and 2,000 edges. What its source revoked or
    deprecated is left out unless asked for.

    Raises:
        Problem: CONFLICTING_PARAMETERS for a depth without a root.
    """
    if isinstance(request.root_id, Unset) and not isinstance(request.depth, Unset):
        raise Problem(
            problem.CONFLICTING_PARAMETERS,
            "depth: is that of a graph around rootId",
            resolution="Send rootId with depth.",
        )
    filters = sent_filters(request, "types", "node_types") | {
        "around": (or_default(request.root_id, ""), str(or_default(request.depth, 1))),
        "revoked": (str(request.include_revoked),),
    }
    binding = ctx.list_binding(filters)
    after = ctx.open_cursor(request.cursor, binding)
    neighbours, kinds = _neighbours(ctx, request)
    if isinstance(request.root_id, Unset):
        has_makers = kinds >= {"vendor", "vulnerability"} and neighbours.criteria.allows(
            AFFECTED_BY
        )
        edges, end = await _page(neighbours, after, request.limit, has_makers=has_makers)
        is_cut = False
    else:
        edges, end, is_cut = await _around(neighbours, request, after)
    raw = text(_graph(neighbours, edges, is_cut=is_cut)).encode()
    rows = tuple(edge["id"].encode() for edge in edges)
    return PagedResource(rows, ctx.seal_cursor(end, binding), raw=raw)


def _neighbours(ctx: Context, request: GetCyberGraph) -> tuple[Neighbours, frozenset[str]]:
    """The look-up of edges for a request, and the node types that both ends may have."""
    criteria = EdgeCriteria(
        or_default(request.types, None), revoked=request.include_revoked, surface="cyber"
    )
    kinds = frozenset(or_default(request.node_types, get_args(CyberType)))
    return Neighbours(ctx, criteria, lambda node, edge: node_type(node, edge) in kinds), kinds


EdgePage = tuple[list[Edge], Position | None]
"""The edges of a page, and the position after it; None after the last page."""


def node_type(node: Node, edge: Edge) -> CyberType | None:
    """The type of a node as an end of this edge; a maker of affected products is a vendor.

    None for an entity that has no place in the cyber graph.
    """
    type_ = TYPES.get(node.type)
    is_vendor = type_ == "organization" and edge["type"] == AFFECTED_BY
    return "vendor" if is_vendor else type_


async def _around(
    neighbours: Neighbours, request: GetCyberGraph, after: Position | None
) -> tuple[list[Edge], Position | None, bool]:
    """A page of the edges around a node, and whether there are more than are walked."""
    roots = await neighbours.resolve([or_default(request.root_id, "")])
    if not roots:
        return [], None, False
    (root,) = roots.values()
    walk = await neighbours.walk_from(root.id, or_default(request.depth, 1), NODES_MAX)
    return *edge_page(walk, after, request.limit), walk.is_truncated


async def _page(
    neighbours: Neighbours, after: Position | None, limit: int, *, has_makers: bool
) -> EdgePage:
    """A page of all edges: first the stored relations, then the edges of vendors."""
    edges: list[Edge] = []
    if after is None or after.id.startswith(RELATIONS.prefix):
        edges, end = await _relation_edges(neighbours, after, limit)
        after = end or _MAKERS
    if after.id.startswith(RELATIONS.prefix) or not has_makers:
        return edges, None if after is _MAKERS else after
    if len(edges) == limit:
        return edges, after
    tail, end = await _maker_edges(neighbours, after, limit - len(edges))
    return [*edges, *tail], end


_MAKERS = Position(2**63 - 1, CVES.prefix)
"""The position before the edges that are derived from vulnerabilities."""


async def _maker_edges(neighbours: Neighbours, after: Position, limit: int) -> EdgePage:
    """A page of the edges from vendors to vulnerabilities, in the order of the vulnerabilities.

    The position within the edges of one vulnerability is its id and the number of edges before.
    """
    edges: list[Edge] = []
    for _ in range(0, CVES_MAX, CVES_AT_ONCE):
        cves = await neighbours.ctx.tx.documents.scan(CVES, after=after, limit=CVES_AT_ONCE)
        candidates = (edge for row in cves.rows for edge in derivation.edges(json.loads(row.raw)))
        by_cve: dict[str, list[Edge]] = defaultdict(list)
        for edge in await neighbours.between(list(filter(neighbours.criteria.matches, candidates))):
            by_cve[edge["targetId"]].append(edge)
        for row in cves.rows:
            id_, _, count = after.id.partition(":")
            before = int(count or 0) if id_ == row.id else 0
            group = sorted(by_cve[row.id], key=lambda edge: str(edge["id"]))[before:]
            chunk = group[: limit - len(edges)]
            edges += chunk
            is_whole = len(chunk) == len(group)
            after = Position(row.order, row.id if is_whole else f"{row.id}:{before + len(chunk)}")
            if len(edges) == limit:
                is_last = is_whole and row is cves.rows[-1] and not cves.has_more
                return edges, None if is_last else after
        if not cves.has_more:
            return edges, None
    return edges, after


async def _relation_edges(neighbours: Neighbours, after: Position | None, limit: int) -> EdgePage:
    """A page of the edges of stored relations, in the order of their rows."""
    edges: list[Edge] = []
    criteria = neighbours.criteria
    filters: dict[str, tuple[str, ...]] = {"surface": ("cyber:live",)}
    if criteria.revoked:
        filters["surface"] += ("cyber:revoked",)
    if criteria.types is not None:
        filters["type"] = tuple(criteria.types)
    for _ in range(0, ROWS_MAX, ROWS_AT_ONCE):
        rows = await neighbours.ctx.tx.documents.scan(
            RELATIONS, where=filters, after=after, limit=ROWS_AT_ONCE
        )
        relations = await neighbours.between(json_rows([row.raw for row in rows.rows]))
        by_id = {edge["id"]: edge for edge in relations}
        queue = [row.id for row in rows.rows if row.id in by_id]
        while queue:
            chunk, queue = queue[: limit - len(edges)], queue[limit - len(edges) :]
            oldest = await _oldest(neighbours, [by_id[id_] for id_ in chunk])
            edges += [oldest[id_] for id_ in chunk if id_ in oldest]
            if len(edges) == limit:
                return edges, Position(0, chunk[-1]) if queue or rows.has_more else None
        after = rows.end
        if after is None:
            break
    return edges, after


async def _oldest(neighbours: Neighbours, edges: Sequence[Edge]) -> dict[str, Edge]:
    """The edges merged with other rows that report them, by the id of the oldest row of each."""
    nodes = {edge[end] for edge in edges for end in ("sourceId", "targetId")}
    ids = tuple(sorted(id_ for node in nodes for id_ in neighbours.nodes[node].ids))
    scope = {"source": ids, "target": ids, "type": tuple(sorted({edge["type"] for edge in edges}))}
    rows = await neighbours.ctx.tx.documents.scan(RELATIONS, where=scope, limit=ALIKE_MAX)
    relations = json_rows([row.raw for row in rows.rows])
    alike = list(filter(neighbours.criteria.matches, relations))
    return {edge["id"]: edge for edge in await neighbours.between(alike)}


# -- as answers --------------------------------------------------------------------------------


def _graph(neighbours: Neighbours, edges: Sequence[Edge], *, is_cut: bool) -> Mapping[str, Any]:
    ends: dict[str, CyberType | None] = {}
    for edge in edges:
        for end in (edge["sourceId"], edge["targetId"]):
            type_ = node_type(neighbours.nodes[end], edge)
            ends[end] = "vendor" if "vendor" in (type_, ends.get(end)) else type_
    return {
        "nodes": [_node(neighbours.nodes[id_], type_) for id_, type_ in ends.items()],
        "edges": list(map(public_edge, edges)),
        "counts": {"nodes": len(ends), "edges": len(edges)},
        "truncated": is_cut,
    }


def _node(node: Node, type_: CyberType | None) -> Mapping[str, Any]:
    return {
        "id": node.id,
        "type": type_,
        "label": node.label,
        "designators": node.row["designators"],
        "revoked": node.is_revoked,
        "tlp": None,
    }


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "cyber graph",
        "/cyber/graph",
        get_cyber_graph,
        scopes=CYBER,
        summary="Read the cyber graph",
        fails=(problem.CONFLICTING_PARAMETERS,),
    ),
)
