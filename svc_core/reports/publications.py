"""Public profiles: every payer, and every key with the scope, may read their reports.

Other workspaces may subscribe to them (`svc_core.reports.profiles.followers`).

Rule 1: only the operator makes a profile public; the profile says so, and the directory, through
        which everybody reads, names it with its tenant.
Rule 2: the profile decides, on the snapshot of the reading transaction: a stale row of the
        directory shows nothing, and what is made private or deleted is hidden with that commit.
Rule 3: only reports and their parts are read from other tenants; all else stays its owner's.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Annotated, Any, Final

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.access.model import plan_bound
from svc_core.base.unset import Maybe, Unset
from svc_core.base.views import reshape
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page, Single
from svc_core.operation.context import Context
from svc_core.operation.crud import update_row
from svc_core.operation.declaration import MANAGERS, Operation, local
from svc_core.operation.members import ProfileId
from svc_core.operation.ports import SYSTEM, Collection, Position, StoredRow
from svc_core.operation.units import WorkContext
from svc_core.reports.model import REPORTS, ReportRow
from svc_core.reports.profiles.followers import end_all
from svc_core.reports.profiles.model import (
    DUE,
    FOLLOWS,
    PROFILES,
    PUBLICATIONS,
    Due,
    Follow,
    Profile,
    Publication,
    PublicProfile,
    Visibility,
    place_of,
)
from svc_core.reports.recordings import load_report, visible_reports
from svc_core.wire.constraints import Arg

_Owner = tuple[Context, tuple[str, ...]]
"""The context of a tenant's rows, and the ids of some of its profiles."""

PUBLIC_MAX: Final = 2_000
"""Public profiles of all workspaces."""
PUBLISHERS_MAX: Final = 100
"""Workspaces with public profiles: each is read for every page of reports, and for every report
that is not the caller's."""
COUNTED_MAX: Final = 10_000
READS_MAX: Final = 10
"""Pages that are read to fill one; what is not found in them is left for the next request."""


# -- reading -----------------------------------------------------------------------------------


async def find_report(ctx: Context, report_id: str) -> tuple[Context, StoredRow[ReportRow]]:
    """A report that the caller may read, and the context in which its parts are read.

    Raises:
        Problem: NOT_FOUND, the same for a private report of others and for none.
    """
    try:
        return ctx, await load_report(ctx, report_id)
    except Problem as missing:
        for place, _ in await publishers(ctx):
            document = await place.tx.documents.get(REPORTS, report_id)
            if document is not None and await _visible(ctx, place, [document]):
                return place, document
        raise missing from None


async def reports_page(
    ctx: Context, profile_id: Maybe[str], *, after: Maybe[str], limit: int
) -> Page[ReportRow]:
    """One page of the reports of the profiles that the caller's workspace subscribes to.

    A caller without a workspace gets those of all public profiles. A page may have fewer rows than
    its limit while reports of deleted or newly private profiles are being removed.

    Raises:
        Problem: INVALID_CURSOR when the cursor is not one of this list.
    """
    profile_ids = () if isinstance(profile_id, Unset) else (profile_id,)
    binding = ctx.list_binding({"profile_id": profile_ids})
    end = ctx.open_cursor(after, binding)
    own = [] if ctx.actor.tenant == SYSTEM else [(ctx, profile_ids)]
    foreign = _places(ctx, await _rows(ctx, FOLLOWS if own else PUBLICATIONS))
    places = own + [
        (place, tuple(id_ for id_ in ids if not profile_ids or id_ in profile_ids))
        for place, ids in foreign
    ]
    rows: list[bytes] = []
    for _ in range(READS_MAX):
        hits, end = await _merge(ctx, places, end, limit - len(rows))
        rows += hits
        if end is None or len(rows) == limit:
            break
    return Page(tuple(rows), ctx.seal_cursor(end, binding))


