"""`svc openapi`, `svc version`, `svc completion`: print what the program says of itself."""

import platform
import sqlite3
import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from svc_http.run.cli import show
from svc_http.run.cli.options import ANSWER, AnswerOptions, load_settings


def openapi_command(
    *,
    flat: Annotated[
        bool, Parameter(negative=(), help="One origin and full paths, for SDK generators.")
    ] = False,
    config: Annotated[str | None, Parameter(help="The settings file.")] = None,
    answer: AnswerOptions = ANSWER,  # noqa: ARG001 - it is JSON either way
) -> None:
    """Print the OpenAPI 3.1 document.

    It describes a server with these settings, as JSON with and without --json.
    """
    from svc_core import catalog  # noqa: PLC0415 - help is shown without it
    from svc_http.pages import service_documents as pages  # noqa: PLC0415
    from svc_http.service.runtime import application  # noqa: PLC0415

    settings = load_settings(config, {})
    show.as_json(
        pages.openapi_bytes(
            application.offered_operations(catalog.OPERATIONS, settings), settings, flat=flat
        )
    )


def completion_command(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="The shell to print it for.")],
    /,
) -> None:
    """Print the script by which a shell completes commands and options.

    Write it to where your shell looks for such scripts, again after an update: for bash to
    ~/.local/share/bash-completion/completions/svc, for zsh to a file _svc in a folder of fpath, for
    fish to ~/.config/fish/completions/svc.fish.
    """
    from svc_http.run.cli.app import command_tree  # noqa: PLC0415 - of all commands: takes seconds

    sys.stdout.write(command_tree().generate_completion(prog_name="svc", shell=shell))


def version_command(*, answer: AnswerOptions = ANSWER) -> None:
    """Print the versions of svc, Python and SQLite."""
    from svc_http.version import service_version  # noqa: PLC0415 - help is shown without it

    versions = {
        "version": service_version(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }
    (show.as_json if answer.json else show.outline)(versions)
