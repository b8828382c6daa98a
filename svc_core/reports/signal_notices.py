"""Notifies webhooks of signals and incidents that meet the subject of a subscribed profile.

Rule 1: a watch says how far the change feed was looked through for a workspace. Its new place is
        written with the events, in one unit: killed at any point, nothing is missed or told twice.
Rule 2: what is new counts, once, and only if it happened lately: a source that is read for the
        first time brings an archive.
Rule 3: a subject is judged by the documents of a signal or incident alone, by the ranking of
        reports; one of them has to answer so much of it by its words that it is about it.
Rule 4: a turn reads a bounded part of the feed, and a webhook whose queue is full is left out,
        as the feed has all (Spec: Events, 2: "Missed state is repaired through the change feed").
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

from attrs import field, frozen

from svc_core.base import ids, instants
from svc_core.formats.reading.markup_text import clip, fold_space
from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.incidents.model import INCIDENTS, Incident
from svc_core.intel.news.model import NEWS_TEXTS
from svc_core.intel.news.news_corpus import ITEMS, news_evidence
from svc_core.intel.signals.model import SIGNALS, Signal
from svc_core.operation.context import Context, scan_values
from svc_core.operation.ports import FeedPosition, StoredRow
from svc_core.outbox.cloud_events import cloud_event, publish
from svc_core.outbox.model import (
    EVENTS,
    PROFILES_MAX,
    QUEUED_DELIVERIES,
    SIGNAL_DETECTED,
    SIGNAL_WATCHES,
    WEBHOOKS,
    WEBHOOKS_MAX,
    SignalWatch,
    StoredWebhook,
)
from svc_core.reports.notices import SUMMARY_CHARS_MAX, TITLE_CHARS_MAX, wants
from svc_core.reports.observations import evidence_of_row
from svc_core.reports.profiles.model import PROFILES, SUBSCRIPTIONS, Profile, Subscription
from svc_core.reports.publications import followed_profiles
from svc_core.search import corpus
from svc_core.text.evidence import EvidenceTexts, Reading, readings
from svc_core.text.frequencies import Frequencies
from svc_core.text.query import Query
from svc_core.text.ranking import ABOUT, rank

AT_ONCE: Final = 20
"""Changes of signals and incidents in one turn of a workspace. All webhooks of one that meets all
of its subjects get a thousand deliveries in one unit."""
DOCUMENTS_MAX: Final = 20
"""Documents of one signal or incident that are read: the first, as they all tell of it."""
SUBJECTS_MAX: Final = 2_000
LATELY: Final = timedelta(hours=48)
"""What happened before is no news, as in a report."""
QUEUED_MAX: Final = 1_000
"""Deliveries that wait at one webhook, beyond which it gets none of these."""

Subject = tuple[Subscription, Profile]


@frozen
class Finding:
    """A new signal or incident, with the texts of its documents."""

    row: Signal | Incident
    documents: tuple[EvidenceTexts, ...]

    @cached_property
    def readings(self) -> list[Reading]:
        """Its documents, read."""
        return readings(self.documents)

    @property
    def happened_at(self) -> datetime | None:
        """The end of a signal's evidence, or when the incident was last seen to happen."""
        row = self.row
        return row.detected_at if isinstance(row, Signal) else row.last_happened_at

    @property
    def confidence(self) -> float:
        """How strong the signal is, or how sure that the incident happened; from 0 to 1."""
        return self.row.strength if isinstance(self.row, Signal) else self.row.confidence


@frozen
class FeedPart:
    """What is new in a part of the change feed that ends at `end`."""

    end: int
    has_more: bool = False
    items: tuple[Finding, ...] = ()
    frequencies: Frequencies = field(factory=Frequencies, repr=False)


# -- reading -----------------------------------------------------------------------------------


async def new_findings(ctx: Context, position: int) -> FeedPart:
    """The signals and incidents that came after a position of the feed of everybody."""
    kinds = (str(SIGNALS.kind), str(INCIDENTS.kind))
    page = await ctx.tx.changes.read(FeedPosition(position), types=kinds, limit=AT_ONCE)
    created = [row.resource_id for row in page.changes if row.change_type == "created"]
    items: list[Finding] = []
    rows: Any = [await ctx.find_many(collection, created) for collection in (SIGNALS, INCIDENTS)]
    for row in (*rows[0].values(), *rows[1].values()):
        observations = row.observation_ids[:DOCUMENTS_MAX]
        texts = await ctx.tx.documents.get_many(NEWS_TEXTS, observations)
        events = await ctx.find_many(OSINT_EVENTS, observations)
        documents = (*map(evidence_of_row, (row, *events.values())),)
        finding = Finding(row, (*documents, *await news_evidence(ctx, texts.values())))
        if finding.happened_at is not None and ctx.now - LATELY <= finding.happened_at:
            items.append(finding)
    table = await corpus.term_frequencies(ctx, ITEMS) if items else Frequencies()
    return FeedPart(page.position.everybody, page.has_more, tuple(items), table)


