"""Use cases of the delivery worker: take waiting deliveries, conclude attempts, purge old ones.

Each is one unit of work, so that several workers, or one that is killed half way, leave consistent
rows: an attempt is written before it is made, and its end only while the worker holds it.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import attrs
from attrs import field, frozen

from svc_core.base import instants
from svc_core.base.seals import SealError
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.context import Context, scan_values
from svc_core.operation.ports import StoredRow
from svc_core.outbox.cloud_events import queue_of
from svc_core.outbox.model import (
    DELIVERIES,
    EVENTS,
    QUEUED_DELIVERIES,
    QUEUES,
    REPORT_GENERATED,
    WEBHOOKS,
    Hold,
    OutboxEvent,
    Queue,
    QueuedDelivery,
    StoredWebhook,
    Webhook,
)
from svc_core.reports.profiles.model import PROFILE_DELIVERIES, SUBSCRIPTIONS, DeliveryMetadata
from svc_core.webhooks import rules
from svc_core.webhooks import webhook_secrets as keys
from svc_core.webhooks.rules import AttemptOutcome
from svc_core.webhooks.signing import fields

DELIVERY_RETENTION: Final = timedelta(days=30)
"""How long deliveries and their events are kept: long enough to repair a loss over a holiday."""
SKIPPED_AT_ONCE: Final = 200
"""Waiting deliveries that one unit of work takes off a disabled webhook's queue."""
SEALED_PAUSE: Final = timedelta(minutes=5)
"""The pause of a webhook whose secret cannot be decrypted; only a person can repair that."""


@frozen
class DeliveryTask:
    """One attempt to be made: what to send, where, and signed by what."""

    webhook_id: str
    delivery_id: str
    attempt_id: str
    number: int
    url: str
    event: OutboxEvent
    keys: tuple[bytes, ...] = field(repr=False)

    def fields(self, at: datetime) -> dict[str, str]:
        """The header fields of the request."""
        return fields(
            self.event, attempt_id=self.attempt_id, number=self.number, at=at, keys=self.keys
        )


async def take_deliveries(
    ctx: Context, webhook_id: str, snapshot: StoredRow[Queue] | None = None
) -> tuple[DeliveryTask, ...]:
    """Take the deliveries that may be attempted now, each with its attempt written.

    `snapshot` is the row that the worker acted on: when it has changed meanwhile another worker was
    first, and there is nothing to do. While the secret of the webhook cannot be opened nothing is
    taken and nothing lost: it waits.
    """
    if snapshot is None:
        queue = await ctx.find(QUEUES, webhook_id)
    else:
        queue = await ctx.if_unchanged(QUEUES, snapshot)
    if queue is None:
        return ()
    webhook = await ctx.find(WEBHOOKS, webhook_id)
    if webhook is None:
        await _forget(ctx, queue)
        return ()
    queue = await _put_back(ctx, queue, rules.expired_holds(queue, ctx.now))
    if webhook.status == "disabled":
        await _skip(ctx, queue)
        return ()
    room = rules.attempts_left(queue)
    waiting = await _waiting(ctx, webhook_id, room + 1)
    due = [line for line in waiting[:room] if line.queued_at <= ctx.now]
    try:
        signing = await keys.signing_keys(ctx, webhook_id)
    except SealError:
        await ctx.save(QUEUES, webhook_id, attrs.evolve(queue, wake_at=ctx.now + SEALED_PAUSE))
        return ()
    tasks = await _begin(ctx, webhook, due, signing)
    until = ctx.now + rules.HOLD
    holds = [Hold(task.delivery_id, task.attempt_id, until) for task in tasks]
    queue = rules.add_holds(queue, holds)
    await _save(ctx, queue, waiting[len(due) :])
    return tuple(tasks)


