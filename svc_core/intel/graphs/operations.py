"""The operations that read one entity and the graph around it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.base import compact, instants
from svc_core.base.unset import UNSET, Maybe, Unset, or_default
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Content, PagedResource, Single
from svc_core.intel.entities import directory, render
from svc_core.intel.entities.relation import EntityGraph, RelationType
from svc_core.intel.entities.render import EntityRow
from svc_core.intel.folding.read_declarations import EXPLORER, reading
from svc_core.intel.graphs import entity_bundle as stix
from svc_core.intel.graphs.neighbours import Neighbours, Node
from svc_core.intel.graphs.rules import DEPTH_MAX, EDGES_MAX, NODES_MAX, Edge, EdgeCriteria, Walk
from svc_core.operation.context import Context
from svc_core.operation.declaration import JSON, PATH, QUERY, STIX, Operation
from svc_core.operation.filters import FilterValues, IncludeRevoked, sent_filters
from svc_core.operation.members import Cursor, EntityId, PageLimit, Share
from svc_core.operation.period import Moment, parse_moment
from svc_core.operation.ports import Position
from svc_core.search.lists import single_of
from svc_core.wire.constraints import Doc, Example, Ge, Le, MaxLen

text = compact.compact_encoder()

RelationTypes = Annotated[
    FilterValues[RelationType], Doc("Comma list of types."), Example(["owns"])
]
Depth = Annotated[int, Ge(1), Le(DEPTH_MAX)]

_EDGE = (
    "id", "type", "sourceId", "targetId", "directed", "confidence", "confidenceBasis", "validFrom",
    "validTo", "attributes", "evidence",
)  # fmt: skip


@frozen
class GetEntity:
    """One entity."""

    entity_id: Annotated[EntityId, PATH]
    include: Annotated[Maybe[tuple[Literal["candidates"], ...]], QUERY, MaxLen(1)] = UNSET
    """`candidates`: who else it may be, with score and reasons. None of them is joined."""


@frozen
class GetEntityGraph:
    """One entity, and the graph around it."""

    entity_id: Annotated[EntityId, PATH]
    depth: Annotated[Depth, QUERY, Example(2)] = 1
    """Steps from it."""
    types: RelationTypes = UNSET
    min_confidence: Annotated[Share, QUERY, Example(0.5)] = 0
    """Only edges at least as sure."""
    at: Annotated[Moment, Example("2026-01-31")] = UNSET
    """Only edges that held at this time."""
    include_revoked: IncludeRevoked = False
    limit_nodes: Annotated[int, QUERY, Ge(1), Le(NODES_MAX)] = NODES_MAX
    """The nearest."""
    limit: PageLimit = UNSET
    """Edges in one page. Default: all of them."""
    cursor: Cursor = UNSET


async def get_entity(ctx: Context, request: GetEntity) -> Single[EntityRow] | Content:
    """One entity. Where several entities turned out to be one, all their ids answer with that one.
    A vulnerability has the facet `cve`, actors and campaigns have `actor`. With `format=stix` it is
    a STIX 2.1 bundle of the entity and everything that it is directly connected to.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await directory.answering_row(ctx, request.entity_id)
    if ctx.format == STIX.format:
        return await stix_content(ctx, document.id)
    rows = await render.whole(ctx, [document.raw])
    (body,) = await render.with_candidates(ctx, rows, request.include)
    return single_of(document, body)


