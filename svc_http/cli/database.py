"""`svc db`: the file itself, whether or not a server uses it."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from svc_http.cli import show
from svc_http.cli.failures import REFUSED, Usage, tell
from svc_http.cli.options import Common
from svc_http.settings_text import DATABASE

app = App(name="db", help="The database file and its migrations.")


@app.command
def status(
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Show which migrations were applied and which are pending."""
    found = describe(_file(common))
    if not common.json:
        pending = ", ".join(found["pending"]) or "none"
        found |= {"applied": len(found["applied"]), "pending": pending}
    _print(common, found)


@app.command
def migrate(
    *,
    dry_run: Annotated[
        bool, Parameter(negative=(), help="Only print what would be done; exit 1 if anything.")
    ] = False,
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Bring the file up to date with this version; the server also does so when it starts."""
    from svc_core import catalog, cursor  # noqa: PLC0415 - help is shown without it
    from svc_http import system  # noqa: PLC0415
    from svc_http.storage.sqlite import migrate as take  # noqa: PLC0415

    path = _file(common)
    if dry_run:
        pending = describe(path)["pending"]
        _print(common, {"db": str(path), "steps": pending})
        return REFUSED if pending else 0
    if not path.parent.is_dir():
        return tell(f"there is no folder {path.parent}; choose another file with --db", REFUSED)
    epoch = system.SystemIds().random(cursor.EPOCH_BYTES)
    taken = take(path, catalog.COLLECTIONS, epoch=epoch)
    _print(common, {"db": str(path), "steps": [step.step for step in taken]})
    return 0


@app.command
def backup(
    target: Annotated[Path, Parameter(help="The file to create; it must not exist.")],
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Copy the database as it is now, even while a server uses it."""
    from svc_http.storage import snapshots  # noqa: PLC0415 - help is shown without it

    source = _file(common)
    snapshots.backup(source, target)
    elsewhere = common.settings().media
    if elsewhere == DATABASE:
        elsewhere = None
    size = target.stat().st_size
    found = {"db": str(source), "backup": str(target), "sizeBytes": size, "notCopied": elsewhere}
    _print(common, found)
    if elsewhere is not None and not common.json:
        show.lines("", f"The audio files are not in it; copy {elsewhere} after it.")


@app.command
def restore(
    source: Annotated[Path, Parameter(help="The backup to restore.")],
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Replace the database with a backup; the file that was there is set aside.

    Consumers of the change feed are told to start over.
    """
    from svc_http.storage import snapshots  # noqa: PLC0415 - help is shown without it

    target = Path(common.settings().db).absolute()
    aside = snapshots.restore(source, target)
    _print(common, {"db": str(target), "restored": str(source), "setAside": aside and str(aside)})


def _print(common: Common, found: dict[str, Any]) -> None:
    (show.as_json if common.json else show.outline)(found)


def _file(common: Common) -> Path:
    """The file of the settings, or of the server that was named, whose socket stands beside it."""
    named = common.named_server()
    if named is None:
        return Path(common.settings().db).absolute()
    beside = Path(named.removeprefix("unix:"))
    if not beside.name.endswith(".sock") or not beside.with_suffix("").exists():
        raise Usage("the file of that server is not beside its socket; name it with --db")
    return beside.with_suffix("")


def describe(path: Path) -> dict[str, Any]:
    """The state of a file, also while a server uses it."""
    from svc_core import catalog  # noqa: PLC0415 - help is shown without it
    from svc_http.storage.sqlite import status as look  # noqa: PLC0415

    found = look(path, catalog.COLLECTIONS)
    return {
        "db": str(path),
        "exists": path.exists(),
        "applied": [{"number": step.number, "step": step.step} for step in found.applied],
        "pending": list(found.pending),
    }
