"""A transaction on one PostgreSQL connection, with buffers of what it has yet to write.

Rule 1: changes, answers and lines of a ledger are buffered and sent in one statement: before the
        COMMIT, or before a statement that reads them.
Rule 2: the units of one tenant that commit together use the session one after another.
"""

from functools import lru_cache
from time import monotonic
from typing import Any, Protocol

from svc_http.stores.postgres._connection import is_duplicate

Statement = tuple[str, list[object]]
"""A buffered statement: its text with a question mark for each value, and the values."""


class RetryNeeded(Exception):  # noqa: N818 - named after the state
    """Work rested on an assumption that proved wrong: it must be rolled back and run again."""


class WriteBuffer(Protocol):
    """A part of the transaction that buffers its writes."""

    def take_statements(self) -> list[Statement]:
        """The statements that write the buffer, which is empty afterwards."""

    def discard(self) -> None:
        """Drop the buffer and everything cached from the store."""


class Session:
    """A connection inside a transaction.

    With `is_eager` every check is made at once, because each unit has a savepoint of its own.
    """

    def __init__(self, connection: Any, *, is_writable: bool, is_eager: bool = False) -> None:
        """Send statements over `connection`."""
        self.connection = connection
        self.is_writable = is_writable
        self.is_eager = is_eager
        self.buffers: list[WriteBuffer] = []
        self.names: set[str] = set()
        """The collections whose rows were written."""
        self.scope = ""
        """The scope of the feed that was written to last."""
        self.writes = 0
        """The number of writes so far."""
        self.has_erased = False
        """Whether content was erased that must leave the files of the server (VACUUM)."""
        self.is_broken = False
        """Whether a statement failed, after which the server accepts nothing but a rollback."""
        self.active_at = monotonic()
        """The monotonic time of the last message to or from the server."""

    def write(self, collection: str | None = None) -> None:
        """Note that rows of this collection, or something else, are about to be written.

        Raises:
            AssertionError: the transaction is a reading one.
        """
        if not self.is_writable:
            raise AssertionError("a reading transaction writes")
        self.writes += 1
        if collection is not None:
            self.names.add(collection)

    async def rows(self, statement: str, *values: object) -> list[Any]:
        """The rows that a statement with the parameters $1, $2 and so on returns."""
        self.active_at = monotonic()
        try:
            records: list[Any] = await self.connection.fetch(statement, *values)
        except BaseException:
            self.is_broken = True
            raise
        self.active_at = monotonic()
        return records

    async def fetch(self, statement: str, *values: object) -> list[Any]:
        """The rows that a statement returns after all buffered writes were sent."""
        await self.flush()
        return await self.rows(statement, *values)

    async def execute(self, commands: str) -> None:
        """Run commands without parameters, in one message."""
        self.active_at = monotonic()
        await self.connection.execute(commands)
        self.active_at = monotonic()

    async def flush(self) -> None:
        """Send the buffered writes in one statement.

        Raises:
            RetryNeeded: a key that was assumed to be free is taken.
        """
        pending = [part for buffer in self.buffers for part in buffer.take_statements()]
        if not pending:
            return
        clauses = ", ".join(f"p{number} AS ({text})" for number, (text, _) in enumerate(pending))
        values = [value for _, columns in pending for value in columns]
        try:
            await self.rows(number_parameters(f"WITH {clauses} SELECT"), *values)
        except Exception as error:
            if is_duplicate(error) and not self.is_eager:
                raise RetryNeeded from error
            raise

    def discard(self) -> None:
        """Drop all buffered writes, after a rollback."""
        self.is_broken = False
        for buffer in self.buffers:
            buffer.discard()


@lru_cache(4096)
def number_parameters(text: str) -> str:
    """A statement with its question marks replaced by $1, $2 and so on."""
    first, *pieces = text.split("?")
    return first + "".join(f"${number}{piece}" for number, piece in enumerate(pieces, 1))
