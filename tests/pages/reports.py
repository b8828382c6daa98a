"""A report of hostile words: markup, scripts, turned directions, words without an end."""

from datetime import datetime, timedelta

import attrs

from svc_core.reports import render
from svc_core.reports.model import (
    FACETS,
    REPORTS,
    Period,
    ReportContent,
    ReportCounts,
    ReportFacets,
    ReportLinks,
    ReportRow,
    ReportSignal,
    ReportSource,
    ReportWords,
    Section,
    SignalConfidence,
    SignalParty,
    SignalPlace,
    Statement,
)

ID = "rpt_" + "7" * 24
TURN = "\u202egnp.exe\u2066"
LONG = "W" * 400
SCRIPT = "<script>alert(1)</script>"
BROKEN_OUT = '"><img src=x onerror=alert(1)>'
TITLE = f"Ports </title>{SCRIPT} & {BROKEN_OUT} {TURN} {{{{ 7 * 7 }}}}"

_URLS = (
    "https://news.example.com/1?a=1&b=2",
    "javascript:alert(1)",
    'https://news.example.com/"onmouseover="alert(1)',
    "data:text/html,<script>alert(1)</script>",
    f"https://news.example.com/{TURN}",
    None,
    " https://news.example.com/space",
    f"https://news.example.com/{LONG}",
)


def hostile(at: datetime, *, language: str = "en") -> tuple[ReportRow, ReportFacets]:
    """Its row and its facets; source 8 stands nowhere, 2 only among those of a section."""
    sources = tuple(
        ReportSource(n, f"obs_{n:024x}", f"{SCRIPT} {n}", url, f"Paper {TURN} {n}", at)
        for n, url in enumerate(_URLS, 1)
    )
    words = ReportWords(
        opening=(Statement(f"{SCRIPT}{BROKEN_OUT} opening.", (1, 3)),),
        key_points=(Statement(f"Key {LONG}", (3,)),),
        sections=(
            Section("s", f"Head {TURN}{SCRIPT}", (Statement("Said.", (4,)),), (2, 4), ("x",)),
        ),
        briefs=(Statement("\u0645\u0631\u062d\u0628\u0627 brief", (5, 6, 7)),),
        sources=sources,
    )
    path = f"/api/v1/reports/{ID}"
    row = ReportRow(
        id=ID,
        profile_id="prf_" + "7" * 24,
        title=TITLE,
        summary=words.opening[0].text,
        language=language,
        generated_at=at,
        period=Period(at - timedelta(days=1), at),
        status="ready",
        has_audio=False,
        counts=ReportCounts(sources=len(sources), signals=1, entities=0, incidents=0),
        links=ReportLinks(
            self_=path,
            audio=None,
            graph=f"{path}/graph",
            signals=f"{path}/signals",
            text=f"{path}/text",
        ),
    )
    facets = ReportFacets(
        report_id=ID,
        digest="0" * 64,
        **attrs.asdict(words, recurse=False),
        signals=(_signal(at),),
        graph=None,
        content=ReportContent(
            html=render.html_fragment(TITLE, words), markdown=render.markdown(TITLE, words)
        ),
        text=render.report_text(TITLE, words),
    )
    return row, facets


def _signal(at: datetime) -> ReportSignal:
    return ReportSignal(
        id="sig_" + "7" * 24,
        type="strike",
        title=f"{SCRIPT} {LONG}",
        summary=f"{BROKEN_OUT} {TURN}",
        tags=(),
        direction="down",
        entities=(SignalParty(f"Union {SCRIPT}", "organization"),),
        places=(SignalPlace(f"Antwerp {TURN}", "BE"),),
        occurred_date="2026-03-03",
        first_reported_at=at,
        last_reported_at=at,
        confidence=0.745,
        confidence_parts=SignalConfidence(0.5, 1.0, 0.9, 0.7),
        source_count=1,
        story_id="s",
        citations=(1, 4),
    )


async def put(ctx: object, row: ReportRow, facets: ReportFacets) -> None:
    """Store the report in the workspace of the context."""
    await ctx.save(REPORTS, row.id, row)  # type: ignore[attr-defined]
    await ctx.save(FACETS, row.id, facets)  # type: ignore[attr-defined]
