"""The requests to the ledger and their use cases (Spec: Ontology ledger)."""

from hashlib import sha256
from typing import Annotated, Any, Literal, get_args

import attrs
from attrs import frozen

from svc_core import problem, wire
from svc_core.constraints import Doc, Example, Ge, IdOf, Le, MaxLen, MinLen, Pattern
from svc_core.ledger import reading, stored, timestamps
from svc_core.ledger.append.append import Appended, address_of, append_all, append_one
from svc_core.ledger.append.entries import Entry, Instant, SubjectEntry, SubjectId
from svc_core.ledger.designators import SchemeName, normalise
from svc_core.ledger.fold.view import SubjectView, encode
from svc_core.ledger.log.note import to_base64
from svc_core.ledger.log.seal import TreeHead
from svc_core.ledger.model import LedgerRecord, SealedRow, SubjectRow, Verification, sealed
from svc_core.ledger.reading import Bounds
from svc_core.ledger.records import decode
from svc_core.ledger.stix import AMBER, Tlp
from svc_core.ledger.stored import Proofs, head_of
from svc_core.ledger.timestamps import canonical_time
from svc_core.ledger.verify.verdict import Level
from svc_core.media import Representation
from svc_core.operation import BASE_V2, BODY, OCTETS, PATH, QUERY, UTF8_TEXT, Context
from svc_core.ports import Position
from svc_core.problem import Problem
from svc_core.resources.members import Cursor, Limit
from svc_core.result import Content, Created, Fields, One, Page
from svc_core.unset import UNSET, Maybe, Unset, given

BATCH_MAX = 100
SVG = Representation("svg", "image/svg+xml")
STIX = Representation("stix", "application/stix+json;version=2.1")

