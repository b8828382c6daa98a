"""The rows of webhooks, their events and deliveries (Spec: Events; States, Webhook).

Rule 1: an event's body is final before its first attempt, and every attempt sends it verbatim.
Rule 2: each pair of webhook and event has one delivery row, written in the unit of work that
        causes the event: both exist or neither.
Rule 3: waiting deliveries stand in rows of their own, oldest first, so that taking the next one
        costs the same however long the queue is.
Rule 4: the progress of deliveries stands in the queue's row, apart from what people set: an
        attempt changes neither the webhook's row nor its version.
"""

# A delivery moves through five states:
#
#       publish              an attempt begins            the attempt ends
#   ---------------> pending ----------------> delivering ----------------> delivered | failed
#                     ^  |  ^                      |
#                     |  |  +----------------------+  the worker died or was told to end
#                     |  |
#                     |  +---> skipped    the webhook is disabled when the delivery's turn comes
#                     |
#                     +------- a person sends a delivered, failed or skipped one again
#
# There is no retry by itself: an attempt that fails ends the delivery, and five failures in a row
# disable the webhook (Spec: Events, 2). What makes that exact with any number of workers is the
# queue row of the webhook. An attempt is written there as a hold before the request is made, and
# no more holds are taken than failures are left before the fifth; the end of an attempt counts
# only while its hold is there. So two workers cannot both make a fifth attempt.
#
# A hold ends after a time that is longer than any attempt may take. A worker that dies leaves its
# holds behind; their deliveries then go back to `pending` at their old place, and are attempted
# again under a new attempt id. Delivery is therefore at least once: a receiver may see one event
# twice where a worker died between sending and writing the outcome, and recognises it by the
# event's id, which never changes.
#
# Weak spot: the queue row is written at the beginning and at the end of every attempt, so one
# webhook's throughput is bounded by how fast the store can rewrite one row.

from datetime import datetime
from typing import Annotated, Final, Literal

from attrs import frozen

from svc_core.base import ids
from svc_core.base.seals import key_id_of
from svc_core.operation.members import (
    ONE_LINE,
    CreatedAt,
    ProfileId,
    UpdatedAt,
    WebhookId,
    micros,
    micros_or_never,
)
from svc_core.operation.ports import Collection, attribute_keys
from svc_core.wire.constraints import Doc, Example, Ge, IdOf, MaxLen, MinLen

REPORT_GENERATED: Final = "dev.svc.report.generated.v1"
RUN_FINISHED: Final = "dev.svc.automation.run.finished.v1"
SIGNAL_DETECTED: Final = "dev.svc.signal.detected.v1"
TEST: Final = "dev.svc.webhook.test.v1"
EventType = Literal[
    "dev.svc.report.generated.v1",
    "dev.svc.automation.run.finished.v1",
    "dev.svc.signal.detected.v1",
]
DEFAULT_EVENTS: tuple[EventType, ...] = (REPORT_GENERATED,)

FAILURES_MAX = 5
"""Spec: Events, 2: "five consecutive failed attempts disable the webhook"."""
FORMER_MAX = 4
"""Former secrets that sign beside the current one; each makes the header 48 characters longer."""
ATTEMPTS_KEPT = 20
"""Attempts that a delivery remembers; more than one is a person's act each."""
PROFILES_MAX = 100
WEBHOOKS_MAX = 50
"""Webhooks of one workspace; each costs one request for every report."""

EventId = Annotated[
    str, IdOf("evt"), Doc("Event identifier; consumers recognise repetitions by it.")
]
AttemptId = Annotated[str, IdOf("att"), Doc("Identifies one network attempt.")]
Url = Annotated[
    str,
    MaxLen(2_048),
    Doc("Where events are sent: an https address of a public host, port 443."),
    Example("https://hooks.example.com/svc"),
]
Description = Annotated[
    str | None,
    MaxLen(500),
    ONE_LINE,
    Doc("Its name for people; null if not given."),
    Example("Newsroom channel"),
]
Events = Annotated[
    tuple[EventType, ...],
    MinLen(1),
    MaxLen(10),
    Doc("The kinds of event it receives."),
    Example([REPORT_GENERATED]),
]
ProfileIds = Annotated[
    tuple[ProfileId, ...],
    MaxLen(PROFILES_MAX),
    Doc("The profiles whose reports it receives; empty means every subscribed one."),
    Example([]),
]
WebhookStatus = Literal["enabled", "disabled"]
DeliveryStatus = Literal["pending", "delivering", "delivered", "failed", "skipped"]
ResponseStatus = Annotated[
    int | None, Doc("The HTTP status of the receiver; null without an answer."), Example(200)
]
AttemptError = Annotated[
    str | None,
    Doc("Why it failed, in a word or two; null when it did not."),
    Example(None),
]


@frozen
class LastDelivery:
    """The newest finished attempt of a webhook."""

    event_id: EventId
    status: Annotated[Literal["delivered", "failed"], Example("delivered")]
    """How it ended."""
    response_status: ResponseStatus
    at: Annotated[datetime, Example("2026-01-31T07:30:05Z")]
    """When it ended."""


@frozen(kw_only=True)
class StoredWebhook:
    """What people set of a webhook, and whether it is told of events."""

    id: WebhookId
    url: Url
    description: Description
    events: Events
    profile_ids: ProfileIds
    status: Annotated[WebhookStatus, Example("enabled")] = "enabled"
    """A disabled one receives nothing until it is enabled again."""
    disabled_at: Annotated[datetime | None, Example(None)] = None
    """When it was disabled; null while enabled."""
    created_at: CreatedAt
    updated_at: UpdatedAt


