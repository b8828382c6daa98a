"""What is connected to what: the edges at some nodes, whoever tells of them.

Rule 1: an edge leads to what somebody told of; one to something unknown is left out.
Rule 2: of a node only so many edges are looked at, and fewer where more nodes are asked about, so
        that nobody waits for one with a million of them; `is_cut` says that there are more.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from attrs import define, field

from svc_core.intel.entities import directory
from svc_core.intel.entities.relation import RELATIONS
from svc_core.intel.graphs import derivation
from svc_core.intel.graphs.rules import Edge, Walk, Wanted, in_turn, joined
from svc_core.intel.incidents.model import INCIDENTS
from svc_core.operation.context import Context
from svc_core.operation.ports import Document

NODES_AT_ONCE = 20
SCANNED_MAX = 2_000  # edges looked at for one step of a walk: some 30 ms
LOOKED_UP = 100  # edges whose ends are looked up at once
SCANNED_MIN = 10  # of a single node
ENDS = ("source", "target")

Told = dict[str, Any]
"""A relation whose ends are still references."""


class Node(NamedTuple):
    """What an edge may lead to: an entity, an incident or a place; `ids` are all by which rows
    name it. A named tuple, because a graph makes hundreds of them.
    """

    id: str
    type: str
    label: str
    country_code: str | None
    ids: tuple[str, ...]
    revoked: bool
    row: Mapping[str, Any]

    def references(self) -> Iterable[str]:
        """All by which edges may name it."""
        return derivation.references(self.row) if self.id.startswith("ent_") else self.ids


@define(eq=False)
class Neighbours:
    """Looks edges up for one graph, and remembers the nodes that it met."""

    ctx: Context
    wanted: Wanted
    kept: Callable[[Node, Edge], bool] = lambda *_: True
    root: str | None = None
    nodes: dict[str, Node] = field(factory=dict)
    is_cut: bool = False
    _meant: dict[str, Node | None] = field(factory=dict)

    async def meant(self, references: Iterable[str]) -> dict[str, Node]:
        """The nodes that these references mean; those of nobody known lack."""
        asked = list(dict.fromkeys(references))
        new = [one for one in asked if one not in self._meant]
        if new:
            self._meant |= dict.fromkeys(new)
            for reference, row in (await _rows(self.ctx, new)).items():
                if row.id not in self.nodes:
                    self.nodes[row.id] = node_of(row)
                self._meant[reference] = self.nodes[row.id]
        return {one: node for one in asked if (node := self._meant[one]) is not None}

    async def grown(self, root: str, depth: int, nodes_max: int) -> Walk:
        """The graph around a node."""
        self.root, walk = root, Walk(root, depth, nodes_max)
        while walk.frontier:
            walk.take(await self.at(walk.frontier, nodes_max - len(walk.nodes)))
        walk.truncated = walk.truncated or self.is_cut
        return walk

    async def at(self, nodes: Sequence[str], room: int) -> list[Edge]:
        """The edges at these nodes, which were met before, with room for so many others."""
        share = max(SCANNED_MIN, SCANNED_MAX // len(nodes))
        told: list[Told] = []
        for at in range(0, len(nodes), NODES_AT_ONCE):
            some = [self.nodes[one] for one in nodes[at : at + NODES_AT_ONCE]]
            for end in ENDS:
                told += await self._scanned(end, some, share)
            for type_ in filter(self.wanted.names, derivation.FACETS):
                told += await self._derived(type_, some, share)
            told += [edge for node in some for edge in self._own(node)]
        return await self.between(await self._near(nodes, told, room))

    async def _near(self, nodes: Sequence[str], told: Iterable[Told], room: int) -> list[Told]:
        """Those of the edges that there is room for: no more of their ends are looked up."""
        owners = {one: node for node in nodes for one in self.nodes[node].references()}
        edges = in_turn(filter(self.wanted.holds, told), ENDS, owners)
        new: set[str] = set()
        at, known = 0, set(self.nodes)
        while at < len(edges) and len(new) <= room:
            some = edges[at : at + LOOKED_UP]
            met = await self.meant(one[end] for one in some for end in ENDS)
            new |= {node.id for node in met.values()} - known
            at += LOOKED_UP
        rest = [one for one in edges[at:] if all(self._meant.get(one[end]) for end in ENDS)]
        self.is_cut = self.is_cut or len(rest) < len(edges[at:])
        return [*edges[:at], *rest]

    async def _scanned(self, end: str, nodes: Sequence[Node], share: int) -> list[Told]:
        """The relations that have one of these at this end, of each at most its share."""
        where = {end: tuple(one for node in nodes for one in node.ids)}
        if self.wanted.types is not None:
            where["type"] = tuple(self.wanted.types)
        page = await self.ctx.tx.documents.scan(RELATIONS, where=where, limit=share * len(nodes))
        if page.more and len(nodes) > 1:
            return [one for node in nodes for one in await self._scanned(end, [node], share)]
        self.is_cut = self.is_cut or page.more
        return [edge_of(row.raw) for row in page.rows]

    async def _derived(self, type_: str, nodes: Sequence[Node], share: int) -> list[Told]:
        """The edges of a type that other rows make to some of these, of each at most its share."""
        held = [node for node in nodes if node.type in derivation.FACETS[type_].types]
        if not held:
            return []
        of, most = [node.row for node in held], share * len(held)
        rows, is_more = await derivation.scanned(self.ctx, type_, of, most)
        if is_more and len(held) > 1:
            return [one for node in held for one in await self._derived(type_, [node], share)]
        self.is_cut = self.is_cut or is_more
        refs = {one for node in held for one in node.references()}
        every = (edge for row in rows for edge in derivation.edges(row))
        return [edge for edge in every if edge["type"] == type_ and edge["source"] in refs]

    def _own(self, node: Node) -> Iterator[Told]:
        """The edges that follow from the row of a node; a place is known by its incident alone."""
        for edge in derivation.edges(node.row):
            if edge["type"] == derivation.LOCATED:
                place = _place(node.row, edge["target"])
                self._meant[place.id] = self.nodes[place.id] = place
            yield edge

    async def between(self, told: Sequence[Told]) -> list[Edge]:
        """Relations as edges between the nodes that they mean, each once."""
        ends = (one[end] for one in told for end in ENDS)
        meant = await self.meant(ends)
        return joined(self._between(told, meant))

    def _between(self, told: Iterable[Told], meant: Mapping[str, Node]) -> Iterator[Edge]:
        for one in told:
            source, target = meant.get(one["source"]), meant.get(one["target"])
            if source is None or target is None or source is target:
                continue
            if self._is_shown(source, one) and self._is_shown(target, one):
                ends = (source.id, target.id)
                first, second = ends if one["directed"] else sorted(ends)
                yield {**one, "sourceId": first, "targetId": second}

    def _is_shown(self, node: Node, edge: Edge) -> bool:
        return node.id == self.root or (
            self.kept(node, edge) and (self.wanted.revoked or not node.revoked)
        )


# -- rows as edges and nodes -------------------------------------------------------------------


def edge_of(raw: bytes) -> Told:
    """A stored relation, whose ends are still references."""
    told: Told = json.loads(str(raw, "utf-8"))
    return told


async def _rows(ctx: Context, references: Sequence[str]) -> dict[str, Document[Any]]:
    incidents = tuple(one for one in references if one.startswith("inc_"))
    rows = await directory.named(ctx, [one for one in references if one not in incidents])
    if incidents:
        where = {"key": incidents}
        page = await ctx.tx.documents.scan(INCIDENTS, where=where, limit=len(incidents))
        for row in page.rows:
            ids = {row.id, *json.loads(row.raw)["mergedIds"]}
            rows |= dict.fromkeys(ids.intersection(incidents), row)
    return rows


def node_of(row: Document[Any]) -> Node:
    """What a row is as a node."""
    told = json.loads(str(row.raw, "utf-8"))
    ids: tuple[str, ...] = (row.id, *told["mergedIds"])
    if row.id.startswith("inc_"):
        place = told.get("place") or {}
        code = place.get("countryCode")
        return Node(row.id, "incident", told["title"], code, ids, revoked=False, row=told)
    return Node(
        row.id, told["type"], told["name"], _country(told), ids, bool(told.get("revoked")), told
    )


def _place(row: Mapping[str, Any], id_: str) -> Node:
    place = row["place"]
    about = {"createdAt": row["createdAt"], "updatedAt": row["updatedAt"], "designators": []}
    label = derivation.label_of(place) or id_
    return Node(id_, "place", label, place["countryCode"], (id_,), revoked=False, row=about)


def _country(told: Mapping[str, Any]) -> str | None:
    """Where it is registered, else the only country that it is told with."""
    home, codes = told.get("jurisdiction"), told.get("countryCodes") or []
    if home:
        return str(home)[:2]
    return str(codes[0]) if len(codes) == 1 else None
