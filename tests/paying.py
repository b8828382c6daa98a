"""A small world for payments: a store, a token contract with its blocks, facilitators that fail in
every way they can, and tasks that are stepped from port to port and may die between any two."""

import json
from base64 import b64decode
from collections.abc import Awaitable, Callable, Coroutine, Generator
from datetime import datetime
from typing import Any

import attrs
from attrs import define, field, frozen

from svc_core import catalog
from svc_core.payments.challenge import Offer, Terms, offer
from svc_core.payments.decisions import Purchase
from svc_core.payments.evm import Judge
from svc_core.payments.messages import Kind, SettlementResponse, SupportedKinds, Verdict
from svc_core.payments.networks import BASE_SEPOLIA
from svc_core.payments.payment_ports import Rule, Sighting, Transfer, Unavailable
from svc_core.payments.payment_rows import HeldAnswer, Payment, PaymentKeys, PaymentRows, Wallet
from svc_core.payments.states import WATCHED, State
from svc_core.payments.steps import Checkout, PaymentPolicy
from svc_core.testing.clock import CountingIds, FrozenClock
from tests.wallets import Coins, nonce

PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
COINS = Coins()
JUDGE = Judge(BASE_SEPOLIA, COINS)
OPERATION: Any = next(operation for operation in catalog.OPERATIONS if operation.id == "getReport")
URL = "https://api.svc.test/api/v1/reports/rpt_65f1c0de8badf00d12345678"


def _offer() -> Offer:
    terms_offer = offer(OPERATION, Terms(BASE_SEPOLIA, PAYEE))
    assert terms_offer is not None
    return terms_offer


OFFER = _offer()
REQUIREMENTS = OFFER.requirements
PRICE = int(REQUIREMENTS.amount)


def purchase(*values: str, url: str = URL, method: str = "GET") -> Purchase:
    return Purchase("getReport", "T4_PREMIUM_SINGLE", "0.25", method, url, OFFER, values)


def answer(text: str = "report", status: int = 200) -> HeldAnswer:
    return HeldAnswer(status, "application/json", (("etag", '"1"'),), text.encode())


def decode(value: str) -> Any:
    return json.loads(b64decode(value, validate=True))


class Turn:
    """Where a task waits until it is stepped."""

    def __await__(self) -> Generator[None, None, None]:
        yield


Pause = Callable[[], Awaitable[None]]


async def at_once() -> None:
    """Go on without waiting."""


async def in_turn() -> None:
    """Wait for the next step."""
    await Turn()


# -- the store ---------------------------------------------------------------------------------


class MemoryPayments:
    """A payment store whose calls happen one after another."""

    def __init__(self, pause: Pause = at_once) -> None:
        self.payments: dict[str, Payment] = {}
        self.wallets: dict[str, Wallet] = {}
        self.answers: dict[str, HeldAnswer] = {}
        self.pause = pause

    def others(self, number: str) -> str | None:
        """A transaction that is named by a payment which is not given up and has another nonce."""
        names = (
            payment.transaction
            for payment in self.payments.values()
            if payment.state is not State.RELEASED and payment.nonce != number.lower()
        )
        return next(filter(None, names), None)

    async def look(self, place: PaymentKeys) -> PaymentRows:
        await self.pause()
        return self._payments_at(place)

    def _payments_at(self, place: PaymentKeys) -> PaymentRows:
        namesakes = [
            payment
            for payment in self.payments.values()
            if place.identifier is not None
            and (payment.payer, payment.identifier) == (place.payer, place.identifier)
            and payment.state is not State.RELEASED
        ]
        assert len(namesakes) < 2
        namesake = namesakes[0] if namesakes else None
        ids = {place.id} | ({namesake.id} if namesake else set())
        answers = {id_: self.answers[id_] for id_ in ids if id_ in self.answers}
        owners = [
            payment
            for payment in self.payments.values()
            if None is not payment.transaction == place.transaction
            and payment.id != place.id
            and payment.state is not State.RELEASED
        ]
        assert len(owners) < 2
        return PaymentRows(
            self.payments.get(place.id),
            namesake,
            self.wallets.get(place.payer),
            answers,
            owners[0] if owners else None,
        )

    async def update(self, place: PaymentKeys, rule: Rule) -> Payment:
        await self.pause()
        writes = rule(self._payments_at(place))
        payment = writes.payment
        before = self.payments.get(payment.id)
        assert before is None or payment.revision > before.revision
        self.payments[payment.id] = payment
        if writes.forget:
            self.answers.pop(payment.id, None)
        if writes.answer is not None:
            self.answers[payment.id] = writes.answer
        if writes.wallet is not None:
            self.wallets[writes.wallet.payer] = writes.wallet
        await self.pause()
        return payment

    async def receipt(self, reference: str) -> Payment | None:
        for payment in self.payments.values():
            if reference in (payment.receipt_id, payment.transaction):
                return payment
        return None

    async def due(
        self, now: datetime, *, states: frozenset[State] = WATCHED, limit: int
    ) -> tuple[Payment, ...]:
        await self.pause()
        payments = [
            payment
            for payment in self.payments.values()
            if payment.state in states and not payment.is_worked_on(now)
        ]
        return tuple(sorted(payments, key=lambda payment: payment.updated_at)[:limit])

    async def list_payments(
        self, *, states: frozenset[State] = frozenset(), limit: int, after: str | None = None
    ) -> tuple[Payment, ...]:
        raise NotImplementedError

    async def forget(self, before: datetime, *, limit: int) -> int:
        raise NotImplementedError


