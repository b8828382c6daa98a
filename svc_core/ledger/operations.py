"""The ledger: its requests, use cases and operations (Spec: Ontology ledger; C2SP tlog)."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from hashlib import sha256
from itertools import starmap
from typing import Annotated, Any, Final, Literal, TypeVar

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.base.unset import UNSET, Maybe, Unset, or_default
from svc_core.contract import problem
from svc_core.contract.negotiation import Representation
from svc_core.contract.problem import Problem
from svc_core.contract.result import Content, Created, Fields, Page, Single
from svc_core.formats.designators.schemes import SCHEMES
from svc_core.ledger import queries as reading
from svc_core.ledger import stored_verification as verifying
from svc_core.ledger import timestamps
from svc_core.ledger.append.batches import AppendedBatch, append_drafts, subject_path
from svc_core.ledger.append.entries import ENTRIES, Entry, NewSubject
from svc_core.ledger.append.erasure import redact_answer
from svc_core.ledger.append.input import Instant, SeenSource, SubjectId
from svc_core.ledger.designator_input import normalise
from svc_core.ledger.fold.view import SubjectView, encode
from svc_core.ledger.log.note import from_base64, to_base64
from svc_core.ledger.log.record_seals import TreeHead
from svc_core.ledger.model import LedgerRecord, SealedRow, SubjectRow, Verification, public_record
from svc_core.ledger.queries import FoldBounds
from svc_core.ledger.records import Kind, Op, decode
from svc_core.ledger.repository import checkpoint_of, prefix, receipt_of, signed_answer, vkey_of
from svc_core.ledger.timestamps import SealedTime, canonical_time
from svc_core.ledger.transfer.marking import AMBER, Tlp
from svc_core.ledger.verify.anchors import Anchor
from svc_core.ledger.verify.outcome import Level
from svc_core.operation.context import Context
from svc_core.operation.declaration import (
    BODY,
    JSON,
    NDJSON,
    OCTETS,
    PATH,
    QUERY,
    STIX,
    TEXT,
    UTF8_TEXT,
    Confidential,
    InputRefusal,
    Operation,
    Trait,
    Unit,
    declare,
)
from svc_core.operation.members import Cursor, PageRequest
from svc_core.operation.ports import BASE_V2, Position, SealedLine
from svc_core.operation.units import WorkContext
from svc_core.wire import shapes
from svc_core.wire.constraints import Doc, Example, Ge, IdOf, Le, MaxLen, MinLen, Pattern

R = TypeVar("R")

BATCH_MAX = 100
SVG = Representation("svg", "image/svg+xml")
RECORDS: Final = f"{BASE_V2}/ledger/records"

_INSTANT = (
    Pattern(timestamps.RFC_3339, "RFC 3339 with an offset, such as 2026-01-31T09:30:00Z"),
    InputRefusal(problem.TIMESTAMP_INVALID),
)
RecordTime = Annotated[
    Maybe[Instant],
    QUERY,
    *_INSTANT,
    Doc("Consider only records up to this time. Default: all."),
    Example("2026-01-10T00:00:00Z"),
]
ValidTime = Annotated[
    Maybe[Instant],
    QUERY,
    *_INSTANT,
    Doc("Show what holds at this time. Default: now."),
    Example("2026-01-01T00:00:00Z"),
]
Size = Annotated[
    Maybe[int],
    QUERY,
    Ge(0),
    Doc("Only this many records count, the oldest; `basis.size` of an answer repeats it exactly."),
    Example(8),
]
PathSubjectId = Annotated[SubjectId, PATH]
AnyRecordId = Annotated[
    str,
    PATH,
    IdOf("clm", "obs", "dsg", "sbj", noun="record"),
    Example("clm_442bced89046c34c77149f59"),
]


# -- requests ----------------------------------------------------------------------------------


SubjectParts = Annotated[
    Maybe[tuple[Literal["history", "segments"], ...]],
    QUERY,
    Doc("Comma list: `history` of what was displaced, `segments` of valid time."),
    Example(["history", "segments"]),
]


@frozen
class ListSubjects(PageRequest):
    """The subjects of the workspace, newest first."""

    designator: Annotated[
        Maybe[str],
        QUERY,
        MaxLen(2_200),
        Pattern(
            rf"(?:{'|'.join(SCHEMES)}):[^\x00-\x1f\x7f]*",
            f"scheme:value, the scheme one of {', '.join(SCHEMES)}",
        ),
        Example("lei:5493001KJTIIGC8Y1R12"),
    ] = UNSET
    """Only subjects that ever had this designator: `scheme:value`."""
    include: SubjectParts = UNSET


@frozen
class OpenSubject:
    """A subject to open."""

    body: Annotated[NewSubject, BODY, Trait.EXACT]


@frozen
class SubjectAsOf:
    """A subject, as known at a record time and held at a valid time."""

    subject_id: PathSubjectId
    record_time: RecordTime = UNSET
    valid_time: ValidTime = UNSET
    size: Size = UNSET

    def bounds(self, now: datetime) -> FoldBounds:
        """What is asked for; `now` is the valid time where none is given."""
        return FoldBounds(
            record_time=_instant(self.record_time, "recordTime"),
            valid_time=_instant(self.valid_time, "validTime") or timestamps.utc_text(now),
            size=or_default(self.size, None),
        )


def _instant(text: Maybe[str], name: str) -> str | None:
    return None if isinstance(text, Unset) else canonical_time(text, name)


@frozen
class FoldSubject(SubjectAsOf):
    """A subject, folded at a record time and a valid time."""

    include: SubjectParts = UNSET


@frozen
class ExportSubject(SubjectAsOf):
    """A subject as STIX, at a record time and a valid time."""

    tlp: Annotated[Tlp, QUERY] = AMBER
    """Traffic Light Protocol 2.0: how far it may be shared. A plus is sent as `%2B`."""


@frozen
class ListRecords:
    """Sealed lines, oldest first."""

    after: Annotated[Maybe[int], QUERY, Ge(0), Example(99)] = UNSET
    """Number (`seq`) of the last line you have."""
    size: Size = UNSET
    limit: Annotated[int, QUERY, Ge(1), Le(1_000), Example(100)] = 100
    """Lines in one page."""
    cursor: Cursor = UNSET


@frozen
class AppendRecords:
    """One record to append, or up to 100 that are appended together or not at all."""

    body: Annotated[
        Entry | Annotated[tuple[Entry, ...], MinLen(1), MaxLen(BATCH_MAX)], BODY, Trait.EXACT
    ]


@frozen
class GetRecord:
    """One record."""

    record_id: AnyRecordId


@frozen
class ProveRecord:
    """One record's place in the tree."""

    record_id: AnyRecordId
    size: Size = UNSET


