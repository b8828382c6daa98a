"""Limits of wallets: counted in the unit that reserves a payment, so that no burst exceeds them.

Rule 1: only a payment whose signature proves the payer is counted, so nobody can use up the limits
        of another wallet.
Rule 2: minutes and days are fixed UTC windows, as for keys. An amount that was not charged is not
        counted as spent.
"""

from datetime import datetime, timedelta
from typing import Final

import attrs
from attrs import frozen

from svc_core.access.limits import DAY_SECONDS, MINUTE_SECONDS
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.payments.payment_rows import Payment, Wallet, day_of, minute_of
from svc_core.payments.states import State

USD_UNITS: Final = 10**6
"""Units of the asset in a dollar: every accepted asset has six decimals."""

REJECTION_WINDOW: Final = timedelta(minutes=15)
RETRY_SECONDS: Final = 1


@frozen
class Limits:
    """The limits of paid requests.

    Of one wallet: requests per UTC minute, asset units per UTC day, and payments within fifteen
    minutes that could not be settled. Of one operation and of one address: requests per minute.
    """

    wallet_minute: int = 60
    wallet_day: int = 25 * USD_UNITS
    wallet_rejections: int = 5
    operation_minute: int = 600
    address_minute: int = 120


def count_reservation(wallet: Wallet, payment: Payment, limits: Limits, now: datetime) -> Wallet:
    """The wallet with a new reservation counted.

    Raises:
        Problem: PAYMENT_RATE_LIMITED, with `Retry-After`.
    """
    current = _current(wallet, now)
    if len(current.rejections) >= limits.wallet_rejections:
        until = current.rejections[-limits.wallet_rejections] + REJECTION_WINDOW
        raise rate_limit_problem(
            "Payments of this wallet did not settle.", (until - now).total_seconds()
        )
    second = now.timestamp()
    if current.requests >= limits.wallet_minute:
        wait = current.minute + MINUTE_SECONDS - second
        raise rate_limit_problem(f"A wallet pays {limits.wallet_minute} requests a minute.", wait)
    if current.spent + payment.amount > limits.wallet_day:
        wait = current.day + DAY_SECONDS - second
        raise rate_limit_problem("The wallet has spent what it may in a day (UTC).", wait)
    return attrs.evolve(
        current, requests=current.requests + 1, spent=current.spent + payment.amount
    )


def count_move(wallet: Wallet, before: Payment, after: Payment, now: datetime) -> Wallet:
    """The wallet after one of its payments changed state; a released amount is not spent."""
    current = _current(wallet, now)
    change = _spent_units(after) - _spent_units(before)
    if day_of(before.reserved_at) != current.day:
        change = 0
    return attrs.evolve(current, spent=max(0, current.spent + change))


def count_rejection(wallet: Wallet, limits: Limits, now: datetime) -> Wallet:
    """The wallet after one of its payments could not be settled."""
    current = _current(wallet, now)
    newest = (*current.rejections, now)[-limits.wallet_rejections :]
    return attrs.evolve(current, rejections=newest)


def rate_limit_problem(detail: str, wait_seconds: float) -> Problem:
    """PAYMENT_RATE_LIMITED, with `Retry-After` in whole seconds."""
    wait = max(RETRY_SECONDS, int(-(-wait_seconds // 1)))
    return Problem(problem.PAYMENT_RATE_LIMITED, detail, {"Retry-After": str(wait)})


def _current(wallet: Wallet, now: datetime) -> Wallet:
    """The wallet in the windows of this moment."""
    minute, day = max(wallet.minute, minute_of(now)), max(wallet.day, day_of(now))
    return attrs.evolve(
        wallet,
        minute=minute,
        requests=wallet.requests if minute == wallet.minute else 0,
        day=day,
        spent=wallet.spent if day == wallet.day else 0,
        rejections=tuple(time for time in wallet.rejections if now < time + REJECTION_WINDOW),
    )


def _spent_units(payment: Payment) -> int:
    return 0 if payment.state is State.RELEASED else payment.amount
