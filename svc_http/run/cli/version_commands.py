"""`svc openapi` and `svc version`: print the OpenAPI document, and the versions in use."""

import platform
import sqlite3
from typing import Annotated

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


def version_command(*, answer: AnswerOptions = ANSWER) -> None:
    """Print the versions of svc, Python and SQLite."""
    from svc_http.version import service_version  # noqa: PLC0415 - help is shown without it

    versions = {
        "version": service_version(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }
    (show.as_json if answer.json else show.outline)(versions)