async def _merge(
    ctx: Context, places: Sequence[_Owner], after: Position | None, limit: int
) -> tuple[list[bytes], Position | None]:
    """The visible ones of the newest reports of several tenants, and where the next page begins."""
    hits: list[tuple[int, str, Context, StoredRow[ReportRow]]] = []
    for place, ids in places:
        filters = None if place is ctx and not ids else {"profile_id": ids}
        page = await place.tx.documents.scan(REPORTS, where=filters, after=after, limit=limit + 1)
        hits += [(row.order, row.id, place, row) for row in page.rows]
    hits.sort(key=itemgetter(0, 1), reverse=True)
    last = Position(*hits[limit - 1][:2]) if hits[limit:] else None
    visible: set[bytes] = set()
    for place, _ in places:
        visible |= await _visible(ctx, place, [hit[3] for hit in hits[:limit] if hit[2] is place])
    return [hit[3].raw for hit in hits[:limit] if hit[3].raw in visible], last


async def _visible(
    ctx: Context, place: Context, rows: Sequence[StoredRow[ReportRow]]
) -> set[bytes]:
    """Those of some reports of one tenant that may be shown now."""
    if place is ctx:
        return set(await visible_reports(ctx, [row.raw for row in rows]))
    owners = {row.raw: REPORTS.decode(row.raw).profile_id for row in rows}
    profiles = await public_among(place, owners.values()) if owners else {}
    return {raw for raw, owner in owners.items() if owner in profiles}


async def _rows(ctx: Context, collection: Collection[Any]) -> list[Any]:
    return [collection.decode(row.raw) async for row in ctx.every(collection)]


def _places(ctx: Context, rows: Iterable[Follow | Publication]) -> list[_Owner]:
    """The context and the profiles of each tenant that owns some of these profiles."""
    ids = defaultdict[str, list[str]](list)
    for row in rows:
        ids[row.tenant].append(row.profile_id)
    return [
        (attrs.evolve(ctx, tx=ctx.tx.beside(tenant)), tuple(profile_ids))
        for tenant, profile_ids in ids.items()
    ]


async def publishers(ctx: Context) -> list[_Owner]:
    """The context and the profiles of each tenant in the directory of public profiles."""
    return _places(ctx, await _rows(ctx, PUBLICATIONS))


async def public_among(place: Context, ids: Iterable[str]) -> dict[str, Profile]:
    """Those of some profiles of a tenant that are public."""
    profiles = await place.find_many(PROFILES, ids)
    return {id_: profile for id_, profile in profiles.items() if profile.visibility == "public"}


# -- profiles of others ------------------------------------------------------------------------


async def followed_profiles(
    ctx: Context, ids: Iterable[str]
) -> dict[str, tuple[Profile, Due | None]]:
    """The public profiles of others to which the caller subscribes, with their due rows."""
    pairs: dict[str, tuple[Profile, Due | None]] = {}
    for place, profile_ids in _places(ctx, (await ctx.find_many(FOLLOWS, ids)).values()):
        profiles = await public_among(place, profile_ids)
        runs = await place.find_many(DUE, profile_ids)
        pairs |= {id_: (profile, runs.get(id_)) for id_, profile in profiles.items()}
    return pairs


async def public_page(ctx: Context, *, after: Maybe[str], limit: int) -> Page[PublicProfile]:
    """One page of the public profiles of all workspaces, the newest publication first."""
    filters = {"visibility": ("public",)}
    page = await ctx.page(PUBLICATIONS, after=after, limit=limit, raw_filters=filters)
    rows, by_id = [PUBLICATIONS.decode(raw) for raw in page.rows], dict[str, Profile]()
    for place, ids in _places(ctx, rows):
        by_id |= await public_among(place, ids)
    profiles = (by_id[row.profile_id] for row in rows if row.profile_id in by_id)
    views = (reshape(PublicProfile, profile) for profile in profiles)
    return Page(tuple(map(wire.to_bytes, views)), page.next_cursor)


async def follow_offer(ctx: Context, profile_id: str) -> tuple[str, int] | None:
    """A public profile's owner, and how many such profiles the caller's plan allows; else None."""
    row = await ctx.find(PUBLICATIONS, profile_id)
    for place, ids in _places(ctx, [row] if row else []):
        if await public_among(place, ids):
            return place.tx.tenant, await plan_bound("subscriptions")(ctx)
    return None


# -- publishing --------------------------------------------------------------------------------


@frozen
class ChosenProfile:
    """The profile."""

    profile_id: Annotated[ProfileId, Arg(positional=True)]


