"""Appends entries to a ledger: checks, seals and stores them in one unit of work.

Rule 1: a batch is all or nothing, has one record time, and each of its entries is judged after
        those before it.
Rule 2: every append answers with receipts: whoever keeps one can prove a later cut or rewriting.
Rule 3: an erasure removes the content from the line and the indexes; heads, seals, proofs and
        checkpoints stay as they were. The answer for retries is stored encrypted, for a day, and
        is given only to a client that sends the same content again.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from attrs import field, frozen

from svc_core.contract import etag, problem
from svc_core.contract.problem import Problem
from svc_core.ledger import timestamps
from svc_core.ledger.append.draft_admission import BatchAdmission
from svc_core.ledger.append.entries import Entry
from svc_core.ledger.append.erasure import erase_content
from svc_core.ledger.append.rules import check_new
from svc_core.ledger.append.validation import SALT_BYTES, drafts
from svc_core.ledger.log.record_seals import Batch, TreeHead, seal_batch
from svc_core.ledger.records import SealedRecord
from svc_core.ledger.repository import (
    Proofs,
    SignedHeads,
    check_end,
    checkpoint_of,
    head_of,
    log_path,
)
from svc_core.operation.context import Context
from svc_core.operation.ports import (
    BASE_V2,
    Change,
    ChangeType,
    DuplicateRecordError,
    LedgerHead,
    SealedLine,
    StaleVersionError,
)

SUBJECT: Final = "subject"
"""The `resourceType` of the changes that a ledger publishes."""

_MEMBERS: Final = {
    "subject": "identity",
    "designator": "designators",
    "observation": "observations",
    "claim": "claims",
}
"""The member of a subject's view that shows the records of a kind."""


@frozen
class AppendedBatch:
    """The result of an append: the records, the receipt of each, and the ledger's new head."""

    records: tuple[SealedRecord, ...]
    receipts: tuple[str, ...]
    head: TreeHead = field(repr=False)


async def append_drafts(
    ctx: Context,
    entries: Sequence[Entry],
    *,
    start: int | None = 0,
    salts: Sequence[bytes] | None = None,
) -> AppendedBatch:
    """Append entries, all or nothing; salts are random unless they are passed.

    Problem details name the number of the entry, counted from `start`, unless that is None.

    Raises:
        Problem: PRECONDITION_FAILED if the ledger is not at `If-Match`; for an invalid
            (`drafts`) or inadmissible (`rules`) entry; RESOURCE_CONFLICT if another append came
            first; DUPLICATE_RECORD; SERVICE_UNAVAILABLE if the stored ledger is damaged.
    """
    batch_salts = [ctx.ids.random(SALT_BYTES) for _ in entries] if salts is None else salts
    # The person, whichever key is used (four eyes are two people's); opaque, because heads cannot
    # be erased.
    author = ctx.actor.user_id or "system"
    batch_drafts = drafts(entries, author=author, salts=batch_salts, start=start)
    head = await head_of(ctx)
    _check_precondition(ctx, head)
    await check_end(ctx, head)
    batch = seal_batch(head, batch_drafts, timestamps.utc_text(ctx.now))
    if (sealed := ctx.host.providers.get(timestamps.SealedTime)) is not None:
        sealed.note(batch.head.recorded_at)
    check_new(record.id for record in batch.records)
    judge = await BatchAdmission.of(ctx, batch_drafts)
    for number, (draft, record) in enumerate(zip(batch_drafts, batch.records, strict=True)):
        try:
            judge.admit(draft, record)
        except Problem as error:
            if start is None or not error.detail.startswith("/"):
                raise
            detail, step = f"/{start + number}{error.detail}", error.resolution
            raise Problem(error.type, detail, resolution=step) from error
    await _store_new(ctx, batch)
    for record in batch.records:
        if record.op == "erase":
            await erase_content(ctx, str(record.target))
    if (signed := ctx.host.providers.get(SignedHeads)) is not None:
        log = log_path(ctx, head)
        signed.check(log, head)  # here, where no other append has overtaken this one
        ctx.committed.append(partial(signed.note, log, batch.head))
    checkpoint = await publish_head(ctx, batch.head, subject_members(batch.records))
    proofs = Proofs(ctx)
    receipts = [
        await proofs.receipt(record.seq, seal, batch.head, checkpoint)
        for record, seal in zip(batch.records, batch.seals, strict=True)
    ]
    return AppendedBatch(batch.records, tuple(receipts), batch.head)


