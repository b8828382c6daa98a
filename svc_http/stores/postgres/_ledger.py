"""Stores ledgers in PostgreSQL: append-only sealed lines as bytes.

Rule 1: a transaction that appends locks the row of the head (`FOR UPDATE`) when it first reads it.
        The head is read once, and the lines of all units of a commit are written in one statement.
Rule 2: identifiers are assumed to be free until the lines are written. If one is taken, the commit
        is repeated, and each append checks before it adds (`Session.is_eager`).
Rule 3: designators are indexed by a digest, so that no index holds content that may be erased.
Rule 4: record times never decrease, so a time is found by binary search and needs no index.
"""

from collections.abc import Sequence
from typing import Any

from svc_core.base import compact
from svc_core.operation.ports import (
    DuplicateRecordError,
    LedgerCheckpoint,
    LedgerEnd,
    LedgerHead,
    LedgerKey,
    LedgerNode,
    SealedLine,
    StaleVersionError,
    key_digest,
)
from svc_http.stores.ledger_lines import check_append, check_level, check_time, keys_in
from svc_http.stores.postgres._session import Session, Statement, session_statements

_json = compact.compact_encoder(ascii_only=False)

_SIZE_MAX = (1 << 63) - 1
_BEFORE_ALL = LedgerKey(-(1 << 63), -1)

_SQL = session_statements("ledger.sql")