# -- the chain ---------------------------------------------------------------------------------


@frozen
class Sent:
    """A transfer on its way to a block."""

    payer: str
    to: str
    value: int
    valid_before: int
    nonce: str
    transaction: str


@define
class Chain:
    """A token contract: who has how much, which nonces are used up, and by which transfer."""

    clock: FrozenClock
    balances: dict[str, int] = field(factory=dict)
    used: dict[tuple[str, str], Transfer | None] = field(factory=dict)
    waiting: list[Sent] = field(factory=list)
    transfer_count: int = 0
    charges: list[tuple[str, str]] = field(factory=list)

    def refusal(self, payload: Any) -> str | None:
        """Why the contract would not take it now."""
        authorization = payload["payload"]["authorization"]
        payer, number = authorization["from"].lower(), authorization["nonce"].lower()
        if int(authorization["validBefore"]) <= self.clock.now().timestamp():
            return "invalid_exact_evm_payload_authorization_valid_before"
        # Contracts and simulations differ in what they look at first.
        if self.balances.get(payer, 10**12) < int(authorization["value"]):
            return "insufficient_funds"
        if (payer, number) in self.used:
            return "invalid_exact_evm_nonce_already_used"
        return None

    def send(self, payload: Any) -> str:
        """Broadcast; the hash of the transaction."""
        self.transfer_count += 1
        authorization = payload["payload"]["authorization"]
        transfer = Sent(
            authorization["from"].lower(),
            authorization["to"].lower(),
            int(authorization["value"]),
            int(authorization["validBefore"]),
            authorization["nonce"].lower(),
            nonce(10**6 + self.transfer_count),
        )
        self.waiting.append(transfer)
        return transfer.transaction

    def mine_block(self) -> None:
        """Put what waits into a block; what the contract refuses is in it and moves nothing."""
        now = self.clock.now()
        for transfer in self.waiting:
            is_late = transfer.valid_before <= now.timestamp()
            has = self.balances.get(transfer.payer, 10**12)
            if (transfer.payer, transfer.nonce) in self.used or is_late or has < transfer.value:
                continue
            self.balances[transfer.payer] = has - transfer.value
            self.used[transfer.payer, transfer.nonce] = Transfer(transfer.transaction, now)
            self.charges.append((transfer.payer, transfer.nonce))
        self.waiting.clear()

    def cancel(self, payer: str, number: str) -> None:
        self.used.setdefault((payer.lower(), number.lower()), None)


@define
class View:
    """A chain reader."""

    chain: Chain
    pause: Pause = at_once
    down: bool = False

    async def authorization_state(self, payment: Payment) -> Sighting:
        await self.pause()
        if self.down:
            raise Unavailable("no node answers")
        is_used = (payment.payer, payment.nonce) in self.chain.used
        return Sighting(is_used, self.chain.clock.now())

    async def transfer(self, payment: Payment) -> Transfer | None:
        await self.pause()
        return self.chain.used[payment.payer, payment.nonce]

    async def balance(self, network: str, asset: str, owner: str) -> int:
        return self.chain.balances.get(owner, 0)


FAULTS = (
    "none",  # settles and says so
    "unheard",  # nothing is done, no answer
    "lost",  # settled, no answer
    "sent and lost",  # on its way, no answer
    "pending",  # on its way, and says so
    "settled and pending",  # settled, and does not know
    "garbled",  # settled, and says so in a form that proves nothing
    "refused",  # not settled, for a reason that is found before sending
    "failed",  # on its way, and says that it failed, as one does that loses its notes
    "copied",  # nothing is done, and the transaction of another payment is named
    "copied and pending",  # the same, as one that is under way
)


