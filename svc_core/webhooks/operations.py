"""The webhook operations: registration, signed delivery, repetition (Spec: Other v1 operations)."""

from typing import Annotated, Any

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.base.unset import UNSET, Maybe
from svc_core.contract import problem
from svc_core.contract.result import Created, Empty, Page, Single
from svc_core.operation.context import Context
from svc_core.operation.crud import Crud, RowEdit
from svc_core.operation.declaration import BODY, PATH, QUERY, Operation
from svc_core.operation.members import Cursor, Limit, PageRequest, WebhookId
from svc_core.operation.merge_patch import patch_of
from svc_core.operation.period import TimeFilter, time_bounds
from svc_core.outbox.cloud_events import enqueue, publish, queue_of
from svc_core.outbox.model import (
    DEFAULT_EVENTS,
    DELIVERIES,
    QUEUES,
    REPORT_GENERATED,
    SIGNAL_DETECTED,
    SIGNAL_WATCHES,
    WATCH_ID,
    WEBHOOK_SECRETS,
    WEBHOOKS,
    WEBHOOKS_MAX,
    Delivery,
    DeliveryStatus,
    Description,
    EventId,
    Events,
    OutboxEvent,
    ProfileIds,
    Queue,
    SignalWatch,
    StoredWebhook,
    Url,
    Webhook,
    delivery_id,
)
from svc_core.reports.profiles.model import FOLLOWS, PROFILES
from svc_core.webhooks import rules
from svc_core.webhooks import webhook_secrets as keys
from svc_core.webhooks.signing import SECRET_BYTES, SECRET_PATTERN, secret_key, secret_text
from svc_core.wire.constraints import Arg, Doc, Example, Pattern, WriteOnly

MANAGE = frozenset({"webhooks:manage"})
_EXAMPLE_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 - of the documents

# -- requests ----------------------------------------------------------------------------------


Secret = Annotated[
    str,
    Pattern(SECRET_PATTERN, "whsec_ and the base64 of 24 to 64 bytes"),
    WriteOnly(
        'Make a secret with `echo "whsec_$(openssl rand -base64 32)"`, keep it and send it.',
        SECRET_BYTES,
        secret_text,
    ),
    Doc(
        "The secret that signs deliveries: `whsec_` and the base64 of 24 to 64 bytes. Never shown."
    ),
    Example(_EXAMPLE_SECRET),
]


@frozen
class WebhookInput:
    """A whole webhook as a client sends it; what is left out gets its default.

    Without a secret it keeps its own.
    """

    url: Annotated[Url, Arg(positional=True)]
    description: Description = None
    events: Events = DEFAULT_EVENTS
    profile_ids: ProfileIds = ()
    secret: Maybe[Secret] = field(default=UNSET, repr=False)


@frozen
class NewWebhook(WebhookInput):
    """A new webhook as a client sends it, with the secret that the client made."""

    secret: Secret = field(kw_only=True, repr=False)


@frozen
class WebhookSecret:
    """The next secret of a webhook, which the client made."""

    secret: Secret = field(repr=False)


@frozen
class ListWebhooks(PageRequest):
    """The workspace's webhooks, newest first."""


@frozen
class WebhookRequest:
    """One webhook."""

    webhook_id: Annotated[WebhookId, PATH]


@frozen
class RotateSecret(WebhookRequest):
    """One webhook, to be signed for by another secret."""

    body: Annotated[WebhookSecret, BODY]


@frozen
class ListDeliveries(WebhookRequest):
    """The deliveries of a webhook, newest first."""

    status: Annotated[Maybe[tuple[DeliveryStatus, ...]], QUERY, Example(["failed", "skipped"])] = (
        UNSET
    )
    """Comma list of states."""
    event_id: Annotated[Maybe[EventId], QUERY] = UNSET
    """Only this event."""
    datetime: TimeFilter = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class RedeliverEvent(WebhookRequest):
    """One event, to be sent again to one webhook."""

    event_id: Annotated[EventId, PATH]


# -- use cases ---------------------------------------------------------------------------------


async def list_webhooks(ctx: Context, request: ListWebhooks) -> Page[Webhook]:
    """The workspace's webhooks, newest first, without their secrets."""
    page = await ctx.page(WEBHOOKS, after=request.cursor, limit=request.limit)
    webhooks = [WEBHOOKS.decode(raw) for raw in page.rows]
    queues = await ctx.find_many(QUEUES, [webhook.id for webhook in webhooks])
    rows = [
        rules.webhook_view(webhook, queues.get(webhook.id, Queue(webhook.id, None)))
        for webhook in webhooks
    ]
    return Page(tuple(map(wire.to_bytes, rows)), page.next_cursor)


