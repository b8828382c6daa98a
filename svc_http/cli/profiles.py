"""`svc profiles`."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from svc_http.cli import show
from svc_http.cli.options import Common, Workspace
from svc_http.cli.reach import call

app = App(name="profiles", help="Profiles: the topics that a workspace watches.")

ProfileId = Annotated[str, Parameter(help="The id of the profile, prf_...")]


@app.command
def create(
    *,
    name: Annotated[str, Parameter(help="Display name.")],
    topic: Annotated[str, Parameter(help="What to watch, in your own words.")],
    frequency: Annotated[
        str, Parameter(help="hourly, daily, weekdays, weekly, monthly or manual.")
    ] = "manual",
    time: Annotated[str | None, Parameter(help="Local time of day, HH:MM.")] = None,
    day: Annotated[int | None, Parameter(help="1..7 for weekly, 1..28 for monthly.")] = None,
    timezone: Annotated[str | None, Parameter(help="IANA time zone. Default: UTC.")] = None,
    language: Annotated[str | None, Parameter(help="BCP 47 tag. Default: en.")] = None,
    keyword: Annotated[
        tuple[str, ...], Parameter(negative=(), help="A name or word that matters; repeatable.")
    ] = (),
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Create a profile with an active subscription."""
    wish = {
        "name": name,
        "topic": topic,
        "frequency": frequency,
        "scheduleTimeOfDay": time,
        "scheduleDay": day,
        "timezone": timezone,
        "language": language,
        "keywords": list(keyword),
    }
    given: Any = {member: value for member, value in wish.items() if value is not None}
    _one(call(common, "profiles create", {"profile": given, "workspace": workspace}), common)


@app.command(name="list")
def list_(
    *,
    workspace: Workspace = None,
    limit: Annotated[int, Parameter(help="Show at most this many.")] = 100,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """List profiles with their subscriptions, newest first."""
    found: Any = call(common, "profiles list", {"workspace": workspace, "limit": limit})
    if common.json:
        show.as_json(found)
        return
    columns = ("id", "name", "frequency", "status", "nextRunAt", "reportGeneratedAtISO")
    show.table(found, columns, "No profiles yet. Make one: svc profiles create --name N --topic T")


@app.command(name="show")
def show_(
    profile_id: ProfileId,
    *,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Show one profile."""
    _one(call(common, "profiles show", {"profileId": profile_id, "workspace": workspace}), common)


@app.command
def delete(
    profile_id: ProfileId,
    *,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Delete a profile with its subscription and its reports."""
    asked = {"profileId": profile_id, "workspace": workspace}
    gone: Any = call(common, "profiles delete", asked)
    if common.json:
        show.as_json(gone)
        return
    show.lines(f"Deleted {gone['id']}.")


def _one(found: Any, common: Common) -> None:
    if common.json:
        show.as_json(found)
        return
    show.members(found)
