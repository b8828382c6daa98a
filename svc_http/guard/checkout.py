"""Takes payments in a server: the core's `Checkout` with tasks, limits and metrics around it.

Rule 1: a payment runs in a task of its own, to its end, also when the client disconnects. A client
        that has left is not charged, and an answer that was charged waits for its payer's return.
Rule 2: no working slot is held while a facilitator is asked to verify or to settle. The number of
        payments at once is bounded, because their answers stay in memory until they are settled,
        and one address block may have half of them at most.
Rule 3: three things are limited: addresses, counted in this process, because a challenge is cheaper
        than asking a shared counter; operations, counted where processes share their counts; and
        wallets, counted with their payments in the store.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Final

import attrs

from svc_core.access.limits import DAY_SECONDS, MINUTE_SECONDS
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.ports import Counters, Ids, Pool, Storage
from svc_core.payments.admission import Limits, rate_limit_problem
from svc_core.payments.challenge import atomic
from svc_core.payments.decisions import Purchase
from svc_core.payments.evm import Judge
from svc_core.payments.networks import NETWORKS
from svc_core.payments.payment_ports import ChainReader, Facilitator
from svc_core.payments.payment_rows import Payment, minute_of
from svc_core.payments.receipts import Signing
from svc_core.payments.steps import Checkout, ClientGone, PaidReply, PaymentPolicy, Work
from svc_core.payments.store import StoredPayments
from svc_http.exchange.fair_shares import BOUNDS, Shares
from svc_http.exchange.http_exchange import ClientGoneError, Exchange, busy
from svc_http.exchange.task_ends import end_tasks
from svc_http.guard.address_limits import wait_seconds
from svc_http.settings import Settings

_NO_LIMIT: Final = 10**9
_COUNTED_FIELDS: Final = frozenset(
    {problem.INVALID_PAYMENT, problem.PAYMENT_INVALID, problem.PAYMENT_REPLAYED}
)
"""Refusals that count against an address like a challenge."""


def limits_of(settings: Settings) -> Limits:
    """The payment limits of the settings."""
    decimals = NETWORKS[settings.payment_network].asset.decimals
    return Limits(
        wallet_minute=settings.x402_wallet_per_minute,
        wallet_day=atomic(settings.x402_wallet_usd_per_day, decimals),
        operation_minute=settings.x402_operation_per_minute,
        address_minute=settings.x402_address_per_minute,
    )


Tally = Callable[[str, str, str], Counter[str]]
"""Makes a metric from its name, its help text and its label; returns its counts by label value."""


class Addresses:
    """Counts the refusals of each address block in the current minute (UTC), and only those."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._minute = 0
        self._refusals: Counter[str] = Counter()

    def check(self, address: str, now: datetime) -> None:
        """Pass unless the address has used up its refusals of this minute.

        Raises:
            Problem: PAYMENT_RATE_LIMITED.
        """
        minute = minute_of(now)
        if minute > self._minute:
            self._minute = minute
            self._refusals.clear()
        if self._refusals[address] >= self._size:
            wait = self._minute + MINUTE_SECONDS - now.timestamp()
            raise rate_limit_problem("This address was told too often what to pay.", wait)

    def note(self, address: str) -> None:
        """Count one refusal."""
        self._refusals[address] += 1


