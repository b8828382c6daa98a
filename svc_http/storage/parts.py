"""What a store holds, as rows of plain values that are no backend's own.

A part is a collection or one of `PARTS`. Its rows are:

    a collection   tenant, id, version, bytes
    CHANGES        scope, position, id, change type, resource type and id, version, moment, path
    ANSWERS        tenant, operation, key, fingerprint, status, headers as JSON, body, moment
    LEDGERS        tenant, size, state
    LINES          tenant, and the members of a `SealedLine`
    NODES          tenant, level, number, hash
    CHECKPOINTS    tenant, day, size, text

Rule 1: rows come in one order in every backend: changes in that of commits, others by their first
        members, compared as bytes or numbers.
Rule 2: what rows are found by is not among them: it is made anew from their bytes, which stay.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Final, Protocol

from attrs import evolve

from svc_core.ports import Collection, Record

CHANGES: Final = "changes"
ANSWERS: Final = "answers"
LEDGERS: Final = "ledgers"
LINES: Final = "ledger_lines"
NODES: Final = "ledger_nodes"
CHECKPOINTS: Final = "ledger_checkpoints"

PARTS: Final = (CHANGES, ANSWERS, LEDGERS, LINES, NODES, CHECKPOINTS)
"""All beside the collections; a ledger comes before what is in it."""

BATCH_ROWS: Final = 100
"""Rows held in memory at a time; a row may have a megabyte."""

Part = Collection[Any] | str
Row = tuple[Any, ...]


class Held(Protocol):
    """A store as it was at one moment."""

    async def epoch(self) -> bytes:
        """The eight bytes that name the life of its feed."""
        ...

    async def count(self, part: Part) -> int:
        """How many rows a part has."""
        ...

    def rows(self, part: Part) -> AsyncIterator[Sequence[Row]]:
        """The rows of a part, in their order, in batches of at most `BATCH_ROWS`."""
        ...


class Filled(Held, Protocol):
    """A store that is being filled; nobody else sees what is in it."""

    async def add(self, part: Part, rows: Sequence[Row]) -> None:
        """Add a batch as it came."""
        ...


def parts_of(collections: Iterable[Collection[Any]]) -> tuple[Part, ...]:
    """All that a store with these collections holds."""
    return (*collections, *PARTS)


def name_of(part: Part) -> str:
    """What a part is called."""
    return part if isinstance(part, str) else part.name


def table_of(part: Part) -> str:
    """The table that has the rows of a part, in every backend with tables."""
    return part if isinstance(part, str) else f"c_{part.name}"


def record_of(collection: Collection[Any], raw: bytes) -> Record:
    """What a stored row is found by now; its bytes stay as they are."""
    return evolve(collection.record(collection.decode(raw)), raw=raw)
