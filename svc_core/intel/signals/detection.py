"""The detection pass: finds signals that are judged over many rows, after these were written.

Rule 1: time is that of the rows, and a window is a fixed part of the calendar (UTC): two passes
        over the same rows find the same signals, whenever and in whatever order these came.
Rule 2: a subject is judged whole: what was found of it before and is no longer so is removed.
Rule 3: too little data makes no signal: a topic needs sources that published a week ago, a series
        and a source at least ten changes.
Rule 4: a pass reads some subjects in one unit of work and writes the findings in another.
        A subject whose rows changed between the two stays due.
Rule 5: a subject that fails is reported, and is due again with its next row.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from attrs import frozen

from svc_core.intel.folding.due_rows import BatchSize, DueRows, raise_faults
from svc_core.intel.signals.detection_queue import mark_subjects
from svc_core.intel.signals.detection_review import review_signals
from svc_core.intel.signals.detectors import Judgement, write_signals
from svc_core.intel.signals.model import DETECTIONS_DUE, DetectionDue
from svc_core.intel.signals.news_outliers import later_days, source_silences, topic_signals
from svc_core.intel.signals.outliers import cell_signals, series_signals
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, StoredRow
from svc_core.operation.units import Units

SUBJECTS, SUBJECTS_MAX = 5, 200
"""Subjects that are read at first, some 50 ms for topics of which there is much news, and at most:
a cell with one event takes a quarter of a millisecond, and each unit waits for the disk."""
UNITS_MAX = 2_000  # at least 2,000 subjects in one go; what is left then waits for the next


@frozen
class _Findings:
    """What was read of some due subjects: their marks, what each detector found, and the days that
    are to be judged after them.
    """

    due: Sequence[StoredRow[DetectionDue]]
    judgements: Sequence[Judgement] = ()
    later: Sequence[str] = ()


async def detect_new(work: Units, sources: Sequence[str] = ()) -> int:
    """Read the due subjects and check `sources` for silence; return how many signals were written.

    Raises:
        ExceptionGroup: some subjects failed; the others are done.
    """
    await review_signals(work)
    subjects = DueRows(_due, partial(_detect, work), partial(_pass_over, work))
    count, faults = await subjects.work_off(work, BatchSize(SUBJECTS, 1, SUBJECTS_MAX), UNITS_MAX)
    for start in range(0, len(sources), SUBJECTS):
        batch = sources[start : start + SUBJECTS]
        signals = await work.read(SYSTEM, partial(source_silences, ids=batch))
        if signals:
            count += await work.write(SYSTEM, partial(write_signals, signals=signals))
    raise_faults(faults)
    return count


async def _due(ctx: Context, limit: int) -> tuple[StoredRow[DetectionDue], ...]:
    return (await ctx.tx.documents.scan(DETECTIONS_DUE, limit=limit)).rows


async def _detect(work: Units, due: Sequence[StoredRow[DetectionDue]]) -> int:
    findings = await work.read(SYSTEM, partial(_look, due=due))
    return await work.write(SYSTEM, partial(_write, findings=findings))


async def _pass_over(work: Units, due: StoredRow[DetectionDue]) -> None:
    await work.write(SYSTEM, partial(_write, findings=_Findings((due,))))


async def _look(ctx: Context, due: Sequence[StoredRow[DetectionDue]]) -> _Findings:
    marks = [DETECTIONS_DUE.decode(row.raw) for row in due]
    items = [item for item in marks if "|" in item.key]  # an earlier version marked no days
    judgements = [await _PASSES[item.subject](ctx, item.key) for item in items]
    later = [await later_days(ctx, item.key) for item in items if item.subject == "topic"]
    return _Findings(due, judgements, [key for keys in later for key in keys])


async def _write(ctx: Context, findings: _Findings) -> int:
    await mark_subjects(ctx, LATER, findings.later)
    for row in findings.due:
        if await ctx.if_unchanged(DETECTIONS_DUE, row) is not None:
            await ctx.tx.documents.delete(DETECTIONS_DUE, row.id)
    signals = [signal for judgement in findings.judgements for signal in judgement.signals]
    ids = [id_ for judgement in findings.judgements for id_ in judgement.ids]
    return await write_signals(ctx, signals, ids)


LATER = "laterTopic"
"""The subject of a topic's day that is judged again as days before it changed."""

_PASSES: Mapping[str, Callable[[Context, str], Awaitable[Judgement]]] = {
    "topic": topic_signals,
    LATER: topic_signals,
    "series": series_signals,
    "cell": cell_signals,
}
