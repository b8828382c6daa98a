"""Telling what went wrong: one line on stderr, and the exit code that goes with it."""

import json
import sqlite3
import sys
import traceback
from pathlib import Path
from typing import Any

REFUSED = 1
USAGE = 2
UNREACHABLE = 3
INTERRUPTED = 130  # as a shell reports a process that SIGINT ended


class Usage(Exception):  # noqa: N818 - said as what happened
    """The command line makes no sense; the message is one line with the way out."""


class Refusal(Exception):  # noqa: N818 - said as what happened
    """A command was refused; `problem` has the eight members (Spec: Errors)."""

    def __init__(self, problem: dict[str, Any], *, as_json: bool) -> None:
        super().__init__(str(problem["detail"]))
        self.problem = problem
        self.as_json = as_json

    def saying(self, detail: str) -> "Refusal":
        """The same refusal in other words."""
        return Refusal({**self.problem, "detail": detail}, as_json=self.as_json)


def tell(line: str, code: int) -> int:
    """Print the line and return the code."""
    sys.stderr.write(f"svc: {line}\n")
    return code


def missing(failure: BaseException | None) -> int | None:
    """Tell which library of an extra is not installed; None when it is not about that."""
    while failure is not None:
        name = getattr(failure, "name", None) if isinstance(failure, ModuleNotFoundError) else None
        if name and name.partition(".")[0] not in {"svc_core", "svc_http"}:
            library = name.partition(".")[0]
            return tell(f"{library} is not installed; run: pip install 'svc[server]'", USAGE)
        failure = failure.__cause__
    return None


def _refused(refusal: Refusal) -> int:
    """Its members for a program, its words and next step for a person."""
    if refusal.as_json:
        sys.stdout.write(json.dumps(refusal.problem, ensure_ascii=False) + "\n")
    detail = str(refusal).rstrip(".")
    if refusal.problem["code"] in {"VALIDATION_FAILED", "INVALID_PARAMETER"}:
        return tell(detail, REFUSED)
    step = "" if "svc " in detail else f" ({refusal.problem['resolution']})"
    return tell(f"{detail}{step}", REFUSED)


def known(failure: BaseException) -> int | None:
    """Tell a failure that people can mend; None for one that is a defect of ours."""
    from svc_http.control.channel import Unreachable, Unsafe  # noqa: PLC0415 - help is shown without them
    from svc_http.fetch.exports import Unreadable  # noqa: PLC0415
    from svc_http.settings import SettingsError  # noqa: PLC0415

    if isinstance(failure, Refusal):
        return _refused(failure)
    codes: dict[type[BaseException], int] = {
        Usage: USAGE,
        Unreadable: USAGE,
        SettingsError: USAGE,
        Unreachable: UNREACHABLE,
        Unsafe: REFUSED,
    }
    for kind, code in codes.items():
        if isinstance(failure, kind):
            return tell(str(failure), code)
    return missing(failure) or _of_the_store(failure)


def defect(failure: BaseException) -> int:
    """Tell a defect in a line: what it is and where it arose."""
    last = traceback.extract_tb(failure.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    kind = type(failure).__name__
    return tell(f"internal error, please report it: {kind}: {failure} ({place})", REFUSED)


def _of_the_store(failure: BaseException) -> int | None:
    from svc_http.runtime.opening import Unusable  # noqa: PLC0415 - help is shown without them
    from svc_http.storage import StorageUnavailable, StoreBusy  # noqa: PLC0415
    from svc_http.storage.snapshots import Unfit  # noqa: PLC0415

    if isinstance(failure, StorageUnavailable):
        return tell(f"the database cannot be used now: {failure}", REFUSED)
    if isinstance(failure, Unusable | StoreBusy | Unfit):
        return tell(str(failure), REFUSED)
    if type(failure) in {sqlite3.DatabaseError, sqlite3.OperationalError}:
        # The two that say something of a file; their kin say that it was used wrongly.
        return tell(f"the file cannot be used as the database: {failure}", REFUSED)
    return None
