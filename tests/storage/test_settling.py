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
from tests.core.intel.intake.test_settling import groups, refused, rows, said, take, withdraw


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

        async def all_() -> list[Any]:
            work = [self.store.write(tenant, unit(one)) for one in usecases]
            return await asyncio.gather(*work, return_exceptions=len(work) > 1)

        return self._runner.run(all_())


@pytest.fixture(params=NAMES)
def stored(request: pytest.FixtureRequest) -> Iterator[StoredHouse]:
    with asyncio.Runner() as runner:
        house = StoredHouse(store_of(request.param, catalog.COLLECTIONS), runner)
        yield house
        runner.run(house.store.close())


def test_what_was_settled_holds_when_sources_are_read_anew(stored: StoredHouse) -> None:
    for keys in (("lei:A",), ("ftm:x",), ("cik:1",), ("lei:B",)):
        take(stored, *keys)
    assert said(stored, "merge", "lei:A", "ftm:x")["changed"] is True
    assert said(stored, "merge", "lei:A", "ftm:x")["changed"] is False
    assert refused(stored, "merge", "lei:B", "ftm:x")[0] == "RESOURCE_CONFLICT"
    assert said(stored, "distinct", "cik:1", "lei:B")["changed"] is True
    withdraw(stored, "/lei:A")
    assert set(rows(stored)) == {id_of("ftm:x"), id_of("cik:1"), id_of("lei:B")}
    take(stored, "lei:A")
    assert frozenset({"lei:A", "ftm:x"}) in groups(stored)
    assert said(stored, "part", "lei:A")["changed"] is True
    last = {one.resource_id: one.change_type for one in stored.recorded()}
    assert last[id_of("lei:A")] == "restored"
    assert len(rows(stored)) == 4


def test_two_who_merge_at_once_leave_one_entity_or_are_refused(stored: StoredHouse) -> None:
    for keys in (("lei:A",), ("ftm:x",), ("lei:B",)):
        take(stored, *keys)
    pairs = [("ftm:x", "lei:A"), ("ftm:x", "lei:B"), ("ftm:x", "lei:A")]
    wishes = [settlement.MergeEntities(id_of(one), id_of(into)) for one, into in pairs]
    told = stored.at_once(
        *(lambda ctx, wish=wish: settlement.merge_entities(ctx, wish) for wish in wishes)
    )
    refusals = [one for one in told if isinstance(one, BaseException)]
    assert all(isinstance(one, Problem) for one in refusals), refusals
    assert 1 <= len(refusals) <= 2
    assert groups(stored) in (
        {frozenset({"lei:A", "ftm:x"}), frozenset({"lei:B"})},
        {frozenset({"lei:B", "ftm:x"}), frozenset({"lei:A"})},
    )
