"""Marks what detectors must judge again, in the unit of work that writes the rows.

The subjects are days (UTC) of a news topic or of a cell of the globe, and series of an indicator.
Outliers among them are judged over many rows, by a later pass (`svc_core.intel.signals.detection`);
a pass that is interrupted leaves the remaining marks.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from math import floor

from svc_core.base import ids
from svc_core.intel.events.model import OsintEvent
from svc_core.intel.folding.kind import RowChange
from svc_core.intel.news.model import NewsItem
from svc_core.intel.signals.model import DETECTIONS_DUE, DetectionDue
from svc_core.operation.context import Context
from svc_core.operation.source_members import exact_point

_DAY_PRECISIONS = frozenset({"instant", "day", None})


async def follow_items(ctx: Context, rows: Sequence[RowChange]) -> None:
    """Mark the topics of items on their days."""
    await mark_items(ctx, (item for row in rows for item in (row.before, row.after) if item))


async def mark_items(ctx: Context, rows: Iterable[NewsItem]) -> None:
    """Mark the topics of items on the days of their own dates."""
    pairs = ((topic, item.dated_at) for item in rows for topic in item.topics)
    await mark_subjects(ctx, "topic", (day_key(topic, at) for topic, at in pairs if at is not None))


async def follow_values(ctx: Context, rows: Sequence[RowChange]) -> None:
    """Mark the series of these indicator values."""
    values = (row.after or row.before for row in rows)
    await mark_subjects(ctx, "series", (indicator.series for indicator in values))


async def follow_events(ctx: Context, rows: Sequence[RowChange]) -> None:
    """Mark the cells in which events lie, on their days."""
    await mark_events(ctx, (event for row in rows for event in (row.before, row.after) if event))


async def mark_events(ctx: Context, rows: Iterable[OsintEvent]) -> None:
    """Mark the cells in which events lie, on their days."""
    await mark_subjects(ctx, "cell", (key for event in rows for key in _cell_days(event)))


def _cell_days(event: OsintEvent) -> Iterator[str]:
    cell = cell_of(event)
    if cell is not None and event.occurred_at is not None:
        yield day_key(cell, event.occurred_at)


def day_key(subject: str, at: datetime) -> str:
    """The key of a subject on the day (UTC) of an instant."""
    return f"{subject}|{at:%Y-%m-%d}"


def cell_of(event: OsintEvent) -> str | None:
    """The cell of one degree in which an event lies, as `west,south`.

    None where the place is no exact point, or the time is known less well than by day.
    """
    point = exact_point(event.place)
    if point is None or event.occurred_at is None or event.date_precision not in _DAY_PRECISIONS:
        return None
    west, south = (min(floor(axis), top) for axis, top in zip(point, (179, 89), strict=True))
    return f"{west},{south}"


async def mark_subjects(ctx: Context, subject: str, keys: Iterable[str]) -> None:
    """Mark subjects of one kind by their keys."""
    for key in dict.fromkeys(keys):
        id_ = ids.derived_id("sig", "due", subject, key)
        await ctx.tx.documents.put(DETECTIONS_DUE, id_, DetectionDue(id_, subject, key))
