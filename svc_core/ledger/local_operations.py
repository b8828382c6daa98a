"""Local operations on a workspace's ledger, for its operator: without a public route.

Rule 1: with marks, a repeated append finds what it appended before, and reports it.
Rule 2: an import is verified strictly before anything is stored, and stored in short runs, so that
        other writers can go between. Repeating an interrupted import continues it.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import Annotated, Any, Protocol

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.base.unset import UNSET
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Content, Created, Page, Single
from svc_core.ledger import operations
from svc_core.ledger import stored_verification as verifying
from svc_core.ledger.append.batches import append_drafts
from svc_core.ledger.append.entries import Entry, entry
from svc_core.ledger.append.imports import STORED, VERIFIED, import_lines
from svc_core.ledger.append.input import SubjectId
from svc_core.ledger.append.validation import drafts, repeatable_salt
from svc_core.ledger.log.note import to_base64
from svc_core.ledger.log.record_seals import payload_hash, record_id
from svc_core.ledger.model import LedgerRecord, SealedRow, Verification, public_record
from svc_core.ledger.operations import appended_rows
from svc_core.ledger.records import KIND_PREFIX, Kind, SealedRecord, payload_bytes
from svc_core.ledger.repository import (
    answer_with_all,
    check_all,
    checkpoint_of,
    first_part,
    head_of,
    prefix,
    signed_answer,
    vkey_of,
)
from svc_core.ledger.verify.log_verification import line_chunks
from svc_core.operation.context import Context
from svc_core.operation.declaration import (
    EVERYBODY,
    JSON,
    MANAGERS,
    OPERATOR,
    OWNERS,
    TEXT,
    UTF8_TEXT,
    Operation,
    Trait,
    local,
)
from svc_core.operation.host import ProgressListener
from svc_core.operation.units import WorkContext
from svc_core.wire.constraints import Arg, Doc, Ge, IdOf, Le, MaxLen, MinLen, Pattern

PAGE_BYTES = 512 * 1024
"""Of the lines that one answer carries. An export holds some twenty times as much at a time."""

STEP_LINES = 16
"""Lines read at a time: a MiB at most."""


class UnreadableExport(Exception):  # noqa: N818 - said as the state that it is
    """An export file cannot be read; the message is one line."""

    exit_code = 2


class Exports(Protocol):
    """Access to files that hold exports of ledgers."""

    def blocks(self, path: str, note: str, tell: ProgressListener) -> Callable[[], Iterator[bytes]]:
        """Return a function that opens a file and yields blocks of its unpacked bytes.

        Raises:
            UnreadableExport: the file cannot be read, now or in the course; the message says why.
        """


# -- requests and rows -------------------------------------------------------------------------

AnyId = Annotated[str, IdOf("clm", "obs", "dsg", "sbj", noun="record"), Arg(positional=True)]
Size = Annotated[int | None, Ge(0), Doc("As of this many records. Default: all.")]
Mark = Annotated[str, Pattern("[0-9a-f]{64}", "64 hexadecimal digits in lower case")]


@frozen
class SubjectHistory:
    """The newest records about a subject."""

    subject_id: Annotated[SubjectId, Arg(positional=True)]
    limit: Annotated[int, Ge(1), Le(1_000)] = 100
    """At most this many, the newest."""


@frozen
class ReadHead:
    """The ledger as it is, or as it was at a size."""

    size: Size = None


@frozen
class ReadKey:
    """The ledger, of whatever size."""


@frozen
class CheckStore:
    """The ledger with all that is kept beside its lines."""


@frozen
class ReadLines:
    """Sealed lines from number `start` on."""

    start: Annotated[int, Ge(0)] = 0
    """The number of the first line."""
    size: Size = None


@frozen
class Lines:
    """Some lines, base64 with an LF after each, and how many there are in all."""

    size: int
    next: int
    lines: str


@frozen
class SignedHead:
    """The ledger's size, root and signed checkpoint, and the key that verifies it."""

    ledger: str
    size: int
    root_hash: str
    head_seal: str
    tag: str
    checkpoint: str
    vkey: str


@frozen
class LedgerVerifierKey:
    """The key that verifies a ledger's checkpoints."""

    ledger: str
    origin: str
    vkey: str


@frozen
class EraseRecord:
    """A record to erase, and why."""

    record_id: AnyId
    reason: str
    """Why, in words that repeat nothing of the content."""
    legal_basis: str | None = None
    """The law or order that demands it."""


@frozen
class AppendEntries:
    """Entries to append together, as `POST /ledger/records` takes them.

    With `marks`, one for each entry, what was appended under its mark before is passed over.
    """

    entries: Annotated[tuple[Entry, ...], Trait.EXACT, MinLen(1), MaxLen(operations.BATCH_MAX)]
    marks: Annotated[tuple[Mark, ...], MaxLen(operations.BATCH_MAX)] = ()
    """One for each entry, by which a repetition finds what was appended before."""
    if_match: str | None = None
    """Only if this is the current tag of the ledger."""


