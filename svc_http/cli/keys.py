"""`svc keys`."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from svc_http.cli import moments, show
from svc_http.cli.options import Common
from svc_http.cli.reach import call

app = App(name="keys", help="API keys: the secret is shown once, when it is created.")

KeyId = Annotated[str, Parameter(help="The id of the key, key_...")]
Scopes = Annotated[
    tuple[str, ...],
    Parameter(name="--scope", negative=(), help="A scope; repeatable. Default: every scope."),
]
Addresses = Annotated[
    tuple[str, ...],
    Parameter(name="--address", negative=(), help="An IP address it may call from; repeatable."),
]
COLUMNS = ("id", "name", "prefix", "status", "plan", "workspaceId", "expiresAt")


@app.command
def create(
    *,
    name: Annotated[str, Parameter(help="Display name; unique in its workspace.")],
    workspace: Annotated[
        str | None,
        Parameter(help="Id or name; needed only if there are several. An empty store gets one."),
    ] = None,
    scope: Scopes = (),
    plan: Annotated[
        str | None, Parameter(help="Its plan; a workspace on that plan is created if needed.")
    ] = None,
    address: Addresses = (),
    expires: Annotated[
        str | None, Parameter(help="RFC 3339, or from now: 90m, 24h, 30d. Default: never.")
    ] = None,
    per_minute: Annotated[int | None, Parameter(help="Fewer requests than the plan's.")] = None,
    per_day: Annotated[int | None, Parameter(help="Fewer requests than the plan's.")] = None,
    personal: Annotated[
        bool, Parameter(negative=(), help="A user's own key, bound to no workspace.")
    ] = False,
    user: Annotated[
        str | None, Parameter(help="Whose key it is, usr_... Default: the workspace's owner.")
    ] = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Create a key and print its secret, which cannot be shown again."""
    asked = {
        "name": name,
        "workspace": workspace,
        "scopes": list(scope),
        "plan": plan,
        "addresses": list(address),
        "expiresAt": moments.instant(expires, "--expires"),
        "perMinute": per_minute,
        "perDay": per_day,
        "personal": personal,
        "user": user,
    }
    _issued(call(common, "keys create", asked), common)


@app.command(name="list")
def list_(
    *,
    workspace: Annotated[str | None, Parameter(help="Only this one's keys; id or name.")] = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """List the keys, newest first, without their secrets."""
    found: Any = call(common, "keys list", {"workspace": workspace})
    if common.json:
        show.as_json(found)
        return
    show.table(found, COLUMNS, "No keys yet. Make one: svc keys create --name NAME")


@app.command(name="show")
def show_(
    key_id: KeyId,
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Show one key without its secret."""
    _one(call(common, "keys show", {"keyId": key_id}), common)


@app.command
def revoke(
    key_id: KeyId,
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Revoke a key at once; its record stays. Safe to repeat."""
    _one(call(common, "keys revoke", {"keyId": key_id}), common)


@app.command
def grandfather(
    key_id: KeyId,
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Let a key go on calling under a plan that admits no new keys, such as Lite. Safe to repeat.

    For keys that an earlier system gave out under that plan. Moving a workspace to such a plan
    makes its other keys ineligible: they stay listed, and their requests are answered 403.
    """
    _one(call(common, "keys grandfather", {"keyId": key_id}), common)


@app.command
def regenerate(
    key_id: KeyId,
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Give a key a new secret and print it; the old one stops working at once."""
    _issued(call(common, "keys regenerate", {"keyId": key_id}), common)


@app.command
def delete(
    key_id: KeyId,
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Delete a key and its record for good."""
    gone: Any = call(common, "keys delete", {"keyId": key_id})
    if common.json:
        show.as_json(gone)
        return
    show.lines(f"Deleted {gone['id']} ({gone['name']}).")


def _issued(made: Any, common: Common) -> None:
    if common.json:
        show.as_json(made)
        return
    show.members(made)
    show.lines("", "Keep the key now: it is not shown again.")


def _one(found: Any, common: Common) -> None:
    if common.json:
        show.as_json(found)
        return
    show.members(found)
