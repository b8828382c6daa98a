"""Erases the content of records: permission, removal, and tracking of erased records in a log.

Rule 1: an erasure removes the content from the line, from the indexes and from answers that are
        stored for retries; heads, seals, proofs and checkpoints stay as they were.
Rule 2: a log that is verified up to some size may lack content that was erased later. Only sealed
        lines count as erasures, and only of records of the same subject.
Rule 3: lines may be damaged; nothing raises for what a line holds.
"""

from collections.abc import Iterable
from typing import Any, Final

from attrs import define, field

from svc_core import wire
from svc_core.base.compact import compact_text
from svc_core.ledger.records import decode, encode_line, split_line
from svc_core.ledger.repository import SUBJECT_LINES_MAX
from svc_core.ledger.verify.lines import ERASES, NO_PAYLOAD, read_line
from svc_core.operation.context import Context

_EMPTY: Final = b',"payload":null,"seal":"'


def may_erase(ctx: Context) -> bool:
    """Whether the deployment allows content of this workspace to be erased."""
    return bool({"*", ctx.actor.tenant} & ctx.host.allow_erasure)


async def erase_content(ctx: Context, target: str) -> None:
    """Remove the content of a record from the store."""
    line = await ctx.tx.ledger.get(target)
    if line is None:
        raise AssertionError("only what the ledger holds is admitted for erasure")
    parts = split_line(line.line)
    await ctx.tx.ledger.erase(target, encode_line(parts.head, None, parts.seal.decode()))


async def redact_answer(ctx: Context, body: bytes) -> bytes:
    """Return the stored answer to an append, with `payload` null for records erased since.

    Without an erasure it is the same answer, byte for byte.
    """
    answer: Any = wire.decode_json(body)
    rows = answer["data"] if isinstance(answer["data"], list) else [answer["data"]]
    start = rows[0]["seq"]
    records = map(decode, await ctx.tx.ledger.lines(start, start + len(rows)))
    complete_ids = {record.id for record in records if record.payload is not None}
    erased_rows = [row for row in rows if row["id"] not in complete_ids]
    for row in erased_rows:
        row["payload"] = None
    return compact_text(answer).encode() if erased_rows else body


# -- a part of a log -----------------------------------------------------------------------------


@define
class LogPart:
    """Tracks, over the lines of part of a log, which records lack content without an erasure.

    `size` is the number of lines up to here, those before the part included.
    """

    size: int = 0
    _subjects: dict[str, str] = field(factory=dict, init=False)

    def take(self, lines: Iterable[bytes]) -> None:
        """Process the next lines, without LF."""
        for raw in lines:
            self.size += 1
            if _EMPTY not in raw and ERASES not in raw:
                continue
            line = read_line(0, raw)
            head = line.head
            if head is None:
                continue
            if line.parts.payload == NO_PAYLOAD:
                self._subjects[head.id.decode()] = head.subject.decode()
            if head.op == b"erase" and head.target:
                self._subjects.pop(head.target.decode(), None)

    @property
    def erased(self) -> set[str]:
        """The records without content that no record of the part erases."""
        return {*self._subjects}

    @property
    def subjects(self) -> set[str]:
        """The subjects of these records."""
        return set(self._subjects.values())


async def ids_erased_later(ctx: Context, subject: str, size: int) -> set[str]:
    """Return the records of a subject that are erased by a record after the first `size`.

    Only the records of that subject are read, not all that follow, so the work stays within that of
    the verification however long the ledger is.
    """
    rows = await ctx.tx.ledger.of_subjects((subject,), limit=SUBJECT_LINES_MAX)
    return ids_erased_by([line for _, line in rows], subject, start=size)


def ids_erased_by(lines: Iterable[bytes], subject: str, *, start: int) -> set[str]:
    """Return the records that the lines of a subject erase, counting lines from `start` on."""
    sealed_lines = [line for line in (read_line(0, raw) for raw in lines) if line.is_sealed]
    return {
        line.head.target.decode()
        for line in sealed_lines
        if line.head is not None
        and line.head.target
        and line.head.op == b"erase"
        and line.head.subject.decode() == subject
        and line.seq >= start
    }
