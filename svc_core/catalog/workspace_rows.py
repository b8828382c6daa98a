"""All rows of a workspace together: what goes with it, their export, and their erasure.

Rule 1: a workspace that is deleted goes on for `NOTICE`, in which this can be undone. After that
        its keys, members and rows are erased in short units of work, which whoever comes next
        continues after a crash; the mark goes last, `LINGER` later, for what was still under way.
        The log of the installation keeps who deleted which, at the marking and at the end.
Rule 2: what has its own way out is asked to go and not torn off: files of recordings, and
        subscriptions of others to public profiles. The mark waits for their workers.
Rule 3: an export has no secret, nothing that is derived from other rows, and of what belongs to one
        person (projects, automations) only what is the caller's.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Annotated, Any, Final

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.access.audit import AuditCaller, record_act
from svc_core.access.keys import KeyFacts
from svc_core.access.model import ENDINGS, KEYS, MEMBERS, WORKSPACES, Ending, Workspace
from svc_core.access.people import CREDENTIALS
from svc_core.base.unset import UNSET, Maybe, Unset
from svc_core.base.views import reshape
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page, Single
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.declaration import NDJSON, OWNERS, Operation, local
from svc_core.operation.members import NoMembers, micros
from svc_core.operation.ports import SYSTEM, Collection, Position
from svc_core.operation.units import Units, WorkContext
from svc_core.reports.audio import AUDIO, FILE_CHECKS
from svc_core.reports.profiles.model import FOLLOWER_QUEUES, PROFILES
from svc_core.reports.publications import ChosenProfile, unpublish_profile
from svc_core.reports.recordings import check_file
from svc_core.wire.constraints import Arg

NOTICE: Final = timedelta(days=7)
LINGER: Final = timedelta(hours=1)
"""Longer than any answer, report or recording is under way."""
ROWS_MAX: Final = 20
"""Rows that one unit erases, so that no other writer waits for 50 ms."""
COUNTED_MAX: Final = 10_000
PAGE_ROWS: Final = 100
PAGE_BYTES: Final = 1024 * 1024
"""Rows of one page of an export, and bytes after which no other row is added."""
_STEP: Final = 10  # rows read at once

COUNTED: Final = ("reports", "profiles", "subscriptions", "projects", "automations", "webhooks")
EXPORTED: Final = (
    *COUNTED,
    "report_facets",
    "audio",
    "runs",
    "events",
    "deliveries",
    "chat_credits",
    "acts",
)
"""The collections of an export, by name; what else a tenant has is secret, derived or a queue."""

Collections = Sequence[Collection[Any]]


@frozen
class DeleteWorkspace:
    """The workspace that the caller works in, named once more."""

    name: Annotated[str, Arg(positional=True)]
    """Its name, so that no other one is deleted by mistake."""


@frozen
class ExportWorkspace:
    """The rows of a workspace after those of an earlier page."""

    cursor: Maybe[str] = UNSET
    """`meta.page.nextCursor` of the page before, or that of its `Link`."""


@frozen
class ExportRow:
    """One row of a workspace as it is stored, with its kind: the name of its collection."""

    kind: str
    id: str
    row: Any


# -- deleting ----------------------------------------------------------------------------------


async def delete_workspace(ctx: WorkContext, request: DeleteWorkspace) -> Single[Ending]:
    """Marks the workspace to be erased in seven days, with all that it has, its ledger included.

    Until then everything goes on, and `workspace keep` takes the mark away.

    Raises:
        Problem: VALIDATION_FAILED for another name.
    """
    id_, user_id = ctx.actor.tenant, ctx.actor.user_id

    async def mark(own: Context) -> Ending:
        if (await own.value(WORKSPACES, id_)).name != request.name:
            raise Problem(problem.VALIDATION_FAILED, "/name: is not the name of this workspace")
        ending = await own.find(ENDINGS, id_)
        if ending is None:
            ending = Ending(id_, user_id, own.now, own.now + NOTICE)
            await own.create(ENDINGS, id_, ending)
            await _record(own, ending)
        return ending

    return Single(wire.to_bytes(await ctx.work.write(SYSTEM, mark)))


async def keep_workspace(ctx: WorkContext, _: NoMembers) -> Single[Workspace]:
    """Takes the mark of a deletion away, while the seven days last.

    Raises:
        Problem: RESOURCE_CONFLICT, there is none, or the time is over.
    """
    id_ = ctx.actor.tenant

    async def keep(own: Context) -> bytes:
        ending = await own.find(ENDINGS, id_)
        if ending is None or ending.ends_at <= own.now:
            detail = "The workspace is not to be deleted, or it is too late to keep it."
            raise Problem(problem.RESOURCE_CONFLICT, detail)
        await own.remove(ENDINGS, id_)
        return (await own.load(WORKSPACES, id_)).raw

    return Single(await ctx.work.write(SYSTEM, keep))


async def end_workspaces(
    work: Units, collections: Collections, on_failure: Callable[[BaseException], None]
) -> None:
    """Erase the workspaces whose seven days are over; what has to wait is left for the next call.

    `on_failure` gets what keeps one from being erased; it does not keep others.
    """
    now = work.now()

    async def due(ctx: Context) -> list[Ending]:
        return [ENDINGS.decode(row.raw) async for row in ctx.every(ENDINGS, end=micros(now))]

    for ending in await work.read(SYSTEM, due):
        try:
            if await _end(work, ending.id, collections) and now > ending.ends_at + LINGER:
                await work.write(SYSTEM, partial(_forget, ending=ending))
        except Exception as failure:  # what is broken of one must not stop the others
            on_failure(failure)


async def _forget(ctx: Context, *, ending: Ending) -> None:
    if await ctx.tx.documents.delete(ENDINGS, ending.id) is not None:
        await _record(ctx, ending)


async def _record(ctx: Context, ending: Ending) -> None:
    """Write down who deleted which workspace, where it outlasts the workspace."""
    person = await ctx.find(CREDENTIALS, ending.user_id or "")
    who = (ending.user_id or "operator") if person is None else person.handle
    caller = AuditCaller(who=who, user_id=ending.user_id)
    await record_act(ctx, caller, "deleteWorkspace", target_id=ending.id)


async def _end(work: Units, id_: str, collections: Collections) -> bool:
    """Erase what a workspace has; whether nothing is left that waits for a worker."""
    while await work.write(SYSTEM, partial(_close, id_=id_, collections=collections)):
        continue
    ctx = work.context(Actor(id_, workspace_id=id_))
    for profile_id in await work.read(id_, _public_profiles):
        await unpublish_profile(ctx, ChosenProfile(profile_id))
    own = [row for row in collections if row.scope == "tenant" and row not in _DRAINED]
    while await work.write(id_, partial(_erase, collections=own)):
        continue

    async def is_empty(unit: Context) -> bool:
        counts = [await unit.tx.documents.count(waiting, limit=1) for waiting in _DRAINED]
        return not any(counts)

    return await work.read(id_, is_empty)


_DRAINED: Final[Collections] = (FOLLOWER_QUEUES, FILE_CHECKS)
"""The queues of workers that finish what has its own way out (rule 2)."""


async def _close(ctx: Context, *, id_: str, collections: Collections) -> bool:
    """Delete some of the system's rows about a workspace, the workspace last; True for more."""
    for collection in collections:
        names = collection.keys.keys() & {"account", "workspace", "workspace_id"}
        if collection.scope == "system" and names:
            where = dict.fromkeys(names, (id_,))
            page = await ctx.tx.documents.scan(collection, where=where, limit=ROWS_MAX)
            for row in page.rows:
                await ctx.tx.documents.delete(collection, row.id)
            if page.rows:
                return True
    return await ctx.tx.documents.delete(WORKSPACES, id_) is not None


