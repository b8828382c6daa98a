"""`svc ledger picture` and `svc ledger stix`: a subject in forms that other programs read."""

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from svc_core.ledger.stix import AMBER, Tlp
from svc_http.cli import show
from svc_http.cli.failures import Usage
from svc_http.cli.folds import RecordTime, Size, SubjectId
from svc_http.cli.options import Common, Workspace
from svc_http.cli.reach import call
from svc_http.cli.streams import STREAM
from svc_http.cli.transfer import write_whole


def picture(
    subject_id: SubjectId,
    file: Annotated[
        str, Parameter(show_default=False, help="The SVG file to write. Default: stdout, as is -.")
    ] = STREAM,
    *,
    record_time: RecordTime = None,
    valid_time: Annotated[str | None, Parameter(help="RFC 3339: mark this time by a line.")] = None,
    size: Size = None,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Draw a subject as SVG: upwards when it was recorded, across when it is said to hold."""
    asked = {
        "subjectId": subject_id,
        "recordTime": record_time,
        "validTime": valid_time,
        "size": size,
        "workspace": workspace,
    }
    if common.json and file == STREAM:
        raise Usage("--json prints one value, so the picture needs a FILE")
    made: Any = call(common, "ledger picture", asked)
    _give(made["svg"], file, common)


def stix(
    subject_id: SubjectId,
    file: Annotated[
        str, Parameter(show_default=False, help="The JSON file to write. Default: stdout, as is -.")
    ] = STREAM,
    *,
    record_time: RecordTime = None,
    valid_time: Annotated[
        str | None, Parameter(help="RFC 3339: export what holds at that time. Default: now.")
    ] = None,
    size: Size = None,
    tlp: Annotated[Tlp, Parameter(help="How far it may be shared (TLP 2.0).")] = AMBER,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Export a subject, as it was known and held at two times, as a STIX 2.1 bundle."""
    asked = {
        "subjectId": subject_id,
        "recordTime": record_time,
        "validTime": valid_time,
        "size": size,
        "tlp": tlp,
        "workspace": workspace,
    }
    made: Any = call(common, "ledger stix", asked)
    _give(made["stix"], file, common)


def _give(text: str, file: str, common: Common) -> None:
    """Put what was made in the file, or print it as it is."""
    if file == STREAM:
        sys.stdout.write(text.removesuffix("\n") + "\n")
        return
    write_whole(Path(file), [text.encode()])
    if common.json:
        show.as_json({"file": file, "bytes": len(text.encode())})
        return
    show.lines(f"Written to {file}.")
