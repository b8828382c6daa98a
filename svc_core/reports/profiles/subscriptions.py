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
from svc_core.contract.result import Created, Empty, Page, Single
from svc_core.operation import crud
from svc_core.operation.context import Context
from svc_core.operation.declaration import BODY, PATH, Operation, Unit
from svc_core.operation.members import Cursor, Limit, SubscriptionId
from svc_core.outbox.model import WEBHOOKS
from svc_core.reports.profiles import rules
from svc_core.reports.profiles.model import (
    FOLLOWS,
    PROFILE_DELIVERIES,
    PROFILES,
    PUBLICATIONS,
    SUBSCRIPTIONS,
    Follow,
    Subscription,
    SubscriptionInput,
    SubscriptionPatch,
)
from svc_core.reports.profiles.operations import READ, WRITE, plan_run
from svc_core.reports.publications import follow_offer
from svc_core.wire.constraints import IdOf

# -- requests ----------------------------------------------------------------------------------


@frozen
class ListSubscriptions:
    """The workspace's subscriptions, newest first."""

    limit: Limit = 100
    cursor: Cursor = UNSET


@frozen
class CreateSubscription:
    """A new subscription."""

    body: Annotated[SubscriptionInput, BODY]


@frozen
class SubscriptionRequest:
    """One subscription."""

    subscription_id: Annotated[SubscriptionId, PATH]


@frozen
class PatchSubscription(SubscriptionRequest):
    """One subscription, changed in part."""

    body: Annotated[SubscriptionPatch, BODY]


# -- use cases ---------------------------------------------------------------------------------


async def list_subscriptions(ctx: Context, request: ListSubscriptions) -> Page[Subscription]:
    """The workspace's subscriptions."""
    return await ctx.page(SUBSCRIPTIONS, after=request.cursor, limit=request.limit)


async def patch_subscription(ctx: Context, request: PatchSubscription) -> Single[Subscription]:
    """Pause, resume or change the delivery of a subscription.

    Raises:
        Problem: VALIDATION_FAILED, naming each webhook that is not there.
    """
    before = SUBSCRIPTIONS.decode(ctx.row.raw)
    after = rules.change_subscription(before, request.body, ctx.now)
    webhook_ids, before_ids = after.delivery.webhook_ids, before.delivery.webhook_ids
    pointer = "/delivery/webhookIds"
    problem.refuse(
        await ctx.missing_faults(WEBHOOKS, webhook_ids, pointer=pointer, earlier=before_ids)
    )
    answer = await ctx.rewrite(SUBSCRIPTIONS, after)
    profile = await ctx.find(PROFILES, after.profile_id)
    if profile is not None and after.status != before.status:
        await plan_run(ctx, profile, after)
    return answer


async def create_subscription(ctx: Context, request: CreateSubscription) -> Created[Subscription]:
    """Subscribe to a public profile of another workspace.

    Raises:
        Problem: NOT_FOUND, the same for a private profile of others and for none; VALIDATION_FAILED
            for webhooks that are not there; RESOURCE_CONFLICT for an own profile, a second
            subscription, and more than the plan has.
    """
    id_, delivery = request.body.profile_id, request.body.delivery
    if await ctx.tx.documents.count(SUBSCRIPTIONS, where={"profile_id": (id_,)}, limit=1):
        raise Problem(problem.RESOURCE_CONFLICT, "The workspace subscribes to this profile.")
    if ctx.ahead is None or await ctx.find(PUBLICATIONS, id_) is None:
        raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")
    pointer = "/delivery/webhookIds"
    problem.refuse(await ctx.missing_faults(WEBHOOKS, delivery.webhook_ids, pointer=pointer))
    tenant, limit = ctx.ahead
    if await ctx.tx.documents.count(FOLLOWS, limit=limit + 1) >= limit:
        detail = f"The plan has {limit} subscriptions to profiles of other workspaces."
        raise Problem(problem.RESOURCE_CONFLICT, detail)
    members = {"profile_id": id_, "status": "active", "delivery": delivery}
    subscription = crud.new_row(ctx, SUBSCRIPTIONS, **members)
    await ctx.create(FOLLOWS, id_, Follow(id_, tenant, subscription.id))
    return await crud.create_row(ctx, SUBSCRIPTIONS, subscription)


async def delete_subscription(ctx: Context, request: SubscriptionRequest) -> Empty:
    """End a subscription to a profile of another workspace.

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

_ROWS = crud.RowOperations(SUBSCRIPTIONS, "subscription_id", READ, WRITE)
_PATH = "/subscriptions/{subscriptionId}"

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _ROWS.operation(
        "subscriptions list",
        "GET /subscriptions",
        "List subscriptions",
        list_subscriptions,
        columns=("id", "profileId", "status", "delivery.includeAudio", "updatedAt"),
        description="The caller's subscriptions with their delivery preferences, newest first.",
    ),
    _ROWS.operation(
        "subscriptions create",
        "POST /subscriptions",
        "Subscribe to a public profile",
        create_subscription,
        description=(
            "Its reports, also those of before, are listed from then on; of new ones the webhooks "
            "and the change feed tell. It ends when the profile is deleted or made private."
        ),
        idempotency="optional",
        unit=Unit(
            "write", lambda request: partial(follow_offer, profile_id=request.body.profile_id)
        ),
        fails=(problem.RESOURCE_CONFLICT, problem.NOT_FOUND),
        examples={"body": {"profileId": IdOf("prf").example, "delivery": {"includeAudio": False}}},
    ),
    _ROWS.show(
        "getSubscription",
        "subscriptions show",
        f"GET {_PATH}",
        "Read a subscription",
        SubscriptionRequest,
        description="One subscription with its delivery preferences.",
    ),
    _ROWS.operation(
        "subscriptions update",
        f"PATCH {_PATH}",
        "Change a subscription",
        patch_subscription,
        id_="updateSubscription",
        description=(
            "Pauses or resumes a subscription, or changes only the preferences that are sent "
            "(JSON Merge Patch, RFC 7396): null resets one to its default. `webhookIds` is "
            "replaced whole and names webhooks of this workspace. While a subscription is paused "
            "nobody is notified and its profile is not scheduled; the first report after it is "
            "resumed also covers the pause. A patch that changes nothing writes nothing and keeps "
            "the `ETag`."
        ),
        examples={"body": {"status": "paused", "delivery": {"minSignalConfidence": 0.4}}},
    ),
    _ROWS.operation(
        "subscriptions delete",
        f"DELETE {_PATH}",
        "End a subscription",
        delete_subscription,
        description="Ends one to a profile of another workspace; an own profile's ends with that.",
    ),
)
