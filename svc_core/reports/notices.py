"""Notifies webhooks and followers of a new report (Spec: Events, Report notification webhook).

Rule 1: the event is written with the report, in one unit of work: both exist or neither.
Rule 2: it goes to the enabled webhooks of the profile's active subscription that want it, and to
        none of a paused one.
Rule 3: the body is bounded and compact: identifiers, counts, links and a short summary; no HTML,
        storage ids, model names, prompts or costs.
Rule 4: where a report is to be spoken, its event waits for the recording
(`svc_core.outbox.cloud_events`).
"""

from typing import Any, Final

import attrs

from svc_core import wire
from svc_core.base import instants
from svc_core.formats.reading.markup_text import clip, fold_space
from svc_core.operation.context import Context, scan_values
from svc_core.operation.ports import ChangeType
from svc_core.outbox.cloud_events import cloud_event, enabled_webhooks, publish
from svc_core.outbox.model import REPORT_GENERATED, EventType, StoredWebhook
from svc_core.reports.model import REPORTS, ReportFacets, ReportRow
from svc_core.reports.profiles.followers import FollowerTask, subscriber
from svc_core.reports.profiles.model import SUBSCRIPTIONS, Subscription
from svc_core.reports.recordings import announce

TITLE_CHARS_MAX: Final = 200
SUMMARY_CHARS_MAX: Final = 500
"""Enough for a message in a chat; the whole summary is one request away."""


async def notify(
    ctx: Context,
    row: ReportRow,
    facets: ReportFacets,
    subscription: Subscription,
    *,
    may_wait: bool = True,
) -> bool:
    """Write the event of a report for one subscription and the webhooks of its workspace.

    The report may be another workspace's. The answer is whether it is to be spoken: where the
    subscriber wants audio and the host has a voice. Then the event waits for it, for a bounded
    time.
    """
    if subscription.status != "active":
        return False
    targets = [webhook for webhook in await enabled_webhooks(ctx) if wants(webhook, subscription)]
    is_spoken = ctx.host.has_voice and subscription.delivery.include_audio
    waits = may_wait and is_spoken and not row.has_audio
    until = ctx.now + ctx.host.audio_wait if waits else None
    id_, origin = ctx.ids.new("evt"), ctx.host.origin
    data = notice(row, facets, subscription, origin=origin, aliases=ctx.aliases)
    event = cloud_event(id_, REPORT_GENERATED, row.id, source=origin, at=ctx.now, data=data)
    await publish(ctx, attrs.evolve(event, waits_until=until), targets)
    return waits


async def inform(ctx: Context, task: FollowerTask) -> bool:
    """Notify one follower of news of a public profile of another workspace.

    The answer is whether the report is to be spoken.
    """
    subscription, news = await subscriber(ctx, task), task.news
    if subscription is None or task.report is None:
        return False
    row = REPORTS.decode(task.report.raw)
    if news.version or row.has_audio:
        kind: ChangeType = "created" if news.version == 1 else "updated"
        await ctx.record(REPORTS, row.id, kind, news.version or task.report.version)
    if news.version and task.facets is not None:
        return await notify(ctx, row, task.facets, subscription)
    await announce(ctx, row.id, row.links.audio)
    return False


async def subscription_to(ctx: Context, profile_id: str) -> Subscription | None:
    """The subscription to a profile's reports."""
    filters = {"profile_id": (profile_id,)}
    return next(iter(await scan_values(ctx, SUBSCRIPTIONS, where=filters, limit=1)), None)


def wants(
    webhook: StoredWebhook, subscription: Subscription, event: EventType = REPORT_GENERATED
) -> bool:
    """Whether the subscription notifies this webhook, and the webhook wants such an event of it."""
    choice, profile_ids = subscription.delivery.webhook_ids, webhook.profile_ids
    return (
        subscription.status == "active"
        and (not choice or webhook.id in choice)
        and event in webhook.events
        and (not profile_ids or subscription.profile_id in profile_ids)
    )


def notice(
    row: ReportRow,
    facets: ReportFacets,
    subscription: Subscription,
    *,
    origin: str,
    aliases: bool,
) -> dict[str, Any]:
    """The data of the event; signals below the subscriber's confidence are not counted."""
    least = subscription.delivery.min_signal_confidence
    stamp = instants.render(row.generated_at)
    signals = [signal for signal in facets.signals or () if signal.confidence >= least]
    counts: Any = wire.to_json(row.counts)
    links: Any = wire.to_json(row.links)
    data = {
        "reportId": row.id,
        "profileId": row.profile_id,
        "subscriptionIds": [subscription.id],
        "title": clip(fold_space(row.title), TITLE_CHARS_MAX),
        "summary": clip(fold_space(row.summary), SUMMARY_CHARS_MAX),
        "language": row.language,
        "period": wire.to_json(row.period),
        "generatedAtISO": stamp,
        "counts": {**counts, "signals": len(signals)},
        "hasAudio": row.has_audio,
        "links": {name: path and origin + path for name, path in links.items()},
    }
    # Spec: Versioning, deprecated members: the old name stays beside the new one.
    return {**data, "generatedAt": stamp} if aliases else data
