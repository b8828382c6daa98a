"""The commands for the ledger of a workspace: what is recorded, and what is read of it."""

import re
from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import Annotated, Literal, TypeVar

import attrs
from attrs import frozen

from svc_core import accounts as people
from svc_core import problem, wire
from svc_core.constraints import Ge, MaxLen, MinLen, Pattern
from svc_core.ledger import usecases
from svc_core.ledger.answers import sealed
from svc_core.ledger.appending import append_all
from svc_core.ledger.books import checkpoint_of, head_of, prefix, records_of, vkey_of
from svc_core.ledger.drafts import drafts
from svc_core.ledger.entries import Entry, SubjectEntry, SubjectId
from svc_core.ledger.note import to_base64
from svc_core.ledger.records import KIND_PREFIX, Kind, payload_bytes
from svc_core.ledger.salts import repeatable
from svc_core.ledger.seal import TreeHead, payload_hash, record_id
from svc_core.ledger.stix import AMBER, Tlp
from svc_core.ledger.view import SubjectView
from svc_core.operation import JSON, Actor, Content, Context, One
from svc_core.ports import SYSTEM
from svc_core.problem import Problem
from svc_core.unset import UNSET, Maybe
from svc_core.wire import Json
from svc_http.commands import accounts
from svc_http.commands.command import Rows, row, short, table
from svc_http.service import Service

R = TypeVar("R")

PAGE_BYTES = 3 * 1024 * 1024
"""Of the lines that one answer carries; with its last lines and in base64 less than an answer may
have."""

STEP_LINES = 16
"""Lines read at a time: a MiB at most."""

AnyId = Annotated[str, Pattern("(?:sbj|dsg|obs|clm)_[0-9a-f]{24}", "a record id")]
Size = Annotated[int, Ge(0)]
Mark = Annotated[str, Pattern("[0-9a-f]{64}", "64 hexadecimal digits in lower case")]


@frozen
class OpenSubject:
    """A subject to open."""

    subject: SubjectEntry
    workspace: str | None = None
    author: str | None = None


@frozen
class AppendEntries:
    """Entries to append together.

    With `marks`, one for each entry, what was appended under its mark before is passed over.
    """

    entries: Annotated[tuple[Entry, ...], MinLen(1), MaxLen(usecases.BATCH_MAX)]
    marks: Annotated[tuple[Mark, ...], MaxLen(usecases.BATCH_MAX)] = ()
    workspace: str | None = None
    author: str | None = None
    if_match: str | None = None


@frozen
class ListSubjects:
    """The newest subjects, or those that bear a designator."""

    workspace: str | None = None
    designator: str | None = None
    limit: Rows = 100


@frozen
class FoldSubject:
    """A subject at two times."""

    subject_id: SubjectId
    workspace: str | None = None
    record_time: str | None = None
    valid_time: str | None = None
    size: Size | None = None
    include: tuple[Literal["history", "segments"], ...] = ()


@frozen
class ExportSubject:
    """A subject at two times, and how far its bundle may be passed on."""

    subject_id: SubjectId
    workspace: str | None = None
    record_time: str | None = None
    valid_time: str | None = None
    size: Size | None = None
    tlp: Tlp = AMBER


@frozen
class SubjectHistory:
    """The newest records about a subject."""

    subject_id: SubjectId
    workspace: str | None = None
    limit: Rows = 100


@frozen
class ReadLines:
    """Sealed lines from number `start` on."""

    workspace: str | None = None
    start: Size = 0
    size: Size | None = None


@frozen
class ReadHead:
    """The ledger as it is, or as it was at a size."""

    workspace: str | None = None
    size: Size | None = None


@frozen
class ProveRecord:
    """A record in the tree of a size."""

    record_id: AnyId
    workspace: str | None = None
    size: Size | None = None


@frozen
class EraseRecord:
    """A record to erase, and why."""

    record_id: AnyId
    reason: str
    legal_basis: str | None = None
    workspace: str | None = None
    author: str | None = None


async def home(service: Service, given: str | None) -> str:
    """The workspace whose ledger is meant: people have none of their own.

    Raises:
        Problem: as `accounts.workspace`.
    """

    async def find(ctx: Context) -> str:
        return (await accounts.workspace(ctx, given)).id

    return await service.read(SYSTEM, find)


# -- recording ---------------------------------------------------------------------------------


async def open_(service: Service, args: OpenSubject) -> Json:
    """Open a subject; the sealed record with its receipt."""

    async def unit(ctx: Context) -> Json:
        made = await usecases.open_subject(ctx, usecases.OpenSubject(args.subject))
        return row(made.raw)

    return await _recorded(service, args.workspace, args.author, unit)


