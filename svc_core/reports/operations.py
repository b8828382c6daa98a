"""The report operations (Spec: Reports): every one reads stored bytes, none makes anything.

The address of an audio file is made when it is asked for: with a CDN it stands there under its
name, without one this service gives it to whoever has a pass, and every pass ends.
"""

import json
from hashlib import sha256
from typing import Annotated, Any, Literal

import attrs
from attrs import frozen

from svc_core import canonical, passes, problem, publications, wire
from svc_core.constraints import Doc, Example
from svc_core.operation import (
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
    Context,
    Operation,
)
from svc_core.ports import Document
from svc_core.problem import Problem
from svc_core.publications import find_report
from svc_core.recordings import shown
from svc_core.reports import page, render, rules
from svc_core.reports.page import Typesetter
from svc_core.reports.rules import (
    AgentReport,
    AudioTextFacet,
    GraphFacet,
    SignalsFacet,
    TextFacet,
)
from svc_core.resources.audio import AUDIO, AudioFacet
from svc_core.resources.members import Cursor, Limit, ProfileId, ReportId
from svc_core.resources.report import FACETS, REPORTS, ReportDetail, ReportFacets, ReportRow
from svc_core.result import Bare, Content, One, Page, Redirect
from svc_core.unset import UNSET, Maybe, Unset, given

READ = frozenset({"reports:read"})
LOOKS_MAX = 10
"""Pages that are read for one: where all their reports are hidden, the rest is for the next one."""
MEDIA_PATH = "/media"
PathReportId = Annotated[ReportId, PATH]
_UTF8_MARKDOWN = f"{MARKDOWN.media_type}; charset=utf-8"  # RFC 7763, 2.1: it is required
Expansion = Literal["content", "sources", "signals", "graph", "audio"]


# -- requests ----------------------------------------------------------------------------------


@frozen
class ListReports:
    """Reports of subscribed profiles, newest generation date first."""

    profile_id: Annotated[Maybe[ProfileId], QUERY, Doc("Only reports of this profile.")] = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class GetReport:
    """One report with the expansions that are asked for."""

    report_id: PathReportId
    include: Annotated[
        Maybe[tuple[Expansion, ...]], QUERY, Doc("Comma list of expansions of the JSON.")
    ] = UNSET
    view: Annotated[
        Maybe[Literal["agent"]], QUERY, Doc("The compact form for language models.")
    ] = UNSET


@frozen
class GetFacet:
    """A facet of one report."""

    report_id: PathReportId


@frozen
class GetAudio:
    """The audio of one report."""

    report_id: PathReportId
    redirect: Annotated[
        bool, QUERY, Doc("Answer 302 with the file's address instead of 200."), Example(False)
    ] = False


# -- use cases ---------------------------------------------------------------------------------


async def list_reports(ctx: Context, request: ListReports) -> Page[ReportRow]:
    """A page of the caller's reports; for who has no workspace, of those that everybody may read.

    It may have fewer rows than there are while reports of deleted profiles are on their way out.
    """
    profile_id, after = request.profile_id, request.cursor
    if not await publications.is_own(ctx, profile_id):
        return await publications.page(ctx, profile_id, after=after, limit=request.limit)
    where = {"profile_id": profile_id}
    rows: tuple[bytes, ...] = ()
    for _ in range(LOOKS_MAX):
        page = await ctx.page(REPORTS, where=where, after=after, limit=request.limit - len(rows))
        rows += await shown(ctx, page.rows)
        if page.next_cursor is None or len(rows) == request.limit:
            break
        after = page.next_cursor
    return Page(rows, page.next_cursor)


