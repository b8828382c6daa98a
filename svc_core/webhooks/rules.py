"""Rules of webhooks: allowed addresses, the queue of deliveries, and the effect of attempts.

Rule 1: a failure counts one, whatever the answer; the fifth in a row disables (Spec: States,
        Webhook). A success sets the count back to 0. Only that it is disabled changes a webhook.
Rule 2: attempts under way count as failures that may still come: no more of them are begun than
        would disable, so a dead address sees five attempts, however many workers there are.
Rule 3: an attempt that was lost with its worker is made again under a new id.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import attrs
from attrs import frozen

from svc_core.base.egress import EgressError, check_callback
from svc_core.base.views import reshape
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.crud import update_row
from svc_core.outbox.cloud_events import cloud_event
from svc_core.outbox.model import (
    ATTEMPTS_KEPT,
    FAILURES_MAX,
    TEST,
    Attempt,
    Delivery,
    DeliveryStatus,
    Hold,
    LastDelivery,
    OutboxEvent,
    Queue,
    StoredWebhook,
    Webhook,
)

HOLD: Final = timedelta(seconds=30)
"""How long a worker holds an attempt: three times the timeout of a receiver, so that only a dead
worker loses it."""


@frozen
class AttemptOutcome:
    """How an attempt ended: the receiver's status, or the reason why there is none."""

    response_status: int | None
    error: str | None
    duration_ms: int

    @property
    def is_success(self) -> bool:
        """Whether the receiver took it: 2xx."""
        return self.error is None


def attempt_outcome(status: int, duration_ms: int) -> AttemptOutcome:
    """The outcome of an attempt that was answered; redirects are not followed, so they fail."""
    if 200 <= status < 300:
        return AttemptOutcome(status, None, duration_ms)
    return AttemptOutcome(status, f"HTTP {status}", duration_ms)


def check_url(url: str, *, loopback: bool) -> None:
    """Refuse an address that must not be called back.

    Raises:
        Problem: WEBHOOK_URL_NOT_ALLOWED.
    """
    try:
        check_callback(url, loopback=loopback)
    except EgressError as error:
        raise Problem(problem.WEBHOOK_URL_NOT_ALLOWED, f"/url: {error}") from error


# -- the webhook -------------------------------------------------------------------------------


def webhook_view(webhook: StoredWebhook, queue: Queue) -> Webhook:
    """The webhook as answers show it: its settings and the state of its deliveries."""
    failures, newest = queue.consecutive_failures, queue.last_delivery
    return reshape(Webhook, webhook, consecutive_failures=failures, last_delivery=newest)


def enable(webhook: StoredWebhook, now: datetime) -> StoredWebhook:
    """The webhook, notified of events again."""
    return update_row(webhook, now, status="enabled", disabled_at=None)


def after_attempt(webhook: StoredWebhook, queue: Queue, now: datetime) -> StoredWebhook:
    """The webhook after an attempt; disabled after too many failures in a row."""
    if queue.consecutive_failures < FAILURES_MAX or webhook.status == "disabled":
        return webhook
    return update_row(webhook, now, status="disabled", disabled_at=now)


# -- its queue ---------------------------------------------------------------------------------


def expired_holds(queue: Queue, now: datetime) -> tuple[Hold, ...]:
    """The attempts whose worker is presumed dead."""
    return tuple(hold for hold in queue.holds if hold.until <= now)


def count_outcome(queue: Queue, event_id: str, result: AttemptOutcome, now: datetime) -> Queue:
    """The queue with the outcome of an attempt in its count."""
    newest = LastDelivery(
        event_id=event_id,
        status="delivered" if result.is_success else "failed",
        response_status=result.response_status,
        at=now,
    )
    failures = 0 if result.is_success else queue.consecutive_failures + 1
    return attrs.evolve(queue, consecutive_failures=failures, last_delivery=newest)


def attempts_left(queue: Queue) -> int:
    """How many more attempts may be begun now at an enabled webhook."""
    return max(0, FAILURES_MAX - queue.consecutive_failures - len(queue.holds))


def add_holds(queue: Queue, holds: Sequence[Hold]) -> Queue:
    """The queue with these attempts under way as well."""
    return attrs.evolve(queue, holds=(*queue.holds, *holds))


def drop_hold(queue: Queue, attempt_id: str) -> Queue | None:
    """The queue without the attempt; None when it is not held, and so belongs to nobody."""
    rest = tuple(hold for hold in queue.holds if hold.attempt_id != attempt_id)
    return None if len(rest) == len(queue.holds) else attrs.evolve(queue, holds=rest)


def with_wake_time(queue: Queue, now: datetime, upcoming: datetime | None) -> Queue:
    """The queue with the time when somebody has to look at it again.

    `upcoming` is from when the first of what waits may be taken; None where nothing waits, or
    there is no room for it.
    """
    times = [hold.until for hold in queue.holds]
    if upcoming is not None:
        times.append(max(upcoming, now))
    return attrs.evolve(queue, wake_at=min(times, default=None))


def trial_event(id_: str, webhook: StoredWebhook, origin: str, now: datetime) -> OutboxEvent:
    """The event of a test delivery."""
    data = {"webhookId": webhook.id}
    return cloud_event(id_, TEST, webhook.id, source=origin, at=now, data=data)


# -- a delivery --------------------------------------------------------------------------------


def begin_attempt(delivery: Delivery, attempt_id: str, now: datetime) -> Delivery:
    """The delivery with one more attempt, which is under way."""
    number = delivery.attempts[-1].number + 1 if delivery.attempts else 1
    attempts = (*delivery.attempts, Attempt(attempt_id, number, now))[-ATTEMPTS_KEPT:]
    return attrs.evolve(delivery, status="delivering", attempts=attempts, updated_at=now)


def end_attempt(
    delivery: Delivery, attempt_id: str, result: AttemptOutcome, now: datetime
) -> Delivery:
    """The delivery with the end of one of its attempts."""
    attempts = tuple(
        attrs.evolve(
            attempt,
            finished_at=now,
            duration_ms=result.duration_ms,
            response_status=result.response_status,
            error=result.error,
        )
        if attempt.id == attempt_id
        else attempt
        for attempt in delivery.attempts
    )
    status: DeliveryStatus = "delivered" if result.is_success else "failed"
    return attrs.evolve(delivery, status=status, attempts=attempts, updated_at=now)


def disabled_problem() -> Problem:
    """RESOURCE_CONFLICT for an operation that needs an enabled webhook."""
    return Problem(
        problem.RESOURCE_CONFLICT,
        "The webhook is disabled.",
        resolution="Enable the webhook first.",
    )


def check_redeliverable(webhook: StoredWebhook, delivery: Delivery) -> None:
    """Refuse to send again a delivery that is under way, or to a disabled webhook.

    Raises:
        Problem: RESOURCE_CONFLICT.
    """
    if webhook.status == "disabled":
        raise disabled_problem()
    if delivery.status in {"pending", "delivering"}:
        raise problem.conflict(
            "This delivery has not ended yet.", "Wait until it is delivered or failed."
        )
