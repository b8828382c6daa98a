"""What the operator settles of entities holds on every store, and when two do it at once."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from svc_core import catalog
from svc_core.contract.problem import Problem
from svc_core.intel.entities import settlement
from svc_core.intel.linking.references import id_of
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM
from tests.backends import NAMES, store_of
from tests.core.conftest import House
from tests.core.intel.intake.test_settling import decide, groups, refusal_of, rows, take


class StoredHouse(House):
    """A house on a store that waits."""

    def __init__(self, store: Any, runner: asyncio.Runner) -> None:
        super().__init__()
        self.store, self._runner = store, runner

    def run(self, usecase: Callable[[Context], Awaitable[Any]], tenant: str = SYSTEM) -> Any:
        return self.at_once(usecase, tenant=tenant)[0]

    def at_once(self, *usecases: Callable[[Context], Awaitable[Any]], tenant: str = SYSTEM) -> Any:
        """What each of some use cases gives that run side by side; a problem where it refuses."""

        def unit(usecase: Any) -> Any:
            return lambda tx: usecase(self.context(tx, tenant, ""))

        async def run_all() -> list[Any]:
            work = [self.store.write(tenant, unit(usecase)) for usecase in usecases]
            return await asyncio.gather(*work, return_exceptions=len(work) > 1)

        return self._runner.run(run_all())


@pytest.fixture(params=NAMES)
def house_store(request: pytest.FixtureRequest) -> Iterator[StoredHouse]:
    with asyncio.Runner() as runner:
        house = StoredHouse(store_of(request.param, catalog.COLLECTIONS), runner)
        yield house
        runner.run(house.store.close())


def test_what_was_settled_holds_when_sources_are_read_anew(house_store: StoredHouse) -> None:
    for keys in (("lei:A",), ("ftm:x",), ("cik:1",), ("lei:B",)):
        take(house_store, *keys)
    assert decide(house_store, "merge", "lei:A", "ftm:x")["changed"] is True
    assert decide(house_store, "merge", "lei:A", "ftm:x")["changed"] is False
    assert refusal_of(house_store, "merge", "lei:B", "ftm:x")[0] == "RESOURCE_CONFLICT"
    assert decide(house_store, "distinct", "cik:1", "lei:B")["changed"] is True
    house_store.withdraw("/lei:A")
    assert set(rows(house_store)) == {id_of("ftm:x"), id_of("cik:1"), id_of("lei:B")}
    take(house_store, "lei:A")
    assert frozenset({"lei:A", "ftm:x"}) in groups(house_store)
    assert decide(house_store, "part", "lei:A")["changed"] is True
    last = {change.resource_id: change.change_type for change in house_store.change_records()}
    assert last[id_of("lei:A")] == "restored"
    assert len(rows(house_store)) == 4


def test_two_who_merge_at_once_leave_one_entity_or_are_refused(house_store: StoredHouse) -> None:
    for keys in (("lei:A",), ("ftm:x",), ("lei:B",)):
        take(house_store, *keys)
    pairs = [("ftm:x", "lei:A"), ("ftm:x", "lei:B"), ("ftm:x", "lei:A")]
    wishes = [settlement.MergeEntities(id_of(id_), id_of(into)) for id_, into in pairs]
    outcomes = house_store.at_once(
        *(lambda ctx, wish=wish: settlement.merge_entities(ctx, wish) for wish in wishes)
    )
    refusals = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert all(isinstance(refusal, Problem) for refusal in refusals), refusals
    assert 1 <= len(refusals) <= 2
    assert groups(house_store) in (
        {frozenset({"lei:A", "ftm:x"}), frozenset({"lei:B"})},
        {frozenset({"lei:B", "ftm:x"}), frozenset({"lei:A"})},
    )