async def get_report(
    ctx: Context, request: GetReport
) -> One[ReportDetail] | One[AgentReport] | Content:
    """One report as compact JSON, as the agent's view, as Markdown, or as a page for people."""
    ctx, document = await find_report(ctx, request.report_id)
    tag, wanted = document.tag, frozenset(given(request.include, ()))
    is_json, is_view = ctx.format == JSON.format, not isinstance(request.view, Unset)
    if wanted and is_view:
        raise Problem(problem.INVALID_PARAMETER, "include: cannot be combined with view")
    if is_json and not (is_view or wanted):
        return One(document.raw, tag)
    row, facets = REPORTS.decode(document.raw), await ctx.value(FACETS, request.report_id)
    if ctx.format == MARKDOWN.format:
        return Content(_UTF8_MARKDOWN, facets.content.markdown.encode(), tag)
    if ctx.format == HTML.format:
        return await _page(ctx, row, facets)
    if is_view:
        return One(wire.dumps(rules.agent_view(row, facets)), (*tag, "agent"))
    audio = await audio_facet(ctx, request.report_id) if "audio" in wanted else None
    detail = wire.dumps(rules.expand(row, facets, wanted, audio))
    if audio is None:
        return One(detail, (*tag, *sorted(wanted)))
    return One(detail, (*tag, *sorted(wanted), audio.url), fleeting=True)


async def _page(ctx: Context, row: ReportRow, facets: ReportFacets) -> Content:
    """The page; its tag is that of its bytes, as its markup is not of the report alone."""
    audio = await audio_facet(ctx, row.id)
    made = ctx.borrow(Typesetter).report(page.view(row, facets, audio))
    digest = sha256(made.body).hexdigest()
    return attrs.evolve(made, tag=(digest,), fleeting=audio is not None)


async def get_signals(ctx: Context, request: GetFacet) -> Bare[SignalsFacet]:
    """The structured emergent signals of one report."""
    document, facets = await _with_facets(ctx, request)
    return Bare(wire.dumps(rules.signals_facet(facets)), document.tag)


async def get_graph(ctx: Context, request: GetFacet) -> Bare[GraphFacet]:
    """The report-local graph."""
    document, facets = await _with_facets(ctx, request)
    return Bare(wire.dumps(rules.graph_facet(facets)), document.tag)


async def get_text(ctx: Context, request: GetFacet) -> Bare[TextFacet] | Content:
    """The report's words without markup, as JSON with counts or as plain text."""
    document, facets = await _with_facets(ctx, request)
    if ctx.format == TEXT.format:
        return Content(UTF8_TEXT, facets.text.encode(), document.tag)
    facet = TextFacet(
        report_id=facets.report_id,
        text=facets.text,
        word_count=render.word_count(facets.text),
        reading_time_seconds=render.reading_seconds(facets.text),
    )
    return Bare(wire.dumps(facet), document.tag)


async def get_audio_text(ctx: Context, request: GetFacet) -> Bare[AudioTextFacet]:
    """The report's words as a voice reads them; the tag is that of what is said."""
    document, facets = await _with_facets(ctx, request)
    facet = rules.audio_text(REPORTS.decode(document.raw), facets)
    return Bare(wire.dumps(facet), (*document.tag, canonical.hex_digest(facet.text)))


async def get_audio(ctx: Context, request: GetAudio) -> Bare[AudioFacet] | Redirect:
    """What is known of a report's audio, or the way to it.

    Raises:
        Problem: NOT_FOUND, or AUDIO_NOT_AVAILABLE for a report without audio.
    """
    ctx, document = await find_report(ctx, request.report_id)
    facet = await audio_facet(ctx, request.report_id)
    if facet is None:
        raise Problem(problem.AUDIO_NOT_AVAILABLE)
    if request.redirect:
        return Redirect(facet.url)
    return Bare(wire.dumps(facet), (*document.tag, facet.url, int(ctx.aliases)))


