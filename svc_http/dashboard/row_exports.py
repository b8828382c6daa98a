"""Writes rows as CSV, NDJSON or JSON, and a page as the request that gives the same.

Rule: a cell that begins as a formula does gets an apostrophe, so that no spreadsheet runs it.
"""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from shlex import quote
from typing import Any, Final
from urllib.parse import urlencode

from svc_core.base.compact import compact_text
from svc_core.operation.declaration import JSON, NDJSON, Operation
from svc_core.operation.parsing import MERGE_PATCH
from svc_http.dashboard.cells import short_text
from svc_http.dashboard.form_fields import Field
from svc_http.dashboard.forms import Request
from svc_http.dashboard.row_tables import ABSENT, Row, member_at

ROWS_MAX: Final = 5_000
"""Rows of one export: some seconds of reading, and what a spreadsheet opens at once."""
KEY_VARIABLE: Final = "$SVC_KEY"
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_bytes(rows: Sequence[Row], paths: Sequence[str]) -> bytes:
    """The rows as CSV (RFC 4180), with the members of the columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(paths)
    writer.writerows([_cell(member_at(row, path)) for path in paths] for row in rows)
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    if value in (None, ABSENT):
        return ""
    if isinstance(value, list):
        return _cell("; ".join(map(short_text, value)))
    text = value if isinstance(value, str) else compact_text(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(_FORMULA) else text


EXPORTS: Final[Mapping[str, tuple[str, Callable[[Sequence[Row], Sequence[str]], bytes]]]] = {
    "csv": ("text/csv; charset=utf-8", csv_bytes),
    "ndjson": (
        NDJSON.media_type,
        lambda rows, _: "".join(f"{compact_text(row)}\n" for row in rows).encode(),
    ),
    "json": (JSON.media_type, lambda rows, _: compact_text({"data": list(rows)}).encode()),
}
"""The forms in which rows are downloaded: their media types and writers."""


# -- as a request ------------------------------------------------------------------------------


def curl_text(
    operation: Operation[Any, Any], request: Request, origin: str, key: str = KEY_VARIABLE
) -> str:
    """The command line that sends the request over HTTP."""
    address = operation.address.format(**request.path)
    query = f"?{urlencode(request.query)}" if request.query else ""
    parts = ["curl"]
    if operation.method != "GET":
        parts.append(f"-X {operation.method}")
    parts.append(quote(f"{origin}{address}{query}"))
    if operation.auth != "public":
        parts.append(f'-H "Authorization: Bearer {key}"')
    if operation.idempotency == "required":
        parts.append('-H "Idempotency-Key: $(uuidgen)"')
    if request.json:
        kind = MERGE_PATCH if operation.method == "PATCH" else JSON.media_type
        parts.append(f"-H 'Content-Type: {kind}'")
        parts.append(f"-d {quote(json.dumps(request.json, ensure_ascii=False, indent=1))}")
    return " \\\n  ".join(parts)


def svc_text(
    operation: Operation[Any, Any], ids: Mapping[str, str], fields: Sequence[Field]
) -> str:
    """The command line of an operation that has no route."""
    parts = ["svc", operation.group, operation.verb, *map(quote, ids.values())]
    for each in fields:
        for word in each.values:
            is_bare = not each.flag.startswith("--")
            parts += (
                [quote(word)]
                if is_bare
                else [each.flag, *([] if each.kind == "check" else [quote(word)])]
            )
    return " ".join(parts)
