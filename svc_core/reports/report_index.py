"""Keeps a tenant's search index of reports and their signals."""

from collections.abc import Iterator, Sequence
from typing import Final

from svc_core.intel.signals.signal_index import text_with_tags
from svc_core.operation.context import Context
from svc_core.reports.model import ReportFacets, ReportRow
from svc_core.search.indexing import Index, IndexedText, text_row

REPORT_INDEX: Final = Index.of("tenant", "knowledge")
"""The index of each tenant's reports and their signals."""
_OF_REPORT_MAX: Final = 64
"""Rows of one report: itself and its signals, of which it has at most 50."""


async def index_report(ctx: Context, row: ReportRow, facets: ReportFacets) -> None:
    """Index a report and its signals in place of its earlier entries."""
    await REPORT_INDEX.write(ctx, _texts(row, facets), await ids_of(ctx, [row.id]))


async def unindex_reports(ctx: Context, ids: Sequence[str]) -> None:
    """Remove reports and their signals from the index."""
    await REPORT_INDEX.write(ctx, (), await ids_of(ctx, ids))


async def ids_of(ctx: Context, reports: Sequence[str]) -> list[str]:
    """The ids of the index entries of some reports."""
    limit, filters = _OF_REPORT_MAX * len(reports), {"report": tuple(reports)}
    return [row.id async for row in ctx.every(REPORT_INDEX.texts, limit, where=filters)]


def _texts(row: ReportRow, facets: ReportFacets) -> Iterator[IndexedText]:
    columns = {"report_id": row.id, "profile_id": row.profile_id, "language": row.language}
    text = facets.text.removeprefix(row.title)
    yield text_row("report", row.id, (row.title, text), row.period.end, **columns)
    for signal in facets.signals or ():
        words = signal.title, text_with_tags(signal.summary, signal.tags)
        yield text_row("signal", signal.id, words, signal.last_reported_at, **columns)
