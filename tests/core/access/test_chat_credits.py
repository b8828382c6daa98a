"""Chat credits: what a plan and grants give in a month, one for each turn."""

import asyncio
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access.chat_credits import (
    LOCAL_OPERATIONS,
    RESERVED_FOR,
    GrantCredits,
    Reservation,
    ShowCredits,
    reserve,
    settle,
)
from svc_core.access.plans import DEFAULT_PLANS, PlanTable
from svc_core.base import drive
from svc_core.base.seals import Keyring
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.host import Host
from svc_core.operation.ports import SYSTEM
from svc_core.testing.clock import CountingIds, FrozenClock
from svc_http.service.service_units import Service
from svc_http.stores.postgres import PostgresStorage
from tests.backends import store_of
from tests.postgres import PostgresServer

SMALL = DEFAULT_PLANS.with_changes({"pro": {"chatCredits": 3}})
RUNS = {operation.id: operation.run for operation in LOCAL_OPERATIONS}


def service_of(store: Any, clock: FrozenClock, ids: CountingIds | None = None) -> Service:
    ring, host = Keyring({1: b"k" * 32}, 1), Host(providers={PlanTable: SMALL})
    return Service(store, ids or CountingIds(clock), clock.now, ring, plans=SMALL, host=host)


class Desk:
    """A workspace on `pro`, with three credits a month."""

    def __init__(self, plan: str = "pro") -> None:
        self.clock = FrozenClock(datetime(2026, 1, 31, 23, 0, tzinfo=UTC))
        self.service = service_of(store_of("memory", catalog.COLLECTIONS), self.clock)
        self.home = self.account(plan)

    def account(self, plan: str) -> str:
        return drive.run(make(self.service, plan))

    def reserve(self, tenant: str | None = None) -> Reservation:
        return drive.run(reserve(self.service, tenant or self.home))

    def refusal(self, tenant: str | None = None) -> tuple[str, str]:
        with pytest.raises(Problem) as failure:
            self.reserve(tenant)
        assert not failure.value.headers
        return failure.value.type.code, failure.value.detail

    def settle(self, reservation: Reservation, *, refund: bool) -> bool:
        return drive.run(settle(self.service, reservation, refund=refund))

    def ask(self, operation: str, request: object) -> dict[str, Any]:
        run = RUNS[operation](self.service.context(Actor(SYSTEM)), request)
        body: dict[str, Any] = json.loads(drive.run(run).raw)
        return body

    def show(self) -> dict[str, Any]:
        return self.ask("showCredits", ShowCredits(self.home))

    def counts(self) -> tuple[int, int, int]:
        credits = self.show()
        return credits["granted"], credits["used"], credits["left"]


async def make(service: Service, plan: str) -> str:
    row = await service.system(
        lambda ctx: accounts.create_workspace(ctx, name="acme", plan=plan, plans=SMALL)
    )
    return row.id


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_the_plans_have_the_credits_of_the_reference() -> None:
    assert {name: plan.chat_credits for name, plan in DEFAULT_PLANS.plans.items()} == {
        "free": 0, "lite": 0, "pro": 500, "elite": 5_000,
    }  # fmt: skip


def test_as_many_turns_begin_as_there_are_credits(desk: Desk) -> None:
    for _ in range(3):
        desk.settle(desk.reserve(), refund=False)
    detail = "All 3 of 2026-01 are used or under way; they are renewed on 2026-02-01 (UTC)."
    assert desk.refusal() == ("CHAT_CREDITS_EXHAUSTED", detail)
    assert desk.show() == {
        "workspaceId": desk.home, "period": "2026-01", "granted": 3, "used": 3, "left": 0,
    }  # fmt: skip


def test_a_turn_under_way_counts_until_it_is_given_back(desk: Desk) -> None:
    reservations = [desk.reserve() for _ in range(3)]
    assert desk.counts() == (3, 3, 0)
    assert desk.refusal()[0] == "CHAT_CREDITS_EXHAUSTED"
    assert desk.settle(reservations[0], refund=True)
    assert desk.counts() == (3, 2, 1)
    desk.reserve()


@pytest.mark.parametrize(("first", "used"), [(True, 0), (False, 1)])
def test_of_several_settlements_the_first_counts(desk: Desk, first: bool, used: int) -> None:
    reservation = desk.reserve()
    assert desk.settle(reservation, refund=first)
    assert not desk.settle(reservation, refund=not first)
    assert not desk.settle(reservation, refund=first)
    assert desk.counts() == (3, used, 3 - used)


