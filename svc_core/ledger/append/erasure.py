"""Which records of a part of a log a record after that part erases.

A log that is verified up to some size may lack content that was erased later. Only sealed lines
count as erasures, and only of records of the same subject. Lines may be damaged; nothing raises.
"""

from collections.abc import AsyncIterable, Iterable
from typing import Final

from attrs import define, field

from svc_core.ledger.log.seal import TreeHead
from svc_core.ledger.stored import SUBJECT_RECORDS_MAX, head_of
from svc_core.ledger.verify.lines import read
from svc_core.operation import Context

_SEAL_BYTES: Final = len(b',"seal":""}') + 64
_NO_CONTENT: Final = b',"payload":null'
_ERASES: Final = b'"op":"erase"'


def emptied(lines: Iterable[bytes]) -> set[str]:
    """The subjects of the lines that have no payload."""
    heads = (read(0, line).head for line in lines if line[:-_SEAL_BYTES].endswith(_NO_CONTENT))
    return {head.subject.decode() for head in heads if head is not None}


def erased_by(lines: Iterable[bytes], subject: str, *, start: int) -> set[str]:
    """The records that lines of a subject erase; only those numbered from `start` on count."""
    found = set()
    for line in lines:
        reading = read(0, line)
        head = reading.head
        if head is None or not reading.is_sealed or reading.seq < start:
            continue
        if head.op == b"erase" and head.target and head.subject.decode() == subject:
            found.add(head.target.decode())
    return found


@define
class Part:
    """A part of a log: take in its lines, then ask what of it a record after it `erased`."""

    _lost: set[str] = field(factory=set, init=False)
    _told: set[str] = field(factory=set, init=False)

    def take(self, lines: Iterable[bytes]) -> None:
        """Take in the next lines, without LF."""
        for line in lines:
            has_content = not line[:-_SEAL_BYTES].endswith(_NO_CONTENT)
            if has_content and _ERASES not in line:
                continue
            head = read(0, line).head
            if head is None:
                continue
            if not has_content:
                self._lost.add(head.id.decode())
            if head.op == b"erase" and head.target:
                self._told.add(head.target.decode())

    @property
    def erased(self) -> set[str]:
        """The records without content that no record of the part erases."""
        return self._lost - self._told


async def erased_later(
    ctx: Context, runs: AsyncIterable[Iterable[bytes]], head: TreeHead
) -> set[str]:
    """The records in these lines, up to `head`, whose content a record after it erases.

    The records of each subject that lacks content are asked, and not all that follow: the work
    stays within that of the verification, however long the ledger is.
    """
    found: set[str] = set()
    if (await head_of(ctx)).size == head.size:
        return found
    subjects: set[str] = set()
    async for lines in runs:
        subjects |= emptied(lines)
    for subject in sorted(subjects):
        about = await ctx.tx.ledger.of_subject(subject, limit=SUBJECT_RECORDS_MAX)
        found |= erased_by(about, subject, start=head.size)
    return found
