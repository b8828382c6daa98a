"""The list of threat actors, with the techniques, software and campaigns of each."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from svc_core import wire
from svc_core.base.unset import or_default
from svc_core.contract.result import Page
from svc_core.intel.entities import directory, render
from svc_core.intel.entities.actor import ThreatActor
from svc_core.intel.entities.model import ENTITIES, WORDS, LinkName, ListActors
from svc_core.intel.entities.relation import RELATIONS
from svc_core.intel.folding.read_declarations import CYBER, reading
from svc_core.intel.linking.references import id_of
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation
from svc_core.operation.filters import list_selection
from svc_core.operation.ports import StoredRow
from svc_core.search.lists import Listing

Row = dict[str, Any]

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

_LIVE = {"surface": ("cyber:live",)}


async def _users_of(ctx: Context, techniques: Sequence[str]) -> tuple[str, ...]:
    """References to the actors that use these techniques or sub-techniques of them."""
    parts = await ctx.tx.documents.scan(
        ENTITIES, where={"parent": tuple(techniques)}, limit=directory.IDS_AT_ONCE
    )
    ids = [id_of(f"attack:{technique}") for technique in techniques]
    keys = await directory.keys_of_ids(ctx, [*ids, *(row.id for row in parts.rows)])
    relations = await ctx.tx.documents.scan(
        RELATIONS, where={"target": keys, "type": ("uses",), **_LIVE}, limit=USERS_MAX
    )
    return tuple(dict.fromkeys(json.loads(relation.raw)["source"] for relation in relations.rows))


LISTING = Listing(ENTITIES, WORDS, look_ups={"key": _users_of}, complete=render.whole)


async def list_actors(ctx: Context, request: ListActors) -> Page[ThreatActor]:
    """Threat actors from ATT&CK, STIX and MISP. The values of one filter are alternatives;
    different filters must all match. What its source revoked or deprecated is left out. The row
    that was written last comes first.
    """
    choice = list_selection(request)
    choice = choice._replace(where={**choice.where, "type": ("threatActor",)})
    page = await LISTING.page(ctx, request, choice)
    links = [name for name in get_args(LinkName) if name in or_default(request.include, ())]

    async def answer(own: Context, raws: Sequence[bytes]) -> Page[ThreatActor]:
        rows = [flat(json.loads(row)) for row in raws]
        await _add_links(own, rows, links)
        return Page(tuple(map(wire.to_bytes, rows)), page.next_cursor)

    return await render.page_with_candidates(ctx, page.rows, request.include, answer)


def flat(row: Row) -> Row:
    """An actor's row as it is listed, with the members of its facet on the top level."""
    facet: Row = row.pop("actor")
    return row | facet


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
    ),
)
"""One actor is read as the entity that it is."""
