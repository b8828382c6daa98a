"""A Hypothesis state machine that runs the same random work on several stores.

Any difference between their answers is a failure:

    from svc_core.base import drive
    from svc_core.testing.sample import SAMPLES
    from svc_core.testing.storage_agreement import agreement_machine
    from svc_core.testing.model_store import ModelStorage

    stores = {"model": lambda: ModelStorage(SAMPLES), "mine": lambda: ModelStorage(SAMPLES)}
    TestAgreement = agreement_machine(stores, drive.run).TestCase  # or asyncio.Runner().run

The first store is the model with which the others are compared, so it should be the simplest.
A durable store can be closed and opened again in the middle of the work (`again`).
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from svc_core.operation.ports import (
    SYSTEM,
    Collection,
    FeedPosition,
    GeoBox,
    Ledger,
    Position,
    Transaction,
)
from svc_core.testing import storage_steps as steps
from svc_core.testing import strategies
from svc_core.testing.rules import explain_failures
from svc_core.testing.sample import NOTES, NOTICES, SECRETS, Note
from svc_core.testing.sealed_lines import record_time
from svc_core.testing.sync_store import Run, Store, SyncStore

_sizes = st.none() | st.integers(0, 9) | st.integers(240, 260)
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
_places = st.sampled_from(strategies.DEGREES)
_numbers = st.none() | st.integers(-3, 3)
_narrowing = st.fixed_dictionaries(
    {},
    optional={
        "where": _filters,
        "start": _bounds,
        "end": _bounds,
        "ranges": st.fixed_dictionaries({"weight": st.tuples(_numbers, _numbers)}),
        "box": st.builds(GeoBox, _places, st.just(-90), _places, st.sampled_from((0, 90))),
        "words": st.lists(strategies.words, max_size=2).map(tuple),
    },
)
_orders = st.sampled_from((None, None, "weight", "longitude"))
_after = st.none() | st.builds(Position, st.integers(-4, 4), steps.ids, st.integers(0, 3))
_types = st.none() | st.lists(st.sampled_from(("note", "notice", "other")), max_size=2).map(tuple)
_positions = st.builds(FeedPosition, everybody=st.integers(0, 6), own=st.integers(0, 6))


class _Mishap(Exception):  # noqa: N818 - what a unit of work raises to be undone
    """Raised at the end of a unit of work, so that the store undoes it."""


def agreement_machine(
    makers: Mapping[str, Callable[[], Store]],
    run: Run,
    *,
    reopen: Mapping[str, Callable[[Store], Store]] | None = None,
) -> type[RuleBasedStateMachine]:
    """A state machine class over new stores, which `makers` open for `SAMPLES`, by name.

    `run` runs one coroutine to its end. `reopen` holds, for each durable store, a function that
    opens the content of a closed store again.
    """

    class Agreement(_Agreement):
        def __init__(self) -> None:
            stores = {name: SyncStore(make(), run) for name, make in makers.items()}
            super().__init__(stores, reopen or {})

    return Agreement


def explained_rule(**strategies: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorates a step of a state machine, whose failures begin with its sentence."""
    mark: Any = rule(**strategies)
    return lambda step: mark(explain_failures(step))


