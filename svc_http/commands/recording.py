"""The commands that write to the ledger of a workspace, in the name of a key or a person."""

import re
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import attrs
from attrs import frozen

from svc_core import accounts as people
from svc_core import problem, wire
from svc_core.constraints import MaxLen, MinLen, Pattern
from svc_core.ledger import operations
from svc_core.ledger.append.append import append as append_all
from svc_core.ledger.append.drafts import drafts, repeatable_salt
from svc_core.ledger.append.entries import Entry, SubjectEntry
from svc_core.ledger.log.seal import payload_hash, record_id
from svc_core.ledger.model import sealed
from svc_core.ledger.records import KIND_PREFIX, Kind, payload_bytes
from svc_core.ledger.stored import head_of
from svc_core.operation import Actor, Context
from svc_core.ports import SYSTEM
from svc_core.problem import Problem
from svc_core.unset import UNSET
from svc_core.wire import Json
from svc_http.commands.command import row, short, table
from svc_http.commands.ledger import AnyId, home
from svc_http.service import Service

R = TypeVar("R")

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

    entries: Annotated[tuple[Entry, ...], MinLen(1), MaxLen(operations.BATCH_MAX)]
    marks: Annotated[tuple[Mark, ...], MaxLen(operations.BATCH_MAX)] = ()
    workspace: str | None = None
    author: str | None = None
    if_match: str | None = None


@frozen
class EraseRecord:
    """A record to erase, and why."""

    record_id: AnyId
    reason: str
    legal_basis: str | None = None
    workspace: str | None = None
    author: str | None = None


async def open_(service: Service, args: OpenSubject) -> Json:
    """Open a subject; the sealed record with its receipt."""

    async def unit(ctx: Context) -> Json:
        made = await operations.open_subject(ctx, operations.OpenSubject(args.subject))
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
        salts = [repeatable_salt(ctx.keyring, ctx.actor.tenant, mark) for mark in args.marks]
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
        return row((await operations.append_records(ctx, operations.AppendRecords(entry))).raw)

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


COMMANDS = table(
    short("ledger open", OpenSubject, open_),
    short("ledger append", AppendEntries, append),
    short("ledger erase", EraseRecord, erase),
)
