"""What a source says of a row, as it is kept: the contributions that rows are folded from."""

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any

from attrs import frozen

from svc_core import ids, wire
from svc_core.ports import Collection


@frozen
class Contribution:
    """What one source says of one row, in its newest reading.

    `said` are members of the row in wire names; `stamp` is when the source changed them by its own
    word, `read_at` when these words were first read. `ref` leads back to the record at its source.
    """

    id: str
    row: str
    source: str
    resource: str
    format: str
    key: str
    digest: int
    said: Mapping[str, Any]
    ref: Mapping[str, Any]
    read_at: datetime
    stamp: datetime | None = None
    raw: Any = None


CONTRIBUTIONS: Collection[Contribution] = Collection(
    name="contributions",
    model=Contribution,
    prefix="",
    # Whether a reading is the known one is told by its sort key, without decoding what is stored.
    order=lambda one: one.digest,
    scope="system",
    keys={"row": lambda one: one.row, "source": lambda one: one.source},
)


@frozen
class RowKey:
    """A key that names a row; `since` is the earliest stamp at which it was the preferred one."""

    id: str
    row: str
    key: str
    since: datetime | None = None


ROW_KEYS: Collection[RowKey] = Collection(
    name="row_keys",
    model=RowKey,
    prefix="",
    order=lambda _: 0,
    scope="system",
    keys={"row": lambda one: one.row},
)
"""Keys of rows that have several (`Record.also`)."""


@frozen
class MergedRow:
    """A row that was taken up by another."""

    id: str
    into: str


MERGED_ROWS: Collection[MergedRow] = Collection(
    name="merged_rows",
    model=MergedRow,
    prefix="",
    order=lambda _: 0,
    scope="system",
    keys={"into": lambda one: one.into},
)


def contribution_id(row: str, source: str) -> str:
    """The id of what a source says of a row."""
    return f"{row}:{source}"


def row_key_id(resource: str, key: str) -> str:
    """The id of a key of a row: of any length and in any characters."""
    return ids.derived_id("obs", f"key of {resource}", "", key)


def digest(*parts: Any) -> int:
    """63 bits that tell readings apart: equal for equal JSON values."""
    return int.from_bytes(sha256(wire.dumps(list(parts))).digest()[:8], "big") >> 1