@frozen
class GetCheckpoint:
    """The signed head of the tree."""

    size: Size = UNSET


@frozen
class GetTile:
    """One tile of the log."""

    tile: Annotated[
        str, PATH, MaxLen(64), Pattern(r"[a-z0-9./]+", "the path of a tile"), Example("0/000.p/1")
    ]
    """Level, number and width (C2SP tlog-tiles)."""


@frozen
class VerifyLedger:
    """The whole ledger, to be verified."""

    level: Annotated[Level, QUERY] = "strict"
    """`integrity` checks bytes alone, `strict` what they say as well."""
    from_size: Annotated[Maybe[int], QUERY, Ge(0), Example(5)] = UNSET
    """The size of a tree that you have seen."""
    from_root_hash: Annotated[
        Maybe[str],
        QUERY,
        # What a plus that was not escaped arrives as, and the two letters of base64url, pass too.
        Pattern("[A-Za-z0-9+/ _-]{42}[AEIMQUYcgkosw048]=", "the base64 of 32 bytes"),
        Example("6267Ce8SRLM8d2xbzkcY8YBJMqz8geVSCfxImmA15fE="),
    ] = UNSET
    """Its root, base64; needs `fromSize`."""
    size: Size = UNSET


# -- writing -----------------------------------------------------------------------------------


