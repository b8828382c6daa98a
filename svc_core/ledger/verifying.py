"""The stored ledger, walked: the outcome over its lines, and over what is kept beside them.

Rule 1: it is read in short units of work, one after another, however long the ledger is; nothing
        else waits for it. What was there when it began does not change but for erasures, and these
        are asked for at the end.
Rule 2: whatever is stored, the outcome is an outcome. What cannot be told is null in it.
Rule 3: a root is signed only after the lines were found to have it.
"""

from functools import partial
from typing import Final

from attrs import define, evolve, field, frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.ledger.append.erasure import Part, ids_erased_later
from svc_core.ledger.fsck import Fsck, Kept, Run, completed
from svc_core.ledger.log import tree
from svc_core.ledger.log.checkpoint import Checkpoint, sign
from svc_core.ledger.log.note import VerifierKey, to_base64
from svc_core.ledger.log.proofs import ProofError, consistency_ranges, verify_consistency
from svc_core.ledger.log.seal import TreeHead
from svc_core.ledger.model import Consistency, Verification, verification
from svc_core.ledger.repository import Proofs, hosted, signer_of, vkey_of
from svc_core.ledger.verify.anchors import Anchor, Anchors, gather
from svc_core.ledger.verify.diagnosis import Diagnosis
from svc_core.ledger.verify.outcome import Level, Outcome, beside
from svc_core.ledger.verify.sweep import RUN_LINES_MAX, Sweep
from svc_core.operation.context import Context
from svc_core.operation.ports import LedgerKey, LedgerNode, SealedLine
from svc_core.operation.units import Units, WorkContext

RUN_BYTES_MAX: Final = 4 * 2**20
"""Bytes of lines that are read and held at a time; a run ends early rather than pass it by much."""
_STEP_LINES: Final = 64
_NUMBER_MAX: Final = 1 << 60


@frozen
class Trusted:
    """The tree that a caller has seen before; `root` is 32 bytes, None where only its size."""

    size: int
    root: bytes | None


@frozen
class _Begun:
    """What was there when the walk began: `head` is the stored one, where it can be read.

    `size` lines are to be verified, of which those before `stop` may be there.
    """

    kept: Kept
    head: TreeHead | None
    size: int
    stop: int
    known: int


async def verified(
    ctx: WorkContext, *, level: Level, size: int | None = None, seen: Trusted | None = None
) -> Verification:
    """The outcome over the ledger's first `size` records, and all that is kept beside them.

    Raises:
        Problem: INVALID_PARAMETER for sizes of which nothing says that the ledger had them.
    """
    walk = await _Walk.begun(ctx, level=level, size=size, seen=seen)
    outcome = await walk.outcome()
    head = hosted(ctx, walk.head)
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
    """One verification, unit by unit."""

    _work: Units
    _tenant: str
    _begun: _Begun
    _held: Anchors
    _seen: Trusted | None
    _fsck: Fsck
    _part: Part = field(factory=Part)

    @classmethod
    async def begun(
        cls, ctx: WorkContext, *, level: Level, size: int | None, seen: Trusted | None
    ) -> "_Walk":
        work, tenant = ctx.work, ctx.actor.tenant
        begun = await work.read(tenant, partial(_begin, size=size))
        _check_sizes(begun, size, seen)
        anchors = [Anchor(seen.size, seen.root)] if seen is not None and seen.root else []
        head, whole = begun.head, size is None
        root = None if head is None else Anchor(head.size, head.root)
        if root is not None and root.size > begun.size == begun.stop:
            root = None  # of a part no more is asked
        held = gather(
            level=level,
            ledger=None if head is None else head.ledger,
            vkey=VerifierKey("ledger", signer_of(ctx).public),
            anchors=anchors,
            kept=[one.text for one in begun.kept.checkpoints if whole or one.size <= begun.size],
            root=root,
        )
        sizes = {one.size for one in begun.kept.checkpoints}
        return cls(work, tenant, begun, held, seen, Fsck(sizes | ({seen.size} if seen else set())))

    @property
    def head(self) -> TreeHead | None:
        """The stored head, where it can be read."""
        return self._begun.head

    async def outcome(self) -> Outcome:
        """The outcome over the lines, and over what is kept beside them."""
        sweep = Sweep(self._held)
        await self._read(sweep, is_first=True)
        await self._read_index()
        self._fsck.compare(self._begun.kept, self._begun.size)
        found = sweep.finish(await self._erased())
        if found is None:
            diagnosis = Diagnosis(self._held)
            await self._read(diagnosis, is_first=False)
            found = diagnosis.finish(await self._erased())
        return beside(found, self._fsck.found)

    async def _read(self, verifier: Sweep | Diagnosis, *, is_first: bool) -> None:
        """Feed the lines to the verifier, and, the first time, to all that looks at them."""
        at, is_wanted = 0, True

        def feed(run: Run) -> bool:
            lines = [row.line for row in run.rows]
            if is_first:
                self._fsck.feed(run)
                self._part.take(lines)
            return is_wanted and verifier.feed(lines)

        while at < self._begun.stop:
            stop = min(self._begun.stop, at + RUN_LINES_MAX)
            run = await self._work.read(self._tenant, partial(_run, start=at, stop=stop))
            is_wanted = await self._work.aside(partial(feed, run))
            at = run.stop

    async def _read_index(self) -> None:
        after: LedgerKey | None = None
        while True:
            entries, rows = await self._work.read(self._tenant, partial(_index, after=after))
            self._fsck.feed_index(entries, rows)
            if len(entries) < RUN_LINES_MAX:
                return
            after = entries[-1]

    async def _erased(self) -> set[str]:
        """The records whose content was erased by a record after those that are verified."""
        found: set[str] = set()
        for subject in sorted(self._part.subjects):
            asked = partial(ids_erased_later, subject=subject, size=self._begun.size)
            found |= await self._work.read(self._tenant, asked)
        return found

    async def consistency(self, outcome: Outcome) -> Consistency | None:
        """Whether the ledger continues what was seen, and the proof that it does."""
        seen = self._seen
        if seen is None:
            return None
        own = tree.EMPTY_ROOT if not seen.size else self._fsck.roots.get(seen.size)
        root = seen.root or own
        proof: tuple[bytes, ...] = ()
        holds: bool | None = None
        if outcome.root is not None and seen.size > outcome.size:
            holds = False
        elif outcome.root is not None and root is not None:
            proof = await self._work.read(
                self._tenant, partial(_proof, old=seen.size, size=outcome.size)
            )
            holds = _holds(seen.size, outcome, root, proof)
        # A tree of which nobody told the root was compared with nothing.
        holds = None if holds and seen.root is None else holds
        told = None if root is None else to_base64(root)
        return Consistency(seen.size, told, tuple(map(to_base64, proof)), holds)


