"""Writes rows as CSV, NDJSON or JSON.

Rule: a cell that begins as a formula does gets an apostrophe, so that no spreadsheet runs it.
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from svc_core.base.compact import compact_text
from svc_core.base.unset import UNSET
from svc_core.operation.declaration import JSON, NDJSON
from svc_http.dashboard.value_shapes import Row, member_at, short_text

ROWS_MAX: Final = 5_000
"""Rows of one export: some seconds of reading, and what a spreadsheet opens at once."""

_FORMULA: Final = ("=", "+", "-", "@", "＝", "＋", "－", "＠")

Writer = Callable[[Sequence[Row], Sequence[str]], str]


def csv_text(rows: Sequence[Row], paths: Sequence[str]) -> str:
    """The rows as CSV (RFC 4180), with the members of the columns."""
    text = io.StringIO()
    # Quoted: where the separator is a semicolon, a cell must not begin behind one of its own.
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(paths)
    writer.writerows([_csv_cell(member_at(row, path)) for path in paths] for row in rows)
    return text.getvalue()


def _csv_cell(value: Any) -> Any:
    if value is None or value is UNSET or type(value) in (int, float):
        return None if value is UNSET else value
    text = "; ".join(map(short_text, value)) if isinstance(value, list) else short_text(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


EXPORTS: Final[Mapping[str, tuple[str, Writer]]] = {
    "csv": ("text/csv; charset=utf-8", csv_text),
    "ndjson": (NDJSON.media_type, lambda rows, _: "".join(f"{compact_text(r)}\n" for r in rows)),
    "json": (JSON.media_type, lambda rows, _: compact_text({"data": list(rows)})),
}
"""The forms in which rows are downloaded: their media types and writers."""
