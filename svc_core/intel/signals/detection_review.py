"""Reviews the signals of a store that an earlier version of the detectors wrote.

Rule 1: signals that the present rules would not give are removed, and what detectors judge over
        stored rows is judged anew. A store without such signals is only noted as reviewed.
Rule 2: a review that is cut off begins again; each of its units reads a bounded number of rows.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.news.model import NEWS
from svc_core.intel.signals.detection_queue import mark_events, mark_items
from svc_core.intel.signals.detectors import DETECTORS
from svc_core.intel.signals.model import DETECTION_REVIEWS, SIGNALS, DetectionDue, Signal
from svc_core.intel.signals.signal_index import index_signals
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Collection, Position
from svc_core.operation.units import Units

ROWS_AT_ONCE = 100  # some 50 ms
RULES = DetectionDue("rules", "review", "2")
"""The note of a reviewed store; `key` is the version of the rules."""

_TYPES = ("volumeSpike", "toneShift", "convergence", "escalation", "epssJump")


async def review_signals(work: Units) -> None:
    """Remove what the present rules would not give, and mark again what is judged over rows."""
    if await work.read(SYSTEM, lambda ctx: ctx.find(DETECTION_REVIEWS, RULES.id)) == RULES:
        return
    removals = [partial(_remove_outdated, type_=type_) for type_ in _TYPES]
    items = partial(_mark, collection=NEWS, mark=mark_items)
    events = partial(_mark, collection=OSINT_EVENTS, mark=mark_events)
    if await _pages(work, removals):
        await _pages(work, (items, events))
    await work.write(SYSTEM, lambda ctx: ctx.save(DETECTION_REVIEWS, RULES.id, RULES))


async def _pages(work: Units, passes: Sequence[Callable[..., Any]]) -> int:
    """Run passes over all their pages, each in a unit of work; the sum of what they count."""
    total = 0
    for page_pass in passes:
        after: Position | None = None
        while True:
            count, after = await work.write(SYSTEM, partial(page_pass, after=after))
            total += count
            if after is None:
                break
    return total


async def _remove_outdated(
    ctx: Context, *, type_: str, after: Position | None
) -> tuple[int, Position | None]:
    page = await ctx.tx.documents.scan(
        SIGNALS, where={"type": (type_,)}, after=after, limit=ROWS_AT_ONCE
    )
    ids = [row.id for row in page.rows if _is_outdated(SIGNALS.decode(row.raw))]
    for id_ in ids:
        await ctx.remove(SIGNALS, id_)
    await index_signals(ctx, (), ids)
    return len(ids), page.end


def _is_outdated(signal: Signal) -> bool:
    """Whether the present rules would not give a signal, or may give another in its place.

    A jump of an EPSS score stays where its figures differ: the scores of its days are not kept.
    """
    evidence = signal.evidence
    if signal.detector.version == DETECTORS[signal.type].version:
        return False
    if signal.type != "epssJump" or evidence is None:
        return True
    return f"{evidence.observed:.2f}" == f"{evidence.baseline:.2f}"


async def _mark(
    ctx: Context,
    *,
    collection: Collection[Any],
    mark: Callable[[Context, list[Any]], Awaitable[None]],
    after: Position | None,
) -> tuple[int, Position | None]:
    page = await ctx.tx.documents.scan(collection, after=after, limit=ROWS_AT_ONCE)
    await mark(ctx, [collection.decode(row.raw) for row in page.rows])
    return len(page.rows), page.end
