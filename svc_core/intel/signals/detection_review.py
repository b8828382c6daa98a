"""Reviews the signals of a store that an earlier version of the detectors wrote.

Rule 1: signals that the present rules would not give are removed, and what detectors judge over
        stored rows is judged anew. A store without such signals is only noted as reviewed.
Rule 2: a review that is cut off begins again; each of its units reads a bounded number of rows.
        Signals are removed last, as by them a review knows that rows have to be judged anew.
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
    if await _pages(work, SIGNALS, where={"type": _TYPES}):
        await _pages(work, NEWS, mark_items)
        await _pages(work, OSINT_EVENTS, mark_events)
        await _pages(work, SIGNALS, _remove_outdated, where={"type": _TYPES})
    await work.write(SYSTEM, lambda ctx: ctx.save(DETECTION_REVIEWS, RULES.id, RULES))


async def _pages(
    work: Units, collection: Collection[Any], write: Callable[..., Awaitable[None]] | None = None,
    **filters: Any,
) -> int:  # fmt: skip
    """Write what follows from rows, if anything, page by page; how many rows that were."""
    count, after = 0, None
    while True:

        async def scan(ctx: Context, after: Position | None = after) -> Any:
            documents = ctx.tx.documents
            return await documents.scan(collection, after=after, limit=ROWS_AT_ONCE, **filters)

        page = await work.read(SYSTEM, scan)
        rows = [collection.decode(row.raw) for row in page.rows]
        rows = [row for row in rows if collection is not SIGNALS or _is_outdated(row)]
        if rows and write is not None:
            await work.write(SYSTEM, partial(write, rows=rows))
        count, after = count + len(rows), page.end
        if after is None:
            return count


async def _remove_outdated(ctx: Context, rows: Sequence[Signal]) -> None:
    stored = await ctx.find_many(SIGNALS, [row.id for row in rows])
    ids = [id_ for id_, signal in stored.items() if _is_outdated(signal)]
    for id_ in ids:
        await ctx.remove(SIGNALS, id_)
    await index_signals(ctx, (), ids)


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