ConsecutiveFailures = Annotated[
    int, Ge(0), Doc("Failed attempts since the last success; the fifth disables."), Example(0)
]
NewestDelivery = Annotated[
    LastDelivery | None, Doc("The newest finished attempt; null before the first.")
]


@frozen(kw_only=True)
class Webhook(StoredWebhook):
    """An address that is told of events; its secret is never shown again."""

    consecutive_failures: ConsecutiveFailures = 0
    last_delivery: NewestDelivery = None


@frozen
class FormerSecret:
    """A former secret, sealed, that still signs beside the current one until a time."""

    sealed: str
    until: datetime


@frozen
class WebhookSecrets:
    """The sealed secrets of a webhook: the current one, and former ones while they still sign."""

    webhook_id: WebhookId
    current: str
    former: tuple[FormerSecret, ...] = ()

    @property
    def seals(self) -> tuple[str, ...]:
        """Every sealed secret that is stored, the current one first."""
        return (self.current, *(secret.sealed for secret in self.former))


@frozen
class OutboxEvent:
    """One event, whose body is the JSON text of a CloudEvent.

    It waits for the recording of its subject until `waits_until`; where that is None, it is final.
    """

    id: EventId
    type: str
    subject: str
    body: str
    occurred_at: datetime
    waits_until: datetime | None = None


@frozen
class Attempt:
    """One network attempt; the members of its end are null while it is under way or was lost."""

    id: AttemptId
    number: Annotated[int, Ge(1), Example(1)]
    """Counts the attempts of this delivery."""
    started_at: Annotated[datetime, Example("2026-01-31T07:30:04Z")]
    """When it began."""
    finished_at: Annotated[datetime | None, Example("2026-01-31T07:30:05Z")] = None
    """When it ended; null without an end."""
    duration_ms: Annotated[int | None, Example(183)] = None
    """How long it took, in milliseconds."""
    response_status: ResponseStatus = None
    error: AttemptError = None


@frozen(kw_only=True)
class Delivery:
    """What became of one event at one webhook."""

    event_id: EventId
    webhook_id: WebhookId
    event_type: Annotated[str, Example(REPORT_GENERATED)]
    """The CloudEvent type."""
    subject: Annotated[str, Example("rpt_65f1c0de8badf00d12345678")]
    """What the event is about."""
    status: Annotated[DeliveryStatus, Example("delivered")] = "pending"
    """`skipped` ones found the webhook disabled; they can be sent again."""
    attempts: tuple[Attempt, ...] = ()
    """Its attempts, oldest first."""
    created_at: CreatedAt
    updated_at: UpdatedAt


@frozen
class QueuedDelivery:
    """A delivery that waits for an attempt, and the time from which it may be attempted."""

    delivery_id: str
    webhook_id: WebhookId
    queued_at: datetime


@frozen
class Hold:
    """A worker's claim on an attempt, which lasts until the attempt ends or the time is over."""

    delivery_id: str
    attempt_id: AttemptId
    until: datetime


@frozen
class Queue:
    """The state of one webhook's deliveries: next wake-up, attempts under way, recent outcomes."""

    webhook_id: WebhookId
    wake_at: datetime | None
    holds: tuple[Hold, ...] = ()
    consecutive_failures: ConsecutiveFailures = 0
    last_delivery: NewestDelivery = None


@frozen
class SignalWatch:
    """How far the change feed was looked through for a workspace that is told of signals."""

    position: int


WEBHOOKS: Collection[StoredWebhook] = Collection(
    name="webhooks",
    model=StoredWebhook,
    prefix="whk",
    kind="webhook",
)

WEBHOOK_SECRETS: Collection[WebhookSecrets] = Collection(
    name="webhook_secrets",
    model=WebhookSecrets,
    prefix="whk",
    order=lambda _: 0,
    # So that secrets sealed under an earlier master key are found, and renewed ones no longer are.
    facets={"sealed_with": lambda secrets: map(str, map(key_id_of, secrets.seals))},
)

EVENTS: Collection[OutboxEvent] = Collection(
    name="events",
    model=OutboxEvent,
    prefix="evt",
    order=lambda event: micros(event.occurred_at),
    keys={"waits_for": lambda event: event.subject if event.waits_until else None},
)

DELIVERIES: Collection[Delivery] = Collection(
    name="deliveries",
    model=Delivery,
    prefix="att",
    keys=attribute_keys("webhook_id", "event_id", "status"),
)

QUEUED_DELIVERIES: Collection[QueuedDelivery] = Collection(
    name="waiting",
    model=QueuedDelivery,
    prefix="att",
    # Lists run from the highest order down; the oldest delivery must come first.
    order=lambda waiting: -micros(waiting.queued_at),
    keys=attribute_keys("webhook_id"),
)

QUEUES: Collection[Queue] = Collection(
    name="queues",
    model=Queue,
    prefix="whk",
    order=lambda queue: micros_or_never(queue.wake_at),
    # So that a server that starts finds the attempts that its predecessor left under way.
    keys={"is_held": lambda queue: "true" if queue.holds else None},
)
"""One row a webhook; workers read the lowest `wake_at` of every tenant."""


SIGNAL_WATCHES: Collection[SignalWatch] = Collection(
    name="signal_watches", model=SignalWatch, prefix="", order=lambda watch: watch.position
)
"""One row in each workspace of which a webhook takes the event, from then on."""
WATCH_ID: Final = "feed"


def delivery_id(webhook_id: str, event_id: str) -> str:
    """The identifier of the one delivery of an event to a webhook."""
    return ids.derived_id("att", "delivery", webhook_id, event_id)


COLLECTIONS = (
    *(WEBHOOKS, WEBHOOK_SECRETS, EVENTS, DELIVERIES, QUEUED_DELIVERIES, QUEUES),
    SIGNAL_WATCHES,
)