async def subjects_of(ctx: Context) -> tuple[Subject, ...]:
    """The profiles to which a workspace subscribes, public ones of others among them."""
    rows = [SUBSCRIPTIONS.decode(row.raw) async for row in ctx.every(SUBSCRIPTIONS, SUBJECTS_MAX)]
    subscriptions = {row.profile_id: row for row in rows if row.status == "active"}
    profiles = await ctx.find_many(PROFILES, subscriptions)
    foreign = await followed_profiles(ctx, subscriptions.keys() - profiles.keys())
    profiles |= {id_: profile for id_, (profile, _) in foreign.items()}
    return tuple((subscriptions[id_], profile) for id_, profile in profiles.items())


# -- judging (pure) ----------------------------------------------------------------------------


def meetings(
    findings: FeedPart, subjects: Sequence[Subject]
) -> tuple[tuple[Subscription, ...], ...]:
    """For each finding the subscriptions whose subject it meets."""
    queries = [
        (subscription, Query.of(profile.topic, profile.keywords, profile.language))
        for subscription, profile in subjects
    ]
    return tuple(
        tuple(
            subscription
            for subscription, query in queries
            if subscription.delivery.min_signal_confidence <= finding.confidence
            and meets(query, finding.readings, findings.frequencies)
        )
        for finding in findings.items
    )


def meets(query: Query, documents: Sequence[Reading], frequencies: Frequencies) -> bool:
    """Whether one of some documents is about a subject."""
    # Most share no word with it. Ranking them all would take minutes for 2,000 subjects.
    terms = query.terms.keys()
    if all(terms.isdisjoint(document.counts.keys()) for document in documents):
        return False
    return any(hit.soft >= ABOUT for hit in rank(query, documents, frequencies).hits)


# -- telling -----------------------------------------------------------------------------------


async def announce_findings(
    ctx: Context,
    watch: StoredRow[SignalWatch],
    findings: FeedPart,
    matches: Sequence[Sequence[Subscription]],
) -> None:
    """Write the events for one workspace, and move its watch, unless another worker was first.

    A watch of which no webhook takes these events any more ends.
    """
    if await ctx.if_unchanged(SIGNAL_WATCHES, watch) is None:
        return
    webhooks = await scan_values(ctx, WEBHOOKS, limit=WEBHOOKS_MAX)
    webhooks = [webhook for webhook in webhooks if SIGNAL_DETECTED in webhook.events]
    if not webhooks:
        await ctx.tx.documents.delete(SIGNAL_WATCHES, watch.id)
        return
    for finding, subscriptions in zip(findings.items, matches, strict=True):
        await _announce(ctx, finding, [row.id for row in subscriptions], webhooks)
    await ctx.save(SIGNAL_WATCHES, watch.id, SignalWatch(findings.end))


async def _announce(
    ctx: Context, finding: Finding, subscription_ids: list[str], webhooks: Sequence[StoredWebhook]
) -> None:
    subscriptions = list((await ctx.find_many(SUBSCRIPTIONS, subscription_ids)).values())
    targets = [
        webhook
        for webhook in webhooks
        if webhook.status == "enabled"
        and any(wants(webhook, row, SIGNAL_DETECTED) for row in subscriptions)
        and not await _is_full(ctx, webhook)
    ]
    id_ = ids.derived_id("evt", "signal", ctx.actor.tenant, finding.row.id)
    if targets and await ctx.find(EVENTS, id_) is None:
        origin = ctx.host.origin
        members = signal_notice(finding, subscriptions, origin)
        subject = finding.row.id
        event = cloud_event(id_, SIGNAL_DETECTED, subject, source=origin, at=ctx.now, data=members)
        await publish(ctx, event, targets)


async def _is_full(ctx: Context, webhook: StoredWebhook) -> bool:
    filters = {"webhook_id": (webhook.id,)}
    count = ctx.tx.documents.count(QUEUED_DELIVERIES, where=filters, limit=QUEUED_MAX)
    return await count >= QUEUED_MAX


def signal_notice(
    finding: Finding, subscriptions: Sequence[Subscription], origin: str
) -> dict[str, Any]:
    """The data of the event."""
    row, at, listed = finding.row, finding.happened_at, subscriptions[:PROFILES_MAX]
    collection: Any
    kind: str
    if isinstance(row, Signal):
        collection, kind = SIGNALS, row.type
        statement = f"{row.strength:.2f} of 1 by the formula of {row.type}"
    else:
        collection, kind = INCIDENTS, row.category
        statement = f"{row.confidence:.0%} sure that at least one of its sources is right"
    return {
        "resourceType": collection.kind,
        "resourceId": row.id,
        "type": kind,
        "title": clip(fold_space(row.title), TITLE_CHARS_MAX),
        "summary": row.summary and clip(fold_space(row.summary), SUMMARY_CHARS_MAX),
        "profileIds": [subscription.profile_id for subscription in listed],
        "subscriptionIds": [subscription.id for subscription in listed],
        "happenedAt": at and instants.render(at),
        "confidence": {"value": finding.confidence, "statement": statement},
        "sourceCount": row.source_count,
        "links": {"self": f"{origin}{collection.address(row.id)}"},
    }
