"""`svc mcp`: serves the tools over stdin and stdout to an MCP client that starts this process."""

from signal import SIG_DFL, SIGINT, signal

import anyio

from svc_http.run.cli import remote
from svc_http.run.cli.options import COMMON, Common, Workspace


def mcp_command(
    *,
    url: remote.Url = None,
    workspace: Workspace = None,
    common: Common = COMMON,
) -> None:
    """Serve the tools to a language model, over stdio.

    They are tools of the Model Context Protocol (MCP), which read a workspace of this machine or,
    with --url, whatever the key in SVC_KEY may read. It runs until its stdin is closed, and needs
    the extra `mcp`.
    """
    from svc_http.run.cli import tool_callers as callers  # noqa: PLC0415 - of an extra

    signal(SIGINT, SIG_DFL)  # what waits for stdin ends with nothing less
    if url is None:
        anyio.run(callers.serve_stdio, callers.OperatorCaller(common, workspace))
        return
    with remote.client(url) as client:
        anyio.run(callers.serve_stdio, callers.RemoteCaller(client))
