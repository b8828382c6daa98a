"""The use cases of webhooks: load, ask a rule, save (Spec: Other v1 operations; Events)."""

from typing import Any

import attrs

from svc_core import problem, wire
from svc_core.operation import Context
from svc_core.problem import Problem, describe
from svc_core.resources.members import micros
from svc_core.resources.period import ALL_TIMES
from svc_core.resources.profile import PROFILES
from svc_core.resources.webhook import (
    ALL_EVENTS,
    DELIVERIES,
    QUEUES,
    WEBHOOK_SECRETS,
    WEBHOOKS,
    WEBHOOKS_MAX,
    Delivery,
    Event,
    Webhook,
    delivery_id,
    enqueue,
    publish_event,
    queue_of,
)
from svc_core.result import Created, Empty, One, Page
from svc_core.unset import UNSET, Maybe, Unset, given
from svc_core.webhooks import events, keys, rules
from svc_core.webhooks.requests import (
    CreateWebhook,
    IssuedWebhook,
    ListDeliveries,
    ListWebhooks,
    OneWebhook,
    PatchWebhook,
    RedeliverEvent,
    ReplaceWebhook,
    WebhookInput,
    WebhookPatch,
)
from svc_core.webhooks.signing import SECRET_BYTES, SecretError, secret_key, secret_text
from svc_core.wire import Fault


async def list_webhooks(ctx: Context, request: ListWebhooks) -> Page[Webhook]:
    """The workspace's webhooks."""
    return await ctx.page(WEBHOOKS, after=request.cursor, limit=request.limit)


async def create_webhook(ctx: Context, request: CreateWebhook) -> Created[IssuedWebhook]:
    """Register an address; its secret is shown when it was made here."""
    sent = request.body
    own = _own_key(sent.secret)
    rules.check_url(sent.url, loopback=ctx.host.is_development)
    await ctx.check_all(PROFILES, sent.profile_ids, pointer="/profileIds")
    held = await ctx.tx.documents.scan(WEBHOOKS, limit=WEBHOOKS_MAX)
    if len(held.rows) == WEBHOOKS_MAX:
        raise Problem(
            problem.RESOURCE_CONFLICT,
            f"A workspace has at most {WEBHOOKS_MAX}.",
            resolution="Delete a webhook first.",
        )
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
    key = own or ctx.ids.random(SECRET_BYTES)
    document = await ctx.create(WEBHOOKS, webhook.id, webhook)
    await keys.keep(ctx, webhook.id, key)
    raw = document.raw if own else _issued(webhook, key)
    return Created(raw, document.tag, str(WEBHOOKS.address(webhook.id)))


def _own_key(secret: Maybe[str]) -> bytes | None:
    if isinstance(secret, Unset):
        return None
    try:
        return secret_key(secret)
    except SecretError as fault:
        refused = describe([Fault("/secret", str(fault))])
        raise Problem(problem.VALIDATION_FAILED, refused) from fault


def _issued(webhook: Webhook, key: bytes) -> bytes:
    members = {name.name: getattr(webhook, name.name) for name in attrs.fields(Webhook)}
    return wire.dumps(IssuedWebhook(**members, secret=secret_text(key)))


async def get_webhook(ctx: Context, request: OneWebhook) -> One[Webhook]:
    """One webhook, without its secret."""
    document = await ctx.load(WEBHOOKS, request.webhook_id)
    return One(document.raw, document.tag)


async def replace_webhook(ctx: Context, request: ReplaceWebhook) -> One[Webhook]:
    """Replace address, description and filters; status stays, and the secret unless one is sent."""
    return await _change(ctx, _sent(request.body))


async def patch_webhook(ctx: Context, request: PatchWebhook) -> One[Webhook]:
    """Change the named members."""
    defaults = {"events": ALL_EVENTS, "profile_ids": ()}
    sent = _sent(request.body).items()
    members = {name: defaults.get(name) if value is None else value for name, value in sent}
    return await _change(ctx, members)


def _sent(body: WebhookInput | WebhookPatch) -> dict[str, Any]:
    return attrs.asdict(body, filter=lambda _, value: not isinstance(value, Unset))


async def _change(ctx: Context, members: dict[str, Any]) -> One[Webhook]:
    document = ctx.row
    before = WEBHOOKS.decode(document.raw)
    own = _own_key(members.pop("secret", UNSET))
    after = rules.changed(before, ctx.now, **members)
    if own is not None and await keys.replace(ctx, before.id, own):
        # The row is written, so that its version tells of the new secret, which it does not show.
        after = attrs.evolve(after, updated_at=ctx.now)
    if after.url != before.url:
        rules.check_url(after.url, loopback=ctx.host.is_development)
    await ctx.check_all(
        PROFILES, after.profile_ids, pointer="/profileIds", known=before.profile_ids
    )
    if after is not before:
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
    document = ctx.row
    before = WEBHOOKS.decode(document.raw)
    after = rules.enabled(before, ctx.now)
    if after is not before:
        document = await ctx.save(WEBHOOKS, after.id, after, expect=document.version)
    return One(document.raw, document.tag)


async def rotate_secret(ctx: Context, request: OneWebhook) -> One[IssuedWebhook]:  # noqa: ARG001
    """Make a new secret; the one before it signs beside it for a day."""
    before = ctx.row
    webhook = attrs.evolve(WEBHOOKS.decode(before.raw), updated_at=ctx.now)
    document = await ctx.save(WEBHOOKS, webhook.id, webhook, expect=before.version)
    key = ctx.ids.random(SECRET_BYTES)
    await keys.rotate(ctx, webhook.id, key)
    return One(_issued(webhook, key), document.tag)


async def send_test(ctx: Context, request: OneWebhook) -> Created[Delivery]:
    """Queue a test event, signed and counted like any other."""
    webhook = WEBHOOKS.decode((await ctx.load(WEBHOOKS, request.webhook_id)).raw)
    if webhook.status == "disabled":
        raise rules.disabled()
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
    webhook = WEBHOOKS.decode((await ctx.load(WEBHOOKS, request.webhook_id)).raw)
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
