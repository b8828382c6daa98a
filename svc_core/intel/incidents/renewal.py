"""Makes the rows of a store anew, once, that rules of an earlier state have made.

Rule 1: every row is marked as due, as if its members had been written; the passes make them anew.
Rule 2: rows are marked in short units, and that all are is noted last: a walk that was cut off
        begins again, and a row that is right is looked at once more.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from svc_core.intel.incidents.model import INCIDENTS
from svc_core.intel.incidents.queue import note_incident
from svc_core.intel.news.model import (
    NEWS,
    RECAPS,
    RECAPS_DUE,
    STORY_PASSES,
    UNGROUPED_ITEMS,
    RecapDue,
    StoryPass,
    ungrouped_item,
)
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Collection, Position
from svc_core.operation.units import Units

RULES = "rules 4"
"""The state of the rules by which incidents, stories and recaps are made: another one whenever they
make other rows of the same members."""
ROWS_AT_ONCE = 100
"""Rows that are marked in one unit: some 20 ms."""

_Mark = Callable[[Context, Any], Awaitable[Any]]


async def renew_rows(work: Units) -> None:
    """Mark the rows that other rules have made, unless that is done."""
    if await work.read(SYSTEM, _are_of_today):
        return
    for collection, mark in _MARKS:
        after, has_more = None, True
        while has_more:
            unit = partial(_mark_some, collection=collection, mark=mark, after=after)
            after = await work.write(SYSTEM, unit)
            has_more = after is not None
    await work.write(SYSTEM, _note_today)


async def _are_of_today(ctx: Context) -> bool:
    return await ctx.tx.documents.get(STORY_PASSES, RULES) is not None


async def _note_today(ctx: Context) -> None:
    await ctx.save(STORY_PASSES, RULES, StoryPass(RULES))


async def _mark_some(
    ctx: Context, collection: Collection[Any], mark: _Mark, after: Position | None
) -> Position | None:
    page = await ctx.tx.documents.scan(collection, after=after, limit=ROWS_AT_ONCE)
    for row in page.rows:
        await mark(ctx, collection.decode(row.raw))
    return page.end


async def _mark_item(ctx: Context, item: Any) -> None:
    await ctx.save(UNGROUPED_ITEMS, item.id, ungrouped_item(item))


async def _mark_incident(ctx: Context, incident: Any) -> None:
    await note_incident(ctx, [incident.id])


async def _mark_recap(ctx: Context, recap: Any) -> None:
    due = RecapDue(f"{recap.topic}|{recap.window.start:%Y-%m-%d}", recap.topic, recap.window.start)
    await ctx.save(RECAPS_DUE, due.id, due)


_MARKS: tuple[tuple[Collection[Any], _Mark], ...] = (
    (NEWS, _mark_item),
    (INCIDENTS, _mark_incident),
    (RECAPS, _mark_recap),
)
