"""`svc db`: shows, migrates, copies, backs up and restores the database; checks and renews it."""

import asyncio
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from svc_http.run.cli import show
from svc_http.run.cli.exit_codes import REFUSED, UsageError, tell
from svc_http.run.cli.options import ANSWER, COMMON, AnswerOptions, Common, Config, load_settings
from svc_http.settings_text import DATABASE, without_secret

if TYPE_CHECKING:
    from svc_http.stores.copies import CopyReport

app = App(name="db", help="Check, migrate, copy, back up and restore the database.")


@app.command
def _status(*, common: Common = COMMON) -> None:
    """Show which migrations were applied and which are pending, and what takes room.

    Rows are counted. Bytes are an estimate from the first hundred rows, without indexes and
    compression. `expired` are rows older than the settings keep them, which go within ten minutes
    while a server or worker runs.
    """
    from svc_http.service import database_maintenance as care  # noqa: PLC0415 - help is shown without it

    db = _db(common)
    members, rows = database_status(db), list[dict[str, Any]]()
    if members["exists"] and members["applied"] and not members["pending"]:
        rows = asyncio.run(care.room_of(common.settings(), db))
    if common.json:
        show.as_json(members | {"room": rows})
        return
    pending = ", ".join(members["pending"]) or "none"
    show.outline(members | {"applied": len(members["applied"]), "pending": pending})
    if rows:
        show.print_table(rows, ("part", "rows", "bytes", "expired"), "")


@app.command
def _migrate(
    *,
    dry_run: Annotated[
        bool, Parameter(negative=(), help="Only print what would be done; exit 1 if anything.")
    ] = False,
    common: Common = COMMON,
) -> int:
    """Bring the database up to date with this version; the server also does so when it starts.

    A file must not be in use. PostgreSQL is migrated while servers run; what this version does not
    need any more is dropped, so end the servers of earlier versions first.
    """
    from svc_http.service import database_maintenance as care  # noqa: PLC0415 - help is shown without it

    db = _db(common)
    if dry_run:
        members = database_status(db)
        _print_steps(common, members["db"], members["pending"])
        return REFUSED if members["pending"] else 0
    if not (care.is_address(db) or Path(db).parent.is_dir()):
        return tell(f"there is no folder {Path(db).parent}; choose another file with --db", REFUSED)
    steps = asyncio.run(care.migrate_database(db))
    _print_steps(common, without_secret(db), [step.step for step in steps])
    return 0


@app.command
def _copy(
    source: Annotated[str, Parameter(help="The database to copy: a file, or postgresql://...")],
    target: Annotated[str, Parameter(help="The database to fill; it must be empty or not there.")],
    *,
    config: Config = None,
    answer: AnswerOptions = ANSWER,
) -> None:
    """Copy all of a database into another one, which may be of the other backend.

    Ids, versions, the change feed with its watermarks, kept answers and ledgers stay as they are.
    Both sides are counted and compared, and the seals of every ledger are recomputed from the copy.
    It needs the secret of the source, and that no server uses a file. A copy that was interrupted
    starts again from the beginning.
    """
    from svc_http.service import database_maintenance as care  # noqa: PLC0415 - help is shown without it

    settings = load_settings(config, {})
    with show.bar("db copy") as news:
        copies = asyncio.run(care.copy_database(settings, source, target, news))
    media = care.media_setting_of_copy(settings, source, target)
    members = {
        "source": without_secret(source),
        "target": without_secret(target),
        **_comparison(copies),
        "media": media,
    }
    if answer.json:
        show.as_json(members)
        return
    show.outline({"source": members["source"], "target": members["target"]})
    show.print_lines("")
    show.print_table(
        members["rows"], ("part", "tenant", "source", "target"), "There is nothing in it."
    )
    show.print_lines(
        "", f"Ledgers whose seals lead to the root of their head: {len(copies.ledgers)}, all."
    )
    if media is not None:
        show.print_lines(
            f"Audio files are in the copy, not beside it: set SVC_MEDIA={media} for it."
        )


@app.command
def _backup(
    target: Annotated[Path, Parameter(help="The file to create; it must not exist.")],
    *,
    common: Common = COMMON,
) -> None:
    """Copy the database as it is now into a file, even while a server uses it."""
    from svc_http.service import database_maintenance as care  # noqa: PLC0415 - help is shown without it

    db = _db(common)
    with show.bar("db backup") as news:
        asyncio.run(care.backup_database(db, target, news))
    elsewhere = common.settings().media
    if elsewhere == DATABASE:
        elsewhere = None
    size = target.stat().st_size
    members = {"db": without_secret(db), "backup": str(target), "sizeBytes": size}
    _print(common, {**members, "notCopied": elsewhere})
    if elsewhere is not None and not common.json:
        show.print_lines("", f"The audio files are not in it; copy {elsewhere} after it.")


