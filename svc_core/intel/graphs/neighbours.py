"""Looks up the edges at some nodes of a graph, from stored relations and from derived edges.

Rule 1: both ends of an edge are stored rows; an edge to something unknown is left out.
Rule 2: a look-up reads a bounded number of edges, shared among the nodes it is about, so that a
        node with a million edges holds nobody up; `is_cut` says that there are more.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from attrs import define, field

from svc_core.intel.entities import directory
from svc_core.intel.entities.relation import RELATIONS
from svc_core.intel.graphs import derivation
from svc_core.intel.graphs.rules import Edge, EdgeCriteria, Walk, merge_edges, round_robin
from svc_core.intel.incidents.model import INCIDENTS
from svc_core.operation.context import Context
from svc_core.operation.ports import StoredRow

NODES_AT_ONCE = 20
SCANNED_MAX = 2_000  # edges looked at for one step of a walk: some 30 ms
LOOKUP_BATCH = 100  # edges whose ends are looked up at once
SCANNED_MIN = 10  # of a single node
ENDS = ("source", "target")

RawEdge = dict[str, Any]
"""A relation whose ends are still references."""


class Node(NamedTuple):
    """A node of a graph: an entity, an incident or a place.

    `ids` are its id and those merged into it. A named tuple, because a graph makes hundreds.
    """

    id: str
    type: str
    label: str
    country_code: str | None
    ids: tuple[str, ...]
    is_revoked: bool
    row: Mapping[str, Any]


@define(eq=False)
class Neighbours:
    """Looks edges up for one graph, and remembers the nodes that it resolved.

    `criteria` and `accepts` decide which edges count; the `root` is always shown.
    """

    ctx: Context
    criteria: EdgeCriteria
    accepts: Callable[[Node, Edge], bool] = lambda *_: True
    root: str | None = None
    nodes: dict[str, Node] = field(factory=dict)
    is_cut: bool = False
    _lookup: dict[str, Node | None] = field(factory=dict)
    _references: dict[str, tuple[str, ...]] = field(factory=dict)

    async def resolve(self, references: Iterable[str]) -> dict[str, Node]:
        """The nodes that these references mean; references to unknown entities are left out."""
        unique = list(dict.fromkeys(references))
        new = [ref for ref in unique if ref not in self._lookup]
        if new:
            self._lookup |= dict.fromkeys(new)
            rows = await _rows(self.ctx, new)
            unread = {row.id: row for row in rows.values() if row.id not in self.nodes}
            self.nodes |= {node.id: node for node in nodes_of(list(unread.values()))}
            self._lookup |= {reference: self.nodes[row.id] for reference, row in rows.items()}
        return {ref: node for ref in unique if (node := self._lookup[ref]) is not None}

    def references(self, node: Node) -> tuple[str, ...]:
        """All references by which edges may name a node."""
        if node.id not in self._references:
            is_entity = node.id.startswith("ent_")
            refs = derivation.row_references(node.row) if is_entity else node.ids
            self._references[node.id] = tuple(refs)
        return self._references[node.id]

    async def walk_from(self, root: str, depth: int, nodes_max: int) -> Walk:
        """The graph around a node, up to a depth and a number of nodes."""
        self.root, walk = root, Walk(root, depth, nodes_max)
        while walk.frontier:
            walk.take(await self.edges_at(walk.frontier, nodes_max - len(walk.nodes)))
        walk.is_truncated = walk.is_truncated or self.is_cut
        return walk

    async def edges_at(self, nodes: Sequence[str], room: int) -> list[Edge]:
        """The edges at these resolved nodes, leading to about `room` new nodes at most."""
        share = max(SCANNED_MIN, SCANNED_MAX // len(nodes))
        edges: list[RawEdge] = []
        for start in range(0, len(nodes), NODES_AT_ONCE):
            batch = [self.nodes[id_] for id_ in nodes[start : start + NODES_AT_ONCE]]
            for end in ENDS:
                edges += await self._scan_end(end, batch, share)
            for type_ in filter(self.criteria.allows, derivation.FACETS):
                edges += await self._derive(type_, batch, share)
            edges += [edge for node in batch for edge in self._own_edges(node)]
        return await self.between(await self._nearest(nodes, edges, room))

    async def _nearest(
        self, nodes: Sequence[str], relations: Iterable[RawEdge], room: int
    ) -> list[RawEdge]:
        """The edges that there is room for, in turn by node; ends beyond are not looked up."""
        owners = {ref: node for node in nodes for ref in self.references(self.nodes[node])}
        edges = round_robin(filter(self.criteria.matches, relations), ENDS, owners)
        new: set[str] = set()
        at, before = 0, set(self.nodes)
        while at < len(edges) and len(new) <= room:
            batch = edges[at : at + LOOKUP_BATCH]
            ends = await self.resolve(edge[end] for edge in batch for end in ENDS)
            new |= {node.id for node in ends.values()} - before
            at += LOOKUP_BATCH
        rest = [edge for edge in edges[at:] if all(self._lookup.get(edge[end]) for end in ENDS)]
        self.is_cut = self.is_cut or len(rest) < len(edges[at:])
        return [*edges[:at], *rest]

    async def _scan_end(self, end: str, nodes: Sequence[Node], share: int) -> list[RawEdge]:
        """The stored relations with one of these nodes at this end, at most `share` of each."""
        filters = {end: tuple(id_ for node in nodes for id_ in node.ids)}
        if self.criteria.types is not None:
            filters["type"] = tuple(self.criteria.types)
        page = await self.ctx.tx.documents.scan(RELATIONS, where=filters, limit=share * len(nodes))
        if page.has_more and len(nodes) > 1:
            return [edge for node in nodes for edge in await self._scan_end(end, [node], share)]
        self.is_cut = self.is_cut or page.has_more
        return json_rows([row.raw for row in page.rows])

    async def _derive(self, type_: str, nodes: Sequence[Node], share: int) -> list[RawEdge]:
        """The edges of a type that other rows make to these nodes, at most `share` of each."""
        owners = [node for node in nodes if node.type in derivation.FACETS[type_].types]
        if not owners:
            return []
        refs = {ref: None for node in owners for ref in self.references(node)}
        rows, is_more = await derivation.facet_rows(self.ctx, type_, refs, share * len(owners))
        if is_more and len(owners) > 1:
            return [edge for node in owners for edge in await self._derive(type_, [node], share)]
        self.is_cut = self.is_cut or is_more
        candidates = (edge for row in rows for edge in derivation.edges(row))
        return [edge for edge in candidates if edge["type"] == type_ and edge["source"] in refs]

    def _own_edges(self, node: Node) -> Iterator[RawEdge]:
        """The edges that follow from a node's own row; registers the place of an incident."""
        for edge in derivation.edges(node.row):
            if edge["type"] == derivation.LOCATED_IN:
                place = _place(node.row, edge["target"])
                self._lookup[place.id] = self.nodes[place.id] = place
            yield edge

    async def between(self, relations: Sequence[RawEdge]) -> list[Edge]:
        """The relations as edges between resolved nodes, each edge once."""
        ends = (relation[end] for relation in relations for end in ENDS)
        nodes = await self.resolve(ends)
        return merge_edges(self._between(relations, nodes))

    def _between(self, relations: Iterable[RawEdge], nodes: Mapping[str, Node]) -> Iterator[Edge]:
        for relation in relations:
            source, target = nodes.get(relation["source"]), nodes.get(relation["target"])
            if source is None or target is None or source is target:
                continue
            if self._is_shown(source, relation) and self._is_shown(target, relation):
                ends = (source.id, target.id)
                first, second = ends if relation["directed"] else sorted(ends)
                yield {**relation, "sourceId": first, "targetId": second}

    def _is_shown(self, node: Node, edge: Edge) -> bool:
        return node.id == self.root or (
            self.accepts(node, edge) and (self.criteria.revoked or not node.is_revoked)
        )


