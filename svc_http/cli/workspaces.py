"""`svc workspaces`, `svc users` and `svc plans`."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from svc_http.cli import show
from svc_http.cli.options import Common
from svc_http.cli.reach import call

workspaces = App(name="workspaces", help="Workspaces: each has its own data, plan and quota.")
users = App(name="users", help="Users: they own workspaces and personal keys.")
plans = App(name="plans", help="Plans: how many keys, and how many requests they may make.")


@workspaces.command(name="create")
def create_workspace(
    *,
    name: Annotated[str, Parameter(help="Display name.")],
    plan: Annotated[str, Parameter(help="free, lite, pro or elite.")] = "elite",
    owner: Annotated[
        str | None, Parameter(help="An existing user, usr_... Default: a new one.")
    ] = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Create a workspace."""
    asked = {"name": name, "plan": plan, "owner": owner}
    _one(call(common, "workspaces create", asked), common)


@workspaces.command(name="list")
def list_workspaces(
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """List the workspaces, newest first."""
    found: Any = call(common, "workspaces list", {})
    if common.json:
        show.as_json(found)
        return
    empty = "No workspaces yet. Make one: svc workspaces create --name NAME --plan PLAN"
    show.table(found, ("id", "name", "plan", "createdAt"), empty)


@users.command(name="create")
def create_user(
    *,
    name: Annotated[str, Parameter(help="Display name.")],
    email: Annotated[str | None, Parameter(help="Email address; unique.")] = None,
    plan: Annotated[str, Parameter(help="The plan of the user's personal keys.")] = "free",
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Create a user."""
    asked = {"name": name, "email": email, "plan": plan}
    _one(call(common, "users create", asked), common)


@users.command(name="list")
def list_users(
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """List the users, newest first."""
    found: Any = call(common, "users list", {})
    if common.json:
        show.as_json(found)
        return
    empty = "Nobody yet. Make somebody: svc users create --name NAME"
    show.table(found, ("id", "name", "email", "plan", "createdAt"), empty)


@plans.command(name="show")
def show_plans(
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Show the plan table in force."""
    found: Any = call(common, "plans show", {})
    if common.json:
        show.as_json(found)
        return
    show.table(found, ("name", "newKeys", "keysMax", "perMinute", "perDay"), "")


@plans.command(name="set")
def set_plan(
    workspace: Annotated[str, Parameter(help="Id or name.")],
    plan: Annotated[str, Parameter(help="free, lite, pro or elite.")],
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Move a workspace to another plan; it takes effect at the next request."""
    _one(call(common, "plans set", {"workspace": workspace, "plan": plan}), common)


def _one(made: Any, common: Common) -> None:
    if common.json:
        show.as_json(made)
        return
    show.members(made)
