"""Reads a workspace's ledger from the store: its head, past heads, proofs and records.

Rule 1: a ledger exists as soon as its workspace does; its identifier follows from the workspace's
        and tells nothing of it.
Rule 2: every answer names the prefix of the log that it was made from, so that it can be repeated.
Rule 3: a log has one name for good (C2SP tlog-checkpoint: the origin is "unique to the log"): the
        host is that of the time when it was made, and a workspace that goes on with another's
        ledger, which it took in, does so under a name of its own.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, TypeAlias, TypeVar

import attrs
from attrs import define, field, frozen

from svc_core.base import ids
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.ledger.log.checkpoint import Checkpoint, sign
from svc_core.ledger.log.note import VerifierKey
from svc_core.ledger.log.proofs import (
    PartHashes,
    Span,
    consistency_ranges,
    frontier_ranges,
    inclusion_ranges,
    plan,
    verify_consistency,
    verify_inclusion,
)
from svc_core.ledger.log.receipt import LogReceipt
from svc_core.ledger.log.record_seals import TreeHead
from svc_core.ledger.records import SealedRecord, decode
from svc_core.operation.caller import CallContext
from svc_core.operation.context import Context
from svc_core.operation.host import Signer
from svc_core.operation.ports import SealedLine
from svc_core.operation.units import WorkContext

SUBJECT_RECORDS_MAX: Final = 20_000
"""Records of one subject before it is full; folding as many takes a tenth of a second."""
SUBJECT_LINES_MAX: Final = 4 * SUBJECT_RECORDS_MAX
"""All records of one subject: a full one still takes as many retractions, and each record of both
kinds can be erased once."""
READ_BYTES_MAX: Final = 32 * 2**20
"""Bytes of records that one answer is made from; decoded they take some five times that."""
PART_LINES: Final = 500
"""Lines of one subject that one unit of work reads: some milliseconds, and 32 MB at the worst."""
LINES_AT_ONCE: Final = 100
"""Lines of named records that are read together."""
RETRY_SECONDS: Final = 5
LOOKS_MAX: Final = 5
"""Snapshots that are looked at for a head to sign, as others append meanwhile."""
LEDGERS_MAX: Final = 10_000
"""Ledgers whose signed heads are remembered, those that grew last."""

R = TypeVar("R")

Lines: TypeAlias = Sequence[tuple[str, bytes]]
"""Lines, each with the subject that it is about."""


class Behind(Problem):
    """A head is behind one that was signed before."""


@define
class SignedHeads:
    """The largest head that was seen of each log (`log_path`), as its size and last seal.

    A ledger that was put back to an older state must not be signed: its next checkpoints would
    contradict those which others hold, and nobody could tell which ones are right.
    """

    heads: dict[str, tuple[int, str]] = field(factory=dict)
    version: int = 0
    """A number that grows with every change."""

    def check(self, log: str, head: TreeHead) -> None:
        """Check that a head is not behind the newest one that was noted.

        Raises:
            Behind: it is, or was read before that one was noted.
        """
        size, seal = self.heads.get(log, (0, ""))
        if head.size < size or (head.size == size and size and head.seal != seal):
            raise Behind(
                problem.SERVICE_UNAVAILABLE,
                f"The ledger has {head.size} records; a checkpoint of {size} others was signed.",
                {"Retry-After": str(RETRY_SECONDS)},
                resolution="An older state was put back. The operator restores a newer backup, or "
                "imports what is missing: svc ledger import. To go on without it: svc db "
                "renew-epoch, and restart the servers.",
            )

    def note(self, log: str, head: TreeHead) -> None:
        """Note a head that is committed."""
        if head.size > self.heads.get(log, (0, ""))[0]:
            self.heads.pop(log, None)
            self.heads[log] = head.size, head.seal
            self.version += 1
            if len(self.heads) > LEDGERS_MAX:
                del self.heads[next(iter(self.heads))]


async def signed_answer(ctx: Context, unit: Callable[[Context], Awaitable[R]]) -> R:
    """Run a reading unit that signs; again, where its snapshot is behind what was noted since.

    Raises:
        Problem: SERVICE_UNAVAILABLE; the ledger itself is behind.
    """
    try:
        return await unit(ctx)
    except Behind:
        pass

    async def rest(work: WorkContext) -> R:
        for _ in range(LOOKS_MAX - 1):
            with suppress(Behind):
                return await work.work.read(work.actor.tenant, unit)
        return await work.work.read(work.actor.tenant, unit)

    return ctx.later(rest)


async def head_of(ctx: Context) -> TreeHead:
    """Read the head of the caller's ledger; an empty one before the first append.

    Raises:
        Problem: SERVICE_UNAVAILABLE if the stored head is damaged.
    """
    row = await ctx.tx.ledger.head()
    try:
        return with_host(ctx, None if row is None else TreeHead.decode(row.tree_head))
    except ValueError as error:
        raise _damage() from error


def with_host(ctx: CallContext, tree_head: TreeHead | None) -> TreeHead:
    """Return a head with its host set; None stands for a ledger that is still empty."""
    head = TreeHead.empty(_own_id(ctx)) if tree_head is None else tree_head
    return head if head.host else attrs.evolve(head, host=ctx.host.origin.partition("://")[2])


def _own_id(ctx: CallContext) -> str:
    """Derive the identifier of a workspace's own ledger."""
    return ids.derived_id("led", "ledger", "workspace", ctx.actor.tenant)