# -- rows as edges and nodes -------------------------------------------------------------------


def json_rows(raws: Sequence[bytes]) -> list[dict[str, Any]]:
    """Stored rows as JSON objects; read in one go, which takes half the time of one by one."""
    rows: list[dict[str, Any]] = json.loads(str(b"[%b]" % b",".join(raws), "utf-8"))
    return rows


async def _rows(ctx: Context, references: Sequence[str]) -> dict[str, StoredRow[Any]]:
    incidents = tuple(ref for ref in references if ref.startswith("inc_"))
    rows = await directory.rows_by_reference(
        ctx, [ref for ref in references if ref not in incidents]
    )
    if incidents:
        filters = {"key": incidents}
        page = await ctx.tx.documents.scan(INCIDENTS, where=filters, limit=len(incidents))
        for row in page.rows:
            ids = {row.id, *json.loads(row.raw)["mergedIds"]}
            rows |= dict.fromkeys(ids.intersection(incidents), row)
    return rows


def nodes_of(rows: Sequence[StoredRow[Any]]) -> list[Node]:
    """The rows of entities and incidents as nodes."""
    return list(map(_node, json_rows([row.raw for row in rows])))


def _node(row: Mapping[str, Any]) -> Node:
    ids: tuple[str, ...] = (row["id"], *row["mergedIds"])
    if row["id"].startswith("inc_"):
        code = (row.get("place") or {}).get("countryCode")
        return Node(row["id"], "incident", row["title"], code, ids, is_revoked=False, row=row)
    return Node(
        row["id"], row["type"], row["name"], _country(row), ids, bool(row.get("revoked")), row
    )


def _place(row: Mapping[str, Any], id_: str) -> Node:
    place = row["place"]
    about = {"createdAt": row["createdAt"], "updatedAt": row["updatedAt"], "designators": []}
    label = derivation.label_of(place) or id_
    return Node(id_, "place", label, place["countryCode"], (id_,), is_revoked=False, row=about)


def _country(body: Mapping[str, Any]) -> str | None:
    """The country of an entity: of its jurisdiction, else the only one that its row names."""
    home, codes = body.get("jurisdiction"), body.get("countryCodes") or []
    if home:
        return str(home)[:2]
    return str(codes[0]) if len(codes) == 1 else None
