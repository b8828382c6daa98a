"""One transaction on one connection, and what waits to be written with its end.

Rule 1: what nobody reads within the transaction need not be written at once. Changes, answers and
        lines of the ledger wait in lists and go to the server in one statement, before the
        COMMIT or before somebody asks for them.
Rule 2: the units of one tenant that commit together share the session one after another.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from svc_http.storage.postgres.connection import is_taken


class Torn(Exception):  # noqa: N818 - said as the state that it is
    """A batch left something that only a rollback of everything takes back."""


class Part(NamedTuple):
    """A statement that waits: its text with a question mark for each value, and the values."""

    text: str
    values: tuple[object, ...]


class Waiting(Protocol):
    """What a part of the transaction holds back."""

    def parts(self) -> list[Part]:
        """The statements that write what waits; nothing waits any more."""
        ...

    def forget(self) -> None:
        """Drop what waits and all that was remembered of the store."""
        ...


class Session:
    """A connection inside a transaction."""

    __slots__ = (
        "_clock",
        "connection",
        "has_erased",
        "is_broken",
        "is_eager",
        "is_writable",
        "moved",
        "names",
        "waiting",
        "writes",
    )

    def __init__(
        self, connection: Any, clock: Callable[[], float], *, is_writable: bool, is_eager: bool
    ) -> None:
        """Speak on `connection`; `clock` counts seconds."""
        self.connection = connection
        self.waiting: list[Waiting] = []
        self.names: set[str] = set()
        """The collections in which rows were written."""
        self.has_erased = False
        """Whether content is to leave the files of the server."""
        self.writes = 0
        """How often something was written."""
        self.is_broken = False
        """Whether a statement failed, after which the server does nothing but roll back."""
        self.is_eager = is_eager
        """Whether every check is made at once, because a failure takes back one unit alone."""
        self.is_writable = is_writable
        self._clock = clock
        self.moved = clock()
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
        self.moved = self._clock()
        try:
            return await self.connection.fetch(statement, *values)  # type: ignore[no-any-return]
        except BaseException:
            self.is_broken = True
            raise
        finally:
            self.moved = self._clock()

    async def asked(self, statement: str, *values: object) -> list[Any]:
        """What a statement returns that sees all that was written in this transaction."""
        await self.flush()
        return await self.rows(statement, *values)

    async def do(self, commands: str) -> None:
        """Run commands without values, in one message."""
        self.moved = self._clock()
        try:
            await self.connection.execute(commands)
        finally:
            self.moved = self._clock()

    async def flush(self) -> None:
        """Write what waits, in one statement.

        Raises:
            Torn: something is there already that was taken not to be.
        """
        parts = [part for waiting in self.waiting for part in waiting.parts()]
        if not parts:
            return
        if len(parts) == 1:
            text = parts[0].text
        else:
            named = (f"p{number} AS ({part.text})" for number, part in enumerate(parts))
            text = f"WITH {', '.join(named)} SELECT"
        try:
            await self.rows(numbered(text), *(value for part in parts for value in part.values))
        except Exception as error:
            if is_taken(error) and not self.is_eager:
                raise Torn from error
            raise

    def forget(self) -> None:
        """Drop what waits, after a rollback."""
        for waiting in self.waiting:
            waiting.forget()
        self.is_broken = False


@lru_cache(4096)
def numbered(text: str) -> str:
    """A statement with $1, $2 and so on in the place of its question marks."""
    pieces = text.split("?")
    marked = "".join(f"{piece}${number}" for number, piece in enumerate(pieces[:-1], 1))
    return marked + pieces[-1]
