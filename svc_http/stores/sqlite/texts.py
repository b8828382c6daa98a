"""Words on their way into the text index.

FTS5 writes out what it has gathered at every savepoint, which costs more than all else that a
unit of work does. So the words of a batch wait here and are written once, before its COMMIT, or
before a search within the batch asks for them.
"""

import sqlite3
from typing import NamedTuple


class Mark(NamedTuple):
    """A place in the line to which a failed unit goes back."""

    waiting: int
    write_count: int


class Texts:
    """Statements that wait for the end of the batch, in their order."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._pending: list[tuple[str, tuple[object, ...]]] = []
        self._write_count = 0
        self._rows: set[object] = set()

    def __len__(self) -> int:
        """How many statements the batch has come to."""
        return len(self._pending)

    def add(self, statement: str, values: tuple[object, ...]) -> None:
        """Let a statement wait."""
        self._pending.append((statement, values))
        self._rows.add(values[0])

    def is_indexed(self, table: str, row: int, tokens: str) -> bool:
        """Whether the index has these words of a row, none of which wait."""
        if row in self._rows:
            return False
        select = f"SELECT tokens FROM {table} WHERE rowid = ?"  # noqa: S608 - a declared name
        return bool(self._connection.execute(select, (row,)).fetchone() == (tokens,))

    def write(self) -> None:
        """Run what waits."""
        for statement, values in self._pending[self._write_count :]:
            self._connection.execute(statement, values)
        self._write_count = len(self._pending)

    def mark(self) -> Mark:
        """Where the line ends now."""
        return Mark(len(self._pending), self._write_count)

    def undo(self, mark: Mark) -> None:
        """Forget what came after `mark`; what was written since is undone by the savepoint."""
        del self._pending[mark.waiting :]
        self._write_count = mark.write_count

    def clear(self) -> None:
        """Begin an empty line."""
        self._pending.clear()
        self._rows.clear()
        self._write_count = 0
