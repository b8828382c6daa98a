"""One transaction on one connection, and what waits to be written with its end.

Rule 1: what nobody reads within the transaction need not be written at once. Changes, answers and
        lines of the ledger wait in lists and go to the server in one statement, before the
        COMMIT or before somebody asks for them.
Rule 2: the units of one tenant that commit together share the session one after another.
"""

import re
from functools import lru_cache
from importlib.resources import files
from time import monotonic
from typing import Any, Protocol

from svc_http.stores.postgres.connection import is_duplicate

Statement = tuple[str, list[object]]
"""A statement that waits: its text with a question mark for each value, and the values."""


class RetryNeeded(Exception):  # noqa: N818 - said as the state that it is
    """Work was done on what turned out to be otherwise: it is taken back and done again."""


class WriteBuffer(Protocol):
    """What a room of the transaction holds back."""

    def take_statements(self) -> list[Statement]:
        """The statements that write what waits; nothing waits any more."""

    def discard(self) -> None:
        """Drop what waits and all that was remembered of the store."""


class Session:
    """A connection inside a transaction. `is_eager` has every check made at once, because a
    failure takes back one unit alone."""

    def __init__(self, connection: Any, *, is_writable: bool, is_eager: bool = False) -> None:
        """Speak on `connection`."""
        self.connection = connection
        self.is_writable = is_writable
        self.is_eager = is_eager
        self.buffers: list[WriteBuffer] = []
        self.names: set[str] = set()
        """The collections in which rows were written."""
        self.writes = 0
        """How often something was written."""
        self.has_erased = False
        """Whether content is to leave the files of the server."""
        self.is_broken = False
        """Whether a statement failed, after which the server does nothing but roll back."""
        self.active_at = monotonic()
        """When something last went to the server or came from it."""

    def write(self, collection: str | None = None) -> None:
        """Say that something is about to be written, rows of this collection or no rows.

        Raises:
            AssertionError: nothing may be.
        """
        if not self.is_writable:
            raise AssertionError("a reading transaction writes")
        self.writes += 1
        if collection is not None:
            self.names.add(collection)

    async def rows(self, statement: str, *values: object) -> list[Any]:
        """What a statement returns; values stand where it has $1, $2 and so on."""
        self.active_at = monotonic()
        try:
            records: list[Any] = await self.connection.fetch(statement, *values)
        except BaseException:
            self.is_broken = True
            raise
        self.active_at = monotonic()
        return records

    async def fetch(self, statement: str, *values: object) -> list[Any]:
        """What a statement returns that sees all that was written in this transaction."""
        await self.flush()
        return await self.rows(statement, *values)

    async def do(self, commands: str) -> None:
        """Run commands without values, in one message."""
        self.active_at = monotonic()
        await self.connection.execute(commands)
        self.active_at = monotonic()

    async def flush(self) -> None:
        """Write what waits, in one statement.

        Raises:
            Torn: something is there already that was taken not to be.
        """
        pending = [part for buffer in self.buffers for part in buffer.take_statements()]
        if not pending:
            return
        clauses = ", ".join(f"p{number} AS ({text})" for number, (text, _) in enumerate(pending))
        values = [value for _, columns in pending for value in columns]
        try:
            await self.rows(numbered(f"WITH {clauses} SELECT"), *values)
        except Exception as error:
            if is_duplicate(error) and not self.is_eager:
                raise RetryNeeded from error
            raise

    def discard(self) -> None:
        """Drop what waits, after a rollback."""
        self.is_broken = False
        for buffer in self.buffers:
            buffer.discard()


@lru_cache(4096)
def numbered(text: str) -> str:
    """A statement with $1, $2 and so on in the place of its question marks."""
    first, *pieces = text.split("?")
    return first + "".join(f"${number}{piece}" for number, piece in enumerate(pieces, 1))


def statements(file: str) -> dict[str, str]:
    """The statements of a file beside this one, each under the line `-- name` before it."""
    text = files(__package__).joinpath(file).read_text("utf-8")
    _, *parts = re.split(r"^-- (\w+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))
