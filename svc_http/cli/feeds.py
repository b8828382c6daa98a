"""`svc feeds`."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from svc_http.cli import moments, show
from svc_http.cli.failures import REFUSED
from svc_http.cli.options import Common
from svc_http.cli.reach import call

app = App(name="feeds", help="News sources: RSS, Atom and JSON feeds, by address or as files.")

Where = Annotated[
    tuple[str, ...],
    Parameter(help="An http(s) address, a file, or a folder whose files are all added."),
]


@app.command
def add(
    location: Where,
    /,
    *,
    name: Annotated[str | None, Parameter(help="Display name, when adding one source.")] = None,
    topic: Annotated[
        tuple[str, ...],
        Parameter(negative=(), help="A topic that all its items belong to; repeatable."),
    ] = (),
    every: Annotated[
        str | None, Parameter(help="How often it is read: 15m, 24h, 7d, or a number of seconds.")
    ] = None,
    pull: Annotated[bool, Parameter(help="Read them at once.")] = True,
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Add sources and read them; a running server then reads them again at their own intervals.

    When none of them could be read, they are added all the same, and the exit code is 1.
    """
    asked = {
        "locations": [_meant(text) for text in location],
        "name": name,
        "topics": list(topic) or None,
        "cadenceSeconds": moments.seconds(every, "--every"),
        "pull": pull,
    }
    added: Any = call(common, "feeds add", asked)
    if common.json:
        show.as_json(added)
    else:
        columns = ("id", "name", "health.status", "health.itemsLastRun", "message")
        show.table(_told(added), columns, "There are no files; no source was added.")
    is_vain = pull and added and all(one["health"]["status"] == "error" for one in added)
    return REFUSED if is_vain else 0


def _meant(text: str) -> str:
    """The path as the server understands it, which runs in another folder."""
    # An empty text, as from a variable that is not set, is not this folder.
    return text if "://" in text or not text.strip() else str(Path(text).absolute())


def _told(sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The sources by name, with what went wrong; one never read has no name but its location."""
    return [
        source | {"name": source["name"] or source["location"], "message": _message(source)}
        for source in sources
    ]


def _message(source: dict[str, Any]) -> str | None:
    """Why the last run failed, else how many rows it refused for what reason."""
    health = source["health"]
    if health["error"] is not None:
        return str(health["error"]["message"])
    refused = [f"{one['reason']} {one['count']}" for one in health["rejections"]]
    return f"rows refused: {', '.join(refused)}" if refused else None


@app.command
def pull(
    source_id: Annotated[tuple[str, ...], Parameter(help="Only these, src_...")] = (),
    /,
    *,
    all_: Annotated[
        bool, Parameter(name="--all", negative=(), help="Every source, due or not.")
    ] = False,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Read the sources that are due."""
    done: Any = call(common, "feeds pull", {"sourceIds": list(source_id), "all": all_})
    if common.json:
        show.as_json(done)
        return
    failed = [row for row in done["outcomes"] if row["status"] == "failed"]
    show.lines(
        f"{done['sources']} sources: {done['created']} new items, {done['updated']} changed, "
        f"{done['failed']} sources failed."
    )
    if failed:
        show.table(failed, ("id", "location", "error.code", "error.message"), "")


@app.command
def remove(
    source_id: Annotated[tuple[str, ...], Parameter(help="The sources, src_...")],
    /,
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Stop reading sources; the items already read from them stay."""
    gone: Any = call(common, "feeds remove", {"sourceIds": list(source_id)})
    if common.json:
        show.as_json(gone)
        return
    show.lines(
        *(f"Removed {one['id']} ({one['name'] or one['location']})." for one in gone),
        "The items that were taken in stay.",
    )


@app.command
def status(
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Show how every source is doing."""
    found: Any = call(common, "feeds status", {})
    if common.json:
        show.as_json(found)
        return
    columns = (
        "id",
        "name",
        "health.status",
        "health.itemsLastRun",
        "health.lastSuccessAt",
        "message",
    )
    show.table(_told(found), columns, "No sources yet. Add some: svc feeds add PATH-OR-URL")
