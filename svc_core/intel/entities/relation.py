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
from svc_core.operation.ports import Collection, Layout
from svc_core.operation.source_members import Designator
from svc_core.wire.constraints import Example, Ge, Le, Pattern

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
    observation_id: ObservationId | None = None
    """The row that tells it."""
    url: str | None = None
    """Where it is told."""


@frozen(kw_only=True)
class Tie:
    """What joins two things, and who says so."""

    id: Annotated[str, Example("rel_65f1c0de8badf00d12345678")]
    """Of the relation."""
    type: Annotated[RelationType, Example("uses")]
    """What it is."""
    directed: Annotated[bool, Example(True)]
    """False where its ends may be exchanged."""
    confidence: Annotated[Share, Example(0.5)]
    """Its provider's, else n/(n+1) for n sources."""
    confidence_basis: ConfidenceBasis
    """Said by the provider, or counted."""
    valid_from: Annotated[str | None, Example("2019-03")] = None
    """As precisely as it is told."""
    valid_to: Annotated[str | None, Example(None)] = None
    """Until when; null where untold."""
    attributes: Mapping[str, Any]
    """What else is told, such as `percentage`."""
    evidence: tuple[Evidence, ...]
    """Who tells of it, each source once or more."""


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
    layout=Layout(is_compressed=True),
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

    source_id: Annotated[str, Example("ent_65f1c0de8badf00d12345678")]
    """Where it leads from."""
    target_id: Annotated[str, Example("ent_65f1c0de8badf00d87654321")]
    """Where it leads to."""
    revoked: Maybe[bool] = UNSET
    """True where its source revoked it; else absent."""


@frozen
class GraphSize:
    """How much of a graph is shown."""

    nodes: Annotated[int, Ge(0), Example(2)]
    """Nodes in this answer."""
    edges: Annotated[int, Ge(0), Example(1)]
    """Edges in this answer."""


@frozen(kw_only=True)
class EntityNode:
    """An entity or an incident of a graph."""

    id: Annotated[str, Example("ent_65f1c0de8badf00d12345678")]
    """Of its row."""
    type: Annotated[str, Example("company")]
    """That of the entity, or `incident` or `place`."""
    label: Annotated[str, Example("MICROSOFT CORP")]
    """Its name or title."""
    country_code: CountryCode
    degree: Annotated[int, Ge(0), Example(1)]
    """Edges of this graph that it is an end of."""


@frozen(kw_only=True)
class EntityGraph:
    """What an entity is connected to, in one to three steps."""

    root_id: EntityId
    depth: Annotated[int, Ge(1), Le(3), Example(1)]
    """Steps from the root."""
    nodes: tuple[EntityNode, ...]
    """The nearest first, the root before all."""
    edges: tuple[Edge, ...]
    """The strongest first."""
    counts: GraphSize
    truncated: bool
    """Whether there is more than there is room for."""
    as_of: datetime
    """`at`, else when the newest of these rows was written."""


@frozen(kw_only=True)
class CyberNode:
    """Who or what takes part in attacks."""

    id: Annotated[str, Example("ent_65f1c0de8badf00d12345678")]
    """Of its row."""
    type: Annotated[CyberType, Example("actor")]
    """What it is."""
    label: Annotated[str, Example("APT28")]
    """Its name."""
    designators: tuple[Designator, ...]
    """By which others know it."""
    revoked: Annotated[bool, Example(False)]
    """Whether its source revoked or deprecated it."""
    tlp: str | None = None
    """How far it may be passed on; null where untold."""


@frozen(kw_only=True)
class CyberGraph:
    """A page of the edges between who and what takes part in attacks, with their ends."""

    nodes: tuple[CyberNode, ...]
    """The ends of the edges of this page."""
    edges: tuple[Edge, ...]
    """The edges of this page."""
    counts: GraphSize
    truncated: bool
    """Whether a graph around `rootId` was cut; pages are no cut."""