def signer_of(ctx: CallContext) -> Signer:
    """Return the key that signs checkpoints.

    Raises:
        Problem: SERVICE_UNAVAILABLE if the deployment has none.
    """
    if ctx.host.signer is None:
        raise Problem(
            problem.SERVICE_UNAVAILABLE,
            "The key that signs ledgers is not at hand; is its master secret still listed?",
            {"Retry-After": str(RETRY_SECONDS)},
            resolution="Ask the operator to list that master secret again.",
        )
    return ctx.host.signer


def vkey_of(ctx: CallContext, head: TreeHead) -> VerifierKey:
    """Return the key that verifies a log's checkpoints; its name is the log's origin."""
    return VerifierKey(f"{head.host}/{log_path(ctx, head)}", signer_of(ctx).public)


def log_path(ctx: CallContext, head: TreeHead) -> str:
    """The name of a log below its host: two workspaces may go on with one ledger."""
    own = _own_id(ctx)
    return head.ledger if head.ledger == own else f"{own}/{head.ledger}"


def checkpoint_of(ctx: Context, head: TreeHead) -> str:
    """Sign the checkpoint of a head."""
    origin = vkey_of(ctx, head).name
    return sign(Checkpoint(origin, head.size, head.root), signer_of(ctx))


@frozen
class Proofs:
    """Builds proofs from stored hashes, caching what earlier proofs of the same tree have read."""

    ctx: Context
    _read: dict[Span, Sequence[bytes]] = field(factory=dict, init=False)
    _parts: PartHashes = field(factory=dict, init=False)

    async def receipt(self, index: int, seal: bytes, head: TreeHead, checkpoint: str) -> str:
        """Build the receipt of record `index` under the checkpoint of a head, and verify it.

        Raises:
            Problem: SERVICE_UNAVAILABLE if the stored tree is damaged.
        """
        try:
            path = await self.hashes(inclusion_ranges(index, head.size))
            verify_inclusion(index, head.size, seal, path, head.root)
        except ValueError as error:
            raise _damage() from error
        return LogReceipt(index, path, checkpoint).text

    async def hashes(self, ranges: Iterable[tuple[int, int]]) -> tuple[bytes, ...]:
        """Compute the hashes over these ranges of leaves."""
        proof = plan(ranges)
        return proof.combine([await self._span(span) for span in proof.spans], self._parts)

    async def _span(self, span: Span) -> Sequence[bytes]:
        if span not in self._read:
            self._read[span] = await self.ctx.tx.ledger.hashes(*span)
        return self._read[span]


async def prefix(ctx: Context, size: int | None, *, is_signed: bool = False) -> TreeHead:
    """Rebuild the head that the ledger had at `size`; without a size, return the present head.

    A consistency proof checks it against the present head, so that no root is signed or shown that
    the log never had. One that will be signed (`is_signed`) is not behind what was signed before.

    Raises:
        Problem: INVALID_PARAMETER if the ledger never was that large; SERVICE_UNAVAILABLE if the
            stored tree is damaged, or behind what was signed before.
    """
    head = await head_of(ctx)
    if is_signed and (signed := ctx.host.providers.get(SignedHeads)) is not None:
        log = log_path(ctx, head)
        signed.check(log, head)
        signed.note(log, head)
    if size is None or size == head.size:
        return head
    if size > head.size:
        raise Problem(problem.INVALID_PARAMETER, f"size: the ledger has {head.size} records")
    if size == 0:
        return TreeHead.empty(head.ledger, head.host)
    proofs = Proofs(ctx)
    try:
        (seal,) = await ctx.tx.ledger.hashes(0, size - 1, size)
        (line,) = await ctx.tx.ledger.lines(size - 1, size)
        frontier = await proofs.hashes(frontier_ranges(size))
        recorded_at = _recorded_at(line)
        prefix_head = TreeHead(head.ledger, size, seal.hex(), recorded_at, frontier, head.host)
        path = await proofs.hashes(consistency_ranges(size, head.size))
        verify_consistency(size, head.size, prefix_head.root, head.root, path)
    except ValueError as error:
        raise _damage() from error
    return prefix_head


