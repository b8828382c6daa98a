"""How much a wallet may do, at the edges of its windows."""

from datetime import UTC, datetime, timedelta
from functools import cache

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import drive
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.payments.admission import (
    Limits,
    count_move,
    count_rejection,
    count_reservation,
    rate_limit_problem,
)
from svc_core.payments.payment_rows import Payment, Wallet, day_of, minute_of
from svc_core.payments.states import State
from tests.paying import REQUIREMENTS, World, purchase
from tests.wallets import field, wallet

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
LIMITS = Limits(wallet_minute=3, wallet_day=1_000_000, wallet_rejections=2)
NEW = Wallet("0xa")


@cache
def paid_payment() -> Payment:
    world = World()
    value = field(wallet().payment(REQUIREMENTS, world.second))
    drive.run(world.checkout.serve(purchase(value), world.work()))
    return attrs.evolve(world.only(), reserved_at=NOON)


def released_payment() -> Payment:
    return attrs.evolve(paid_payment(), state=State.RELEASED)


def wait(purse: Wallet, now: datetime, limits: Limits = LIMITS) -> str:
    with pytest.raises(Problem) as failure:
        count_reservation(purse, paid_payment(), limits, now)
    assert failure.value.type is problem.PAYMENT_RATE_LIMITED
    return failure.value.headers["Retry-After"]


def after(purse: Wallet, times: int, now: datetime = NOON, limits: Limits = LIMITS) -> Wallet:
    for _ in range(times):
        purse = count_reservation(purse, paid_payment(), limits, now)
    return purse


def test_a_wallet_is_counted_from_its_first_payment() -> None:
    assert after(NEW, 2) == Wallet("0xa", minute_of(NOON), 2, day_of(NOON), 500_000)


def test_a_minute_ends() -> None:
    full = after(NEW, 3)
    assert wait(full, NOON + timedelta(seconds=1.5)) == "59"
    assert wait(full, NOON + timedelta(seconds=59.999)) == "1"
    assert after(full, 1, NOON + timedelta(seconds=60)).requests == 1


def test_a_day_ends_at_midnight() -> None:
    limits = attrs.evolve(LIMITS, wallet_minute=100)
    full = after(NEW, 4, limits=limits)
    assert wait(full, NOON, limits) == str(12 * 3_600)
    assert after(full, 1, NOON + timedelta(hours=12), limits).spent == 250_000
    just = attrs.evolve(limits, wallet_day=1_249_999)
    assert wait(full, NOON, just) == str(12 * 3_600)


def test_payments_that_do_not_settle_stop_a_wallet_for_a_while() -> None:
    once = count_rejection(NEW, LIMITS, NOON)
    twice = count_rejection(once, LIMITS, NOON + timedelta(minutes=5))
    assert after(once, 1).requests == 1
    assert wait(twice, NOON + timedelta(minutes=6)) == str(9 * 60)
    assert wait(count_rejection(twice, LIMITS, NOON + timedelta(minutes=10)), NOON) == str(20 * 60)
    assert after(twice, 1, NOON + timedelta(minutes=15)).rejections == twice.rejections[1:]


def test_what_is_given_up_is_not_spent() -> None:
    purse = after(NEW, 2)
    assert count_move(purse, paid_payment(), released_payment(), NOON).spent == 250_000
    assert count_move(purse, paid_payment(), paid_payment(), NOON).spent == 500_000
    assert count_move(purse, released_payment(), paid_payment(), NOON).spent == 750_000
    # What was spent yesterday is not counted today, so neither is what comes back of it.
    assert (
        count_move(purse, paid_payment(), released_payment(), NOON + timedelta(days=1)).spent == 0
    )
    assert count_move(NEW, paid_payment(), released_payment(), NOON).spent == 0


def test_a_clock_that_goes_back_opens_no_window_again() -> None:
    full = after(NEW, 3)
    assert wait(full, NOON - timedelta(minutes=5)) == str(6 * 60)


def test_to_wait_is_to_wait_a_second_at_least() -> None:
    assert rate_limit_problem("x", -3).headers["Retry-After"] == "1"
    assert rate_limit_problem("x", 1.01).headers["Retry-After"] == "2"


@given(st.lists(st.integers(0, 200), max_size=40))
def test_no_window_admits_more_than_its_limit(gaps: list[int]) -> None:
    purse, now, minutes = NEW, NOON, dict[int, int]()
    for gap in gaps:
        now += timedelta(seconds=gap)
        try:
            purse = count_reservation(purse, paid_payment(), LIMITS, now)
        except Problem:
            continue
        minutes[minute_of(now)] = minutes.get(minute_of(now), 0) + 1
        assert minutes[minute_of(now)] <= 3
        assert purse.spent <= 1_000_000
