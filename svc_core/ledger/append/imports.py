"""Imports the lines of an export into a workspace's ledger, byte for byte.

Rule 1: the workspace's ledger must be empty, or the beginning of the export, or the export must be
        a part that follows it. The workspace then continues that ledger under its identifier.
        Every other import is refused, and nothing is stored.
Rule 2: all lines are verified strictly before any of them is stored, and compared with the verified
        ones while they are stored, because the file may have changed.
Rule 3: content that the export itself erases is not stored. Content that this ledger stores is
        erased only if the deployment allows erasures.
Rule 4: lines are stored in runs, each in its own unit of work, so that other writers can go
        between. An interrupted import leaves a beginning of the export; repeating it continues.
Rule 5: records that a part refers to and that precede it are looked up here, run by run.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from attrs import frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.ledger import timestamps
from svc_core.ledger.append.batches import publish_head, store_batch, subject_members
from svc_core.ledger.append.erasure import erase_content, may_erase
from svc_core.ledger.log import tree
from svc_core.ledger.log.record_seals import Batch, TreeHead
from svc_core.ledger.records import decode, split_line
from svc_core.ledger.repository import SUBJECT_LINES_MAX, check_end, head_of, prefix
from svc_core.ledger.verify.anchors import gather
from svc_core.ledger.verify.diagnosis import Diagnosis
from svc_core.ledger.verify.lines import NO_PAYLOAD, read_line
from svc_core.ledger.verify.outcome import VerificationOutcome
from svc_core.ledger.verify.sweep import Sweep
from svc_core.operation.context import Context
from svc_core.operation.ports import DuplicateRecordError
from svc_core.operation.units import Units

IMPORT_RECORDS_MAX: Final = 1_000_000
"""Records of one file: a few minutes, and 200 MB if each has a subject of its own."""

VERIFIED: Final = "MiB verified"
STORED: Final = "MiB stored"
Runs = Callable[[str], Iterator[Sequence[bytes]]]
"""Opens the lines (without LF) anew on each call and yields them in runs of at most 512.

