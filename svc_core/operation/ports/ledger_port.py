"""The ledger port: the append-only log of sealed lines of a tenant, stored as bytes.

Rule 1: a line is kept as it was sealed, byte for byte; a store never parses or writes one anew.
Rule 2: lines are numbered from 0 without a gap; an append names the size it builds on.
Rule 3: record times never fall from one line to the next, so each names one prefix of the ledger.
Rule 4: nothing leaves but the content of an erased line, and that leaves the store's files too.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NamedTuple, Protocol

LEDGER_LEVELS: Final = (0, 8, 16, 24)
"""The levels of the Merkle tree that are kept: leaves, and roots of 256, 65,536, 16,777,216 leaves.

Each tile of the tlog formats is a run of one of them.
"""

LEDGER_LINES_MAX: Final = 1 << 40
"""More lines than the largest file of SQLite can hold."""


class SealedLine(NamedTuple):
    """One sealed record and its index entries.

    `opens` says that it is a subject's own assertion; `keys` holds the designator that it states
    as `scheme:value`; `recorded_at` is a text of 27 characters whose byte order is its time
    order; `seal` is 32 bytes, the leaf hash; `line` is the whole line without its LF.
    """

    seq: int
    id: str
    subject: str
    opens: bool
    recorded_at: str
    keys: tuple[str, ...]
    seal: bytes
    line: bytes


class LedgerHead(NamedTuple):
    """How many lines there are, and the encoded head of their tree, opaque to the store."""

    size: int
    tree_head: bytes


class LedgerNode(NamedTuple):
    """A complete subtree of the Merkle tree: `2**level` leaves from leaf `number * 2**level`."""

    level: int
    number: int
    hash: bytes


class LedgerCheckpoint(NamedTuple):
    """A signed checkpoint as it is kept: under its day, with the size that it is said to be of."""

    day: str
    size: int
    text: bytes


class LedgerEnd(NamedTuple):
    """What the next append must continue, by what is stored and not by what the head says.

    `size` is the number after the last line, `recorded_at` the time that no later line may be
    before; empty where there is none.
    """

    size: int
    recorded_at: str


class LedgerKey(NamedTuple):
    """One entry of the index of designators: the digest of one that line `seq` states."""

    digest: int
    seq: int


def key_digest(key: str) -> int:
    """The index key of a designator: the first 64 bits of its SHA-256, as a signed number.

    A digest, so that the index holds nothing that might have to be erased.
    """
    return int.from_bytes(sha256(key.encode()).digest()[:8], signed=True)


class DuplicateRecordError(Exception):
    """An append met a record of the same identifier; `id` names the first such."""

    def __init__(self, id_: str) -> None:
        """Say which record is there already."""
        super().__init__(f"the ledger holds {id_}")
        self.id = id_


class Ledger(Protocol):
    """The one ledger of this tenant. `size`, where it is given, hides later lines."""

    async def head(self) -> LedgerHead | None:
        """The newest head, or None before the first append."""

    async def append(
        self,
        lines: Sequence[SealedLine],
        nodes: Sequence[LedgerNode],
        head: LedgerHead,
        *,
        expect: int,
    ) -> None:
        """Add all lines, the nodes that they complete above level 0, and the head after them.

        `expect` is the size that must be stored now; 0 also where there is no ledger yet. A
        refused append leaves nothing, also when its refusal is caught.

        Raises:
            StaleVersionError: the stored size is another.
            DuplicateRecordError: a line's identifier is taken, in the ledger or among `lines`.
        """

    async def get(self, id_: str) -> SealedLine | None:
        """The line of a record, or None when this ledger has no such record."""

    async def get_many(self, ids: Sequence[str]) -> dict[str, SealedLine]:
        """The lines of the records that are there, by their identifiers, in the order asked."""

    async def lines(self, start: int, end: int) -> tuple[bytes, ...]:
        """The lines from number `start` up to and without `end`, as many as there are."""

    async def of_subjects(
        self, subjects: Sequence[str], *, start: int = 0, size: int | None = None, limit: int
    ) -> tuple[tuple[str, bytes], ...]:
        """At most `limit` lines numbered from `start` on, each with the subject that it is about:
        all lines about the first of the subjects, oldest first, then those about the next."""

    async def acts(
        self,
        targets: Sequence[str],
        *,
        subjects: Sequence[str],
        size: int | None = None,
        limit: int = LEDGER_LINES_MAX,
    ) -> tuple[bytes, ...]:
        """The lines about these subjects that act on one of the records, which are all there, or on
        one of those lines, and so on, oldest first. What it costs is what it returns.

        A line acts on an earlier one if the first `"target":"` in its head, before `,"payload":`,
        is followed by the identifier of that, of 28 bytes, and if its own begins with the same
        four. Whether its head says so is for the caller to judge. Of more than `limit` lines any
        are left out.
        """

    async def counts_of(self, subjects: Sequence[str], *, start: int = 0) -> dict[str, int]:
        """How many lines numbered from `start` on there are about each of the subjects."""

    async def opened(
        self,
        *,
        before: int | None = None,
        size: int | None = None,
        key: str | None = None,
        limit: int,
    ) -> tuple[SealedLine, ...]:
        """At most `limit` lines that open a subject, newest first, numbered below `before`.

        With `key`, only those of subjects that `holders` names.
        """

    async def holders(
        self,
        keys: Sequence[str],
        *,
        size: int | None = None,
        limit: int,
        records: int = LEDGER_LINES_MAX,
    ) -> dict[str, dict[str, tuple[str, ...]]]:
        """For each key at most `limit` subjects about which a line states it, by the first such,
        each with the identifiers of all records that do, sorted; of the first so many `records`.

        Whether it is still in force is for the caller to judge.
        """

    async def size_at(self, recorded_at: str) -> int:
        """How many lines were recorded at or before this time."""

    async def hashes(self, level: int, start: int, end: int) -> tuple[bytes, ...]:
        """The hashes at one of `LEDGER_LEVELS` from number `start` up to and without `end`, as
        many as there are; those of level 0 are the seals."""

    async def erase(self, id_: str, line: bytes) -> None:
        """Put `line`, which lacks the content, in the place of the record's; its keys go as well.

        Seals and nodes stay. What was there is gone from the store's files soon after the commit:
        as soon as no reader looks at an older snapshot.
        """

    async def keep_checkpoint(self, day: str, size: int, text: bytes) -> None:
        """Keep a signed checkpoint of the day `YYYY-MM-DD` (UTC), unless a larger one is kept."""

    async def checkpoints(self) -> tuple[LedgerCheckpoint, ...]:
        """The last checkpoint of each day, oldest first."""

    # What is kept beside the bytes of the lines, for whoever compares it with them. None of these
    # raises for what was damaged.

    async def end(self) -> LedgerEnd:
        """Where the lines end that are stored."""

    async def stored(self, numbers: Sequence[int]) -> tuple[SealedLine, ...]:
        """All that is stored of the lines of these numbers that are there, by number.

        Of `keys` only those that the line is found by; `line` is empty where its bytes are gone.
        """

    async def index(self, after: LedgerKey | None, limit: int) -> tuple[LedgerKey, ...]:
        """At most `limit` entries of the index of designators, in their order, after one of it.

        A line has one for each designator that it states, however often.
        """
