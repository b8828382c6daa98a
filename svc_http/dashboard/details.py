"""Makes the sections of a resource from the shapes of its members.

Members with a line of text stand beside their labels, in the order of the model. A list of objects
becomes a table, an object a section of its own, a long text a paragraph; what is nested deeper is
shown as JSON.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from attrs import frozen

from svc_http.dashboard.captions import caption_of
from svc_http.dashboard.cells import AddressOf, value_cell
from svc_http.dashboard.row_tables import Row, RowTable, TableRow, row_cells, table_columns

DEPTH_MAX: Final = 2
ROWS_MAX: Final = 100
COLUMNS_MAX: Final = 6
_TITLES: Final = ("title", "name", "question", "label", "headline", "cveId", "handle", "id")


@frozen
class DetailSection:
    """A part of a page: its heading, and pairs of a label and a cell, a table, a text or JSON."""

    label: str
    kind: str
    content: Any
    more: int = 0


def title_of(row: Row, default: str) -> str:
    """What a resource is called."""
    names = (row[name] for name in _TITLES if isinstance(row.get(name), str))
    return str(next(names, default))


def sections_of(
    row: Row, address_of: AddressOf, label: str = "", depth: int = 0
) -> Iterator[DetailSection]:
    """The sections of a resource, what has a line each first."""
    nested = {name: value for name, value in row.items() if _is_nested(value)}
    lines = [
        (caption_of(name), value_cell(value, name, address_of))
        for name, value in row.items()
        if name not in nested
    ]
    pairs = [pair for pair in lines if pair[1].kind != "long"]
    if pairs:
        yield DetailSection(label, "members", pairs)
    yield from (
        DetailSection(name, "text", cell.value) for name, cell in lines if cell.kind == "long"
    )
    for name, value in nested.items():
        heading = f"{label} · {caption_of(name)}" if label else caption_of(name)
        if isinstance(value, list):
            yield _table(heading, value, address_of)
        elif depth < DEPTH_MAX and "coordinates" not in value:
            yield from sections_of(value, address_of, heading, depth + 1)
        else:
            yield DetailSection(heading, "json", json.dumps(value, ensure_ascii=False, indent=1))


def _is_nested(value: Any) -> bool:
    """Whether a value needs more than a line; designators do not."""
    if isinstance(value, list):
        return any(isinstance(item, Mapping) and "scheme" not in item for item in value)
    return isinstance(value, Mapping) and bool(value)


def _table(label: str, rows: list[Any], address_of: AddressOf) -> DetailSection:
    """A list of objects as a table, or as JSON where they have no members for columns."""
    shown = [row for row in rows[:ROWS_MAX] if isinstance(row, Mapping)]
    names = dict.fromkeys(name for row in shown for name, value in row.items() if value is not None)
    paths = [name for name in names if not any(_is_nested(row.get(name)) for row in shown)]
    paths = paths[:COLUMNS_MAX]
    if not paths:
        return DetailSection(
            label, "json", json.dumps(rows[:ROWS_MAX], ensure_ascii=False, indent=1)
        )
    cells = (TableRow(row_cells(row, paths, address_of)) for row in shown)
    table = RowTable(table_columns(paths, shown), tuple(cells))
    return DetailSection(label, "table", table, len(rows) - len(shown))
