"""The webhook operations: registration, signed delivery, repetition (Spec: Other v1 operations)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import attrs
from attrs import frozen

from svc_core import personal, problem, wire
from svc_core.constraints import Arg, Doc, Example, Pattern
from svc_core.events import enqueue, publish, queue_of
from svc_core.operation import BODY, PATH, QUERY, Context, Operation
from svc_core.personal import changed
from svc_core.ports import Document
from svc_core.problem import Problem
from svc_core.resources.members import Cursor, Limit, WebhookId
from svc_core.resources.period import When, bounds
from svc_core.resources.profile import PROFILES
from svc_core.resources.webhook import (
    DEFAULT_EVENTS,
    DELIVERIES,
    QUEUES,
    REPORT_GENERATED,
    TEST,
    WEBHOOK_SECRETS,
    WEBHOOKS,
    WEBHOOKS_MAX,
    Delivery,
    DeliveryStatus,
    Description,
    Event,
    EventId,
    Events,
    ProfileIds,
    Queue,
    StoredWebhook,
    Url,
    Webhook,
    delivery_id,
)
from svc_core.result import Created, Empty, One, Page
from svc_core.unset import UNSET, Maybe, Unset, named
from svc_core.webhooks import keys, rules
from svc_core.webhooks.signing import (
    SECRET_BYTES,
    SECRET_PATTERN,
    SecretError,
    secret_key,
    secret_text,
)
from svc_core.wire import Fault

MANAGE = frozenset({"webhooks:manage"})

_EXAMPLE = {
    "url": "https://hooks.example.com/svc",
    "description": "Newsroom channel",
    "events": [REPORT_GENERATED],
    "profileIds": [],
}
_URL = (problem.WEBHOOK_URL_NOT_ALLOWED,)


# -- requests ----------------------------------------------------------------------------------


Secret = Annotated[
    str,
    Doc("`whsec_` and the base64 of 24 to 64 bytes; shown this once."),
    Example("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
]


OwnSecret = Annotated[
    Maybe[str],
    Pattern(SECRET_PATTERN, "whsec_ and the base64 of 24 to 64 bytes"),
    Doc("Your own secret: `whsec_` and the base64 of 24 to 64 bytes. It is never shown."),
]


@frozen
class WebhookInput:
    """A whole webhook as a client sends it; what is left out gets its default.

    Without a secret a new webhook gets one, which its answer shows, and an old one keeps its own.
    """

    url: Annotated[Url, Arg(positional=True)]
    description: Description = None
    events: Events = DEFAULT_EVENTS
    profile_ids: ProfileIds = ()
    secret: OwnSecret = UNSET


@frozen
class WebhookPatch:
    """The members to change; null resets an optional one to its default (RFC 7396)."""

    url: Maybe[Url] = UNSET
    description: Maybe[Description] = UNSET
    events: Maybe[Events | None] = UNSET
    profile_ids: Maybe[ProfileIds | None] = UNSET
    secret: OwnSecret = UNSET


@frozen
class IssuedWebhook(Webhook):
    """A webhook with the secret that was made for it."""

    secret: Maybe[Secret] = UNSET


@frozen
class ListWebhooks:
    """The workspace's webhooks, newest first."""

    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class CreateWebhook:
    """A new webhook."""

    body: Annotated[WebhookInput, BODY]


@frozen
class OneWebhook:
    """One webhook."""

    webhook_id: Annotated[WebhookId, PATH]


@frozen
class ReplaceWebhook(OneWebhook):
    """One webhook, replaced whole."""

    body: Annotated[WebhookInput, BODY]


@frozen
class PatchWebhook(OneWebhook):
    """One webhook, changed in part."""

    body: Annotated[WebhookPatch, BODY]


@frozen
class ListDeliveries(OneWebhook):
    """The deliveries of a webhook, newest first."""

    status: Annotated[
        Maybe[tuple[DeliveryStatus, ...]],
        QUERY,
        Doc("Comma list of states."),
        Example(["failed", "skipped"]),
    ] = UNSET
    event_id: Annotated[Maybe[EventId], QUERY, Doc("Only this event.")] = UNSET
    datetime: When = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class RedeliverEvent(OneWebhook):
    """One event, to be sent again to one webhook."""

    event_id: Annotated[EventId, PATH]


