"""Ends news items and events that did not change for as long as the operator wants to have them.

Rule 1: a row goes as one does that its sources took back: with a tombstone in the change feed, and
        with its words, vector and places in stories and incidents.
Rule 2: of each contribution its digest stays. The next reading of its source, which says the same,
        changes nothing; one that says something else is news.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import attrs

from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.folding.due_rows import BatchSize
from svc_core.intel.folding.identity import contributions_of
from svc_core.intel.intake.record_intake import replace_contributions
from svc_core.intel.news.model import NEWS
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Collection, Position, Slice
from svc_core.operation.units import Units

ENDING: Mapping[str, tuple[Collection[Any], str]] = {
    "news": (NEWS, "recorded"),
    "event": (OSINT_EVENTS, "updated"),
}
"""The rows that may end, by the name of their retention (`Host.retention`), each with the number
that says when it changed last."""
ROWS, ROWS_MAX = 8, 32
"""Rows that end in the first unit of work, and in any: some hundredths of a second."""


async def end_rows(work: Units, name: str, age: timedelta) -> int:
    """End the rows that did not change for longer than `age`, in short units; how many went."""
    collection, number = ENDING[name]
    size, count, last = BatchSize(ROWS, 1, ROWS_MAX), 0, micros(work.now() - age) - 1
    page = partial(_page, collection, order=number, ranges={number: (None, last)})
    after: Position | None = None
    while True:
        rows: Slice[Any] = await work.read(SYSTEM, partial(page, after=after, limit=size.rows))
        start = work.now()
        count += await work.write(SYSTEM, partial(_end, [row.id for row in rows.rows]))
        size.adapt(len(rows.rows), (work.now() - start).total_seconds())
        after = rows.end
        if after is None:
            return count


async def _page(collection: Collection[Any], ctx: Context, **query: Any) -> Slice[Any]:
    return await ctx.tx.documents.scan(collection, **query)


async def _end(ids: Sequence[str], ctx: Context) -> int:
    claims = await contributions_of(ctx, ids)
    marks = {
        id_: attrs.evolve(claim, gone=True, said={}, raw=None, earlier=None)
        for id_, claim in claims.items()
    }
    return (await replace_contributions(ctx, claims, marks)).deleted