async def requeue_all(ctx: Context, webhook_id: str) -> None:
    """Put all held deliveries of a webhook back into its queue, due at once.

    Only for a process that has the store to itself and has begun nothing yet: whatever is held
    then was held by workers that are dead.
    """
    queue = await queue_of(ctx, webhook_id)
    queue = await _put_back(ctx, queue, queue.holds)
    await ctx.save(QUEUES, webhook_id, attrs.evolve(queue, wake_at=ctx.now))


async def requeue(ctx: Context, webhook_id: str, attempt_ids: Collection[str]) -> None:
    """Put these attempts back into the queue, if they are still held; due at once.

    For a worker that is stopped: it does not know how they ended.
    """
    queue = await ctx.find(QUEUES, webhook_id)
    if queue is None:
        return
    holds = [hold for hold in queue.holds if hold.attempt_id in attempt_ids]
    if holds:
        queue = await _put_back(ctx, queue, holds)
        await ctx.save(QUEUES, webhook_id, attrs.evolve(queue, wake_at=ctx.now))


async def conclude(ctx: Context, task: DeliveryTask, result: AttemptOutcome) -> Webhook | None:
    """Write the outcome of an attempt; the webhook after it.

    None when it was not held any more, or its webhook is gone: then it counts for nothing.
    """
    remaining = rules.drop_hold(await queue_of(ctx, task.webhook_id), task.attempt_id)
    before = await ctx.find(WEBHOOKS, task.webhook_id)
    if remaining is None or before is None:
        return None
    delivery = await ctx.find(DELIVERIES, task.delivery_id)
    if delivery is not None:  # else it was forgotten meanwhile, as old ones are
        after = rules.end_attempt(delivery, task.attempt_id, result, ctx.now)
        await ctx.save(DELIVERIES, task.delivery_id, after)
    if result.is_success and task.event.type == REPORT_GENERATED:
        await _remember(ctx, json.loads(task.event.body)["data"])
    queue = rules.count_outcome(remaining, task.event.id, result, ctx.now)
    webhook = rules.after_attempt(before, queue, ctx.now)
    if webhook is not before:
        await ctx.save(WEBHOOKS, webhook.id, webhook)
    if webhook.status == "disabled":
        await _skip(ctx, queue)
    else:
        await _save(ctx, queue, await _waiting(ctx, webhook.id, 1))
    return rules.webhook_view(webhook, queue)


async def _remember(ctx: Context, data: Mapping[str, Any]) -> None:
    """Store the time of a delivered report with its profile, while it is subscribed."""
    at = instants.parse(data["generatedAtISO"])
    for subscription in (await ctx.find_many(SUBSCRIPTIONS, data["subscriptionIds"])).values():
        before = await ctx.find(PROFILE_DELIVERIES, subscription.profile_id)
        newest = max(at, (before and before.generated_at_iso) or at)  # an older one is sent again
        await ctx.save(PROFILE_DELIVERIES, subscription.profile_id, DeliveryMetadata(newest))


async def purge(ctx: Context, ids: Sequence[str]) -> None:
    """Forget deliveries that are older than they are kept, each with its event."""
    events = {delivery.event_id for delivery in (await ctx.find_many(DELIVERIES, ids)).values()}
    for id_ in ids:
        await ctx.tx.documents.delete(DELIVERIES, id_)
        await ctx.tx.documents.delete(QUEUED_DELIVERIES, id_)
    for id_ in sorted(events - await _still_pending(ctx, events)):
        await ctx.tx.documents.delete(EVENTS, id_)


async def _still_pending(ctx: Context, events: set[str]) -> set[str]:
    """The events among these that still have deliveries."""
    pending: set[str] = set()
    has_more = True
    while has_more:
        filters = {"event_id": tuple(sorted(events - pending))}
        page = await ctx.tx.documents.scan(DELIVERIES, where=filters, limit=SKIPPED_AT_ONCE)
        pending |= {DELIVERIES.decode(row.raw).event_id for row in page.rows}
        has_more = page.has_more
    return pending


