"""The operations of subscriptions: who is told of a profile's reports, and how.

Rule 1: a new choice of webhooks names webhooks of this workspace; one that was chosen before may
        have been deleted since.
Rule 2: a pause and a resume plan the profile anew; nothing else of a subscription does.
"""

from typing import Annotated, Any

from attrs import frozen

from svc_core import personal, problem
from svc_core.operation import BODY, PATH, Context, Operation
from svc_core.profiles import rules
from svc_core.profiles.operations import READ, WRITE, plan
from svc_core.resources.members import Cursor, Limit, SubscriptionId
from svc_core.resources.profile import PROFILES, SUBSCRIPTIONS, Subscription, SubscriptionPatch
from svc_core.resources.webhook import WEBHOOKS
from svc_core.result import One, Page
from svc_core.unset import UNSET

# -- requests ----------------------------------------------------------------------------------


@frozen
class ListSubscriptions:
    """The workspace's subscriptions, newest first."""

    limit: Limit = 100
    cursor: Cursor = UNSET


@frozen
class OneSubscription:
    """One subscription."""

    subscription_id: Annotated[SubscriptionId, PATH]


@frozen
class PatchSubscription(OneSubscription):
    """One subscription, changed in part."""

    body: Annotated[SubscriptionPatch, BODY]


# -- use cases ---------------------------------------------------------------------------------


async def list_subscriptions(ctx: Context, request: ListSubscriptions) -> Page[Subscription]:
    """The workspace's subscriptions."""
    return await ctx.page(SUBSCRIPTIONS, after=request.cursor, limit=request.limit)


async def patch_subscription(ctx: Context, request: PatchSubscription) -> One[Subscription]:
    """Pause, resume or change the delivery of a subscription.

    Raises:
        Problem: VALIDATION_FAILED, naming each webhook that is not there.
    """
    before = SUBSCRIPTIONS.decode(ctx.row.raw)
    after = rules.patch_subscription(before, request.body, ctx.now)
    chosen, known = after.delivery.webhook_ids, before.delivery.webhook_ids
    pointer = "/delivery/webhookIds"
    problem.refuse(await ctx.missing(WEBHOOKS, chosen, pointer=pointer, known=known))
    written = await ctx.rewrite(SUBSCRIPTIONS, after)
    if after.status != before.status:
        profile = await ctx.value(PROFILES, after.profile_id)
        await plan(ctx, profile, after)
    return written


# -- declarations ------------------------------------------------------------------------------

_ROWS = personal.Rows(SUBSCRIPTIONS, "subscription_id", READ, WRITE)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _ROWS.operation(
        "listSubscriptions",
        "subscriptions list",
        "GET /subscriptions",
        "List subscriptions",
        list_subscriptions,
        columns=("id", "profileId", "status", "delivery.includeAudio", "updatedAt"),
        description="The caller's subscriptions with their delivery preferences, newest first.",
    ),
    _ROWS.show(
        "getSubscription",
        "subscriptions show",
        "GET /subscriptions/{subscriptionId}",
        "Read a subscription",
        OneSubscription,
        description="One subscription with its delivery preferences.",
    ),
    _ROWS.operation(
        "updateSubscription",
        "subscriptions update",
        "PATCH /subscriptions/{subscriptionId}",
        "Change a subscription",
        patch_subscription,
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
)