RecordTime = Annotated[
    Maybe[Instant],
    QUERY,
    Doc("Consider only what was recorded by then. Default: everything."),
    Example("2026-01-10T00:00:00Z"),
]
ValidTime = Annotated[
    Maybe[Instant],
    QUERY,
    Doc("Show what holds at that time. Default: now."),
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


@frozen
class ListSubjects:
    """The subjects of the workspace, newest first."""

    designator: Annotated[
        Maybe[str],
        QUERY,
        MaxLen(2_200),
        Doc("Only subjects that ever had this designator: `scheme:value`."),
        Example("lei:5493001KJTIIGC8Y1R12"),
    ] = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class OpenSubject:
    """A subject to open."""

    body: Annotated[SubjectEntry, BODY]


@frozen
class FoldSubject:
    """A subject, folded at a record time and a valid time."""

    subject_id: PathSubjectId
    record_time: RecordTime = UNSET
    valid_time: ValidTime = UNSET
    size: Size = UNSET
    include: Annotated[
        Maybe[tuple[Literal["history", "segments"], ...]],
        QUERY,
        Doc("Comma list: `history` of what was displaced, `segments` of valid time."),
        Example(["history", "segments"]),
    ] = UNSET


@frozen
class ExportSubject:
    """A subject as STIX, at a record time and a valid time."""

    subject_id: PathSubjectId
    record_time: RecordTime = UNSET
    valid_time: ValidTime = UNSET
    size: Size = UNSET
    tlp: Annotated[
        Tlp,
        QUERY,
        Doc("Traffic Light Protocol 2.0: how far it may be shared. A plus is sent as `%2B`."),
    ] = AMBER


@frozen
class ListRecords:
    """Sealed lines, oldest first."""

    after: Annotated[
        Maybe[int], QUERY, Ge(0), Doc("Number (`seq`) of the last line you have."), Example(99)
    ] = UNSET
    size: Size = UNSET
    limit: Annotated[int, QUERY, Ge(1), Le(1_000), Doc("Lines in one page."), Example(100)] = 100
    cursor: Cursor = UNSET


@frozen
class AppendRecords:
    """One record to append, or up to 100 that are appended together or not at all."""

    body: Annotated[
        Entry | Annotated[tuple[Entry, ...], MinLen(1), MaxLen(BATCH_MAX)],
        BODY,
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
        str,
        PATH,
        MaxLen(64),
        Pattern(r"[a-z0-9./]+", "the path of a tile"),
        Doc("Level, number and width (C2SP tlog-tiles)."),
        Example("0/000.p/1"),
    ]


@frozen
class VerifyLedger:
    """The whole ledger, to be verified."""

    level: Annotated[
        Level, QUERY, Doc("`integrity` checks bytes alone, `strict` what they say as well.")
    ] = "strict"
    from_size: Annotated[
        Maybe[int], QUERY, Ge(0), Doc("The size of a tree that you have seen."), Example(5)
    ] = UNSET
    from_root_hash: Annotated[
        Maybe[str], QUERY, MaxLen(64), Doc("Its root, base64; needs `fromSize`.")
    ] = UNSET
    size: Size = UNSET


# -- writing -----------------------------------------------------------------------------------


async def open_subject(ctx: Context, request: OpenSubject) -> Created[LedgerRecord]:
    """Open a subject."""
    appended = await append_one(ctx, request.body.entry())
    return _created(appended, address_of(appended.records[0].id))


async def append_records(ctx: Context, request: AppendRecords) -> Created[Any]:
    """Append one record or a batch."""
    if isinstance(request.body, Entry):
        appended = await append_one(ctx, request.body)
        return _created(appended, _record_path(appended.records[0].id))
    appended = await append_all(ctx, request.body)
    first, count = appended.records[0].seq, len(appended.records)
    after = f"after={first - 1}&" if first else ""
    rows = [sealed(*pair) for pair in zip(appended.records, appended.receipts, strict=True)]
    place = f"{BASE_V2}/ledger/records?{after}limit={count}"
    return Created(wire.dumps(rows), appended.head.tag, place)


def _created(appended: Appended, location: str) -> Created[Any]:
    row = sealed(appended.records[0], appended.receipts[0])
    return Created(wire.dumps(row), appended.head.tag, location)


def _record_path(id_: str) -> str:
    return f"{BASE_V2}/ledger/records/{id_}"


# -- reading -----------------------------------------------------------------------------------


async def list_subjects(ctx: Context, request: ListSubjects) -> Page[SubjectRow]:
    """The subjects, newest first."""
    key = _designator(request.designator)
    binding = ctx.list_binding({} if key is None else {"designator": (key,)}, None, None)
    position = ctx.open_cursor(request.cursor, binding)
    rows, before = await reading.subjects(
        ctx, before=None if position is None else position.order, key=key, limit=request.limit
    )
    end = None if before is None else Position(before, "")
    return Page(tuple(map(wire.dumps, rows)), ctx.seal_cursor(end, binding))


def _designator(text: Maybe[str]) -> str | None:
    if isinstance(text, Unset):
        return None
    scheme, colon, value = text.partition(":")
    if not colon or scheme not in get_args(SchemeName):
        known = ", ".join(get_args(SchemeName))
        raise Problem(
            problem.INVALID_PARAMETER,
            f"designator: must be scheme:value, the scheme one of {known}",
        )
    return f"{scheme}:{normalise(scheme, value, 'designator')}"


async def fold_subject(ctx: Context, request: FoldSubject) -> One[SubjectView] | Content:
    """The subject as it was known and held at two times, or a picture of all that was."""
    included = given(request.include, ())
    asked = _bounds(ctx, request.record_time, request.valid_time, request.size)
    if ctx.format == SVG.format:
        marked = not isinstance(request.valid_time, Unset)
        body = await reading.picture_of(ctx, request.subject_id, asked, marked=marked)
        return Content(SVG.media_type, body, (sha256(body).hexdigest(),))
    view = await reading.view_of(
        ctx,
        request.subject_id,
        asked,
        history="history" in included,
        segments="segments" in included,
    )
    raw = encode(view)
    return One(raw, _tag(raw, request.valid_time))


def _tag(body: bytes, valid_time: Maybe[str]) -> tuple[str, ...] | None:
    """Without a valid time an answer tells the time of asking, so no two of them are the same."""
    return None if isinstance(valid_time, Unset) else (sha256(body).hexdigest(),)


def _bounds(
    ctx: Context, record_time: Maybe[str], valid_time: Maybe[str], size: Maybe[int]
) -> Bounds:
    return Bounds(
        record_time=_instant(record_time, "recordTime"),
        valid_time=_instant(valid_time, "validTime") or timestamps.of(ctx.now),
        size=given(size, None),
    )


def _instant(text: Maybe[str], name: str) -> str | None:
    return None if isinstance(text, Unset) else canonical_time(text, name)


async def export_subject(ctx: Context, request: ExportSubject) -> Content:
    """The subject's fold as a STIX bundle."""
    asked = _bounds(ctx, request.record_time, request.valid_time, request.size)
    body = await reading.bundle_of(ctx, request.subject_id, asked, request.tlp)
    return Content(STIX.media_type, body, _tag(body, request.valid_time))


async def list_records(ctx: Context, request: ListRecords) -> Page[SealedRow]:
    """Sealed lines as they are stored, byte for byte."""
    head = await _head(ctx, request.size)
    size = {} if isinstance(request.size, Unset) else {"size": (str(request.size),)}
    binding = ctx.list_binding(size, None, None)
    position = ctx.open_cursor(request.cursor, binding)
    if position is not None and not isinstance(request.after, Unset):
        kind = attrs.evolve(problem.CONFLICTING_PARAMETERS, resolution="Use after or cursor.")
        raise Problem(kind, "after: cannot be combined with cursor")
    start = given(request.after, -1) + 1 if position is None else position.order
    rows = await reading.exported(ctx, start, min(head.size, start + request.limit))
    end = start + len(rows)
    more = Position(end, "") if end < head.size else None
    return Page(rows, ctx.seal_cursor(more, binding), fields=_log_fields(ctx, head))


async def get_record(ctx: Context, request: GetRecord) -> One[LedgerRecord]:
    """One record, as it is now: without its content once that was erased."""
    line = await ctx.tx.ledger.get(request.record_id)
    if line is None:
        raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")
    raw = wire.dumps(sealed(decode(line.line)))
    return One(raw, (sha256(raw).hexdigest(),))


async def prove_record(ctx: Context, request: ProveRecord) -> Content:
    """The receipt of a record under the checkpoint of a size."""
    line = await ctx.tx.ledger.get(request.record_id)
    if line is None:
        raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")
    head = await _head(ctx, request.size)
    if line.seq >= head.size:
        raise Problem(problem.INVALID_PARAMETER, f"size: the record is number {line.seq}")
    receipt = await Proofs(ctx).receipt(line.seq, head.size, stored.checkpoint_of(ctx, head))
    return Content(UTF8_TEXT, receipt.encode(), (head.tag, line.id), _log_fields(ctx, head))


async def get_checkpoint(ctx: Context, request: GetCheckpoint) -> Content:
    """The signed tree head."""
    head = await _head(ctx, request.size)
    text = stored.checkpoint_of(ctx, head)
    return Content(UTF8_TEXT, text.encode(), (head.tag, text), _log_fields(ctx, head))


async def get_tile(ctx: Context, request: GetTile) -> Content:
    """A tile of hashes or entries; a full one never changes."""
    body = await reading.tile_bytes(ctx, request.tile)
    return Content(OCTETS.media_type, body, (request.tile,))


async def verify_ledger(ctx: Context, request: VerifyLedger) -> One[Verification]:
    """The verdict; a ledger that is not sound is told in it, not by the status."""
    trusted = None
    if not isinstance(request.from_size, Unset):
        trusted = reading.seen(request.from_size, given(request.from_root_hash, None))
    elif not isinstance(request.from_root_hash, Unset):
        raise Problem(problem.INVALID_PARAMETER, "fromSize: is required with fromRootHash")
    verdict = await reading.verified(
        ctx, level=request.level, size=given(request.size, None), trusted=trusted
    )
    return One(wire.dumps(verdict))


async def _head(ctx: Context, size: Maybe[int]) -> TreeHead:
    return await head_of(ctx) if isinstance(size, Unset) else await stored.prefix(ctx, size)


def _log_fields(ctx: Context, head: TreeHead) -> Fields:
    return (
        ("X-Svc-Ledger-Size", str(head.size)),
        ("X-Svc-Ledger-Root", to_base64(head.root)),
        ("X-Svc-Ledger-Vkey", stored.vkey_of(ctx, head.ledger)),
    )
