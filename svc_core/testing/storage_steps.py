"""What a unit of work may do to a store: steps with few names, so that they often meet."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from hypothesis import strategies as st

from svc_core.contract.answer import Answer
from svc_core.operation.ports import (
    SYSTEM,
    Change,
    Collection,
    DuplicateRecordError,
    FeedPosition,
    LedgerCheckpoint,
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


async def put(collection: Collection[Note], note: Note, expect: int | None, tx: Transaction) -> Any:
    """Write a row: the row as written, or the version that was in the way."""
    try:
        return await tx.documents.put(collection, note.id, note, expect=expect)
    except StaleVersionError as stale:
        return ("stale", stale.current)


async def delete(
    collection: Collection[Note], id_: str, expect: int | None, tx: Transaction
) -> Any:
    """Remove a row: the row that was, or the version that was in the way."""
    try:
        return await tx.documents.delete(collection, id_, expect=expect)
    except StaleVersionError as stale:
        return ("stale", stale.current)


async def change(entry: Change, tx: Transaction) -> FeedPosition:
    """Write a change: the head of the feed after it."""
    await tx.changes.append(entry)
    return await tx.changes.head()


async def keep(key: str, answer: Answer, tx: Transaction) -> Answer | None:
    """Keep an answer: as it is found again."""
    await tx.answers.put("op", key, answer)
    return await tx.answers.get("op", key)


class Entry(NamedTuple):
    """What is to be said of a line beside its number."""

    id: str
    subject: str
    opens: bool
    keys: tuple[str, ...]


async def seal(entries: tuple[Entry, ...], astray: int, time: int, tx: Transaction) -> Any:
    """Append to the ledger, as if its size were `astray` more: the head, or what was in the way."""
    head = await tx.ledger.head()
    size = max(0, (0 if head is None else head.size) + astray)
    # Two lines in three share a record time with the one before; some times fall.
    made = growth(
        size,
        (
            a_line(
                seq,
                entry.id,
                entry.subject,
                opens=entry.opens,
                keys=entry.keys,
                time=seq // 3 + time,
            )
            for seq, entry in enumerate(entries, size)
        ),
    )
    try:
        await tx.ledger.append(*made[:3], expect=made.expect)
    except StaleVersionError as stale:
        return ("stale", stale.current)
    except DuplicateRecordError as duplicate:
        return ("duplicate", duplicate.id)
    return await tx.ledger.head()


def unsealed(works: Sequence[Work]) -> int:
    """How many of the works come before the first that seals.

    Whether a line is taken a store may find out at its commit, which a unit that is undone never
    has: what such a unit is told from there on is not the same in all of them.
    """
    return next((at for at, each in enumerate(works) if _function(each) is seal), len(works))


def _function(work: Work) -> object:
    return getattr(work, "func", work)


async def erase(id_: str, tx: Transaction) -> Any:
    """Erase a record, if it is there: the line as it was and as it is."""
    before = await tx.ledger.get(id_)
    if before is not None:
        await tx.ledger.erase(id_, b"erased " + before.seal)
    return before, await tx.ledger.get(id_)


async def sign(day: str, size: int, text: bytes, tx: Transaction) -> tuple[LedgerCheckpoint, ...]:
    """Keep a checkpoint: all that are kept."""
    await tx.ledger.keep_checkpoint(day, size, text)
    return await tx.ledger.checkpoints()


def _step(work: Callable[..., Awaitable[Any]], *arguments: Any) -> st.SearchStrategy[Work]:
    return st.builds(partial, st.just(work), *arguments)


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
_seals = _step(
    seal,
    st.lists(_entries, max_size=4).map(tuple) | _bulk,
    st.sampled_from((0, 0, 0, 0, -1, 1)),
    st.sampled_from((0, 0, 0, 0, 0, -1)),
)
_signs = _step(
    sign,
    st.sampled_from(("2026-01-01", "2026-01-02")),
    st.integers(0, 3),
    st.binary(max_size=3),
)


def steps(tenant: str) -> st.SearchStrategy[Work]:
    """Steps that a transaction of `tenant` may take."""
    collections = st.sampled_from((NOTICES, SECRETS)) if tenant == SYSTEM else st.just(NOTES)
    everybody = st.booleans() if tenant == SYSTEM else st.just(False)
    return st.one_of(
        _step(put, collections, ids.flatmap(strategies.notes), _expected),
        _step(delete, collections, ids, _expected),
        _step(change, everybody.flatmap(lambda all_: strategies.changes(everybody=all_))),
        _step(keep, st.sampled_from(("k1", "k2")), strategies.answers),
        _seals,
        _step(erase, records),
        _signs,
    )


units = st.sampled_from((*TENANTS, SYSTEM)).flatmap(
    lambda tenant: st.tuples(
        st.just(tenant), st.lists(steps(tenant), min_size=1, max_size=UNIT_STEPS_MAX)
    )
)
tenants = st.sampled_from((*TENANTS, SYSTEM))
