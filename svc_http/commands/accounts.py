"""Whose data a command is about: a workspace by its id or name, or a person by their id."""

from svc_core import accounts, problem
from svc_core.accounts import Workspace
from svc_core.operation import Context
from svc_core.ports import SYSTEM, Collection, Document, T
from svc_core.problem import Problem
from svc_http.runtime.service import Service


async def workspace(ctx: Context, given: str | None) -> Workspace:
    """The workspace that is meant; without a word, the only one there is.

    Raises:
        Problem: NOT_FOUND, or VALIDATION_FAILED when there are several to choose from.
    """
    known = await accounts.list_workspaces(ctx)
    if given is None:
        return _only(known)
    named = [one for one in known if given in (one.id, one.name)]
    if not named:
        raise Problem(
            problem.NOT_FOUND, f"There is no workspace {given!r}; see: svc workspaces list"
        )
    if len(named) > 1:
        raise _ambiguous(named)
    return named[0]


def _only(known: tuple[Workspace, ...]) -> Workspace:
    if not known:
        raise Problem(
            problem.NOT_FOUND,
            "There is no workspace yet; make one: svc workspaces create --name NAME --plan PLAN",
        )
    if len(known) > 1:
        raise _ambiguous(known)
    return known[0]


def _ambiguous(known: "tuple[Workspace, ...] | list[Workspace]") -> Problem:
    shown = ", ".join(f"{one.id} ({one.name})" for one in known[:10])
    return Problem(problem.VALIDATION_FAILED, f"/workspace: say which one: {shown}")


async def tenant(service: Service, given: str | None) -> str:
    """The tenant of a workspace, or of the person whose id is given.

    Raises:
        Problem: as `workspace`.
    """

    async def find(ctx: Context) -> str:
        people = await accounts.list_users(ctx) if given and given.startswith("usr_") else ()
        if any(person.id == given for person in people):
            return str(given)
        return (await workspace(ctx, given)).id

    return await service.read(SYSTEM, find)


async def owner(
    service: Service, collection: Collection[T], id_: str, given: str | None = None
) -> str:
    """The tenant that has the row `id_`, looked for in `given` or everywhere.

    Raises:
        Problem: NOT_FOUND.
    """
    for candidate in [await tenant(service, given)] if given else await _tenants(service):
        if await service.read(candidate, lambda ctx: _get(ctx, collection, id_)) is not None:
            return candidate
    raise Problem(problem.NOT_FOUND, f"There is no {collection.kind or collection.name} {id_}.")


async def _get(ctx: Context, collection: Collection[T], id_: str) -> Document[T] | None:
    return await ctx.tx.documents.get(collection, id_)


async def _tenants(service: Service) -> list[str]:
    async def find(ctx: Context) -> list[str]:
        workspaces = await accounts.list_workspaces(ctx)
        people = await accounts.list_users(ctx)
        return [*(one.id for one in workspaces), *(one.id for one in people)]

    return await service.read(SYSTEM, find)
