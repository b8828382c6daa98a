"""Verifies a stored ledger: its lines, and the nodes, indexes and head stored beside them.

Rule 1: the ledger is read in short units of work, one after another, so that nothing waits for it
        however long it is. Lines that existed at the start can change only by erasures, which are
        looked up at the end.
Rule 2: damage is reported in the outcome and never raised; what cannot be decided is null in it.
Rule 3: a root is signed only after the lines were found to have it.
"""

from functools import partial
from typing import Final

from attrs import define, evolve, field, frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.ledger.append.erasure import LogPart, ids_erased_later
from svc_core.ledger.fsck import Fsck, LineRun, StoredLedger, completed_nodes
from svc_core.ledger.log import tree
from svc_core.ledger.log.checkpoint import Checkpoint, sign
from svc_core.ledger.log.note import VerifierKey, to_base64
from svc_core.ledger.log.proofs import consistency_ranges, is_consistent
from svc_core.ledger.log.record_seals import TreeHead
from svc_core.ledger.model import Consistency, Verification, verification
from svc_core.ledger.repository import Proofs, signer_of, vkey_of, with_host
from svc_core.ledger.verify.anchors import Anchor, Anchors, gather
from svc_core.ledger.verify.diagnosis import Diagnosis
from svc_core.ledger.verify.outcome import Level, VerificationOutcome, beside
from svc_core.ledger.verify.sweep import RUN_LINES_MAX, Sweep
from svc_core.operation.context import Context
from svc_core.operation.ports import LedgerKey, LedgerNode, SealedLine
from svc_core.operation.units import Units, WorkContext

RUN_BYTES_MAX: Final = 4 * 2**20
"""Bytes of lines that are read and held at a time; a run ends early rather than pass it by much."""
_STEP_LINES: Final = 64
_NUMBER_MAX: Final = 1 << 60


@frozen
class _WalkStart:
    """The stored state at the start of a verification; `head` is None if it is unreadable.

    `size` lines are to be verified, of which those before `stop` may be there.
    """

    store: StoredLedger
    head: TreeHead | None
    size: int
    stop: int
    reach: int


async def verify_stored(
    ctx: WorkContext, *, level: Level, size: int | None = None, anchor: Anchor | None = None
) -> Verification:
    """Verify the ledger's first `size` records, and everything stored beside them.

    Raises:
        Problem: INVALID_PARAMETER for sizes that the ledger never had, as far as is known.
    """
    walk = await _Walk.start(ctx, level=level, size=size, anchor=anchor)
    outcome = await walk.outcome()
    head = with_host(ctx, walk.head)
    head = evolve(head, ledger=outcome.ledger or head.ledger)
    name, signer = vkey_of(ctx, head), signer_of(ctx)
    checkpoint = None
    if outcome.ok and outcome.root is not None:
        checkpoint = sign(Checkpoint(name.name, outcome.size, outcome.root), signer)
    return verification(
        outcome,
        ledger=head.ledger,
        origin=name.name,
        vkey=name.vkey,
        checkpoint=checkpoint,
        consistency=await walk.consistency(outcome),
    )


@define
class _Walk:
    """One verification of a stored ledger, in several units of work."""

    _work: Units
    _tenant: str
    _start: _WalkStart
    _anchors: Anchors
    _anchor: Anchor | None
    _fsck: Fsck
    _part: LogPart = field(factory=LogPart)

    @classmethod
    async def start(
        cls, ctx: WorkContext, *, level: Level, size: int | None, anchor: Anchor | None
    ) -> "_Walk":
        work, tenant = ctx.work, ctx.actor.tenant
        start = await work.read(tenant, partial(_begin, size=size))
        _check_sizes(start, size, anchor)
        anchors = [anchor] if anchor is not None and anchor.root else []
        head, whole = start.head, size is None
        root = None if head is None else Anchor(head.size, head.root)
        if root is not None and root.size > start.size == start.stop:
            root = None  # of a part no more is asked
        notes = start.store.checkpoints
        evidence = gather(
            level=level,
            ledger=None if head is None else head.ledger,
            vkey=VerifierKey("ledger", signer_of(ctx).public),
            anchors=anchors,
            own_checkpoints=[note.text for note in notes if whole or note.size <= start.size],
            root=root,
        )
        sizes = {note.size for note in notes} | ({anchor.size} if anchor else set())
        return cls(work, tenant, start, evidence, anchor, Fsck(sizes))

    @property
    def head(self) -> TreeHead | None:
        """The stored head; None if it is unreadable."""
        return self._start.head

    async def outcome(self) -> VerificationOutcome:
        """Verify the lines and everything stored beside them."""
        sweep = Sweep(self._anchors)
        await self._read(sweep, is_first=True)
        await self._read_index()
        self._fsck.compare(self._start.store, self._start.size)
        outcome = sweep.finish(await self._erased_ids())
        if outcome is None:
            diagnosis = Diagnosis(self._anchors)
            await self._read(diagnosis, is_first=False)
            outcome = diagnosis.finish(await self._erased_ids())
        return beside(outcome, self._fsck.findings)

    async def _read(self, verifier: Sweep | Diagnosis, *, is_first: bool) -> None:
        """Feed the lines to the verifier, and the first time to the store check as well."""
        position, is_wanted = 0, True

        def feed(run: LineRun) -> bool:
            lines = [row.line for row in run.rows]
            if is_first:
                self._fsck.feed(run)
                self._part.take(lines)
            return is_wanted and verifier.feed(lines)

        while position < self._start.stop:
            stop = min(self._start.stop, position + RUN_LINES_MAX)
            run = await self._work.read(self._tenant, partial(_run, start=position, stop=stop))
            is_wanted = await self._work.aside(partial(feed, run))
            position = run.stop

    async def _read_index(self) -> None:
        after: LedgerKey | None = None
        while True:
            entries, rows = await self._work.read(self._tenant, partial(_index, after=after))
            self._fsck.feed_index(entries, rows)
            if len(entries) < RUN_LINES_MAX:
                return
            after = entries[-1]

    async def _erased_ids(self) -> set[str]:
        """Return the records erased by a record after the verified ones."""
        ids: set[str] = set()
        for subject in sorted(self._part.subjects):
            query = partial(ids_erased_later, subject=subject, size=self._start.size)
            ids |= await self._work.read(self._tenant, query)
        return ids

    async def consistency(self, outcome: VerificationOutcome) -> Consistency | None:
        """Check and prove that the ledger extends the tree that the caller saw."""
        anchor = self._anchor
        if anchor is None:
            return None
        own_root = tree.EMPTY_ROOT if not anchor.size else self._fsck.roots.get(anchor.size)
        root = anchor.root or own_root
        proof: tuple[bytes, ...] = ()
        holds: bool | None = None
        if outcome.root is not None and anchor.size > outcome.size:
            holds = False
        elif outcome.root is not None and root is not None:
            proof = await self._work.read(
                self._tenant, partial(_proof, old=anchor.size, size=outcome.size)
            )
            holds = is_consistent(anchor.size, outcome.size, root, outcome.root, proof)
        # A tree of which nobody told the root was compared with nothing.
        holds = None if holds and not anchor.root else holds
        root_hash = None if root is None else to_base64(root)
        return Consistency(anchor.size, root_hash, tuple(map(to_base64, proof)), holds)


