"""Several stores, driven with the same random work, must say the same.

    from svc_core.base import drive
    from svc_core.testing.sample import SAMPLES
    from svc_core.testing.storage_agreement import agreement_machine
    from svc_http.stores import MemoryStorage

    stores = {"memory": lambda: MemoryStorage(SAMPLES), "mine": lambda: MemoryStorage(SAMPLES)}
    TestAgreement = agreement_machine(stores, drive.run).TestCase  # or asyncio.Runner().run

The plainest store goes first: it is the model with which the others are compared. A store that
outlives its process is closed and opened again among the work.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from svc_core.operation.ports import (
    SYSTEM,
    Box,
    Collection,
    FeedPosition,
    Ledger,
    Position,
    Transaction,
)
from svc_core.testing import storage_steps as steps
from svc_core.testing import strategies
from svc_core.testing.rules import named
from svc_core.testing.sample import NOTES, NOTICES, SECRETS, Note
from svc_core.testing.sealing import at
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
_narrowed = st.fixed_dictionaries(
    {},
    optional={
        "where": _filters,
        "start": _bounds,
        "end": _bounds,
        "ranges": st.fixed_dictionaries({"weight": st.tuples(_numbers, _numbers)}),
        "box": st.builds(Box, _places, st.just(-90), _places, st.sampled_from((0, 90))),
        "words": st.lists(strategies.words, max_size=2).map(tuple),
    },
)
_orders = st.sampled_from((None, None, "weight", "longitude"))
_after = st.none() | st.builds(Position, st.integers(-4, 4), steps.ids, st.integers(0, 3))
_types = st.none() | st.lists(st.sampled_from(("note", "notice", "other")), max_size=2).map(tuple)
_positions = st.builds(FeedPosition, everybody=st.integers(0, 6), own=st.integers(0, 6))


class Mishap(Exception):  # noqa: N818 - what a unit of work raises to be undone
    """Raised at the end of a unit that is to be undone."""


def agreement_machine(
    makers: Mapping[str, Callable[[], Store]],
    run: Run,
    *,
    again: Mapping[str, Callable[[Store], Store]] | None = None,
) -> type[RuleBasedStateMachine]:
    """A state machine over fresh stores made by `makers`; each is opened for `SAMPLES`.

    `again` opens what a closed store kept, for each store that outlives its process.
    """

    class Agreement(_Agreement):
        def __init__(self) -> None:
            stores = {name: SyncStore(make(), run) for name, make in makers.items()}
            super().__init__(stores, again or {})

    return Agreement


class _Agreement(RuleBasedStateMachine):
    def __init__(
        self, stores: Mapping[str, SyncStore], again: Mapping[str, Callable[[Store], Store]]
    ) -> None:
        super().__init__()
        self.stores = stores
        self.again = again

    def agree(self, ask: Callable[[SyncStore], object]) -> Any:
        """The answer that every store gives to the same question.

        Raises:
            AssertionError: two stores answer differently.
        """
        answers = {name: _outcome(ask, sync) for name, sync in self.stores.items()}
        model = next(iter(answers.values()))
        for name, answer in answers.items():
            if answer != model:
                raise AssertionError(
                    f"stores answer alike; {name} says {answer!r}, the model says {model!r}"
                )
        return model

    @rule(unit=steps.units, fails=st.booleans() | st.just(False))
    @named
    def write(self, unit: tuple[str, list[steps.Work]], fails: bool) -> None:
        tenant, works = unit

        async def work(tx: Transaction) -> list[object]:
            results = [await each(tx) for each in works]
            if fails:
                raise Mishap(results[: steps.unsealed(works)])
            return results

        self.agree(lambda sync: sync.write(tenant, work))

    @rule(tenant=steps.tenants, collection=_collections, id_=steps.ids)
    @named
    def get(self, tenant: str, collection: Collection[Note], id_: str) -> None:
        self.agree(lambda sync: sync.get(tenant, collection, id_))

    @rule(
        tenant=steps.tenants,
        collection=_collections,
        ids=st.lists(steps.ids, max_size=4),
    )
    @named
    def get_many(self, tenant: str, collection: Collection[Note], ids: list[str]) -> None:
        self.agree(lambda sync: list(sync.get_many(tenant, collection, ids).items()))

    @rule(
        tenant=steps.tenants,
        collection=_collections,
        order=_orders,
        after=_after,
        limit=_limits,
        how=_narrowed,
    )
    @named
    def scan(self, tenant: str, collection: Collection[Note], how: Any, **page: Any) -> None:
        self.agree(lambda sync: sync.scan(tenant, collection, **page, **how))

    @rule(tenant=steps.tenants, collection=_collections, limit=_limits, how=_narrowed)
    @named
    def count(self, tenant: str, collection: Collection[Note], limit: int, how: Any) -> None:
        self.agree(lambda sync: sync.count(tenant, collection, limit=limit, **how))

    @rule(
        tenant=steps.tenants,
        collection=_collections,
        terms=st.dictionaries(strategies.words, st.integers(1, 3), max_size=3),
        after=_after,
        limit=_limits,
        how=_narrowed,
    )
    @named
    def search(
        self,
        tenant: str,
        collection: Collection[Note],
        terms: dict[str, int],
        how: Any,
        **page: Any,
    ) -> None:
        self.agree(lambda sync: sync.search(tenant, collection, terms, **page, **how))

    @rule(tenant=steps.tenants, after=_positions, types=_types, limit=_limits)
    @named
    def feed(self, tenant: str, after: FeedPosition, **how: Any) -> None:
        self.agree(lambda sync: sync.feed(tenant, after, **how))
        self.agree(lambda sync: sync.head(tenant))

    @rule(tenant=steps.tenants, types=_types, limit=_limits)
    @named
    def whole_feed(self, tenant: str, types: tuple[str, ...] | None, limit: int) -> None:
        position: FeedPosition | None = FeedPosition()
        while position is not None:
            position = self._next(tenant, position, types, limit)

    def _next(
        self, tenant: str, after: FeedPosition, types: tuple[str, ...] | None, limit: int
    ) -> FeedPosition | None:
        _, part = self.agree(lambda sync: sync.feed(tenant, after, types=types, limit=limit))
        return part.position if part.more else None

    @rule(collection=_collections, where=_filters, end=_bounds, limit=_limits)
    @named
    def across(self, collection: Collection[Note], **how: Any) -> None:
        self.agree(lambda sync: sync.across(collection, **how))

    @rule(tenant=steps.tenants, key=st.sampled_from(("k1", "k2")))
    @named
    def answer(self, tenant: str, key: str) -> None:
        self.agree(lambda sync: sync.read(tenant, lambda tx: tx.answers.get("op", key)))

    @rule(before=strategies.instants, limit=_limits)
    @named
    def purge(self, before: Any, limit: int) -> None:
        self.agree(
            lambda sync: sync.write(SYSTEM, lambda tx: tx.answers.purge(before, limit=limit))
        )

    @rule(
        tenant=steps.tenants, id_=steps.records, start=st.integers(0, 9), count=st.integers(0, 300)
    )
    @named
    def sealed(self, tenant: str, id_: str, start: int, count: int) -> None:
        self._ask(tenant, lambda ledger: ledger.head())
        self._ask(tenant, lambda ledger: ledger.get(id_))
        self._ask(tenant, lambda ledger: ledger.get_many((id_, "none", "1", "2", id_)))
        self._ask(tenant, lambda ledger: ledger.lines(start, start + count))
        self._ask(tenant, lambda ledger: ledger.checkpoints())
        self._ask(tenant, lambda ledger: ledger.end())
        self._ask(tenant, lambda ledger: ledger.stored(range(start, start + count)))
        self._ask(tenant, lambda ledger: ledger.index(None, count))

    @rule(
        tenant=steps.tenants,
        subject=steps.subjects,
        key=steps.designators,
        size=_sizes,
        before=_sizes,
        limit=_limits,
    )
    @named
    def subjects(self, tenant: str, subject: str, key: str, size: int | None, **how: Any) -> None:
        limit = how["limit"]
        several = (subject, "none", "s", "t")
        start = how["before"] or 0
        self._ask(
            tenant, lambda ledger: ledger.of_subjects(several, start=start, size=size, limit=limit)
        )
        self._ask(tenant, lambda ledger: ledger.counts_of(several, start=start))
        self._ask(tenant, lambda ledger: ledger.holders((key, "none"), size=size, limit=limit))
        self._ask(tenant, lambda ledger: ledger.opened(size=size, **how))
        self._ask(tenant, lambda ledger: ledger.opened(key=key, size=size, **how))

    @rule(
        tenant=steps.tenants,
        time=st.integers(-1, 99),
        level=st.sampled_from((0, 8, 16)),
        start=st.integers(0, 2),
        count=st.integers(0, 300),
    )
    @named
    def tree(self, tenant: str, time: int, level: int, start: int, count: int) -> None:
        self._ask(tenant, lambda ledger: ledger.size_at(at(time)))
        self._ask(tenant, lambda ledger: ledger.hashes(level, start, start + count))

    def _ask(self, tenant: str, question: Callable[[Ledger], Awaitable[object]]) -> None:
        self.agree(lambda sync: sync.read(tenant, lambda tx: question(tx.ledger)))

    @rule()
    @named
    def restart(self) -> None:
        for name, again in self.again.items():
            self.stores[name].reopen(again)

    def teardown(self) -> None:
        for sync in self.stores.values():
            sync.close()


def _outcome(ask: Callable[[SyncStore], object], sync: SyncStore) -> object:
    """What came of a question: the answer, or the kind of refusal and what it carried."""
    try:
        return ("said", ask(sync))
    except Mishap as mishap:
        return ("undone", mishap.args)
    except AssertionError:
        return ("refused", None)
