"""Importing: the lines of an export become a workspace's ledger, byte for byte.

Rule 1: the ledger here is empty, or it is the beginning of what is imported; it then goes on as
        that ledger, under its identifier. Everything else is refused, and nothing is stored.
Rule 2: lines are verified before (`verify`) and once more while they are stored: a file may have
        changed in between.
Rule 3: what a record erases is not stored, and what is stored here already is erased only where
        the deployment allows that.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from attrs import define, field, frozen

from svc_core import problem
from svc_core.ledger import timestamps
from svc_core.ledger.append.append import stored_line, vouch
from svc_core.ledger.append.erasure import erase_content, may_erase
from svc_core.ledger.log import tree
from svc_core.ledger.log.seal import TreeHead
from svc_core.ledger.records import decode, split
from svc_core.ledger.repository import SUBJECT_LINES_MAX, head_of
from svc_core.ledger.verify.anchors import gather
from svc_core.ledger.verify.lines import NO_PAYLOAD
from svc_core.ledger.verify.sweep import Sweep
from svc_core.ledger.verify.verdict import Verdict
from svc_core.operation import Context
from svc_core.ports import LedgerHead
from svc_core.problem import Problem

IMPORT_RECORDS_MAX: Final = 1_000_000
"""Records of one import: about a minute, in which nothing else is written to the store."""


@frozen
class Imported:
    """What an import did: the ledger's size before and after it, and its head now."""

    before: int
    head: TreeHead
    subjects: int


async def fit(ctx: Context, verdict: Verdict) -> TreeHead:
    """The head of the ledger here, once it is clear that these lines may be imported into it.

    `verdict` is that of a strict verification of the lines.

    Raises:
        Problem: RESOURCE_CONFLICT with the reason why not.
    """
    head, new = await head_of(ctx), verdict.head
    if not verdict.ok or verdict.start or verdict.level != "strict":
        raise AssertionError("only what was verified strictly from its beginning is imported")
    if new is None:
        raise _refused("the file has no records")
    if new.size > IMPORT_RECORDS_MAX:
        raise _refused(f"it has {new.size} records; one import takes {IMPORT_RECORDS_MAX}")
    if head.size and head.ledger != new.ledger:
        raise _refused(
            f"this workspace has a ledger of its own, {head.ledger} with {head.size} records, "
            f"and the file is of {new.ledger}; import it into a workspace whose ledger is empty"
        )
    if head.size > new.size:
        raise _refused(
            f"the ledger here has {head.size} records, more than the {new.size} of the file"
        )
    if (new.recorded_at or "") > timestamps.of(ctx.now):
        # Record times only rise: from then on every record would be dated in the future.
        raise _refused(f"its last record is of {new.recorded_at}, which is in the future here")
    return head


async def import_lines(
    ctx: Context, chunks: Iterable[Sequence[bytes]], verdict: Verdict
) -> Imported:
    """Store the lines that follow those that are here.

    `chunks` are the lines of which `verdict` is the verdict, without LF.

    Raises:
        Problem: RESOURCE_CONFLICT where they may not be imported (`fit`), do not begin as the
            ledger here does, or are not those that were verified; ERASURE_NOT_ALLOWED.
    """
    before = await fit(ctx, verdict)
    if verdict.root is None:
        raise AssertionError("a sound log has a root")
    anchors = gather(
        level="integrity", ledger=verdict.ledger, anchors=((verdict.size, verdict.root),)
    )
    sweep, taking = Sweep(anchors), _Taking(ctx, before, before)
    for lines in chunks:
        if not sweep.feed(lines):
            raise _refused("the file changed while it was read")
        await taking.take(lines)
    found = sweep.finish()
    if found is None or not found.ok:
        raise _refused("the file changed while it was read")
    return await taking.finish()


def _refused(reason: str) -> Problem:
    return Problem(
        problem.RESOURCE_CONFLICT,
        f"Nothing was imported: {reason}.",
        resolution="Import an export that goes on where this ledger ends.",
    )


@define
class _Taking:
    """Takes in the lines of a file; `head` is the ledger's, which grows from `before`."""

    _ctx: Context
    _before: TreeHead
    _head: TreeHead
    _seen: int = 0
    _subjects: Counter[str] = field(factory=Counter)
    _opened: set[str] = field(factory=set)
    _erased: list[str] = field(factory=list)

    async def take(self, lines: Sequence[bytes]) -> None:
        """Compare lines that are here already, and store the others."""
        held = lines[: max(0, self._before.size - self._seen)]
        if held:
            await self._compare(held)
        self._seen += len(lines)
        if len(held) < len(lines):
            await self._store(lines[len(held) :])

    async def _compare(self, lines: Sequence[bytes]) -> None:
        start = self._seen
        seals = await self._ctx.tx.ledger.hashes(0, start, start + len(lines))
        for seq, (line, seal) in enumerate(zip(lines, seals, strict=True), start):
            if split(line).seal != seal.hex().encode():
                raise _refused(
                    f"record {seq} of the file is another than record {seq} of the ledger here, "
                    "though both bear one name: they have parted, and cannot be joined"
                )

    async def _store(self, lines: Sequence[bytes]) -> None:
        records = [decode(line) for line in lines]
        seals = [bytes.fromhex(record.seal) for record in records]
        size = self._head.size
        grown = tree.grow(self._head.frontier, size, seals)
        last = records[-1]
        host = self._head.host
        head = TreeHead(last.ledger, grown.size, last.seal, last.recorded_at, grown.frontier, host)
        # The head was read in this unit of work, and a strict verification finds equal ids: what a
        # store may refuse here would be a defect.
        await self._ctx.tx.ledger.append(
            list(map(stored_line, records, seals, lines)),
            grown.nodes,
            LedgerHead(head.size, head.encode()),
            expect=size,
        )
        self._head = head
        for record in records:
            self._subjects[record.subject] += 1
            if record.id == record.subject:
                self._opened.add(record.id)
            if record.op == "erase":
                self._erased.append(str(record.target))

    async def finish(self) -> Imported:
        """Erase what is to be erased, vouch for the ledger and tell what changed."""
        await self._check_room()
        for target in self._erased:
            await self._honour(target)
        ctx, head = self._ctx, self._head
        if head.size > self._before.size:
            await vouch(ctx, head, self._subjects, self._opened)
        return Imported(self._before.size, head, len(self._subjects))

    async def _check_room(self) -> None:
        many = [
            subject
            for subject, count in self._subjects.items()
            if count + self._before.size > SUBJECT_LINES_MAX
        ]
        for subject, count in (await self._ctx.tx.ledger.counts_of(many)).items():
            if count > SUBJECT_LINES_MAX:
                raise _refused(f"{subject} has more than {SUBJECT_LINES_MAX} records")

    async def _honour(self, target: str) -> None:
        stored = await self._ctx.tx.ledger.get(target)
        if stored is None or split(stored.line).payload == NO_PAYLOAD:
            return
        if stored.seq < self._before.size and not may_erase(self._ctx):
            raise Problem(
                problem.ERASURE_NOT_ALLOWED,
                f"The file erases {target}, which this ledger holds; the setting allow_erasure "
                "says for which workspaces that is allowed.",
            )
        await erase_content(self._ctx, target)
