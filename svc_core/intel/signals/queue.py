"""What detectors are to look at again, noted in the unit that wrote rows of it.

Topics of news, series of indicators and cells of the globe: what stands out is judged over many
rows, by a pass after them (`svc_core.intel.signals`). One that is cut off leaves the rest noted.
"""

from collections.abc import Iterable, Sequence
from math import floor

from svc_core.base import ids
from svc_core.intel.events.model import OsintEvent
from svc_core.intel.folding.kind import Written
from svc_core.intel.signals.model import DETECTIONS_DUE, DetectionDue
from svc_core.operation.context import Context
from svc_core.operation.facts import exact_point

_DAY_PRECISIONS = frozenset({"instant", "day", None})


async def follow_items(ctx: Context, rows: Sequence[Written]) -> None:
    """Note the topics of new items that have a date."""
    items = [row.after for row in rows if row.before is None and row.after is not None]
    await _note(ctx, "topic", (topic for item in items if item.dated_at for topic in item.topics))


async def follow_values(ctx: Context, rows: Sequence[Written]) -> None:
    """Note the series of values."""
    await _note(ctx, "series", (row.after.series for row in rows if row.after is not None))


async def follow_events(ctx: Context, rows: Sequence[Written]) -> None:
    """Note the cells of new events."""
    events = [row.after for row in rows if row.before is None and row.after is not None]
    await _note(ctx, "cell", (cell for cell in map(cell_of, events) if cell is not None))


def cell_of(event: OsintEvent) -> str | None:
    """The cell of one degree that an event lies in; None where place or day is known less well."""
    point = exact_point(event.place)
    if point is None or event.occurred_at is None or event.date_precision not in _DAY_PRECISIONS:
        return None
    west, south = (min(floor(axis), top) for axis, top in zip(point, (179, 89), strict=True))
    return f"{west},{south}"


async def _note(ctx: Context, subject: str, keys: Iterable[str]) -> None:
    for key in dict.fromkeys(keys):
        id_ = ids.derived_id("sig", "due", subject, key)
        await ctx.tx.documents.put(DETECTIONS_DUE, id_, DetectionDue(id_, subject, key))