async def append(service: Service, args: AppendEntries) -> Json:
    """Append entries together or not at all; those that were appended before stand under `known`.

    `tag` is what the next append may name as `ifMatch`.
    """
    if args.marks and len(args.marks) != len(args.entries):
        raise Problem(problem.VALIDATION_FAILED, "/marks: must be as many as entries")

    async def unit(ctx: Context) -> Json:
        ctx = attrs.evolve(ctx, if_match=_quoted(args.if_match))
        salts = [repeatable(ctx.keyring, ctx.actor.tenant, mark) for mark in args.marks]
        known = await _known(ctx, args.entries, salts) if salts else []
        rest = args.entries[len(known) :]
        if not rest:
            return {"known": list(known), "records": [], "tag": (await head_of(ctx)).tag}
        try:
            made = await append_all(ctx, rest, salts=salts[len(known) :] or None)
        except Problem as refused:
            raise _counted(refused, len(known)) from refused
        pairs = zip(made.records, made.receipts, strict=True)
        return {
            "known": list(known),
            "records": [wire.to_json(sealed(*pair)) for pair in pairs],
            "tag": made.head.tag,
        }

    return await _recorded(service, args.workspace, args.author, unit)


async def _known(ctx: Context, entries: tuple[Entry, ...], salts: list[bytes]) -> list[str]:
    """The records of the first entries, as far as they are there already."""
    known = []
    for made in drafts(entries, author="system", salts=salts):
        id_ = record_id(made.kind, payload_hash(payload_bytes(made.payload)))
        if await ctx.tx.ledger.get(id_) is None:
            break
        known.append(id_)
    return known


def _counted(refused: Problem, known: int) -> Problem:
    """The refusal of what follows `known` entries, by the number of the entry among all."""
    found = re.match("/([0-9]+)", refused.detail)
    if found is None:
        return refused
    detail = f"/{int(found[1]) + known}{refused.detail[found.end() :]}"
    return Problem(refused.type, detail, refused.headers)


def _quoted(tag: str | None) -> str | None:
    return tag if tag is None or tag.startswith('"') else f'"{tag}"'


async def erase(service: Service, args: EraseRecord) -> Json:
    """Erase the content of a record: the sealed record that says so."""

    async def unit(ctx: Context) -> Json:
        stored = await ctx.tx.ledger.get(args.record_id)
        if stored is None:
            raise Problem(problem.NOT_FOUND, f"The ledger has no record {args.record_id}.")
        entry = Entry(
            _KINDS[args.record_id[:3]],
            "erase",
            subject=stored.subject,
            target=args.record_id,
            reason=args.reason,
            legal_basis=UNSET if args.legal_basis is None else args.legal_basis,
        )
        return row((await usecases.append_records(ctx, usecases.AppendRecords(entry))).raw)

    return await _recorded(service, args.workspace, args.author, unit)


_KINDS: dict[str, Kind] = {prefix_: kind for kind, prefix_ in KIND_PREFIX.items()}


async def _recorded(
    service: Service,
    workspace: str | None,
    author: str | None,
    unit: Callable[[Context], Awaitable[R]],
) -> R:
    """Run a writing use case in the name of `author`, a key or a person that is known."""
    tenant = await home(service, workspace)
    actor = Actor(tenant)
    if author is not None:
        actor = await service.read(SYSTEM, lambda ctx: _principal(ctx, tenant, author))

    async def signed(ctx: Context) -> R:
        return await unit(attrs.evolve(ctx, actor=actor))

    return await service.write(tenant, signed)


async def _principal(ctx: Context, tenant: str, author: str) -> Actor:
    if any(key.id == author for key in await people.list_keys(ctx)):
        return Actor(tenant, key_id=author)
    if any(person.id == author for person in await people.list_users(ctx)):
        return Actor(tenant, user_id=author)
    raise Problem(
        problem.NOT_FOUND,
        f"There is no key or person {author!r} to record it for; "
        "see: svc keys list, svc users list",
    )


# -- subjects ----------------------------------------------------------------------------------


async def subjects(service: Service, args: ListSubjects) -> Json:
    """Subjects, newest first, each as it is stated now."""
    asked = usecases.ListSubjects(designator=_maybe(args.designator), limit=args.limit)
    tenant = await home(service, args.workspace)
    found = await service.read(tenant, lambda ctx: usecases.list_subjects(ctx, asked))
    return [row(raw) for raw in found.rows]