async def audio_facet(ctx: Context, report_id: str) -> AudioFacet | None:
    """The audio of a report, its file addressed as of now; None where there is none."""
    audio = await ctx.find(AUDIO, report_id)
    if audio is None:
        return None
    recording = audio.recording
    return AudioFacet(
        id=audio.id,
        url=media_address(ctx, recording.name),
        mime_type=recording.mime_type,
        size_bytes=recording.size_bytes,
        sha256=recording.sha256,
        duration_seconds=recording.duration_seconds,
        voice=audio.voice,
        created_at=audio.created_at,
        # Spec: Versioning, deprecated members: the old name stays beside the new one.
        duration=recording.duration_seconds if ctx.aliases else UNSET,
    )


def media_address(ctx: Context, name: str) -> str:
    """Where a media file is for whoever asks now: at the CDN, or here with a pass."""
    if ctx.host.media_base_url is not None:
        return f"{ctx.host.media_base_url}/{name}"
    query = passes.issue(ctx.keyring, name, ctx.now).query
    return f"{ctx.origin}{MEDIA_PATH}/{name}?{query}"


async def _with_facets(ctx: Context, request: GetFacet) -> tuple[Document[ReportRow], ReportFacets]:
    home, document = await find_report(ctx, request.report_id)
    return document, await home.value(FACETS, request.report_id)


# -- declarations ------------------------------------------------------------------------------

