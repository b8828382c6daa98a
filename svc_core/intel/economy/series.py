"""Registers the series of indicators as their values come in."""

from collections.abc import Mapping, Sequence
from typing import Any

from svc_core.intel.economy.indicator import FININT_SERIES, series_of
from svc_core.intel.folding.kind import RowChange
from svc_core.operation.context import Context


async def note_series(ctx: Context, rows: Sequence[RowChange]) -> None:
    """Store the series of these values that are not stored yet, or not as they are named now."""
    series = {item.id: item for item in (series_of(row.after) for row in rows if row.after)}
    present = await ctx.tx.documents.get_many(FININT_SERIES, list(series))
    for id_, row in series.items():
        if id_ not in present or FININT_SERIES.decode(present[id_].raw) != row:
            await ctx.tx.documents.put(FININT_SERIES, id_, row)


def is_refetch(names: Sequence[str], before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a row changed only in the day on which its unchanged value was fetched.

    `names` are the members that differ. A vintage of one day only says when the provider was
    asked; a longer one says on which days the value was valid, so a change of it counts.
    """
    spans = [row.get("vintage") or {"start": 0, "end": 1} for row in (before, after)]
    return names == ("vintage",) and all(span["start"] == span["end"] for span in spans)
