"""Writes rows as CSV, NDJSON or JSON.

Rule 1: they are written one by one, so that others can have their turn between two of them.
Rule 2: a cell that begins as a formula does gets an apostrophe, so that no spreadsheet runs it.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from svc_core.base.compact import compact_text
from svc_core.base.unset import UNSET
from svc_core.operation.declaration import JSON, NDJSON
from svc_http.dashboard.value_shapes import Row, member_at, short_text

ROWS_MAX: Final = 5_000
"""Rows of one export: some seconds of reading, and what a spreadsheet opens at once."""
BYTES_MAX: Final = 16 * 1024 * 1024
"""Of the answers whose rows an export has: no page is begun beyond that."""

_FORMULA: Final = ("=", "+", "-", "@", "＝", "＋", "－", "＠")

Writer = Callable[[Sequence[Row], Sequence[str]], Iterator[str]]


class _Line:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        return text


def _csv(rows: Sequence[Row], paths: Sequence[str]) -> Iterator[str]:
    """The rows as CSV (RFC 4180), with the members of the columns."""
    # Quoted: where the separator is a semicolon, a cell must not begin behind one of its own.
    writer = csv.writer(_Line(), quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    yield writer.writerow(paths)
    for row in rows:
        yield writer.writerow(_csv_cell(member_at(row, path)) for path in paths)


def _csv_cell(value: Any) -> Any:
    if value is None or value is UNSET or type(value) in (int, float):
        return None if value is UNSET else value
    text = "; ".join(map(short_text, value)) if isinstance(value, list) else short_text(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def _json(rows: Sequence[Row], _paths: Sequence[str]) -> Iterator[str]:
    yield '{"data":['
    yield from (f"{',' * bool(number)}{compact_text(row)}" for number, row in enumerate(rows))
    yield "]}"


EXPORTS: Final[Mapping[str, tuple[str, Writer]]] = {
    "csv": ("text/csv; charset=utf-8", _csv),
    "ndjson": (NDJSON.media_type, lambda rows, _: (f"{compact_text(row)}\n" for row in rows)),
    "json": (JSON.media_type, _json),
}
"""The forms in which rows are downloaded: their media types and writers."""
