"""A yard of webhooks over the house: tells events, takes attempts and says how they went."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from svc_core.base import drive, instants
from svc_core.operation.context import Context
from svc_core.operation.crud import update_row
from svc_core.operation.members import micros
from svc_core.operation.ports import FeedPosition, StoredRow, TenantRow
from svc_core.outbox.cloud_events import cloud_event, publish, queue_of
from svc_core.outbox.model import (
    DELIVERIES,
    QUEUED_DELIVERIES,
    QUEUES,
    REPORT_GENERATED,
    WEBHOOKS,
    Delivery,
    OutboxEvent,
    Queue,
    Webhook,
    delivery_id,
)
from svc_core.webhooks import delivery_queue as delivering
from svc_core.webhooks import rules
from svc_core.webhooks.delivery_queue import DeliveryTask
from svc_core.webhooks.rules import AttemptOutcome, attempt_outcome

TENANT = "wsp_a"
URL = "https://hooks.example.com/svc"


class Yard:
    """What a test does with webhooks of one workspace."""

    def __init__(self, house: Any) -> None:
        self.house = house

    def run(self, usecase: Callable[[Context], Any], tenant: str = TENANT) -> Any:
        return self.house.run(usecase, tenant)

    def forward(self, *, seconds: float) -> None:
        self.house.clock.advance(seconds)

    # -- over the interface --------------------------------------------------------------------

    def webhook(self, tenant: str = TENANT, **members: Any) -> Any:
        """The answer to a registration."""
        return self.house.webhook(tenant, **members)

    def redeliver(self, webhook_id: str, event_id: str) -> Any:
        path = {"webhookId": webhook_id, "eventId": event_id}
        return json.loads(self.house.send("redeliverEvent", path=path).body)["data"]

    def enable(self, webhook_id: str) -> Any:
        return json.loads(self.house.send("enableWebhook", path={"webhookId": webhook_id}).body)

    def disable(self, webhook_id: str) -> None:
        """As the version before did after a 410, whatever else was under way."""

        async def unit(ctx: Context) -> None:
            webhook = await ctx.value(WEBHOOKS, webhook_id)
            after = update_row(webhook, ctx.now, status="disabled", disabled_at=ctx.now)
            await ctx.save(WEBHOOKS, webhook_id, after)

        self.run(unit)

    # -- what the service does -----------------------------------------------------------------

    def tell(self, *webhook_ids: str) -> OutboxEvent:
        """An event that is on its way to these webhooks, a little after the one before."""
        self.forward(seconds=0.001)
        id_, now = self.house.ids.new("evt"), self.house.clock.now()
        rows = {"n": id_, "generatedAtISO": instants.render(now), "subscriptionIds": []}
        event = cloud_event(id_, REPORT_GENERATED, "rpt_1", source="s", at=now, data=rows)

        async def unit(ctx: Context) -> None:
            rows = [WEBHOOKS.decode((await ctx.load(WEBHOOKS, id_)).raw) for id_ in webhook_ids]
            await publish(ctx, event, rows)

        self.run(unit)
        return event

    def across(self, collection: Any, filters: Any) -> tuple[TenantRow[Any], ...]:
        return drive.run(self.house.store.across(collection, where=filters, limit=100))

    def due(self) -> tuple[TenantRow[Queue], ...]:
        """What a worker finds to be looked at now."""
        end = micros(self.house.clock.now())
        return drive.run(self.house.store.across(QUEUES, end=end, limit=100))

    def take(
        self, webhook_id: str, seen: StoredRow[Queue] | None = None
    ) -> tuple[DeliveryTask, ...]:
        tasks: tuple[DeliveryTask, ...] = self.run(
            lambda ctx: delivering.take_deliveries(ctx, webhook_id, seen)
        )
        return tasks

    def restart(self) -> set[str]:
        """The server is killed, and the next one begins; the webhooks that it took over."""
        held_ids = {row.document.id for row in self.across(QUEUES, {"is_held": ("true",)})}
        for id_ in held_ids:
            self.run(lambda ctx, id_=id_: delivering.requeue_all(ctx, id_))
        return held_ids

    def conclude(self, task: DeliveryTask, result: AttemptOutcome) -> Webhook | None:
        after: Webhook | None = self.run(lambda ctx: delivering.conclude(ctx, task, result))
        return after

    def deliver(self, status: int = 200) -> list[DeliveryTask]:
        """Attempt whatever is due until nothing is; what was attempted."""
        tasks: list[DeliveryTask] = []
        while due := self.due():
            for row in due:
                for task in self.take(row.document.id, row.document):
                    tasks.append(task)
                    self.conclude(task, attempt_outcome(status, 5))
        return tasks

    # -- what is in the books ------------------------------------------------------------------

    def state(self, webhook_id: str) -> Webhook:
        row_ = WEBHOOKS.decode(self.run(lambda ctx: ctx.load(WEBHOOKS, webhook_id)).raw)
        return rules.webhook_view(row_, self.queue(webhook_id))

    def queue(self, webhook_id: str) -> Queue:
        queue: Queue = self.run(lambda ctx: queue_of(ctx, webhook_id))
        return queue

    def delivery(self, webhook_id: str, event_id: str) -> Delivery:
        id_ = delivery_id(webhook_id, event_id)
        return DELIVERIES.decode(self.run(lambda ctx: ctx.load(DELIVERIES, id_)).raw)

    def deliveries(self, webhook_id: str) -> list[Delivery]:
        filters = {"webhook_id": (webhook_id,)}
        page = self.run(lambda ctx: ctx.tx.documents.scan(DELIVERIES, where=filters, limit=10_000))
        return [DELIVERIES.decode(row.raw) for row in page.rows]

    def statuses(self, webhook_id: str) -> list[str]:
        """Of every delivery, oldest first."""
        return [delivery.status for delivery in reversed(self.deliveries(webhook_id))]

    def newest_change(self, webhook_id: str) -> int:
        """The version that the newest change record of the webhook tells of."""
        page = self.run(lambda ctx: ctx.tx.changes.read(FeedPosition(), limit=10_000))
        return max(row.version for row in page.changes if row.resource_id == webhook_id)

    def version(self, webhook_id: str) -> int:
        return int(self.run(lambda ctx: ctx.load(WEBHOOKS, webhook_id)).version)

    def waiting(self, webhook_id: str) -> set[str]:
        filters = {"webhook_id": (webhook_id,)}
        page = self.run(
            lambda ctx: ctx.tx.documents.scan(QUEUED_DELIVERIES, where=filters, limit=10_000)
        )
        return {row.id for row in page.rows}


@pytest.fixture
def yard(house: Any) -> Yard:
    return Yard(house)


@pytest.fixture(scope="session")
def yard_factory(house_factory: Callable[[], Any]) -> Callable[[], Yard]:
    return lambda: Yard(house_factory())
