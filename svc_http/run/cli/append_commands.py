"""`svc ledger append`: records from a file, in batches, safe to run again.

Rule 1: all of the input is read and is JSON before the first record is appended.
Rule 2: each entry has a mark: a hash of it and of all before it. What was appended under its mark
        is passed over, so that a run that broke off, or an input that grew, is simply run again.
"""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from attrs import frozen
from cyclopts import Parameter

from svc_core import wire
from svc_core.base import canonical
from svc_core.operation.host import Progress
from svc_core.wire import Json, JsonError
from svc_http.run.cli import show
from svc_http.run.cli.exit_codes import UsageError
from svc_http.run.cli.files import content, write_whole
from svc_http.run.cli.operation_calls import call
from svc_http.run.cli.options import COMMON, Author, Common, Workspace
from svc_http.run.cli.show import bar
from svc_http.run.control.channel import OperationRefused
from svc_http.system import SystemIds

INPUT_BYTES_MAX = 256 * 1024 * 1024
"""Of one input, which is held whole: more is cut into several."""

BATCH_ENTRIES = 100
BATCH_BYTES = 4 * 1024 * 1024
"""Of the entries in one batch, half of what a command may take."""


@frozen
class _InputEntry:
    """An entry, where it stands in the input, and its mark."""

    place: str
    entry: Json
    mark: str
    bytes: int


def append_command(
    file: Annotated[str, Parameter(help="One JSON object per line, or one array; - is stdin.")],
    *,
    if_match: Annotated[
        str | None, Parameter(help="Append only if this is the ledger's current ETag.")
    ] = None,
    again: Annotated[
        bool, Parameter(negative=(), help="Append again what was appended before.")
    ] = False,
    receipt: Annotated[
        Path | None, Parameter(help="Where to write the receipt of the last record.")
    ] = None,
    workspace: Workspace = None,
    author: Author = None,
    common: Common = COMMON,
) -> None:
    """Append records from a file or stdin.

    They are appended a hundred at a time, all of them or none. You may repeat the same input, even
    if it has grown since: records that were appended before are skipped. Each object has the
    members of POST /ledger/records.
    """
    begin = SystemIds().random(32).hex() if again else ""
    entries = list(_entries(content(file, INPUT_BYTES_MAX), begin))
    if not entries:
        raise UsageError(f"{file} has no entries")
    result: dict[str, Any] = {"known": [], "records": [], "tag": if_match}
    owner = {"account": workspace, "author": author}
    with bar("ledger append") as tell:
        for batch in _batches(entries):
            body = {
                "entries": [item.entry for item in batch],
                "marks": [item.mark for item in batch],
                "ifMatch": result["tag"] if if_match else None,
            }
            reply = _append_batch(common, {"body": body, **owner}, batch, result)
            result["known"] += reply["known"]
            result["records"] += reply["records"]
            result["tag"] = reply["tag"]
            at = len(result["known"]) + len(result["records"])
            if len(entries) > BATCH_ENTRIES:
                tell(Progress(at, len(entries), "records"))
    if receipt is not None and result["records"]:
        write_whole(receipt, [result["records"][-1]["receipt"].encode()])
    _tell(common, result, is_kept=receipt is not None)


def _append_batch(
    common: Common, request: dict[str, Any], batch: list[_InputEntry], result: dict[str, Any]
) -> Any:
    def place(match: re.Match[str]) -> str:
        number = int(match[1])
        place_name = batch[number].place if number < len(batch) else f"entry {number + 1}"
        return f"{place_name}, {match[2]}: " if match[2] else f"{place_name}: "

    try:
        return call(common, "appendEntries", **request)
    except OperationRefused as refusal:
        count = len(result["records"])
        detail = _POINTER.sub(place, str(refusal))
        before = f"{detail.rstrip('.')}. The {count} before them were appended."
        raise refusal.saying(before if count else detail) from refusal


_POINTER = re.compile(r"(?:(?<=^)|(?<=; ))/(?:entries/)?([0-9]+)(?:/([^:; ]+))?: ")
"""A JSON Pointer (RFC 6901) to an entry of a batch, or to a member of one."""


def _tell(common: Common, result: dict[str, Any], *, is_kept: bool) -> None:
    if common.json:
        show.as_json(result)
        return
    records, former = result["records"], result["known"]
    if records:
        show.print_table(records[-20:], ("seq", "id", "kind", "op", "subject"), "")
    earlier = f" {len(former)} were there already." if former else ""
    show.print_lines("", f"Appended {len(records)} records.{earlier}")
    if not records:
        show.print_lines("To append them again: --again")
    elif not is_kept:
        show.print_lines(
            "Keep the receipt: it proves any later cut or rewriting of the ledger. "
            "(--receipt FILE, or svc ledger prove ID)"
        )


# -- the input ---------------------------------------------------------------------------------


def _entries(text: bytes, begin: str) -> Iterator[_InputEntry]:
    mark = sha256(begin.encode()).digest()
    for place, entry in _values(text):
        # What was read exactly has a canonical form.
        mark = sha256(mark + sha256(canonical.dumps(entry)).digest()).digest()
        yield _InputEntry(place, entry, mark.hex(), len(json.dumps(entry)))


def _values(text: bytes) -> Iterator[tuple[str, Any]]:
    """The entries and where each stands: `line 3` of many lines, `entry 3` of an array."""
    if text.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        rows: Any = _json(text, "the array")
        yield from ((f"entry {number}", row) for number, row in enumerate(rows, 1))
        return
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            yield f"line {number}", _json(line, f"line {number}")


def _json(text: bytes, place: str) -> Json:
    try:
        return wire.decode_json(text, exact=True)
    except JsonError as wrong:
        raise UsageError(f"{place}: {wrong}") from wrong


def _batches(entries: list[_InputEntry]) -> Iterator[list[_InputEntry]]:
    batch: list[_InputEntry] = []
    size = 0
    for item in entries:
        if batch and (len(batch) == BATCH_ENTRIES or size + item.bytes > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += item.bytes
    yield batch