async def open_subject(ctx: Context, request: OpenSubject) -> Created[LedgerRecord]:
    """Appends the record that opens a subject. The answer is the sealed record with a receipt. The
    `ETag` is that of the ledger, `"<size>-<seal>"`: its size, and the first 16 digits of its last
    seal. `If-Match` takes the one of the last append, or one put together from the `size` and
    `headSeal` in the `basis` of a fold.
    """
    batch = await append_drafts(ctx, [request.body.entry()], start=None)
    return _created_answer(ctx, batch, subject_path(batch.records[0].id))


async def append_records(ctx: Context, request: AppendRecords) -> Created[Any]:
    """Appends one record, or a list of up to 100, all or none of them, with one record time. The
    answer gives each sealed record with its receipt. A JSON Pointer says what is wrong with which
    entry.

    Besides `kind`, `subject` and `op` (`assert` by default), an entry has at least:

    - designator: `scheme`, `value`
    - observation: `observedAt`, `text`, `source` with `url`, `retrievedAt` and `contentSha256`
    - claim: `predicate`, `value`
    - `op` `amend` or `supersede`: `target`, and the members of its kind
    - `op` `retract`: `target`, `reason`
    - `op` `verify`: `target`, `state`; for `verified` a `method`, for `corroborated` `evidence`
    - `op` `erase`: `target`, `reason`

    They all stand side by side: what the answer shows under `payload` is sent without it. The
    server adds the salt that is sealed with each record.

    The `ETag` is that of the ledger, `"<size>-<seal>"`: its size, and the first 16 digits of its
    last seal. `If-Match` takes the one of the last append, or one put together from the `size` and
    `headSeal` in the `basis` of a fold.
    """
    if not isinstance(request.body, tuple):
        batch = await append_drafts(ctx, [request.body], start=None)
        return _created_answer(ctx, batch, f"{RECORDS}/{batch.records[0].id}")
    batch = await append_drafts(ctx, request.body)
    first, count = batch.records[0].seq, len(batch.records)
    after = f"after={first - 1}&" if first else ""
    rows = appended_rows(batch, ctx.now)
    place = f"{RECORDS}?{after}limit={count}"
    return Created(wire.to_bytes(rows), batch.head.tag, place)


def appended_rows(batch: AppendedBatch, now: datetime) -> tuple[LedgerRecord, ...]:
    """The records of an append with their receipts, and by how much they are ahead of the clock."""
    ahead = SealedTime(batch.records[0].recorded_at).ahead_seconds(now) or UNSET
    rows = starmap(public_record, zip(batch.records, batch.receipts, strict=True))
    return tuple(attrs.evolve(row, sealed_ahead_seconds=ahead) for row in rows)


def _created_answer(ctx: Context, batch: AppendedBatch, location: str) -> Created[Any]:
    return Created(wire.to_bytes(appended_rows(batch, ctx.now)[0]), batch.head.tag, location)


# -- reading -----------------------------------------------------------------------------------


async def list_subjects(ctx: Context, request: ListSubjects) -> Page[SubjectRow]:
    """The subjects of the workspace, newest first, each as it is described now. With `designator`,
    only those that ever had it. A page ends before its limit where its subjects have very many
    records.
    """
    key = _designator(request.designator)
    binding = ctx.list_binding({} if key is None else {"designator": (key,)})
    position = ctx.open_cursor(request.cursor, binding)
    openings = await ctx.tx.ledger.opened(
        before=None if position is None else position.order, key=key, limit=request.limit + 1
    )
    page, parts = openings[: request.limit], or_default(request.include, ())
    if parts:
        page = page[: await reading.foldable_count(ctx, [line.subject for line in page])]
    rows = await reading.subject_rows(ctx, page)
    end = Position(rows[-1].seq, "") if len(openings) > len(rows) else None
    cursor = ctx.seal_cursor(end, binding)
    if not parts:
        return Page(tuple(map(wire.to_bytes, rows)), cursor)

    async def with_parts(row: SubjectRow, answer: Callable[[bytes], R]) -> R:
        """Answer with a row of the list with parts of the subject's fold as of now."""

        def join(view: SubjectView) -> R:
            members, fold = json.loads(wire.to_bytes(row)), json.loads(encode(view))
            return answer(wire.to_bytes(members | {name: fold[name] for name in parts}))

        bounds = FoldSubject(row.id).bounds(ctx.now)
        return await reading.view_of(ctx, row.id, bounds, join, parts=parts)

    if len(rows) == 1:
        return await with_parts(rows[0], lambda raw: Page((raw,), cursor))
    return Page(tuple([await with_parts(row, bytes) for row in rows]), cursor)


