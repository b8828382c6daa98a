"""Relations: what joins two entities, or an entity and an incident, and who says so.

The ends are *references* (`svc_core.directory`): the ids that the keys of their sources give.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.constraints import Doc, Example, Ge, Le, Pattern
from svc_core.ports import Collection
from svc_core.resources.facts import SourceRef
from svc_core.resources.members import CreatedAt, ObservationId, SourceId, UpdatedAt
from svc_core.unset import UNSET, Maybe

TYPE_FORM = "[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
RelationType = Annotated[str, Pattern(TYPE_FORM, "a type such as `owns` or `attributed-to`")]
Surface = Literal["cyber", "economy"]
ConfidenceBasis = Literal["provider", "sources"]

ValidFrom = Annotated[
    str | None,
    Doc("Since when, as precisely as it is told; null where untold."),
    Example("2019-03"),
]
ValidTo = Annotated[str | None, Doc("Until when; null where untold."), Example(None)]


@frozen
class Evidence:
    """Who tells of a relation, and where."""

    source_id: SourceId
    observation_id: Annotated[ObservationId | None, Doc("The row that tells it.")] = None
    url: Annotated[
        str | None, Doc("Where it is told."), Example("https://attack.example/groups/G0007")
    ] = None


@frozen(kw_only=True)
class Relation:
    """What joins two rows, as it is stored; graphs show it between the entities that are meant."""

    id: str
    type: RelationType
    source: str
    target: str
    directed: bool
    confidence: Annotated[float, Ge(0), Le(1)]
    confidence_basis: ConfidenceBasis
    valid_from: ValidFrom = None
    valid_to: ValidTo = None
    attributes: Mapping[str, Any]
    evidence: tuple[Evidence, ...]
    revoked: bool = False
    surface: Surface
    sources: tuple[SourceRef, ...]
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: int


RELATIONS: Collection[Relation] = Collection(
    name="relations",
    model=Relation,
    prefix="rel",
    # A row keeps its place whoever tells of it again, so that a walk meets each one once.
    order=lambda _: 0,
    scope="global",
    keys={
        "source": lambda one: one.source,
        "target": lambda one: one.target,
        "type": lambda one: one.type,
        "surface": lambda one: f"{one.surface}:{'revoked' if one.revoked else 'live'}",
    },
)
"""Ordered by id. Not in the change feed, as no route serves a relation alone: graphs do."""


# -- as graphs show them -----------------------------------------------------------------------


@frozen(kw_only=True)
class Edge:
    """What joins two nodes of a graph, and who says so."""

    id: Annotated[str, Doc("Of the relation."), Example("rel_65f1c0de8badf00d12345678")]
    type: Annotated[RelationType, Doc("What it is."), Example("uses")]
    source_id: Annotated[
        str, Doc("The node that it leads from."), Example("ent_65f1c0de8badf00d12345678")
    ]
    target_id: Annotated[
        str, Doc("The node that it leads to."), Example("ent_65f1c0de8badf00d87654321")
    ]
    directed: Annotated[bool, Doc("False where its ends may be exchanged."), Example(True)]
    confidence: Annotated[
        Annotated[float, Ge(0), Le(1)],
        Doc("By its provider's own word; where that says nothing n/(n+1) for n sources."),
        Example(0.5),
    ]
    confidence_basis: Annotated[
        ConfidenceBasis, Doc("Whether the provider says it, or sources were counted.")
    ]
    valid_from: ValidFrom = None
    valid_to: ValidTo = None
    attributes: Annotated[
        Mapping[str, Any], Doc("What else is told, such as `percentage`."), Example({})
    ]
    evidence: Annotated[tuple[Evidence, ...], Doc("Who tells of it, each source once or more.")]
    revoked: Annotated[
        Maybe[bool], Doc("True where its source revoked it; shown with `includeRevoked`.")
    ] = UNSET
