"""The steps that a random unit of work takes on a store.

Names are few, so that steps often meet on the same row, key or line. A step returns what it read
back, or the conflict that stopped it, so that the stores can be compared.
"""

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
from svc_core.testing.sealed_lines import a_line, growth

Step = Callable[[Transaction], Awaitable[Any]]

TENANTS = ("ann", "bob")
IDS = ("a", "b", "c", "é", "d")
UNIT_STEPS_MAX = 5

ids = st.sampled_from(IDS)
_expected_versions = st.none() | st.integers(0, 3)


async def _or_conflict(work: Awaitable[Any]) -> Any:
    """What the work returns, or the version or the record that was in the way."""
    try:
        return await work
    except StaleVersionError as stale:
        return ("stale", stale.current)
    except DuplicateRecordError as duplicate:
        return ("duplicate", duplicate.id)


async def put(collection: Collection[Note], note: Note, expect: int | None, tx: Transaction) -> Any:
    """Writes a row and returns it, or the version that was in the way."""
    return await _or_conflict(tx.documents.put(collection, note.id, note, expect=expect))


async def delete(
    collection: Collection[Note], id_: str, expect: int | None, tx: Transaction
) -> Any:
    """Deletes a row and returns it, or the version that was in the way."""
    return await _or_conflict(tx.documents.delete(collection, id_, expect=expect))


async def _append_change(change: Change, tx: Transaction) -> FeedPosition:
    """Appends a change and returns the head of the feed after it."""
    await tx.changes.append(change)
    return await tx.changes.head()


async def _keep_answer(key: str, answer: Answer, tx: Transaction) -> Answer | None:
    """Keeps an answer and returns it as the store reads it back."""
    await tx.answers.put("op", key, answer)
    return await tx.answers.get("op", key)


class LineDraft(NamedTuple):
    """A ledger line without its number, its record time and its seal."""

    id: str
    subject: str
    opens: bool
    keys: tuple[str, ...]


async def append_lines(
    drafts: tuple[LineDraft, ...], size_error: int, time: int, tx: Transaction
) -> Any:
    """Append lines to the ledger as if its size were `size_error` more.

    It gives the head after them, or the version or the record that was in the way.
    """
    head = await tx.ledger.head()
    size = max(0, (0 if head is None else head.size) + size_error)
    # Two lines in three share a record time with the one before; some times fall.
    batch = growth(
        size,
        (
            a_line(
                seq,
                draft.id,
                draft.subject,
                opens=draft.opens,
                keys=draft.keys,
                time=seq // 3 + time,
            )
            for seq, draft in enumerate(drafts, size)
        ),
    )
    conflict = await _or_conflict(tx.ledger.append(*batch[:3], expect=batch.expect))
    return conflict or await tx.ledger.head()


def steps_before_append(steps: Sequence[Step]) -> int:
    """The number of steps before the first append to the ledger.

    A store may check an append only when it commits, and a unit that is undone never commits.
    From the first append on, the answers within such a unit may differ between correct stores.
    """
    return next(
        (index for index, step in enumerate(steps) if _function(step) is append_lines), len(steps)
    )


def _function(step: Step) -> object:
    return getattr(step, "func", step)


async def erase(id_: str, tx: Transaction) -> Any:
    """Erases a record if it exists and returns its line before and after."""
    before = await tx.ledger.get(id_)
    if before is not None:
        await tx.ledger.erase(id_, b"erased " + before.seal)
    return before, await tx.ledger.get(id_)


async def _keep_checkpoint(
    day: str, size: int, text: bytes, tx: Transaction
) -> tuple[LedgerCheckpoint, ...]:
    """Keeps a checkpoint and returns all checkpoints."""
    await tx.ledger.keep_checkpoint(day, size, text)
    return await tx.ledger.checkpoints()


def _step(function: Callable[..., Awaitable[Any]], *arguments: Any) -> st.SearchStrategy[Step]:
    return st.builds(partial, st.just(function), *arguments)


records = st.integers(0, 40).map(str)
subjects = st.sampled_from("stu")
designators = st.sampled_from(("lei:x", "name:é"))
_entries = st.builds(
    LineDraft,
    id=records,
    subject=subjects,
    opens=st.booleans(),
    keys=st.lists(designators, max_size=2).map(tuple),
)
_bulk = st.integers(0, 2).map(
    lambda run: tuple(LineDraft(f"bulk {run}/{number}", "s", False, ()) for number in range(250))
)
"""250 lines: two such appends complete a node of 256."""
_seals = _step(
    append_lines,
    st.lists(_entries, max_size=4).map(tuple) | _bulk,
    st.sampled_from((0, 0, 0, 0, -1, 1)),
    st.sampled_from((0, 0, 0, 0, 0, -1)),
)
_signs = _step(
    _keep_checkpoint,
    st.sampled_from(("2026-01-01", "2026-01-02")),
    st.integers(0, 3),
    st.binary(max_size=3),
)


def _steps(tenant: str) -> st.SearchStrategy[Step]:
    """A strategy for the steps that a transaction of `tenant` may take."""
    collections = st.sampled_from((NOTICES, SECRETS)) if tenant == SYSTEM else st.just(NOTES)
    scopes = st.booleans() if tenant == SYSTEM else st.just(False)
    return st.one_of(
        _step(put, collections, ids.flatmap(strategies.notes), _expected_versions),
        _step(delete, collections, ids, _expected_versions),
        _step(
            _append_change,
            scopes.flatmap(lambda everybody: strategies.feed_changes(everybody=everybody)),
        ),
        _step(_keep_answer, st.sampled_from(("k1", "k2")), strategies.answers),
        _seals,
        _step(erase, records),
        _signs,
    )


units = st.sampled_from((*TENANTS, SYSTEM)).flatmap(
    lambda tenant: st.tuples(
        st.just(tenant), st.lists(_steps(tenant), min_size=1, max_size=UNIT_STEPS_MAX)
    )
)
tenants = st.sampled_from((*TENANTS, SYSTEM))