def _designator(text: Maybe[str]) -> str | None:
    if isinstance(text, Unset):
        return None
    scheme, _, value = text.partition(":")
    return f"{scheme}:{normalise(scheme, value, 'designator')}"


async def get_subject(ctx: Context, request: FoldSubject) -> Single[SubjectView] | Content:
    """The subject as the ledger knew it at `recordTime`, for what held at `validTime`.
    Contradictory claims stand side by side, ranked by their verification. `basis` names the prefix
    of the ledger that was read: its `size` repeats the answer exactly. As SVG it is a picture, with
    the time of recording upwards and the time that a claim holds for across.
    """
    bounds = request.bounds(ctx.now)
    if ctx.format == SVG.format:
        return await reading.picture_of(
            ctx,
            request.subject_id,
            bounds,
            lambda body: Content(SVG.media_type, body, (sha256(body).hexdigest(),)),
            is_marked=not isinstance(request.valid_time, Unset),
        )

    def answer(view: SubjectView) -> Single[SubjectView]:
        raw = encode(view)
        return Single(raw, _tag(raw, request.valid_time))

    parts = or_default(request.include, ())
    return await reading.view_of(ctx, request.subject_id, bounds, answer, parts=parts)


def _tag(body: bytes, valid_time: Maybe[str]) -> tuple[str, ...] | None:
    """Without a valid time an answer tells the time of asking, so no two of them are the same."""
    return None if isinstance(valid_time, Unset) else (sha256(body).hexdigest(),)


async def export_subject(ctx: Context, request: ExportSubject) -> Content:
    """The fold of the subject as a STIX 2.1 bundle: what was known at `recordTime` and is in force
    at `validTime`, each object with the proof of its origin. Identifiers are the same in every
    export, so that a repeated import updates what has changed and nothing else. The subjects that
    claims refer to are in the bundle.
    """
    bounds = request.bounds(ctx.now)
    return await reading.bundle_of(
        ctx,
        request.subject_id,
        bounds,
        lambda body: Content(STIX.media_type, body, _tag(body, request.valid_time)),
        tlp=request.tlp,
    )


async def export_records(ctx: Context, request: ListRecords) -> Page[SealedRow]:
    """The sealed lines of the log, byte for byte, oldest first. Kept as they are, they make a file
    that anyone can verify without this service. Header fields give the size, the root and the
    verifier key of the log.
    """
    head = await prefix(ctx, or_default(request.size, None))
    size = {} if isinstance(request.size, Unset) else {"size": (str(request.size),)}
    binding = ctx.list_binding(size)
    position = ctx.open_cursor(request.cursor, binding)
    if position is not None and not isinstance(request.after, Unset):
        raise Problem(
            problem.CONFLICTING_PARAMETERS,
            "after: cannot be combined with cursor",
            resolution="Send after or cursor, not both.",
        )
    start = or_default(request.after, -1) + 1 if position is None else position.order
    rows = await reading.export_lines(ctx, start, min(head.size, start + request.limit))
    end = start + len(rows)
    next_position = Position(end, "") if end < head.size else None
    return Page(rows, ctx.seal_cursor(next_position, binding), fields=_log_fields(ctx, head))