@define(slots=False)
class Broker:
    """A facilitator over a chain; `fault` is what happens at each settlement."""

    chain: Chain
    pause: Pause = at_once
    fault: str = "none"
    silent: bool = False
    others: Callable[[str], str | None] = lambda _: None
    """The transaction of another payment than that with this nonce, if there is one."""
    says: Verdict | None = None
    calls: list[str] = field(factory=list)

    async def verify(self, payload: Any) -> Verdict:
        self.calls.append("verify")
        await self.pause()
        if self.silent:
            raise Unavailable("no answer")
        reason = self.chain.refusal(payload)
        return self.says or Verdict(reason is None, reason)

    async def settle(self, payload: Any) -> SettlementResponse:
        self.calls.append("settle")
        await self.pause()
        fault = self.fault
        copy = self.others(payload["payload"]["authorization"]["nonce"])
        if fault == "unheard" or (fault.startswith("copied") and copy is None):
            raise Unavailable("no answer")
        if fault.startswith("copied"):
            is_over = fault == "copied"
            return self._response(is_over, copy, None if is_over else "settlement_pending")
        reason = "insufficient_funds" if fault == "refused" else self.chain.refusal(payload)
        if reason is not None:
            await self.pause()
            return SettlementResponse(False, "", "eip155:84532", None, reason)
        transaction = self.chain.send(payload)
        if fault not in ("pending", "sent and lost", "failed"):
            self.chain.mine_block()
        await self.pause()
        match fault:
            case "lost" | "sent and lost":
                raise Unavailable("no answer")
            case "pending" | "settled and pending":
                return self._response(False, transaction, "settlement_pending")
            case "garbled":
                return SettlementResponse(True, transaction, "eip155:8453")
            case "failed":
                return self._response(False, transaction, "transaction_failed")
            case _:
                return self._response(True, transaction, None)

    async def supported(self) -> SupportedKinds:
        return SupportedKinds((Kind(2, "exact", "eip155:84532"),))

    def _response(self, success: bool, transaction: str, reason: str | None) -> SettlementResponse:
        return SettlementResponse(success, transaction, "eip155:84532", None, reason)


# -- all of it ---------------------------------------------------------------------------------


@define
class World:
    """One deployment: any number of workers over one store."""

    pause: Pause = at_once
    sees: bool = True
    policy: PaymentPolicy = field(factory=PaymentPolicy)
    clock: FrozenClock = field(factory=FrozenClock)
    store: MemoryPayments = field(init=False)
    chain: Chain = field(init=False)
    view: View = field(init=False)
    broker: Broker = field(init=False)
    checkout: Checkout = field(init=False)
    runs: int = 0

    def __attrs_post_init__(self) -> None:
        self.store = MemoryPayments(self.pause)
        self.chain = Chain(self.clock)
        self.view = View(self.chain, self.pause)
        self.broker = Broker(self.chain, self.pause, others=self.store.others)
        self.checkout = Checkout(
            self.store,
            self.broker,
            JUDGE,
            CountingIds(self.clock),
            self.clock.now,
            chain=self.view if self.sees else None,
            policy=self.policy,
        )

    @property
    def second(self) -> int:
        return int(self.clock.now().timestamp())

    def patch(self, **members: Any) -> None:
        """Change the checkout."""
        self.checkout = attrs.evolve(self.checkout, **members)

    def work(self, text: str = "report", status: int = 200) -> Callable[[], Awaitable[HeldAnswer]]:
        async def run() -> HeldAnswer:
            await self.pause()
            self.runs += 1
            return answer(text, status)

        return run

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    def only(self) -> Payment:
        """The one payment."""
        (payment,) = self.store.payments.values()
        return payment


@define
class Task:
    """A coroutine that is stepped; `result` or `error` once it ended, neither where it died."""

    coroutine: Coroutine[Any, Any, Any]
    result: Any = None
    error: Exception | None = None
    is_done: bool = False

    def step(self) -> None:
        try:
            self.coroutine.send(None)
        except StopIteration as stop:
            self.result, self.is_done = stop.value, True
        except Exception as error:
            self.error, self.is_done = error, True

    def die(self) -> None:
        self.coroutine.close()
        self.is_done = True

    def finish(self) -> None:
        while not self.is_done:
            self.step()
