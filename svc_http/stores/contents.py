# ruff: noqa: S608 - what statements are made of are names of ours
"""What a store holds, as rows of plain values that are no backend's own.

A part is a collection or one of `PARTS`, and has a table in every backend. Its rows are values of
the columns below, but for the feed and for ledgers, which a backend may keep in another form:
moments are microseconds, headers are JSON, and lines are the tenant and a `SealedLine`.

Rule 1: rows come in one order in every backend: changes in that of commits, others by their first
        columns, compared as bytes or numbers.
Rule 2: what rows are found by is not among them: it is made anew from their bytes, which stay.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from attrs import evolve

from svc_core.operation.ports import Collection, Record

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
"""All beside the collections, with columns and order; a ledger comes before what is in it."""

_DOCUMENTS = ("tenant, id, version, body", "tenant, id")

BATCH_ROWS: Final = 100
"""Rows held in memory at a time; a row may have a megabyte."""

Part = Collection[Any] | str
Row = tuple[Any, ...]


class Held(Protocol):
    """A store as it was at one moment."""

    async def epoch(self) -> bytes:
        """The eight bytes that name the life of its feed."""

    async def count(self, part: Part) -> int:
        """How many rows a part has."""

    def rows(self, part: Part) -> AsyncIterator[Sequence[Row]]:
        """The rows of a part, in their order, in batches of at most `BATCH_ROWS`."""


class Filled(Held, Protocol):
    """A store that is being filled; nobody else sees what is in it."""

    async def add(self, part: Part, rows: Sequence[Row]) -> None:
        """Add a batch as it came."""


def parts_of(collections: Iterable[Collection[Any]]) -> tuple[Part, ...]:
    """All that a store with these collections holds."""
    return (*collections, *PARTS)


def part_name(part: Part) -> str:
    """What a part is called."""
    return part if isinstance(part, str) else part.name


def table_of(part: Part) -> str:
    """The table that has the rows of a part, in every backend with tables."""
    return part if isinstance(part, str) else f"c_{part.name}"


def columns_of(part: Part) -> str:
    """The names of the columns of its rows."""
    return PARTS.get(part_name(part), _DOCUMENTS)[0]


def select_statement(part: Part, columns: str | None = None) -> str:
    """The statement that reads its rows in their order."""
    order = PARTS.get(part_name(part), _DOCUMENTS)[1]
    return f"SELECT {columns or columns_of(part)} FROM {table_of(part)} ORDER BY {order}"


def record_of(collection: Collection[Any], raw: bytes) -> Record:
    """What a stored row is found by now; its bytes stay as they are."""
    return evolve(collection.record(collection.decode(raw)), raw=raw)
