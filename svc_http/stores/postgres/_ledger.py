"""Stores ledgers in PostgreSQL: append-only sealed lines as bytes.

Rule 1: a transaction that appends locks the row of the head (`FOR UPDATE`) when it first reads it.
        The head is read once, and the lines of all units of a commit are written in one statement.
Rule 2: identifiers are assumed to be free until the lines are written. If one is taken, the commit
        is repeated, and each append checks before it adds (`Session.is_eager`).
"""

from collections.abc import Sequence

from svc_core.operation.ports import (
    DuplicateRecordError,
    LedgerHead,
    LedgerNode,
    SealedLine,
    key_digest,
)
from svc_http.stores.postgres._session import Session, Statement
from svc_http.stores.relational.stored_ledger import RelationalLedger, keys_text
from svc_http.stores.statement_files import named_statements

_SQL = named_statements(__package__, "ledger.sql")


class PostgresLedger(RelationalLedger):
    """The ledger of one tenant."""

    statements = _SQL
    _session: Session

    def __init__(self, session: Session, tenant: str) -> None:
        super().__init__(session, tenant)
        self._is_known = self._is_grown = False
        self._head: LedgerHead | None = None
        self._recorded_at = ""
        self._lines: dict[str, SealedLine] = {}
        self._nodes: list[LedgerNode] = []
        session.buffers.append(self)

    async def head(self) -> LedgerHead | None:
        """The newest head, or None before the first append."""
        if not self._is_known:
            statement = _SQL["hold" if self._session.is_writable else "head"]
            rows = await self._session.rows(statement, self._tenant)
            for size, state, recorded_at in rows:
                self._head, self._recorded_at = LedgerHead(size, state), recorded_at
            self._is_known = True
        return self._head

    async def _last_time(self) -> str:
        return self._recorded_at

    async def _add(
        self, lines: Sequence[SealedLine], nodes: Sequence[LedgerNode], head: LedgerHead
    ) -> None:
        await self._check_ids(lines)
        self._session.write()
        self._head, self._is_grown = head, True
        self._lines |= {line.id: line for line in lines}
        self._nodes += nodes
        if lines:
            self._recorded_at = lines[-1].recorded_at

    async def _check_ids(self, lines: Sequence[SealedLine]) -> None:
        """Check that no identifier is taken; the server is asked only in an eager session.

        Raises:
            DuplicateRecordError: one is taken; the error names the first.
        """
        ids = [line.id for line in lines]
        is_new = len({*ids}) == len(ids) and self._lines.keys().isdisjoint(ids)
        if self._session.is_eager or not is_new:
            rows = await self._session.rows(_SQL["taken"], self._tenant, ids)
            seen = {*self._lines, *(row["id"] for row in rows)}
            for id_ in ids:
                if id_ in seen:
                    raise DuplicateRecordError(id_)
                seen.add(id_)

    async def _overwrite(self, old: SealedLine, line: bytes) -> None:
        """Put `line` in the place of another.

        The server keeps the old row version until the table is vacuumed, which the store does soon
        after the commit (`PostgresStorage`).
        """
        await self._rows("erase", old.id, line)
        self._session.has_erased = True

    async def drop(self, limit: int) -> bool:
        """Remove the last lines; the head has to be read anew."""
        has_dropped = await super().drop(limit)
        self.discard()
        self._session.has_erased |= has_dropped
        return has_dropped

    async def _remove(self, start: int) -> None:
        await self._rows("clear_lines", start)

    def take_statements(self) -> list[Statement]:
        """The statements that write the buffered lines, which leave the buffer."""
        if self._head is None or not self._is_grown:
            return []
        tenant = self._tenant
        statements: list[Statement] = [(_SQL["grow"], [tenant, *self._head, self._recorded_at])]
        rows = [row_of(line) for line in self._lines.values()]
        keys = [(key_digest(k), line.seq) for line in self._lines.values() for k in {*line.keys}]
        for name, table in (("add_lines", rows), ("add_keys", keys), ("add_nodes", self._nodes)):
            if table:
                statements.append((_SQL[name], [tenant, *map(list, zip(*table, strict=True))]))
        self._is_grown, self._lines, self._nodes = False, {}, []
        return statements

    def discard(self) -> None:
        """Drop the buffered lines and the cached head."""
        self._is_known = self._is_grown = False
        self._head, self._recorded_at, self._lines, self._nodes = None, "", {}, []


def row_of(line: SealedLine) -> tuple[object, ...]:
    """The values of the row that stores a line."""
    seq, id_, subject, opens, recorded_at, _, seal, bytes_ = line
    return (seq, id_, subject, opens, recorded_at, keys_text(line), seal, bytes_)
