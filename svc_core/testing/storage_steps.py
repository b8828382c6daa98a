"""What a unit of work may do to a store: steps with few names, so that they often meet."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from attrs import frozen
from hypothesis import strategies as st

from svc_core.ports import (
    SYSTEM,
    Answer,
    Change,
    Collection,
    DuplicateRecordError,
    StaleVersionError,
    Transaction,
)
from svc_core.testing import strategies
from svc_core.testing.sample import NOTES, NOTICES, SECRETS, Note
from svc_core.testing.sealing import a_line, growth

Work = Callable[[Transaction], Awaitable[Any]]

TENANTS = ("ann", "bob")
IDS = ("a", "b", "c", "é", "d")
UNIT_STEPS_MAX = 5

ids = st.sampled_from(IDS)
_expected = st.none() | st.integers(0, 3)


@frozen
class Put:
    """Write a row."""

    collection: Collection[Note]
    note: Note
    expect: int | None

    async def __call__(self, tx: Transaction) -> object:
        """The row as written, or the version that was in the way."""
        try:
            return await tx.documents.put(
                self.collection, self.note.id, self.note, expect=self.expect
            )
        except StaleVersionError as stale:
            return ("stale", stale.current)


@frozen
class Delete:
    """Remove a row."""

    collection: Collection[Note]
    id_: str
    expect: int | None

    async def __call__(self, tx: Transaction) -> object:
        """The row that was, or the version that was in the way."""
        try:
            return await tx.documents.delete(self.collection, self.id_, expect=self.expect)
        except StaleVersionError as stale:
            return ("stale", stale.current)


@frozen
class Append:
    """Write a change."""

    change: Change

    async def __call__(self, tx: Transaction) -> object:
        """The head of the feed after it."""
        await tx.changes.append(self.change)
        return await tx.changes.head()


@frozen
class Keep:
    """Keep an answer."""

    key: str
    answer: Answer

    async def __call__(self, tx: Transaction) -> object:
        """The answer as it is found again."""
        await tx.answers.put("op", self.key, self.answer)
        return await tx.answers.get("op", self.key)


class Entry(NamedTuple):
    """What is to be said of a line beside its number."""

    id: str
    subject: str
    opens: bool
    keys: tuple[str, ...]


@frozen
class Seal:
    """Append to the ledger, as if its size were so much more or less than it is."""

    entries: tuple[Entry, ...]
    astray: int
    time: int

    async def __call__(self, tx: Transaction) -> object:
        """The head after it, or what was in the way."""
        head = await tx.ledger.head()
        size = max(0, (0 if head is None else head.size) + self.astray)
        # Two lines in three share a record time with the one before; some times fall.
        lines, nodes, after, expect = growth(
            size,
            (
                a_line(
                    seq,
                    entry.id,
                    entry.subject,
                    opens=entry.opens,
                    keys=entry.keys,
                    time=seq // 3 + self.time,
                )
                for seq, entry in enumerate(self.entries, size)
            ),
        )
        try:
            await tx.ledger.append(lines, nodes, after, expect=expect)
        except StaleVersionError as stale:
            return ("stale", stale.current)
        except DuplicateRecordError as duplicate:
            return ("duplicate", duplicate.id)
        return await tx.ledger.head()


@frozen
class Erase:
    """Erase a record, if it is there."""

    id_: str

    async def __call__(self, tx: Transaction) -> object:
        """The line as it was and as it is."""
        before = await tx.ledger.get(self.id_)
        if before is not None:
            await tx.ledger.erase(self.id_, b"erased " + before.seal)
        return before, await tx.ledger.get(self.id_)


@frozen
class Sign:
    """Keep a checkpoint."""

    day: str
    size: int
    text: bytes

    async def __call__(self, tx: Transaction) -> object:
        """The checkpoints that are kept."""
        await tx.ledger.keep_checkpoint(self.day, self.size, self.text)
        return await tx.ledger.checkpoints()


records = st.integers(0, 40).map(str)
subjects = st.sampled_from("stu")
designators = st.sampled_from(("lei:x", "name:é"))
_entries = st.builds(
    Entry,
    id=records,
    subject=subjects,
    opens=st.booleans(),
    keys=st.lists(designators, max_size=2).map(tuple),
)
_bulk = st.integers(0, 2).map(
    lambda run: tuple(Entry(f"bulk {run}/{each}", "s", False, ()) for each in range(250))
)
"""As many lines as complete a node, or nearly."""
_seals = st.builds(
    Seal,
    st.lists(_entries, max_size=4).map(tuple) | _bulk,
    st.sampled_from((0, 0, 0, 0, -1, 1)),
    st.sampled_from((0, 0, 0, 0, 0, -1)),
)
_signs = st.builds(
    Sign,
    st.sampled_from(("2026-01-01", "2026-01-02")),
    st.integers(0, 3),
    st.binary(max_size=3),
)


def steps(tenant: str) -> st.SearchStrategy[Work]:
    """Steps that a transaction of `tenant` may take."""
    collections = st.sampled_from((NOTICES, SECRETS)) if tenant == SYSTEM else st.just(NOTES)
    everybody = st.booleans() if tenant == SYSTEM else st.just(False)
    return st.one_of(
        st.builds(Put, collections, ids.flatmap(strategies.notes), _expected),
        st.builds(Delete, collections, ids, _expected),
        st.builds(Append, everybody.flatmap(lambda all_: strategies.changes(everybody=all_))),
        st.builds(Keep, st.sampled_from(("k1", "k2")), strategies.answers),
        _seals,
        st.builds(Erase, records),
        _signs,
    )


units = st.sampled_from((*TENANTS, SYSTEM)).flatmap(
    lambda tenant: st.tuples(
        st.just(tenant), st.lists(steps(tenant), min_size=1, max_size=UNIT_STEPS_MAX)
    )
)
tenants = st.sampled_from((*TENANTS, SYSTEM))