# -- use cases ---------------------------------------------------------------------------------


async def list_webhooks(ctx: Context, request: ListWebhooks) -> Page[Webhook]:
    """The workspace's webhooks."""
    page = await ctx.page(WEBHOOKS, after=request.cursor, limit=request.limit)
    webhooks = [WEBHOOKS.decode(raw) for raw in page.rows]
    queues = await ctx.find_many(QUEUES, [webhook.id for webhook in webhooks])
    rows = [
        rules.shown(webhook, queues.get(webhook.id, Queue(webhook.id, None)))
        for webhook in webhooks
    ]
    return Page(tuple(map(wire.dumps, rows)), page.next_cursor)


async def create_webhook(ctx: Context, request: CreateWebhook) -> Created[IssuedWebhook]:
    """Register an address; its secret is shown when it was made here."""
    members = named(request.body, WebhookInput)
    own = _own_key(members.pop("secret", UNSET))
    webhook = personal.made(ctx, WEBHOOKS, **members)
    rules.check_url(webhook.url, loopback=ctx.host.is_development)
    await _check(ctx, members)
    held = await ctx.tx.documents.scan(WEBHOOKS, limit=WEBHOOKS_MAX)
    if len(held.rows) == WEBHOOKS_MAX:
        raise Problem(
            problem.RESOURCE_CONFLICT,
            f"A workspace has at most {WEBHOOKS_MAX}.",
            resolution="Delete a webhook first.",
        )
    key = own or ctx.ids.random(SECRET_BYTES)
    document = await ctx.create(WEBHOOKS, webhook.id, webhook)
    await keys.keep(ctx, webhook.id, key)
    shown = rules.shown(webhook, Queue(webhook.id, None))
    raw = wire.dumps(shown) if own else _issued(shown, key)
    return Created(raw, document.tag, str(WEBHOOKS.address(webhook.id)))


async def _check(ctx: Context, sent: Mapping[str, Any], known: Sequence[str] = ()) -> None:
    """Pass profiles that are there, or were known before.

    Raises:
        Problem: VALIDATION_FAILED, naming each that is not.
    """
    ids = sent.get("profile_ids", ())
    problem.refuse(await ctx.missing(PROFILES, ids, pointer="/profileIds", known=known))


def _own_key(secret: Maybe[str]) -> bytes | None:
    if isinstance(secret, Unset):
        return None
    try:
        return secret_key(secret)
    except SecretError as fault:
        detail = str(Fault("/secret", str(fault)))
        raise Problem(problem.VALIDATION_FAILED, detail) from fault


def _issued(webhook: Webhook, key: bytes) -> bytes:
    members = {name.name: getattr(webhook, name.name) for name in attrs.fields(Webhook)}
    return wire.dumps(IssuedWebhook(**members, secret=secret_text(key)))


async def get_webhook(ctx: Context, request: OneWebhook) -> One[Webhook]:
    """One webhook, without its secret."""
    return await _one(ctx, await ctx.load(WEBHOOKS, request.webhook_id))


async def _one(ctx: Context, stored: Document[StoredWebhook] | One[StoredWebhook]) -> One[Webhook]:
    """The webhook with how its deliveries go, of which its tag knows nothing."""
    webhook = WEBHOOKS.decode(stored.raw)
    return One(wire.dumps(rules.shown(webhook, await queue_of(ctx, webhook.id))), stored.tag)


async def change_webhook(ctx: Context, request: ReplaceWebhook | PatchWebhook) -> One[Webhook]:
    """Change the members that are sent; a replacement sends its defaults too.

    Status stays, and so does the secret unless one is sent.
    """
    members, before = named(request.body, WebhookInput), WEBHOOKS.decode(ctx.row.raw)
    own = _own_key(members.pop("secret", UNSET))
    after = changed(before, ctx.now, **members)
    if own is not None and await keys.replace(ctx, before.id, own):
        # The row is written, so that its version tells of the new secret, which it does not show.
        after = attrs.evolve(after, updated_at=ctx.now)
    if after.url != before.url:
        rules.check_url(after.url, loopback=ctx.host.is_development)
    await _check(ctx, members, before.profile_ids)
    document = ctx.row
    if after is not before:
        document = await ctx.save(WEBHOOKS, after.id, after, expect=document.version)
    return await _one(ctx, document)


