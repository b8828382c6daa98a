"""What is asked of the webhook operations, and the one answer of their own."""

from typing import Annotated

from attrs import frozen

from svc_core.constraints import Arg, Doc, Example, Pattern
from svc_core.operation import BODY, PATH, QUERY
from svc_core.resources.members import Cursor, Limit, WebhookId
from svc_core.resources.period import When
from svc_core.resources.webhook import (
    ALL_EVENTS,
    DeliveryStatus,
    Description,
    EventId,
    Events,
    ProfileIds,
    Url,
    Webhook,
)
from svc_core.unset import UNSET, Maybe
from svc_core.webhooks.signing import SECRET_PATTERN

PathWebhookId = Annotated[WebhookId, PATH]

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
    events: Events = ALL_EVENTS
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
