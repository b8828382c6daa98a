"""Events: what webhooks are told, as CloudEvents 1.0 in structured JSON (Spec: Events).

An event is written with a delivery for each webhook in the unit of work that causes it: all are
there or none.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import attrs

from svc_core import compact, instants
from svc_core.operation import Context
from svc_core.ports import Document
from svc_core.resources.members import ProfileId
from svc_core.resources.webhook import (
    DELIVERIES,
    EVENTS,
    QUEUES,
    WAITING,
    WEBHOOKS,
    WEBHOOKS_MAX,
    Delivery,
    Event,
    Queue,
    StoredWebhook,
    Waiting,
    delivery_id,
)

_text = compact.encoder()


def cloud_event(
    id_: str,
    type_: str,
    subject: str,
    *,
    source: str,
    at: datetime,
    data: Mapping[str, Any],
) -> Event:
    """An event with its body; `source` is the origin of the service, `data` plain JSON."""
    members = {
        "specversion": "1.0",
        "id": id_,
        "source": source,
        "type": type_,
        "subject": subject,
        "time": instants.render(at),
        "datacontenttype": "application/json",
        "data": dict(data),
    }
    return Event(id_, type_, subject, _text(members), at)


async def publish(ctx: Context, event: Event, webhooks: Iterable[StoredWebhook]) -> None:
    """Write an event with a delivery for each webhook; workers find them once it is committed."""
    told = tuple(webhooks)
    if not told:
        return
    await ctx.save(EVENTS, event.id, event)
    for webhook in told:
        delivery = Delivery(
            event_id=event.id,
            webhook_id=webhook.id,
            event_type=event.type,
            subject=event.subject,
            created_at=ctx.now,
            updated_at=ctx.now,
        )
        await enqueue(ctx, delivery)


async def enqueue(ctx: Context, delivery: Delivery) -> Document[Delivery]:
    """Keep a pending delivery and wake whoever attends to its webhook."""
    id_ = delivery_id(delivery.webhook_id, delivery.event_id)
    document = await ctx.save(DELIVERIES, id_, delivery)
    await ctx.save(WAITING, id_, Waiting(id_, delivery.webhook_id, ctx.now))
    queue = await queue_of(ctx, delivery.webhook_id)
    await ctx.save(QUEUES, queue.webhook_id, attrs.evolve(queue, wake_at=ctx.now))
    return document


async def queue_of(ctx: Context, webhook_id: str) -> Queue:
    """The queue of a webhook; an idle one where nothing was ever queued."""
    return await ctx.find(QUEUES, webhook_id) or Queue(webhook_id, None)


async def enabled_webhooks(ctx: Context) -> tuple[StoredWebhook, ...]:
    """The enabled webhooks of the tenant."""
    found = await ctx.tx.documents.scan(WEBHOOKS, limit=WEBHOOKS_MAX)
    webhooks = (WEBHOOKS.decode(row.raw) for row in found.rows)
    return tuple(webhook for webhook in webhooks if webhook.status == "enabled")


def is_for(webhook: StoredWebhook, type_: str, profile: ProfileId) -> bool:
    """Whether the webhook wants to be told of an event of this kind about the profile."""
    return type_ in webhook.events and (not webhook.profile_ids or profile in webhook.profile_ids)
