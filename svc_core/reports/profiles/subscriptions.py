"""The operations of subscriptions: who receives a profile's reports, and how.

Rule 1: a new choice of webhooks names webhooks of this workspace; one that was chosen before may
        have been deleted since.
Rule 2: a pause and a resume plan the next run of an own profile again; nothing else does.
Rule 3: every own profile has its subscription; those to public profiles of others come and go.
"""

from functools import partial
from typing import Annotated, Any

from attrs import frozen

from svc_core.base.unset import UNSET
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Empty
from svc_core.operation.context import Context
from svc_core.operation.crud import Crud, RowEdit
from svc_core.operation.declaration import PATH, Operation, Unit
from svc_core.operation.members import Cursor, Limit, SubscriptionId
from svc_core.operation.merge_patch import nullable, patch_of
from svc_core.outbox.model import WEBHOOKS
from svc_core.reports.profiles.model import (
    FOLLOWS,
    PROFILE_DELIVERIES,
    PROFILES,
    PUBLICATIONS,
    SUBSCRIPTIONS,
    DeliveryPreferences,
    Follow,
    Subscription,
    SubscriptionInput,
    SubscriptionSettings,
)
from svc_core.reports.profiles.operations import PROFILE_ROWS, plan_run
from svc_core.reports.publications import follow_offer
from svc_core.wire.constraints import IdOf

# -- requests ----------------------------------------------------------------------------------


@frozen
class ListSubscriptions:
    """The workspace's subscriptions, newest first."""

    limit: Limit = 100
    cursor: Cursor = UNSET


@frozen
class SubscriptionRequest:
    """One subscription."""

    subscription_id: Annotated[SubscriptionId, PATH]


# -- use cases ---------------------------------------------------------------------------------


async def _check(ctx: Context, change: RowEdit[Subscription]) -> Subscription:
    """Check the webhooks, and whether the caller may subscribe.

    Raises:
        Problem: NOT_FOUND, the same for a private profile of others and for none; VALIDATION_FAILED
            for webhooks that are not there; RESOURCE_CONFLICT for an own profile, a second
            subscription, and more than the plan has.
    """
    subscription, former = change.after, change.former("delivery")
    if change.before is None:
        await _check_offer(ctx, subscription.profile_id)
    faults = await ctx.missing_faults(
        WEBHOOKS,
        subscription.delivery.webhook_ids,
        pointer="/delivery/webhookIds",
        earlier=former.webhook_ids if former else (),
    )
    problem.refuse(faults)
    if change.before is None:
        _, limit = ctx.ahead
        if await ctx.tx.documents.count(FOLLOWS, limit=limit + 1) >= limit:
            detail = f"The plan has {limit} subscriptions to profiles of other workspaces."
            raise Problem(problem.RESOURCE_CONFLICT, detail)
    return subscription


async def _check_offer(ctx: Context, profile_id: str) -> None:
    filters = {"profile_id": (profile_id,)}
    if await ctx.tx.documents.count(SUBSCRIPTIONS, where=filters, limit=1):
        raise Problem(problem.RESOURCE_CONFLICT, "The workspace subscribes to this profile.")
    if ctx.ahead is None or await ctx.find(PUBLICATIONS, profile_id) is None:
        raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")


async def _follow(ctx: Context, change: RowEdit[Subscription]) -> None:
    """Follow the profile of others, or plan the next run of an own one anew (rule 2)."""
    before, after = change.before, change.after
    if before is None:
        tenant, _ = ctx.ahead
        await ctx.create(FOLLOWS, after.profile_id, Follow(after.profile_id, tenant, after.id))
        return
    profile = await ctx.find(PROFILES, after.profile_id)
    if profile is not None and after.status != before.status:
        await plan_run(ctx, profile, after)


async def delete_subscription(ctx: Context, request: SubscriptionRequest) -> Empty:
    """Ends a subscription to a profile of another workspace. The subscription to a profile of your
    own ends with the profile.

    Raises:
        Problem: RESOURCE_CONFLICT for an own profile's.
    """
    profile_id = SUBSCRIPTIONS.decode(ctx.row.raw).profile_id
    if await ctx.tx.documents.delete(FOLLOWS, profile_id) is None:
        detail = "It belongs to a profile of this workspace; pause it, or delete the profile."
        raise Problem(problem.RESOURCE_CONFLICT, detail)
    await ctx.tx.documents.delete(PROFILE_DELIVERIES, profile_id)
    await ctx.remove(SUBSCRIPTIONS, request.subscription_id)
    return Empty()


# -- declarations ------------------------------------------------------------------------------

_DELIVERY_PATCH = patch_of(
    DeliveryPreferences,
    "DeliveryPatch",
    "The preferences to change; null resets one to its default (RFC 7396).",
)
SUBSCRIPTION_ROWS = Crud(
    SUBSCRIPTIONS,
    read=PROFILE_ROWS.read,
    write=PROFILE_ROWS.write,
    body=SubscriptionInput,
    patch=patch_of(
        SubscriptionSettings,
        "SubscriptionPatch",
        "What of a subscription changes; a delivery of null resets it to its defaults (RFC 7396).",
        delivery=nullable(_DELIVERY_PATCH, "The preferences to change; null resets all of them."),
    ),
    initial={"status": "active"},
    example={"profileId": IdOf("prf").example, "delivery": {"includeAudio": False}},
    complete=_check,
    follow=_follow,
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    SUBSCRIPTION_ROWS.listing(
        ListSubscriptions,
        "The caller's subscriptions with their delivery preferences, newest first.",
        columns=("id", "profileId", "status", "delivery.includeAudio", "updatedAt"),
    ),
    SUBSCRIPTION_ROWS.declare(
        "create",
        "Its reports are listed from then on, earlier ones included; webhooks and the change "
        "feed announce new ones. It ends when the profile is deleted or made private.",
        summary="Subscribe to a public profile",
        idempotency="optional",
        unit=Unit(
            "write", lambda request: partial(follow_offer, profile_id=request.body.profile_id)
        ),
        fails=(problem.RESOURCE_CONFLICT, problem.NOT_FOUND),
    ),
    SUBSCRIPTION_ROWS.declare("show", "One subscription with its delivery preferences."),
    SUBSCRIPTION_ROWS.declare(
        "update",
        "Pauses or resumes a subscription, or changes only the preferences that are sent "
        "(JSON Merge Patch, RFC 7396): null resets one to its default. `webhookIds` is "
        "replaced whole and names webhooks of this workspace. While a subscription is paused "
        "nobody is notified and its profile is not scheduled; the first report after it is "
        "resumed also covers the pause. A patch that changes nothing writes nothing and keeps "
        "the `ETag`.",
        examples={"body": {"status": "paused", "delivery": {"minSignalConfidence": 0.4}}},
    ),
    SUBSCRIPTION_ROWS.declare("delete", delete_subscription, summary="End a subscription"),
)