def test_what_nobody_settled_is_given_back_once_it_has_expired(desk: Desk) -> None:
    reservations = [desk.reserve() for _ in range(3)]
    desk.clock.advance(RESERVED_FOR.total_seconds() - 1)
    assert desk.counts() == (3, 3, 0)
    desk.clock.advance(1)
    assert desk.counts() == (3, 0, 3)
    desk.reserve()
    assert not desk.settle(reservations[0], refund=False)
    assert desk.counts()[1] == 1


def test_a_new_month_has_new_credits_and_a_turn_counts_in_the_month_it_began_in(
    desk: Desk,
) -> None:
    reservations = [desk.reserve() for _ in range(3)]
    desk.clock.advance(3_600)
    assert desk.show()["period"] == "2026-02"
    assert desk.counts() == (3, 0, 3)
    assert desk.settle(reservations[0], refund=False)
    assert desk.counts() == (3, 0, 3)


def test_the_operator_grants_more_for_the_month(desk: Desk) -> None:
    for _ in range(3):
        desk.reserve()
    desk.ask("grantCredits", GrantCredits(desk.home, 2))
    assert desk.ask("grantCredits", GrantCredits(desk.home, 1))["left"] == 3
    desk.reserve()
    desk.clock.advance(86_400)
    assert desk.counts() == (3, 0, 3)


@pytest.mark.parametrize("plan", ["free", "lite"])
def test_a_plan_without_credits_needs_a_grant(plan: str) -> None:
    desk = Desk(plan)
    assert desk.refusal() == ("SUBSCRIPTION_REQUIRED", "The plan has no chat credits.")
    assert desk.ask("grantCredits", GrantCredits(desk.home, 1))["left"] == 1
    desk.settle(desk.reserve(), refund=False)
    assert desk.refusal()[0] == "CHAT_CREDITS_EXHAUSTED"


def test_a_smaller_plan_leaves_no_negative_number(desk: Desk) -> None:
    for _ in range(3):
        desk.reserve()
    drive.run(desk.service.system(lambda ctx: accounts.set_plan(ctx, desk.home, "lite", SMALL)))
    assert desk.counts() == (0, 3, 0)
    assert desk.refusal()[0] == "SUBSCRIPTION_REQUIRED"


def test_a_person_with_keys_of_their_own_has_credits_of_their_own_plan(desk: Desk) -> None:
    user = drive.run(
        desk.service.system(
            lambda ctx: accounts.create_user(ctx, name="Ann", plans=SMALL, plan="pro")
        )
    )
    desk.reserve(user.id)
    assert desk.ask("showCredits", ShowCredits(user.id))["used"] == 1
    assert desk.counts()[1] == 0


@pytest.mark.parametrize(
    "account", ["wsp_0123456789abcdef01234567", "usr_0123456789abcdef01234567"]
)
def test_an_account_that_is_not_there_is_not_found(desk: Desk, account: str) -> None:
    assert desk.refusal(account)[0] == "NOT_FOUND"
    for operation, request in (
        ("showCredits", ShowCredits(account)),
        ("grantCredits", GrantCredits(account, 1)),
    ):
        with pytest.raises(Problem) as failure:
            desk.ask(operation, request)
        assert failure.value.type.code == "NOT_FOUND"


# -- many at once ------------------------------------------------------------------------------


async def burst(services: list[Service], count: int = 50) -> Counter[str]:
    """The outcomes of turns that begin at once, over all of these, with a refund in between."""
    home = await make(services[0], "pro")

    async def turn(number: int) -> str:
        service = services[number % len(services)]
        try:
            reservation = await reserve(service, home)
        except Problem as refusal:
            return refusal.type.code
        settlements = (settle(item, reservation, refund=False) for item in (service, services[0]))
        return str(sum(await asyncio.gather(*settlements)))

    return Counter(await asyncio.gather(*map(turn, range(count))))


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_of_fifty_at_once_as_many_begin_as_there_are_credits(kind: str, tmp_path: Path) -> None:
    async def run() -> Counter[str]:
        store = store_of(kind, catalog.COLLECTIONS, folder=tmp_path)
        try:
            return await burst([service_of(store, FrozenClock())])
        finally:
            await store.close()

    assert asyncio.run(run()) == {"1": 3, "CHAT_CREDITS_EXHAUSTED": 47}


def test_of_fifty_at_once_over_two_servers_as_many_begin(postgres: PostgresServer) -> None:
    dsn = postgres.made_for(catalog.COLLECTIONS)

    async def run() -> Counter[str]:
        stores = [
            await PostgresStorage.open(dsn, catalog.COLLECTIONS, epoch=b"8 bytes.")
            for _ in range(2)
        ]
        clock = FrozenClock()
        ids = CountingIds(clock)
        try:
            return await burst([service_of(store, clock, ids) for store in stores])
        finally:
            for store in stores:
                await store.close()

    assert asyncio.run(run()) == {"1": 3, "CHAT_CREDITS_EXHAUSTED": 47}
