"""Several stores, driven with the same random work, must say the same.

    TestAgreement = agreement_machine({"memory": ..., "sqlite": ...}, run).TestCase

The plainest store goes first: it is the model with which the others are compared.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import frozen
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from svc_core.ports import (
    SYSTEM,
    Answer,
    Change,
    Collection,
    FeedPosition,
    OutboxEvent,
    Position,
    StaleVersionError,
    Transaction,
)
from svc_core.testing import strategies
from svc_core.testing.desk import Desk, Run, Store
from svc_core.testing.sample import NOTES, NOTICES, SECRETS, Note

Work = Callable[[Transaction], Awaitable[Any]]

TENANTS = ("ann", "bob")
IDS = ("a", "b", "c", "é", "d")
UNIT_STEPS_MAX = 5

_ids = st.sampled_from(IDS)
_expected = st.none() | st.integers(0, 3)
_bounds = st.none() | st.integers(-3, 3)
_limits = st.integers(1, 6)
_collections = st.sampled_from((NOTES, NOTES, NOTICES, SECRETS))
_filters = st.fixed_dictionaries(
    {},
    optional={
        "status": st.lists(st.sampled_from(("open", "done", "none")), max_size=3).map(tuple),
        "author": st.lists(st.sampled_from(("x", "y")), min_size=1, max_size=2).map(tuple),
        "topic": st.lists(st.sampled_from(("t", "u", "v")), max_size=3).map(tuple),
    },
)
_types = st.none() | st.lists(st.sampled_from(("note", "notice", "other")), max_size=2).map(tuple)
_positions = st.builds(FeedPosition, everybody=st.integers(0, 6), own=st.integers(0, 6))


class Mishap(Exception):  # noqa: N818 - what a unit of work raises to be undone
    """Raised at the end of a unit that is to be undone."""


# -- the steps of a unit of work ---------------------------------------------------------------


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
class Queue:
    """Queue an event; one of the same name must have left before."""

    event: OutboxEvent

    async def __call__(self, tx: Transaction) -> object:
        """The events that wait."""
        await tx.outbox.done(self.event.id)
        await tx.outbox.add(self.event)
        return await tx.outbox.pending(limit=9)


@frozen
class Keep:
    """Keep an answer."""

    key: str
    answer: Answer

    async def __call__(self, tx: Transaction) -> object:
        """The answer as it is found again."""
        await tx.answers.put("op", self.key, self.answer)
        return await tx.answers.get("op", self.key)


def _steps(tenant: str) -> st.SearchStrategy[Work]:
    """Steps that a transaction of `tenant` may take."""
    collections = st.sampled_from((NOTICES, SECRETS)) if tenant == SYSTEM else st.just(NOTES)
    everybody = st.booleans() if tenant == SYSTEM else st.just(False)
    return st.one_of(
        st.builds(Put, collections, _ids.flatmap(strategies.notes), _expected),
        st.builds(Delete, collections, _ids, _expected),
        st.builds(Append, everybody.flatmap(lambda all_: strategies.changes(everybody=all_))),
        st.builds(Queue, strategies.events),
        st.builds(Keep, st.sampled_from(("k1", "k2")), strategies.answers),
    )


_units = st.sampled_from((*TENANTS, SYSTEM)).flatmap(
    lambda tenant: st.tuples(
        st.just(tenant), st.lists(_steps(tenant), min_size=1, max_size=UNIT_STEPS_MAX)
    )
)
_tenants = st.sampled_from((*TENANTS, SYSTEM))


# -- the machine -------------------------------------------------------------------------------


def agreement_machine(
    makers: Mapping[str, Callable[[], Store]], run: Run
) -> type[RuleBasedStateMachine]:
    """A state machine over fresh stores made by `makers`; each is opened for `SAMPLES`."""

    class Agreement(_Agreement):
        def __init__(self) -> None:
            super().__init__({name: Desk(make(), run) for name, make in makers.items()})

    return Agreement


class _Agreement(RuleBasedStateMachine):
    def __init__(self, desks: Mapping[str, Desk]) -> None:
        super().__init__()
        self.desks = desks

    def agree(self, ask: Callable[[Desk], object]) -> Any:
        """The answer that every store gives to the same question.

        Raises:
            AssertionError: two stores answer differently.
        """
        answers = {name: _outcome(ask, desk) for name, desk in self.desks.items()}
        model = next(iter(answers.values()))
        for name, answer in answers.items():
            if answer != model:
                raise AssertionError(f"{name} says {answer!r}, the model says {model!r}")
        return model

    @rule(unit=_units, fails=st.booleans() | st.just(False))
    def write(self, unit: tuple[str, list[Work]], fails: bool) -> None:
        tenant, steps = unit

        async def work(tx: Transaction) -> list[object]:
            results = [await step(tx) for step in steps]
            if fails:
                raise Mishap(results)
            return results

        self.agree(lambda desk: desk.write(tenant, work))

    @rule(tenant=_tenants, collection=_collections, id_=_ids)
    def get(self, tenant: str, collection: Collection[Note], id_: str) -> None:
        self.agree(lambda desk: desk.get(tenant, collection, id_))

    @rule(
        tenant=_tenants,
        collection=_collections,
        where=_filters,
        start=_bounds,
        end=_bounds,
        after=st.none() | st.builds(Position, st.integers(-4, 4), _ids),
        limit=_limits,
    )
    def scan(self, tenant: str, collection: Collection[Note], **how: Any) -> None:
        self.agree(lambda desk: desk.scan(tenant, collection, **how))

    @rule(
        tenant=_tenants,
        collection=_collections,
        terms=st.lists(strategies.words, max_size=3).map(tuple),
        start=_bounds,
        end=_bounds,
    )
    def search(
        self, tenant: str, collection: Collection[Note], terms: tuple[str, ...], **how: Any
    ) -> None:
        self.agree(lambda desk: frozenset(desk.search(tenant, collection, terms, **how)))

    @rule(tenant=_tenants, after=_positions, types=_types, limit=_limits)
    def feed(self, tenant: str, after: FeedPosition, **how: Any) -> None:
        self.agree(lambda desk: desk.feed(tenant, after, **how))
        self.agree(lambda desk: desk.head(tenant))

    @rule(tenant=_tenants, types=_types, limit=_limits)
    def whole_feed(self, tenant: str, types: tuple[str, ...] | None, limit: int) -> None:
        position: FeedPosition | None = FeedPosition()
        while position is not None:
            position = self._next(tenant, position, types, limit)

    def _next(
        self, tenant: str, after: FeedPosition, types: tuple[str, ...] | None, limit: int
    ) -> FeedPosition | None:
        _, part = self.agree(lambda desk: desk.feed(tenant, after, types=types, limit=limit))
        return part.position if part.more else None

    @rule(collection=_collections, where=_filters, end=_bounds, limit=_limits)
    def across(self, collection: Collection[Note], **how: Any) -> None:
        self.agree(lambda desk: desk.across(collection, **how))

    @rule(tenant=_tenants, key=st.sampled_from(("k1", "k2")), limit=_limits)
    def desk(self, tenant: str, key: str, limit: int) -> None:
        self.agree(lambda desk: desk.read(tenant, lambda tx: tx.answers.get("op", key)))
        self.agree(lambda desk: desk.read(tenant, lambda tx: tx.outbox.pending(limit=limit)))

    @rule(before=strategies.instants, limit=_limits)
    def purge(self, before: Any, limit: int) -> None:
        self.agree(
            lambda desk: desk.write(SYSTEM, lambda tx: tx.answers.purge(before, limit=limit))
        )

    def teardown(self) -> None:
        for desk in self.desks.values():
            desk.close()


def _outcome(ask: Callable[[Desk], object], desk: Desk) -> object:
    """What came of a question: the answer, or the kind of refusal and what it carried."""
    try:
        return ("said", ask(desk))
    except Mishap as mishap:
        return ("undone", mishap.args)
    except AssertionError:
        return ("refused", None)