@frozen
class AppendReport:
    """What was there already, what was appended, and what the next `ifMatch` may be."""

    known: tuple[str, ...]
    records: tuple[LedgerRecord, ...]
    tag: str


@frozen
class ImportLedger:
    """An export, by the absolute path of its file."""

    path: Annotated[str, MinLen(1), MaxLen(4_096)]
    """The file of an export, on the machine of the service."""


@frozen
class ImportedLedger:
    """What was imported; `also_in` names other workspaces that go on as the same ledger."""

    ledger: str
    workspace_id: str
    imported: int
    size: int
    root_hash: str
    subjects: int
    also_in: tuple[str, ...]


# -- reading -----------------------------------------------------------------------------------


async def list_subject_history(ctx: Context, request: SubjectHistory) -> Page[LedgerRecord]:
    """The records about a subject, oldest first; the newest ones where there are too many.

    Raises:
        Problem: NOT_FOUND.
    """
    records = await first_part(ctx, request.subject_id)
    if not records:
        raise Problem(problem.NOT_FOUND, f"The ledger has no subject {request.subject_id}.")

    def page(history: Sequence[SealedRecord]) -> Page[LedgerRecord]:
        rows = history[-request.limit :]
        return Page(tuple(wire.to_bytes(public_record(record)) for record in rows))

    return await answer_with_all(ctx, request.subject_id, records, page, size=None)


async def read_head(ctx: Context, request: ReadHead) -> Single[SignedHead]:
    """The signed head of the ledger, now or at a size."""
    return await signed_answer(ctx, partial(_signed_head, request=request))


async def _signed_head(ctx: Context, request: ReadHead) -> Single[SignedHead]:
    head = await prefix(ctx, request.size, is_signed=True)
    answer = SignedHead(
        ledger=head.ledger,
        size=head.size,
        root_hash=to_base64(head.root),
        head_seal=head.seal,
        tag=head.tag,
        checkpoint=checkpoint_of(ctx, head),
        vkey=vkey_of(ctx, head).vkey,
    )
    return Single(wire.to_bytes(answer))


async def read_key(ctx: Context, _: ReadKey) -> Single[LedgerVerifierKey] | Content:
    """The key that verifies the ledger's checkpoints (a C2SP vkey)."""
    head = await head_of(ctx)
    key = vkey_of(ctx, head)
    if ctx.format == TEXT.format:
        return Content(UTF8_TEXT, f"{key.vkey}\n".encode())
    return Single(wire.to_bytes(LedgerVerifierKey(head.ledger, key.name, key.vkey)))


async def read_lines(ctx: Context, request: ReadLines) -> Single[Lines]:
    """Some lines of the log, as many as one answer carries."""
    head = await prefix(ctx, request.size)
    buffer = bytearray()
    position = request.start
    while position < head.size and len(buffer) < PAGE_BYTES:
        stop = min(head.size, position + STEP_LINES)
        step = check_all(await ctx.tx.ledger.lines(position, stop), stop - position)
        buffer += b"".join([line + b"\n" for line in step])
        position += len(step)
    return Single(wire.to_bytes(Lines(head.size, position, b64encode(buffer).decode())))


async def fsck_ledger(ctx: WorkContext, _: CheckStore) -> Single[Verification]:
    """All that is kept of the ledger, compared with its lines."""
    return Single(wire.to_bytes(await verifying.verify_stored(ctx, level="strict")))


# -- writing -----------------------------------------------------------------------------------


async def append_entries(ctx: Context, request: AppendEntries) -> Single[AppendReport]:
    """Append entries together or not at all, but for those that were appended before.

    Raises:
        Problem: as every append, with the number of the entry among all that were sent.
    """
    if request.marks and len(request.marks) != len(request.entries):
        raise Problem(problem.VALIDATION_FAILED, "/marks: must be as many as entries")
    tag = request.if_match
    if_match = tag if tag is None or tag.startswith('"') else f'"{tag}"'
    ctx = attrs.evolve(ctx, if_match=if_match)
    salts = [repeatable_salt(ctx.keyring, ctx.actor.tenant, mark) for mark in request.marks]
    old_ids = await _old_ids(ctx, request.entries, salts) if salts else ()
    rest = request.entries[len(old_ids) :]
    if not rest:
        return Single(wire.to_bytes(AppendReport(old_ids, (), (await head_of(ctx)).tag)))
    batch = await append_drafts(ctx, rest, salts=salts[len(old_ids) :] or None, start=len(old_ids))
    answer = AppendReport(old_ids, appended_rows(batch, ctx.now), batch.head.tag)
    return Single(wire.to_bytes(answer))


