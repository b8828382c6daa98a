"""Stores ledgers in SQLite: append-only sealed lines as bytes, with erasable bodies.

Rule 1: the `place` of a line packs the number of its ledger and its own number into one integer,
        the primary key. So a ledger is contiguous, a range of it is read without an index, and
        every index implicitly ends in the order of the lines.
Rule 2: only a body can be erased: the bytes of a line and the designators that it states. SQLite
        leaves copies of a row behind when it moves the row to another page, even with
        `secure_delete`. So bodies are only appended to a table of their own, where rows never move,
        and an erased body is overwritten in place by zeros of the same size.
        The zeros stay when the lines of an ended tenant are removed, as removing them would move
        others.
Rule 3: an erasure leaves copies in the write-ahead log; the writer then truncates it (`Traces`).
"""

import sqlite3
from collections.abc import Sequence

from svc_core.operation.ports import (
    DuplicateRecordError,
    LedgerHead,
    LedgerNode,
    SealedLine,
    key_digest,
)
from svc_http.stores.relational.stored_ledger import (
    SEQ_BITS,
    RelationalLedger,
    keys_text,
    ledger_end,
)
from svc_http.stores.sqlite._session import SqliteSession
from svc_http.stores.statement_files import named_statements

_SQL = named_statements(__package__, "ledger.sql")


class SqliteLedger(RelationalLedger):
    """The ledger of one tenant."""

    statements = _SQL
    _session: SqliteSession

    async def of_subjects(
        self, subjects: Sequence[str], *, start: int = 0, size: int | None = None, limit: int
    ) -> tuple[tuple[str, bytes], ...]:
        """The lines about one subject after the other, oldest first: one walk for each."""
        lines = list[tuple[str, bytes]]()
        for subject in dict.fromkeys(subjects):
            values = (subject, start, ledger_end(size), limit - len(lines))
            lines += [(subject, line) for line in await self._column("of_subject", *values)]
        return tuple(lines)

    async def _last_time(self) -> str:
        return (await self.end()).recorded_at

    async def _add(
        self, lines: Sequence[SealedLine], nodes: Sequence[LedgerNode], head: LedgerHead
    ) -> None:
        self._session.write()
        connection = self._session.connection
        ((number,),) = await self._rows("number")
        try:
            add_lines(connection, number, lines)
        except sqlite3.IntegrityError:
            first = (number << SEQ_BITS) + lines[0].seq
            dropped = connection.execute(_SQL["drop_lines"], (first, first + len(lines)))
            raise DuplicateRecordError(lines[dropped.rowcount].id) from None
        connection.executemany(_SQL["add_node"], ((number, *node) for node in nodes))
        connection.execute(_SQL["grow"], (number, self._tenant, *head))

    async def _overwrite(self, old: SealedLine, line: bytes) -> None:
        connection = self._session.connection
        self._session.batch.traces.note_erasure()
        await self._rows("blank", old.seq)
        body = _next_body(connection)
        connection.execute(_SQL["add_body"], (body, None, line))
        await self._rows("point", old.seq, body)

    async def _remove(self, start: int) -> None:
        self._session.batch.traces.may_remain = True  # one that no reader holds up, so no patience
        await self._rows("blank_lines", start)
        await self._rows("clear_lines", start)


def add_lines(connection: sqlite3.Connection, ledger: int, lines: Sequence[SealedLine]) -> None:
    """Write lines of the ledger of that number, with their bodies and their designator index.

    Raises:
        sqlite3.IntegrityError: an identifier is taken; the lines before it were written.
    """
    first, body = ledger << SEQ_BITS, _next_body(connection)
    rows = (
        (first + seq, ledger, id_, subject, opens, recorded_at, seal, number)
        for number, (seq, id_, subject, opens, recorded_at, _, seal, _) in enumerate(lines, body)
    )
    connection.executemany(_SQL["add_line"], rows)
    bodies = ((number, keys_text(line), line.line) for number, line in enumerate(lines, body))
    connection.executemany(_SQL["add_body"], bodies)
    keys = ((key_digest(key), first + line.seq) for line in lines for key in {*line.keys})
    connection.executemany(_SQL["add_key"], keys)


def _next_body(connection: sqlite3.Connection) -> int:
    body: int = connection.execute(_SQL["next_body"]).fetchone()[0]
    return body