async def publish_profile(ctx: WorkContext, request: ChosenProfile) -> Single[Profile]:
    """Let everybody read the reports of a profile.

    Raises:
        Problem: NOT_FOUND, or RESOURCE_CONFLICT where there are as many as there can be.
    """
    id_, tenant = request.profile_id, ctx.actor.tenant
    owners = await ctx.work.read(SYSTEM, _all_public)

    async def enter(unit: Context) -> None:
        entries = {row.profile_id for row in await _rows(unit, PUBLICATIONS)}
        for stale_id in entries - owners.keys() - {id_}:
            await unit.tx.documents.delete(PUBLICATIONS, stale_id)
        await unit.save(PUBLICATIONS, id_, Publication(id_, tenant, unit.now))

    if len(owners.keys() - {id_}) >= PUBLIC_MAX:
        detail = f"There are {PUBLIC_MAX} public profiles; unpublish one first."
        raise Problem(problem.RESOURCE_CONFLICT, detail)
    if len({*owners.values(), tenant}) > PUBLISHERS_MAX:
        detail = f"{PUBLISHERS_MAX} workspaces have public profiles, and no other can have any."
        raise Problem(problem.RESOURCE_CONFLICT, detail)
    answer = await _write(ctx, id_, "public")
    await ctx.work.write(SYSTEM, enter)
    return answer


async def unpublish_profile(ctx: WorkContext, request: ChosenProfile) -> Single[Profile]:
    """Keep the reports of a profile to its workspace again.

    Raises:
        Problem: NOT_FOUND.
    """
    id_ = request.profile_id
    answer = await _write(ctx, id_, "private")
    await ctx.work.write(SYSTEM, lambda unit: unit.tx.documents.delete(PUBLICATIONS, id_))
    return answer


# -- before a profile is deleted ---------------------------------------------------------------


@frozen
class Deletion:
    """What goes with a profile, for good; more than 10,000 of anything are not counted."""

    name: str
    """What it is called."""
    reports: int
    """Its reports."""
    recordings: int
    """Those of them that are spoken."""
    subscribers: int
    """Other workspaces that subscribe to it."""


async def foresee_deletion(ctx: WorkContext, request: ChosenProfile) -> Single[Deletion]:
    """What goes with a profile when it is deleted.

    Raises:
        Problem: NOT_FOUND.
    """
    id_, work = request.profile_id, ctx.work

    async def unit(own: Context) -> tuple[str, list[bool]]:
        name, filters = (await own.value(PROFILES, id_)).name, {"profile_id": (id_,)}
        reports = own.every(REPORTS, COUNTED_MAX, where=filters)
        return name, [REPORTS.decode(row.raw).has_audio async for row in reports]

    name, audio_flags = await work.read(ctx.actor.tenant, unit)
    place = place_of(id_)
    follows = await work.storage.across(
        FOLLOWS, after=(place, "", ""), end=place, limit=COUNTED_MAX
    )
    return Single(wire.to_bytes(Deletion(name, len(audio_flags), sum(audio_flags), len(follows))))


async def _all_public(ctx: Context) -> dict[str, str]:
    """The tenant of every public profile, by profile id."""
    owners: dict[str, str] = {}
    for place, ids in await publishers(ctx):
        owners |= dict.fromkeys(await public_among(place, ids), place.tx.tenant)
    return owners


async def _write(ctx: WorkContext, id_: str, visibility: Visibility) -> Single[Profile]:
    async def unit(own: Context) -> Single[Profile]:
        document = await own.load(PROFILES, id_)
        before = PROFILES.decode(document.raw)
        after = update_row(before, own.now, visibility=visibility)
        if after is not before:
            if visibility == "private":
                await end_all(own, before)
            document = await own.save(PROFILES, id_, after, expect=document.version)
        return Single(wire.to_bytes(after), document.tag)

    return await ctx.work.write(ctx.actor.tenant, unit)


LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "profiles",
        "Say what goes with a profile when it is deleted",
        foresee_deletion,
        method="GET",
        roles=MANAGERS,
    ),
    local(
        "profiles publish",
        "Let every payer and every key with the scope read the reports of a profile",
        publish_profile,
        description="The profile itself and everything else of its workspace stay private.",
    ),
    local(
        "profiles unpublish",
        "Keep the reports of a profile to its workspace again",
        unpublish_profile,
    ),
)
