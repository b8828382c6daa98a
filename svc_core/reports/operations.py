"""The report operations (Spec: Reports): every one reads stored bytes, none makes anything."""

from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core import wire
from svc_core.constraints import Doc
from svc_core.operation import (
    JSON,
    MARKDOWN,
    NDJSON,
    PATH,
    QUERY,
    T3_ENRICHED,
    T4_PREMIUM_LIST,
    T4_PREMIUM_SINGLE,
    TEXT,
    Bare,
    Content,
    Context,
    IdOf,
    One,
    Operation,
    Page,
)
from svc_core.ports import Document
from svc_core.reports import render, rules
from svc_core.reports.rules import AgentReport, GraphFacet, SignalsFacet, TextFacet
from svc_core.resources.members import Cursor, Limit, ProfileId, ReportId
from svc_core.resources.report import FACETS, REPORTS, ReportDetail, ReportFacets, ReportRow
from svc_core.unset import UNSET, Maybe, Unset, given

READ = frozenset({"reports:read"})
PathReportId = Annotated[ReportId, PATH, IdOf("rpt")]
Expansion = Literal["content", "sources", "signals", "graph", "audio"]


# -- requests ----------------------------------------------------------------------------------


@frozen
class ListReports:
    """Reports of subscribed profiles, newest generation date first."""

    profile_id: Annotated[
        Maybe[ProfileId], QUERY, IdOf("prf"), Doc("Only reports of this profile.")
    ] = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class GetReport:
    """One report with the expansions that are asked for."""

    report_id: PathReportId
    include: Annotated[Maybe[tuple[Expansion, ...]], QUERY, Doc("Comma list of expansions.")] = (
        UNSET
    )
    view: Annotated[
        Maybe[Literal["agent"]], QUERY, Doc("The compact form for language models.")
    ] = UNSET


@frozen
class GetFacet:
    """A facet of one report."""

    report_id: PathReportId


# -- use cases ---------------------------------------------------------------------------------


async def list_reports(ctx: Context, request: ListReports) -> Page[ReportRow]:
    """A page of reports; a profile that the caller does not have has none."""
    where = {}
    if not isinstance(request.profile_id, Unset):
        where["profile_id"] = (request.profile_id,)
    return await ctx.page(REPORTS, where=where, after=request.cursor, limit=request.limit)


async def get_report(
    ctx: Context, request: GetReport
) -> One[ReportDetail] | One[AgentReport] | Content:
    """One report as compact JSON, as the agent's view, or as Markdown."""
    document = await ctx.load(REPORTS, request.report_id)
    tag = _tag(document)
    if ctx.format == MARKDOWN.format:
        facets = await _facets(ctx, request.report_id)
        return Content(MARKDOWN.media_type, facets.content.markdown.encode(), tag)
    if not isinstance(request.view, Unset):
        view = rules.agent_view(REPORTS.decode(document.raw), await _facets(ctx, request.report_id))
        return One(wire.dumps(view), (*tag, "agent"))
    wanted = frozenset(given(request.include, ()))
    if not wanted:
        return One(document.raw, tag)
    detail = rules.expand(
        REPORTS.decode(document.raw), await _facets(ctx, request.report_id), wanted
    )
    return One(wire.dumps(detail), (*tag, *sorted(wanted)))


async def get_signals(ctx: Context, request: GetFacet) -> Bare[SignalsFacet]:
    """The structured emergent signals of one report."""
    document, facets = await _with_facets(ctx, request)
    return Bare(wire.dumps(rules.signals_facet(facets)), _tag(document))


async def get_graph(ctx: Context, request: GetFacet) -> Bare[GraphFacet]:
    """The report-local graph."""
    document, facets = await _with_facets(ctx, request)
    return Bare(wire.dumps(rules.graph_facet(facets)), _tag(document))


async def get_text(ctx: Context, request: GetFacet) -> Bare[TextFacet] | Content:
    """The report's words without markup, as JSON with counts or as plain text."""
    document, facets = await _with_facets(ctx, request)
    if ctx.format == TEXT.format:
        return Content(f"{TEXT.media_type}; charset=utf-8", facets.text.encode(), _tag(document))
    facet = TextFacet(
        report_id=facets.report_id,
        text=facets.text,
        word_count=render.word_count(facets.text),
        reading_time_seconds=render.reading_seconds(facets.text),
    )
    return Bare(wire.dumps(facet), _tag(document))


async def _with_facets(ctx: Context, request: GetFacet) -> tuple[Document[ReportRow], ReportFacets]:
    document = await ctx.load(REPORTS, request.report_id)
    return document, await _facets(ctx, request.report_id)


async def _facets(ctx: Context, report_id: str) -> ReportFacets:
    return FACETS.decode((await ctx.load(FACETS, report_id)).raw)


def _tag(document: Document[ReportRow]) -> tuple[str | int, ...]:
    return (document.id, document.version)


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        id="listReports",
        method="GET",
        path="/reports",
        summary="List reports",
        description="Reports of subscribed profiles, newest first, as JSON or NDJSON.",
        tag="Reports",
        request=ListReports,
        response=Page[ReportRow],
        run=list_reports,
        scopes=READ,
        auth="bearer-or-x402",
        tier=T4_PREMIUM_LIST,
        media=(JSON, NDJSON),
        timeless=True,
    ),
    Operation(
        id="getReport",
        method="GET",
        path="/reports/{reportId}",
        summary="Read a report",
        description="Compact JSON with expansions, the agent's view, or Markdown.",
        tag="Reports",
        request=GetReport,
        response=One[ReportDetail],
        run=get_report,
        scopes=READ,
        auth="bearer-or-x402",
        tier=T4_PREMIUM_SINGLE,
        media=(JSON, MARKDOWN),
        timeless=True,
    ),
    Operation(
        id="getReportSignals",
        method="GET",
        path="/reports/{reportId}/signals",
        summary="Read a report's signals",
        description="What happened, to whom, when, where, and how sure that is.",
        tag="Reports",
        request=GetFacet,
        response=Bare[SignalsFacet],
        run=get_signals,
        scopes=READ,
        auth="bearer-or-x402",
        tier=T3_ENRICHED,
        timeless=True,
    ),
    Operation(
        id="getReportGraph",
        method="GET",
        path="/reports/{reportId}/graph",
        summary="Read a report's graph",
        description="Report-local nodes, edges, incident anchors, citations and counts.",
        tag="Reports",
        request=GetFacet,
        response=Bare[GraphFacet],
        run=get_graph,
        scopes=READ,
        auth="bearer-or-x402",
        tier=T3_ENRICHED,
        timeless=True,
    ),
    Operation(
        id="getReportText",
        method="GET",
        path="/reports/{reportId}/text",
        summary="Read a report's text",
        description="The words without markup, with word count and reading time.",
        tag="Reports",
        request=GetFacet,
        response=Bare[TextFacet],
        run=get_text,
        scopes=READ,
        auth="bearer-or-x402",
        tier=T4_PREMIUM_SINGLE,
        media=(JSON, TEXT),
        timeless=True,
    ),
)