class PostgresLedger:
    """The ledger of one tenant."""

    def __init__(self, session: Session, tenant: str) -> None:
        self._session = session
        self._tenant = tenant
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

    async def append(
        self,
        lines: Sequence[SealedLine],
        nodes: Sequence[LedgerNode],
        head: LedgerHead,
        *,
        expect: int,
    ) -> None:
        """Add all lines, the nodes that they complete, and the head after them; see the port."""
        check_append(lines, nodes, head, expect)
        current = await self.head()
        size = 0 if current is None else current.size
        if expect != size:
            raise StaleVersionError(size)
        check_time(self._recorded_at, lines)
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

    async def get(self, id_: str) -> SealedLine | None:
        """The line of a record."""
        return (await self.get_many((id_,))).get(id_)

    async def get_many(self, ids: Sequence[str]) -> dict[str, SealedLine]:
        """The lines of the records that are there."""
        rows = await self._session.fetch(_SQL["get_many"], self._tenant, ids)
        lines = {row["id"]: postgres_line(row) for row in rows}
        return {id_: lines[id_] for id_ in ids if id_ in lines}

    async def lines(self, start: int, end: int) -> tuple[bytes, ...]:
        """The lines of a range."""
        return await self._column(_SQL["lines"], start, end)

    async def of_subjects(
        self, subjects: Sequence[str], *, start: int = 0, size: int | None = None, limit: int
    ) -> tuple[tuple[str, bytes], ...]:
        """The lines about one subject after the other, oldest first."""
        values = ([*dict.fromkeys(subjects)], start, _end(size), limit)
        rows = await self._session.fetch(_SQL["of_subjects"], self._tenant, *values)
        return tuple(map(tuple, rows))

    async def counts_of(self, subjects: Sequence[str], *, start: int = 0) -> dict[str, int]:
        """How many lines there are about each subject."""
        counts = dict(await self._session.fetch(_SQL["counts_of"], self._tenant, subjects, start))
        return {subject: counts.get(subject, 0) for subject in subjects}

    async def opened(
        self,
        *,
        before: int | None = None,
        size: int | None = None,
        key: str | None = None,
        limit: int,
    ) -> tuple[SealedLine, ...]:
        """The lines that open a subject, newest first."""
        values = (self._tenant, _end(size, before), limit)
        if key is None:
            rows = await self._session.fetch(_SQL["opened"], *values)
        else:
            rows = await self._session.fetch(
                _SQL["opened_by_key"], *values, key_digest(key), _end(size)
            )
        return tuple(map(postgres_line, rows))

    async def holders(
        self, keys: Sequence[str], *, size: int | None = None, limit: int
    ) -> dict[str, tuple[str, ...]]:
        """The subjects about which a line states each key."""
        digests = {key: key_digest(key) for key in keys}
        values = ([*digests.values()], _end(size), limit)
        rows = await self._session.fetch(_SQL["holders"], self._tenant, *values)
        return {
            key: tuple(row["subject"] for row in rows if row["digest"] == digest)
            for key, digest in digests.items()
        }

    async def size_at(self, recorded_at: str) -> int:
        """How many lines were recorded at or before this time."""
        sizes = await self._column(_SQL["size_at"], recorded_at)
        return int(sizes[0]) if sizes else 0

    async def hashes(self, level: int, start: int, end: int) -> tuple[bytes, ...]:
        """The hashes of a range of one level."""
        check_level(level)
        if level == 0:
            return await self._column(_SQL["seals"], start, end)
        return await self._column(_SQL["nodes"], level, start, end)

    async def erase(self, id_: str, line: bytes) -> None:
        """Put `line` in the place of the record's; its keys go as well.

        The server keeps the old row version until the table is vacuumed, which the store does soon
        after the commit (`PostgresStorage`).
        """
        old = await self.get(id_)
        if old is None:
            raise AssertionError(f"the ledger holds no {id_}")
        self._session.write()
        await self._session.rows(_SQL["erase"], self._tenant, id_, line)
        digests = [key_digest(key) for key in old.keys]
        await self._session.rows(_SQL["drop_keys"], self._tenant, digests, old.seq)
        self._session.has_erased = True

    async def keep_checkpoint(self, day: str, size: int, text: bytes) -> None:
        """Keep the checkpoint, unless a larger one of its day is kept."""
        self._session.write()
        await self._session.rows(_SQL["keep"], self._tenant, day, size, text)

    async def checkpoints(self) -> tuple[LedgerCheckpoint, ...]:
        """The last checkpoint of each day, oldest first."""
        rows = await self._session.fetch(_SQL["checkpoints"], self._tenant)
        return tuple(map(LedgerCheckpoint._make, rows))

    async def end(self) -> LedgerEnd:
        """Where the lines end that are stored."""
        (row,) = await self._session.fetch(_SQL["end"], self._tenant)
        return LedgerEnd._make(row)

    async def stored(self, numbers: Sequence[int]) -> tuple[SealedLine, ...]:
        """All that is stored of the lines of these numbers."""
        rows = await self._session.fetch(_SQL["stored"], self._tenant, list(numbers))
        line_keys = {row["seq"]: keys_in(row["keys"]) for row in rows}
        places = [(key_digest(key), seq) for seq, keys in line_keys.items() for key in keys]
        pairs = map(list, zip(*places, strict=True)) if places else ([], [])
        records = {
            tuple(row) for row in await self._session.rows(_SQL["keyed"], self._tenant, *pairs)
        }

        def line(
            seq: int, id_: str, subject: str, opens: bool, at: str, _: Any, *rest: bytes
        ) -> Any:
            keys = tuple(key for key in line_keys[seq] if (key_digest(key), seq) in records)
            return SealedLine(seq, id_, subject, opens, at, keys, *rest)

        return tuple(line(*row) for row in rows)

    async def index(self, after: LedgerKey | None, limit: int) -> tuple[LedgerKey, ...]:
        """Entries of the index of designators, in their order."""
        values = (*(after or _BEFORE_ALL), limit)
        rows = await self._session.fetch(_SQL["index"], self._tenant, *values)
        return tuple(map(LedgerKey._make, rows))

    def take_statements(self) -> list[Statement]:
        """The statements that write the buffered lines, which leave the buffer."""
        if self._head is None or not self._is_grown:
            return []
        tenant = self._tenant
        statements_: list[Statement] = [(_SQL["grow"], [tenant, *self._head, self._recorded_at])]
        rows = [row_of(line) for line in self._lines.values()]
        keys = [(key_digest(k), line.seq) for line in self._lines.values() for k in {*line.keys}]
        for name, table in (("add_lines", rows), ("add_keys", keys), ("add_nodes", self._nodes)):
            if table:
                statements_.append((_SQL[name], [tenant, *map(list, zip(*table, strict=True))]))
        self._is_grown, self._lines, self._nodes = False, {}, []
        return statements_

    def discard(self) -> None:
        """Drop the buffered lines and the cached head."""
        self._is_known = self._is_grown = False
        self._head, self._recorded_at, self._lines, self._nodes = None, "", {}, []

    async def _column(self, statement: str, *values: Any) -> tuple[Any, ...]:
        rows = await self._session.fetch(statement, self._tenant, *values)
        return tuple(value for (value,) in rows)


def row_of(line: SealedLine) -> tuple[object, ...]:
    """The values of the row that stores a line."""
    seq, id_, subject, opens, recorded_at, keys, seal, bytes_ = line
    return (seq, id_, subject, opens, recorded_at, _json(keys) if keys else None, seal, bytes_)


def postgres_line(row: Any) -> SealedLine:
    """A `SealedLine` from a stored row."""
    seq, id_, subject, opens, recorded_at, keys, seal, line = row
    return SealedLine(seq, id_, subject, opens, recorded_at, keys_in(keys), seal, line)


def _end(*bounds: int | None) -> int:
    """The lowest of the given bounds."""
    return min((number for number in bounds if number is not None), default=_SIZE_MAX)
