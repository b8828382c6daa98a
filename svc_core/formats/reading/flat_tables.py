"""Makes formats of tables: CSV with any delimiter, or the list under one member of a JSON object.

A flat format needs no code of its own: its row in `formats.tsv` says what it brings, the names of
its columns how it is recognised, and a `FlatRecord` what each column gives.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import field, frozen

from svc_core.formats.model import Contents, Origin, Record, RecordRefused, Rejection
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import Format, make_format
from svc_core.formats.reading.values import moment, objects, record_list, require, text_member

Row = Mapping[str, Any]
"""The cells of one row that are not blank, by the name of their column in lower case."""


def _column_names(names: str) -> tuple[str, ...]:
    return tuple(names.split())


@frozen
class Column:
    """What one member of a record is: the first of some columns that has a cell, converted.

    `names` are those of the columns, with a space between them.
    """

    names: tuple[str, ...] = field(converter=_column_names)
    convert: Callable[[Any], Any] = text_member
    is_required: bool = False

    def read(self, row: Row) -> Any:
        """The member of this row; None where no column has a cell.

        Raises:
            RecordRefused: it is required and missing, or cannot be meant.
        """
        cell = next((row[name] for name in self.names if name in row), None)
        member = None if cell is None else self.convert(cell)
        return require(member, self.names[0]) if self.is_required else member


@frozen
class FlatRecord:
    """Makes the record of a row: its kind, the columns of its id, of its stamp and of its members.

    The key of the row is its id behind that of the `provider`. `members` are the columns of each
    member by its name on the wire, and `own_id` is the column of the id.
    """

    resource: str
    provider: str
    own_id: str
    members: Mapping[str, Column]
    stamp: Column = Column("updated", moment)

    def __call__(self, row: Row) -> Record:
        """The record of a row."""
        own_id = require(text_member(row.get(self.own_id)), self.own_id)
        members = {name: column.read(row) for name, column in self.members.items()}
        return Record(
            self.resource,
            f"{self.provider}:{own_id}",
            members,
            self.stamp.read(row),
            record_id=own_id,
            raw=dict(row),
        )


def flat_format(
    id_: str,
    columns: tuple[str, ...],
    make: Callable[[Row], Record],
    *,
    member: str,
    envelope: tuple[str, ...] = (),
) -> Format:
    """The format of the tables that have these columns.

    In JSON its rows stand under a `member`; a list without rows is recognised where the object has
    all members of its `envelope` too.
    """

    def recognise(body: Body) -> bool:
        if not body.has(member, *envelope):
            return body.json is None and all(name in body.first_line.lower() for name in columns)
        rows = body.json[member]
        return (rows == [] and bool(envelope)) or all(name in objects(rows)[0] for name in columns)

    def parse(body: Body, _: Origin) -> Contents:
        yield from _records(body, member, make)

    return make_format(id_, recognise, parse)


def _records(
    body: Body, member: str, make: Callable[[Row], Record]
) -> Iterator[Record | Rejection]:
    """The records of a table, without the second row of HXL tags that data hubs add."""
    if body.head.startswith("{"):
        rows = body.whole_json()[member]
        yield from record_list(rows, lambda row: make(_without_blanks(row)))
        return
    lines = body.rows(max(",;\t", key=body.first_line.count))
    header = [name.strip().lower() for name in next(lines, [])]

    def record(line: list[str]) -> Record:
        if len(line) != len(header):
            raise RecordRefused("has another number of columns than the first line")
        return make({name: cell for name, cell in zip(header, line, strict=True) if cell})

    data_lines = (line for line in lines if not all(cell[:1] in {"", "#"} for cell in line))
    yield from record_list(data_lines, record, ",".join)


def _without_blanks(row: Row) -> Row:
    return {name.lower(): cell for name, cell in row.items() if cell is not None and cell != ""}
