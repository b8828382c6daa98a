"""`svc changes`."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from svc_http.cli import show
from svc_http.cli.options import Common, Workspace
from svc_http.cli.reach import call

app = App(name="changes", help="The change feed of a workspace.")
app.command(
    "svc_http.cli.tail:changes",
    name="tail",
    help="Print every change after a position.\n\n"
    "One JSON object per line, with or without --json. With --state the position is kept after "
    "each page was handed on, so that a run that was killed repeats at most one page and misses "
    "none. --exec is given a page as lines of JSON on its stdin, and has taken it when it ends "
    "with 0.\n\n"
    "Exit codes: 0, the end of the feed was reached; 1, --exec failed and its page will come "
    "again, or the position is of another epoch of the feed (`WATERMARK_GONE`); 2, the command "
    "line or the file of --state cannot be used; 3, the server that was named does not answer; "
    "130, Ctrl-C.",
)


@app.command
def head(
    *,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Print the watermark after the newest change."""
    found: Any = call(common, "changes head", {"workspace": workspace})
    if common.json:
        show.as_json(found)
        return
    show.lines(found["watermark"])


@app.command(name="list")
def list_(
    *,
    after: Annotated[
        str | None, Parameter(help="The watermark to continue from. Default: the beginning.")
    ] = None,
    type_: Annotated[
        tuple[str, ...],
        Parameter(name="--type", negative=(), help="A resource type; repeatable."),
    ] = (),
    limit: Annotated[int, Parameter(help="Show at most this many.")] = 100,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Print one page of changes, and the watermark to continue from."""
    asked = {"after": after, "types": list(type_), "limit": limit, "workspace": workspace}
    found: Any = call(common, "changes list", asked)
    if common.json:
        show.as_json(found)
        return
    columns = ("occurredAt", "changeType", "resourceType", "resourceId", "version")
    show.table(found["data"], columns, "Nothing has changed since.")
    show.lines("", f"watermark  {found['watermark']}")