async def _public_profiles(ctx: Context) -> list[str]:
    rows = [PROFILES.decode(row.raw) async for row in ctx.every(PROFILES)]
    return [profile.id for profile in rows if profile.visibility == "public"]


async def _erase(ctx: Context, *, collections: Collections) -> bool:
    """Erase some rows of a tenant; True for more."""
    for collection in collections:
        page = await ctx.tx.documents.scan(collection, limit=ROWS_MAX)
        for row in page.rows:
            await ctx.tx.documents.delete(collection, row.id)
            if collection is AUDIO:
                await check_file(ctx, AUDIO.decode(row.raw).recording.name)
        if page.rows:
            return True
    return await ctx.tx.erase(ROWS_MAX)


# -- the operations that read all collections --------------------------------------------------


def workspace_operations(collections: Collections) -> tuple[Operation[Any, Any], ...]:
    """The operations on all rows of a workspace, whose tenants have rows in these collections."""
    by_name = {collection.name: collection for collection in collections}

    async def foresee_workspace_deletion(
        ctx: WorkContext, _: NoMembers
    ) -> Single[Mapping[str, int]]:
        """What goes with the workspace; more than 10,000 of anything are not counted."""

        return await _count(ctx, [by_name[name] for name in COUNTED])

    async def export_workspace(ctx: WorkContext, request: ExportWorkspace) -> Page[ExportRow]:
        """All rows of the workspace, page by page: itself, its members and keys, its collections,
        then its ledger. There are no secrets among them; of projects and automations there are
        those of the person who asks.
        """
        return await _export(ctx, request, [by_name[name] for name in EXPORTED])

    common: Any = partial(local, binding="workspace", roles=OWNERS)
    return (
        common(
            "workspace",
            "Say what goes with a workspace",
            foresee_workspace_deletion,
            method="GET",
        ),
        common(
            "workspace delete",
            "Delete a workspace with all that it has, in seven days",
            delete_workspace,
            foresees="foreseeWorkspaceDeletion",
            description=(
                "Until then everything works, and it can still be kept. After that nothing is "
                "left of it, its ledger included; backups keep what they contain."
            ),
            guarded=True,
        ),
        common(
            "workspace keep",
            "Keep a workspace that was to be deleted",
            keep_workspace,
            guarded=True,
        ),
        common(
            "workspace export",
            "Export all rows of a workspace, without secrets",
            export_workspace,
            method="GET",
            media=(NDJSON,),
            guarded=True,
        ),
    )


