"""Buffers the writes to the text index until the end of a batch of units.

FTS5 flushes its pending terms at every savepoint, which costs more than everything else that a unit
of work does. So the statements of a batch wait here and run once: before its COMMIT, or before a
search within the batch.
"""

import sqlite3
from typing import NamedTuple


class Mark(NamedTuple):
    """A position of the buffer to which a failed unit is rolled back."""

    waiting: int
    write_count: int


class Texts:
    """The buffered statements of a batch, in their order."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._pending: list[tuple[str, tuple[object, ...]]] = []
        self._write_count = 0
        self._rows: set[object] = set()

    def __len__(self) -> int:
        """How many statements the batch has added so far."""
        return len(self._pending)

    def add(self, statement: str, values: tuple[object, ...]) -> None:
        """Add a statement to the buffer."""
        self._pending.append((statement, values))
        self._rows.add(values[0])

    def is_indexed(self, table: str, row: int, tokens: str) -> bool:
        """Whether the index already holds these tokens of a row, with no write pending."""
        if row in self._rows:
            return False
        select = f"SELECT tokens FROM {table} WHERE rowid = ?"  # noqa: S608 - a declared name
        return bool(self._connection.execute(select, (row,)).fetchone() == (tokens,))

    def write(self) -> None:
        """Run the statements that have not run yet."""
        for statement, values in self._pending[self._write_count :]:
            self._connection.execute(statement, values)
        self._write_count = len(self._pending)

    def mark(self) -> Mark:
        """The present end of the buffer."""
        return Mark(len(self._pending), self._write_count)

    def undo(self, mark: Mark) -> None:
        """Drop the statements after `mark`; the savepoint undoes those that have run since."""
        del self._pending[mark.waiting :]
        self._write_count = mark.write_count

    def clear(self) -> None:
        """Empty the buffer for the next batch."""
        self._pending.clear()
        self._rows.clear()
        self._write_count = 0