# -- steps -------------------------------------------------------------------------------------


async def _begin(
    ctx: Context,
    webhook: StoredWebhook,
    waiting: Sequence[QueuedDelivery],
    signing: tuple[bytes, ...],
) -> list[DeliveryTask]:
    pending = await ctx.find_many(DELIVERIES, [line.delivery_id for line in waiting])
    events = await ctx.find_many(EVENTS, [delivery.event_id for delivery in pending.values()])
    tasks: list[DeliveryTask] = []
    for id_, before in pending.items():
        attempt_id = ctx.ids.new("att")
        delivery = rules.begin_attempt(before, attempt_id, ctx.now)
        await ctx.save(DELIVERIES, id_, delivery)
        await ctx.remove(QUEUED_DELIVERIES, id_)
        event = events.get(delivery.event_id)
        if event is None:
            raise Problem(problem.NOT_FOUND, f"The event {delivery.event_id} is gone.")
        number = delivery.attempts[-1].number
        tasks.append(DeliveryTask(webhook.id, id_, attempt_id, number, webhook.url, event, signing))
    return tasks


async def _waiting(ctx: Context, webhook_id: str, limit: int) -> list[QueuedDelivery]:
    return await scan_values(
        ctx, QUEUED_DELIVERIES, where={"webhook_id": (webhook_id,)}, limit=limit
    )


async def _put_back(ctx: Context, queue: Queue, holds: Sequence[Hold]) -> Queue:
    """The queue after these holds were put back to wait at their old places."""
    deliveries = await ctx.find_many(DELIVERIES, [hold.delivery_id for hold in holds])
    for hold in holds:
        delivery = deliveries.get(hold.delivery_id)
        if delivery is None:
            continue  # It was forgotten meanwhile, as old ones are.
        pending = attrs.evolve(delivery, status="pending", updated_at=ctx.now)
        await ctx.save(DELIVERIES, hold.delivery_id, pending)
        waiting = QueuedDelivery(hold.delivery_id, queue.webhook_id, delivery.created_at)
        await ctx.save(QUEUED_DELIVERIES, hold.delivery_id, waiting)
    return attrs.evolve(queue, holds=tuple(hold for hold in queue.holds if hold not in holds))


async def _save(ctx: Context, queue: Queue, waiting: Sequence[QueuedDelivery]) -> None:
    upcoming = waiting[0].queued_at if waiting and rules.attempts_left(queue) else None
    awake = rules.with_wake_time(queue, ctx.now, upcoming)
    await ctx.save(QUEUES, queue.webhook_id, awake)


async def _skip(ctx: Context, queue: Queue) -> None:
    """Mark the waiting deliveries of a disabled webhook as skipped; a person may redeliver them."""
    waiting = await _waiting(ctx, queue.webhook_id, SKIPPED_AT_ONCE)
    pending = await ctx.find_many(DELIVERIES, [line.delivery_id for line in waiting])
    for id_, delivery in pending.items():
        after = attrs.evolve(delivery, status="skipped", updated_at=ctx.now)
        await ctx.save(DELIVERIES, id_, after)
        await ctx.remove(QUEUED_DELIVERIES, id_)
    upcoming = ctx.now if len(waiting) == SKIPPED_AT_ONCE else None
    awake = rules.with_wake_time(queue, ctx.now, upcoming)
    await ctx.save(QUEUES, queue.webhook_id, awake)


async def _forget(ctx: Context, queue: Queue) -> None:
    """Remove the queue of a webhook that was deleted, with what still waits in it."""
    waiting = await _waiting(ctx, queue.webhook_id, SKIPPED_AT_ONCE)
    for line in waiting:
        await ctx.remove(QUEUED_DELIVERIES, line.delivery_id)
    if len(waiting) < SKIPPED_AT_ONCE:
        await ctx.remove(QUEUES, queue.webhook_id)
