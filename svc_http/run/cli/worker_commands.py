"""`svc worker`: runs the background workers without a server."""

import os
import sys
from typing import Annotated

import attrs
from cyclopts import Parameter

from svc_http.run.cli import show
from svc_http.run.cli.exit_codes import UsageError
from svc_http.run.cli.options import AnswerOptions, Config, load_settings
from svc_http.settings import MEMORY, WORKERS, Settings


@Parameter(name="*")
@attrs.frozen
class WorkerOptions(AnswerOptions):
    """The options that choose the workers and their store."""

    only: Annotated[
        str | None,
        Parameter(
            name="--only",
            help=f"Some of {', '.join(WORKERS)}, separated by commas. Default: all of them, "
            "whatever SVC_WORKERS says of servers.",
        ),
    ] = None
    db: Annotated[
        str | None,
        Parameter(name="--db", help="postgresql://..., or a SQLite file. Also SVC_DB."),
    ] = None
    config: Config = None


def worker_command(*, options: WorkerOptions = WorkerOptions()) -> None:
    """Run the background workers, without a server.

    Any number of them share a PostgreSQL database with any number of servers. After Ctrl-C or
    SIGTERM a worker starts nothing more, and finishes its work or gives it back within
    graceful_seconds.
    """
    from svc_http.run.server import worker as working  # noqa: PLC0415 - help is shown without it

    def read() -> Settings:
        return load_settings(options.config, {"db": options.db, "workers": options.only or "all"})

    settings = read()
    if settings.db == MEMORY:
        raise UsageError("a store in memory is its server's alone; name a database with --db")

    def ready() -> None:
        names = [name for name in WORKERS if settings.runs(name)]
        members = {"workers": names, "db": settings.shown_db, "pid": os.getpid()}
        (show.as_json if options.json else show.outline)(members)
        sys.stdout.flush()

    working.run_workers(settings, ready, read)
