# ruff: noqa: S608 - statements are composed of constant names alone
"""Describes the contents of a store as rows of plain values, so that one backend can be copied into
another.

A part is a collection or one of `PARTS`, and has a table in every backend with tables. Its rows are
values of the columns below: instants are microseconds, headers are JSON, and a line of a ledger is
its tenant and a `SealedLine`. A backend may store the feed and ledgers in another form.

Rule 1: rows come in the same order from every backend: changes in the order of their commits, all
        others by their first columns, compared as bytes or numbers.
Rule 2: index data (keys, facets, text) is not copied. It is derived again from the bytes of the
        documents, which never change in a copy.
"""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from attrs import evolve

from svc_core.operation.ports import NO_NUMBER, Collection, IndexedRow

CHANGES: Final = "changes"
ANSWERS: Final = "answers"
LEDGERS: Final = "ledgers"
LINES: Final = "ledger_lines"
NODES: Final = "ledger_nodes"
CHECKPOINTS: Final = "ledger_checkpoints"

PARTS: Final[Mapping[str, tuple[str, str]]] = {
    CHANGES: (
        "scope, position, id, change_type, resource_type, resource_id, version, occurred_at, path,"
        " details",
        "seq",
    ),
    ANSWERS: (
        "tenant, operation, key, fingerprint, status, headers, body, at",
        "tenant, operation, key",
    ),
    LEDGERS: ("tenant, size, state", "tenant"),
    LINES: ("tenant, seq, id, subject, opens, recorded_at, keys, seal, line", "tenant, seq"),
    NODES: ("tenant, level, number, hash", "tenant, level, number"),
    CHECKPOINTS: ("tenant, day, size, text", "tenant, day"),
}
"""The tables that hold no documents, with their columns and their order; a ledger precedes its
lines."""

_DOCUMENTS = ("tenant, id, version, body", "tenant, id")

BATCH_ROWS: Final = 100
"""Rows held in memory at a time; a row may have a megabyte."""

Part = Collection[Any] | str
Row = tuple[Any, ...]


class CopySource(Protocol):
    """A consistent snapshot of a store that can be read part by part."""

    async def epoch(self) -> bytes:
        """The epoch of its change feed: eight bytes, new after every restore."""

    async def count(self, part: Part, number: str = "1", last: int = 1) -> int:
        """How many rows a part has, where the column `number` is known and at most `last`."""

    def rows(self, part: Part) -> AsyncGenerator[Sequence[Row], None]:
        """The rows of a part, in their order, in batches of at most `BATCH_ROWS`."""


class CopyTarget(CopySource, Protocol):
    """A store that a copy is written to; nobody else sees its rows until the copy is complete."""

    async def add(self, part: Part, rows: Sequence[Row]) -> None:
        """Insert a batch of rows that a `CopySource` has returned."""


def parts_of(collections: Iterable[Collection[Any]]) -> tuple[Part, ...]:
    """All parts of a store with these collections."""
    return (*collections, *PARTS)


def part_name(part: Part) -> str:
    """The name of a part."""
    return part if isinstance(part, str) else part.name


def table_of(part: Part) -> str:
    """The name of the table with the rows of a part, alike in every backend with tables."""
    return part if isinstance(part, str) else f"c_{part.name}"


def count_statement(part: Part, number: str, last: int) -> str:
    """The SELECT statement that counts the rows of a part; see `CopySource.count`."""
    between = f"BETWEEN {NO_NUMBER + 1} AND {last}"
    return f"SELECT count(*) FROM {table_of(part)} WHERE {number} {between}"


def columns_of(part: Part) -> str:
    """The columns of the rows of a part, separated by commas."""
    return PARTS.get(part_name(part), _DOCUMENTS)[0]


def select_statement(part: Part, columns: str | None = None) -> str:
    """The SELECT statement that reads the rows of a part in their order."""
    order = PARTS.get(part_name(part), _DOCUMENTS)[1]
    return f"SELECT {columns or columns_of(part)} FROM {table_of(part)} ORDER BY {order}"


def record_of(collection: Collection[Any], raw: bytes) -> IndexedRow:
    """The index data of a stored row by the present declaration, with the row's bytes unchanged."""
    return evolve(collection.record(collection.decode(raw)), raw=raw)