async def _complete(ctx: Context, change: RowEdit[StoredWebhook]) -> StoredWebhook:
    """Check a new address and new profiles, and rotate the secret where another is sent.

    Raises:
        Problem: WEBHOOK_URL_NOT_ALLOWED; VALIDATION_FAILED, naming each profile to which the
            workspace does not subscribe.
    """
    webhook, members = change.after, change.members
    if webhook.url != change.former("url"):
        rules.check_url(webhook.url, loopback=ctx.host.is_development)
    ids = members.get("profile_ids", ())
    earlier = [*change.former("profile_ids"), *await ctx.tx.documents.get_many(FOLLOWS, ids)]
    problem.refuse(await ctx.missing_faults(PROFILES, ids, pointer="/profileIds", earlier=earlier))
    is_rotation = change.before is not None and "secret" in members
    if is_rotation and await keys.replace(ctx, webhook.id, secret_key(members["secret"])):
        # The row is written, so that its version tells of the new secret, which it does not show.
        webhook = attrs.evolve(webhook, updated_at=ctx.now)
    return webhook


async def _follow(ctx: Context, change: RowEdit[StoredWebhook]) -> None:
    """Store the secret of a new webhook, and have the feed watched from now on for signals."""
    if change.before is None:
        await keys.store_secret(ctx, change.after.id, secret_key(change.members["secret"]))
    takes_signals = SIGNAL_DETECTED in change.after.events
    if takes_signals and await ctx.find(SIGNAL_WATCHES, WATCH_ID) is None:
        head = await ctx.tx.changes.head()
        await ctx.save(SIGNAL_WATCHES, WATCH_ID, SignalWatch(head.everybody))


async def _view(ctx: Context, webhook: StoredWebhook) -> bytes:
    """The webhook with the state of its deliveries, which its ETag does not cover."""
    return wire.to_bytes(rules.webhook_view(webhook, await queue_of(ctx, webhook.id)))


async def rotate_secret(ctx: Context, request: RotateSecret) -> Single[Webhook]:
    """Signs with the secret that you send. For 24 hours `webhook-signature` also has a signature by
    the former secret; `X-Svc-Signature` uses the new one at once. The same secret again changes
    nothing.
    """
    return await WEBHOOK_ROWS.change_row(ctx, request.body)


async def delete_webhook(ctx: Context, request: WebhookRequest) -> Empty:
    """Deletes the webhook and its secret; deliveries that still wait are never sent."""
    await ctx.remove(WEBHOOKS, request.webhook_id)
    await ctx.remove(WEBHOOK_SECRETS, request.webhook_id)
    queue = await queue_of(ctx, request.webhook_id)
    await ctx.save(QUEUES, queue.webhook_id, attrs.evolve(queue, wake_at=ctx.now))
    return Empty()


async def enable_webhook(ctx: Context, request: WebhookRequest) -> Single[Webhook]:
    """Notifies it of events again and sets its failure count back to 0."""
    queue = await queue_of(ctx, request.webhook_id)
    if queue.consecutive_failures:
        await ctx.save(QUEUES, queue.webhook_id, attrs.evolve(queue, consecutive_failures=0))
    webhook = rules.enable(WEBHOOKS.decode(ctx.row.raw), ctx.now)
    return await WEBHOOK_ROWS.answer_of(ctx, await ctx.rewrite(WEBHOOKS, webhook))


async def test_webhook(ctx: Context, request: WebhookRequest) -> Created[Delivery]:
    """Queues an event of the type `dev.svc.webhook.test.v1`: signed, attempted and counted like any
    other. `Location` lists its delivery.
    """
    webhook = await ctx.value(WEBHOOKS, request.webhook_id)
    if webhook.status == "disabled":
        raise rules.disabled_problem()
    event = rules.trial_event(ctx.ids.new("evt"), webhook, ctx.host.origin, ctx.now)
    await publish(ctx, event, (webhook,))
    return await _delivery(ctx, webhook.id, event)


async def list_deliveries(ctx: Context, request: ListDeliveries) -> Page[Delivery]:
    """Each event of the last 30 days with its outcome and every attempt."""
    await ctx.load(WEBHOOKS, request.webhook_id)
    return await ctx.page(
        DELIVERIES,
        where={
            "webhook_id": request.webhook_id,
            "status": request.status,
            "event_id": request.event_id,
        },
        **time_bounds(request.datetime),
        after=request.cursor,
        limit=request.limit,
    )