def _recorded_at(line: bytes) -> str | None:
    """Return the record time of a line; None if it is damaged, which verification will report."""
    try:
        return decode(line).recorded_at
    except ValueError:
        return None


def _damage() -> Problem:
    return Problem(
        problem.SERVICE_UNAVAILABLE,
        "What is stored of the ledger does not agree with its head.",
        {"Retry-After": str(RETRY_SECONDS)},
        resolution="Ask GET /api/v2/ledger/verify what was damaged; the operator has svc ledger "
        "fsck, and backups.",
    )


async def receipt_of(ctx: Context, line: SealedLine, head: TreeHead) -> str:
    """Build the receipt of a stored line under the signed head (`Proofs.receipt`)."""
    return await Proofs(ctx).receipt(line.seq, line.seal, head, checkpoint_of(ctx, head))


def check_all(rows: Sequence[bytes], count: int) -> Sequence[bytes]:
    """Return the lines or hashes read from the store, after checking their number.

    Raises:
        Problem: SERVICE_UNAVAILABLE if some are missing.
    """
    if len(rows) != count:
        raise _damage()
    return rows


async def check_end(ctx: Context, head: TreeHead) -> None:
    """Check that the last stored seal is the one in the ledger's head.

    Raises:
        Problem: SERVICE_UNAVAILABLE if it differs or is missing.
    """
    if head.size:
        seals = await ctx.tx.ledger.hashes(0, head.size - 1, head.size)
        if tuple(seals) != (bytes.fromhex(head.seal),):
            raise _damage()


async def records_by_id(ctx: Context, ids: Sequence[str]) -> list[SealedRecord]:
    """Read the records that are there; at most 6 MB of lines are in memory."""
    records: list[SealedRecord] = []
    for start in range(0, len(ids), LINES_AT_ONCE):
        lines = await ctx.tx.ledger.get_many(ids[start : start + LINES_AT_ONCE])
        records += [decode(line.line) for line in lines.values()]
    return records


async def first_part(
    ctx: Context, subject: str, *, size: int | None = None
) -> tuple[SealedRecord, ...]:
    """Read the oldest records of a subject among the first `size`, `PART_LINES` at most."""
    return _decoded(await _part(ctx, subject=subject, start=0, size=size))


async def answer_with_all(
    ctx: Context,
    subject: str,
    records: Sequence[SealedRecord],
    answer: Callable[[Sequence[SealedRecord]], R],
    *,
    size: int | None,
) -> R:
    """Answer with all records of a subject, whose `first_part` these are.

    Raises:
        Problem: as `parted_records`.
    """
    if len(records) < PART_LINES:
        return answer(records)

    async def rest(work: WorkContext) -> R:
        all_records = await parted_records(work, (subject,), size=size)
        return await work.work.aside(partial(answer, all_records))

    return ctx.later(rest)


async def parted_records(
    work: WorkContext, subjects: Iterable[str], *, size: int | None
) -> tuple[SealedRecord, ...]:
    """Read all records of these subjects among the first `size`, a unit of work for each part.

    Raises:
        Problem: INVALID_PARAMETER; they are too large to be read together.
    """
    records, bytes_ = list[SealedRecord](), 0
    for subject in subjects:
        start, is_whole = 0, False
        while not is_whole:
            part_reader = partial(_part, subject=subject, start=start, size=size)
            lines = await work.work.read(work.actor.tenant, part_reader)
            bytes_ += sum([len(line) for _, line in lines])
            if bytes_ > READ_BYTES_MAX:
                raise Problem(
                    problem.INVALID_PARAMETER,
                    f"size: the records to read have more than {READ_BYTES_MAX} bytes together",
                    resolution="Ask for a smaller size, or read GET /api/v2/ledger/records in "
                    "pages.",
                )
            records += await work.work.aside(partial(_decoded, lines))
            is_whole = len(lines) < PART_LINES
            start = 0 if is_whole else records[-1].seq + 1
    return tuple(records)


async def _part(ctx: Context, *, subject: str, start: int, size: int | None) -> Lines:
    return await ctx.tx.ledger.of_subjects((subject,), start=start, size=size, limit=PART_LINES)


def _decoded(lines: Lines) -> tuple[SealedRecord, ...]:
    return tuple([decode(line) for _, line in lines])
