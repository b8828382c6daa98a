"""`svc reports`."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from svc_http.cli import moments, show
from svc_http.cli.options import Common, Workspace, WorkspaceOfId
from svc_http.cli.reach import call

app = App(name="reports", help="Reports: made from stored evidence, every sentence cited.")


@app.command
def generate(
    profile_id: Annotated[str, Parameter(help="The id of the profile, prf_...")],
    *,
    start: Annotated[str | None, Parameter(help="RFC 3339: only items dated from then on.")] = None,
    end: Annotated[str | None, Parameter(help="RFC 3339: only items dated up to then.")] = None,
    workspace: WorkspaceOfId = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Make a report now, unless it would only repeat the newest one."""
    asked = {
        "profileId": profile_id,
        "start": moments.written(start, "--start"),
        "end": moments.written(end, "--end"),
        "workspace": workspace,
    }
    made: Any = call(common, "reports generate", asked)
    if common.json:
        show.as_json(made)
        return
    show.members({name: made[name] for name in ("id", "title", "period", "counts")})
    show.lines("", *_notes(made), f"Read it: svc reports show {made['id']}")


def _notes(made: Any) -> Iterator[str]:
    if not made["isNew"]:
        yield f"Nothing new: this report was made {made['generatedAt']}, and a new one repeats it."
    if not made["counts"]["sources"]:
        yield "No item of the period is about the profile's topic, and the report says so."


@app.command
def speak(
    report_id: Annotated[str, Parameter(help="The id of the report, rpt_...")],
    *,
    again: Annotated[
        bool, Parameter(negative=(), help="Replace existing audio, with the voice of now.")
    ] = False,
    workspace: WorkspaceOfId = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Make the audio of a report now, with the voice of the settings, unless it has some."""
    asked: dict[str, Any] = {"reportId": report_id, "again": again, "workspace": workspace}
    made: Any = call(common, "reports speak", asked)
    if common.json:
        show.as_json(made)
        return
    told = ("reportId", "mimeType", "sizeBytes", "durationSeconds", "voice", "createdAt")
    show.members({name: made[name] for name in told})
    if not made["isNew"]:
        show.lines("", "It already had this audio; --again makes it anew.")


@app.command(name="list")
def list_(
    *,
    profile: Annotated[str | None, Parameter(help="Only of this profile, prf_...")] = None,
    workspace: Workspace = None,
    limit: Annotated[int, Parameter(help="Show at most this many.")] = 20,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """List reports, newest first."""
    asked = {"profileId": profile, "workspace": workspace, "limit": limit}
    found: Any = call(common, "reports list", asked)
    if common.json:
        show.as_json(found)
        return
    empty = "No reports yet. Make one: svc reports generate PROFILE_ID"
    show.table(found, ("id", "title", "generatedAt", "counts.sources", "counts.signals"), empty)


@app.command(name="show")
def show_(
    report_id: Annotated[str, Parameter(help="The id of the report, rpt_...")],
    *,
    format: Annotated[
        Literal["md", "text", "json"] | None,
        Parameter(help="Markdown (the default), plain text, or every member as JSON."),
    ] = None,
    workspace: WorkspaceOfId = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Print one report."""
    form = format or ("json" if common.json else "md")
    asked = {"reportId": report_id, "format": form, "workspace": workspace}
    found: Any = call(common, "reports show", asked)
    if common.json or form == "json":
        show.as_json(found)
        return
    show.lines(found["text"].rstrip("\n"))