async def redeliver(ctx: Context, request: RedeliverEvent) -> Created[Delivery]:
    """Queues the same event, body and id, for one new attempt. While a delivery is under way, or
    the webhook is disabled, the answer is 409.
    """
    webhook = await ctx.value(WEBHOOKS, request.webhook_id)
    id_ = delivery_id(webhook.id, request.event_id)
    delivery = await ctx.value(DELIVERIES, id_)
    rules.check_redeliverable(webhook, delivery)
    document = await enqueue(ctx, attrs.evolve(delivery, status="pending", updated_at=ctx.now))
    return Created(document.raw, document.tag, _deliveries(webhook.id, request.event_id))


async def _delivery(ctx: Context, webhook_id: str, event: OutboxEvent) -> Created[Delivery]:
    document = await ctx.load(DELIVERIES, delivery_id(webhook_id, event.id))
    return Created(document.raw, document.tag, _deliveries(webhook_id, event.id))


def _deliveries(webhook_id: str, event_id: str) -> str:
    return f"{WEBHOOKS.address(webhook_id)}/deliveries?eventId={event_id}"


# -- declarations ------------------------------------------------------------------------------

_URL = (problem.WEBHOOK_URL_NOT_ALLOWED,)
WEBHOOK_ROWS = Crud(
    WEBHOOKS,
    read=MANAGE,
    write=MANAGE,
    body=WebhookInput,
    new_body=NewWebhook,
    patch=patch_of(WebhookInput, url=Url),
    rows_max=WEBHOOKS_MAX,
    cure="Delete a webhook first.",
    example={
        "url": "https://hooks.example.com/svc",
        "description": "Newsroom channel",
        "events": [REPORT_GENERATED],
        "profileIds": [],
    },
    complete=_complete,
    follow=_follow,
    view=_view,
    answer=Webhook,
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    WEBHOOK_ROWS.listing(
        ListWebhooks,
        list_webhooks,
        columns=(
            "id",
            "url",
            "status",
            "consecutiveFailures",
            "lastDelivery.status",
            "lastDelivery.at",
        ),
    ),
    WEBHOOK_ROWS.declare(
        "create",
        "Registers an address that is notified of events. Verify the signature of every "
        "delivery with the `secret` that you send; no answer ever holds it.",
        summary="Register a webhook",
        idempotency="required",
        fails=_URL,
        examples={"body": {**WEBHOOK_ROWS.example, "secret": _EXAMPLE_SECRET}},
    ),
    WEBHOOK_ROWS.declare(
        "show",
        "One webhook, without its secret. Its ETag changes with its settings and its "
        "status; attempts that do not disable the webhook do not change it.",
    ),
    WEBHOOK_ROWS.declare(
        "replace",
        "Replaces address, description and filters; members that are left out get their "
        "default. Status and failure count stay, and so does the secret unless one is sent.",
        fails=_URL,
    ),
    WEBHOOK_ROWS.declare(
        "update",
        "Changes only the members that are sent (JSON Merge Patch, RFC 7396): null resets an "
        "optional member to its default.",
        fails=_URL,
        examples={"body": {"description": "Night desk"}},
    ),
    WEBHOOK_ROWS.declare("delete", delete_webhook),
    WEBHOOK_ROWS.declare("enable", enable_webhook),
    WEBHOOK_ROWS.declare(
        "rotate-secret",
        rotate_secret,
        id_="rotateWebhookSecret",
        summary="Rotate a webhook's secret",
        idempotency="optional",
        examples={"body": {"secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"}},
    ),
    WEBHOOK_ROWS.declare(
        "test",
        test_webhook,
        summary="Send a test event",
        idempotency="optional",
        fails=(problem.RESOURCE_CONFLICT,),
        target=None,
    ),
    WEBHOOK_ROWS.operation(
        "webhooks deliveries",
        "GET /webhooks/{webhookId}/deliveries",
        "List deliveries",
        list_deliveries,
        columns=(
            *("eventId", "status", "updatedAt", "eventType"),
            *("attempts.responseStatus", "attempts.error", "subject"),
        ),
    ),
    WEBHOOK_ROWS.operation(
        "webhooks redeliver",
        "POST /webhooks/{webhookId}/deliveries/{eventId}/redeliver",
        "Send an event again",
        redeliver,
        id_="redeliverEvent",
        idempotency="optional",
        fails=(problem.RESOURCE_CONFLICT,),
        target=None,
    ),
)