@app.command
def _restore(
    source: Annotated[Path, Parameter(help="The backup to restore.")],
    *,
    common: Common = COMMON,
) -> None:
    """Replace the database with a backup; the file that was there is set aside.

    A PostgreSQL database must be empty. Consumers of the change feed are told to start over.
    """
    from svc_http.service import database_maintenance as care  # noqa: PLC0415 - help is shown without it

    db, media = _own(common), common.settings().media
    with show.bar("db restore") as news:
        aside = asyncio.run(care.restore_database(source, db, news, media=media))
    members = {"db": without_secret(db), "restored": str(source)}
    _print(common, {**members, "setAside": aside and str(aside)})


@app.command
def _check(*, common: Common = COMMON) -> int:
    """Read everything that is stored, and say which collection is damaged; exit 1 if one is.

    Servers may go on meanwhile. The seals of ledgers are checked by `svc ledger fsck`. Damage is
    mended by restoring a backup: svc db restore.
    """
    from svc_http.service import database_maintenance as care  # noqa: PLC0415 - help is shown without it

    db = _db(common)
    with show.bar("db check") as news:
        faults = asyncio.run(care.check_database(db, news))
    if common.json:
        show.as_json({"db": without_secret(db), "ok": not faults, "faults": faults})
    else:
        rows = [{"part": part, "fault": fault} for part, fault in faults.items()]
        show.print_table(rows, ("part", "fault"), f"{without_secret(db)} can be read whole.")
    return REFUSED if faults else 0


@app.command
def _renew_epoch(
    *,
    confirm: Annotated[
        str, Parameter(help="The word `renew`, to say that it is meant.", show_default=False)
    ] = "",
    common: Common = COMMON,
) -> int:
    """Have every consumer of the change feed start over, after an older state was put back.

    The service does so by itself when it notices another timeline, cluster or file, or a missing
    change. It cannot notice when everything that remembers was put back together with the database,
    as by a snapshot of the whole machine. Consumers get WATERMARK_GONE and read all rows again.
    Ledgers may be signed behind checkpoints that were signed before. A SQLite file must not be in
    use; PostgreSQL may be, and its servers are restarted afterwards.
    """
    from svc_http.service import database_maintenance as care  # noqa: PLC0415 - help is shown without it

    if confirm != "renew":
        raise UsageError("add --confirm renew: every consumer of the change feed will start over")
    asyncio.run(care.renew_epoch(common.settings()))
    _print(common, {"db": common.settings().shown_db, "epoch": "renewed"})
    return 0


def _print_steps(common: Common, db: str, steps: list[str]) -> None:
    _print(common, {"db": db, "steps": steps if steps or common.json else "none"})


def _print(common: Common, members: dict[str, Any]) -> None:
    (show.as_json if common.json else show.outline)(members)


def _db(common: Common) -> str:
    """The database of the settings, or the file of the server that was named, beside its socket."""
    server = common.named_server()
    if server is None:
        return _own(common)
    beside = Path(server.removeprefix("unix:"))
    if not beside.name.endswith(".sock") or not beside.with_suffix("").exists():
        raise UsageError("the file of that server is not beside its socket; name it with --db")
    return str(beside.with_suffix(""))


def _own(common: Common) -> str:
    settings = common.settings()
    return settings.dsn or str(Path(settings.db).absolute())


def database_status(db: str) -> dict[str, Any]:
    """The state of a database, also while servers use it."""
    from svc_http.service import database_maintenance as care  # noqa: PLC0415 - help is shown without it

    steps = asyncio.run(care.migration_status(db))
    return {
        "db": without_secret(db),
        "exists": care.is_address(db) or Path(db).exists(),
        "applied": [{"number": step.number, "step": step.step} for step in steps.applied],
        "pending": list(steps.pending),
    }


def _comparison(copies: "CopyReport") -> dict[str, Any]:
    """The rows of every tenant in every part, on both sides, and every ledger."""
    source_counts, target_counts = copies.source.counts, copies.target.counts
    return {
        "rows": [
            {
                "part": place[0],
                "tenant": place[1],
                "source": source_counts[place],
                "target": target_counts[place],
            }
            for place in source_counts
        ],
        "ledgers": [
            {"tenant": tenant, "size": head.size, "rootHash": b64encode(head.root).decode()}
            for tenant, head in copies.ledgers.items()
        ],
    }
