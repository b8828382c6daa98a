"""The connection of a transaction of SQLite, as its parts share it."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from svc_core.base import compact
from svc_http.stores.sqlite._write_batch import WriteBatch

_json = compact.compact_encoder(ascii_only=False)


class SqliteSession:
    """A connection inside a transaction; `writes` is None in a reading one."""

    __slots__ = ("connection", "writes")

    def __init__(self, connection: sqlite3.Connection, writes: WriteBatch | None) -> None:
        """Send statements over `connection`."""
        self.connection = connection
        self.writes = writes

    def cursor(self, statement: str, values: Sequence[object]) -> sqlite3.Cursor:
        """The rows that a statement returns, read one by one.

        SQLite has no arrays: a list among the values is passed as JSON, for `json_each`.
        """
        if list in map(type, values):
            values = [_json(cell) if type(cell) is list else cell for cell in values]
        return self.connection.execute(statement, values)

    async def rows(self, statement: str, *values: object) -> list[Any]:
        """The rows that a statement with the parameters ?1, ?2 and so on returns."""
        return self.cursor(statement, values).fetchall()

    fetch = rows
    """SQLite sees every write at once, but for those to the text index (`write_texts`)."""

    def write_texts(self) -> None:
        """Write the pending words of the batch to their text indexes."""
        if self.writes is not None:
            self.writes.texts.write()

    @property
    def is_writable(self) -> bool:
        """Whether the transaction may write."""
        return self.writes is not None

    @property
    def batch(self) -> WriteBatch:
        """What the units that commit together have buffered.

        Raises:
            AssertionError: the transaction is a reading one.
        """
        if self.writes is None:
            raise AssertionError("a reading transaction writes")
        return self.writes

    def write(self, collection: str | None = None) -> None:
        """Note that rows of this collection, or something else, are about to be written."""
        names = self.batch.names
        if collection is not None:
            names.add(collection)