async def get_record(ctx: Context, request: GetRecord) -> Single[LedgerRecord]:
    """One sealed record; `payload` is null once its content was erased."""
    raw = wire.to_bytes(public_record(decode((await _line(ctx, request.record_id)).line)))
    return Single(raw, (sha256(raw).hexdigest(),))


async def _line(ctx: Context, id_: str) -> SealedLine:
    line = await ctx.tx.ledger.get(id_)
    if line is None:
        raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")
    return line


async def prove_record(ctx: Context, request: ProveRecord) -> Content:
    """The receipt of a record (c2sp.org/tlog-proof@v1): its index, the inclusion proof and the
    signed checkpoint of the current size, or of `size`.
    """
    return await signed_answer(ctx, partial(_proof, request=request))


async def _proof(ctx: Context, request: ProveRecord) -> Content:
    line = await _line(ctx, request.record_id)
    head = await prefix(ctx, or_default(request.size, None), is_signed=True)
    if line.seq >= head.size:
        raise Problem(problem.INVALID_PARAMETER, f"size: the record is number {line.seq}")
    receipt = await receipt_of(ctx, line, head)
    return Content(UTF8_TEXT, receipt.encode(), (head.tag, line.id), _log_fields(ctx, head))


async def get_checkpoint(ctx: Context, request: GetCheckpoint) -> Content:
    """The signed tree head (C2SP tlog-checkpoint), of the current size or of `size`. Keep it
    elsewhere: it later shows that nothing was cut off or rewritten.
    """
    return await signed_answer(ctx, partial(_checkpoint, request=request))


async def _checkpoint(ctx: Context, request: GetCheckpoint) -> Content:
    head = await prefix(ctx, or_default(request.size, None), is_signed=True)
    text = checkpoint_of(ctx, head)
    return Content(UTF8_TEXT, text.encode(), (head.tag, text), _log_fields(ctx, head))


async def get_tile(ctx: Context, request: GetTile) -> Content:
    """A tile of the log (C2SP tlog-tiles): hashes of a level of the tree, or the heads of records
    under `entries`. Tools for the format compute every proof from them.
    """
    body = await reading.tile_bytes(ctx, request.tile)
    return Content(OCTETS.media_type, body, (request.tile,))


_STANDARD: Final = str.maketrans(" -_", "++/")


async def verify_ledger(ctx: WorkContext, request: VerifyLedger) -> Single[Verification]:
    """Hashes every record again and compares it with the chain, the tree and every kept checkpoint,
    makes the nodes, indexes and head that are kept anew from the records and compares these too.
    The answer is 200 even when the ledger is not sound: read `ok`; a check that was not made is
    null. With `fromSize` and `fromRootHash` it also proves that what you saw then is still there. A
    long ledger takes its time.
    """
    hash_, anchor = request.from_root_hash, None
    if not isinstance(request.from_size, Unset):
        root = b"" if isinstance(hash_, Unset) else from_base64(hash_.translate(_STANDARD))
        anchor = Anchor(request.from_size, root)
    elif not isinstance(hash_, Unset):
        raise Problem(problem.INVALID_PARAMETER, "fromSize: is required with fromRootHash")
    verdict = await verifying.verify_stored(
        ctx, level=request.level, size=or_default(request.size, None), anchor=anchor
    )
    return Single(wire.to_bytes(verdict))


def _log_fields(ctx: Context, head: TreeHead) -> Fields:
    return (
        ("X-Svc-Ledger-Size", str(head.size)),
        ("X-Svc-Ledger-Root", to_base64(head.root)),
        ("X-Svc-Ledger-Vkey", vkey_of(ctx, head).vkey),
    )


# -- declarations ------------------------------------------------------------------------------

READ = frozenset({"ledger:read"})
WRITE = frozenset({"ledger:write"})

