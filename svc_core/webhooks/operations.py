"""The webhook operations (Spec: Other v1 operations; Events)."""

from typing import Any

from svc_core import problem
from svc_core.operation import Operation, Target
from svc_core.resources.webhook import (
    REPORT_GENERATED,
    TEST,
    WEBHOOKS,
    Delivery,
    Webhook,
)
from svc_core.result import Created, Empty, One, Page
from svc_core.webhooks.requests import (
    CreateWebhook,
    IssuedWebhook,
    ListDeliveries,
    ListWebhooks,
    OneWebhook,
    PatchWebhook,
    RedeliverEvent,
    ReplaceWebhook,
)
from svc_core.webhooks.usecases import (
    create_webhook,
    delete_webhook,
    enable_webhook,
    get_webhook,
    list_deliveries,
    list_webhooks,
    patch_webhook,
    redeliver,
    replace_webhook,
    rotate_secret,
    send_test,
)

MANAGE = frozenset({"webhooks:manage"})

_EXAMPLE = {
    "url": "https://hooks.example.com/svc",
    "description": "Newsroom channel",
    "events": [REPORT_GENERATED],
    "profileIds": [],
}
_WEBHOOK = Target(WEBHOOKS, "webhook_id")
_URL = (problem.WEBHOOK_URL_NOT_ALLOWED,)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        id="listWebhooks",
        group="webhooks",
        verb="list",
        columns=(
            "id",
            "url",
            "status",
            "consecutiveFailures",
            "lastDelivery.status",
            "lastDelivery.at",
        ),
        method="GET",
        path="/webhooks",
        summary="List webhooks",
        description="The workspace's webhooks, newest first, without their secrets.",
        tag="Webhooks",
        request=ListWebhooks,
        response=Page[Webhook],
        run=list_webhooks,
        scopes=MANAGE,
        timeless=True,
    ),
    Operation(
        id="createWebhook",
        group="webhooks",
        verb="create",
        method="POST",
        path="/webhooks",
        summary="Register a webhook",
        description=(
            "Registers an address that is notified of events. Without a `secret` of your own, one "
            "is made and shown once, in this answer. Verify the signature of every delivery with "
            "it."
        ),
        tag="Webhooks",
        request=CreateWebhook,
        response=Created[IssuedWebhook],
        run=create_webhook,
        scopes=MANAGE,
        success=201,
        idempotency="required",
        confidential=True,
        fails=(*_URL, problem.RESOURCE_CONFLICT),
        examples={"body": _EXAMPLE},
    ),
    Operation(
        id="getWebhook",
        group="webhooks",
        verb="show",
        method="GET",
        path="/webhooks/{webhookId}",
        summary="Read a webhook",
        description="One webhook, without its secret.",
        tag="Webhooks",
        request=OneWebhook,
        response=One[Webhook],
        run=get_webhook,
        scopes=MANAGE,
        timeless=True,
    ),
    Operation(
        id="replaceWebhook",
        group="webhooks",
        verb="replace",
        method="PUT",
        path="/webhooks/{webhookId}",
        summary="Replace a webhook",
        description=(
            "Replaces address, description and filters; members that are left out get their "
            "default. Status and failure count stay, and so does the secret unless one is sent."
        ),
        tag="Webhooks",
        request=ReplaceWebhook,
        response=One[Webhook],
        run=replace_webhook,
        scopes=MANAGE,
        target=_WEBHOOK,
        fails=_URL,
        examples={"body": _EXAMPLE},
    ),
    Operation(
        id="updateWebhook",
        group="webhooks",
        verb="update",
        method="PATCH",
        path="/webhooks/{webhookId}",
        summary="Change a webhook",
        description=(
            "Changes only the members that are sent (JSON Merge Patch, RFC 7396): null resets an "
            "optional member to its default."
        ),
        tag="Webhooks",
        request=PatchWebhook,
        response=One[Webhook],
        run=patch_webhook,
        scopes=MANAGE,
        target=_WEBHOOK,
        fails=_URL,
        examples={"body": {"description": "Night desk"}},
    ),
    Operation(
        id="deleteWebhook",
        group="webhooks",
        verb="delete",
        method="DELETE",
        path="/webhooks/{webhookId}",
        summary="Delete a webhook",
        description="Deletes the webhook and its secret; what still waits for it is never sent.",
        tag="Webhooks",
        request=OneWebhook,
        response=Empty,
        run=delete_webhook,
        scopes=MANAGE,
        success=204,
        target=_WEBHOOK,
    ),
    Operation(
        id="enableWebhook",
        group="webhooks",
        verb="enable",
        method="POST",
        path="/webhooks/{webhookId}/enable",
        summary="Enable a webhook",
        description="Notifies it of events again and sets its failure count back to 0.",
        tag="Webhooks",
        request=OneWebhook,
        response=One[Webhook],
        run=enable_webhook,
        scopes=MANAGE,
        target=_WEBHOOK,
    ),
    Operation(
        id="rotateWebhookSecret",
        group="webhooks",
        verb="rotate-secret",
        method="POST",
        path="/webhooks/{webhookId}/rotate-secret",
        summary="Rotate a webhook's secret",
        description=(
            "Makes a new secret and shows it once. For 24 hours `webhook-signature` holds a "
            "signature by the old secret as well; `X-Svc-Signature` uses the new one at once."
        ),
        tag="Webhooks",
        request=OneWebhook,
        response=One[IssuedWebhook],
        run=rotate_secret,
        scopes=MANAGE,
        target=_WEBHOOK,
        idempotency="optional",
        confidential=True,
    ),
    Operation(
        id="testWebhook",
        group="webhooks",
        verb="test",
        method="POST",
        path="/webhooks/{webhookId}/test",
        summary="Send a test event",
        description=(
            f"Queues an event of the type `{TEST}`: signed, attempted and counted like any other. "
            "`Location` lists its delivery."
        ),
        tag="Webhooks",
        request=OneWebhook,
        response=Created[Delivery],
        run=send_test,
        scopes=MANAGE,
        success=201,
        idempotency="optional",
        fails=(problem.RESOURCE_CONFLICT,),
    ),
    Operation(
        id="listDeliveries",
        group="webhooks",
        verb="deliveries",
        columns=("eventId", "eventType", "subject", "status", "updatedAt"),
        method="GET",
        path="/webhooks/{webhookId}/deliveries",
        summary="List deliveries",
        description="What became of each event of the last 30 days, with every attempt.",
        tag="Webhooks",
        request=ListDeliveries,
        response=Page[Delivery],
        run=list_deliveries,
        scopes=MANAGE,
        timeless=True,
    ),
    Operation(
        id="redeliverEvent",
        group="webhooks",
        verb="redeliver",
        method="POST",
        path="/webhooks/{webhookId}/deliveries/{eventId}/redeliver",
        summary="Send an event again",
        description=(
            "Queues the same event, body and id, for one new attempt. While a delivery is under "
            "way, or the webhook is disabled, the answer is 409."
        ),
        tag="Webhooks",
        request=RedeliverEvent,
        response=Created[Delivery],
        run=redeliver,
        scopes=MANAGE,
        success=201,
        idempotency="optional",
        fails=(problem.RESOURCE_CONFLICT,),
    ),
)
