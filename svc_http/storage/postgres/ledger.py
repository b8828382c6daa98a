"""Ledgers: sealed lines in the order of their numbers, kept as the bytes that they are.

Rule 1: a transaction that appends holds the row of the head (`FOR UPDATE`) from its first look at
        it; the head is read once, and the lines of all units of a commit go in one statement.
Rule 2: that no identifier is taken is believed until they go. Where one is, the commit is done
        anew, and each append looks before it adds (`Session.is_eager`).
Rule 3: designators are found by a digest, so that an index keeps nothing that can be erased.
Rule 4: record times never fall, so they are found by halving the ledger and need no index.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from svc_core import compact
from svc_core.ports import (
    DuplicateRecordError,
    LedgerHead,
    LedgerNode,
    SealedLine,
    StaleVersionError,
)
from svc_http.storage.lines import check, check_level, check_time
from svc_http.storage.postgres.session import Part, Session

_json = compact.encoder(ascii_only=False)

_ALL = (1 << 63) - 1

_HEAD = "SELECT size, state, recorded_at FROM ledgers WHERE tenant = $1"
_HOLD = f"{_HEAD} FOR UPDATE"
_GROW = (
    "INSERT INTO ledgers (tenant, size, state, recorded_at) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (tenant) DO UPDATE SET size = excluded.size, state = excluded.state,"
    " recorded_at = excluded.recorded_at"
)
_TAKEN = "SELECT id FROM ledger_lines WHERE tenant = $1 AND id = ANY($2::text[])"
_COLUMNS = "seq, id, subject, opens, recorded_at, keys, seal, line"
_ADD_LINES = (
    f"INSERT INTO ledger_lines (tenant, {_COLUMNS}) SELECT ?, n.* FROM unnest(?::bigint[],"
    " ?::text[], ?::text[], ?::bool[], ?::text[], ?::text[], ?::bytea[], ?::bytea[]) AS n"
)
_ADD_KEYS = (
    "INSERT INTO ledger_keys (tenant, digest, seq) SELECT ?, n.*"
    " FROM unnest(?::bigint[], ?::bigint[]) AS n ON CONFLICT DO NOTHING"
)
_ADD_NODES = (
    "INSERT INTO ledger_nodes (tenant, level, number, hash) SELECT ?, n.*"
    " FROM unnest(?::int[], ?::bigint[], ?::bytea[]) AS n"
)
_SEALED = f"SELECT {_COLUMNS} FROM ledger_lines AS l WHERE l.tenant = $1"
_GET = f"{_SEALED} AND id = $2"
_GET_MANY = f"{_SEALED} AND id = ANY ($2::text[])"
_RANGE = "FROM ledger_lines WHERE tenant = $1 AND seq >= $2 AND seq < $3 ORDER BY seq"
_LINES = f"SELECT line {_RANGE}"
_SEALS = f"SELECT seal {_RANGE}"
_OF_SUBJECTS = (
    "SELECT s.subject, l.line FROM unnest($2::text[]) WITH ORDINALITY AS s (subject, place)"
    " CROSS JOIN LATERAL (SELECT seq, line FROM ledger_lines WHERE tenant = $1"
    " AND subject = s.subject AND seq < $3 ORDER BY seq LIMIT $4) AS l"
    " ORDER BY s.place, l.seq LIMIT $4"
)
_COUNTS_OF = (
    "SELECT subject, count(*) FROM ledger_lines WHERE tenant = $1 AND subject = ANY ($2::text[])"
    " GROUP BY subject"
)
_OPENED = f"{_SEALED} AND opens AND seq < $2"
_NEWEST = " ORDER BY seq DESC LIMIT $3"
_HELD = (
    "FROM ledger_keys AS k JOIN ledger_lines AS h ON h.tenant = k.tenant AND h.seq = k.seq"
    " WHERE k.tenant = $1 AND k.digest = {digest} AND k.seq < {end}"
)
_OPENED_BY_KEY = (
    f"{_OPENED} AND subject IN (SELECT h.subject {_HELD.format(digest='$4', end='$5')}){_NEWEST}"
)
_HOLDERS = (
    "SELECT d.digest, s.subject FROM unnest($2::bigint[]) AS d (digest) CROSS JOIN LATERAL"
    f" (SELECT h.subject, min(k.seq) AS first {_HELD.format(digest='d.digest', end='$3')}"
    " GROUP BY h.subject ORDER BY first LIMIT $4) AS s ORDER BY s.first"
)
_SIZE_AT = (
    "WITH RECURSIVE halving (low, high) AS ("
    "SELECT 0::bigint, size FROM ledgers WHERE tenant = $1 UNION ALL"
    " SELECT CASE WHEN l.recorded_at <= $2 THEN h.middle + 1 ELSE h.low END,"
    " CASE WHEN l.recorded_at <= $2 THEN h.high ELSE h.middle END"
    " FROM (SELECT low, high, (low + high) / 2 AS middle FROM halving WHERE low < high) AS h"
    " JOIN ledger_lines AS l ON l.tenant = $1 AND l.seq = h.middle)"
    " SELECT low FROM halving WHERE low = high"
)
_NODES = (
    "SELECT hash FROM ledger_nodes WHERE tenant = $1 AND level = $2 AND number >= $3"
    " AND number < $4 ORDER BY number"
)
_ERASE = "UPDATE ledger_lines SET line = $3, keys = NULL WHERE tenant = $1 AND id = $2"
_DROP_KEYS = "DELETE FROM ledger_keys WHERE tenant = $1 AND digest = ANY($2::bigint[]) AND seq = $3"
_KEEP = (
    "INSERT INTO ledger_checkpoints AS c (tenant, day, size, text) VALUES ($1, $2, $3, $4)"
    " ON CONFLICT (tenant, day) DO UPDATE SET size = excluded.size, text = excluded.text"
    " WHERE excluded.size >= c.size"
)
_CHECKPOINTS = "SELECT text FROM ledger_checkpoints WHERE tenant = $1 ORDER BY day"


class PostgresLedger:
    """The ledger of one tenant."""

    def __init__(self, session: Session, tenant: str) -> None:
        self._session = session
        self._tenant = tenant
        self._is_known = self._is_grown = False
        self._head: LedgerHead | None = None
        self._recorded_at = ""
        self._lines: list[SealedLine] = []
        self._nodes: list[LedgerNode] = []
        self._ids: set[str] = set()
        session.waiting.append(self)

    async def head(self) -> LedgerHead | None:
        """The newest head, or None before the first append."""
        if not self._is_known:
            found = await self._session.rows(
                _HOLD if self._session.is_writable else _HEAD, self._tenant
            )
            for size, state, recorded_at in found:
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
        check(lines, nodes, head, expect)
        stored = await self.head()
        size = 0 if stored is None else stored.size
        if expect != size:
            raise StaleVersionError(size)
        check_time(self._recorded_at, lines)
        await self._check_ids(lines)
        self._session.write()
        self._head, self._is_grown = head, True
        self._ids.update(line.id for line in lines)
        self._lines += lines
        self._nodes += nodes
        if lines:
            self._recorded_at = lines[-1].recorded_at

    async def _check_ids(self, lines: Sequence[SealedLine]) -> None:
        """Check that no identifier is taken, as far as it is known without asking.

        Raises:
            DuplicateRecordError: one is; the first of them is named.
        """
        ids = [line.id for line in lines]
        seen = self._ids
        if self._session.is_eager or len({*ids}) < len(ids) or not seen.isdisjoint(ids):
            found = await self._session.rows(_TAKEN, self._tenant, ids)
            seen = seen | {row["id"] for row in found}
            for id_ in ids:
                if id_ in seen:
                    raise DuplicateRecordError(id_)
                seen.add(id_)

    async def get(self, id_: str) -> SealedLine | None:
        """The line of a record."""
        found = await self._session.asked(_GET, self._tenant, id_)
        return sealed(found[0]) if found else None

    async def get_many(self, ids: Sequence[str]) -> dict[str, SealedLine]:
        """The lines of the records that are there."""
        found = await self._session.asked(_GET_MANY, self._tenant, ids)
        lines = {row["id"]: sealed(row) for row in found}
        return {id_: lines[id_] for id_ in ids if id_ in lines}

    async def lines(self, start: int, end: int) -> tuple[bytes, ...]:
        """The lines of a range."""
        return await self._column(_LINES, start, end)

    async def of_subjects(
        self, subjects: Sequence[str], *, size: int | None = None, limit: int
    ) -> tuple[tuple[str, bytes], ...]:
        """The lines about one subject after the other, oldest first."""
        asked = ([*dict.fromkeys(subjects)], _end(size), limit)
        found = await self._session.asked(_OF_SUBJECTS, self._tenant, *asked)
        return tuple(map(tuple, found))

    async def counts_of(self, subjects: Sequence[str]) -> dict[str, int]:
        """How many lines there are about each subject."""
        counted = dict(await self._session.asked(_COUNTS_OF, self._tenant, subjects))
        return {subject: counted.get(subject, 0) for subject in subjects}

    async def opened(
        self,
        *,
        before: int | None = None,
        size: int | None = None,
        key: str | None = None,
        limit: int,
    ) -> tuple[SealedLine, ...]:
        """The lines that open a subject, newest first."""
        asked = (self._tenant, _end(size, before), limit)
        if key is None:
            found = await self._session.asked(_OPENED + _NEWEST, *asked)
        else:
            found = await self._session.asked(_OPENED_BY_KEY, *asked, digest_of(key), _end(size))
        return tuple(map(sealed, found))

    async def holders(
        self, keys: Sequence[str], *, size: int | None = None, limit: int
    ) -> dict[str, tuple[str, ...]]:
        """The subjects about which a line states each key."""
        digests = {key: digest_of(key) for key in keys}
        asked = ([*digests.values()], _end(size), limit)
        found = await self._session.asked(_HOLDERS, self._tenant, *asked)
        return {
            key: tuple(row["subject"] for row in found if row["digest"] == digest)
            for key, digest in digests.items()
        }

    async def size_at(self, recorded_at: str) -> int:
        """How many lines were recorded at or before this time."""
        found = await self._column(_SIZE_AT, recorded_at)
        return int(found[0]) if found else 0

    async def hashes(self, level: int, start: int, end: int) -> tuple[bytes, ...]:
        """The hashes of a range of one level."""
        check_level(level)
        if level == 0:
            return await self._column(_SEALS, start, end)
        return await self._column(_NODES, level, start, end)

    async def erase(self, id_: str, line: bytes) -> None:
        """Put `line` in the place of the record's; its keys go as well.

        The server keeps what was there until its table is vacuumed, which the store has done soon
        after the commit (`erasure`).
        """
        old = await self.get(id_)
        if old is None:
            raise AssertionError(f"the ledger holds no {id_}")
        self._session.write()
        await self._session.rows(_ERASE, self._tenant, id_, line)
        digests = [digest_of(key) for key in old.keys]
        await self._session.rows(_DROP_KEYS, self._tenant, digests, old.seq)
        self._session.has_erased = True

    async def keep_checkpoint(self, day: str, size: int, text: bytes) -> None:
        """Keep the checkpoint, unless a larger one of its day is kept."""
        self._session.write()
        await self._session.rows(_KEEP, self._tenant, day, size, text)

    async def checkpoints(self) -> tuple[bytes, ...]:
        """The last checkpoint of each day, oldest first."""
        return await self._column(_CHECKPOINTS)

    def parts(self) -> list[Part]:
        """The statements that write what waits."""
        if self._head is None or not self._is_grown:
            return []
        tenant = self._tenant
        parts = [Part(_GROW, (tenant, *self._head, self._recorded_at))]
        rows = [row_of(line) for line in self._lines]
        keys = [(digest_of(key), line.seq) for line in self._lines for key in line.keys]
        for text, table in ((_ADD_LINES, rows), (_ADD_KEYS, keys), (_ADD_NODES, self._nodes)):
            if table:
                parts.append(Part(text, (tenant, *map(list, zip(*table, strict=True)))))
        self._is_grown = False
        self._lines, self._nodes, self._ids = [], [], set()
        return parts

    def forget(self) -> None:
        """Drop what waits and what is remembered of the head."""
        self._is_known = self._is_grown = False
        self._head, self._recorded_at = None, ""
        self._lines, self._nodes, self._ids = [], [], set()

    async def _column(self, statement: str, *values: Any) -> tuple[Any, ...]:
        found = await self._session.asked(statement, self._tenant, *values)
        return tuple(value for (value,) in found)


def row_of(line: SealedLine) -> tuple[object, ...]:
    """A line as it is stored."""
    seq, id_, subject, opens, recorded_at, keys, seal, bytes_ = line
    return (seq, id_, subject, opens, recorded_at, _json(keys) if keys else None, seal, bytes_)


def sealed(row: Any) -> SealedLine:
    """A stored line."""
    seq, id_, subject, opens, recorded_at, keys, seal, line = row
    named = () if keys is None else tuple(json.loads(keys))
    return SealedLine(seq, id_, subject, opens, recorded_at, named, seal, line)


def _end(*bounds: int | None) -> int:
    """The lowest of the bounds that are given."""
    return min((bound for bound in bounds if bound is not None), default=_ALL)


def digest_of(key: str) -> int:
    """What a designator is found by: 64 bits of its SHA-256."""
    return int.from_bytes(sha256(key.encode()).digest()[:8], signed=True)
