"""The requests about webhooks and their use cases (Spec: Other v1 operations; Events)."""

from typing import Annotated, Any

import attrs
from attrs import frozen

from svc_core import problem, vault, wire
from svc_core.constraints import Doc, Example
from svc_core.operation import (
    BODY,
    PATH,
    QUERY,
    Context,
    Created,
    Empty,
    IdOf,
    One,
    Page,
)
from svc_core.ports import Document
from svc_core.problem import Problem, describe
from svc_core.resources.members import Cursor, Limit, micros
from svc_core.resources.period import ALL_TIMES, When
from svc_core.resources.profile import PROFILES
from svc_core.resources.webhook import (
    ALL_EVENTS,
    DELIVERIES,
    QUEUES,
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
    Url,
    Webhook,
    WebhookId,
    WebhookSecrets,
    delivery_id,
    enqueue,
    publish_event,
    queue_of,
)
from svc_core.unset import UNSET, Maybe, Unset, given
from svc_core.webhooks import events, rules
from svc_core.webhooks.delivering import place_of
from svc_core.webhooks.signing import SECRET_BYTES, SecretError, secret_key, secret_text
from svc_core.wire import Fault

PathWebhookId = Annotated[WebhookId, PATH, IdOf("whk")]

Secret = Annotated[
    str,
    Doc("`whsec_` and the base64 of 24 to 64 bytes; shown this once."),
    Example("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
]


# -- requests ----------------------------------------------------------------------------------


@frozen
class WebhookInput:
    """A whole webhook as a client sends it; what is left out takes its default."""

    url: Url
    description: Description = None
    events: Events = ALL_EVENTS
    profile_ids: ProfileIds = ()


@frozen
class NewWebhook(WebhookInput):
    """A new webhook; without a secret one is made, and shown in the answer."""

    secret: Annotated[
        Maybe[str],
        Doc("Your own secret: `whsec_` and the base64 of 24 to 64 bytes. It is never shown."),
    ] = UNSET


@frozen
class WebhookPatch:
    """The members to change; null takes an optional one back to its default (RFC 7396)."""

    url: Maybe[Url] = UNSET
    description: Maybe[Description] = UNSET
    events: Maybe[Events | None] = UNSET
    profile_ids: Maybe[ProfileIds | None] = UNSET


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

    body: Annotated[NewWebhook, BODY]


@frozen
class OneWebhook:
    """One webhook."""

    webhook_id: PathWebhookId


@frozen
class ReplaceWebhook:
    """One webhook, replaced whole."""

    webhook_id: PathWebhookId
    body: Annotated[WebhookInput, BODY]


@frozen
class PatchWebhook:
    """One webhook, changed in part."""

    webhook_id: PathWebhookId
    body: Annotated[WebhookPatch, BODY]


@frozen
class ListDeliveries:
    """The deliveries of a webhook, newest first."""

    webhook_id: PathWebhookId
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
class RedeliverEvent:
    """One event, to be sent again to one webhook."""

    webhook_id: PathWebhookId
    event_id: Annotated[EventId, PATH]


# -- use cases ---------------------------------------------------------------------------------


async def list_webhooks(ctx: Context, request: ListWebhooks) -> Page[Webhook]:
    """The workspace's webhooks."""
    return await ctx.page(WEBHOOKS, after=request.cursor, limit=request.limit)


async def create_webhook(ctx: Context, request: CreateWebhook) -> Created[IssuedWebhook]:
    """Register an address; its secret is shown when it was made here."""
    sent = request.body
    await _check(ctx, sent.url, sent.profile_ids)
    held = await ctx.tx.documents.scan(WEBHOOKS, limit=WEBHOOKS_MAX)
    if len(held.rows) == WEBHOOKS_MAX:
        raise Problem(problem.RESOURCE_CONFLICT, f"A workspace has at most {WEBHOOKS_MAX}.")
    key = _own_key(sent.secret) or ctx.ids.random(SECRET_BYTES)
    webhook = Webhook(
        id=ctx.ids.new("whk"),
        url=sent.url,
        description=sent.description,
        events=sent.events,
        profile_ids=sent.profile_ids,
        status="enabled",
        consecutive_failures=0,
        disabled_at=None,
        last_delivery=None,
        created_at=ctx.now,
        updated_at=ctx.now,
    )
    document = await ctx.create(WEBHOOKS, webhook.id, webhook)
    await ctx.create(
        WEBHOOK_SECRETS, webhook.id, WebhookSecrets(webhook.id, _sealed(ctx, webhook, key))
    )
    raw = document.raw if not isinstance(sent.secret, Unset) else _issued(webhook, key)
    return Created(raw, document.tag, str(WEBHOOKS.address(webhook.id)))


def _own_key(secret: Maybe[str]) -> bytes | None:
    if isinstance(secret, Unset):
        return None
    try:
        return secret_key(secret)
    except SecretError as fault:
        raise Problem(
            problem.VALIDATION_FAILED, describe([Fault("/secret", str(fault))])
        ) from fault


def _sealed(ctx: Context, webhook: Webhook, key: bytes) -> str:
    nonce = ctx.ids.random(12)
    return vault.lock(vault.vault(ctx.keyring), key, place_of(ctx, webhook.id), nonce)


def _issued(webhook: Webhook, key: bytes) -> bytes:
    members = {name.name: getattr(webhook, name.name) for name in attrs.fields(Webhook)}
    return wire.dumps(IssuedWebhook(**members, secret=secret_text(key)))


async def _check(ctx: Context, url: str, profile_ids: tuple[str, ...]) -> None:
    rules.check_url(url, loopback=ctx.host.is_development)
    faults = [
        Fault(f"/profileIds/{at}", "is no profile of this workspace")
        for at, id_ in enumerate(profile_ids)
        if await ctx.tx.documents.get(PROFILES, id_) is None
    ]
    if faults:
        raise Problem(problem.VALIDATION_FAILED, describe(faults))


async def get_webhook(ctx: Context, request: OneWebhook) -> One[Webhook]:
    """One webhook, without its secret."""
    document = await ctx.load(WEBHOOKS, request.webhook_id)
    return One(document.raw, document.tag)


async def replace_webhook(ctx: Context, request: ReplaceWebhook) -> One[Webhook]:
    """Replace address, description and filters; status and secret stay."""
    return await _change(ctx, attrs.asdict(request.body))


async def patch_webhook(ctx: Context, request: PatchWebhook) -> One[Webhook]:
    """Change the named members."""
    defaults = {"events": ALL_EVENTS, "profile_ids": ()}
    sent = attrs.asdict(request.body, filter=lambda _, value: not isinstance(value, Unset))
    return await _change(
        ctx, {name: defaults.get(name) if value is None else value for name, value in sent.items()}
    )


async def _change(ctx: Context, members: dict[str, Any]) -> One[Webhook]:
    document = _target(ctx)
    before = WEBHOOKS.decode(document.raw)
    after = rules.changed(before, ctx.now, **members)
    if after is not before:
        await _check(ctx, after.url, after.profile_ids)
        document = await ctx.save(WEBHOOKS, after.id, after, expect=document.version)
    return One(document.raw, document.tag)


async def delete_webhook(ctx: Context, request: OneWebhook) -> Empty:
    """Remove the webhook with its secret; what waits for it is never sent."""
    await ctx.remove(WEBHOOKS, request.webhook_id)
    await ctx.remove(WEBHOOK_SECRETS, request.webhook_id)
    queue = await queue_of(ctx, request.webhook_id)
    await ctx.save(QUEUES, queue.webhook_id, attrs.evolve(queue, wake_at=ctx.now))
    return Empty()


async def enable_webhook(ctx: Context, request: OneWebhook) -> One[Webhook]:  # noqa: ARG001
    """Tell it of events again, with nothing counted against it."""
    document = _target(ctx)
    before = WEBHOOKS.decode(document.raw)
    after = rules.enabled(before, ctx.now)
    if after is not before:
        document = await ctx.save(WEBHOOKS, after.id, after, expect=document.version)
    return One(document.raw, document.tag)


async def rotate_secret(ctx: Context, request: OneWebhook) -> One[IssuedWebhook]:
    """Make a new secret; the one before it signs beside it for a day."""
    document = _target(ctx)
    webhook = WEBHOOKS.decode(document.raw)
    stored = WEBHOOK_SECRETS.decode((await ctx.load(WEBHOOK_SECRETS, request.webhook_id)).raw)
    key = ctx.ids.random(SECRET_BYTES)
    rotated = WebhookSecrets(
        webhook_id=webhook.id,
        current=_sealed(ctx, webhook, key),
        previous=stored.current,
        previous_until=ctx.now + rules.OVERLAP,
    )
    await ctx.save(WEBHOOK_SECRETS, webhook.id, rotated)
    return One(_issued(webhook, key))


async def send_test(ctx: Context, request: OneWebhook) -> Created[Delivery]:  # noqa: ARG001
    """Queue a test event, signed and counted like any other."""
    webhook = WEBHOOKS.decode(_target(ctx).raw)
    if webhook.status == "disabled":
        raise Problem(problem.RESOURCE_CONFLICT, "The webhook is disabled; enable it first.")
    event = events.test_event(ctx.ids.new("evt"), webhook, ctx.host.origin, ctx.now)
    await publish_event(ctx, event, (webhook,))
    return await _delivery(ctx, webhook.id, event)


async def list_deliveries(ctx: Context, request: ListDeliveries) -> Page[Delivery]:
    """What became of the events that a webhook was told of."""
    await ctx.load(WEBHOOKS, request.webhook_id)
    where: dict[str, tuple[str, ...]] = {"webhook_id": (request.webhook_id,)}
    if not isinstance(request.status, Unset):
        where["status"] = request.status
    if not isinstance(request.event_id, Unset):
        where["event_id"] = (request.event_id,)
    span = given(request.datetime, ALL_TIMES)
    return await ctx.page(
        DELIVERIES,
        where=where,
        start=None if span.start is None else micros(span.start),
        end=None if span.end is None else micros(span.end),
        after=request.cursor,
        limit=request.limit,
    )


async def redeliver(ctx: Context, request: RedeliverEvent) -> Created[Delivery]:
    """Send an event again: the same body under the same id, in a new attempt."""
    webhook = WEBHOOKS.decode(_target(ctx).raw)
    id_ = delivery_id(webhook.id, request.event_id)
    delivery = DELIVERIES.decode((await ctx.load(DELIVERIES, id_)).raw)
    rules.check_redeliverable(webhook, delivery)
    document = await enqueue(ctx, attrs.evolve(delivery, status="pending", updated_at=ctx.now))
    return Created(document.raw, document.tag, _deliveries(webhook.id, request.event_id))


async def _delivery(ctx: Context, webhook_id: str, event: Event) -> Created[Delivery]:
    document = await ctx.load(DELIVERIES, delivery_id(webhook_id, event.id))
    return Created(document.raw, document.tag, _deliveries(webhook_id, event.id))


def _deliveries(webhook_id: str, event_id: str) -> str:
    return f"{WEBHOOKS.address(webhook_id)}/deliveries?eventId={event_id}"


def _target(ctx: Context) -> Document[Any]:
    if ctx.target is None:
        raise AssertionError("the operation declares its target")
    return ctx.target
