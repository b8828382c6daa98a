"""Completes entity rows on reading: whether sanctions lists were read, and what replaced an entity.

Rows are stored as wire bytes; what is looked up is spliced into them.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from attrs import frozen

from svc_core import wire
from svc_core.base.unset import UNSET, Maybe, or_default
from svc_core.contract.result import Page
from svc_core.intel.entities import directory, exploitation
from svc_core.intel.entities.candidates import Candidate, candidates_of
from svc_core.intel.entities.model import ENTITIES, Entity
from svc_core.intel.entities.vulnerability import CveFacet
from svc_core.operation.context import Context
from svc_core.operation.units import WorkContext

CANDIDATES_AT_ONCE: Final = 20
"""Rows whose candidates one unit of work looks for: 0.1 seconds."""

R = TypeVar("R")

# Within a text of JSON the quotation marks would be escaped.
_OF_CVE = b'"cveId":'
_UNKNOWN_SANCTIONS, _NO_SANCTIONS = b'"sanctions":null', b'"sanctions":[]'
_REPLACEMENT = b'"replacedById":"'


@frozen(kw_only=True, slots=False)
class EntityRow(Entity):
    """One entity with all its facets."""

    cve: Maybe[CveFacet] = UNSET
    """Of vulnerabilities with a CVE id alone."""
    candidates: Maybe[tuple[Candidate, ...]] = UNSET
    """With `include=candidates` alone: who else it may be, the likest first."""


async def whole(ctx: Context, rows: Sequence[bytes]) -> list[bytes]:
    """Rows of entities and of CVEs with everything that is looked up on reading."""
    cves = iter(await exploitation.full_cve_rows(ctx, [row for row in rows if _OF_CVE in row]))
    docs = [
        wire.to_bytes(exploitation.nested_row(next(cves))) if _OF_CVE in row else row
        for row in rows
    ]
    return await with_sanctions(ctx, [await _with_replacement(ctx, row) for row in docs])


async def with_candidates(
    ctx: Context, rows: Sequence[bytes], include: Maybe[Sequence[str]]
) -> list[bytes]:
    """Rows of entities, each with who else it may be where `candidates` are asked for."""
    if "candidates" not in or_default(include, ()):
        return list(rows)
    lookalikes = [wire.to_bytes(await candidates_of(ctx, row)) for row in rows]
    pairs = zip(rows, lookalikes, strict=True)
    return [b'%b,"candidates":%b}' % (row[:-1], candidates) for row, candidates in pairs]


async def page_with_candidates(
    ctx: Context,
    rows: Sequence[bytes],
    include: Maybe[Sequence[str]],
    answer: Callable[[Context, Sequence[bytes]], Awaitable[Page[R]]],
) -> Page[R]:
    """A page made of rows of entities, each with its candidates: of many rows in several units."""
    if "candidates" not in or_default(include, ()) or len(rows) <= CANDIDATES_AT_ONCE:
        return await answer(ctx, await with_candidates(ctx, rows, include))

    async def rest(work: WorkContext) -> Page[R]:
        units, tenant, bodies = work.work, work.actor.tenant, list[bytes]()
        for first in range(0, len(rows), CANDIDATES_AT_ONCE):
            part = rows[first : first + CANDIDATES_AT_ONCE]
            bodies += await units.read(tenant, partial(with_candidates, rows=part, include=include))
        return await units.read(tenant, lambda own: answer(own, bodies))

    return ctx.later(rest)


async def with_sanctions(ctx: Context, rows: Sequence[bytes]) -> list[bytes]:
    """Rows whose `sanctions` are an empty list, not null, once any sanctions list was read."""
    if not (any(_UNKNOWN_SANCTIONS in row for row in rows) and await has_lists(ctx)):
        return list(rows)
    return [row.replace(_UNKNOWN_SANCTIONS, _NO_SANCTIONS, 1) for row in rows]


async def has_lists(ctx: Context) -> bool:
    """Whether a sanctions list was ever read: some entity is or was on one."""
    for status in ("yes", "delisted"):
        if await ctx.tx.documents.count(ENTITIES, where={"sanctioned": (status,)}, limit=1):
            return True
    return False


async def _with_replacement(ctx: Context, row: bytes) -> bytes:
    """The row with the present id of the entity that replaced it; null where that is unknown."""
    if _REPLACEMENT not in row:
        return row
    entity: dict[str, Any] = json.loads(row)
    facet = entity["actor"]
    rows = await directory.rows_by_id(ctx, [facet["replacedById"]])
    facet["replacedById"] = next((document.id for document in rows.values()), None)
    return wire.to_bytes(entity)
