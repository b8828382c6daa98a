"""The commands for workspaces, people and plans (Spec: Plans)."""

from typing import Any

from attrs import frozen

from svc_core import accounts, wire
from svc_core.operation import Context
from svc_core.ports import SYSTEM
from svc_core.wire import Json
from svc_http.commands import accounts as finding
from svc_http.commands.command import short, table
from svc_http.commands.keys import DEFAULT_PLAN
from svc_http.runtime.service import Service


@frozen
class CreateWorkspace:
    """A new workspace; without `owner`, a person is made to own it."""

    name: str
    plan: str = DEFAULT_PLAN
    owner: str | None = None


@frozen
class CreateUser:
    """A new person; the plan is that of their personal keys."""

    name: str
    email: str | None = None
    plan: str = "free"


@frozen
class SetPlan:
    """A workspace, by id or name, and the plan it goes to."""

    workspace: str
    plan: str


@frozen
class Nothing:
    """No arguments."""


async def create_workspace(service: Service, args: CreateWorkspace) -> Json:
    """Make a workspace."""

    async def unit(ctx: Context) -> Json:
        made = await accounts.create_workspace(
            ctx, name=args.name, plan=args.plan, plans=service.plans, owner=args.owner
        )
        return {"id": made.id, "name": made.name, "plan": made.plan}

    return await service.system(unit)


async def list_workspaces(service: Service, _: Nothing) -> Json:
    """The workspaces, newest first."""
    return [_row(one) for one in await service.read(SYSTEM, accounts.list_workspaces)]


async def create_user(service: Service, args: CreateUser) -> Json:
    """Make a person."""
    return _row(
        await service.system(
            lambda ctx: accounts.create_user(
                ctx, name=args.name, plans=service.plans, email=args.email, plan=args.plan
            )
        )
    )


async def list_users(service: Service, _: Nothing) -> Json:
    """The people, newest first."""
    return [_row(one) for one in await service.read(SYSTEM, accounts.list_users)]


async def show_plans(service: Service, _: Nothing) -> Json:
    """The plan table that the service follows."""
    return [_row(plan) for plan in service.plans.plans.values()]


async def set_plan(service: Service, args: SetPlan) -> Json:
    """Move a workspace to another plan; its keys feel it at their next request."""

    async def unit(ctx: Context) -> Json:
        home = await finding.workspace(ctx, args.workspace)
        moved = await accounts.set_plan(ctx, home.id, args.plan, service.plans)
        return {"id": moved.id, "name": moved.name, "plan": moved.plan}

    return await service.system(unit)


def _row(value: Any) -> Json:
    return wire.to_json(value)


COMMANDS = table(
    short("workspaces create", CreateWorkspace, create_workspace, founds=True),
    short("workspaces list", Nothing, list_workspaces),
    short("users create", CreateUser, create_user, founds=True),
    short("users list", Nothing, list_users),
    short("plans show", Nothing, show_plans),
    short("plans set", SetPlan, set_plan),
)