def _check_sizes(start: _WalkStart, size: int | None, anchor: Anchor | None) -> None:
    """Check that the ledger has the requested sizes, as far as is known.

    Raises:
        Problem: INVALID_PARAMETER.
    """
    anchor_size = anchor.size if anchor is not None else 0
    if size is not None and size > start.reach:
        raise Problem(problem.INVALID_PARAMETER, f"size: the ledger has {start.reach} records")
    if size is not None and anchor_size > size:
        raise Problem(problem.INVALID_PARAMETER, f"fromSize: is more than size, {size}")
    if anchor is not None and not anchor.root and anchor_size > start.reach:
        raise Problem(problem.INVALID_PARAMETER, f"fromSize: the ledger has {start.reach} records")


# -- units of work -----------------------------------------------------------------------------


async def _begin(ctx: Context, *, size: int | None) -> _WalkStart:
    ledger = ctx.tx.ledger
    row, end = await ledger.head(), await ledger.end()
    checkpoints = await ledger.checkpoints()
    lines = end.size if row is None else row.size
    beyond = [
        LedgerNode(level, lines >> level, hash_)
        for level in tree.KEPT_LEVELS
        for hash_ in await ledger.hashes(level, lines >> level, _NUMBER_MAX)
    ]
    try:
        head = None if row is None else TreeHead.decode(row.tree_head)
    except ValueError:
        head = None
    newest = end.size if head is None else head.size
    target = newest if size is None else size
    return _WalkStart(
        StoredLedger(row, end, checkpoints, tuple(beyond)),
        head,
        size=target,
        stop=min(target, end.size),
        reach=max(newest, end.size, lines, *(checkpoint.size for checkpoint in checkpoints)),
    )


async def _run(ctx: Context, *, start: int, stop: int) -> LineRun:
    """Read a run of lines from `start` on, bounded in memory, with their index and tree data."""
    ledger = ctx.tx.ledger
    rows: list[SealedLine] = []
    position = start
    while position < stop and sum(len(row.line) for row in rows) < RUN_BYTES_MAX:
        end = min(stop, position + _STEP_LINES)
        rows += await ledger.stored(range(position, end))
        position = end
    by_id = await ledger.get_many([row.id for row in rows])
    nodes = [
        LedgerNode(level, number, hash_)
        for level, number in completed_nodes(start, position)
        for hash_ in await ledger.hashes(level, number, number + 1)
    ]
    numbers = {id_: line.seq for id_, line in by_id.items()}
    return LineRun(start, position, tuple(rows), numbers, tuple(nodes))


async def _index(
    ctx: Context, *, after: LedgerKey | None
) -> tuple[tuple[LedgerKey, ...], tuple[SealedLine, ...]]:
    entries = await ctx.tx.ledger.index(after, RUN_LINES_MAX)
    return entries, await ctx.tx.ledger.stored(sorted({entry.seq for entry in entries}))


async def _proof(ctx: Context, *, old: int, size: int) -> tuple[bytes, ...]:
    """Build a consistency proof; empty if stored nodes are missing."""
    try:
        return await Proofs(ctx).hashes(consistency_ranges(old, size))
    except ValueError:
        return ()
