"""`svc changes tail`: every change once, from a position that outlives this process."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from svc_http.cli.failures import REFUSED, Usage, tell
from svc_http.cli.options import Common, Workspace
from svc_http.cli.reach import call

PAGE_ROWS = 500
"""Rows of one page: what is repeated at most when this process is killed."""

FOLLOW_SECONDS = 1.0
"""How often the end of the feed is looked at again."""


def changes(
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
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Print every change after a position, one JSON object per line."""
    mark = _kept(state) or after
    _check(state)
    while True:
        asked = {"after": mark, "limit": PAGE_ROWS, "workspace": workspace}
        page: Any = call(common, "changes list", asked)
        failed = _hand_on(page["data"], exec_)
        if failed:
            return tell(f"--exec failed with {failed}; its page will come again", REFUSED)
        mark = page["watermark"]
        _keep(state, page["watermark"])
        if page["more"]:
            continue
        if not follow:
            return 0
        time.sleep(FOLLOW_SECONDS)


def _kept(state: Path | None) -> str | None:
    if state is None or not state.exists():
        return None
    try:
        return state.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as refused:
        raise Usage(f"{state} holds no position: {refused}") from refused


def _check(state: Path | None) -> None:
    """Refuse a place that takes no position before any page is handed on."""
    if state is not None:
        try:
            _fresh(state).touch()
            _fresh(state).unlink()
        except OSError as refused:
            raise _unkept(state, refused) from refused


def _fresh(state: Path) -> Path:
    return state.with_name(f"{state.name}.new")


def _unkept(state: Path, refused: OSError) -> Usage:
    return Usage(f"the position cannot be kept in {state}: {refused.strerror}")


def _keep(state: Path | None, mark: str) -> None:
    """Put the position on disk whole or not at all."""
    if state is None:
        return
    fresh = _fresh(state)
    folder = None
    try:
        with fresh.open("w", encoding="ascii") as file:
            file.write(f"{mark}\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(state)
        folder = os.open(state.parent, os.O_RDONLY)
        os.fsync(folder)  # else a power cut may bring the position of before back
    except OSError as refused:
        raise _unkept(state, refused) from refused
    finally:
        if folder is not None:
            os.close(folder)


def _hand_on(rows: list[Any], command: str | None) -> int:
    """Give a page away; not 0 when the command that took it failed."""
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    if command is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return 0
    if not rows:
        return 0
    # The command is the operator's own, as in a shell.
    return subprocess.run(command, shell=True, input=text.encode(), check=False).returncode  # noqa: S602
