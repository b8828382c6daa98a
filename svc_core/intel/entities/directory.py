"""The entity directory: finds the entity that an id, name or ticker means.

Rows name entities by the id derived from the key that their source gives (`cik:0000320193`), even
before any source described that entity. An entity answers to the ids of all its designators, and
the look-up happens on reading, so rows need not change when entities are merged or split, and the
order of reading makes no difference.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from svc_core import wire
from svc_core.intel.entities.model import ENTITIES, EntityRef
from svc_core.intel.entities.vulnerability import CVES
from svc_core.intel.linking import plausibility as guard
from svc_core.intel.linking.references import is_entity_id
from svc_core.operation.context import Context
from svc_core.operation.ports import Collection, StoredRow

IDS_AT_ONCE = 500
ALIKE_READ = 50
"""The most entities of one name that are read: a name that so many bear means none of them."""

HOLDERS: tuple[Collection[Any], ...] = (ENTITIES, CVES)
"""The collections of rows whose ids begin with `ent_`."""


class _Holder(NamedTuple):
    document: StoredRow[Any]
    facts: Mapping[str, Any]


async def rows_by_id(ctx: Context, ids: Iterable[str]) -> dict[str, StoredRow[Any]]:
    """The rows that answer to these ids, by the ids as given; unknown ids are left out."""
    missing = list(dict.fromkeys(ids))
    rows: dict[str, StoredRow[Any]] = {}
    for holder in HOLDERS:
        if missing:
            rows |= await ctx.tx.documents.get_many(holder, missing)
            missing = [id_ for id_ in missing if id_ not in rows]
    for start in range(0, len(missing), IDS_AT_ONCE):
        batch = set(missing[start : start + IDS_AT_ONCE])
        for holder in HOLDERS:
            page = await ctx.tx.documents.scan(
                holder, where={"key": tuple(sorted(batch))}, limit=IDS_AT_ONCE
            )
            for row in page.rows:
                rows |= dict.fromkeys(batch.intersection(_keys(row)), row)
    return rows


async def answering_row(ctx: Context, id_: str) -> StoredRow[Any]:
    """The row that answers to an id.

    Raises:
        Problem: NOT_FOUND.
    """
    row = (await rows_by_id(ctx, [id_])).get(id_)
    return await ctx.load(ENTITIES, id_) if row is None else row


async def keys_of_ids(ctx: Context, ids: Iterable[str]) -> tuple[str, ...]:
    """All ids of the entities that these ids mean, for a filter; unknown ids stay in the list."""
    keys = dict.fromkeys(ids)
    for row in (await rows_by_id(ctx, keys)).values():
        keys |= dict.fromkeys(_keys(row))
    return tuple(keys)


async def rows_by_reference(ctx: Context, refs: Iterable[str]) -> dict[str, StoredRow[Any]]:
    """The rows that these references mean; those that mean nobody or several are left out."""
    all_refs = list(dict.fromkeys(refs))
    rows = await rows_by_id(ctx, filter(is_entity_id, all_refs))
    rest = [ref for ref in all_refs if not is_entity_id(ref)]
    for start in range(0, len(rest), IDS_AT_ONCE):
        batch = rest[start : start + IDS_AT_ONCE]
        holders = await _holders(ctx, batch)
        for ref in batch:
            matches = [row for row in holders.values() if guard.bears_name(ref, row.facts)]
            if len(matches) == 1 and guard.is_sufficient(ref, matches[0].facts):
                rows[ref] = matches[0].document
    return rows


async def entity_references(ctx: Context, ids: Iterable[str]) -> tuple[str, ...]:
    """All ids and names by which rows may mean these entities, for a filter; unknown ids stay."""
    refs = dict.fromkeys(ids)
    rows = {row.id: row for row in (await rows_by_id(ctx, refs)).values()}
    for row in rows.values():
        refs |= dict.fromkeys(_keys(row))
    candidates = [
        ref for row in rows.values() for ref in guard.name_references(json.loads(row.raw))
    ]
    entities = await rows_by_reference(ctx, candidates)
    return (*refs, *(ref for ref, row in entities.items() if row.id in rows))


async def with_mentions(
    ctx: Context,
    rows: Sequence[bytes],
    mentions: Sequence[Mapping[str, str]],
    blank: bytes = b"null",
) -> list[bytes]:
    """Rows with the known entities that each mentions; mentions are names by reference.

    Their member `entities` is stored `blank`, and nothing else of a row can look like that.
    """
    docs = await rows_by_reference(ctx, chain.from_iterable(mentions))
    return [
        row.replace(
            b'"entities":%b' % blank, b'"entities":%b' % wire.to_bytes(_refs(refs, docs)), 1
        )
        for row, refs in zip(rows, mentions, strict=True)
    ]


async def name_participants(ctx: Context, rows: Sequence[dict[str, Any]], reference: str) -> None:
    """Replace the references in rows by the entities that they mean, each once in each role.

    `reference` is the member in which the entities of rows have it; unknown ones are left out. A
    `subject` has its own name: a filing names its company by a number alone.
    """
    docs = await rows_by_reference(
        ctx, (party[reference] for row in rows for party in row["entities"])
    )
    for row in rows:
        parties: dict[tuple[str, str], dict[str, str]] = {}
        for party in row["entities"]:
            if party[reference] in docs:
                doc, role = docs[party[reference]], party["role"]
                name = json.loads(doc.raw)["name"] if role == "subject" else party["name"]
                parties.setdefault((doc.id, role), {"entityId": doc.id, "name": name, "role": role})
        row["entities"] = list(parties.values())


def _refs(mentions: Mapping[str, str], docs: Mapping[str, StoredRow[Any]]) -> tuple[EntityRef, ...]:
    """Each entity once, under the first name that it has there."""
    names: dict[str, str] = {}
    for reference, name in mentions.items():
        if reference in docs:
            names.setdefault(docs[reference].id, name)
    return tuple(EntityRef(id_, name, "mentioned") for id_, name in names.items())


async def _holders(ctx: Context, refs: Iterable[str]) -> Mapping[str, _Holder]:
    """The entities that bear the names and tickers of these references, by id."""
    facets = guard.lookups(refs).items()
    rows = [row for facet, values in facets for row in await _rows_with(ctx, facet, values)]
    return {row.id: _Holder(row, json.loads(row.raw)) for row in rows}


async def _rows_with(ctx: Context, facet: str, values: Sequence[str]) -> Sequence[StoredRow[Any]]:
    """The entities that have one of these values in a facet; of very many only some."""
    limit = IDS_AT_ONCE if len(values) > 1 else ALIKE_READ
    page = await ctx.tx.documents.scan(ENTITIES, where={facet: tuple(values)}, limit=limit)
    if page.has_more and len(values) > 1:
        half = len(values) // 2
        first_half = await _rows_with(ctx, facet, values[:half])
        return [*first_half, *await _rows_with(ctx, facet, values[half:])]
    return page.rows


def _keys(row: StoredRow[Any]) -> list[str]:
    return [row.id, *json.loads(row.raw)["mergedIds"]]
