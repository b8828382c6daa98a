"""Marks what detectors must read again, in the unit of work that writes the rows.

The subjects are news topics, indicator series and cells of the globe. Outliers among them are
judged over many rows, by a later pass (`svc_core.intel.signals.detection`); a pass that is
interrupted leaves the remaining marks.
"""

from collections.abc import Iterable, Sequence
from math import floor

from svc_core.base import ids
from svc_core.intel.events.model import OsintEvent
from svc_core.intel.folding.kind import RowChange
from svc_core.intel.signals.model import DETECTIONS_DUE, DetectionDue
from svc_core.operation.context import Context
from svc_core.operation.source_members import exact_point

_DAY_PRECISIONS = frozenset({"instant", "day", None})


async def follow_items(ctx: Context, rows: Sequence[RowChange]) -> None:
    """Mark the topics of new items that have a date."""
    items = [row.after for row in rows if row.before is None and row.after is not None]
    await _note(ctx, "topic", (topic for item in items if item.dated_at for topic in item.topics))


async def follow_values(ctx: Context, rows: Sequence[RowChange]) -> None:
    """Mark the series of these indicator values."""
    await _note(ctx, "series", (row.after.series for row in rows if row.after is not None))


async def follow_events(ctx: Context, rows: Sequence[RowChange]) -> None:
    """Mark the cells in which new events lie."""
    events = [row.after for row in rows if row.before is None and row.after is not None]
    await _note(ctx, "cell", (cell for cell in map(cell_of, events) if cell is not None))


def cell_of(event: OsintEvent) -> str | None:
    """The cell of one degree in which an event lies, as `west,south`.

    None where the place is no exact point, or the time is known less well than by day.
    """
    point = exact_point(event.place)
    if point is None or event.occurred_at is None or event.date_precision not in _DAY_PRECISIONS:
        return None
    west, south = (min(floor(axis), top) for axis, top in zip(point, (179, 89), strict=True))
    return f"{west},{south}"


async def _note(ctx: Context, subject: str, keys: Iterable[str]) -> None:
    for key in dict.fromkeys(keys):
        id_ = ids.derived_id("sig", "due", subject, key)
        await ctx.tx.documents.put(DETECTIONS_DUE, id_, DetectionDue(id_, subject, key))
