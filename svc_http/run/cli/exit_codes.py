"""Prints a failure as one line on stderr and chooses the exit code that goes with it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svc_http.run.control.channel import OperationRefused

REFUSED = 1
USAGE = 2


class UsageError(Exception):
    """The command line makes no sense; the message is one line with the way out."""

    exit_code = 2


def tell(line: str, code: int) -> int:
    """Print the line and return the code."""
    from svc_http.run.cli import show  # noqa: PLC0415 - most commands succeed

    sys.stderr.write(f"svc: {show.clean(line)}\n")
    return code


def missing_extra_code(failure: BaseException | None) -> int | None:
    """Print which extra is not installed, and return the exit code; None for another failure."""
    while failure is not None:
        name = getattr(failure, "name", None) if isinstance(failure, ModuleNotFoundError) else None
        if name and name.partition(".")[0] not in {"svc_core", "svc_http"}:
            library = name.partition(".")[0]
            from svc_http import extras  # noqa: PLC0415 - mostly nothing is missing

            cure = extras.install_line(extras.extra_of(library))
            return tell(f"{library} is not installed; run: {cure}", USAGE)
        failure = failure.__cause__
    return None


def _tell_refusal(refusal: "OperationRefused", *, as_json: bool) -> int:
    """Print a refusal: its members for a program that asked for JSON, a line for a person."""
    from svc_http.run.cli import show  # noqa: PLC0415 - most commands succeed

    if as_json:
        show.as_json(refusal.problem)
    detail = str(refusal).rstrip(".")
    if refusal.problem["code"] in {"VALIDATION_FAILED", "INVALID_PARAMETER"}:
        return tell(detail, REFUSED)
    step = refusal.problem["resolution"]
    # A command sends no header fields.
    is_told = "svc " in detail or "Retry-After" in step
    return tell(detail if is_told else f"{detail} ({step})", REFUSED)


def failure_code(failure: BaseException, *, as_json: bool) -> int | None:
    """Print a failure that people can mend and return its exit code; None for a defect of ours.

    One that has an `exit_code` says in its message what is wrong and the way out.
    """
    from svc_http.run.control.channel import OperationRefused  # noqa: PLC0415 - help is shown without it

    if isinstance(failure, OperationRefused):
        return _tell_refusal(failure, as_json=as_json)
    code = getattr(failure, "exit_code", None)
    if code is not None:
        return tell(str(failure), code)
    if type(failure).__module__ == "sqlite3" and (fault := _file_fault(failure)) is not None:
        return tell(f"the file cannot be used as the database: {fault}", REFUSED)
    return missing_extra_code(failure)


def _file_fault(failure: BaseException) -> str | None:
    """What SQLite says of a file; None where it was used wrongly, as its other errors say."""
    import sqlite3  # noqa: PLC0415 - mostly nothing breaks

    from svc_http.stores.sqlite.work_queue import sqlite_fault_text  # noqa: PLC0415

    is_of_file = type(failure) in {sqlite3.DatabaseError, sqlite3.OperationalError}
    return sqlite_fault_text(failure) if is_of_file and isinstance(failure, sqlite3.Error) else None


def defect(failure: BaseException) -> int:
    """Tell a defect in a line: what it is and where it arose."""
    import traceback  # noqa: PLC0415 - mostly nothing breaks

    last = traceback.extract_tb(failure.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    kind = type(failure).__name__
    return tell(f"internal error, please report it: {kind}: {failure} ({place})", REFUSED)
