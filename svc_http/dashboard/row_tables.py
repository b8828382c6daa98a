"""Makes the table of a list from the columns of its operation."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from svc_http.dashboard.captions import caption_of
from svc_http.dashboard.cells import AddressOf, ValueCell, value_cell

Row = Mapping[str, Any]
ABSENT: Final = ValueCell("absent")


@frozen
class TableColumn:
    """A column: the path of a member, its heading, and whether it holds numbers."""

    path: str
    label: str
    is_number: bool = False
    sort: str = ""
    order: str = ""


@frozen
class TableRow:
    """A row of a table: its cells, what its first cell leads to, and what is said of it."""

    cells: tuple[ValueCell, ...]
    href: str = ""
    steps: tuple[Any, ...] = ()
    notes: tuple[str, ...] = ()


@frozen
class RowTable:
    """Columns and rows."""

    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]


def shown_columns(paths: Sequence[str]) -> tuple[str, ...]:
    """The columns that people see: an id beside other members is the link of its row instead."""
    return tuple(path for path in paths if path != "id" or len(paths) == 1)


def table_columns(paths: Sequence[str], rows: Sequence[Row]) -> tuple[TableColumn, ...]:
    """The columns of these members, each with the last word of its path where that is enough."""
    names = [path.rpartition(".")[2] for path in paths]
    return tuple(
        TableColumn(
            path, caption_of(name if names.count(name) == 1 else path), _is_number(path, rows)
        )
        for path, name in zip(paths, names, strict=True)
    )


def _is_number(path: str, rows: Sequence[Row]) -> bool:
    values = [value for row in rows if (value := member_at(row, path)) not in (None, ABSENT)]
    return bool(values) and all(type(value) in (int, float) for value in values)


def member_at(row: Any, path: str) -> Any:
    """The member at a path with dots: `ABSENT` where the row has none, None where it is null."""
    for part in path.split("."):
        if row is None:
            return None
        row = row.get(part, ABSENT) if isinstance(row, Mapping) else ABSENT
    return row


def row_cells(row: Row, paths: Sequence[str], address_of: AddressOf) -> tuple[ValueCell, ...]:
    """The cells of a row."""
    values = ((path, member_at(row, path)) for path in paths)
    return tuple(
        ABSENT if value is ABSENT else value_cell(value, path.rpartition(".")[2], address_of)
        for path, value in values
    )
