"""Ledgers in lists and dictionaries: the simple model of the durable ones."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

import attrs
from attrs import define, field, frozen

from svc_core.operation.ports import (
    LEDGER_LINES_MAX,
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
from svc_core.operation.ports.ledger_lines import (
    check_append,
    check_level,
    check_time,
    target_in,
)

Undo = Callable[[], object]


@define(eq=False)
class Log:
    """The contents of one ledger."""

    head: LedgerHead | None = None
    lines: list[SealedLine] = field(factory=list)
    places: dict[str, int] = field(factory=dict)
    nodes: dict[tuple[int, int], bytes] = field(factory=dict)
    checkpoints: dict[str, tuple[int, bytes]] = field(factory=dict)

    def visible(self, size: int | None) -> list[SealedLine]:
        """The first `size` lines; all of them if `size` is None."""
        return self.lines[:size]


@frozen(eq=False)
class ModelLedger:
    """One transaction's view of a ledger.

    `record_undo` receives the reversal of each write before the write. It raises in a reading
    transaction, so nothing changes there.
    """

    log: Log
    record_undo: Callable[[Undo], None]

    async def head(self) -> LedgerHead | None:
        """The newest head, or None before the first append."""
        return self.log.head

    async def append(
        self,
        lines: Sequence[SealedLine],
        nodes: Sequence[LedgerNode],
        head: LedgerHead,
        *,
        expect: int,
    ) -> None:
        """Add all lines, the nodes that they complete, and the head after them."""
        log, old = self.log, self.log.head
        check_append(lines, nodes, head, expect)
        if expect != len(log.lines):
            raise StaleVersionError(len(log.lines))
        if log.lines:
            check_time(log.lines[-1].recorded_at, lines)
        places = _places(log, lines)
        hashes = {(node.level, node.number): node.hash for node in nodes}

        def undo() -> None:
            log.head = old
            del log.lines[expect:]
            for id_ in places:
                del log.places[id_]
            for key in hashes:
                del log.nodes[key]

        self.record_undo(undo)
        log.head = head
        log.lines.extend(lines)
        log.places.update(places)
        log.nodes.update(hashes)

    def drop(self, limit: int) -> bool:
        """Remove the last lines; once there are none, what stands beside them."""
        log, before = self.log, attrs.asdict(self.log, recurse=False)
        lines = log.lines[:-limit]
        places = {line.id: line.seq for line in lines}
        after = {**before, "lines": lines, "places": places}
        members = after if log.lines else attrs.asdict(Log(), recurse=False)
        self.record_undo(lambda: self._put(before))
        self._put(members)
        return members != before

    def _put(self, members: Mapping[str, Any]) -> None:
        for name, part in members.items():
            setattr(self.log, name, part)

    async def get(self, id_: str) -> SealedLine | None:
        """The line of a record."""
        return (await self.get_many((id_,))).get(id_)

    async def get_many(self, ids: Sequence[str]) -> dict[str, SealedLine]:
        """The lines of the records that are there."""
        places, lines = self.log.places, self.log.lines
        return {id_: lines[places[id_]] for id_ in ids if places.get(id_, len(lines)) < len(lines)}

    async def lines(self, start: int, end: int) -> tuple[bytes, ...]:
        """The lines of a range."""
        return tuple(line.line for line in self.log.lines[start:end])

    async def of_subjects(
        self, subjects: Sequence[str], *, start: int = 0, size: int | None = None, limit: int
    ) -> tuple[tuple[str, bytes], ...]:
        """The lines about one subject after the other, oldest first."""
        rows = (
            (subject, line.line)
            for subject in dict.fromkeys(subjects)
            for line in self.log.visible(size)[start:]
            if line.subject == subject
        )
        return tuple(islice(rows, limit))

    async def acts(
        self,
        targets: Sequence[str],
        *,
        subjects: Sequence[str],
        size: int | None = None,
        limit: int = LEDGER_LINES_MAX,
    ) -> tuple[bytes, ...]:
        """The lines that act on one of the records, or on one of those lines."""
        ids, kinds, acts = {id_.encode() for id_ in targets}, {id_[:4] for id_ in targets}, []
        for line in self.log.visible(size):
            is_about = line.subject in subjects and line.id[:4] in kinds
            if is_about and target_in(line.line) in ids:
                ids.add(line.id.encode())
                acts.append(line.line)
        return tuple(acts[:limit])

    async def counts_of(self, subjects: Sequence[str], *, start: int = 0) -> dict[str, int]:
        """How many lines there are about each subject."""
        counts = Counter(line.subject for line in self.log.lines[start:])
        return {subject: counts[subject] for subject in subjects}

    async def opened(
        self,
        *,
        before: int | None = None,
        size: int | None = None,
        key: str | None = None,
        limit: int,
    ) -> tuple[SealedLine, ...]:
        """The lines that open a subject, newest first."""
        subjects = None if key is None else frozenset(self._holders(key, size))
        lines = tuple(
            line
            for line in reversed(self.log.visible(size))
            if line.opens
            and (before is None or line.seq < before)
            and (subjects is None or line.subject in subjects)
        )
        return lines[:limit]

    async def holders(
        self,
        keys: Sequence[str],
        *,
        size: int | None = None,
        limit: int,
        records: int = LEDGER_LINES_MAX,
    ) -> dict[str, dict[str, tuple[str, ...]]]:
        """The subjects about which a line states each key, with the records that do."""
        return {key: dict(islice(self._holders(key, size, records).items(), limit)) for key in keys}

    def _holders(
        self, key: str, size: int | None, records: int = LEDGER_LINES_MAX
    ) -> dict[str, tuple[str, ...]]:
        ids: dict[str, list[str]] = {}
        lines = (line for line in self.log.visible(size) if key in line.keys)
        for line in islice(lines, records):
            ids.setdefault(line.subject, []).append(line.id)
        return {subject: tuple(sorted(names)) for subject, names in ids.items()}

    async def size_at(self, recorded_at: str) -> int:
        """How many lines were recorded at or before this time."""
        return bisect_right(self.log.lines, recorded_at, key=lambda line: line.recorded_at)

    async def hashes(self, level: int, start: int, end: int) -> tuple[bytes, ...]:
        """The hashes of a range of one level."""
        check_level(level)
        lines, nodes = self.log.lines, self.log.nodes
        if level == 0:
            return tuple(line.seal for line in lines[start:end])
        numbers = sorted(n for node_level, n in nodes if node_level == level and start <= n < end)
        return tuple(nodes[level, number] for number in numbers)

    async def erase(self, id_: str, line: bytes) -> None:
        """Put `line` in the place of the record's; its keys go as well."""
        place = self.log.places.get(id_)
        if place is None:
            raise AssertionError(f"the ledger holds no {id_}")
        lines, old = self.log.lines, self.log.lines[place]
        self.record_undo(lambda: lines.__setitem__(place, old))
        lines[place] = old._replace(line=line, keys=())

    async def keep_checkpoint(self, day: str, size: int, text: bytes) -> None:
        """Keep the checkpoint, unless a larger one of its day is kept."""
        checkpoints = self.log.checkpoints
        old = {day: checkpoints[day]} if day in checkpoints else {}
        self.record_undo(lambda: (checkpoints.pop(day), checkpoints.update(old)))
        checkpoints[day] = max((size, text), old.get(day, (0, b"")), key=itemgetter(0))

    async def checkpoints(self) -> tuple[LedgerCheckpoint, ...]:
        """The last checkpoint of each day, oldest first."""
        notes = sorted(self.log.checkpoints.items())
        return tuple(LedgerCheckpoint(day, *note) for day, note in notes)

    async def end(self) -> LedgerEnd:
        """Where the lines end that are stored."""
        lines = self.log.lines
        return LedgerEnd(len(lines), lines[-1].recorded_at if lines else "")

    async def stored(self, numbers: Sequence[int]) -> tuple[SealedLine, ...]:
        """All that is stored of the lines of these numbers."""
        lines = self.log.lines
        return tuple(lines[number] for number in sorted(numbers) if number < len(lines))

    async def index(self, after: LedgerKey | None, limit: int) -> tuple[LedgerKey, ...]:
        """Entries of the index of designators, in their order."""
        lines = enumerate(self.log.lines)
        keys = sorted(LedgerKey(key_digest(k), seq) for seq, line in lines for k in {*line.keys})
        start = 0 if after is None else bisect_right(keys, after)
        return tuple(keys[start : start + limit])


def _places(log: Log, lines: Sequence[SealedLine]) -> dict[str, int]:
    """The line numbers of the records of an append, by identifier.

    Raises:
        DuplicateRecordError: an identifier is taken.
    """
    places: dict[str, int] = {}
    for line in lines:
        if line.id in log.places or line.id in places:
            raise DuplicateRecordError(line.id)
        places[line.id] = line.seq
    return places