async def get_entity_graph(
    ctx: Context, request: GetEntityGraph
) -> Single[EntityGraph] | PagedResource[EntityGraph]:
    """What the entity is connected to within three steps, with the sources and the period of each
    edge, in up to 500 nodes and 2,000 edges: the nearest, and of these the strongest. Edges without
    a source, or revoked by their source, are left out. With `limit` or `cursor` the edges come in
    pages by id, each with both of its nodes.

    Raises:
        Problem: NOT_FOUND; INVALID_PARAMETER for a time that is none; INVALID_CURSOR.
    """
    day = None if isinstance(request.at, Unset) else parse_moment("at", request.at)
    at = instants.render(day) if isinstance(day, datetime) else str(day) if day else None
    neighbours = Neighbours(
        ctx,
        EdgeCriteria(
            or_default(request.types, None), request.min_confidence, at, request.include_revoked
        ),
    )
    root = (await neighbours.resolve([request.entity_id])).get(request.entity_id)
    if root is None:
        raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")
    filters = sent_filters(request, "types") | {
        "around": (root.id, str(request.depth), str(request.min_confidence)),
        "edges": (str(at), str(request.include_revoked), str(request.limit_nodes)),
    }
    binding = ctx.list_binding(filters)
    after = ctx.open_cursor(request.cursor, binding)
    walk = await neighbours.walk_from(root.id, request.depth, request.limit_nodes)
    if isinstance(request.limit, Unset) and after is None:
        edges = sorted(walk.edges.values(), key=lambda edge: (-edge["confidence"], edge["id"]))
        nodes = [neighbours.nodes[id_] for id_ in walk.nodes]
        raw = text(_graph(walk, nodes, edges, _as_of(at, nodes, edges))).encode()
        return Single(raw, (root.id, sha256(raw).hexdigest()))
    edges, end = edge_page(walk, after, or_default(request.limit, EDGES_MAX))
    ends = {edge[end]: None for edge in edges for end in ("sourceId", "targetId")}
    nodes = [neighbours.nodes[id_] for id_ in ends]
    as_of = _as_of(at, nodes or [neighbours.nodes[root.id]], edges)
    raw = text(_graph(walk, nodes, edges, as_of)).encode()
    rows = tuple(edge["id"].encode() for edge in edges)
    return PagedResource(rows, ctx.seal_cursor(end, binding), raw=raw)


def edge_page(walk: Walk, after: Position | None, limit: int) -> tuple[list[Edge], Position | None]:
    """A page of a graph's edges in the order of their ids, and the position after it.

    Ids stay the same whatever other rows report of an edge, so pages join.
    """
    keys = sorted((key for key in walk.edges if after is None or key < after.id), reverse=True)
    chunk = keys[:limit]
    end = Position(0, chunk[-1]) if len(keys) > len(chunk) else None
    return [walk.edges[key] for key in chunk], end


async def stix_content(ctx: Context, id_: str) -> Content:
    """A stored entity and what it is directly connected to, as a STIX bundle."""
    neighbours = Neighbours(ctx, EdgeCriteria())
    (root,) = (await neighbours.resolve([id_])).values()
    walk = await neighbours.walk_from(root.id, 1, NODES_MAX)
    nodes = [neighbours.nodes[id_] for id_ in walk.nodes]
    raw = stix.graph_bundle(root, nodes, list(walk.edges.values()))
    return Content(STIX.media_type, raw, (root.id, sha256(raw).hexdigest()))


# -- as answers --------------------------------------------------------------------------------


def _graph(
    walk: Walk, nodes: Sequence[Node], edges: Sequence[Edge], as_of: str
) -> Mapping[str, Any]:
    all_edges = walk.edges.values()
    degree = Counter(end for edge in all_edges for end in (edge["sourceId"], edge["targetId"]))
    return {
        "rootId": walk.root,
        "depth": walk.depth,
        "nodes": [
            {
                "id": node.id,
                "type": node.type,
                "label": node.label,
                "countryCode": node.country_code,
                "degree": degree[node.id],
            }
            for node in nodes
        ],
        "edges": list(map(public_edge, edges)),
        "counts": {"nodes": len(nodes), "edges": len(edges)},
        "truncated": walk.is_truncated,
        "asOf": as_of,
    }


def public_edge(edge: Edge) -> Mapping[str, Any]:
    """The public members of an edge."""
    members = {name: edge[name] for name in _EDGE}
    return members | {"revoked": True} if edge["revoked"] else members


def _as_of(at: str | None, nodes: Iterable[Node], edges: Iterable[Edge]) -> str:
    if at is None:
        return str(max(row["updatedAt"] for row in (*(node.row for node in nodes), *edges)))
    return at if "T" in at else instants.render(datetime.fromisoformat(at).replace(tzinfo=UTC))


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "entities show",
        "/entities/{entityId}",
        get_entity,
        scopes=EXPLORER,
        summary="Read an entity",
        media=(JSON, STIX),
        examples={STIX.media_type: stix.EXAMPLE},
    ),
    reading(
        "entities graph",
        "/entities/{entityId}/graph",
        get_entity_graph,
        scopes=EXPLORER,
        summary="Read the graph around an entity",
    ),
)