_TIMES = (problem.TIMESTAMP_INVALID, problem.TIMESTAMP_LEAP_SECOND, problem.TIMESTAMP_PRECISION)
_APPENDING = (
    problem.PRECONDITION_FAILED,
    *_TIMES,
    problem.INTERVAL_EMPTY,
    problem.NUMBER_PRECISION,
    problem.RECORD_TOO_LARGE,
)
_JUDGING = (
    problem.DESIGNATOR_INVALID,
    problem.UNKNOWN_SUBJECT,
    problem.UNKNOWN_TARGET,
    problem.UNKNOWN_EVIDENCE,
    problem.FOUR_EYES_REQUIRED,
    problem.ERASURE_NOT_ALLOWED,
    problem.DUPLICATE_RECORD,
    problem.TARGET_NOT_IN_FORCE,
    problem.TRANSITION_NOT_ALLOWED,
)

_LOG = ("X-Svc-Ledger-Size", "X-Svc-Ledger-Root", "X-Svc-Ledger-Vkey")
_TAG = (
    'The `ETag` is that of the ledger, `"<size>-<seal>"`: its size, and the first 16 digits of its '
    "last seal. `If-Match` takes the one of the last append, or one put together from the `size` "
    "and `headSeal` in the `basis` of a fold."
)
_CHECKPOINT = """\
api.example.org/led_0123456789abcdef01234567
8
6267Ce8SRLM8d2xbzkcY8YBJMqz8geVSCfxImmA15fE=

— api.example.org/led_0123456789abcdef01234567 nzeQrSSGgy/CJk8XOPtQvTEiOIrsrisz600Qk9jxeF9/6OJ60Y7s\
ENz70OMeqvn+x+8Hk7IrxMmwtgXvlL0NVNWtZAo=
"""
_RECEIPT = f"""\
c2sp.org/tlog-proof@v1
index 3
7bEEGmvNWieRFdek1VsqExJC2TTGbEyEPDY+ImSz3Ys=
xSnZeJFj5J52Jli0hxOA4XBiSnDSEDqQMUaJPeBIhuM=
010AZzK1+y39LYNnepHTujzsHP9wkcWskHxwFwOkD4E=

{_CHECKPOINT}"""
_PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1240 100" role="img"></svg>'
_BUNDLE = {"type": "bundle", "id": "bundle--438e322a-3d78-550d-ae4a-d14028864e6e"}


def _examples(class_: type, *optional: str) -> dict[str, Any]:
    """Collect the example values of the required members of a class, and of some optional ones."""
    return {
        wire.camel(member.name): mark.value
        for member in attrs.fields(class_)
        if member.default is attrs.NOTHING or member.name in optional
        for mark in shapes.metadata_of(member.type)
        if isinstance(mark, Example)
    }


def _entry(kind: Kind, op: Op, *optional: str, **instead: Any) -> dict[str, Any]:
    """Build an example entry from the example values of its members."""
    head = {"kind": kind, "op": op}
    return head | _examples(ENTRIES[kind, op], *optional) | head | instead


_SEAT = {"city": "Zug", "country": "CH"}
_SOURCE = _examples(SeenSource, "publisher")
_CLAIM = _entry("claim", "assert", "confidence", "evidence", "valid_from", value=_SEAT)
_DESIGNATOR = _entry("designator", "assert")
_VERDICT = _entry("claim", "verify", "method", "evidence")
APPENDS: Final[Mapping[str, Any]] = {
    "claim": _CLAIM,
    "designator": _DESIGNATOR,
    "observation": _entry("observation", "assert", "lang", source=_SOURCE),
    "amend": _entry("claim", "amend", "valid_from", value="Bern", reason="no-longer-true"),
    "supersede": _entry("claim", "supersede", "reason", value=_SEAT),
    "retract": _entry("claim", "retract"),
    "verify": _VERDICT,
    "erase": _entry("claim", "erase", "legal_basis", reason="request of 3 March"),
    "batch": [_DESIGNATOR, _CLAIM, _VERDICT],
}
"""Example bodies of `POST /ledger/records` by operation: head and payload members side by side."""