async def delete_webhook(ctx: Context, request: OneWebhook) -> Empty:
    """Remove the webhook with its secret; what waits for it is never sent."""
    await ctx.remove(WEBHOOKS, request.webhook_id)
    await ctx.remove(WEBHOOK_SECRETS, request.webhook_id)
    queue = await queue_of(ctx, request.webhook_id)
    await ctx.save(QUEUES, queue.webhook_id, attrs.evolve(queue, wake_at=ctx.now))
    return Empty()


async def enable_webhook(ctx: Context, request: OneWebhook) -> One[Webhook]:
    """Tell it of events again, with nothing counted against it."""
    queue = await queue_of(ctx, request.webhook_id)
    if queue.consecutive_failures:
        await ctx.save(QUEUES, queue.webhook_id, attrs.evolve(queue, consecutive_failures=0))
    enabled = rules.enabled(WEBHOOKS.decode(ctx.row.raw), ctx.now)
    return await _one(ctx, await ctx.rewrite(WEBHOOKS, enabled))


async def rotate_secret(ctx: Context, request: OneWebhook) -> One[IssuedWebhook]:  # noqa: ARG001
    """Make a new secret; the one before it signs beside it for a day."""
    webhook = attrs.evolve(WEBHOOKS.decode(ctx.row.raw), updated_at=ctx.now)
    document = await ctx.save(WEBHOOKS, webhook.id, webhook, expect=ctx.row.version)
    key = ctx.ids.random(SECRET_BYTES)
    await keys.rotate(ctx, webhook.id, key)
    queue = await queue_of(ctx, webhook.id)
    return One(_issued(rules.shown(webhook, queue), key), document.tag)


async def send_test(ctx: Context, request: OneWebhook) -> Created[Delivery]:
    """Queue a test event, signed and counted like any other."""
    webhook = await ctx.value(WEBHOOKS, request.webhook_id)
    if webhook.status == "disabled":
        raise rules.disabled()
    event = rules.trial(ctx.ids.new("evt"), webhook, ctx.host.origin, ctx.now)
    await publish(ctx, event, (webhook,))
    return await _delivery(ctx, webhook.id, event)


async def list_deliveries(ctx: Context, request: ListDeliveries) -> Page[Delivery]:
    """What became of the events that a webhook was told of."""
    await ctx.load(WEBHOOKS, request.webhook_id)
    return await ctx.page(
        DELIVERIES,
        where={
            "webhook_id": request.webhook_id,
            "status": request.status,
            "event_id": request.event_id,
        },
        **bounds(request.datetime),
        after=request.cursor,
        limit=request.limit,
    )


async def redeliver(ctx: Context, request: RedeliverEvent) -> Created[Delivery]:
    """Send an event again: the same body under the same id, in a new attempt."""
    webhook = await ctx.value(WEBHOOKS, request.webhook_id)
    id_ = delivery_id(webhook.id, request.event_id)
    delivery = await ctx.value(DELIVERIES, id_)
    rules.check_redeliverable(webhook, delivery)
    document = await enqueue(ctx, attrs.evolve(delivery, status="pending", updated_at=ctx.now))
    return Created(document.raw, document.tag, _deliveries(webhook.id, request.event_id))


async def _delivery(ctx: Context, webhook_id: str, event: Event) -> Created[Delivery]:
    document = await ctx.load(DELIVERIES, delivery_id(webhook_id, event.id))
    return Created(document.raw, document.tag, _deliveries(webhook_id, event.id))


def _deliveries(webhook_id: str, event_id: str) -> str:
    return f"{WEBHOOKS.address(webhook_id)}/deliveries?eventId={event_id}"


# -- declarations ------------------------------------------------------------------------------

