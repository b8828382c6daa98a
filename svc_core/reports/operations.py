"""The operations that read reports (Spec: Reports): each serves stored bytes, and computes none.

The address of an audio file is made per request: with a CDN it is there under its name, without
one this service serves it for a pass in the query, and every pass expires.
"""

import json
from functools import partial
from hashlib import sha256
from typing import Annotated, Any, Literal

import attrs
from attrs import frozen

from svc_core import data, wire
from svc_core.base import canonical, passes
from svc_core.base.unset import UNSET, Maybe, Unset, or_default
from svc_core.base.views import reshape
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Bare, Content, Page, Redirect, Single
from svc_core.operation.context import Context
from svc_core.operation.declaration import (
    HTML,
    JSON,
    MARKDOWN,
    NDJSON,
    PATH,
    QUERY,
    T3_ENRICHED,
    T4_PREMIUM_AUDIO,
    T4_PREMIUM_LIST,
    T4_PREMIUM_SINGLE,
    TEXT,
    UTF8_TEXT,
    Operation,
    declare,
)
from svc_core.operation.members import PageRequest, ProfileId, ReportId
from svc_core.operation.ports import StoredRow
from svc_core.reports import page, publications, rules
from svc_core.reports.audio import AUDIO, AudioFacet
from svc_core.reports.model import FACETS, REPORTS, ReportDetail, ReportFacets, ReportRow
from svc_core.reports.page import Typesetter
from svc_core.reports.publications import find_report
from svc_core.reports.rules import AgentReport, AudioTextFacet, GraphFacet, SignalsFacet, TextFacet
from svc_core.wire.constraints import Example

READ = frozenset({"reports:read"})
MEDIA_PATH = "/media"
PathReportId = Annotated[ReportId, PATH]
_UTF8_MARKDOWN = f"{MARKDOWN.media_type}; charset=utf-8"  # RFC 7763, 2.1: it is required
Expansion = Literal["content", "sources", "signals", "graph", "audio"]


# -- requests ----------------------------------------------------------------------------------


@frozen
class ListReports(PageRequest):
    """Reports of subscribed profiles, newest generation date first."""

    profile_id: Annotated[Maybe[ProfileId], QUERY] = UNSET
    """Only reports of this profile."""


@frozen
class GetReport:
    """One report with the expansions that are asked for."""

    report_id: PathReportId
    include: Annotated[Maybe[tuple[Expansion, ...]], QUERY] = UNSET
    """Comma list of expansions of the JSON."""
    view: Annotated[Maybe[Literal["agent"]], QUERY] = UNSET
    """The compact form for language models."""


@frozen
class GetFacet:
    """A facet of one report."""

    report_id: PathReportId


@frozen
class GetAudio:
    """The audio of one report."""

    report_id: PathReportId
    redirect: Annotated[bool, QUERY, Example(False)] = False
    """Answer 302 with the file's address instead of 200."""


# -- use cases ---------------------------------------------------------------------------------


async def list_reports(ctx: Context, request: ListReports) -> Page[ReportRow]:
    """Reports of the profiles that the caller's workspace subscribes to, its own and public ones of
    others, newest first. A paused subscription still lists its reports. A caller who pays per
    request gets the reports of all public profiles. `profileId` narrows the list to one profile; it
    is empty when the workspace does not subscribe to that profile.
    """
    profile_id, limit = request.profile_id, request.limit
    return await publications.reports_page(ctx, profile_id, after=request.cursor, limit=limit)


async def get_report(
    ctx: Context, request: GetReport
) -> Single[ReportDetail] | Single[AgentReport] | Content:
    """Compact JSON; `include` adds the content, the sources, the signals, the graph or the audio.
    An expansion that was not asked for is absent, one that is unknown is null, one that is empty is
    `[]`. `view=agent` gives a compact form for language models. As `text/html` it is a whole page
    to read, hear and print.
    """
    ctx, document = await find_report(ctx, request.report_id)
    tag, expansions = document.tag, frozenset(or_default(request.include, ()))
    is_json, is_view = ctx.format == JSON.format, not isinstance(request.view, Unset)
    if expansions and is_view:
        raise Problem(problem.INVALID_PARAMETER, "include: cannot be combined with view")
    if is_json and not (is_view or expansions):
        return Single(document.raw, tag)
    row, facets = REPORTS.decode(document.raw), await ctx.value(FACETS, request.report_id)
    if ctx.format == MARKDOWN.format:
        return Content(_UTF8_MARKDOWN, facets.content.markdown.encode(), tag)
    if ctx.format == HTML.format:
        return await _page(ctx, row, facets)
    if is_view:
        return Single(wire.to_bytes(rules.agent_view(row, facets)), (*tag, "agent"))
    audio = await audio_facet(ctx, request.report_id) if "audio" in expansions else None
    detail = wire.to_bytes(rules.expand(row, facets, expansions, audio))
    if audio is None:
        return Single(detail, (*tag, *sorted(expansions)))
    return Single(detail, (*tag, *sorted(expansions), audio.url), fleeting=True)


async def _page(ctx: Context, row: ReportRow, facets: ReportFacets) -> Content:
    """The report's HTML page; its tag is of its bytes, for not all markup comes from the report."""
    audio = await audio_facet(ctx, row.id)
    content = ctx.borrow(Typesetter).report(page.page_view(row, facets, audio))
    digest = sha256(content.body).hexdigest()
    return attrs.evolve(content, tag=(digest,), fleeting=audio is not None)


async def get_report_signals(ctx: Context, request: GetFacet) -> Bare[SignalsFacet]:
    """What happened, to whom, when, where, and how certain that is, the most certain first. A
    report that is older than this feature has no signals.
    """
    document, facets = await _with_facets(ctx, request)
    return Bare(wire.to_bytes(rules.signals_facet(facets)), document.tag)