_READING: Final[Mapping[str, Any]] = {"version": "2.0", "scopes": READ, "binding": "workspace"}
_APPENDS: Final[Mapping[str, Any]] = {
    **_READING,
    "scopes": WRITE,
    "idempotency": "optional",
    # A kept answer holds content that may have to be erased.
    "confidential": Confidential(redact_answer),
    "signs": True,
}
_CHECKPOINTS: Final[Mapping[str, Any]] = {
    "fields": _LOG,
    "media": (TEXT,),
    "examples": {TEXT.media_type: _CHECKPOINT},
    "signs": True,
    "timeless": True,
}
"""What the two addresses of the checkpoint share."""


def _ledger(verb: str, address: str, summary: str, run: Any, **members: Any) -> Operation[Any, Any]:
    """Declare an operation of the ledger, with the members that all reads or all appends share."""
    shared = _READING if address.startswith("GET ") else _APPENDS
    return declare(f"ledger {verb}", address, summary, run, **{**shared, **members})


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _ledger(
        "subjects",
        "GET /ledger/subjects",
        "List subjects",
        list_subjects,
        columns=("id", "type", "label", "openedAt", "author"),
        fails=(problem.DESIGNATOR_INVALID,),
    ),
    _ledger(
        "open",
        "POST /ledger/subjects",
        "Open a subject",
        open_subject,
        fails=_APPENDING,
        examples={"body": {"type": "organization", "label": "Pier 7 AG"}},
    ),
    _ledger(
        "fold",
        "GET /ledger/subjects/{subjectId}",
        "Fold a subject",
        get_subject,
        media=(JSON, SVG),
        examples={SVG.media_type: _PICTURE},
        fails=_TIMES,
    ),
    _ledger(
        "stix",
        "GET /ledger/subjects/{subjectId}/stix",
        "Export a subject as STIX",
        export_subject,
        audited=True,
        media=(STIX,),
        examples={STIX.media_type: _BUNDLE},
        fails=_TIMES,
    ),
    _ledger(
        "records",
        "GET /ledger/records",
        "Export sealed lines",
        export_records,
        audited=True,
        columns=("head.seq", "head.id", "head.kind", "head.op", "head.subject"),
        fields=_LOG,
        media=(NDJSON, JSON),
        fails=(problem.CONFLICTING_PARAMETERS,),
        signs=True,
        timeless=True,
    ),
    _ledger(
        "",
        "POST /ledger/records",
        "Append records",
        append_records,
        request=AppendRecords,
        response=Created[LedgerRecord] | Created[tuple[LedgerRecord, ...]],
        fails=(*_APPENDING, *_JUDGING),
        examples={"body": APPENDS["claim"], "bodies": APPENDS},
    ),
    _ledger("record", "GET /ledger/records/{recordId}", "Read a record", get_record, timeless=True),
    _ledger(
        "prove",
        "GET /ledger/records/{recordId}/proof",
        "Prove a record",
        prove_record,
        fields=_LOG,
        media=(TEXT,),
        examples={TEXT.media_type: _RECEIPT},
        signs=True,
        timeless=True,
    ),
    _ledger(
        "check",
        "GET /ledger/verify",
        "Verify the seal",
        verify_ledger,
        unit=Unit("several", is_queued=True),
        fails=(problem.OVERLOADED,),
        signs=True,
    ),
    _ledger(
        "checkpoint",
        "GET /ledger/checkpoint",
        "Read the checkpoint",
        get_checkpoint,
        **_CHECKPOINTS,
    ),
    _ledger(
        "log-checkpoint",
        "GET /ledger/tlog/checkpoint",
        "Read the checkpoint of the log",
        get_checkpoint,
        id_="getLogCheckpoint",
        description=(
            "The same checkpoint beside the tiles, where tools for the format (C2SP tlog-tiles) "
            "look for it: the address of the log is `/api/v2/ledger/tlog`."
        ),
        **_CHECKPOINTS,
    ),
    _ledger(
        "tile",
        "GET /ledger/tlog/tile/{+tile}",
        "Read a tile",
        get_tile,
        media=(OCTETS,),
        examples={OCTETS.media_type: "\x01" * 32},
        timeless=True,
    ),
)
