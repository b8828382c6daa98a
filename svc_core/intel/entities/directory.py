"""Whom an id means: an entity answers to the ids of all its designators.

Rows name entities by the id of the key that their source gives (`cik:0000320193`), whether or not
somebody told of that entity yet. Who that is, is looked up when it is asked, so rows need not be
written again when entities are joined or come apart, and no order of reading matters.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from svc_core import wire
from svc_core.intel.entities.model import ENTITIES, EntityRef
from svc_core.intel.entities.vulnerability import CVES
from svc_core.intel.linking import guard
from svc_core.intel.linking.references import is_id
from svc_core.operation.context import Context
from svc_core.operation.ports import Collection, Document

IDS_AT_ONCE = 500
ALIKE_READ = 50
"""Entities of one name that are read: one that so many have means none of them."""

HOLDERS: tuple[Collection[Any], ...] = (ENTITIES, CVES)
"""The collections of rows whose ids begin with `ent_`."""


class _Held(NamedTuple):
    document: Document[Any]
    facts: Mapping[str, Any]


async def found(ctx: Context, asked: Iterable[str]) -> dict[str, Document[Any]]:
    """The rows that answer to these ids, by the ids that were asked for; unknown ones lack."""
    left = list(dict.fromkeys(asked))
    rows: dict[str, Document[Any]] = {}
    for holder in HOLDERS:
        if left:
            rows |= await ctx.tx.documents.get_many(holder, left)
            left = [one for one in left if one not in rows]
    for at in range(0, len(left), IDS_AT_ONCE):
        some = set(left[at : at + IDS_AT_ONCE])
        for holder in HOLDERS:
            page = await ctx.tx.documents.scan(
                holder, where={"key": tuple(sorted(some))}, limit=IDS_AT_ONCE
            )
            for row in page.rows:
                rows |= dict.fromkeys(some.intersection(_keys(row)), row)
    return rows


async def one(ctx: Context, asked: str) -> Document[Any]:
    """The row that answers to an id.

    Raises:
        Problem: NOT_FOUND.
    """
    row = (await found(ctx, [asked])).get(asked)
    return await ctx.load(ENTITIES, asked) if row is None else row


async def keys(ctx: Context, asked: Iterable[str]) -> tuple[str, ...]:
    """All ids by which rows may name what these ids mean, for a filter; unknown ones stay."""
    every = dict.fromkeys(asked)
    for row in (await found(ctx, every)).values():
        every |= dict.fromkeys(_keys(row))
    return tuple(every)


async def named(ctx: Context, asked: Iterable[str]) -> dict[str, Document[Any]]:
    """The rows that these references mean; those that mean none, or may mean several, lack."""
    every = list(dict.fromkeys(asked))
    rows = await found(ctx, filter(is_id, every))
    rest = [one for one in every if not is_id(one)]
    for at in range(0, len(rest), IDS_AT_ONCE):
        some = rest[at : at + IDS_AT_ONCE]
        held = await _holding(ctx, some)
        for one in some:
            told = [row for row in held.values() if guard.has(one, row.facts)]
            if len(told) == 1 and guard.suffices(one, told[0].facts):
                rows[one] = told[0].document
    return rows


async def references(ctx: Context, asked: Iterable[str]) -> tuple[str, ...]:
    """All references by which rows may mean these entities, for a filter; unknown ids stay."""
    every = dict.fromkeys(asked)
    rows = {row.id: row for row in (await found(ctx, every)).values()}
    for row in rows.values():
        every |= dict.fromkeys(_keys(row))
    told = [one for row in rows.values() for one in guard.references(json.loads(row.raw))]
    meant = await named(ctx, told)
    return (*every, *(one for one, row in meant.items() if row.id in rows))


async def telling(
    ctx: Context,
    rows: Sequence[bytes],
    mentions: Sequence[Mapping[str, str]],
    blank: bytes = b"null",
) -> list[bytes]:
    """Rows with the entities that each mentions, by reference and name, as far as they are known.

    Their member `entities` is stored `blank`, and nothing else of a row can look like that.
    """
    meant = await named(ctx, chain.from_iterable(mentions))
    return [
        row.replace(b'"entities":%b' % blank, b'"entities":%b' % wire.dumps(_refs(held, meant)), 1)
        for row, held in zip(rows, mentions, strict=True)
    ]


async def taking_part(ctx: Context, rows: Sequence[dict[str, Any]], reference: str) -> None:
    """Have rows name the entities that their references mean, each once in each role.

    `reference` is the member in which the entities of rows have it; unknown ones are left out. A
    `subject` has its own name: a filing names its company by a number alone.
    """
    meant = await named(ctx, (one[reference] for row in rows for one in row["entities"]))
    for row in rows:
        told: dict[tuple[str, str], dict[str, str]] = {}
        for one in row["entities"]:
            if one[reference] in meant:
                who, role = meant[one[reference]], one["role"]
                name = json.loads(who.raw)["name"] if role == "subject" else one["name"]
                told.setdefault((who.id, role), {"entityId": who.id, "name": name, "role": role})
        row["entities"] = list(told.values())


def _refs(mentions: Mapping[str, str], meant: Mapping[str, Document[Any]]) -> tuple[EntityRef, ...]:
    """Each entity once, under the first name that it has there."""
    names: dict[str, str] = {}
    for reference, name in mentions.items():
        if reference in meant:
            names.setdefault(meant[reference].id, name)
    return tuple(EntityRef(id_, name, "mentioned") for id_, name in names.items())


async def _holding(ctx: Context, asked: Iterable[str]) -> Mapping[str, _Held]:
    """The entities that have the names and symbols of references."""
    sought = guard.lookups(asked).items()
    rows = [row for facet, values in sought for row in await _having(ctx, facet, values)]
    return {row.id: _Held(row, json.loads(row.raw)) for row in rows}


async def _having(ctx: Context, facet: str, values: Sequence[str]) -> Sequence[Document[Any]]:
    """The entities that have one of these values; of a name that a thousand have, some."""
    limit = IDS_AT_ONCE if len(values) > 1 else ALIKE_READ
    page = await ctx.tx.documents.scan(ENTITIES, where={facet: tuple(values)}, limit=limit)
    if page.more and len(values) > 1:
        half = len(values) // 2
        some = await _having(ctx, facet, values[:half])
        return [*some, *await _having(ctx, facet, values[half:])]
    return page.rows


def _keys(row: Document[Any]) -> list[str]:
    return [row.id, *json.loads(row.raw)["mergedIds"]]