async def get_report_graph(ctx: Context, request: GetFacet) -> Bare[GraphFacet]:
    """The report, its incidents, the entities they name and the sources that say so, with the edges
    between them. For a report that is older than this feature, `graph` is null and every count is
    0.
    """
    document, facets = await _with_facets(ctx, request)
    return Bare(wire.to_bytes(rules.graph_facet(facets)), document.tag)


async def get_report_text(ctx: Context, request: GetFacet) -> Bare[TextFacet] | Content:
    """The words without markup or citations, with word count and reading time."""
    document, facets = await _with_facets(ctx, request)
    if ctx.format == TEXT.format:
        return Content(UTF8_TEXT, facets.text.encode(), document.tag)
    return Bare(wire.to_bytes(rules.text_facet(facets)), document.tag)


async def get_report_audio_text(ctx: Context, request: GetFacet) -> Bare[AudioTextFacet]:
    """The words as a voice reads them: acronyms, sums of money, percentages, dates, measures and
    addresses are written as they are spoken, without markup or citations, and an intro and an outro
    name the report, its period and how many sources it has. English is prepared in full, other
    languages as far as that is safe.
    """
    document, facets = await _with_facets(ctx, request)
    facet = rules.audio_text(REPORTS.decode(document.raw), facets)
    return Bare(wire.to_bytes(facet), (*document.tag, canonical.hex_digest(facet.text)))


async def get_report_audio(ctx: Context, request: GetAudio) -> Bare[AudioFacet] | Redirect:
    """Where the report can be listened to, how long it plays and what the file is. The file is
    fetched without a key, whole or in ranges. Without a CDN the address expires; ask again for a
    new one. A report without audio, or whose audio is not ready, answers 404 `AUDIO_NOT_AVAILABLE`;
    `hasAudio` of its row says so beforehand.

    Raises:
        Problem: NOT_FOUND, or AUDIO_NOT_AVAILABLE for a report without audio.
    """
    ctx, document = await find_report(ctx, request.report_id)
    facet = await audio_facet(ctx, request.report_id)
    if facet is None:
        raise Problem(problem.AUDIO_NOT_AVAILABLE)
    if request.redirect:
        return Redirect(facet.url)
    return Bare(wire.to_bytes(facet), (*document.tag, facet.url, int(ctx.aliases)))


async def audio_facet(ctx: Context, report_id: str) -> AudioFacet | None:
    """The audio of a report with the file's address as of now; None where there is none."""
    audio = await ctx.find(AUDIO, report_id)
    if audio is None:
        return None
    recording = audio.recording
    return reshape(
        AudioFacet,
        recording,
        id=audio.id,
        url=media_address(ctx, recording.name),
        voice=audio.voice,
        created_at=audio.created_at,
        # Spec: Versioning, deprecated members: the old name stays beside the new one.
        duration=recording.duration_seconds if ctx.aliases else UNSET,
    )


def media_address(ctx: Context, name: str) -> str:
    """The address of a media file for this request: at the CDN, or here with a pass."""
    if ctx.host.media_base_url is not None:
        return f"{ctx.host.media_base_url}/{name}"
    query = passes.issue(ctx.keyring, name, ctx.now).query
    return f"{ctx.origin}{MEDIA_PATH}/{name}?{query}"


async def _with_facets(
    ctx: Context, request: GetFacet
) -> tuple[StoredRow[ReportRow], ReportFacets]:
    home, document = await find_report(ctx, request.report_id)
    return document, await home.value(FACETS, request.report_id)


# -- declarations ------------------------------------------------------------------------------

_EXAMPLES = json.loads(data.table_bytes("report_examples.json"))
_report_operation = partial(declare, scopes=READ, timeless=True, auth="bearer-or-x402")

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _report_operation(
        "reports list",
        "GET /reports",
        "List reports",
        list_reports,
        columns=("id", "title", "generatedAt", "counts.sources", "counts.signals"),
        tier=T4_PREMIUM_LIST,
        media=(JSON, NDJSON),
    ),
    _report_operation(
        "reports show",
        "GET /reports/{reportId}",
        "Read a report",
        get_report,
        tier=T4_PREMIUM_SINGLE,
        media=(JSON, MARKDOWN, HTML),
        examples={MARKDOWN.media_type: _EXAMPLES["markdown"], HTML.media_type: _EXAMPLES["html"]},
    ),
    _report_operation(
        "reports signals",
        "GET /reports/{reportId}/signals",
        "Read a report's signals",
        get_report_signals,
        tier=T3_ENRICHED,
    ),
    _report_operation(
        "reports graph",
        "GET /reports/{reportId}/graph",
        "Read a report's graph",
        get_report_graph,
        tier=T3_ENRICHED,
        examples={"response": _EXAMPLES["graph"]},
    ),
    _report_operation(
        "reports text",
        "GET /reports/{reportId}/text",
        "Read a report's text",
        get_report_text,
        tier=T4_PREMIUM_SINGLE,
        media=(JSON, TEXT),
        examples={TEXT.media_type: _EXAMPLES["text"]},
    ),
    _report_operation(
        "reports audio",
        "GET /reports/{reportId}/audio",
        "Read a report's audio",
        get_report_audio,
        scopes=frozenset({"reports:audio"}),
        tier=T4_PREMIUM_AUDIO,
        fails=(problem.AUDIO_NOT_AVAILABLE,),
        timeless=False,
    ),
    _report_operation(
        "reports audio-text",
        "GET /reports/{reportId}/audio-text",
        "Read a report's text for speech",
        get_report_audio_text,
        tier=T3_ENRICHED,
    ),
)
