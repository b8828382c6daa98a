"""Making a report: gather the evidence, compose the words, publish the whole.

The three steps are apart so that a host can wait for storage, then think, then write: composing
holds no transaction, and publishing is one unit of work (document, facets and change together),
so that a failure anywhere leaves either no report or a whole one.

Rule 1: the same evidence gives the same bytes; a repetition is recognised and not published anew.
Rule 2: a scheduled report covers what was taken in since the one before it, by the time of taking
        in, so that an item which arrives late is told late but never lost.
Rule 3: a period that a person names selects by the items' own dates.
Rule 4: no match makes a short report that says so.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.base import canonical, ids
from svc_core.intel.news.indexing import ITEMS, evidence
from svc_core.intel.news.model import NEWS_TEXTS, NewsText
from svc_core.operation import schedule
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import Document
from svc_core.reports import graph, render, signals, speaking
from svc_core.reports.draft import Draft, Told, draft, tell
from svc_core.reports.indexing import index_report
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
from svc_core.reports.observed import observed
from svc_core.reports.profiles import followers as following
from svc_core.reports.profiles.model import DUE, PROFILES, Due, Profile
from svc_core.reports.recordings import forget_audio
from svc_core.search import corpus
from svc_core.text.entities import names_of
from svc_core.text.evidence import Evidence
from svc_core.text.frequencies import Frequencies
from svc_core.text.query import Query

RETRY_MIN, RETRY_MAX = timedelta(minutes=5), timedelta(hours=24)
SETTLING = timedelta(seconds=30)  # from reading an item to its being written: judging 2,000
# items takes a few seconds, and a unit of work waits at most 5 for the store
CANDIDATES_MAX = 2_000  # matches read for one report; of more, the weakest are not looked at


@frozen
class Window:
    """Which items a report is about.

    `by="taken"` selects by when items were taken in, after the start and up to the end;
    `by="published"` by the items' own dates, both ends inclusive. Without a start it reaches back
    to the first.
    """

    end: datetime
    start: datetime | None = None
    by: Literal["taken", "published"] = "taken"


@frozen
class Material:
    """All that a report is made of: whose it is, its candidates and how common words are.

    `likeness` says how near candidates come to the subject, by id (`svc_core.search.embeddings`),
    by the model that `embedding` names; None without one.
    """

    tenant: str
    profile: Profile
    window: Window
    evidence: tuple[Evidence, ...] = field(repr=False)
    newest: ReportFacets | None = None
    frequencies: Frequencies = field(factory=Frequencies, repr=False)
    likeness: Mapping[str, float] | None = field(default=None, repr=False)
    embedding: str | None = None


@frozen
class Finished:
    """A report ready to be published; `repeats` names the newest one when it says the same.

    `covers` is up to when it covers all that was taken in; None where it goes by items' own dates.
    """

    row: ReportRow
    facets: ReportFacets = field(repr=False)
    repeats: str | None = None
    covers: datetime | None = None


# -- gather (a read unit) ----------------------------------------------------------------------


async def gather(ctx: Context, profile_id: str, window: Window | None = None) -> Material:
    """The profile and everything stored that may be about it: news and what else was observed.

    Without a window: everything for a first report, then one interval of the schedule.

    Raises:
        Problem: NOT_FOUND.
    """
    profile = await ctx.value(PROFILES, profile_id)
    newest = await _newest(ctx, profile_id)
    if window is None:
        start = None if newest is None else schedule.period_start(profile.schedule, ctx.now)
        window = Window(ctx.now, start)
    query = Query.of(profile.topic, profile.keywords, profile.language)
    table = await corpus.frequencies(ctx, ITEMS)
    found = await _candidates(ctx, query.terms, table, window)
    items = await evidence(ctx, found)
    kept = [item for item in items if _within(item, window)]
    weights = corpus.weighed(query.terms, table)
    times, taken = (window.start, window.end), window.by == "taken"
    kept += await observed(ctx, weights, times, taken=taken)
    return Material(
        tenant=ctx.actor.tenant,
        profile=profile,
        window=window,
        evidence=tuple(kept),
        newest=newest,
        frequencies=table,
    )


async def _candidates(
    ctx: Context, terms: Mapping[str, float], table: Frequencies, window: Window
) -> tuple[Document[NewsText], ...]:
    """The items that hold any of the terms; none where the subject has no term."""
    start, end = span(window)
    limit = CANDIDATES_MAX
    return await corpus.candidates(
        ctx, terms, table, texts=NEWS_TEXTS, start=start, end=end, limit=limit
    )


def span(window: Window) -> tuple[int | None, int | None]:
    """When the items of a window were taken in, both ends inclusive, in microseconds since 1970."""
    start = None if window.start is None else micros(window.start)
    if window.by != "taken":
        return start, None
    # The report before told what was taken in at that very instant.
    return None if start is None else start + 1, micros(window.end)


async def evidence_of(ctx: Context, ids: Sequence[str], window: Window) -> tuple[Evidence, ...]:
    """Those of some items that are still there and in the window."""
    texts = await ctx.tx.documents.get_many(NEWS_TEXTS, ids)
    items = await evidence(ctx, texts.values())
    return tuple(item for item in items if _within(item, window))


async def _newest(ctx: Context, profile_id: str) -> ReportFacets | None:
    found = await ctx.tx.documents.scan(REPORTS, where={"profile_id": (profile_id,)}, limit=1)
    if not found.rows:
        return None
    return await ctx.value(FACETS, found.rows[0].id)


def _within(item: Evidence, window: Window) -> bool:
    if window.by == "taken":
        return True
    at = item.published_at  # nobody knows whether an undated one is of that time
    return at is not None and (window.start is None or window.start <= at) and at <= window.end


# -- compose (pure) ----------------------------------------------------------------------------


def compose(material: Material, now: datetime) -> Finished:
    """The whole report, from the evidence alone."""
    profile, window = material.profile, material.window
    query = Query.of(profile.topic, profile.keywords, profile.language)
    told = tell(
        query,
        material.evidence,
        material.frequencies,
        language=profile.language,
        likeness=material.likeness,
    )
    period = _period(material, told)
    asked = None if window.start is None else period
    made = draft(profile.name, profile.topic, asked, told, profile.language)
    facets = attrs.evolve(
        _facets(_report_id(profile.id, period), made, period),
        frequencies=material.frequencies.version,
        embedding=material.embedding,
    )
    newest = material.newest
    repeats = newest.report_id if newest and newest.digest == facets.digest else None
    if window.by == "published" and repeats != facets.report_id:
        repeats = None
    covers = window.end - SETTLING if window.by == "taken" else None
    return Finished(_row(profile, made, facets, period, now), facets, repeats, covers)


def _period(material: Material, told: Told) -> Period:
    """The reported time; one without a start begins with the earliest date of what is told."""
    window = material.window
    start = window.start
    if start is None:
        earliest = min(told.dates, default=window.end)
        start = min(earliest, schedule.period_start(material.profile.schedule, window.end))
    return Period(start, window.end)


def _report_id(profile_id: str, period: Period) -> str:
    """One report for a profile and period: making it again replaces it, never doubles it."""
    span = wire.dumps(period).decode()
    return ids.derived_id("rpt", "report", profile_id, span)


def _facets(report_id: str, made: Draft, period: Period) -> ReportFacets:
    title, words = made.title, made.words
    names = names_of(made.stories)
    return ReportFacets(
        **attrs.asdict(words, recurse=False),
        report_id=report_id,
        digest=canonical.hex_digest(wire.to_json(words)),
        signals=signals.extract(report_id, made, names, period.end),
        graph=graph.build(made, names),
        content=ReportContent(render.page(title, words), render.markdown(title, words)),
        text=render.text(title, words),
    )


def _row(
    profile: Profile, made: Draft, facets: ReportFacets, period: Period, now: datetime
) -> ReportRow:
    path = str(REPORTS.address(facets.report_id))
    drawn = facets.graph
    return ReportRow(
        id=facets.report_id,
        profile_id=profile.id,
        title=made.title,
        summary=made.summary,
        language=profile.language,
        generated_at=now,
        period=period,
        status="ready",
        has_audio=False,
        counts=ReportCounts(
            sources=len(made.cited),
            signals=len(facets.signals or ()),
            entities=sum(node.type == graph.ENTITY for node in drawn.nodes) if drawn else 0,
            incidents=len(drawn.incident_anchors) if drawn else 0,
            publishers=len({item.publisher for item in made.cited}),
        ),
        links=ReportLinks(
            self_=path,
            audio=None,
            graph=f"{path}/graph",
            signals=f"{path}/signals",
            text=f"{path}/text",
        ),
    )


# -- publish (a write unit) --------------------------------------------------------------------


async def publish(ctx: Context, finished: Finished) -> ReportRow:
    """The report that there is now: this one, or the one that it only repeats (`published`)."""
    return (await published(ctx, finished))[0]


async def published(ctx: Context, finished: Finished) -> tuple[ReportRow, bool]:
    """Write the report with its facets and change record, or nothing when it only repeats.

    The report that there is now, and whether it is this one.

    Raises:
        Problem: NOT_FOUND when the profile was deleted meanwhile.
    """
    await ctx.load(PROFILES, finished.row.profile_id)
    same = finished.repeats or await _same(ctx, finished)
    if same is not None:
        return await ctx.value(REPORTS, same), False
    await forget_audio(ctx, finished.row.id)  # of the words that it had before
    document = await ctx.save(REPORTS, finished.row.id, finished.row)
    facets = await _identified(ctx, finished)
    await ctx.save(FACETS, finished.row.id, facets)
    await index_report(ctx, finished.row, facets)
    await _note(ctx, finished)
    subscription = await subscription_to(ctx, finished.row.profile_id)
    if subscription and await notify(ctx, finished.row, finished.facets, subscription):
        await speaking.want(ctx, finished.row.id)
    await following.note(ctx, finished.row.id, document.version)
    return finished.row, True


async def _identified(ctx: Context, finished: Finished) -> ReportFacets:
    """The facets with the entities that the graph names."""
    facets = finished.facets
    day = finished.row.period.end.date()
    drawn = facets.graph and await graph.identified(ctx, facets.graph, day)
    return attrs.evolve(facets, graph=drawn)


async def _same(ctx: Context, finished: Finished) -> str | None:
    stored = await ctx.find(FACETS, finished.row.id)
    is_same = stored is not None and stored.digest == finished.facets.digest
    return finished.row.id if is_same else None


async def _note(ctx: Context, finished: Finished) -> None:
    """Remember with the profile its newest report, and where the first scheduled one begins."""
    row = finished.row
    before = await ctx.value(DUE, row.profile_id)
    after = attrs.evolve(
        before,
        covered_until=before.covered_until or finished.covers,
        last_report_id=row.id,
        report_generated_at=row.generated_at,
    )
    await ctx.save(DUE, row.profile_id, after)


async def settle(ctx: Context, finished: Finished, seen: Document[Due]) -> ReportRow | None:
    """Publish a scheduled report and set the profile's next run, once for all workers.

    `seen` is the due row that the worker acted on; None when another worker was first.
    """
    if await ctx.unchanged(DUE, seen) is None:
        return None
    row = await publish(ctx, attrs.evolve(finished, repeats=None))
    profile = await ctx.value(PROFILES, row.profile_id)
    after = await ctx.value(DUE, row.profile_id)
    # After the report's end, not after now: a run that came up meanwhile has its own report.
    upcoming = schedule.next_run(profile.schedule, finished.row.period.end)
    covered = attrs.evolve(
        after, next_run_at=upcoming, covered_until=finished.row.period.end, failures=0
    )
    await ctx.save(DUE, row.profile_id, covered)
    return row


async def postpone(ctx: Context, profile_id: str, seen: Document[Due]) -> None:
    """Put off a run that failed, longer after each failure, so that others get their turn.

    The report still begins where the last one ended: nothing is lost, only late.
    """
    before = await ctx.unchanged(DUE, seen)
    if before is None:
        return
    wait = min(RETRY_MIN * 2 ** min(before.failures, 10), RETRY_MAX)
    after = attrs.evolve(before, next_run_at=ctx.now + wait, failures=before.failures + 1)
    await ctx.save(DUE, profile_id, after)