def _check_sizes(begun: _Begun, size: int | None, seen: Trusted | None) -> None:
    """Pass sizes that the ledger has, or had as far as anything says.

    Raises:
        Problem: INVALID_PARAMETER.
    """
    asked = seen.size if seen is not None else 0
    if size is not None and size > begun.known:
        raise Problem(problem.INVALID_PARAMETER, f"size: the ledger has {begun.known} records")
    if size is not None and asked > size:
        raise Problem(problem.INVALID_PARAMETER, f"fromSize: is more than size, {size}")
    if seen is not None and seen.root is None and asked > begun.known:
        raise Problem(problem.INVALID_PARAMETER, f"fromSize: the ledger has {begun.known} records")


# -- units of work -----------------------------------------------------------------------------


async def _begin(ctx: Context, *, size: int | None) -> _Begun:
    ledger = ctx.tx.ledger
    stored, end = await ledger.head(), await ledger.end()
    checkpoints = await ledger.checkpoints()
    lines = end.size if stored is None else stored.size
    beyond = [
        LedgerNode(level, lines >> level, hash_)
        for level in tree.KEPT_LEVELS
        for hash_ in await ledger.hashes(level, lines >> level, _NUMBER_MAX)
    ]
    try:
        head = None if stored is None else TreeHead.decode(stored.tree_head)
    except ValueError:
        head = None
    newest = end.size if head is None else head.size
    wanted = newest if size is None else size
    return _Begun(
        Kept(stored, end, checkpoints, tuple(beyond)),
        head,
        size=wanted,
        stop=min(wanted, end.size),
        known=max(newest, end.size, lines, *(one.size for one in checkpoints)),
    )


async def _run(ctx: Context, *, start: int, stop: int) -> Run:
    """The lines from `start` on, as many as may be held at a time, with what is kept of them."""
    ledger = ctx.tx.ledger
    rows: list[SealedLine] = []
    at = start
    while at < stop and sum(len(row.line) for row in rows) < RUN_BYTES_MAX:
        end = min(stop, at + _STEP_LINES)
        rows += await ledger.stored(range(at, end))
        at = end
    by_id = await ledger.get_many([row.id for row in rows])
    nodes = [
        LedgerNode(level, number, hash_)
        for level, number in completed(start, at)
        for hash_ in await ledger.hashes(level, number, number + 1)
    ]
    numbers = {id_: line.seq for id_, line in by_id.items()}
    return Run(start, at, tuple(rows), numbers, tuple(nodes))


async def _index(
    ctx: Context, *, after: LedgerKey | None
) -> tuple[tuple[LedgerKey, ...], tuple[SealedLine, ...]]:
    entries = await ctx.tx.ledger.index(after, RUN_LINES_MAX)
    return entries, await ctx.tx.ledger.stored(sorted({entry.seq for entry in entries}))


async def _proof(ctx: Context, *, old: int, size: int) -> tuple[bytes, ...]:
    """The consistency proof; empty where nodes are missing that it needs."""
    try:
        return await Proofs(ctx).hashes(consistency_ranges(old, size))
    except ValueError:
        return ()


def _holds(old: int, outcome: Outcome, root: bytes, proof: tuple[bytes, ...]) -> bool:
    try:
        verify_consistency(old, outcome.size, root, outcome.root or b"", proof)
    except ProofError:
        return False
    return True
