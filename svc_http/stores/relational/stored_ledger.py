"""Reads ledgers from tables, and decides what may be appended, alike in every store with tables.

Rule 1: designators are indexed by a digest, so that no index holds content that may be erased.
Rule 2: record times never decrease, so a time is found by binary search and needs no index.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from svc_core.base.compact import compact_text
from svc_core.operation.ports import (
    LEDGER_LINES_MAX,
    LedgerCheckpoint,
    LedgerEnd,
    LedgerHead,
    LedgerKey,
    LedgerNode,
    SealedLine,
    StaleVersionError,
    key_digest,
)
from svc_core.operation.ports.ledger_lines import check_append, check_level, check_time, keys_in
from svc_http.stores.relational.sessions import TenantTables

SEQ_BITS: Final = LEDGER_LINES_MAX.bit_length() - 1
_BEFORE_ALL = LedgerKey(-(1 << 63), -1)


class RelationalLedger(TenantTables):
    """The ledger of one tenant; each statement has the tenant as its first value."""

    async def head(self) -> LedgerHead | None:
        """The newest head, or None before the first append."""
        rows = await self._rows("head")
        return LedgerHead._make(rows[0]) if rows else None

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
        check_time(await self._last_time(), lines)
        await self._add(lines, nodes, head)

    async def get(self, id_: str) -> SealedLine | None:
        """The line of a record."""
        return (await self.get_many((id_,))).get(id_)

    async def get_many(self, ids: Sequence[str]) -> dict[str, SealedLine]:
        """The lines of the records that are there."""
        lines = {row[1]: line_of(row) for row in await self._rows("get_many", list(ids))}
        return {id_: lines[id_] for id_ in ids if id_ in lines}

    async def lines(self, start: int, end: int) -> tuple[bytes, ...]:
        """The lines of a range."""
        return await self._column("lines", start, ledger_end(end))

    async def of_subjects(
        self, subjects: Sequence[str], *, start: int = 0, size: int | None = None, limit: int
    ) -> tuple[tuple[str, bytes], ...]:
        """The lines about one subject after the other, oldest first."""
        values = ([*dict.fromkeys(subjects)], start, ledger_end(size), limit)
        return tuple(map(tuple, await self._rows("of_subjects", *values)))

    async def acts(
        self,
        targets: Sequence[str],
        *,
        subjects: Sequence[str],
        size: int | None = None,
        limit: int = LEDGER_LINES_MAX,
    ) -> tuple[bytes, ...]:
        """The lines that act on one of the records, or on one of those lines."""
        ids = [*dict.fromkeys(targets)]
        end, rows = ledger_end(size), limit + len(ids)
        return (await self._column("acts", list(subjects), ids, end, rows))[:limit]

    async def counts_of(self, subjects: Sequence[str], *, start: int = 0) -> dict[str, int]:
        """How many lines there are about each subject."""
        counts = dict(await self._rows("counts_of", list(subjects), start))
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
        values = (ledger_end(size, before), limit)
        if key is None:
            rows = await self._rows("opened", *values)
        else:
            rows = await self._rows("opened_by_key", *values, key_digest(key), ledger_end(size))
        return tuple(map(line_of, rows))

    async def holders(
        self,
        keys: Sequence[str],
        *,
        size: int | None = None,
        limit: int,
        records: int = LEDGER_LINES_MAX,
    ) -> dict[str, dict[str, tuple[str, ...]]]:
        """The subjects about which a line states each key, with the records that do."""
        digests = {key: key_digest(key) for key in keys}
        values = [*digests.values()], ledger_end(size), limit, records
        rows = await self._rows("holders", *values)
        return {
            key: {
                subject: tuple(sorted(ids.split(",")))
                for row_digest, subject, ids in rows
                if row_digest == digest
            }
            for key, digest in digests.items()
        }

    async def size_at(self, recorded_at: str) -> int:
        """How many lines were recorded at or before this time."""
        sizes = await self._column("size_at", recorded_at)
        return int(sizes[0]) if sizes else 0

    async def hashes(self, level: int, start: int, end: int) -> tuple[bytes, ...]:
        """The hashes of a range of one level."""
        check_level(level)
        if level == 0:
            return await self._column("seals", start, ledger_end(end))
        return await self._column("nodes", level, start, end)

    async def erase(self, id_: str, line: bytes) -> None:
        """Put `line` in the place of the record's; its keys go as well."""
        old = await self.get(id_)
        if old is None:
            raise AssertionError(f"the ledger holds no {id_}")
        self._session.write()
        await self._overwrite(old, line)
        digests = [key_digest(key) for key in old.keys]
        await self._rows("drop_keys", digests, old.seq)

    async def drop(self, limit: int) -> bool:
        """Remove the last lines with their keys; once there are none, what stands beside them."""
        end = (await self.end()).size
        lines = await self.stored(range(max(end - limit, 0), end))
        for line in lines:
            await self._rows("drop_keys", [key_digest(key) for key in line.keys], line.seq)
        if lines:
            await self._remove(lines[0].seq)
            return True
        bounds = {"clear_nodes": (limit,), "clear_checkpoints": (limit,), "clear_head": ()}
        return any([await self._rows(name, *values) for name, values in bounds.items()])

    async def keep_checkpoint(self, day: str, size: int, text: bytes) -> None:
        """Keep the checkpoint, unless a larger one of its day is kept."""
        self._session.write()
        await self._rows("keep", day, size, text)

    async def checkpoints(self) -> tuple[LedgerCheckpoint, ...]:
        """The last checkpoint of each day, oldest first."""
        return tuple(map(LedgerCheckpoint._make, await self._rows("checkpoints")))

    async def end(self) -> LedgerEnd:
        """Where the lines end that are stored."""
        rows = await self._rows("end")
        return LedgerEnd._make(rows[0]) if rows else LedgerEnd(0, "")

    async def stored(self, numbers: Sequence[int]) -> tuple[SealedLine, ...]:
        """All that is stored of the lines of these numbers."""
        lines = [line_of(row) for row in await self._rows("stored", list(numbers))]
        pairs = [(key_digest(key), line.seq) for line in lines for key in line.keys]
        indexed = {tuple(row) for row in await self._rows("indexed", compact_text(pairs))}
        return tuple(
            line._replace(keys=tuple(k for k in line.keys if (key_digest(k), line.seq) in indexed))
            for line in lines
        )

    async def index(self, after: LedgerKey | None, limit: int) -> tuple[LedgerKey, ...]:
        """Entries of the index of designators, in their order."""
        rows = await self._rows("index", *(after or _BEFORE_ALL), limit)
        return tuple(map(LedgerKey._make, rows))

    @abstractmethod
    async def _last_time(self) -> str:
        """The record time of the last line, or an empty text."""

    @abstractmethod
    async def _add(
        self, lines: Sequence[SealedLine], nodes: Sequence[LedgerNode], head: LedgerHead
    ) -> None:
        """Write an append that continues the ledger, or nothing of it.

        Raises:
            DuplicateRecordError: an identifier is taken.
        """

    @abstractmethod
    async def _overwrite(self, old: SealedLine, line: bytes) -> None:
        """Put `line` in the place of the bytes of another, which then leave the files."""

    @abstractmethod
    async def _remove(self, start: int) -> None:
        """Remove the lines from number `start` on, whose bytes then leave the files."""

    async def _rows(self, name: str, *values: object) -> list[Any]:
        return await self._session.fetch(self.statements[name], self._tenant, *values)

    async def _column(self, name: str, *values: object) -> tuple[Any, ...]:
        return tuple([cell for (cell,) in await self._rows(name, *values)])


def keys_text(line: SealedLine) -> str | None:
    """The designators of a line as they are stored."""
    return compact_text(line.keys) if line.keys else None


def line_of(row: Any) -> SealedLine:
    """A `SealedLine` from a stored row."""
    seq, id_, subject, opens, recorded_at, keys, seal, line = row
    return SealedLine(seq, id_, subject, bool(opens), recorded_at, keys_in(keys), seal, line)


def ledger_end(*bounds: int | None) -> int:
    """The lowest of the given bounds."""
    return min([LEDGER_LINES_MAX, *(number for number in bounds if number is not None)])
