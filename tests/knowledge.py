"""Reports with words of one's own, and questions to the knowledge."""

import json
from datetime import timedelta
from typing import Any

from svc_core import wire
from svc_core.knowledge.operations import RetrieveKnowledge, retrieve_knowledge
from svc_core.knowledge.rows import KnowledgeQuery
from svc_core.operation.caller import Actor
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
    SignalConfidence,
)
from svc_core.reports.report_index import index_report
from svc_core.testing.clock import START

TENANT = "wsp_" + "a" * 24
STRANGER = "wsp_" + "b" * 24
PROFILE = "prf_" + "1" * 24


def make_report(
    number: int, title: str, text: str = "", *, signals: int = 0, profile: str = PROFILE,
    days: float = 0,
) -> tuple[ReportRow, ReportFacets]:  # fmt: skip
    """A report that ended so many days ago; its signals have its title."""
    id_, end = f"rpt_{number:024x}", START - timedelta(days=days)
    links = ReportLinks(f"/api/v1/reports/{id_}", None, "", "", "")
    counts = ReportCounts(0, signals, 0, 0)
    period = Period(end - timedelta(days=1), end)
    row = ReportRow(
        id_,
        profile,
        title,
        text,
        "en",
        end,
        period,
        "ready",
        False,
        counts,
        links,
    )
    signal_rows = tuple(_signal(number * 64 + n, title, period) for n in range(signals))
    empty: dict[str, Any] = dict.fromkeys(
        ("opening", "key_points", "sections", "briefs", "sources"), ()
    )
    content = ReportContent("", "")
    return row, ReportFacets(
        **empty, report_id=id_, digest=title, signals=signal_rows, graph=None, content=content,
        text=f"{title}\n\n{text}\n",
    )  # fmt: skip


def _signal(number: int, title: str, period: Period) -> ReportSignal:
    parts = SignalConfidence(1.0, 1.0, 1.0, 1.0)
    return ReportSignal(
        f"sig_{number:024x}", "strike", f"{title} ({number % 64})", "It began.", (), "down", (),
        (), None, period.start, period.end, 1.0, parts, 1, "s", (1,),
    )  # fmt: skip


async def put(ctx: Any, row: ReportRow, facets: ReportFacets, *, indexed: bool = True) -> None:
    """Store a report; one of before there was an index is not `indexed`."""
    await ctx.save(REPORTS, row.id, row)
    await ctx.save(FACETS, row.id, facets)
    if indexed:
        await index_report(ctx, row, facets)


async def ask(service: Any, query: str, tenant: str = TENANT, **members: Any) -> Any:
    """The rows and the `meta` that answer a question, as they are sent."""
    body = wire.structure(KnowledgeQuery, {"query": query, **members})
    page = await retrieve_knowledge(service.context(Actor(tenant)), RetrieveKnowledge(body))
    return [json.loads(row) for row in page.rows], page.meta
