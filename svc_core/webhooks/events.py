"""Events of the webhooks' own (Spec: Events), as CloudEvents 1.0 in structured JSON."""

from datetime import datetime

from svc_core.resources.event import cloud_event
from svc_core.resources.webhook import TEST, Event, Webhook


def test_event(id_: str, webhook: Webhook, origin: str, now: datetime) -> Event:
    """An event that says nothing but that deliveries arrive."""
    data = {"webhookId": webhook.id}
    body = cloud_event(id_, TEST, webhook.id, source=origin, at=now, data=data)
    return Event(id_, TEST, webhook.id, body, now)
