"""`svc webhooks`."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from svc_http.cli import show
from svc_http.cli.options import Common, Workspace, WorkspaceOfId
from svc_http.cli.reach import call

app = App(name="webhooks", help="Webhooks: addresses that are notified of new reports.")
app.command(
    "svc_http.cli.listen:listen",
    name="listen",
    help="Receive deliveries on this machine: verify, print and forward them.\n\n"
    "For development: it registers a webhook that exists while this runs, with a server that runs "
    "on this machine and not in production.",
)

WebhookId = Annotated[str, Parameter(help="The id of the webhook, whk_...")]
COLUMNS = ("id", "url", "status", "consecutiveFailures", "lastDelivery.status", "lastDelivery.at")
DELIVERY_COLUMNS = ("eventId", "eventType", "subject", "status", "attempts", "updatedAt")


@app.command
def create(
    url: Annotated[str, Parameter(help="Where events are sent: https, or http to this machine.")],
    *,
    description: Annotated[str | None, Parameter(help="What it is for.")] = None,
    profile: Annotated[
        tuple[str, ...],
        Parameter(
            name="--profile", negative=(), help="Only reports of this profile, prf_...; repeatable."
        ),
    ] = (),
    secret: Annotated[
        str | None, Parameter(help="Your own, whsec_... Default: a new one, shown once.")
    ] = None,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Register an address and print the secret that signs its deliveries."""
    made: Any = call(common, "webhooks create", asked(url, description, profile, secret, workspace))
    _issued(made, common)


def asked(
    url: str,
    description: str | None,
    profiles: tuple[str, ...],
    secret: str | None,
    workspace: str | None,
) -> dict[str, Any]:
    """The arguments of the command that registers an address."""
    webhook = {"url": url, "description": description, "profileIds": list(profiles)}
    if secret is not None:
        webhook["secret"] = secret
    return {"webhook": webhook, "workspace": workspace}


@app.command(name="list")
def list_(
    *,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """List the webhooks, newest first, without their secrets."""
    found: Any = call(common, "webhooks list", {"workspace": workspace})
    if common.json:
        show.as_json(found)
        return
    show.table(found, COLUMNS, "No webhooks yet. Register one: svc webhooks create URL")


@app.command(name="show")
def show_(
    webhook_id: WebhookId,
    *,
    workspace: WorkspaceOfId = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Show one webhook without its secret."""
    _one(_call(common, "show", webhook_id, workspace), common)


@app.command
def delete(
    webhook_id: WebhookId,
    *,
    workspace: WorkspaceOfId = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Delete a webhook; what is still waiting for it is never sent."""
    gone = _call(common, "delete", webhook_id, workspace)
    if common.json:
        show.as_json(gone)
        return
    show.lines(f"Deleted {gone['id']}.")


@app.command
def enable(
    webhook_id: WebhookId,
    *,
    workspace: WorkspaceOfId = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Enable a disabled webhook again. Safe to repeat."""
    _one(_call(common, "enable", webhook_id, workspace), common)


@app.command(name="rotate-secret")
def rotate_secret(
    webhook_id: WebhookId,
    *,
    workspace: WorkspaceOfId = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Make a new secret and print it; the old one keeps signing beside it for a day."""
    _issued(_call(common, "rotate-secret", webhook_id, workspace), common)


@app.command(name="test")
def send_test(
    webhook_id: WebhookId,
    *,
    workspace: WorkspaceOfId = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Queue a test event, signed and counted like any other."""
    _queued(_call(common, "test", webhook_id, workspace), common)


@app.command
def deliveries(
    webhook_id: WebhookId,
    *,
    status: Annotated[
        tuple[str, ...],
        Parameter(
            name="--status",
            negative=(),
            help="pending, delivering, delivered, failed or skipped; repeatable.",
        ),
    ] = (),
    limit: Annotated[int, Parameter(help="Show at most this many.")] = 20,
    workspace: WorkspaceOfId = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """List what became of each event of the last 30 days, newest first."""
    given: dict[str, Any] = {
        "webhookId": webhook_id,
        "status": list(status),
        "limit": limit,
        "workspace": workspace,
    }
    found: Any = call(common, "webhooks deliveries", given)
    if common.json:
        show.as_json(found)
        return
    rows = [row | {"attempts": _attempts(row["attempts"])} for row in found]
    empty = "No deliveries yet. Send one: svc webhooks test WEBHOOK_ID"
    if status:
        empty = f"No deliveries that are {' or '.join(status)}."
    show.table(rows, DELIVERY_COLUMNS, empty)


def _attempts(attempts: Any) -> str:
    """How many there were and how the last one ended."""
    if not attempts:
        return "-"
    last = attempts[-1]
    return f"{last['number']}: {last['error'] or last['responseStatus'] or 'under way'}"


@app.command
def redeliver(
    webhook_id: WebhookId,
    event_id: Annotated[str, Parameter(help="The id of the event, evt_...")],
    *,
    workspace: WorkspaceOfId = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Send an event again: the same body under the same id, in a new attempt."""
    given = {"webhookId": webhook_id, "eventId": event_id, "workspace": workspace}
    _queued(call(common, "webhooks redeliver", given), common)


@app.command
def trigger(
    report_id: Annotated[
        str | None, Parameter(help="The id of the report, rpt_... Default: the newest.")
    ] = None,
    *,
    workspace: Annotated[
        str | None, Parameter(help="Id or name. Default: that of the report, else the only one.")
    ] = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Announce a report to every webhook that wants it, as if it had just been made."""
    given = {"reportId": report_id, "workspace": workspace}
    found: Any = call(common, "webhooks trigger", given)
    if common.json:
        show.as_json(found)
        return
    empty = "No enabled webhook of an active subscription wants this report."
    show.table(found["deliveries"], ("webhookId", "eventId"), empty)


def _call(common: Common, command: str, webhook_id: str, workspace: str | None) -> Any:
    given = {"webhookId": webhook_id, "workspace": workspace}
    return call(common, f"webhooks {command}", given)


def _one(found: Any, common: Common) -> None:
    if common.json:
        show.as_json(found)
        return
    show.members(found)


def _issued(made: Any, common: Common) -> None:
    _one(made, common)
    if not common.json and "secret" in made:
        show.lines("", "Keep the secret now: it is not shown again.")


def _queued(queued: Any, common: Common) -> None:
    if common.json:
        show.as_json(queued)
        return
    show.members({name: queued[name] for name in ("eventId", "webhookId", "status")})
    show.lines("", f"See how it went: svc webhooks deliveries {queued['webhookId']}")
