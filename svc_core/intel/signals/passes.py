"""Signals of what stands out among many rows, found by a pass after they were written.

Rule 1: time is that of the rows: each window ends with the newest of them. The clock says only
        what lies in the future, so two passes over the same rows find the same.
Rule 2: what is too little to judge by claims nothing: a topic needs sources that were there a
        week, a series and a source ten changes.
Rule 3: a pass reads `AT_ONCE` subjects in one unit, and writes what it found in another, which
        leaves due what was written meanwhile.
Rule 4: a subject that cannot be looked at is told of, and due again with its next row.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from svc_core.intel.folding import bisection
from svc_core.intel.signals.detectors import raised
from svc_core.intel.signals.model import DETECTIONS_DUE, DetectionDue, Signal
from svc_core.intel.signals.news import of_topic, silent
from svc_core.intel.signals.outliers import of_cell, of_series
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Document
from svc_core.operation.units import Units

AT_ONCE = 5  # subjects: some 50 ms for topics of which there is much news
ROUNDS_MAX = 2_000  # 10,000 subjects in one go; what is left then waits for the next


_Seen = tuple[Sequence[Document[DetectionDue]], list[Signal]]
"""What was due, and what was found in it."""


async def detect_new(work: Units, sources: Sequence[str] = ()) -> int:
    """Look at what is due and at sources that were just read; how many signals came of it.

    Raises:
        ExceptionGroup: some of it cannot be looked at; the rest was.
    """
    written, faults = 0, list[Exception]()
    for _ in range(ROUNDS_MAX):
        due = await work.read(SYSTEM, _due)
        if not due or len(faults) > bisection.FAULTS_MAX:
            break
        written += await bisection.each(
            due, partial(_detect, work), partial(_pass_over, work), faults
        )
    for at in range(0, len(sources), AT_ONCE):
        some = sources[at : at + AT_ONCE]
        found = await work.read(SYSTEM, partial(silent, ids=some))
        if found:
            written += await work.write(SYSTEM, partial(raised, signals=found))
    bisection.tell(faults)
    return written


async def _due(ctx: Context) -> tuple[Document[DetectionDue], ...]:
    return (await ctx.tx.documents.scan(DETECTIONS_DUE, limit=AT_ONCE)).rows


async def _detect(work: Units, due: Sequence[Document[DetectionDue]]) -> int:
    seen = await work.read(SYSTEM, partial(_look, due=due))
    return await work.write(SYSTEM, partial(_write, seen=seen))


async def _pass_over(work: Units, due: Document[DetectionDue]) -> None:
    await work.write(SYSTEM, partial(_write, seen=((due,), [])))


async def _look(ctx: Context, due: Sequence[Document[DetectionDue]]) -> _Seen:
    told = [DETECTIONS_DUE.decode(row.raw) for row in due]
    return due, [each for one in told for each in await _DETECTED[one.subject](ctx, one.key)]


async def _write(ctx: Context, seen: _Seen) -> int:
    due, found = seen
    for row in due:
        if await ctx.unchanged(DETECTIONS_DUE, row) is not None:
            await ctx.tx.documents.delete(DETECTIONS_DUE, row.id)
    return await raised(ctx, found)


_DETECTED: Mapping[str, Callable[[Context, str], Awaitable[list[Signal]]]] = {
    "topic": of_topic,
    "series": of_series,
    "cell": of_cell,
}
