"""Whom an id means: an entity answers to the ids of all its designators.

Rows name entities by the id of the key that their source gives (`cik:0000320193`), whether or not
somebody told of that entity yet. Who that is, is looked up when it is asked, so rows need not be
written again when entities are joined or come apart, and no order of reading matters.
"""

import json
from collections.abc import Iterable
from typing import Any

from svc_core import ids
from svc_core.operation import Context
from svc_core.ports import Collection, Document
from svc_core.resources.cve import CVES
from svc_core.resources.entity import ENTITIES
from svc_core.sources.vulnerabilities import CVE_ID

IDS_AT_ONCE = 500

HOLDERS: tuple[Collection[Any], ...] = (ENTITIES, CVES)
"""The collections of rows whose ids begin with `ent_`."""


def id_of(key: str) -> str:
    """The id that the key of an entity gives: `scheme:value`, or the id of a CVE."""
    resource = "cve" if CVE_ID.fullmatch(key) else "entity"
    return ids.derived_id("ent", resource, "", key)


async def found(ctx: Context, asked: Iterable[str]) -> dict[str, Document[Any]]:
    """The rows that answer to these ids, by the ids that were asked for; unknown ones lack."""
    left = list(dict.fromkeys(asked))
    rows: dict[str, Document[Any]] = {}
    for holder in HOLDERS:
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


async def keys(ctx: Context, asked: Iterable[str]) -> tuple[str, ...]:
    """All ids by which rows may name what these ids mean, for a filter; unknown ones stay."""
    every = dict.fromkeys(asked)
    for row in (await found(ctx, every)).values():
        every |= dict.fromkeys(_keys(row))
    return tuple(every)


def _keys(row: Document[Any]) -> list[str]:
    return [row.id, *json.loads(row.raw)["mergedIds"]]
