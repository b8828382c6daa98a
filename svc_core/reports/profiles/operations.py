"""The operations of profiles (Spec: Profiles; States, Profile)."""

from datetime import datetime
from typing import Annotated, Any, Literal

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.access.model import LARGER_PLAN, plan_bound
from svc_core.base import canonical
from svc_core.base.unset import UNSET, Maybe
from svc_core.contract.result import Created, Empty, Page, Single
from svc_core.operation.context import Context, scan_values
from svc_core.operation.crud import Crud, RowEdit
from svc_core.operation.declaration import BODY, PATH, QUERY, Operation
from svc_core.operation.members import Cursor, Limit, ProfileId
from svc_core.operation.merge_patch import patch_of
from svc_core.operation.ports import StoredRow
from svc_core.reports import publications
from svc_core.reports.profiles import rules
from svc_core.reports.profiles.followers import end_all
from svc_core.reports.profiles.model import (
    DUE,
    FOLLOWS,
    PROFILE_DELIVERIES,
    PROFILES,
    SUBSCRIPTIONS,
    Due,
    OthersProfile,
    Profile,
    ProfileDetail,
    ProfileInput,
    ProfileRow,
    PublicProfile,
    Status,
    Subscription,
)
from svc_core.reports.recordings import forget_reports

# -- requests ----------------------------------------------------------------------------------


@frozen
class ListProfiles:
    """The caller's subscribed profiles, or the public ones of everybody, newest first."""

    visibility: Annotated[Maybe[Literal["public"]], QUERY] = UNSET
    """The public profiles that one may subscribe to."""
    limit: Limit = 100
    cursor: Cursor = UNSET


@frozen
class CreateProfile:
    """A new profile."""

    body: Annotated[ProfileInput, BODY]


@frozen
class ProfileRequest:
    """One profile."""

    profile_id: Annotated[ProfileId, PATH]


# -- use cases ---------------------------------------------------------------------------------


async def list_profiles(
    ctx: Context, request: ListProfiles
) -> Page[ProfileRow | OthersProfile] | Page[PublicProfile]:
    """The profiles that the caller's workspace subscribes to, the newest subscription first. Each
    row has its subscription, when the next report is due and when the newest one was made. A
    profile of another workspace (`owned` is false) has only what everybody may see.
    `visibility=public` lists all public profiles that you can subscribe to.
    """
    if request.visibility == "public":
        return await publications.public_page(ctx, after=request.cursor, limit=request.limit)
    page = await ctx.page(SUBSCRIPTIONS, after=request.cursor, limit=request.limit)
    subscriptions = [SUBSCRIPTIONS.decode(raw) for raw in page.rows]
    ids = [subscription.profile_id for subscription in subscriptions]
    profiles, runs = await ctx.find_many(PROFILES, ids), await ctx.find_many(DUE, ids)
    deliveries, aliases = await ctx.find_many(PROFILE_DELIVERIES, ids), ctx.aliases
    foreign = await publications.followed_profiles(ctx, ids)
    rows: list[ProfileRow | OthersProfile] = []
    for subscription in subscriptions:
        id_ = subscription.profile_id
        if id_ in profiles:
            view = rules.detail(profiles[id_], deliveries.get(id_), aliases=aliases)
            rows.append(rules.row(view, subscription, runs.get(id_), aliases=aliases))
        elif id_ in foreign:
            delivery = deliveries.get(id_)
            rows.append(rules.others_row(*foreign[id_], subscription, delivery, aliases=aliases))
    return Page(tuple(map(wire.to_bytes, rows)), page.next_cursor)


async def create_profile(ctx: Context, request: CreateProfile) -> Created[ProfileDetail]:
    """Creates the profile and an active subscription to it. Reports are made at its `frequency`, at
    `scheduleTimeOfDay` in `timezone`; a `manual` profile makes none by itself.
    """
    return await PROFILE_ROWS.create_row(ctx, request.body)


async def _check(ctx: Context, change: RowEdit[Profile]) -> Profile:  # noqa: ARG001
    rules.check_profile(change.after)
    return change.after


async def _plan(ctx: Context, change: RowEdit[Profile]) -> None:
    """Subscribe to a new profile, and plan its next run where that is due."""
    profile = change.after
    if change.before is None:
        subscription = rules.subscribe(ctx.ids.new("sub"), profile, ctx.now)
        await ctx.create(SUBSCRIPTIONS, subscription.id, subscription)
        await plan_run(ctx, profile, subscription)
    elif rules.is_planned_anew(change.before, profile):
        await plan_run(ctx, profile, await subscription_of(ctx, profile.id))


async def _view(ctx: Context, profile: Profile) -> bytes:
    """The profile with its deliveries, which its tag does not cover."""
    delivery = await ctx.find(PROFILE_DELIVERIES, profile.id)
    return wire.to_bytes(rules.detail(profile, delivery, aliases=ctx.aliases))


