"""A report's text for speech: the operation over stored reports (Spec: Report; Reports)."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest

from svc_core.base.unset import UNSET
from svc_core.reports.model import (
    FACETS,
    REPORTS,
    Period,
    ReportContent,
    ReportCounts,
    ReportFacets,
    ReportLinks,
    ReportRow,
    ReportSource,
    Section,
    Statement,
)

ID = "rpt_" + "5" * 24
START = datetime(2026, 3, 1, tzinfo=UTC)

ROW = ReportRow(
    id=ID,
    profile_id="prf_" + "5" * 24,
    title="Ports: 1–7 March 2026",
    summary="Dockworkers joined.",
    language="en",
    generated_at=START + timedelta(days=7),
    period=Period(START, START + timedelta(days=7)),
    status="ready",
    has_audio=False,
    counts=ReportCounts(sources=3, signals=0, entities=0, incidents=0, publishers=2),
    links=ReportLinks(self_="", audio=None, graph="", signals="", text=""),
)
FACETS_OF_IT = ReportFacets(
    report_id=ID,
    digest="0",
    opening=(Statement("The FNV wants 8% more; it costs $1.2bn.", (1, 2)),),
    key_points=(Statement("NATO met on 2026-03-05 [1].", (1,)),),
    sections=(
        Section("s", "CVE-2026-12345 <b>used</b>", (Statement("**See** a.com", ()),), (), ()),
    ),
    briefs=(Statement("A ship left.", (2,)),),
    sources=(ReportSource(1, "obs_x", "A title of a source", None, "The Paper", None),),
    signals=None,
    graph=None,
    content=ReportContent(html="<h1>Ports</h1>", markdown="# Ports\n"),
    text="Ports\n",
)


def store(house: Any, row: ReportRow = ROW, facets: ReportFacets = FACETS_OF_IT) -> None:
    async def write(ctx: Any) -> None:
        await ctx.save(REPORTS, ID, row)
        await ctx.save(FACETS, ID, facets)

    house.run(write, "wsp_a")


def send(house: Any, **arguments: Any) -> Any:
    return house.send("getReportAudioText", path={"reportId": ID}, **arguments)


def test_the_words_are_told_as_a_voice_reads_them(house: Any) -> None:
    store(house)
    body = json.loads(send(house).body)
    assert body["text"].split("\n\n") == [
        "Ports: 1 to 7 March 2026. This report covers the time from March 1st, 2026 "
        "to March 7th, 2026. It draws on 3 sources of 2 publishers.",
        "The F-N-V wants 8 percent more; it costs 1.2 billion US dollars.",
        "Key points.",
        "NATO met on March 5th, 2026.",
        "C-V-E-2026 12345 used.",
        "See a dot com.",
        "In brief.",
        "A ship left.",
        "That was the report: Ports: 1 to 7 March 2026. Thank you for listening.\n",
    ]
    assert set(body) == {"reportId", "text", "wordCount", "estimatedDurationSeconds"}
    assert body["reportId"] == ID
    assert body["wordCount"] == len(body["text"].split())
    assert body["estimatedDurationSeconds"] == -(-body["wordCount"] * 60 // 150)


def test_lists_are_announced_in_the_reports_language(house: Any) -> None:
    store(house, attrs.evolve(ROW, language="de-CH"))
    paragraphs = json.loads(send(house).body)["text"].split("\n\n")
    assert {"Das Wichtigste.", "Kurz gemeldet."} <= set(paragraphs)
    assert paragraphs[0] == (
        "Ports: 1 bis 7 March 2026. Dieser Bericht umfasst die Zeit vom 1. März 2026 bis zum "
        "7. März 2026. Er stützt sich auf 3 Quellen von 2 Herausgebern."
    )


def test_sources_are_counted_and_never_read_out(house: Any) -> None:
    store(house)
    text = json.loads(send(house).body)["text"]
    assert "A title of a source" not in text
    assert "The Paper" not in text


@pytest.mark.parametrize(
    ("sources", "publishers", "intro"),
    [
        (0, 0, "It draws on no source."),
        (1, 1, "It draws on 1 source."),
        (4, 1, "It draws on 4 sources of one publisher."),
        (4, UNSET, "It draws on 4 sources."),
    ],
)
def test_a_report_of_little_is_told_as_well(
    house: Any, sources: int, publishers: Any, intro: str
) -> None:
    empty = attrs.evolve(
        FACETS_OF_IT,
        opening=(Statement("No matching items were found.", ()),),
        key_points=(),
        sections=(),
        briefs=(),
        sources=(),
    )
    counts = attrs.evolve(ROW.counts, sources=sources, publishers=publishers)
    store(house, attrs.evolve(ROW, counts=counts), empty)
    paragraphs = json.loads(send(house).body)["text"].split("\n\n")
    assert paragraphs[1] == "No matching items were found."
    assert len(paragraphs) == 3
    assert paragraphs[0].endswith(intro)


def test_the_tag_is_that_of_what_is_said(house: Any) -> None:
    store(house)
    first = dict(send(house).headers)["ETag"]
    assert send(house, if_none_match=first).status == 304
    text = house.send("getReportText", path={"reportId": ID})
    assert dict(text.headers)["ETag"] != first
    store(house, facets=attrs.evolve(FACETS_OF_IT, briefs=()))
    after = send(house, if_none_match=first)
    assert after.status == 200
    assert dict(after.headers)["ETag"] != first