class PaymentCheckout:
    """Takes the payments of one process."""

    def __init__(
        self,
        settings: Settings,
        storage: Storage,
        *,
        facilitator: Facilitator,
        judge: Judge,
        chain: ChainReader | None,
        now: Callable[[], datetime],
        ids: Ids,
        counters: Counters,
        tally: Tally,
        signing: Callable[[], Signing | None],
    ) -> None:
        self._now = now
        self._signing = signing
        self._counters = counters
        self._admits = settings.counters_down == "admit"
        self._limits = limits_of(settings) if settings.rate_limits else None
        self._under_way: Shares[asyncio.Task[PaidReply]] = Shares(BOUNDS["payments"])
        self._addresses = Addresses(
            _NO_LIMIT if self._limits is None else self._limits.address_minute
        )
        text = "Payments, by the state that they came to."
        self._states = tally("svc_payments", text, "state")
        text = "What was paid, in the smallest unit of the asset, by what was bought."
        self._revenue = tally("svc_payments_revenue_units", text, "operation")
        no_limits = Limits(_NO_LIMIT, _NO_LIMIT**2, _NO_LIMIT, _NO_LIMIT, _NO_LIMIT)
        self._checkout = Checkout(
            store=StoredPayments(storage, self._note_move),
            facilitator=facilitator,
            judge=judge,
            ids=ids,
            clock=now,
            chain=chain,
            gate=self._count_operation,
            policy=PaymentPolicy(self._limits or no_limits),
        )

    @property
    def checkout(self) -> Checkout:
        """The core's checkout; it signs receipts as soon as there is a signing key."""
        return attrs.evolve(self._checkout, signing=self._signing())

    # -- a request -----------------------------------------------------------------------------

    def note_challenge(self, address: str) -> None:
        """Count a request that brings no payment.

        Raises:
            Problem: PAYMENT_RATE_LIMITED.
        """
        self._addresses.check(address, self._now())
        self._addresses.note(address)

    async def serve(
        self, exchange: Exchange, address: str, purchase: Purchase, work: Work
    ) -> PaidReply:
        """The answer to a request that brings a payment.

        Raises:
            Problem: as `Checkout.serve`; or PAYMENT_RATE_LIMITED, OVERLOADED.
            ClientGoneError: the client has left.
        """
        self._addresses.check(address, self._now())
        holder = "address", address
        if not self._under_way.fits((holder,)):
            raise busy(problem.OVERLOADED, "Too many payments are under way.")
        exchange.rest()
        departure = asyncio.create_task(exchange.wait_closed())
        purchase = attrs.evolve(purchase, is_awaited=lambda: not departure.done())
        serving = asyncio.create_task(self.checkout.serve(purchase, work))
        self._under_way.enter(serving, holder)

        def on_end(task: asyncio.Task[PaidReply]) -> None:
            departure.cancel()
            self._under_way.leave(task)
            if not task.cancelled():
                task.exception()  # marked as seen: the request has raised it, or has ended

        serving.add_done_callback(on_end)
        try:
            return await asyncio.shield(serving)
        except asyncio.CancelledError:
            departure.cancel()  # the request was cancelled: nobody waits for the client any more
            raise
        except ClientGone as left_alone:
            raise ClientGoneError from left_alone
        except Problem as refusal:
            if refusal.type in _COUNTED_FIELDS:
                self._addresses.note(address)
            raise

    async def drain(self, seconds: float) -> None:
        """Wait for the running payments; slower ones are cancelled, and recovered later."""
        await end_tasks(self._under_way, seconds)

    # -- counting ------------------------------------------------------------------------------

    async def _count_operation(self, operation: str) -> None:
        """Count a paid request of an operation.

        Raises:
            Problem: PAYMENT_RATE_LIMITED, or SERVICE_UNAVAILABLE where it cannot be counted.
        """
        if self._limits is None:
            return
        pools = (
            Pool("x402-minute", operation, self._limits.operation_minute, MINUTE_SECONDS),
            Pool("x402-day", operation, _NO_LIMIT, DAY_SECONDS),
        )
        wait = await wait_seconds(self._counters, pools, self._now(), admits=self._admits)
        if wait is not None:
            raise rate_limit_problem("This operation was paid for too often in this minute.", wait)

    def _note_move(self, before: Payment | None, after: Payment) -> None:
        """Count a change of state of a payment, after it was stored."""
        if before is None or before.state is not after.state:
            self._states[after.state] += 1
        if after.settled_at is not None and (before is None or before.settled_at is None):
            self._revenue[after.operation] += after.amount
