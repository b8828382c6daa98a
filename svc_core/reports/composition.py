"""Makes a report in three steps: gather the evidence, compose the text, publish the whole.

The steps are separate so that a host can wait for storage, then compute, then write: composing
holds no transaction, and publishing is one unit of work (document, facets and change together),
so that a failure anywhere leaves either no report or a complete one.

Rule 1: the same evidence gives the same bytes; a repetition is recognised and not published again.
Rule 2: a scheduled report covers what was taken in since the one before it and was published within
        one period (at least `PERIOD_MIN`) before that: what arrives late is reported late, and no
        archive is news. The first one, and one that is asked for, cover one period up to now.
Rule 3: a period that a person names selects by the items' own dates.
Rule 4: where nothing matches, the report is short and says so.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.base import canonical, ids
from svc_core.intel.news.model import NEWS, NEWS_TEXTS
from svc_core.intel.news.news_corpus import ITEMS, news_evidence
from svc_core.operation import schedule
from svc_core.operation.context import Context, scan_values
from svc_core.operation.members import micros
from svc_core.operation.ports import StoredRow
from svc_core.reports import graph, render
from svc_core.reports import report_signals as signals
from svc_core.reports import speech_tasks as speaking
from svc_core.reports.draft import ReportDraft, StorySelection, draft_report, select_stories
from svc_core.reports.model import (
    FACETS,
    REPORTS,
    Period,
    ReportContent,
    ReportCounts,
    ReportFacets,
    ReportLinks,
    ReportRow,
)
from svc_core.reports.notices import notify, subscription_to
from svc_core.reports.observations import is_published_in, observed_evidence
from svc_core.reports.profiles import followers as following
from svc_core.reports.profiles.model import DUE, PROFILES, Due, Profile
from svc_core.reports.recordings import forget_audio
from svc_core.reports.report_index import index_report
from svc_core.search import corpus
from svc_core.text.evidence import EvidenceTexts
from svc_core.text.frequencies import Frequencies
from svc_core.text.name_mentions import names_of
from svc_core.text.query import Query
from svc_core.text.ranking import Nearness

RETRY_MIN, RETRY_MAX = timedelta(minutes=5), timedelta(hours=24)
# Time from reading an item to its being written: judging 2,000 items takes a few seconds, and a
# unit of work waits at most 5 for the store.
SETTLING = timedelta(seconds=30)
PERIOD_MIN = timedelta(hours=48)  # news of a weekend is read on Monday
CANDIDATES_MAX = 2_000  # matches read for one report; of more, the weakest are left out
_OFFICE_READ_MAX = 500  # of these, the best, that are read for who holds an office: 0.2 s
LEADING, MEMBERS_MAX = 30, 500  # matches whose stories are read, and items of these (ADR 52)


@frozen
class Window:
    """The time whose items a report covers.

    `by="taken"` selects by the time of intake, after the start and up to the end; `by="published"`
    by the items' own dates, both ends inclusive. Without a start the first reaches back one period
    of the schedule, the second to the first item. `since` is the earliest date of publication of
    what is selected by intake.
    """

    end: datetime
    start: datetime | None = None
    by: Literal["taken", "published"] = "taken"
    since: datetime | None = None


@frozen
class Material:
    """Everything that a report is composed from: profile, window, evidence and word frequencies.

    `window_total` counts all items of the window. `nearness` is how near the meaning of candidates
    is to the subject, by id (`svc_core.search.vector_likeness`), by the model that `embedding`
    names; None without one; `by_part` is that to each subject of several. `newest` is the latest
    report before this.
    """

    tenant: str
    profile: Profile
    window: Window
    evidence: tuple[EvidenceTexts, ...] = field(repr=False)
    newest: ReportFacets | None = None
    frequencies: Frequencies = field(factory=Frequencies, repr=False)
    window_total: int = 0
    nearness: Mapping[str, Nearness] | None = field(default=None, repr=False)
    embedding: str | None = None
    by_part: Mapping[str, Mapping[str, Nearness]] | None = field(default=None, repr=False)


@frozen
class ComposedReport:
    """A report ready to be published; `repeats` is the latest report's id if that says the same.

    `covers` is the intake time up to which it is complete; None where it goes by items' dates.
    """

    row: ReportRow
    facets: ReportFacets = field(repr=False)
    repeats: str | None = None
    covers: datetime | None = None


# -- gather (a read unit) ----------------------------------------------------------------------


async def gather_material(ctx: Context, profile_id: str, window: Window | None = None) -> Material:
    """Read the profile and all stored evidence that may be about it.

    Without a window: of one period up to now.

    Raises:
        Problem: NOT_FOUND.
    """
    profile = await ctx.value(PROFILES, profile_id)
    newest = await _newest(ctx, profile_id)
    window = _with_dates(window or Window(ctx.now), profile)
    query = Query.of(profile.topic, profile.keywords, profile.language)
    table = await corpus.term_frequencies(ctx, ITEMS)
    start, end = intake_span(window)
    candidates = partial(
        corpus.candidate_ids, ctx, texts=NEWS_TEXTS, limit=CANDIDATES_MAX, start=start, end=end
    )
    items = await news_evidence(ctx, await candidates(query.terms, table))
    named = query.with_holders([f"{item.title}\n{item.text}" for item in items[:_OFFICE_READ_MAX]])
    if named != query:
        items = await news_evidence(ctx, await candidates(named.terms, table))
    items += await others_of_stories(ctx, items, window)
    pool = [item for item in items if _within(item, window)]
    weights = corpus.term_weights(named.terms, table)
    times = window.start, window.end
    pool += await observed_evidence(ctx, weights, times, since=window.since)
    return Material(
        tenant=ctx.actor.tenant,
        profile=profile,
        window=window,
        evidence=tuple(pool),
        newest=newest,
        frequencies=table,
        window_total=await corpus.items_within(ctx, table, texts=NEWS_TEXTS, start=start, end=end),
    )


async def others_of_stories(
    ctx: Context, items: Sequence[EvidenceTexts], window: Window, *, limit: int = MEMBERS_MAX
) -> list[EvidenceTexts]:
    """The other items of the stories of the first items: they may tell the same in other words."""
    stories = tuple(sorted({item.story for item in items[:LEADING] if item.story}))
    if not stories:
        return []
    start, end = intake_span(window)
    # By intake a window ends now, and so does the scan begin there; by date it may be long ago.
    dates = (start, micros(window.end)) if window.by == "published" else (None, None)
    page = await ctx.tx.documents.scan(
        NEWS, where={"story": stories}, ranges={"dated": dates}, limit=limit
    )
    ids = {row.id for row in page.rows} - {item.id for item in items}
    texts = await ctx.tx.documents.get_many(NEWS_TEXTS, sorted(ids))
    rows = (row for row in texts.values() if (start or 0) <= row.order <= (end or row.order))
    return await news_evidence(ctx, rows)


def _with_dates(window: Window, profile: Profile) -> Window:
    """The window with its start and the earliest date of publication, where it is of intake."""
    if window.by != "taken":
        return window
    one_period = window.end - schedule.period_start(profile.schedule, window.end)
    since = (window.start or window.end) - max(one_period, PERIOD_MIN)
    return attrs.evolve(window, start=window.start or since, since=since)


def intake_span(window: Window) -> tuple[int | None, int | None]:
    """The intake times of a window, both ends inclusive, in microseconds since 1970."""
    start = None if window.start is None else micros(window.start)
    if window.by != "taken":
        return start, None
    # The report before covered what was taken in at that very instant.
    return None if start is None else start + 1, micros(window.end)


async def evidence_of(
    ctx: Context, ids: Sequence[str], window: Window
) -> tuple[EvidenceTexts, ...]:
    """The evidence of those of some items that still exist and lie in the window."""
    texts = await ctx.tx.documents.get_many(NEWS_TEXTS, ids)
    items = await news_evidence(ctx, texts.values())
    return tuple(item for item in items if _within(item, window))


async def _newest(ctx: Context, profile_id: str) -> ReportFacets | None:
    for row in await scan_values(ctx, REPORTS, where={"profile_id": (profile_id,)}, limit=1):
        return await ctx.value(FACETS, row.id)
    return None


def _within(item: EvidenceTexts, window: Window) -> bool:
    return is_published_in(item.published_at, (window.start, window.end), window.since)


# -- compose (pure) ----------------------------------------------------------------------------


def compose(material: Material, now: datetime) -> ComposedReport:
    """Compose the whole report, from the evidence alone."""
    profile, window = material.profile, material.window
    query = Query.of(profile.topic, profile.keywords, profile.language)
    selection = select_stories(
        query,
        material.evidence,
        material.frequencies,
        nearness=material.nearness,
        window_total=material.window_total,
        by_part=material.by_part,
    )
    period = _period(material, selection)
    title_period = None if window.start is None else period
    # The same for a profile and period: making a report again replaces it.
    id_ = ids.derived_id("rpt", "report", profile.id, wire.to_bytes(period).decode())
    content = draft_report(profile.name, profile.topic, title_period, selection, profile.language)
    facets = attrs.evolve(
        _facets(id_, content, period),
        frequencies=material.frequencies.version,
        embedding=material.embedding,
    )
    newest = material.newest
    repeats = newest.report_id if newest and newest.digest == facets.digest else None
    if window.by == "published" and repeats != facets.report_id:
        repeats = None
    covers = window.end - SETTLING if window.by == "taken" else None
    return ComposedReport(_row(profile, content, facets, period, now), facets, repeats, covers)


def _period(material: Material, selection: StorySelection) -> Period:
    """The reported time; without a start it begins with the earliest date of its items."""
    window = material.window
    start = window.start
    if start is None:
        earliest = min(selection.dates, default=window.end)
        start = min(earliest, schedule.period_start(material.profile.schedule, window.end))
    return Period(start, window.end)


def _facets(report_id: str, content: ReportDraft, period: Period) -> ReportFacets:
    title, words = content.title, content.words
    names = names_of(content.stories)
    return ReportFacets(
        **attrs.asdict(words, recurse=False),
        report_id=report_id,
        digest=canonical.hex_digest(wire.to_json(words)),
        signals=signals.extract(report_id, content, names, period.end),
        graph=graph.build_graph(content, names),
        content=ReportContent(render.html_fragment(title, words), render.markdown(title, words)),
        text=render.report_text(title, words),
    )


def _row(
    profile: Profile, content: ReportDraft, facets: ReportFacets, period: Period, now: datetime
) -> ReportRow:
    path = str(REPORTS.address(facets.report_id))
    network = facets.graph
    return ReportRow(
        id=facets.report_id,
        profile_id=profile.id,
        title=content.title,
        summary=content.summary,
        language=profile.language,
        generated_at=now,
        period=period,
        status="ready",
        has_audio=False,
        counts=ReportCounts(
            sources=len(content.items),
            signals=len(facets.signals or ()),
            entities=sum(node.type == graph.ENTITY for node in network.nodes) if network else 0,
            incidents=len(network.incident_anchors) if network else 0,
            publishers=len({item.publisher for item in content.items}),
        ),
        links=ReportLinks(
            self_=path,
            audio=None,
            graph=f"{path}/graph",
            signals=f"{path}/signals",
            text=f"{path}/text",
        ),
        method="lexical" if facets.embedding is None else "hybrid",
    )


# -- publish (a write unit) --------------------------------------------------------------------


async def publish_report(ctx: Context, report: ComposedReport) -> ReportRow:
    """Publish a report: the row of this one, or of the one that it only repeats."""
    return (await store_report(ctx, report))[0]


async def store_report(ctx: Context, report: ComposedReport) -> tuple[ReportRow, bool]:
    """Write the report with its facets and change record, or nothing when it only repeats.

    The answer is the row of the report that now stands, and whether it is this one.

    Raises:
        Problem: NOT_FOUND when the profile was deleted meanwhile.
    """
    await ctx.load(PROFILES, report.row.profile_id)
    twin_id = report.repeats or await _twin_id(ctx, report)
    if twin_id is not None:
        return await ctx.value(REPORTS, twin_id), False
    await forget_audio(ctx, report.row.id)  # of the words that it had before
    document = await ctx.save(REPORTS, report.row.id, report.row)
    facets = await _with_entity_ids(ctx, report)
    await ctx.save(FACETS, report.row.id, facets)
    await index_report(ctx, report.row, facets)
    await _note_newest(ctx, report)
    subscription = await subscription_to(ctx, report.row.profile_id)
    if subscription and await notify(ctx, report.row, report.facets, subscription):
        await speaking.request_speech(ctx, report.row.id)
    await following.note_news(ctx, report.row.id, document.version)
    return report.row, True


async def _with_entity_ids(ctx: Context, report: ComposedReport) -> ReportFacets:
    """The facets with the ids of the entities that the graph names."""
    facets = report.facets
    day = report.row.period.end.date()
    network = facets.graph and await graph.with_entity_ids(ctx, facets.graph, day)
    return attrs.evolve(facets, graph=network)


async def _twin_id(ctx: Context, report: ComposedReport) -> str | None:
    before = await ctx.find(FACETS, report.row.id)
    is_same = before is not None and before.digest == report.facets.digest
    return report.row.id if is_same else None


async def _note_newest(ctx: Context, report: ComposedReport) -> None:
    """Note the latest report with the profile, and where its first scheduled one begins."""
    row = report.row
    before = await ctx.value(DUE, row.profile_id)
    after = attrs.evolve(
        before,
        covered_until=before.covered_until or report.covers,
        last_report_id=row.id,
        report_generated_at=row.generated_at,
    )
    await ctx.save(DUE, row.profile_id, after)


async def settle_run(
    ctx: Context, report: ComposedReport, due_row: StoredRow[Due]
) -> ReportRow | None:
    """Publish a scheduled report and plan the profile's next run, once for all workers.

    `due_row` is the row that the worker acted on; None when another worker was first.
    """
    if await ctx.if_unchanged(DUE, due_row) is None:
        return None
    row = await publish_report(ctx, attrs.evolve(report, repeats=None))
    profile = await ctx.value(PROFILES, row.profile_id)
    after = await ctx.value(DUE, row.profile_id)
    # After the report's end, not after now: a run that came up meanwhile has its own report.
    upcoming = schedule.next_run(profile.schedule, report.row.period.end)
    planned_due = attrs.evolve(
        after, next_run_at=upcoming, covered_until=report.row.period.end, failures=0
    )
    await ctx.save(DUE, row.profile_id, planned_due)
    return row


async def postpone(ctx: Context, profile_id: str, due_row: StoredRow[Due]) -> None:
    """Retry a failed run later, each time later, so that others get their turn.

    The report still begins where the last one ended: nothing is lost, only late.
    """
    before = await ctx.if_unchanged(DUE, due_row)
    if before is None:
        return
    wait = min(RETRY_MIN * 2 ** min(before.failures, 10), RETRY_MAX)
    after = attrs.evolve(before, next_run_at=ctx.now + wait, failures=before.failures + 1)
    await ctx.save(DUE, profile_id, after)
