"""Publishes events to webhooks as CloudEvents 1.0 in structured JSON (Spec: Events).

Rule 1: an event and one delivery for each webhook are written in the unit of work that causes the
        event: all of them or none.
Rule 2: an event may wait a while for more about its subject, such as the recording of a report.
        Its body may be amended until then, or until the first attempt begins; afterwards it is
        final: one event, one body.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

import attrs

from svc_core.base import instants
from svc_core.base.compact import compact_text
from svc_core.operation.context import Context, scan_values
from svc_core.operation.ports import StoredRow
from svc_core.outbox.model import (
    DELIVERIES,
    EVENTS,
    QUEUED_DELIVERIES,
    QUEUES,
    WEBHOOKS,
    WEBHOOKS_MAX,
    Delivery,
    OutboxEvent,
    Queue,
    QueuedDelivery,
    StoredWebhook,
    delivery_id,
)

Amend = Callable[[dict[str, Any]], Mapping[str, Any]]
"""A function from the CloudEvent members of an event to the amended ones."""


def cloud_event(
    id_: str,
    type_: str,
    subject: str,
    *,
    source: str,
    at: datetime,
    data: Mapping[str, Any],
) -> OutboxEvent:
    """An event with a CloudEvents body; `source` is the service's origin, `data` plain JSON."""
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
    return OutboxEvent(id_, type_, subject, compact_text(members), at)


async def publish(ctx: Context, event: OutboxEvent, webhooks: Iterable[StoredWebhook]) -> None:
    """Write an event with a delivery for each webhook, for workers to find after the commit.

    The deliveries of an event that waits become due when its wait is over.
    """
    receivers = tuple(webhooks)
    if not receivers:
        return
    await ctx.save(EVENTS, event.id, event)
    for webhook in receivers:
        delivery = Delivery(
            event_id=event.id,
            webhook_id=webhook.id,
            event_type=event.type,
            subject=event.subject,
            created_at=ctx.now,
            updated_at=ctx.now,
        )
        await enqueue(ctx, delivery, event.waits_until)


async def enqueue(
    ctx: Context, delivery: Delivery, at: datetime | None = None
) -> StoredRow[Delivery]:
    """Queue a pending delivery, and set the wake-up time of its webhook's queue to now or `at`."""
    id_, at = delivery_id(delivery.webhook_id, delivery.event_id), at or ctx.now
    document = await ctx.save(DELIVERIES, id_, delivery)
    await ctx.save(QUEUED_DELIVERIES, id_, QueuedDelivery(id_, delivery.webhook_id, at))
    queue = await queue_of(ctx, delivery.webhook_id)
    wake_at = min(queue.wake_at or at, at)
    await ctx.save(QUEUES, queue.webhook_id, attrs.evolve(queue, wake_at=wake_at))
    return document


async def release_waiting(ctx: Context, subject: str, amend: Amend | None) -> None:
    """Send the event now that waits for more about this subject.

    `amend` adds it to the members of the event; None where nothing more will come.
    """
    for event in await scan_values(ctx, EVENTS, where={"waits_for": (subject,)}, limit=1):
        filters = {"event_id": (event.id,)}
        deliveries = await scan_values(ctx, DELIVERIES, where=filters, limit=WEBHOOKS_MAX)
        body, is_open = event.body, event.waits_until is not None and ctx.now < event.waits_until
        if amend and is_open and not any(delivery.attempts for delivery in deliveries):
            body = compact_text(amend(json.loads(body)))
        await ctx.save(EVENTS, event.id, attrs.evolve(event, body=body, waits_until=None))
        for delivery in deliveries:
            if delivery.status == "pending":
                await enqueue(ctx, delivery)


async def queue_of(ctx: Context, webhook_id: str) -> Queue:
    """The queue of a webhook, or a new idle one where nothing was ever queued."""
    return await ctx.find(QUEUES, webhook_id) or Queue(webhook_id, None)


async def enabled_webhooks(ctx: Context) -> tuple[StoredWebhook, ...]:
    """The enabled webhooks of the tenant whose unit of work this is."""
    webhooks = await scan_values(ctx, WEBHOOKS, limit=WEBHOOKS_MAX)
    return tuple(webhook for webhook in webhooks if webhook.status == "enabled")
