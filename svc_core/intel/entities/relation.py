"""Relations: what joins two entities, or an entity and an incident, and who says so.

The ends are *references* (`svc_core.intel.entities.directory`): the ids that the keys of their
sources give.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.formats.reading.relation_records import TYPE_FORM
from svc_core.operation.members import (
    CountryCode,
    CreatedAt,
    EntityId,
    ObservationId,
    Share,
    SourceId,
    UpdatedAt,
)
from svc_core.operation.ports import Collection
from svc_core.operation.source_members import Designator
from svc_core.wire.constraints import Doc, Example, Ge, Le, Pattern

RelationType = Annotated[str, Pattern(TYPE_FORM, "a type such as `owns` or `attributed-to`")]
CyberType = Literal[
    "actor", "malware", "tool", "technique", "campaign", "vulnerability", "product", "vendor",
    "sector", "country", "indicator", "mitigation", "organization", "person",
]  # fmt: skip
Surface = Literal["cyber", "economy"]
ConfidenceBasis = Literal["provider", "sources"]


@frozen
class Evidence:
    """Who tells of a relation, and where."""

    source_id: SourceId
    observation_id: Annotated[ObservationId | None, Doc("The row that tells it.")] = None
    url: Annotated[str | None, Doc("Where it is told.")] = None


@frozen(kw_only=True)
class Tie:
    """What joins two things, and who says so."""

    id: Annotated[str, Doc("Of the relation."), Example("rel_65f1c0de8badf00d12345678")]
    type: Annotated[RelationType, Doc("What it is."), Example("uses")]
    directed: Annotated[bool, Doc("False where its ends may be exchanged."), Example(True)]
    confidence: Annotated[Share, Doc("Its provider's, else n/(n+1) for n sources."), Example(0.5)]
    confidence_basis: Annotated[ConfidenceBasis, Doc("Said by the provider, or counted.")]
    valid_from: Annotated[str | None, Doc("As precisely as it is told."), Example("2019-03")] = None
    valid_to: Annotated[str | None, Doc("Until when; null where untold."), Example(None)] = None
    attributes: Annotated[Mapping[str, Any], Doc("What else is told, such as `percentage`.")]
    evidence: Annotated[tuple[Evidence, ...], Doc("Who tells of it, each source once or more.")]


@frozen(kw_only=True)
class Relation(Tie):
    """What joins two rows, as it is stored; graphs show it between the entities that are meant.

    Graphs read thousands of them: it is as small as can be. `stix_id` is what a STIX document
    calls it.
    """

    source: str
    target: str
    revoked: bool = False
    surface: Surface
    providers: tuple[str, ...]
    stix_id: str | None = None
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: int


RELATIONS: Collection[Relation] = Collection(
    name="relations",
    model=Relation,
    prefix="rel",
    # A row keeps its place when it is written again, so that a walk meets each one once.
    order=lambda _: 0,
    scope="global",
    keys={
        "source": lambda row: row.source,
        "target": lambda row: row.target,
        "type": lambda row: row.type,
        "surface": lambda row: f"{row.surface}:{'revoked' if row.revoked else 'live'}",
    },
)
"""Ordered by id. Not in the change feed, as no route serves a relation alone: graphs do."""


# -- as graphs show them -----------------------------------------------------------------------


@frozen(kw_only=True)
class Edge(Tie):
    """What joins two nodes of a graph, and who says so."""

    source_id: Annotated[str, Doc("Where it leads from."), Example("ent_65f1c0de8badf00d12345678")]
    target_id: Annotated[str, Doc("Where it leads to."), Example("ent_65f1c0de8badf00d87654321")]
    revoked: Annotated[Maybe[bool], Doc("True where its source revoked it; else absent.")] = UNSET


@frozen
class GraphSize:
    """How much of a graph is shown."""

    nodes: Annotated[int, Ge(0), Doc("Nodes in this answer."), Example(2)]
    edges: Annotated[int, Ge(0), Doc("Edges in this answer."), Example(1)]


@frozen(kw_only=True)
class EntityNode:
    """An entity or an incident of a graph."""

    id: Annotated[str, Doc("Of its row."), Example("ent_65f1c0de8badf00d12345678")]
    type: Annotated[str, Doc("That of the entity, or `incident` or `place`."), Example("company")]
    label: Annotated[str, Doc("Its name or title."), Example("MICROSOFT CORP")]
    country_code: CountryCode
    degree: Annotated[int, Ge(0), Doc("Edges of this graph that it is an end of."), Example(1)]


@frozen(kw_only=True)
class EntityGraph:
    """What an entity is connected to, in one to three steps."""

    root_id: EntityId
    depth: Annotated[int, Ge(1), Le(3), Doc("Steps from the root."), Example(1)]
    nodes: Annotated[tuple[EntityNode, ...], Doc("The nearest first, the root before all.")]
    edges: Annotated[tuple[Edge, ...], Doc("The strongest first.")]
    counts: GraphSize
    truncated: Annotated[bool, Doc("Whether there is more than there is room for.")]
    as_of: Annotated[datetime, Doc("`at`, else when the newest of these rows was written.")]


@frozen(kw_only=True)
class CyberNode:
    """Who or what takes part in attacks."""

    id: Annotated[str, Doc("Of its row."), Example("ent_65f1c0de8badf00d12345678")]
    type: Annotated[CyberType, Doc("What it is."), Example("actor")]
    label: Annotated[str, Doc("Its name."), Example("APT28")]
    designators: Annotated[tuple[Designator, ...], Doc("By which others know it.")]
    revoked: Annotated[bool, Doc("Whether its source revoked or deprecated it."), Example(False)]
    tlp: Annotated[str | None, Doc("How far it may be passed on; null where untold.")] = None


@frozen(kw_only=True)
class CyberGraph:
    """A page of the edges between who and what takes part in attacks, with their ends."""

    nodes: Annotated[tuple[CyberNode, ...], Doc("The ends of the edges of this page.")]
    edges: Annotated[tuple[Edge, ...], Doc("The edges of this page.")]
    counts: GraphSize
    truncated: Annotated[bool, Doc("Whether a graph around `rootId` was cut; pages are no cut.")]