def _check_precondition(ctx: Context, head: TreeHead) -> None:
    current = f'"{head.tag}"'
    if ctx.if_match is not None and not etag.matches(ctx.if_match, current):
        raise Problem(
            problem.PRECONDITION_FAILED,
            f"The ledger has {head.size} records now.",
            {"ETag": current},
        )


# -- storing -----------------------------------------------------------------------------------


async def store_batch(ctx: Context, batch: Batch) -> None:
    """Store a batch behind the records that it continues.

    Raises:
        StaleVersionError: other records stand there.
        DuplicateRecordError: the ledger has one of the records already.
    """
    lines = list(map(stored_line, batch.records, batch.seals, batch.lines))
    after = LedgerHead(batch.head.size, batch.head.encode())
    expected = after.size - len(lines)
    await ctx.tx.ledger.append(lines, batch.nodes, after, expect=expected)


async def _store_new(ctx: Context, batch: Batch) -> None:
    try:
        await store_batch(ctx, batch)
    except StaleVersionError as error:
        raise problem.conflict(
            "Another append was first.", "Send the same request again."
        ) from error
    except DuplicateRecordError as error:
        raise Problem(problem.DUPLICATE_RECORD, f"{error.id} is already in the ledger.") from error


def stored_line(record: SealedRecord, seal: bytes, line: bytes) -> SealedLine:
    """Return the stored form of a sealed line, with the index keys derived from its record."""
    return SealedLine(
        seq=record.seq,
        id=record.id,
        subject=record.subject,
        opens=record.kind == SUBJECT and record.op == "assert",
        recorded_at=record.recorded_at,
        keys=_keys(record),
        seal=seal,
        line=line,
    )


def _keys(record: SealedRecord) -> tuple[str, ...]:
    payload = record.payload or {}
    if record.kind != "designator" or "scheme" not in payload:
        return ()
    return (f"{payload['scheme']}:{payload['value']}",)


def subject_members(records: Sequence[SealedRecord]) -> dict[str, tuple[str, ...] | None]:
    """Return the subjects of records, each with the names of the view members that change.

    None stands for a subject that the records open.
    """
    members: dict[str, set[str]] = {}
    for record in records:
        members.setdefault(record.subject, set()).add(_MEMBERS[record.kind])
    new = dict.fromkeys(record.subject for record in records if record.id == record.subject)
    return {subject: tuple(sorted(names)) for subject, names in members.items()} | new


async def publish_head(
    ctx: Context, head: TreeHead, subjects: Mapping[str, tuple[str, ...] | None]
) -> str:
    """Sign the head, store it as the checkpoint of its day, and publish a change per subject.

    `subjects` come from `subject_members`; the version of each change is the ledger's size.
    """
    checkpoint = checkpoint_of(ctx, head)
    await ctx.tx.ledger.keep_checkpoint(str(head.recorded_at)[:10], head.size, checkpoint.encode())
    for subject, fields in subjects.items():
        change_type: ChangeType = "created" if fields is None else "updated"
        await ctx.tx.changes.append(
            Change(
                id=ctx.ids.new("chg"),
                change_type=change_type,
                resource_type=SUBJECT,
                resource_id=subject,
                version=head.size,
                occurred_at=ctx.now,
                path=subject_path(subject),
                everybody=False,
                changed_fields=fields,
            )
        )
    return checkpoint


def subject_path(subject: str) -> str:
    """Return the URL path of a subject."""
    return f"{BASE_V2}/ledger/subjects/{subject}"
