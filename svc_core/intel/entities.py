"""Entities: lists, and one with what it is connected to."""

from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core import directory, problem
from svc_core.constraints import Doc, Example, Pattern
from svc_core.intel import graphs, stix
from svc_core.intel.declared import EXPLORER, reading
from svc_core.operation import JSON, PATH, QUERY, STIX, Context, Operation
from svc_core.problem import Problem
from svc_core.resources.entity import ENTITIES, Entity, EntityType
from svc_core.resources.filters import Countries, Several, narrowed, sent
from svc_core.resources.members import Cursor, EntityId, Limit
from svc_core.resources.period import UpdatedSince, after
from svc_core.result import Content, One, Page
from svc_core.unset import UNSET, Maybe, Unset


@frozen
class ListEntities:
    """Entities of every kind."""

    type: Annotated[
        Several[EntityType], Doc("Comma list of types."), Example(["company", "threatActor"])
    ] = UNSET
    designator: Annotated[
        Several[Annotated[str, Pattern("[a-z0-9-]{2,20}:.{1,200}", "`scheme:value`")]],
        Doc("Comma list of designators, exactly as others write them."),
        Example(["cik:0000789019"]),
    ] = UNSET
    country: Countries = UNSET
    topic: Annotated[Several[str], Doc("Comma list of what others file it under.")] = UNSET
    sanctioned: Annotated[
        Maybe[bool], QUERY, Doc("Whether a sanctions list has it now."), Example(True)
    ] = UNSET
    updated_since: UpdatedSince = UNSET
    sort: Annotated[Literal["updatedAt"], QUERY, Doc("The row written last comes first.")] = (
        "updatedAt"
    )
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class GetEntity:
    """One entity."""

    entity_id: Annotated[EntityId, PATH]


async def list_entities(ctx: Context, request: ListEntities) -> Page[Entity]:
    """A page of entities."""
    where = sent(request, "type", "designator", "country", "topic")
    if not isinstance(request.sanctioned, Unset):
        where["sanctioned"] = ("yes" if request.sanctioned else "no",)
    return await ctx.page(
        ENTITIES,
        where=where,
        after=request.cursor,
        limit=request.limit,
        ranges=narrowed(),
        start=(after(request.updated_since) or (None,))[0],
    )


async def get_entity(ctx: Context, request: GetEntity) -> One[Entity] | Content:
    """One entity; an id of one that it took up names it too.

    Raises:
        Problem: NOT_FOUND.
    """
    document = (await directory.found(ctx, [request.entity_id])).get(request.entity_id)
    if document is None:
        raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")
    if ctx.format == STIX.format:
        return await graphs.as_stix(ctx, document.id)
    return One(document.raw, document.tag)


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "listEntities",
        "entities list",
        "/entities",
        list_entities,
        scopes=EXPLORER,
        columns=("id", "name", "type", "countryCodes", "status"),
        summary="List entities",
        description=(
            "Companies, people, states, vessels, threat actors, malware and what else takes part "
            "in events. The values of one filter are alternatives; different filters must all "
            "match. The row that was written last comes first."
        ),
    ),
    reading(
        "getEntity",
        "entities show",
        "/entities/{entityId}",
        get_entity,
        scopes=EXPLORER,
        summary="Read an entity",
        description=(
            "One entity. An id of an entity that turned out to be another one answers with that "
            "other, under its own `id`; `mergedIds` lists them. With `format=stix` it is a STIX "
            "2.1 bundle with what it is directly connected to, as its graph has it."
        ),
        media=(JSON, STIX),
        examples={STIX.media_type: stix.EXAMPLE},
    ),
)
