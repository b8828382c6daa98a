"""The list of threat actors, with the techniques, software and campaigns of each."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core import wire
from svc_core.base.unset import UNSET, Unset, or_default
from svc_core.contract.result import Page
from svc_core.intel.entities import directory, render
from svc_core.intel.entities.actor import ThreatActor
from svc_core.intel.entities.model import ENTITIES, WORDS, Entity
from svc_core.intel.entities.relation import RELATIONS
from svc_core.intel.folding.read_declarations import CYBER, reading
from svc_core.intel.linking.references import id_of
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation
from svc_core.operation.filters import (
    ALTERNATIVES,
    Countries,
    FilterValues,
    IncludeRevoked,
    LatestFirst,
    Name,
    sent_filters,
)
from svc_core.operation.members import Cursor, Limit
from svc_core.operation.period import UpdatedSince, range_after
from svc_core.operation.ports import StoredRow
from svc_core.search import lists
from svc_core.wire.constraints import Doc, Example, Pattern

Row = dict[str, Any]
LinkName = Literal["techniques", "software", "campaigns"]
Include = Literal["techniques", "software", "campaigns", "match"]

LINKS_MAX = 500
"""The most relations that are read for one actor: ATT&CK's best known have some two hundred."""

USERS_MAX = 2_000
"""The most relations to techniques that are read for a filter."""

_TYPES: Mapping[str, tuple[str, ...]] = {
    "techniques": ("attackPattern",),
    "software": ("malware", "tool"),
    "campaigns": ("campaign",),
}
_ENDS: tuple[tuple[set[LinkName], str, str, str], ...] = (
    ({"techniques", "software"}, "uses", "source", "target"),
    ({"campaigns"}, "attributed-to", "target", "source"),
)
"""The relation types that link an actor to each of these, with the actor's end and the other."""

_ACTORS = {"type": ("threatActor",)}
_LIVE = {"surface": ("cyber:live",)}


@frozen
class ListActors:
    """Threat actors."""

    country: Annotated[Countries, Doc("Comma list of countries they are attributed to.")] = UNSET
    targets_country: Annotated[Countries, Doc("Comma list of countries they target.")] = UNSET
    targets_sector: Annotated[FilterValues[Name], Doc("Comma list of sectors, in any case.")] = (
        UNSET
    )
    technique: Annotated[
        FilterValues[
            Annotated[str, Pattern("[Tt][0-9]{4}(?:[.][0-9]{3})?", "a technique of ATT&CK")]
        ],
        Doc("Comma list of techniques of ATT&CK that they use."),
        Example(["T1566"]),
    ] = UNSET
    include_revoked: IncludeRevoked = False
    updated_since: UpdatedSince = UNSET
    include: Annotated[FilterValues[Include], Doc("Theirs, and with `q` why each was found.")] = (
        UNSET
    )
    q: lists.Q = UNSET
    sort: LatestFirst = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


async def list_actors(ctx: Context, request: ListActors) -> Page[ThreatActor]:
    """A page of threat actors."""
    clause = sent_filters(request, "targets_country", "targets_sector")
    extra = sent_filters(request, "country", "technique")
    keys = {"key": extra["technique"]} if "technique" in extra else {}
    if keys:
        clause["key"] = await _users_of(ctx, keys["key"])
    if "country" in extra:
        clause["attributed"] = extra["country"]
    query = lists.RowQuery[Entity](
        where={**clause, **_ACTORS, **({} if request.include_revoked else {"revoked": ("no",)})},
        is_sorted=not isinstance(request.sort, Unset),
        binding=keys,
        bounds={"start": (range_after(request.updated_since) or (None,))[0]},
    )
    page = await lists.list_page(ctx, ENTITIES, WORDS, request, query)
    rows = [flat(json.loads(row)) for row in await render.whole(ctx, page.rows)]
    links = [name for name in or_default(request.include, ()) if name != "match"]
    await _add_links(ctx, rows, links)
    return Page(tuple(map(wire.to_bytes, rows)), page.next_cursor)


def flat(row: Row) -> Row:
    """An actor's row as it is listed, with the members of its facet on the top level."""
    facet: Row = row.pop("actor")
    return row | facet


async def _users_of(ctx: Context, techniques: Sequence[str]) -> tuple[str, ...]:
    """References to the actors that use these techniques."""
    keys = await directory.keys_of_ids(
        ctx, [id_of(f"attack:{technique}") for technique in techniques]
    )
    relations = await ctx.tx.documents.scan(
        RELATIONS, where={"target": keys, "type": ("uses",), **_LIVE}, limit=USERS_MAX
    )
    return tuple(dict.fromkeys(json.loads(relation.raw)["source"] for relation in relations.rows))


async def _add_links(ctx: Context, rows: Sequence[Row], include: Sequence[LinkName]) -> None:
    """Add to actors' rows the techniques and software they use, and their campaigns."""
    ends = {row["id"]: await _ends_of(ctx, row, include) for row in rows} if include else {}
    documents = await directory.rows_by_reference(
        ctx, (ref for refs in ends.values() for ref in refs)
    )
    entities = {ref: _entity_of(document) for ref, document in documents.items()}
    for row in rows:
        links = {item["id"]: item for ref in ends.get(row["id"], ()) if (item := entities.get(ref))}
        for name in include:
            row[name] = [
                {"attackId": entity["attackId"], "name": entity["name"], "entityId": entity["id"]}
                for entity in links.values()
                if entity["type"] in _TYPES[name] and not entity["revoked"]
            ]


async def _ends_of(ctx: Context, row: Row, include: Sequence[LinkName]) -> list[str]:
    keys, refs = (row["id"], *row["mergedIds"]), list[str]()
    for names, type_, own_end, other_end in _ENDS:
        if names & set(include):
            clause = {own_end: keys, "type": (type_,), **_LIVE}
            relations = await ctx.tx.documents.scan(RELATIONS, where=clause, limit=LINKS_MAX)
            refs += [json.loads(relation.raw)[other_end] for relation in relations.rows]
    return refs


def _entity_of(document: StoredRow[Any]) -> Row:
    row: Row = json.loads(document.raw)
    attack = (item["value"] for item in row["designators"] if item["scheme"] == "attack")
    return {**row, "attackId": next(attack, None)}


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "actors list",
        "/cyber/actors",
        list_actors,
        scopes=CYBER,
        columns=("attackId", "name", "country.code", "motivations", "targetCountries"),
        summary="List threat actors",
        description=(
            f"Threat actors from ATT&CK, STIX and MISP. {ALTERNATIVES} What its source revoked or "
            "deprecated is left out. The row that was written last comes first."
        ),
    ),
)
"""One actor is read as the entity that it is."""
