"""Stores ledgers in SQLite: append-only sealed lines as bytes, with erasable bodies.

Rule 1: the `place` of a line packs the number of its ledger and its own number into one integer,
        the primary key. So a ledger is contiguous, a range of it is read without an index, and
        every index implicitly ends in the order of the lines.
Rule 2: only a body can be erased: the bytes of a line and the designators that it states. SQLite
        leaves copies of a row behind when it moves the row to another page, even with
        `secure_delete`. So bodies are only appended to a table of their own, where rows never move,
        and an erased body is overwritten in place by zeros of the same size.
Rule 3: designators are indexed by a digest, because an index does move its rows.
Rule 4: record times never decrease, so a time is found by binary search and needs no index.
Rule 5: an erasure leaves copies in the write-ahead log; the writer then truncates it (`Traces`).
"""

import sqlite3
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

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
from svc_http.stores.sqlite._traces import Traces

_json = compact.compact_encoder(ascii_only=False)

_SEQ_BITS: Final = 40
"""2**40 lines a ledger and 2**23 ledgers a file: more than the largest file of SQLite can hold."""
_SEQ_MASK: Final = (1 << _SEQ_BITS) - 1

_HEAD = "SELECT number, size, state FROM ledgers WHERE tenant = ?"
_NEXT = "SELECT coalesce(max(number), 0) + 1 FROM ledgers"
_GROW = (
    "INSERT INTO ledgers (number, tenant, size, state) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (number) DO UPDATE SET size = excluded.size, state = excluded.state"
)
_ADD_LINE = (
    "INSERT INTO ledger_lines (place, ledger, id, subject, opens, recorded_at, seal, body)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_DROP_FROM = "DELETE FROM ledger_lines WHERE place >= ? AND place < ?"
_LAST_BODY = "SELECT max(number) FROM ledger_bodies"
_ADD_BODY = "INSERT INTO ledger_bodies (number, keys, line) VALUES (?, ?, ?)"
_ADD_KEY = "INSERT OR IGNORE INTO ledger_keys (digest, place) VALUES (?, ?)"
_ADD_NODE = "INSERT INTO ledger_nodes (ledger, level, number, hash) VALUES (?, ?, ?, ?)"

_BODIES = "FROM ledger_lines AS l CROSS JOIN ledger_bodies AS b ON b.number = l.body"
_SELECT_LINE = f"SELECT place, id, subject, opens, recorded_at, keys, seal, line {_BODIES}"
_GET = f"{_SELECT_LINE} WHERE ledger = ? AND id = ?"
_GET_MANY = f"{_SELECT_LINE} WHERE ledger = ? AND id IN (SELECT value FROM json_each(?))"  # noqa: S608 - parameters
_LINES = f"SELECT line {_BODIES} WHERE place >= ? AND place < ? ORDER BY place"
_SEALS = "SELECT seal FROM ledger_lines WHERE place >= ? AND place < ? ORDER BY place"
_TIME = "SELECT recorded_at FROM ledger_lines WHERE place = ?"
_OF_SUBJECT = (
    f"SELECT line {_BODIES} WHERE subject = ? AND place >= ? AND place < ? ORDER BY place LIMIT ?"
)
_COUNT_OF = "SELECT COUNT(*) FROM ledger_lines WHERE subject = ? AND place >= ? AND place < ?"
_OPENINGS = (
    f"{_SELECT_LINE} WHERE opens = 1 AND place >= ? AND place < ? ORDER BY place DESC LIMIT ?"
)
_KEY_LINES = (
    "FROM ledger_keys AS k CROSS JOIN ledger_lines AS h ON h.place = k.place"
    " WHERE k.digest = {digest} AND k.place >= {first} AND k.place < {end}"
)
# The plus (`+opens`) keeps SQLite from walking all openings where few subjects hold the key.
_OPENINGS_BY_KEY = (
    f"{_SELECT_LINE} WHERE +opens = 1 AND place >= ?1 AND place < ?2"
    " AND subject IN (SELECT h.subject "
    + _KEY_LINES.format(digest="?4", first="?1", end="?5")
    + ") ORDER BY place DESC LIMIT ?3"
)
_HOLDERS = (
    "SELECT h.subject "
    + _KEY_LINES.format(digest="?", first="?", end="?")
    + " GROUP BY h.subject ORDER BY min(k.place) LIMIT ?"
)
_NODES = (
    "SELECT hash FROM ledger_nodes WHERE ledger = ? AND level = ? AND number >= ? AND number < ?"
    " ORDER BY number"
)
_BODY = "SELECT body FROM ledger_lines WHERE place = ?"
_BLANK = (
    "UPDATE ledger_bodies SET line = zeroblob(length(line)),"
    " keys = CAST(zeroblob(length(CAST(keys AS BLOB))) AS TEXT) WHERE number = ?"
)
_POINT = "UPDATE ledger_lines SET body = ? WHERE place = ?"
_DROP_KEY = "DELETE FROM ledger_keys WHERE digest = ? AND place = ?"
_KEEP = (
    "INSERT INTO ledger_checkpoints (tenant, day, size, text) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (tenant, day) DO UPDATE SET size = excluded.size, text = excluded.text"
    " WHERE excluded.size >= size"
)
_CHECKPOINTS = "SELECT day, size, text FROM ledger_checkpoints WHERE tenant = ? ORDER BY day"
_END = (
    "SELECT place, recorded_at FROM ledger_lines WHERE place >= ? AND place < ?"
    " ORDER BY place DESC LIMIT 1"
)
_STORED_LINES = (
    "SELECT l.place, l.id, l.subject, l.opens = 1, l.recorded_at, b.keys, l.seal, b.line"
    " FROM json_each(?) AS n CROSS JOIN ledger_lines AS l ON l.place = n.value"
    " LEFT JOIN ledger_bodies AS b ON b.number = l.body ORDER BY l.place"
)
_IS_KEY = "SELECT 1 FROM ledger_keys WHERE digest = ? AND place = ?"
_INDEX = (
    "SELECT digest, place FROM ledger_keys WHERE (digest, place) > (?, ?)"
    " AND place >= ? AND place < ? ORDER BY digest, place LIMIT ?"
)


class _LedgerRow(NamedTuple):
    """The row of a ledger; a ledger without lines has number 0."""

    number: int
    head: LedgerHead

    @property
    def first(self) -> int:
        """The place of line 0."""
        return self.number << _SEQ_BITS

    @property
    def places(self) -> tuple[int, int]:
        """The range of places of a ledger: the place of line 0, and the end of its range."""
        return self.first, self.first + _SEQ_MASK + 1

    def end(self, *bounds: int | None) -> int:
        """The place after the last existing line, or the lowest of the given bounds."""
        return self.first + min([self.head.size, *(b for b in bounds if b is not None)])


_BEFORE_ALL: Final = (-(1 << 63), -1)
_NO_LEDGER = _LedgerRow(0, LedgerHead(0, b""))


class SqliteLedger:
    """The ledger of one tenant; `traces` is None in a reading transaction."""

    __slots__ = ("_connection", "_tenant", "_traces")

    def __init__(self, connection: sqlite3.Connection, tenant: str, traces: Traces | None) -> None:
        self._connection = connection
        self._tenant = tenant
        self._traces = traces

    async def head(self) -> LedgerHead | None:
        """The newest head, or None before the first append."""
        book = self._book()
        return book.head if book.number else None

    async def append(
        self,
        lines: Sequence[SealedLine],
        nodes: Sequence[LedgerNode],
        head: LedgerHead,
        *,
        expect: int,
    ) -> None:
        """Add all lines, the nodes that they complete, and the head after them; see the port."""
        self._require_traces()
        check_append(lines, nodes, head, expect)
        book = self._book()
        if expect != book.head.size:
            raise StaleVersionError(book.head.size)
        if expect:
            check_time(self._time(book.end() - 1), lines)
        number = book.number or self._connection.execute(_NEXT).fetchone()[0]
        book = _LedgerRow(number, head)
        self._add(book, lines, expect)
        self._connection.executemany(_ADD_NODE, ((number, *node) for node in nodes))
        self._connection.execute(_GROW, (number, self._tenant, *head))

    def _add(self, book: _LedgerRow, lines: Sequence[SealedLine], expect: int) -> None:
        """Write the lines and their keys, or none of them.

        Raises:
            DuplicateRecordError: an identifier is taken.
        """
        try:
            add_lines(self._connection, book.number, lines)
        except sqlite3.IntegrityError:
            bounds = (book.first + expect, book.end())
            count = self._connection.execute(_DROP_FROM, bounds).rowcount
            raise DuplicateRecordError(lines[count].id) from None

    async def get(self, id_: str) -> SealedLine | None:
        """The line of a record."""
        row = self._connection.execute(_GET, (self._book().number, id_)).fetchone()
        return None if row is None else line_of(row)

    async def get_many(self, ids: Sequence[str]) -> dict[str, SealedLine]:
        """The lines of the records that are there."""
        rows = self._connection.execute(_GET_MANY, (self._book().number, _json(ids)))
        lines = {row[1]: line_of(row) for row in rows}
        return {id_: lines[id_] for id_ in ids if id_ in lines}

    async def lines(self, start: int, end: int) -> tuple[bytes, ...]:
        """The lines of a range."""
        book = self._book()
        return self._column(_LINES, book.first + start, book.end(end))

    async def of_subjects(
        self, subjects: Sequence[str], *, start: int = 0, size: int | None = None, limit: int
    ) -> tuple[tuple[str, bytes], ...]:
        """The lines about one subject after the other, oldest first."""
        book, lines = self._book(), list[tuple[str, bytes]]()
        for subject in dict.fromkeys(subjects):
            values = (subject, book.first + start, book.end(size), limit - len(lines))
            lines += [(subject, line) for line in self._column(_OF_SUBJECT, *values)]
        return tuple(lines)

    async def counts_of(self, subjects: Sequence[str], *, start: int = 0) -> dict[str, int]:
        """How many lines there are about each subject."""
        book = self._book()
        bounds = (book.first + start, book.end(None))
        return {subject: self._column(_COUNT_OF, subject, *bounds)[0] for subject in subjects}

    async def opened(
        self,
        *,
        before: int | None = None,
        size: int | None = None,
        key: str | None = None,
        limit: int,
    ) -> tuple[SealedLine, ...]:
        """The lines that open a subject, newest first."""
        book = self._book()
        values: tuple[Any, ...] = (book.first, book.end(size, before), limit)
        if key is None:
            rows = self._connection.execute(_OPENINGS, values)
        else:
            rows = self._connection.execute(
                _OPENINGS_BY_KEY, (*values, key_digest(key), book.end(size))
            )
        return tuple(map(line_of, rows))

    async def holders(
        self, keys: Sequence[str], *, size: int | None = None, limit: int
    ) -> dict[str, tuple[str, ...]]:
        """The subjects about which a line states each key."""
        book = self._book()
        values = (book.first, book.end(size), limit)
        return {key: self._column(_HOLDERS, key_digest(key), *values) for key in keys}

    async def size_at(self, recorded_at: str) -> int:
        """How many lines were recorded at or before this time."""
        book = self._book()
        return bisect_right(range(book.first, book.end()), recorded_at, key=self._time)

    async def hashes(self, level: int, start: int, end: int) -> tuple[bytes, ...]:
        """The hashes of a range of one level."""
        check_level(level)
        book = self._book()
        if level == 0:
            return self._column(_SEALS, book.first + start, book.end(end))
        return self._column(_NODES, book.number, level, start, end)

    async def erase(self, id_: str, line: bytes) -> None:
        """Put `line` in the place of the record's; its keys go as well."""
        traces = self._require_traces()
        book, old = self._book(), await self.get(id_)
        if old is None:
            raise AssertionError(f"the ledger holds no {id_}")
        place = book.first + old.seq
        traces.note_erasure()
        self._connection.execute(_BLANK, self._connection.execute(_BODY, (place,)).fetchone())
        body = _next_body(self._connection)
        self._connection.execute(_ADD_BODY, (body, None, line))
        self._connection.execute(_POINT, (body, place))
        self._connection.executemany(_DROP_KEY, ((key_digest(key), place) for key in old.keys))

    async def keep_checkpoint(self, day: str, size: int, text: bytes) -> None:
        """Keep the checkpoint, unless a larger one of its day is kept."""
        self._require_traces()
        self._connection.execute(_KEEP, (self._tenant, day, size, text))

    async def checkpoints(self) -> tuple[LedgerCheckpoint, ...]:
        """The last checkpoint of each day, oldest first."""
        rows = self._connection.execute(_CHECKPOINTS, (self._tenant,))
        return tuple(map(LedgerCheckpoint._make, rows))

    async def end(self) -> LedgerEnd:
        """Where the lines end that are stored."""
        book = self._book()
        row = self._connection.execute(_END, book.places).fetchone()
        return LedgerEnd(0, "") if row is None else LedgerEnd(row[0] - book.first + 1, row[1])

    async def stored(self, numbers: Sequence[int]) -> tuple[SealedLine, ...]:
        """All that is stored of the lines of these numbers."""
        book = self._book()
        places = _json([book.first + number for number in numbers])
        rows = self._connection.execute(_STORED_LINES, (places,)).fetchall()
        return tuple(map(self._stored_line, rows))

    def _stored_line(self, row: tuple[Any, ...]) -> SealedLine:
        place, id_, subject, opens, recorded_at, keys_text, seal, line = row
        keys = tuple(
            key
            for key in keys_in(keys_text)
            if self._connection.execute(_IS_KEY, (key_digest(key), place)).fetchone()
        )
        seq = place & _SEQ_MASK
        return SealedLine(seq, id_, subject, bool(opens), recorded_at, keys, seal, line or b"")

    async def index(self, after: LedgerKey | None, limit: int) -> tuple[LedgerKey, ...]:
        """Entries of the index of designators, in their order."""
        book = self._book()
        last = _BEFORE_ALL if after is None else (after.digest, book.first + after.seq)
        rows = self._connection.execute(_INDEX, (*last, *book.places, limit))
        return tuple(LedgerKey(digest, place - book.first) for digest, place in rows)

    def _book(self) -> _LedgerRow:
        row = self._connection.execute(_HEAD, (self._tenant,)).fetchone()
        return _NO_LEDGER if row is None else _LedgerRow(row[0], LedgerHead(*row[1:]))

    def _time(self, place: int) -> str:
        time: str = self._connection.execute(_TIME, (place,)).fetchone()[0]
        return time

    def _column(self, statement: str, *values: Any) -> tuple[Any, ...]:
        return tuple(value for (value,) in self._connection.execute(statement, values))

    def _require_traces(self) -> Traces:
        if self._traces is None:
            raise AssertionError("a reading transaction writes")
        return self._traces


def add_lines(connection: sqlite3.Connection, ledger: int, lines: Sequence[SealedLine]) -> None:
    """Write lines of the ledger of that number, with their bodies and their designator index.

    Raises:
        sqlite3.IntegrityError: an identifier is taken; the lines before it were written.
    """
    body, first = _next_body(connection), ledger << _SEQ_BITS
    rows = (_row(ledger, line, number) for number, line in enumerate(lines, body))
    connection.executemany(_ADD_LINE, rows)
    bodies = ((n, _json(x.keys) if x.keys else None, x.line) for n, x in enumerate(lines, body))
    connection.executemany(_ADD_BODY, bodies)
    keys = ((key_digest(key), first + line.seq) for line in lines for key in {*line.keys})
    connection.executemany(_ADD_KEY, keys)


def _next_body(connection: sqlite3.Connection) -> int:
    last: int = connection.execute(_LAST_BODY).fetchone()[0]
    return last + 1


def _row(ledger: int, line: SealedLine, body: int) -> tuple[Any, ...]:
    seq, id_, subject, opens, recorded_at, _, seal, _ = line
    place = (ledger << _SEQ_BITS) + seq
    return (place, ledger, id_, subject, opens, recorded_at, seal, body)


def line_of(row: tuple[Any, ...]) -> SealedLine:
    """A `SealedLine` from a stored row, which begins with the place."""
    place, id_, subject, opens, recorded_at, keys, seal, line = row
    seq = place & _SEQ_MASK
    return SealedLine(seq, id_, subject, bool(opens), recorded_at, keys_in(keys), seal, line)
