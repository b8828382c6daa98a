"""The commands that read the ledger of a workspace: its subjects and its log."""

from base64 import b64encode
from typing import Annotated, Literal, TypeVar

import attrs
from attrs import frozen

from svc_core import problem, wire
from svc_core.constraints import Ge, Pattern
from svc_core.ledger import operations
from svc_core.ledger.append.entries import SubjectId
from svc_core.ledger.fold.view import SubjectView
from svc_core.ledger.log.note import to_base64
from svc_core.ledger.model import sealed
from svc_core.ledger.stix import AMBER, Tlp
from svc_core.ledger.stored import checkpoint_of, prefix, records_of, vkey_of
from svc_core.operation import JSON, Context
from svc_core.ports import SYSTEM
from svc_core.problem import Problem
from svc_core.result import Content, One
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


async def home(service: Service, given: str | None) -> str:
    """The workspace whose ledger is meant: people have none of their own.

    Raises:
        Problem: as `accounts.workspace`.
    """

    async def find(ctx: Context) -> str:
        return (await accounts.workspace(ctx, given)).id

    return await service.read(SYSTEM, find)


# -- subjects ----------------------------------------------------------------------------------


async def subjects(service: Service, args: ListSubjects) -> Json:
    """Subjects, newest first, each as it is stated now."""
    asked = operations.ListSubjects(designator=_maybe(args.designator), limit=args.limit)
    tenant = await home(service, args.workspace)
    found = await service.read(tenant, lambda ctx: operations.list_subjects(ctx, asked))
    return [row(raw) for raw in found.rows]


async def fold(service: Service, args: FoldSubject) -> Json:
    """The subject as it was known at the record time, for what held at the valid time."""
    found = await _folded(service, args, JSON.format)
    if isinstance(found, Content):
        raise AssertionError("a fold is a picture only where one was asked for")
    return row(found.raw)


async def picture(service: Service, args: FoldSubject) -> Json:
    """What was recorded of the subject, drawn over record time and valid time."""
    found = await _folded(service, args, operations.SVG.format)
    if isinstance(found, One):
        raise AssertionError("a picture was asked for")
    return {"id": args.subject_id, "svg": found.body.decode()}


async def _folded(service: Service, args: FoldSubject, format_: str) -> One[SubjectView] | Content:
    asked = operations.FoldSubject(
        args.subject_id,
        record_time=_maybe(args.record_time),
        valid_time=_maybe(args.valid_time),
        size=_maybe(args.size),
        include=args.include or UNSET,
    )

    async def unit(ctx: Context) -> One[SubjectView] | Content:
        return await operations.fold_subject(attrs.evolve(ctx, format=format_), asked)

    return await service.read(await home(service, args.workspace), unit)


async def stix(service: Service, args: ExportSubject) -> Json:
    """The fold of the subject as a STIX 2.1 bundle."""
    asked = operations.ExportSubject(
        args.subject_id,
        record_time=_maybe(args.record_time),
        valid_time=_maybe(args.valid_time),
        size=_maybe(args.size),
        tlp=args.tlp,
    )
    tenant = await home(service, args.workspace)
    found = await service.read(tenant, lambda ctx: operations.export_subject(ctx, asked))
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
        head = await prefix(ctx, args.size)
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
        found = await prefix(ctx, args.size)
        return {
            "ledger": found.ledger,
            "size": found.size,
            "rootHash": to_base64(found.root),
            "headSeal": found.seal,
            "tag": found.tag,
            "checkpoint": checkpoint_of(ctx, found),
            "vkey": vkey_of(ctx, found.ledger).vkey,
        }

    return await service.read(await home(service, args.workspace), unit)


async def prove(service: Service, args: ProveRecord) -> Json:
    """The receipt of a record."""
    asked = operations.ProveRecord(args.record_id, size=_maybe(args.size))
    tenant = await home(service, args.workspace)
    found = await service.read(tenant, lambda ctx: operations.prove_record(ctx, asked))
    return {"id": args.record_id, "receipt": found.body.decode()}


COMMANDS = table(
    short("ledger subjects", ListSubjects, subjects),
    short("ledger fold", FoldSubject, fold),
    short("ledger picture", FoldSubject, picture),
    short("ledger stix", ExportSubject, stix),
    short("ledger history", SubjectHistory, history),
    short("ledger export", ReadLines, lines),
    short("ledger checkpoint", ReadHead, head),
    short("ledger prove", ProveRecord, prove),
)
