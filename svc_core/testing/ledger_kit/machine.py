"""A Hypothesis state machine that compares a store and a fold with a model of the ledger.

    from svc_core.base import drive
    from svc_core.testing.ledger_kit.folds import core
    from svc_core.testing.ledger_kit.machine import LedgerMachine
    from svc_http.stores import MemoryStorage as MyStorage  # or a store of your own

    class MyLedger(LedgerMachine):
        make_store = staticmethod(lambda: MyStorage(()))
        run = staticmethod(drive.run)            # or asyncio.Runner().run
        fold = staticmethod(core)                # or a fold of your own

    TestMyLedger = MyLedger.TestCase

The model is the history of `histories`; the store is any whose transactions have `ports.Ledger`.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from svc_core.ledger.append.batches import stored_line
from svc_core.ledger.fold.bitemporal import fold_records
from svc_core.ledger.fold.view import encode
from svc_core.ledger.log.record_seals import seal_batch
from svc_core.ledger.records import Draft, SealedRecord, decode
from svc_core.operation.ports import (
    DuplicateRecordError,
    LedgerHead,
    StaleVersionError,
    Transaction,
)
from svc_core.testing.ledger_kit.fold_questions import (
    Fold,
    Question,
    core,
    holds,
    valid_times,
    view_content,
)
from svc_core.testing.ledger_kit.history_strategies import (
    Act,
    History,
    acts,
    draft_of,
    instant,
    line_without_payload,
    new_history,
)
from svc_core.testing.rules import explain_failures
from svc_core.testing.storage_agreement import explained_rule
from svc_core.testing.sync_store import Run, Store

TENANT = "ann"
LINES_MAX = 1_000
"""Lines asked of a store at once: more than a machine appends."""

Work = Callable[[Transaction], Awaitable[Any]]


class LedgerMachine(RuleBasedStateMachine):
    """The machine; a subclass sets how to make a store, how to run coroutines, which fold."""

    make_store: Callable[[], Store]
    run: Run
    fold: Fold = staticmethod(core)

    def __init__(self) -> None:
        """Open the first subjects."""
        super().__init__()
        self.history = History()
        self.store = type(self).make_store()
        for number, record in enumerate(new_history(2).records):
            self._append([_draft_of_record(record)], instant(number))

    def teardown(self) -> None:
        """Give the store back."""
        type(self).run(self.store.close())

    # -- what happens ----------------------------------------------------------------------------

    @explained_rule(act=acts(), pause=st.integers(0, 3))
    def append(self, act: Act, pause: int) -> None:
        """Append the draft of an act, if the rules allow it."""
        draft = draft_of(self.history, act)
        if draft is not None:
            self._append([draft], instant(len(self.history.lines) + pause))

    @explained_rule(act=acts(), behind=st.integers(1, 3))
    def append_to_what_was(self, act: Act, behind: int) -> None:
        """An append that builds on an earlier head leaves nothing."""
        draft = draft_of(self.history, act)
        earlier = History(heads=self.history.heads[:-behind])
        if draft is not None and earlier.heads:
            self._expect_refusal(StaleVersionError, draft, earlier)

    @explained_rule(pick=st.integers(0, 9))
    def append_again(self, pick: int) -> None:
        """A record whose identifier is taken leaves nothing."""
        records = [record for record in self.history.records if record.payload is not None]
        draft = _draft_of_record(records[pick % len(records)])
        self._expect_refusal(DuplicateRecordError, draft, self.history)

    # -- what is always so -------------------------------------------------------------------------

    @invariant()
    @explain_failures
    def lines_are_as_sealed(self) -> None:
        """The store holds the lines, byte for byte, and the head over them."""
        head = self.history.head
        lines = self._ask(lambda tx: tx.ledger.lines(0, LINES_MAX))
        holds(lines == self.history.lines, lines)
        seals = self._ask(lambda tx: tx.ledger.hashes(0, 0, LINES_MAX))
        holds(seals == tuple([bytes.fromhex(record.seal) for record in self.history.records]))
        holds(self._ask(lambda tx: tx.ledger.head()) == LedgerHead(head.size, head.encode()))

    @invariant()
    @explain_failures
    def folds_are_those_of_the_model(self) -> None:
        """The stored lines of a subject fold as all the model's records do, at each append."""
        for subject in self.history.subjects:
            records = self._of_subject(subject)
            for valid_time in valid_times(records)[::2]:
                question = Question(subject, valid_time)
                answer = type(self).fold(records, question)
                holds(
                    view_content(answer) == view_content(core(self.history.records, question)),
                    question,
                )

    @explained_rule(back=st.integers(0, 5))
    def a_record_time_is_a_size(self, back: int) -> None:
        """What was recorded by a time are the first so many lines, and they fold alike."""
        at = self.history.records[-1 - back % len(self.history.records)].recorded_at
        size = sum(record.recorded_at <= at for record in self.history.records)
        holds(self._ask(lambda tx: tx.ledger.size_at(at)) == size, at)
        subject = self.history.subjects[0]
        by_size = fold_records(
            self._of_subject(subject, size), subject, valid_time=at, record_time=at
        )
        by_time = fold_records(self.history.records, subject, valid_time=at, record_time=at)
        holds(encode(by_size) == encode(by_time), at)

    # -- how it happens ----------------------------------------------------------------------------

    def _append(self, drafts: list[Draft], now: str) -> None:
        before = self.history
        self.history = before.append(drafts, now)
        self._write(self._work(before, drafts, now))

    def _expect_refusal(self, refusal: type[Exception], draft: Draft, before: History) -> None:
        now = instant(len(self.history.lines))
        try:
            self._write(self._work(before, [draft], now))
        except refusal:
            return
        raise AssertionError(f"{refusal.__name__} was expected")

    def _work(self, before: History, drafts: list[Draft], now: str) -> Work:
        batch = seal_batch(before.head, drafts, now)
        lines = list(map(stored_line, batch.records, batch.seals, batch.lines))
        targets = {record.target for record in batch.records if record.op == "erase"}

        async def work(tx: Transaction) -> None:
            head = LedgerHead(batch.head.size, batch.head.encode())
            await tx.ledger.append(lines, batch.nodes, head, expect=before.head.size)
            for record, line in zip(before.records, before.lines, strict=True):
                if record.id in targets:
                    await tx.ledger.erase(record.id, line_without_payload(line))

        return work

    def _of_subject(self, subject: str, size: int | None = None) -> list[SealedRecord]:
        rows = self._ask(lambda tx: tx.ledger.of_subjects((subject,), size=size, limit=LINES_MAX))
        lines = [line for _, line in rows]
        return [decode(line) for line in lines]

    def _write(self, work: Work) -> None:
        type(self).run(self.store.write(TENANT, work))

    def _ask(self, work: Work) -> Any:
        return type(self).run(self.store.read(TENANT, work))


def _draft_of_record(record: SealedRecord) -> Draft:
    """Return the draft that a sealed record was made from."""
    return Draft(
        record.kind,
        record.op,
        None if record.id == record.subject else record.subject,
        record.target,
        record.valid_from,
        record.valid_to,
        record.author,
        record.payload or {},
    )
