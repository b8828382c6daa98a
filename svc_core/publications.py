"""Public profiles: their reports are read by every payer, and by every key with the scope.

Rule 1: the operator alone makes a profile public; the profile says so, and the directory, which
        everybody's reading goes through, names it with its tenant.
Rule 2: the profile decides, on the snapshot of the reading: a stale line of the directory shows
        nothing, and what is made private or deleted is hidden with that commit.
Rule 3: what is read beside is reports and what belongs to them. All else stays its owner's.
"""

from collections.abc import AsyncIterator
from heapq import merge
from typing import Annotated, Any, Final

import attrs
from attrs import frozen

from svc_core import problem, wire
from svc_core.constraints import Arg
from svc_core.operation import Context, Operation, local
from svc_core.personal import changed
from svc_core.ports import SYSTEM, Document, Position
from svc_core.problem import Problem
from svc_core.recordings import load_report
from svc_core.resources.members import ProfileId
from svc_core.resources.profile import PROFILES, PUBLICATIONS, Profile, Publication, Visibility
from svc_core.resources.report import REPORTS, ReportRow
from svc_core.result import One, Page
from svc_core.unset import Maybe, Unset

PUBLIC_MAX: Final = 100
"""Public profiles: each of their tenants is asked for every report that is not the caller's."""


# -- reading -----------------------------------------------------------------------------------


async def find_report(ctx: Context, report_id: str) -> tuple[Context, Document[ReportRow]]:
    """A report that the caller may read, and the context in which its parts are read.

    Raises:
        Problem: NOT_FOUND, the same for a private report of others and for none.
    """
    try:
        return ctx, await load_report(ctx, report_id)
    except Problem as missing:
        async for place, ids in _places(ctx):
            found = await place.tx.documents.get(REPORTS, report_id)
            if found is not None and REPORTS.decode(found.raw).profile_id in ids:
                return place, found
        raise missing from None


async def is_own(ctx: Context, profile_id: Maybe[str]) -> bool:
    """Whether a list of reports is of the caller's: who has no workspace has none."""
    if isinstance(profile_id, Unset):
        return ctx.actor.tenant != SYSTEM
    return await ctx.find(PROFILES, profile_id) is not None


async def page(
    ctx: Context, profile_id: Maybe[str], *, after: Maybe[str], limit: int
) -> Page[ReportRow]:
    """One page of the reports of public profiles, or of one of them.

    Raises:
        Problem: INVALID_CURSOR when the cursor is not one of this list.
    """
    wanted = () if isinstance(profile_id, Unset) else (profile_id,)
    binding = ctx.list_binding({"profile_id": wanted, "visibility": ("public",)})
    start = ctx.open_cursor(after, binding)
    runs, more = [], False
    async for place, ids in _places(ctx):
        shown = tuple(id_ for id_ in ids if not wanted or id_ in wanted)
        found = await place.tx.documents.scan(
            REPORTS, where={"profile_id": shown}, after=start, limit=limit
        )
        runs.append(found.rows)
        more |= found.more
    rows = list(merge(*runs, key=lambda row: (row.order, row.id), reverse=True))
    kept = rows[:limit]
    last = Position(kept[-1].order, kept[-1].id) if more or len(rows) > limit else None
    return Page(tuple(row.raw for row in kept), ctx.seal_cursor(last, binding))


async def _places(ctx: Context) -> AsyncIterator[tuple[Context, frozenset[str]]]:
    """Each tenant with public profiles: the context of its rows, and which profiles these are."""
    listed = [PUBLICATIONS.decode(row.raw) async for row in ctx.every(PUBLICATIONS)]
    for tenant in dict.fromkeys(one.tenant for one in listed):
        place = attrs.evolve(ctx, tx=ctx.tx.beside(tenant))
        named = (one.profile_id for one in listed if one.tenant == tenant)
        profiles = await place.find_many(PROFILES, named)
        ids = frozenset(id_ for id_, one in profiles.items() if one.visibility == "public")
        if ids:
            yield place, ids


# -- publishing --------------------------------------------------------------------------------


@frozen
class ChosenProfile:
    """The profile."""

    profile_id: Annotated[ProfileId, Arg(positional=True)]


async def publish_profile(ctx: Context, request: ChosenProfile) -> One[Profile]:
    """Let everybody read the reports of a profile.

    Raises:
        Problem: NOT_FOUND, or RESOURCE_CONFLICT where there are as many as there can be.
    """
    id_, tenant = request.profile_id, ctx.actor.tenant
    public = await ctx.work.read(SYSTEM, _public)

    async def enter(unit: Context) -> None:
        listed = [row.id async for row in unit.every(PUBLICATIONS)]
        for gone in set(listed) - public - {id_}:
            await unit.tx.documents.delete(PUBLICATIONS, gone)
        await unit.save(PUBLICATIONS, id_, Publication(id_, tenant, unit.now))

    if len(public - {id_}) >= PUBLIC_MAX:
        detail = f"There are {PUBLIC_MAX} public profiles; unpublish one first."
        raise Problem(problem.RESOURCE_CONFLICT, detail)
    written = await _write(ctx, id_, "public")
    await ctx.work.write(SYSTEM, enter)
    return written


async def unpublish_profile(ctx: Context, request: ChosenProfile) -> One[Profile]:
    """Keep the reports of a profile to its workspace again.

    Raises:
        Problem: NOT_FOUND.
    """
    id_ = request.profile_id
    written = await _write(ctx, id_, "private")
    await ctx.work.write(SYSTEM, lambda unit: unit.tx.documents.delete(PUBLICATIONS, id_))
    return written


async def _public(ctx: Context) -> frozenset[str]:
    return frozenset([id_ async for _, ids in _places(ctx) for id_ in ids])


async def _write(ctx: Context, id_: str, visibility: Visibility) -> One[Profile]:
    async def unit(own: Context) -> One[Profile]:
        document = await own.load(PROFILES, id_)
        before = PROFILES.decode(document.raw)
        after = changed(before, own.now, visibility=visibility)
        if after is not before:
            document = await own.save(PROFILES, id_, after, expect=document.version)
        return One(wire.dumps(after), document.tag)

    return await ctx.work.write(ctx.actor.tenant, unit)


LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "publishProfile",
        "profiles publish",
        "Let every payer and every key with the scope read the reports of a profile",
        publish_profile,
        unit="several",
        description="The profile itself and all else of its workspace stay its own.",
    ),
    local(
        "unpublishProfile",
        "profiles unpublish",
        "Keep the reports of a profile to its workspace again",
        unpublish_profile,
        unit="several",
    ),
)
