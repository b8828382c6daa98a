"""`svc changes tail`: prints every change once, and keeps its position in a file."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from svc_http.run.cli import show
from svc_http.run.cli.exit_codes import REFUSED, UsageError, tell
from svc_http.run.cli.files import content, write_whole
from svc_http.run.cli.operation_calls import perform_operation
from svc_http.run.cli.options import COMMON, Common, Workspace

PAGE_ROWS = 100
"""Rows of one page: what is repeated at most when this process is killed."""

MARK_BYTES_MAX = 4096
"""Of the file of a position, tens of times what one takes."""

FOLLOW_SECONDS = 1.0
"""How often the end of the feed is looked at again."""


def tail_command(
    *,
    after: Annotated[
        str | None, Parameter(name="--from", help="The watermark to continue from.")
    ] = None,
    state: Annotated[
        Path | None, Parameter(help="A file that keeps the position from run to run.")
    ] = None,
    exec_: Annotated[
        str | None,
        Parameter(name="--exec", help="A shell command that is given each page on its stdin."),
    ] = None,
    follow: Annotated[
        bool, Parameter(negative=(), help="Keep waiting for more at the end.")
    ] = False,
    workspace: Workspace = None,
    common: Common = COMMON,
) -> int:
    """Print every change after a position.

    One JSON object per line, with or without --json. With `--state` the position is saved after
    each page, so that a run that was killed repeats at most one page and misses none. `--exec` gets
    each page as lines of JSON on its stdin, and accepts it by exiting with 0.

    Exit codes: 0, the end of the feed was reached; 1, `--exec` failed and its page will come again,
    or the position belongs to another epoch of the feed (`WATERMARK_GONE`); 2, wrong usage or an
    unusable file for `--state`; 3, the named server does not answer; 130, ended by Ctrl-C.
    """
    mark = after
    if state is not None:
        mark = _position(state) or after
    while True:
        query = {"limit": str(PAGE_ROWS)} | ({} if mark is None else {"after": mark})
        page = perform_operation(common, "listChanges", query=query, account=workspace)["body"]
        exit_code = _hand_on(page["data"], exec_)
        if exit_code:
            return tell(f"--exec failed with {exit_code}; its page will come again", REFUSED)
        mark = page["meta"]["watermark"]
        if state is not None:
            write_whole(state, [f"{mark}\n".encode()])
        if not page["links"]["next"]:
            if not follow:
                return 0
            time.sleep(FOLLOW_SECONDS)


def _position(state: Path) -> str:
    """The position that the file keeps.

    Raises:
        UsageError: it can keep none.
    """
    try:
        is_there = state.exists()
        if state.is_dir() or state.is_fifo():
            raise OSError
        if not os.access(state if is_there else state.parent, os.R_OK | os.W_OK):
            raise OSError
    except OSError as error:
        detail = f"the position cannot be kept in {state}: it cannot be read and written"
        raise UsageError(detail) from error
    read = content(str(state), MARK_BYTES_MAX) if is_there else b""
    return read.decode("utf-8", "replace").strip()


def _hand_on(rows: list[Any], command: str | None) -> int:
    """Print a page or pipe it to the command; its exit code, which is not 0 when it failed."""
    text = "".join(f"{show.json_text(row)}\n" for row in rows)
    if command is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    if command is None or not rows:
        return 0
    # The command is the operator's own, as in a shell.
    return subprocess.run(command, shell=True, input=text.encode(), check=False).returncode  # noqa: S602
