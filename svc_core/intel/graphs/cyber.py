"""The graph of who attacks whom with what, in pages of its edges or around one node.

Rule: an edge that several rows tell of stands where the oldest of them does, so that a walk through
the pages meets it once, also while others come to tell of it.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, get_args

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe, Unset, given
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Paged
from svc_core.intel.entities.relation import RELATIONS, CyberGraph, CyberType
from svc_core.intel.entities.vulnerability import CVES
from svc_core.intel.folding.declaration import CYBER, reading
from svc_core.intel.graphs import derivation
from svc_core.intel.graphs.derivation import AFFECTED
from svc_core.intel.graphs.neighbours import Neighbours, Node, edge_of
from svc_core.intel.graphs.operations import Depth, RelationTypes, page_of, shown, text
from svc_core.intel.graphs.rules import NODES_MAX, Edge, Wanted
from svc_core.operation.context import Context
from svc_core.operation.declaration import QUERY, Operation
from svc_core.operation.filters import Revoked, Several, sent
from svc_core.operation.members import Cursor, EntityId, Limit
from svc_core.operation.ports import Position
from svc_core.wire.constraints import Doc

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
"""Types of nodes by those of entities; others take no part in attacks."""


@frozen
class GetCyberGraph:
    """Edges of the cyber graph."""

    types: RelationTypes = UNSET
    node_types: Annotated[Several[CyberType], Doc("Comma list of types of both ends.")] = UNSET
    root_id: Annotated[Maybe[EntityId], QUERY, Doc("Only what is around this node.")] = UNSET
    depth: Annotated[Maybe[Depth], QUERY, Doc("Steps from `rootId`, else 1.")] = UNSET
    include_revoked: Revoked = False
    limit: Limit = 20
    cursor: Cursor = UNSET


async def get_cyber_graph(ctx: Context, request: GetCyberGraph) -> Paged[CyberGraph]:
    """A page of edges with their ends.

    Raises:
        Problem: CONFLICTING_PARAMETERS for a depth without a root.
    """
    if isinstance(request.root_id, Unset) and not isinstance(request.depth, Unset):
        raise Problem(
            problem.CONFLICTING_PARAMETERS,
            "depth: is that of a graph around rootId",
            resolution="Send rootId with depth.",
        )
    asked = sent(request, "types", "node_types") | {
        "around": (given(request.root_id, ""), str(given(request.depth, 1))),
        "revoked": (str(request.include_revoked),),
    }
    binding = ctx.list_binding(asked)
    after = ctx.open_cursor(request.cursor, binding)
    neighbours, kinds = _neighbours(ctx, request)
    if isinstance(request.root_id, Unset):
        has_makers = kinds >= {"vendor", "vulnerability"} and neighbours.wanted.names(AFFECTED)
        edges, end = await _page(neighbours, after, request.limit, has_makers=has_makers)
        is_cut = False
    else:
        edges, end, is_cut = await _around(neighbours, request, after)
    raw = text(_graph(neighbours, edges, is_cut=is_cut)).encode()
    rows = tuple(edge["id"].encode() for edge in edges)
    return Paged(rows, ctx.seal_cursor(end, binding), raw=raw)


def _neighbours(ctx: Context, request: GetCyberGraph) -> tuple[Neighbours, frozenset[str]]:
    """What looks edges up, and the types that their ends may be of."""
    wanted = Wanted(given(request.types, None), revoked=request.include_revoked, surface="cyber")
    kinds = frozenset(given(request.node_types, get_args(CyberType)))
    return Neighbours(ctx, wanted, lambda node, edge: type_of(node, edge) in kinds), kinds


Some = tuple[list[Edge], Position | None]
"""Edges of a page, and the position to go on from."""


def type_of(node: Node, edge: Edge) -> CyberType | None:
    """What a node is to an edge: whose products are affected is a vendor."""
    type_ = TYPES.get(node.type)
    is_vendor = type_ == "organization" and edge["type"] == AFFECTED
    return "vendor" if is_vendor else type_


async def _around(
    neighbours: Neighbours, request: GetCyberGraph, after: Position | None
) -> tuple[list[Edge], Position | None, bool]:
    """A page of the edges around a node, and whether there are more than are walked."""
    met = await neighbours.meant([given(request.root_id, "")])
    if not met:
        return [], None, False
    (root,) = met.values()
    walk = await neighbours.grown(root.id, given(request.depth, 1), NODES_MAX)
    return *page_of(walk, after, request.limit), walk.truncated


async def _page(
    neighbours: Neighbours, after: Position | None, limit: int, *, has_makers: bool
) -> Some:
    """Some edges, and the position to go on from: those that are told of, then those of makers."""
    edges: list[Edge] = []
    if after is None or after.id.startswith(RELATIONS.prefix):
        edges, end = await _told(neighbours, after, limit)
        after = end or _MAKERS
    if after.id.startswith(RELATIONS.prefix) or not has_makers:
        return edges, None if after is _MAKERS else after
    if len(edges) == limit:
        return edges, after
    more, end = await _affected(neighbours, after, limit - len(edges))
    return [*edges, *more], end


_MAKERS = Position(2**63 - 1, CVES.prefix)
"""Where the edges begin that vulnerabilities make."""


async def _affected(neighbours: Neighbours, after: Position, limit: int) -> Some:
    """Some edges of makers, in the order of the vulnerabilities, and the position to go on from.

    A position within those of one vulnerability is its id with the number of those before it.
    """
    edges: list[Edge] = []
    for _ in range(0, CVES_MAX, CVES_AT_ONCE):
        cves = await neighbours.ctx.tx.documents.scan(CVES, after=after, limit=CVES_AT_ONCE)
        every = (edge for row in cves.rows for edge in derivation.edges(json.loads(row.raw)))
        held: dict[str, list[Edge]] = defaultdict(list)
        for edge in await neighbours.between(list(filter(neighbours.wanted.holds, every))):
            held[edge["targetId"]].append(edge)
        for row in cves.rows:
            id_, _, count = after.id.partition(":")
            before = int(count or 0) if id_ == row.id else 0
            own = sorted(held[row.id], key=lambda edge: str(edge["id"]))[before:]
            some = own[: limit - len(edges)]
            edges += some
            is_whole = len(some) == len(own)
            after = Position(row.order, row.id if is_whole else f"{row.id}:{before + len(some)}")
            if len(edges) == limit:
                is_last = is_whole and row is cves.rows[-1] and not cves.more
                return edges, None if is_last else after
        if not cves.more:
            return edges, None
    return edges, after


async def _told(neighbours: Neighbours, after: Position | None, limit: int) -> Some:
    """Some edges in the order of their rows, and the position to go on from."""
    edges: list[Edge] = []
    wanted = neighbours.wanted
    where: dict[str, tuple[str, ...]] = {"surface": ("cyber:live",)}
    if wanted.revoked:
        where["surface"] += ("cyber:revoked",)
    if wanted.types is not None:
        where["type"] = tuple(wanted.types)
    for _ in range(0, ROWS_MAX, ROWS_AT_ONCE):
        rows = await neighbours.ctx.tx.documents.scan(
            RELATIONS, where=where, after=after, limit=ROWS_AT_ONCE
        )
        told = await neighbours.between([edge_of(row.raw) for row in rows.rows])
        found = {one["id"]: one for one in told}
        left = [row.id for row in rows.rows if row.id in found]
        while left:
            some, left = left[: limit - len(edges)], left[limit - len(edges) :]
            alone = await _oldest(neighbours, [found[one] for one in some])
            edges += [alone[one] for one in some if one in alone]
            if len(edges) == limit:
                return edges, Position(0, some[-1]) if left or rows.more else None
        after = rows.end
        if after is None:
            break
    return edges, after


async def _oldest(neighbours: Neighbours, edges: Sequence[Edge]) -> dict[str, Edge]:
    """The edges with what other rows tell of them, by the ids of the oldest of these rows."""
    nodes = {edge[end] for edge in edges for end in ("sourceId", "targetId")}
    ids = tuple(sorted(id_ for node in nodes for id_ in neighbours.nodes[node].ids))
    where = {"source": ids, "target": ids, "type": tuple(sorted({one["type"] for one in edges}))}
    rows = await neighbours.ctx.tx.documents.scan(RELATIONS, where=where, limit=ALIKE_MAX)
    told = [one for row in rows.rows if neighbours.wanted.holds(one := edge_of(row.raw))]
    return {one["id"]: one for one in await neighbours.between(told)}


# -- as answers --------------------------------------------------------------------------------


def _graph(neighbours: Neighbours, edges: Sequence[Edge], *, is_cut: bool) -> Mapping[str, Any]:
    ends: dict[str, CyberType | None] = {}
    for edge in edges:
        for end in (edge["sourceId"], edge["targetId"]):
            type_ = type_of(neighbours.nodes[end], edge)
            ends[end] = "vendor" if "vendor" in (type_, ends.get(end)) else type_
    return {
        "nodes": [_node(neighbours.nodes[one], type_) for one, type_ in ends.items()],
        "edges": list(map(shown, edges)),
        "counts": {"nodes": len(ends), "edges": len(edges)},
        "truncated": is_cut,
    }


def _node(node: Node, type_: CyberType | None) -> Mapping[str, Any]:
    return {
        "id": node.id,
        "type": type_,
        "label": node.label,
        "designators": node.row["designators"],
        "revoked": node.revoked,
        "tlp": None,
    }


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "cyber graph",
        "/cyber/graph",
        get_cyber_graph,
        scopes=CYBER,
        summary="Read the cyber graph",
        description=(
            "Who attacks whom with what: actors, malware, techniques, vulnerabilities and what "
            "joins them, in pages of edges with their ends; a page may be short though a next one "
            "follows. With `rootId` only what is around that node, up to 500 nodes and 2,000 "
            "edges. What its source revoked or deprecated is left out unless asked for."
        ),
        fails=(problem.CONFLICTING_PARAMETERS,),
    ),
)