async def _old_ids(ctx: Context, entries: Sequence[Entry], salts: list[bytes]) -> tuple[str, ...]:
    """Return the ids of those leading entries that the ledger has already."""
    batch = drafts(tuple(entries), author="system", salts=salts)
    ids = [record_id(draft.kind, payload_hash(payload_bytes(draft.payload))) for draft in batch]
    lines = await ctx.tx.ledger.get_many(ids)
    return tuple(takewhile(lines.__contains__, ids))


_KINDS: dict[str, Kind] = {prefix_: kind for kind, prefix_ in KIND_PREFIX.items()}


async def erase_record(ctx: Context, request: EraseRecord) -> Created[SealedRow]:
    """Erase the content of a record: the sealed record that says so.

    Raises:
        Problem: NOT_FOUND, or as every append.
    """
    line = await ctx.tx.ledger.get(request.record_id)
    if line is None:
        raise Problem(problem.NOT_FOUND, f"The ledger has no record {request.record_id}.")
    kind = _KINDS[request.record_id[:3]]
    erasure = entry(
        kind,
        "erase",
        subject=line.subject,
        target=request.record_id,
        reason=request.reason,
        legal_basis=UNSET if request.legal_basis is None else request.legal_basis,
    )
    return await operations.append_records(ctx, operations.AppendRecords(erasure))


async def import_ledger(ctx: WorkContext, request: ImportLedger) -> Single[ImportedLedger]:
    """Make an export the ledger of a workspace, byte for byte, under its own identifier.

    Raises:
        Problem: VALIDATION_FAILED for the file, RESOURCE_CONFLICT where it does not fit.
    """
    files, work, tenant = ctx.borrow(Exports), ctx.work, ctx.actor.tenant
    try:
        blocks = {note: files.blocks(request.path, note, work.tell) for note in (VERIFIED, STORED)}
        summary = await import_lines(work, tenant, lambda note: line_chunks(blocks[note]()))
    except UnreadableExport as error:
        raise Problem(problem.VALIDATION_FAILED, f"/path: {error}") from error
    answer = ImportedLedger(
        ledger=summary.head.ledger,
        workspace_id=tenant,
        imported=summary.head.size - summary.before,
        size=summary.head.size,
        root_hash=to_base64(summary.head.root),
        subjects=summary.subjects,
        also_in=await _holders(ctx, summary.head.ledger),
    )
    return Single(wire.to_bytes(answer))


async def _holders(ctx: WorkContext, ledger: str) -> tuple[str, ...]:
    """Return the other workspaces that continue the same ledger."""
    tenants = [id_ for id_ in await ctx.work.tenants() if id_ != ctx.actor.tenant]
    return tuple([id_ for id_ in tenants if (await ctx.work.read(id_, head_of)).ledger == ledger])


# -- declarations ------------------------------------------------------------------------------


def _local(*arguments: Any, **members: Any) -> Operation[Any, Any]:
    return local(*arguments, **{"binding": "workspace", "roles": MANAGERS, **members})


LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _local(
        "ledger history",
        "List the records about a subject, oldest first",
        list_subject_history,
        method="GET",
        roles=EVERYBODY,
        columns=("seq", "recordedAt", "kind", "op", "payload", "validFrom", "validTo", "id"),
    ),
    _local(
        "ledger head",
        "Show the ledger's signed head",
        read_head,
        id_="getLedgerHead",
        method="GET",
        roles=EVERYBODY,
    ),
    _local(
        "ledger key",
        "Print the key that verifies the ledger's checkpoints (a C2SP vkey)",
        read_key,
        id_="getLedgerKey",
        method="GET",
        roles=EVERYBODY,
        media=(JSON, TEXT),
    ),
    _local(
        "ledger fsck",
        "Check all that is stored of a ledger",
        fsck_ledger,
        method="GET",
        signs=True,
        roles=OPERATOR,
        description=(
            "Verifies every line strictly, makes the nodes, indexes and head anew from the lines, "
            "and compares them with what is stored. It changes nothing, and runs beside the server."
        ),
    ),
    _local(
        "ledger erase",
        "Erase the content of a record for good, where allow_erasure allows it",
        erase_record,
        roles=OWNERS,
        guarded=True,
        description=(
            "The record stays in the log without its content, and everything still verifies. "
            "Earlier backups and exports keep the content."
        ),
    ),
    _local("ledger", "Read sealed lines", read_lines, method="GET", roles=EVERYBODY),
    _local("ledger", "Append entries, safe to repeat", append_entries),
    _local(  # from a file of the host, so nobody else's
        "ledger", "Import an export", import_ledger, roles=OPERATOR
    ),
)
