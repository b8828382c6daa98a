"""The connection of a transaction of SQLite, as its parts share it."""

import sqlite3
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

    async def rows(self, statement: str, *values: object) -> list[Any]:
        """The rows that a statement with the parameters ?1, ?2 and so on returns.

        SQLite has no arrays: a list among the values is passed as JSON, for `json_each`.
        """
        cells = [_json(cell) if type(cell) is list else cell for cell in values]
        return self.connection.execute(statement, cells).fetchall()

    fetch = rows
    """SQLite sees every write at once."""

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