_TEXT = "Port strikes\n\nDockworkers at Antwerp joined the walkout.\n"
_MARKDOWN = """\
# Port strikes

Dockworkers at Antwerp joined the walkout. [1](#source-1)

## Sources

1. <a id="source-1"></a>[Antwerp dockworkers join walkout](<https://news.example.com/1>), \
The Quayside Ledger, 2026-01-31
"""
_HTML = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Port strikes</title></head>
<body><main><h1>Port strikes</h1><p>Dockworkers at Antwerp joined the walkout. ...</p></main></body>
</html>
"""
_ITEM = "obs_65f1c0de8badf00d12345678"
_INCIDENT = f"incident:{_ITEM}"
_GRAPH = json.loads(f"""{{
  "reportId": "rpt_65f1c0de8badf00d12345678",
  "counts": {{"nodes": 3, "edges": 2, "incidentAnchors": 1, "citations": 1}},
  "nodes": [
    {{"id": "report", "type": "report", "kind": null, "label": "Port strikes",
      "countryCode": null, "degree": 1, "entityId": null}},
    {{"id": "{_INCIDENT}", "type": "incident", "kind": null,
      "label": "Antwerp dockworkers join walkout", "countryCode": null, "degree": 2,
      "entityId": null}},
    {{"id": "entity:antwerp", "type": "entity", "kind": "place", "label": "Antwerp",
      "countryCode": "BE", "degree": 1, "entityId": "ent_65f1c0de8badf00d12345678"}}
  ],
  "edges": [
    {{"id": "reports:report>{_INCIDENT}", "type": "reports", "sourceId": "report",
      "targetId": "{_INCIDENT}", "directed": true, "weight": 1, "citations": [1]}},
    {{"id": "mentions:{_INCIDENT}>entity:antwerp", "type": "mentions", "sourceId": "{_INCIDENT}",
      "targetId": "entity:antwerp", "directed": true, "weight": 1, "citations": [1]}}
  ],
  "incidentAnchors": [
    {{"nodeId": "{_INCIDENT}", "storyId": "{_ITEM}", "title": "Antwerp dockworkers join walkout",
      "firstReportedAt": "2026-01-30T16:05:00Z", "lastReportedAt": "2026-01-31T05:40:00Z",
      "citations": [1]}}
  ],
  "citations": [
    {{"number": 1, "id": "{_ITEM}", "title": "Antwerp dockworkers join walkout",
      "url": "https://news.example.com/antwerp-dockworkers-join-walkout",
      "name": "The Quayside Ledger", "publishedAt": "2026-01-31T05:40:00Z"}}
  ],
  "truncated": false
}}""")

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        id="listReports",
        group="reports",
        verb="list",
        columns=("id", "title", "generatedAt", "counts.sources", "counts.signals"),
        method="GET",
        path="/reports",
        summary="List reports",
        description=(
            "Reports of the profiles that the caller subscribes to, newest first; who pays per "
            "request gets those of public profiles. `profileId` narrows the list to one profile; "
            "for one of somebody else that is not public it is empty."
        ),
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
        group="reports",
        verb="show",
        method="GET",
        path="/reports/{reportId}",
        summary="Read a report",
        description=(
            "Compact JSON; `include` adds the content, the sources, the signals, the graph or the "
            "audio. An expansion that was not asked for is absent, one that is unknown is null, "
            "one that is empty is `[]`. `view=agent` gives a compact form for language models. "
            "As `text/html` it is a whole page to read, hear and print."
        ),
        request=GetReport,
        response=One[ReportDetail] | One[AgentReport],
        run=get_report,
        scopes=READ,
        auth="bearer-or-x402",
        tier=T4_PREMIUM_SINGLE,
        media=(JSON, MARKDOWN, HTML),
        timeless=True,
        examples={MARKDOWN.media_type: _MARKDOWN, HTML.media_type: _HTML},
    ),
    Operation(
        id="getReportSignals",
        group="reports",
        verb="signals",
        method="GET",
        path="/reports/{reportId}/signals",
        summary="Read a report's signals",
        description=(
            "What happened, to whom, when, where, and how certain that is, the most certain first. "
            "A report that is older than this feature has no signals."
        ),
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
        group="reports",
        verb="graph",
        method="GET",
        path="/reports/{reportId}/graph",
        summary="Read a report's graph",
        description=(
            "The report, its incidents, the entities they name and the sources that say so, with "
            "the edges between them. For a report that is older than this feature, `graph` is "
            "null and every count is 0."
        ),
        request=GetFacet,
        response=Bare[GraphFacet],
        run=get_graph,
        scopes=READ,
        auth="bearer-or-x402",
        tier=T3_ENRICHED,
        timeless=True,
        examples={"response": _GRAPH},
    ),
    Operation(
        id="getReportText",
        group="reports",
        verb="text",
        method="GET",
        path="/reports/{reportId}/text",
        summary="Read a report's text",
        description="The words without markup or citations, with word count and reading time.",
        request=GetFacet,
        response=Bare[TextFacet],
        run=get_text,
        scopes=READ,
        auth="bearer-or-x402",
        tier=T4_PREMIUM_SINGLE,
        media=(JSON, TEXT),
        timeless=True,
        examples={TEXT.media_type: _TEXT},
    ),
    Operation(
        id="getReportAudio",
        group="reports",
        verb="audio",
        method="GET",
        path="/reports/{reportId}/audio",
        summary="Read a report's audio",
        description=(
            "Where the report can be listened to, how long it plays and what the file is. The file "
            "is fetched without a key, whole or in ranges. Without a CDN its address ends: ask "
            "here again for a new one. A report that is not spoken, or not yet, answers 404 "
            "`AUDIO_NOT_AVAILABLE`; `hasAudio` of its row tells beforehand."
        ),
        request=GetAudio,
        response=Bare[AudioFacet] | Redirect,
        run=get_audio,
        scopes=frozenset({"reports:audio"}),
        auth="bearer-or-x402",
        tier=T4_PREMIUM_AUDIO,
        fails=(problem.AUDIO_NOT_AVAILABLE,),
    ),
    Operation(
        id="getReportAudioText",
        group="reports",
        verb="audio-text",
        method="GET",
        path="/reports/{reportId}/audio-text",
        summary="Read a report's text for speech",
        description=(
            "The words as a voice reads them: acronyms, sums of money, percentages, dates, "
            "measures and addresses are written as they are spoken, without markup or citations, "
            "and an intro and an outro name the report, its period and how many sources it has. "
            "English is prepared in full, other languages as far as that is safe."
        ),
        request=GetFacet,
        response=Bare[AudioTextFacet],
        run=get_audio_text,
        scopes=READ,
        auth="bearer-or-x402",
        tier=T3_ENRICHED,
        timeless=True,
    ),
)
