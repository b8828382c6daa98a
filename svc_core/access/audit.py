"""The audit log: who did what in a workspace or to the installation (Dashboard: Audit).

Rule 1: the row of an act is written in the unit of work of the act, so there is one exactly where
        the act was committed. Refusals and acts of several units have a unit of their own.
Rule 2: a row has the names of the members that were sent, and never a value of one.
Rule 3: rows are added, and removed only by age.
Rule 4: a unit of a workspace writes to the workspace's rows, one of the system to the system's. The
        log of a workspace is both, in one order; that of the installation is the system's.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

import attrs
from attrs import frozen

from svc_core.access.operations import OfWorkspace, find_workspace, for_managers
from svc_core.base.unset import UNSET, Maybe
from svc_core.contract.result import Page
from svc_core.operation.context import Context
from svc_core.operation.declaration import JSON, NDJSON, Operation
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Collection, Position, Scope
from svc_core.wire.constraints import Doc, Ge, Le, MaxLen

DONE: Final = "done"


@frozen(kw_only=True)
class AuditCaller:
    """Who acts, as the log names them: a person by their handle, or `operator` at a terminal."""

    who: str
    user_id: str | None = None
    address: str | None = None
    request_id: str | None = None


@frozen(kw_only=True)
class AuditedAct(AuditCaller):
    """One act: `outcome` is `done`, or the code of the problem that refused it.

    `members` are the names of what was sent, `target_id` names the row that is meant.
    """

    id: str
    at: datetime
    operation: str
    target_id: str | None = None
    session_id: str | None = None
    members: tuple[str, ...] = ()
    outcome: str = DONE
    workspace_id: str | None = None


def _acts(
    name: str, scope: Scope, **keys: Callable[[AuditedAct], str | None]
) -> Collection[AuditedAct]:
    return Collection(
        name=name,
        model=AuditedAct,
        prefix="act",
        scope=scope,
        order=lambda act: micros(act.at),
        keys={"operation": lambda act: act.operation, "outcome": lambda act: act.outcome, **keys},
        facets={"person": lambda act: filter(None, (act.who, act.user_id))},
    )


ACTS: Final = _acts("acts", "tenant")
SYSTEM_ACTS: Final = _acts("system_acts", "system", workspace=lambda act: act.workspace_id)
COLLECTIONS: Final = (ACTS, SYSTEM_ACTS)


# -- writing -----------------------------------------------------------------------------------


async def record_act(ctx: Context, caller: AuditCaller, operation: str, **members: Any) -> None:
    """Add a row to the log, in the unit of work of the act; `members` are those of `AuditedAct`."""
    collection = SYSTEM_ACTS if ctx.actor.tenant == SYSTEM else ACTS
    named = {"session_id": ctx.actor.session_id, **attrs.asdict(caller), **members}
    act = AuditedAct(id=ctx.ids.new("act"), at=ctx.now, operation=operation, **named)
    await ctx.create(collection, act.id, act)


# -- reading -----------------------------------------------------------------------------------


@frozen(kw_only=True)
class ListAudit(OfWorkspace):
    """Which acts; all of them where nothing is said."""

    person: Annotated[str | None, MaxLen(64)] = None
    """Whose acts: a handle, a user id, or `operator`."""
    operation: Annotated[str | None, MaxLen(64)] = None
    """Acts by this operation, such as createKey."""
    outcome: Annotated[str | None, MaxLen(64)] = None
    """`done`, or the code of the problem by which acts were refused."""
    start: datetime | None = None
    """Only acts from then on."""
    end: datetime | None = None
    """Only acts before then."""
    limit: Annotated[int, Ge(1), Le(100), Doc("Rows in one page.")] = 20
    cursor: Maybe[str] = UNSET
    """`meta.page.nextCursor` of the page before, unchanged."""


async def list_audit(ctx: Context, request: ListAudit) -> Page[AuditedAct]:
    """What people did on the dashboard and the operator at a terminal, with what people were
    refused. Rows name the members that were sent, never their values, and are kept for as long as
    the setting `audit_days` says. Without a workspace the operator sees what was done to the
    installation, and to keys and members of every workspace.

    Raises:
        Problem: NOT_FOUND, or INVALID_CURSOR.
    """
    home = request.workspace or ctx.actor.workspace_id
    if home is not None:
        home = (await find_workspace(ctx, home)).id
    members = {name: getattr(request, name) for name in ("person", "operation", "outcome")}
    where = {name: (word,) for name, word in members.items() if word is not None}
    of_home = where if home is None else {**where, "workspace": (home,)}
    start, end = (None if at is None else micros(at) for at in (request.start, request.end))
    bounds: Any = {"start": start, "end": None if end is None else end - 1}
    binding = ctx.list_binding(of_home, **bounds)
    bounds |= {"after": ctx.open_cursor(request.cursor, binding), "limit": request.limit}
    parts = [await ctx.tx.documents.scan(SYSTEM_ACTS, where=of_home, **bounds)]
    if home is not None:
        parts.append(await ctx.tx.beside(home).documents.scan(ACTS, where=where, **bounds))
    rows = sorted((row for part in parts for row in part.rows), key=lambda row: (row.order, row.id))
    page = rows[: -request.limit - 1 : -1]
    is_last = len(page) == len(rows) and not any(part.has_more for part in parts)
    end_ = None if is_last else Position(page[-1].order, page[-1].id)
    return Page(tuple(row.raw for row in page), ctx.seal_cursor(end_, binding))


async def remove_acts(ctx: Context, collection: Collection[AuditedAct], ids: Sequence[str]) -> None:
    """Remove rows that are older than the host keeps them."""
    for id_ in ids:
        await ctx.tx.documents.delete(collection, id_)


LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    for_managers(
        "audit list",
        "List who did what, newest first",
        list_audit,
        media=(JSON, NDJSON),
        method="GET",
        columns=("at", "who", "operation", "outcome", "targetId", "address"),
    ),
)
