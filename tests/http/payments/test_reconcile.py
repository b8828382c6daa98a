"""Payments that nobody works on are looked after, and none is in the way of another."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import attrs

from svc_core.payments.messages import SettlementResponse
from svc_core.payments.payment_ports import Rule
from svc_core.payments.payment_rows import HeldAnswer, Lease, Payment, PaymentKeys, Writes
from svc_core.payments.states import Event, State
from svc_core.payments.steps import Checkout
from svc_core.payments.store import COLLECTIONS, StoredPayments
from svc_core.testing.clock import CountingIds
from svc_http.service.workers import payment_recovery as reconcile
from svc_http.service.workers.payment_recovery import (
    AT_ONCE,
    PaymentRounds,
    forget_payments,
    lapse_payments,
    reconcile_loop,
)
from svc_http.stores import MemoryStorage
from tests.storage.test_payments import START, payment

NOW = START + timedelta(hours=1)
ANSWER = HeldAnswer(200, None, (), b"words")


class Slow:
    """A facilitator that answers once it is let."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.count = 0

    async def settle(self, payload: Any) -> SettlementResponse:
        self.count += 1
        transaction = f"0x{self.count:064x}"
        await self.go.wait()
        return SettlementResponse(True, transaction, "eip155:84532")


class Brittle(StoredPayments):
    """A store that cannot write the rows of some payments."""

    broken_ids: frozenset[str] = frozenset()

    async def update(self, place: PaymentKeys, rule: Rule) -> Payment:
        if place.id in self.broken_ids:
            raise OSError(place.id)
        return await super().update(place, rule)


class World:
    def __init__(self) -> None:
        self.store = Brittle(MemoryStorage(COLLECTIONS))
        self.slow = Slow()
        self.failures: list[BaseException] = []
        self.at = NOW
        unused_: Any = None
        facilitator: Any = self.slow
        self.checkout = Checkout(self.store, facilitator, unused_, CountingIds(), lambda: self.at)

    async def keep(self, payment: Payment) -> Payment:
        await self.store.update(payment.keys, lambda _: Writes(payment=payment, answer=ANSWER))
        return payment

    async def state(self, payment: Payment) -> State:
        stored = (await self.store.look(payment.keys)).payment
        assert stored is not None
        return stored.state


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - nobody sets an event
            await asyncio.sleep(0)


def test_a_slow_facilitator_and_a_broken_row_hold_up_nobody(monkeypatch: Any) -> None:
    monkeypatch.setattr(reconcile, "LOOK_SECONDS", 0.001)

    async def run() -> None:
        world = World()
        pending = [await world.keep(payment(n, state=State.PENDING)) for n in range(101, 161)]
        broken_row = await world.keep(payment(30, state=State.RESERVED))
        given_up = [await world.keep(payment(n, state=State.RESERVED)) for n in range(31, 51)]
        Brittle.broken_ids = frozenset({broken_row.id})
        loop = asyncio.create_task(reconcile_loop(world.checkout, world.failures.append))
        for payment_ in given_up:
            while await world.state(payment_) is not State.RELEASED:  # noqa: ASYNC110
                await asyncio.sleep(0)
        assert world.slow.count == AT_ONCE
        assert [str(failure) for failure in world.failures] == [broken_row.id]

        world.slow.go.set()
        await until(lambda: world.slow.count == len(pending))
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)
        assert {await world.state(payment_) for payment_ in pending} == {State.OWED}
        assert len(world.failures) == 1  # it is left alone for a while

    try:
        asyncio.run(run())
    finally:
        Brittle.broken_ids = frozenset()


class UndecidedFacilitator:
    """A facilitator that never comes to an end; `numbers` are the payments in their order."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    async def settle(self, payload: Any) -> SettlementResponse:
        self.numbers.append(payload["number"])
        transaction = f"0x{payload['number']:064x}"
        return SettlementResponse(
            False, transaction, "eip155:84532", error_reason="settlement_pending"
        )


def test_what_stays_in_doubt_goes_behind_all_others() -> None:
    async def run() -> None:
        world, silent, numbers = World(), UndecidedFacilitator(), range(1, 2 * AT_ONCE + 1)
        facilitator: Any = silent
        for n in numbers:
            text = f'{{"number": {n}}}'
            await world.keep(payment(n, state=State.PENDING, payload=text))
        rounds = PaymentRounds(
            attrs.evolve(world.checkout, facilitator=facilitator), world.failures.append
        )
        for _ in range(4):
            await rounds.begin()
            await rounds.wait()
            world.at += timedelta(hours=1)
        half = len(numbers)
        halves = silent.numbers[:half], silent.numbers[half:]
        assert [sorted(half) for half in halves] == [[*numbers]] * 2
        assert not world.failures

    asyncio.run(run())


def test_what_the_process_before_had_under_way_is_given_up_at_once() -> None:
    async def run() -> None:
        world = World()
        lease = {"lease": Lease("gone", NOW + timedelta(minutes=3))}
        in_flight = await world.keep(payment(1, state=State.RESERVED, **lease))
        settling = await world.keep(payment(2, state=State.SETTLING, **lease))
        broken_row = await world.keep(payment(3, state=State.SETTLING, **lease))
        Brittle.broken_ids = frozenset({broken_row.id})
        await PaymentRounds(world.checkout, world.failures.append).begin()  # their leases run
        assert await world.state(in_flight) is State.RESERVED
        await lapse_payments(world.checkout, world.failures.append)
        assert await world.state(in_flight) is State.RELEASED
        assert await world.state(settling) is State.UNKNOWN
        assert [str(failure) for failure in world.failures] == [broken_row.id]

    try:
        asyncio.run(run())
    finally:
        Brittle.broken_ids = frozenset()


def test_what_nobody_may_ask_for_any_more_is_forgotten() -> None:
    async def run() -> None:
        world = World()
        payments = [payment(n, state=State.UNKNOWN) for n in range(1, 151)]
        for payment_ in payments:
            await world.keep(payment_)
            await world.keep(payment_.after(Event.CONFIRM, NOW))
        world.at = NOW + timedelta(hours=24)
        await forget_payments(world.checkout)
        assert (await world.store.look(payments[0].keys)).answers
        world.at += timedelta(seconds=1)
        await forget_payments(world.checkout)
        for payment_ in payments:
            outcome = await world.store.look(payment_.keys)
            assert (outcome.answers, outcome.payment is None) == ({}, False)

    asyncio.run(run())