The text, `VERIFIED` or `STORED`, tells whoever waits what is done with them.
"""


@frozen
class ImportSummary:
    """The result of an import: the size before, the head after, the number of subjects."""

    before: int
    head: TreeHead
    subjects: int


async def _head_before(ctx: Context, lines: Sequence[bytes]) -> TreeHead | None:
    """Return the head of this ledger that an export, given its first lines, continues.

    None for a file that begins with record 0, or with something that is no record.

    Raises:
        Problem: RESOURCE_CONFLICT if the ledger here is shorter than that.
    """
    first = read_line(1, lines[0]) if lines else None
    if first is None or first.head is None or not first.seq:
        return None
    size = (await head_of(ctx)).size
    if first.seq > size:
        raise _refusal(f"the file begins with record {first.seq}, and the ledger here has {size}")
    return await prefix(ctx, first.seq)


async def import_lines(work: Units, tenant: str, runs: Runs) -> ImportSummary:
    """Store those lines of an export that this ledger does not have yet, run by run.

    Raises:
        Problem: RESOURCE_CONFLICT if the lines are not sound, may not be imported, or differ from
            the ledger here; ERASURE_NOT_ALLOWED; SERVICE_UNAVAILABLE if the stored ledger is
            damaged. Nothing is stored then, unless the file or the ledger changed while runs were
            stored.
    """
    first = await work.aside(lambda: next(runs(VERIFIED), ()))
    after = await work.read(tenant, partial(_head_before, lines=first))
    before = await work.read(tenant, _sound_head)
    survey = await work.aside(partial(_survey_of, runs, after, before.size))
    await work.read(tenant, partial(_check, survey=survey, before=before))
    head, start = before, survey.outcome.start
    sweep = Sweep(gather(level="integrity", ledger=survey.outcome.ledger, start=after))
    steps = zip(runs(STORED), survey.ends, strict=False)
    while (step := await work.aside(lambda: next(steps, None))) is not None:
        lines, end = step
        if not await work.aside(partial(_is_as_surveyed, sweep, lines, end)):
            raise _change_refusal(head.size - before.size)
        old_lines = lines[: max(0, before.size - start)]
        await work.read(tenant, partial(_compare, lines=old_lines, start=start))
        if len(old_lines) < len(lines):
            batch = await work.aside(partial(_batch, head, lines[len(old_lines) :]))
            count = head.size - before.size
            if after is not None:
                await work.read(tenant, partial(_check_known, batch=batch, count=count))
            await work.write(tenant, partial(_store, batch=batch, head=head, count=count))
            head = batch.head
        start += len(lines)
    if start < survey.outcome.size:
        raise _change_refusal(head.size - before.size)
    return ImportSummary(before.size, head, len(survey.counts))


async def _sound_head(ctx: Context) -> TreeHead:
    head = await head_of(ctx)
    await check_end(ctx, head)
    return head


def _refusal(
    reason: str, count: int = 0, step: str = "Import an export that goes on where this ledger ends."
) -> Problem:
    if count:
        return Problem(
            problem.RESOURCE_CONFLICT,
            f"Only {count} records were imported: {reason}.",
            resolution="Import the whole export again: it goes on where this ledger ends.",
        )
    return Problem(
        problem.RESOURCE_CONFLICT,
        f"Nothing was imported: {reason}.",
        resolution=step,
    )


def _change_refusal(count: int = 0) -> Problem:
    return _refusal("the file changed while it was read", count)


# -- before anything is stored -----------------------------------------------------------------


@frozen
class _Survey:
    """The new lines in summary: how many for each subject, and which records they erase.

    `outcome` is that of all lines; `ends` are the seals of the last line of each run.
    """

    outcome: VerificationOutcome
    ends: list[str]
    counts: Counter[str]
    erasures: list[str]


def _survey_of(runs: Runs, after: TreeHead | None, size: int) -> _Survey:
    """Verify the lines strictly and survey them; those from number `size` on are new here.

    Raises:
        Problem: RESOURCE_CONFLICT, with the line, if they are not sound.
    """
    # What is erased is not stored, so it may be there.
    anchors = gather(level="strict", allow_content=True, start=after)
    sweep, counts = Sweep(anchors), Counter[str]()
    ends: list[str] = []
    erasures: list[str] = []
    for lines in runs(VERIFIED):
        if not sweep.feed(lines):
            break
        new = [record for line in lines if (record := decode(line)).seq >= size]
        counts.update(record.subject for record in new)
        erasures += [str(record.target) for record in new if record.op == "erase"]
        ends.append(split_line(lines[-1]).seal.decode())
    outcome = sweep.finish()
    if outcome is not None:
        return _Survey(outcome, ends, counts, erasures)
    diagnosis = Diagnosis(anchors)
    for lines in runs(VERIFIED):
        diagnosis.feed(lines)
    fault = diagnosis.finish().first_fault
    if fault is None:
        raise _change_refusal()
    place = "" if fault.line is None else f"line {fault.line}, "
    raise Problem(
        problem.RESOURCE_CONFLICT,
        f"Nothing was imported: the file is not sound: {place}{fault.code}: {fault.detail} "
        "See: svc ledger verify FILE",
    )


async def _check(ctx: Context, survey: _Survey, before: TreeHead) -> None:
    """Check that the lines go on from the ledger here, find room, and erase what may be erased."""
    _check_continuation(ctx, survey.outcome, before)
    candidates = [
        name for name, count in survey.counts.items() if count + before.size > SUBJECT_LINES_MAX
    ]
    for subject, count in (await ctx.tx.ledger.counts_of(candidates)).items():
        if count + survey.counts[subject] > SUBJECT_LINES_MAX:
            raise _refusal(f"{subject} has more than {SUBJECT_LINES_MAX} records")
    for target in () if may_erase(ctx) else survey.erasures:
        line = await ctx.tx.ledger.get(target)
        if (
            line is not None
            and line.seq < before.size
            and split_line(line.line).payload != NO_PAYLOAD
        ):
            raise Problem(
                problem.ERASURE_NOT_ALLOWED,
                f"The file erases {target}, which this ledger holds; the setting allow_erasure "
                "says for which workspaces that is allowed.",
            )


def _check_continuation(ctx: Context, outcome: VerificationOutcome, before: TreeHead) -> None:
    new = outcome.head
    if new is None:
        raise _refusal("the file has no records")
    if new.size - outcome.start > IMPORT_RECORDS_MAX:
        raise _refusal(
            f"it has {new.size - outcome.start} records, and one import takes {IMPORT_RECORDS_MAX}",
            step="Export it in parts: svc ledger export --from-size N --size M",
        )
    if before.size and before.ledger != new.ledger:
        raise _refusal(
            f"this workspace has a ledger of its own, {before.ledger} with {before.size} records, "
            f"and the file is of {new.ledger}; import it into a workspace whose ledger is empty"
        )
    if before.size > new.size:
        raise _refusal(
            f"the ledger here has {before.size} records, more than the {new.size} of the file"
        )
    if (new.recorded_at or "") > timestamps.utc_text(ctx.now):
        # Record times only rise: from then on every record would be dated in the future.
        raise _refusal(f"its last record is of {new.recorded_at}, which is in the future here")


def _is_as_surveyed(sweep: Sweep, lines: Sequence[bytes], end: str) -> bool:
    """Whether a run is the surveyed one; its last seal depends on all lines before it."""
    return sweep.feed(lines) and split_line(lines[-1]).seal.decode() == end


async def _compare(ctx: Context, lines: Sequence[bytes], start: int) -> None:
    seals = await ctx.tx.ledger.hashes(0, start, start + len(lines))
    for seq, (line, seal) in enumerate(zip(lines, seals, strict=True), start):
        if split_line(line).seal != seal.hex().encode():
            raise _refusal(
                f"record {seq} of the file is another than record {seq} of the ledger here, "
                "though both bear one name: they have parted, and cannot be joined"
            )


# -- storing -----------------------------------------------------------------------------------


def _batch(before: TreeHead, lines: Sequence[bytes]) -> Batch:
    records = [decode(line) for line in lines]
    seals, last = tuple(bytes.fromhex(record.seal) for record in records), records[-1]
    growth = tree.grow(before.frontier, before.size, seals)
    head = TreeHead(
        last.ledger, growth.size, last.seal, last.recorded_at, growth.frontier, before.host
    )
    return Batch(tuple(records), tuple(lines), seals, growth.nodes, head)


async def _check_known(ctx: Context, batch: Batch, count: int) -> None:
    """Check that every target of the run is in the run or in the ledger here."""
    targets = {record.target for record in batch.records if record.target is not None}
    targets -= {record.id for record in batch.records}
    unknown = targets - {*await ctx.tx.ledger.get_many(sorted(targets))}
    if unknown:
        raise _refusal(f"it acts on {min(unknown)}, which is not before it", count)


async def _store(ctx: Context, batch: Batch, head: TreeHead, count: int) -> None:
    """Store a run after `head`, carry out its erasures, and publish the new head."""
    before = await head_of(ctx)
    if (before.size, before.seal) != (head.size, head.seal):
        raise _refusal("the ledger here went on meanwhile", count)
    try:
        await store_batch(ctx, batch)
    except DuplicateRecordError as error:  # of a part: a verification of all would have found it
        raise _refusal(f"it has {error.id}, which is here already", count) from error
    for target in [str(record.target) for record in batch.records if record.op == "erase"]:
        line = await ctx.tx.ledger.get(target)
        if line is not None and split_line(line.line).payload != NO_PAYLOAD:
            await erase_content(ctx, target)
    await publish_head(ctx, batch.head, subject_members(batch.records))