class _Agreement(RuleBasedStateMachine):
    def __init__(
        self, stores: Mapping[str, SyncStore], again: Mapping[str, Callable[[Store], Store]]
    ) -> None:
        super().__init__()
        self.stores = stores
        self.reopen = again

    def agree(self, question: Callable[[SyncStore], object]) -> Any:
        """Asks every store the same question and returns their common answer.

        Raises:
            AssertionError: two stores answer differently.
        """
        answers = {name: _outcome(question, sync) for name, sync in self.stores.items()}
        model = next(iter(answers.values()))
        for name, answer in answers.items():
            if answer != model:
                raise AssertionError(
                    f"stores answer alike; {name} says {answer!r}, the model says {model!r}"
                )
        return model

    @explained_rule(unit=steps.units, fails=st.booleans() | st.just(False))
    def write(self, unit: tuple[str, list[steps.Step]], fails: bool) -> None:
        tenant, step_list = unit

        async def work(tx: Transaction) -> list[object]:
            results = [await step(tx) for step in step_list]
            if fails:
                raise _Mishap(results[: steps.steps_before_append(step_list)])
            return results

        self.agree(lambda sync: sync.write(tenant, work))

    @explained_rule(tenant=steps.tenants, collection=_collections, id_=steps.ids)
    def get(self, tenant: str, collection: Collection[Note], id_: str) -> None:
        self.agree(lambda sync: sync.get(tenant, collection, id_))

    @explained_rule(
        tenant=steps.tenants,
        collection=_collections,
        ids=st.lists(steps.ids, max_size=4),
    )
    def get_many(self, tenant: str, collection: Collection[Note], ids: list[str]) -> None:
        self.agree(lambda sync: list(sync.get_many(tenant, collection, ids).items()))

    @explained_rule(
        tenant=steps.tenants,
        collection=_collections,
        order=_orders,
        after=_after,
        limit=_limits,
        narrowing=_narrowing,
    )
    def scan(self, tenant: str, collection: Collection[Note], narrowing: Any, **page: Any) -> None:
        self.agree(lambda sync: sync.scan(tenant, collection, **page, **narrowing))

    @explained_rule(
        tenant=steps.tenants, collection=_collections, limit=_limits, narrowing=_narrowing
    )
    def count(self, tenant: str, collection: Collection[Note], limit: int, narrowing: Any) -> None:
        self.agree(lambda sync: sync.count(tenant, collection, limit=limit, **narrowing))

    @explained_rule(
        tenant=steps.tenants,
        collection=_collections,
        terms=st.dictionaries(strategies.words, st.integers(1, 3), max_size=3),
        after=_after,
        limit=_limits,
        narrowing=_narrowing,
    )
    def search(
        self,
        tenant: str,
        collection: Collection[Note],
        terms: dict[str, int],
        narrowing: Any,
        **page: Any,
    ) -> None:
        self.agree(lambda sync: sync.search(tenant, collection, terms, **page, **narrowing))

    @explained_rule(tenant=steps.tenants, after=_positions, types=_types, limit=_limits)
    def feed(self, tenant: str, after: FeedPosition, **query: Any) -> None:
        self.agree(lambda sync: sync.feed(tenant, after, **query))
        self.agree(lambda sync: sync.head(tenant))

    @explained_rule(tenant=steps.tenants, types=_types, limit=_limits)
    def whole_feed(self, tenant: str, types: tuple[str, ...] | None, limit: int) -> None:
        position: FeedPosition | None = FeedPosition()
        while position is not None:
            position = self._next(tenant, position, types, limit)

    def _next(
        self, tenant: str, after: FeedPosition, types: tuple[str, ...] | None, limit: int
    ) -> FeedPosition | None:
        _, part = self.agree(lambda sync: sync.feed(tenant, after, types=types, limit=limit))
        return part.position if part.has_more else None

    @explained_rule(collection=_collections, where=_filters, end=_bounds, limit=_limits)
    def across(self, collection: Collection[Note], **query: Any) -> None:
        self.agree(lambda sync: sync.across(collection, **query))

    @explained_rule(collection=_collections, tenant=steps.tenants, limit=_limits)
    def heads(self, collection: Collection[Note], tenant: str, limit: int) -> None:
        self.agree(lambda sync: sync.across(collection, heads_after=tenant, limit=limit))

    @explained_rule(tenant=steps.tenants, key=st.sampled_from(("k1", "k2")))
    def answer(self, tenant: str, key: str) -> None:
        self.agree(lambda sync: sync.read(tenant, lambda tx: tx.answers.get("op", key)))

    @explained_rule(before=strategies.instants, limit=_limits)
    def purge(self, before: Any, limit: int) -> None:
        self.agree(
            lambda sync: sync.write(SYSTEM, lambda tx: tx.answers.purge(before, limit=limit))
        )

    @explained_rule(
        tenant=steps.tenants, id_=steps.records, start=st.integers(0, 9), count=st.integers(0, 300)
    )
    def ledger_lines(self, tenant: str, id_: str, start: int, count: int) -> None:
        self._ask(tenant, lambda ledger: ledger.head())
        self._ask(tenant, lambda ledger: ledger.get(id_))
        self._ask(tenant, lambda ledger: ledger.get_many((id_, "none", "1", "2", id_)))
        self._ask(tenant, lambda ledger: ledger.lines(start, start + count))
        self._ask(tenant, lambda ledger: ledger.checkpoints())
        self._ask(tenant, lambda ledger: ledger.end())
        self._ask(tenant, lambda ledger: ledger.stored(range(start, start + count)))
        self._ask(tenant, lambda ledger: ledger.index(None, count))

    @explained_rule(
        tenant=steps.tenants,
        subject=steps.subjects,
        key=steps.designators,
        size=_sizes,
        before=_sizes,
        limit=_limits,
    )
    def subjects(self, tenant: str, subject: str, key: str, size: int | None, **page: Any) -> None:
        limit = page["limit"]
        subject_ids = (subject, "none", "s", "t")
        start = page["before"] or 0
        self._ask(
            tenant,
            lambda ledger: ledger.of_subjects(subject_ids, start=start, size=size, limit=limit),
        )
        self._ask(tenant, lambda ledger: ledger.counts_of(subject_ids, start=start))
        self._ask(tenant, lambda ledger: ledger.holders((key, "none"), size=size, limit=limit))
        self._ask(tenant, lambda ledger: ledger.opened(size=size, **page))
        self._ask(tenant, lambda ledger: ledger.opened(key=key, size=size, **page))

    @explained_rule(
        tenant=steps.tenants,
        time=st.integers(-1, 99),
        level=st.sampled_from((0, 8, 16)),
        start=st.integers(0, 2),
        count=st.integers(0, 300),
    )
    def tree(self, tenant: str, time: int, level: int, start: int, count: int) -> None:
        self._ask(tenant, lambda ledger: ledger.size_at(record_time(time)))
        self._ask(tenant, lambda ledger: ledger.hashes(level, start, start + count))

    def _ask(self, tenant: str, question: Callable[[Ledger], Awaitable[object]]) -> None:
        self.agree(lambda sync: sync.read(tenant, lambda tx: question(tx.ledger)))

    @explained_rule()
    def restart(self) -> None:
        for name, reopen in self.reopen.items():
            self.stores[name].reopen(reopen)

    def teardown(self) -> None:
        for sync in self.stores.values():
            sync.close()


def _outcome(question: Callable[[SyncStore], object], sync: SyncStore) -> object:
    """The outcome of a question: its answer, or the kind of its refusal and the arguments."""
    try:
        return ("said", question(sync))
    except _Mishap as mishap:
        return ("undone", mishap.args)
    except AssertionError:
        return ("refused", None)
