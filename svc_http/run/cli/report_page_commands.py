"""`svc reports open`: prints the address of a report's page and opens it in a browser."""

import sys
import webbrowser
from typing import Annotated

from cyclopts import Parameter

from svc_http.run.cli import show
from svc_http.run.cli import typed_instants as moments
from svc_http.run.cli.exit_codes import UsageError
from svc_http.run.cli.operation_calls import call, server_address
from svc_http.run.cli.options import COMMON, Common, Workspace
from svc_http.run.control import channel
from svc_http.run.control.channel import OperationRefused


def open_report_command(
    report_id: Annotated[str, Parameter(help="The report.")],
    /,
    *,
    lasts: Annotated[
        str, Parameter(help="How long the address opens it, such as 1h; at most 30d.")
    ] = "24h",
    workspace: Workspace = None,
    common: Common = COMMON,
) -> None:
    """Print an address that opens the page of a report without a key; at a terminal, open it.

    Whoever has the address can read that report until the address expires. With --json it is made
    for a server that starts later, too.
    """
    try:
        body = {"reportId": report_id, "lastsSeconds": moments.seconds(lasts)}
    except ValueError as wrong:
        raise UsageError(f"--lasts: {wrong}") from wrong
    try:
        opening = call(common, "openReport", body=body, account=workspace)
    except OperationRefused as refusal:
        raise refusal.saying(str(refusal).replace("/lastsSeconds:", "--lasts:")) from refusal
    if common.json:
        show.as_json(opening)
        return
    if not _is_served(common):
        raise channel.Unreachable("no server runs that could show it; start it: svc serve")
    show.print_lines(opening["url"])
    if sys.stdout.isatty():
        show.print_lines(f"It opens the report until {opening['expiresAt']}.")
        webbrowser.open(opening["url"])


def _is_served(common: Common) -> bool:
    """Whether somebody answers at the address, as far as that can be seen from here."""
    if common.named_server() is not None:
        return True
    settings = common.settings()
    return (
        settings.dsn is not None or server_address(channel.socket_path(settings.file)) is not None
    )
