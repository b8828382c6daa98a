"""What is bounded or unique stays so when many ask at once, over one store or two servers."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from svc_core.access import operations as accounts
from svc_core.access.creation import KeyWish
from svc_core.access.model import KEYS, MEMBERS, USERS, WORKSPACES, Workspace
from svc_core.access.operations import IssuedKey
from svc_core.access.plans import DEFAULT_PLANS, PlanTable
from svc_core.base.seals import Keyring
from svc_core.contract.problem import Problem
from svc_core.operation.context import Context
from svc_core.operation.host import Host
from svc_core.operation.ports import SYSTEM
from svc_core.testing.clock import CountingIds, FrozenClock
from svc_http.service.service_units import Service
from svc_http.stores.postgres import PostgresStorage
from tests.backends import store_of
from tests.postgres import PostgresServer

COLLECTIONS = (WORKSPACES, USERS, MEMBERS, KEYS)
COUNT = 8
Burst = Callable[["Desk"], Awaitable[None]]


class Desk:
    """The same store behind one service or two, which take turns."""

    def __init__(self, stores: list[Any]) -> None:
        self.clock = FrozenClock()
        ids, ring = CountingIds(self.clock), Keyring({1: b"k" * 32}, 1)
        day = self.clock.now() + timedelta(days=1)
        host = Host(providers={PlanTable: DEFAULT_PLANS}, lite_keys_before=day)
        self._services = [
            Service(store, ids, self.clock.now, ring, plans=DEFAULT_PLANS, host=host)
            for store in stores
        ]

    async def run(self, usecase: Callable[[Context], Awaitable[Any]], number: int = 0) -> Any:
        return await self._services[number % len(self._services)].write(SYSTEM, usecase)

    async def outcomes(
        self, usecase: Callable[[int], Callable[[Context], Awaitable[Any]]]
    ) -> Counter[str]:
        """What became of the use cases with the numbers below `COUNT`, all begun at once."""

        async def outcome(number: int) -> str:
            try:
                await self.run(usecase(number), number)
            except Problem as refusal:
                return refusal.type.code
            return "done"

        return Counter(await asyncio.gather(*map(outcome, range(COUNT))))

    async def workspace(self, name: str) -> str:
        row: Workspace = await self.run(
            lambda ctx: accounts.create_workspace(ctx, name=name, plan="elite", plans=DEFAULT_PLANS)
        )
        return row.id

    def making(self, home: str, name: str) -> Callable[[Context], Awaitable[IssuedKey]]:
        wish = KeyWish(name=name, scopes=("news:read",), workspace_id=home)
        return lambda ctx: accounts.create_key(ctx, wish, plans=DEFAULT_PLANS)


async def two_grandfathered(desk: Desk) -> None:
    home = await desk.workspace("acme")
    keys = [(await desk.run(desk.making(home, f"key {n}"))).key for n in range(COUNT)]
    results = await desk.outcomes(lambda n: lambda ctx: accounts.grandfather_key(ctx, keys[n].id))
    assert results == {"done": 2, "RESOURCE_CONFLICT": COUNT - 2}
    keys_ = await desk.run(lambda ctx: accounts.list_keys(ctx, home))
    assert sum(key.grandfathered for key in keys_) == 2


async def identity(desk: Desk) -> None:
    homes = [await desk.workspace(name) for name in ("acme", "other")]
    for home in homes:
        results = await desk.outcomes(lambda _, home=home: desk.making(home, "same"))
        assert results == {"done": 1, "RESOURCE_CONFLICT": COUNT - 1}
    assert len(await desk.run(accounts.list_keys)) == 2


async def rename_race(desk: Desk) -> None:
    home = await desk.workspace("acme")
    keys = [(await desk.run(desk.making(home, f"key {n}"))).key for n in range(COUNT)]
    results = await desk.outcomes(
        lambda n: lambda ctx: accounts.update_key(ctx, keys[n].id, {"name": "same"})
    )
    assert results == {"done": 1, "RESOURCE_CONFLICT": COUNT - 1}


async def bound_race(desk: Desk) -> None:
    home = await desk.workspace("acme")
    for n in range(25 - 3):
        await desk.run(desk.making(home, f"key {n}"))
    results = await desk.outcomes(lambda n: desk.making(home, f"more {n}"))
    assert results == {"done": 3, "RESOURCE_CONFLICT": COUNT - 3}


BURSTS = pytest.mark.parametrize("burst", [two_grandfathered, identity, rename_race, bound_race])


@BURSTS
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_of_many_at_once_as_many_as_may_be_get_through(
    kind: str, burst: Burst, tmp_path: Path
) -> None:
    async def run() -> None:
        store = store_of(kind, COLLECTIONS, folder=tmp_path)
        try:
            await burst(Desk([store]))
        finally:
            await store.close()

    asyncio.run(run())


@BURSTS
def test_over_two_servers_no_more_get_through(burst: Burst, postgres: PostgresServer) -> None:
    dsn = postgres.made_for(COLLECTIONS)

    async def run() -> None:
        stores = [await PostgresStorage.open(dsn, COLLECTIONS, epoch=b"8 bytes.") for _ in range(2)]
        try:
            await burst(Desk(stores))
        finally:
            for store in stores:
                await store.close()

    asyncio.run(run())