async def get_profile(
    ctx: Context, request: ProfileRequest
) -> Single[ProfileDetail] | Single[OthersProfile]:
    """One profile of the caller's workspace. A public profile of another workspace, once subscribed
    to, has only what everybody may see. Deliveries do not change its ETag.
    """
    for profile, run in (await publications.followed_profiles(ctx, [request.profile_id])).values():
        subscription = await subscription_of(ctx, profile.id)
        delivery, aliases = await ctx.find(PROFILE_DELIVERIES, profile.id), ctx.aliases
        row = wire.to_bytes(rules.others_row(profile, run, subscription, delivery, aliases=aliases))
        return Single(row, (canonical.hex_digest(row.decode()),))
    return await PROFILE_ROWS.answer_of(ctx, await ctx.load(PROFILES, request.profile_id))


async def delete_profile(ctx: Context, request: ProfileRequest) -> Empty:
    """Deletes the profile with its subscription, all its reports and their recordings, and the
    subscriptions of other workspaces to it. Nobody sees them any more; each leaves a tombstone in
    the change feed, those of many within seconds. It cannot be undone. A second call answers 404.
    """
    subscription = await subscription_of(ctx, request.profile_id)
    await end_all(ctx, await ctx.value(PROFILES, request.profile_id))
    await forget_reports(ctx, request.profile_id)
    await ctx.remove(SUBSCRIPTIONS, subscription.id)
    await ctx.remove(DUE, request.profile_id)
    await ctx.tx.documents.delete(PROFILE_DELIVERIES, request.profile_id)
    await ctx.remove(PROFILES, request.profile_id)
    return Empty()


# -- when the next report is due ---------------------------------------------------------------
#
# A due row is the scheduler's claim on a run: each change of the plan gives it a new version, so
# that a worker which acted on the one before writes nothing.


async def plan_run(ctx: Context, profile: Profile, subscription: Subscription) -> None:
    """Plan the next run of a profile from now on; none while nobody wants reports."""
    last = await ctx.find(DUE, profile.id)
    await ctx.save(DUE, profile.id, rules.due(profile, subscription, last, ctx.now))


async def report_end(ctx: Context, due: Due, ready: datetime) -> datetime | None:
    """The end of a due profile's report; None where there is nothing to report.

    Raises:
        Problem: NOT_FOUND when the profile was deleted.
    """
    profile = await ctx.value(PROFILES, due.profile_id)
    return rules.run_end(profile, due, ready)


async def pass_over(
    ctx: Context, profile_id: str, due_row: StoredRow[Due], ready: datetime
) -> None:
    """Plan the run after `ready` where the planned one has nothing to report.

    `due_row` is the row that the worker acted on; nothing is written when it has changed.
    """
    before = await ctx.if_unchanged(DUE, due_row)
    if before is None:
        return
    profile = await ctx.value(PROFILES, profile_id)
    upcoming = rules.next_run_after(profile, before, ready)
    await ctx.save(DUE, profile_id, attrs.evolve(before, next_run_at=upcoming))


async def subscription_of(ctx: Context, profile_id: str) -> Subscription:
    """The subscription that came with a profile."""
    return (await scan_values(ctx, SUBSCRIPTIONS, where={"profile_id": (profile_id,)}, limit=1))[0]


# -- declarations ------------------------------------------------------------------------------

PROFILE_ROWS = Crud(
    PROFILES,
    list_model=ProfileRow,
    foreign=FOLLOWS,
    body=ProfileInput,
    patch=patch_of(ProfileInput, status=Status),
    initial={"status": "active"},
    bound=plan_bound("profiles"),
    cure=LARGER_PLAN,
    example={
        "name": "Port strikes",
        "topic": "Strikes and closures at European container ports",
        "frequency": "daily",
        "scheduleTimeOfDay": "07:30",
        "timezone": "Europe/Paris",
        "keywords": ["Rotterdam", "dockworkers"],
    },
    complete=_check,
    follow=_plan,
    view=_view,
    answer=ProfileDetail,
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    PROFILE_ROWS.listing(
        ListProfiles,
        list_profiles,
        summary="List subscribed profiles",
        columns=("id", "name", "status", "nextRunAt", "frequency", "reportGeneratedAtISO"),
    ),
    PROFILE_ROWS.declare("create", create_profile, idempotency="required"),
    PROFILE_ROWS.declare("show", get_profile),
    PROFILE_ROWS.declare(
        "replace",
        "Replaces the whole profile: optional members that are left out get their default. "
        "A body that changes nothing writes nothing and keeps the `ETag`.",
    ),
    PROFILE_ROWS.declare(
        "update",
        "Changes only the members that are sent (JSON Merge Patch, RFC 7396): null resets an "
        "optional member to its default, and a list is replaced whole. A patch that changes "
        "nothing writes nothing and keeps the `ETag`.",
        examples={"body": {"frequency": "weekly", "scheduleDay": 1}},
    ),
    PROFILE_ROWS.declare("delete", delete_profile, foresees="foreseeDeletion"),
)