async def _count(ctx: WorkContext, parts: Collections) -> Single[Mapping[str, int]]:
    async def count(own: Context) -> dict[str, int]:
        rows = own.tx.documents
        counts = {part.name: await rows.count(part, limit=COUNTED_MAX) for part in parts}
        return {**counts, "ledgerRecords": (await own.tx.ledger.end()).size}

    async def count_keys(own: Context) -> int:
        where = {"account": (ctx.actor.tenant,)}
        return await own.tx.documents.count(KEYS, where=where, limit=COUNTED_MAX)

    counts = await ctx.work.read(ctx.actor.tenant, count)
    keys = await ctx.work.read(SYSTEM, count_keys)
    return Single(wire.to_bytes({**counts, "keys": keys}))


# -- exporting ---------------------------------------------------------------------------------


async def _export(ctx: WorkContext, request: ExportWorkspace, parts: Collections) -> Page[Any]:
    """A page of the rows of the system, of one of the parts, or of the ledger after them."""
    binding, rows = ctx.list_binding({}), list[bytes]()
    place: tuple[Position, int] | None = (_START, 0)
    if isinstance(request.cursor, Unset):
        rows = await ctx.work.read(SYSTEM, partial(_accounts, id_=ctx.actor.tenant))
    else:
        order, id_, part = ctx.unseal_cursor(request.cursor, binding)
        after = Position(order, id_)

        async def read(own: Context) -> Position | None:
            own = attrs.evolve(own, actor=ctx.actor)
            if part == len(parts):
                return await _add_lines(own, rows, after)
            return await _add_documents(own, rows, parts[part], after)

        end = await ctx.work.read(ctx.actor.tenant, read)
        place = (end, part) if end else (_START, part + 1) if part < len(parts) else None
    token = ctx.seal_cursor(place[0], binding, (place[1],)) if place else None
    return Page(tuple(rows), token)


_START: Final = Position(0, "")
"""Before the first row of a part."""


def _row(kind: str, id_: str, raw: bytes) -> bytes:
    return b'{"kind":%b,"id":%b,"row":%b}' % (wire.to_bytes(kind), wire.to_bytes(id_), raw)


async def _accounts(ctx: Context, *, id_: str) -> list[bytes]:
    """The rows of the system about a workspace."""
    rows = [_row("workspaces", id_, (await ctx.load(WORKSPACES, id_)).raw)]
    members = ctx.every(MEMBERS, where={"workspace_id": (id_,)})
    rows += [_row("members", row.id, row.raw) async for row in members]
    keys = [KEYS.decode(row.raw) async for row in ctx.every(KEYS, where={"account": (id_,)})]
    return rows + [_row("keys", key.id, wire.to_bytes(reshape(KeyFacts, key))) for key in keys]


async def _add_documents(
    ctx: Context, rows: list[bytes], collection: Collection[Any], after: Position
) -> Position | None:
    """Add rows of a collection; the position after them, None where it ends."""
    end: Position | None = after if after.id else None
    for _ in range(0, PAGE_ROWS, _STEP):
        page = await ctx.tx.documents.scan(collection, after=end, limit=_STEP)
        visible = (row for row in page.rows if ctx.is_visible(collection, row))
        rows += [_row(collection.name, row.id, row.raw) for row in visible]
        end = page.end
        if end is None or sum(map(len, rows)) > PAGE_BYTES:
            break
    return end


async def _add_lines(ctx: Context, rows: list[bytes], after: Position) -> Position | None:
    """Add lines of the ledger, byte for byte; the position after them, None where it ends."""
    lines = await ctx.tx.ledger.stored(range(after.order, after.order + _STEP))
    rows += [_row("ledger_lines", line.id, line.line) for line in lines]
    return Position(after.order + len(lines), "ledger") if len(lines) == _STEP else None