async def fold(service: Service, args: FoldSubject) -> Json:
    """The subject as it was known at the record time, for what held at the valid time."""
    found = await _folded(service, args, JSON.format)
    if isinstance(found, Content):
        raise AssertionError("a fold is a picture only where one was asked for")
    return row(found.raw)


async def picture(service: Service, args: FoldSubject) -> Json:
    """What was recorded of the subject, drawn over record time and valid time."""
    found = await _folded(service, args, usecases.SVG.format)
    if isinstance(found, One):
        raise AssertionError("a picture was asked for")
    return {"id": args.subject_id, "svg": found.body.decode()}


async def _folded(service: Service, args: FoldSubject, format_: str) -> One[SubjectView] | Content:
    asked = usecases.FoldSubject(
        args.subject_id,
        record_time=_maybe(args.record_time),
        valid_time=_maybe(args.valid_time),
        size=_maybe(args.size),
        include=args.include or UNSET,
    )

    async def unit(ctx: Context) -> One[SubjectView] | Content:
        return await usecases.fold_subject(attrs.evolve(ctx, format=format_), asked)

    return await service.read(await home(service, args.workspace), unit)


async def stix(service: Service, args: ExportSubject) -> Json:
    """The fold of the subject as a STIX 2.1 bundle."""
    asked = usecases.ExportSubject(
        args.subject_id,
        record_time=_maybe(args.record_time),
        valid_time=_maybe(args.valid_time),
        size=_maybe(args.size),
        tlp=args.tlp,
    )
    tenant = await home(service, args.workspace)
    found = await service.read(tenant, lambda ctx: usecases.export_subject(ctx, asked))
    return {"id": args.subject_id, "stix": found.body.decode()}


async def history(service: Service, args: SubjectHistory) -> Json:
    """Every record about the subject, oldest first; the newest ones where there are too many."""

    async def unit(ctx: Context) -> Json:
        records = await records_of(ctx, args.subject_id)
        if not records:
            raise Problem(problem.NOT_FOUND, f"The ledger has no subject {args.subject_id}.")
        return [wire.to_json(sealed(record)) for record in records[-args.limit :]]

    return await service.read(await home(service, args.workspace), unit)


def _maybe(value: R | None) -> Maybe[R]:
    return UNSET if value is None else value


# -- the log -----------------------------------------------------------------------------------


async def lines(service: Service, args: ReadLines) -> Json:
    """Some lines, base64 with an LF after each, and how many there are now or at `size`."""

    async def unit(ctx: Context) -> Json:
        head = await _head(ctx, args.size)
        taken = bytearray()
        at = args.start
        while at < head.size and len(taken) < PAGE_BYTES:
            step = await ctx.tx.ledger.lines(at, min(head.size, at + STEP_LINES))
            taken += b"".join([line + b"\n" for line in step])
            at += len(step)
        return {"size": head.size, "next": at, "lines": b64encode(taken).decode()}

    return await service.read(await home(service, args.workspace), unit)


async def head(service: Service, args: ReadHead) -> Json:
    """Size, root, the signed checkpoint and the key that verifies it."""

    async def unit(ctx: Context) -> Json:
        found = await _head(ctx, args.size)
        return {
            "ledger": found.ledger,
            "size": found.size,
            "rootHash": to_base64(found.root),
            "headSeal": found.seal,
            "tag": found.tag,
            "checkpoint": checkpoint_of(ctx, found),
            "vkey": vkey_of(ctx, found.ledger),
        }

    return await service.read(await home(service, args.workspace), unit)


async def _head(ctx: Context, size: int | None) -> TreeHead:
    return await head_of(ctx) if size is None else await prefix(ctx, size)


async def prove(service: Service, args: ProveRecord) -> Json:
    """The receipt of a record."""
    asked = usecases.ProveRecord(args.record_id, size=_maybe(args.size))
    tenant = await home(service, args.workspace)
    found = await service.read(tenant, lambda ctx: usecases.prove_record(ctx, asked))
    return {"id": args.record_id, "receipt": found.body.decode()}


COMMANDS = table(
    short("ledger open", OpenSubject, open_),
    short("ledger append", AppendEntries, append),
    short("ledger erase", EraseRecord, erase),
    short("ledger subjects", ListSubjects, subjects),
    short("ledger fold", FoldSubject, fold),
    short("ledger picture", FoldSubject, picture),
    short("ledger stix", ExportSubject, stix),
    short("ledger history", SubjectHistory, history),
    short("ledger lines", ReadLines, lines),
    short("ledger head", ReadHead, head),
    short("ledger prove", ProveRecord, prove),
)