_ONE = "/webhooks/{webhookId}"
_ROWS = personal.Rows(WEBHOOKS, "webhook_id", MANAGE, MANAGE)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _ROWS.operation(
        "listWebhooks",
        "webhooks list",
        "GET /webhooks",
        "List webhooks",
        list_webhooks,
        columns=(
            "id",
            "url",
            "status",
            "consecutiveFailures",
            "lastDelivery.status",
            "lastDelivery.at",
        ),
        description="The workspace's webhooks, newest first, without their secrets.",
    ),
    _ROWS.operation(
        "createWebhook",
        "webhooks create",
        "POST /webhooks",
        "Register a webhook",
        create_webhook,
        description=(
            "Registers an address that is notified of events. Without a `secret` of your own, one "
            "is made and shown once, in this answer. Verify the signature of every delivery with "
            "it."
        ),
        idempotency="required",
        confidential=True,
        fails=(*_URL, problem.RESOURCE_CONFLICT),
        examples={"body": _EXAMPLE},
    ),
    _ROWS.operation(
        "getWebhook",
        "webhooks show",
        f"GET {_ONE}",
        "Read a webhook",
        get_webhook,
        description=(
            "One webhook, without its secret. Its ETag tells of what is set and of its status: "
            "attempts that do not disable it leave it as it is."
        ),
    ),
    _ROWS.operation(
        "replaceWebhook",
        "webhooks replace",
        f"PUT {_ONE}",
        "Replace a webhook",
        change_webhook,
        request=ReplaceWebhook,
        description=(
            "Replaces address, description and filters; members that are left out get their "
            "default. Status and failure count stay, and so does the secret unless one is sent."
        ),
        fails=_URL,
        examples={"body": _EXAMPLE},
    ),
    _ROWS.operation(
        "updateWebhook",
        "webhooks update",
        f"PATCH {_ONE}",
        "Change a webhook",
        change_webhook,
        request=PatchWebhook,
        description=(
            "Changes only the members that are sent (JSON Merge Patch, RFC 7396): null resets an "
            "optional member to its default."
        ),
        fails=_URL,
        examples={"body": {"description": "Night desk"}},
    ),
    _ROWS.operation(
        "deleteWebhook",
        "webhooks delete",
        f"DELETE {_ONE}",
        "Delete a webhook",
        delete_webhook,
        description="Deletes the webhook and its secret; what still waits for it is never sent.",
    ),
    _ROWS.operation(
        "enableWebhook",
        "webhooks enable",
        f"POST {_ONE}/enable",
        "Enable a webhook",
        enable_webhook,
        description="Notifies it of events again and sets its failure count back to 0.",
    ),
    _ROWS.operation(
        "rotateWebhookSecret",
        "webhooks rotate-secret",
        f"POST {_ONE}/rotate-secret",
        "Rotate a webhook's secret",
        rotate_secret,
        description=(
            "Makes a new secret and shows it once. For 24 hours `webhook-signature` holds a "
            "signature by the old secret as well; `X-Svc-Signature` uses the new one at once."
        ),
        idempotency="optional",
        confidential=True,
    ),
    _ROWS.operation(
        "testWebhook",
        "webhooks test",
        f"POST {_ONE}/test",
        "Send a test event",
        send_test,
        description=(
            f"Queues an event of the type `{TEST}`: signed, attempted and counted like any other. "
            "`Location` lists its delivery."
        ),
        idempotency="optional",
        fails=(problem.RESOURCE_CONFLICT,),
        target=None,
    ),
    _ROWS.operation(
        "listDeliveries",
        "webhooks deliveries",
        f"GET {_ONE}/deliveries",
        "List deliveries",
        list_deliveries,
        columns=("eventId", "eventType", "subject", "status", "updatedAt"),
        description="What became of each event of the last 30 days, with every attempt.",
    ),
    _ROWS.operation(
        "redeliverEvent",
        "webhooks redeliver",
        f"POST {_ONE}/deliveries/{{eventId}}/redeliver",
        "Send an event again",
        redeliver,
        description=(
            "Queues the same event, body and id, for one new attempt. While a delivery is under "
            "way, or the webhook is disabled, the answer is 409."
        ),
        idempotency="optional",
        fails=(problem.RESOURCE_CONFLICT,),
        target=None,
    ),
)
