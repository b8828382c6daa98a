"""The commands for webhooks (Spec: Events; States, Webhook)."""

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
from attrs import frozen

from svc_core import problem
from svc_core.operation import Context
from svc_core.problem import Problem
from svc_core.reports.notices import announce
from svc_core.resources.members import ReportId, WebhookId, micros
from svc_core.resources.report import FACETS, REPORTS
from svc_core.resources.webhook import (
    DELIVERIES,
    WEBHOOKS,
    WEBHOOKS_MAX,
    DeliveryStatus,
    EventId,
)
from svc_core.unset import UNSET
from svc_core.webhooks import operations
from svc_core.wire import Json
from svc_http.commands import accounts
from svc_http.commands.command import Rows, row, short, table
from svc_http.service import Service


@frozen
class CreateWebhook:
    """A new webhook of a workspace, or of a person."""

    webhook: operations.WebhookInput
    workspace: str | None = None


@frozen
class ListWebhooks:
    """The webhooks of a workspace."""

    workspace: str | None = None


@frozen
class OneWebhook:
    """The webhook that is meant."""

    webhook_id: WebhookId
    workspace: str | None = None


@frozen
class ListDeliveries:
    """The deliveries of a webhook, newest first."""

    webhook_id: WebhookId
    status: tuple[DeliveryStatus, ...] = ()
    workspace: str | None = None
    limit: Rows = 20


@frozen
class Redeliver:
    """One event, to be sent again to one webhook."""

    webhook_id: WebhookId
    event_id: EventId
    workspace: str | None = None


@frozen
class Trigger:
    """The report to be told of; without an id, the newest one of the workspace."""

    report_id: ReportId | None = None
    workspace: str | None = None


Act = Callable[[Context], Awaitable[Any]]


async def create(service: Service, args: CreateWebhook) -> Json:
    """Register an address; the secret that was made for it is in this answer and nowhere else."""
    tenant = await accounts.tenant(service, args.workspace)
    asked = operations.CreateWebhook(args.webhook)
    made = await service.write(tenant, lambda ctx: operations.create_webhook(ctx, asked))
    return row(made.raw)


async def list_(service: Service, args: ListWebhooks) -> Json:
    """The webhooks, newest first, without their secrets."""
    tenant = await accounts.tenant(service, args.workspace)
    asked = operations.ListWebhooks(limit=WEBHOOKS_MAX)
    found = await service.read(tenant, lambda ctx: operations.list_webhooks(ctx, asked))
    return [row(raw) for raw in found.rows]


async def show(service: Service, args: OneWebhook) -> Json:
    """One webhook without its secret."""
    tenant = await _owner(service, args.webhook_id, args.workspace)
    asked = operations.OneWebhook(args.webhook_id)
    return row((await service.read(tenant, lambda ctx: operations.get_webhook(ctx, asked))).raw)


async def delete(service: Service, args: OneWebhook) -> Json:
    """Remove a webhook and its secret; what waits for it is never sent."""
    tenant = await _owner(service, args.webhook_id, args.workspace)
    asked = operations.OneWebhook(args.webhook_id)
    await service.write(tenant, lambda ctx: operations.delete_webhook(ctx, asked))
    return {"id": args.webhook_id}


async def enable(service: Service, args: OneWebhook) -> Json:
    """Tell a webhook of events again, with nothing counted against it."""
    asked = operations.OneWebhook(args.webhook_id)
    return await _about(service, args, lambda ctx: operations.enable_webhook(ctx, asked))


async def rotate_secret(service: Service, args: OneWebhook) -> Json:
    """Make a new secret and tell it once; the old one signs beside it for a day."""
    asked = operations.OneWebhook(args.webhook_id)
    return await _about(service, args, lambda ctx: operations.rotate_secret(ctx, asked))


async def test(service: Service, args: OneWebhook) -> Json:
    """Queue a test event, signed and counted like any other."""
    asked = operations.OneWebhook(args.webhook_id)
    return await _about(service, args, lambda ctx: operations.send_test(ctx, asked))


async def deliveries(service: Service, args: ListDeliveries) -> Json:
    """What became of the events that a webhook was told of, newest first."""
    tenant = await _owner(service, args.webhook_id, args.workspace)
    asked = operations.ListDeliveries(
        args.webhook_id, status=args.status or UNSET, limit=args.limit
    )
    found = await service.read(tenant, lambda ctx: operations.list_deliveries(ctx, asked))
    return [row(raw) for raw in found.rows]


async def redeliver(service: Service, args: Redeliver) -> Json:
    """Send an event again: the same body under the same id, in a new attempt."""
    asked = operations.RedeliverEvent(args.webhook_id, args.event_id)
    return await _about(service, args, lambda ctx: operations.redeliver(ctx, asked))


async def trigger(service: Service, args: Trigger) -> Json:
    """Tell of a report as if it had just been made; the deliveries that were queued."""
    if args.report_id is None:
        tenant = await accounts.tenant(service, args.workspace)
    else:
        tenant = await accounts.owner(service, REPORTS, args.report_id, args.workspace)

    async def unit(ctx: Context) -> Json:
        report = await _report(ctx, args.report_id)
        facets = FACETS.decode((await ctx.load(FACETS, report.id)).raw)
        await announce(ctx, report, facets)
        # Deliveries are listed by when they were made: these have just been.
        queued = await ctx.tx.documents.scan(DELIVERIES, start=micros(ctx.now), limit=WEBHOOKS_MAX)
        told = [DELIVERIES.decode(found.raw) for found in queued.rows]
        mine = {one.webhook_id: one.event_id for one in told if one.subject == report.id}
        sent: list[Json] = [{"webhookId": to, "eventId": event} for to, event in mine.items()]
        return {"reportId": report.id, "deliveries": sent}

    return await service.write(tenant, unit)


async def _report(ctx: Context, id_: str | None) -> Any:
    if id_ is not None:
        return REPORTS.decode((await ctx.load(REPORTS, id_)).raw)
    newest = await ctx.tx.documents.scan(REPORTS, limit=1)
    if not newest.rows:
        raise Problem(
            problem.NOT_FOUND, "There is no report yet; make one: svc reports generate PROFILE_ID"
        )
    return REPORTS.decode(newest.rows[0].raw)


async def _about(service: Service, args: OneWebhook | Redeliver, act: Act) -> Json:
    """Act on a webhook that is there."""
    tenant = await _owner(service, args.webhook_id, args.workspace)

    async def unit(ctx: Context) -> Json:
        target = await ctx.load(WEBHOOKS, args.webhook_id)
        return row((await act(attrs.evolve(ctx, target=target))).raw)

    return await service.write(tenant, unit)


async def _owner(service: Service, webhook_id: str, workspace: str | None) -> str:
    return await accounts.owner(service, WEBHOOKS, webhook_id, workspace)


COMMANDS = table(
    short("webhooks create", CreateWebhook, create),
    short("webhooks list", ListWebhooks, list_),
    short("webhooks show", OneWebhook, show),
    short("webhooks delete", OneWebhook, delete),
    short("webhooks enable", OneWebhook, enable),
    short("webhooks rotate-secret", OneWebhook, rotate_secret),
    short("webhooks test", OneWebhook, test),
    short("webhooks deliveries", ListDeliveries, deliveries),
    short("webhooks redeliver", Redeliver, redeliver),
    short("webhooks trigger", Trigger, trigger),
)
