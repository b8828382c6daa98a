"""Reads GDELT files: rows with a fixed number of columns, or tables with a header line.

A table with a header line may have any of the columns, in any order.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter

from svc_core.formats.model import Record, RecordRefused, Rejection
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.flat_tables import Row
from svc_core.formats.reading.values import record_list, rfc3339

Layout = Mapping[str, int]
"""The index of each column that a parser uses, by its name."""

HEAD_LINES = 5  # of which at least one must be a whole row


@lru_cache(maxsize=4_096)  # a file has few dates
def gdelt_time(digits: str | None) -> datetime | None:
    """The instant in UTC that `YYYYMMDD` or `YYYYMMDDHHMMSS` names; None for an absent cell.

    Raises:
        RecordRefused: there is no such instant.
    """
    if digits is None:
        return None
    try:
        moment = datetime.fromisoformat(f"{digits[:8]}T{digits[8:] or '000000'}")
    except ValueError as fault:
        raise RecordRefused("has a date that is none") from fault
    return moment.replace(tzinfo=UTC)


@lru_cache(maxsize=4_096)
def gdelt_timestamp(digits: str | None) -> str | None:
    """The instant that `YYYYMMDD` or `YYYYMMDDHHMMSS` names, as rows write it."""
    return rfc3339(gdelt_time(digits))


def gdelt_records(
    body: Body, layouts: Mapping[int, Layout], make: Callable[[Row], Record]
) -> Iterator[Record | Rejection]:
    """The records of a GDELT file; `make` gets the filled cells of a row by column name."""
    rows = body.rows("\t" if "\t" in body.head else ",")
    if has_columns(body, "globaleventid"):
        header = [name.strip().lower() for name in next(rows, [])]
        names = max(layouts.values(), key=len)
        columns = {name: header.index(name.lower()) for name in names if name.lower() in header}
        layouts = {len(header): columns}

    def record(row: list[str]) -> Record:
        layout = layouts.get(len(row))
        if layout is None:
            raise RecordRefused("has a number of columns that its format does not have")
        return make({name: row[index] for name, index in layout.items() if row[index]})

    yield from record_list(rows, record, itemgetter(0))


def has_columns(body: Body, *columns: str) -> bool:
    """Whether the first line is a header line that has these columns."""
    return body.json is None and all(name in body.first_line.lower() for name in columns)


def event_id(row: Row) -> str:
    """The number of the event in a row.

    Raises:
        RecordRefused: it is no number, as in a header line between the rows.
    """
    number: str = row["GLOBALEVENTID"].strip()
    if not number.isdecimal():
        raise RecordRefused("has an id that is none")
    return number


def has_row(body: Body, lengths: Collection[int], beginning: str) -> bool:
    """Whether one of the first lines has such a number of columns and matches `beginning`."""
    rows = body.head.splitlines()[:HEAD_LINES]
    return any(row.count("\t") + 1 in lengths and re.match(beginning, row) for row in rows)
