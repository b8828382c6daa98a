"""The flow of a paid request, from its payment to its answer, and the recovery of interrupted ones.

The flow waits for ports only. Every step stores its result before the next one begins, so that a
process may die between any two steps and another one continues:

    reserved    no facilitator was asked: when the lease ends, the payment is free again
    settling    the answer is stored; when the lease ends, whether it is paid is unknown
    pending, unknown    the same request settles again, or the reconciler looks at the chain
    owed        the same request gets the answer

Rule 1: a process that lost a payment to another (its lease ended) reports what the other did.
Rule 2: a lease is longer than the work and two calls of a facilitator take together.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.ports import Ids
from svc_core.payments import decisions, header, outcomes, receipts
from svc_core.payments.admission import Limits
from svc_core.payments.decisions import (
    PaymentAttempt,
    PriorAnswer,
    Purchase,
    in_progress,
    payment_refusal,
)
from svc_core.payments.evm import Judge, checksum_address
from svc_core.payments.messages import PAYMENT_RESPONSE, SettlementResponse
from svc_core.payments.outcomes import PaymentOutcome
from svc_core.payments.payment_ports import (
    ChainReader,
    Facilitator,
    PaymentStore,
    Rule,
    Unavailable,
)
from svc_core.payments.payment_rows import (
    RECEIPT_PREFIX,
    HeldAnswer,
    Lease,
    Payment,
    PaymentKeys,
    PaymentRows,
    Writes,
)
from svc_core.payments.receipts import Signing
from svc_core.payments.states import IN_DOUBT, IN_FLIGHT, WATCHED, Event, State, Superseded

Work = Callable[[], Awaitable[HeldAnswer]]
"""Runs the request itself, without its payment."""

Gate = Callable[[str], Awaitable[None]]
"""Counts a paid request of an operation; raises PAYMENT_RATE_LIMITED where it is one too many."""

ERROR_STATUS_MIN: Final = 400
"""From this status on an answer is not paid for."""
DOUBT_SECONDS: Final = "5"
HOLDER_BYTES: Final = 12
BACKOFF: Final = 8
"""A payment in doubt is looked at again after this fraction (1/8) of its age."""

_LAST: Final = datetime.max.replace(tzinfo=UTC)
_DOUBTS: Final = {Event.PEND: problem.SETTLEMENT_PENDING, Event.LOSE: problem.SETTLEMENT_UNKNOWN}


@frozen
class PaymentPolicy:
    """The settings of the checkout.

    `verifies`: ask a facilitator before the work as well, because otherwise an empty wallet gets
    work done for nothing. `lease` is how long a process holds a payment, `pause` how long the
    reconciler leaves an undecided one alone.
    """

    limits: Limits = field(factory=Limits)
    verifies: bool = True
    lease: timedelta = timedelta(seconds=180)
    pause: timedelta = timedelta(seconds=15)


@frozen
class PaidReply:
    """The answer to send; `receipt_id` is None where nothing was charged for it."""

    answer: HeldAnswer
    receipt_id: str | None = None


class ClientGone(Exception):  # noqa: N818 - says what happened
    """The client has left: nothing was charged, or it is owed the answer."""


async def _open_gate(_: str) -> None:
    """Count nothing and admit every request."""


@frozen
class Checkout:
    """Serves paid requests: takes payments in the asset of one network, and recovers them."""

    store: PaymentStore
    facilitator: Facilitator
    judge: Judge
    ids: Ids
    clock: Callable[[], datetime]
    chain: ChainReader | None = None
    gate: Gate = _open_gate
    signing: Signing | None = None
    policy: PaymentPolicy = field(factory=PaymentPolicy)

    # -- a request -----------------------------------------------------------------------------

    async def serve(self, purchase: Purchase, work: Work) -> PaidReply:
        """Serve a request with a payment; the answer is returned once it is paid.

        An answer with a status of 400 or more, and an exception of `work`, is passed on and nothing
        is charged.

        Raises:
            Problem: the payment is not taken, or what became of it is not known; with the fields
                that the answer must carry.
            ClientGone: nobody waits for the answer.
        """
        attempt = PaymentAttempt(purchase, header.parse_payment(purchase.values))
        rows = await self.store.look(attempt.keys)
        try:
            decisions.recall(rows, attempt, self.clock())
            payment = await self._reserve(attempt, rows)
        except PriorAnswer as prior:
            return await self._repeat(prior.payment, prior.answer, purchase)
        return await self._work(payment, purchase, work)

    async def _repeat(self, payment: Payment, answer: HeldAnswer, purchase: Purchase) -> PaidReply:
        """Go on with a payment whose answer is stored already."""
        if payment.state is State.SETTLED:
            return PaidReply(answer, payment.receipt_id)
        if payment.state is State.OWED:
            return await self._send(payment, answer, PaymentOutcome(Event.DELIVER), purchase)
        return await self._settle(payment, answer, purchase, is_first=False)

    async def _reserve(self, attempt: PaymentAttempt, rows: PaymentRows) -> Payment:
        reason = decisions.fault(attempt, self.judge, self.clock())
        if reason:
            raise payment_refusal(problem.PAYMENT_INVALID, reason, attempt.purchase)
        is_delegated = reason is False
        if is_delegated:
            if decisions.is_doubtful(rows, attempt):
                detail = "Send the payment as it was, byte for byte."
                raise Problem(problem.SETTLEMENT_UNKNOWN, detail, {"Retry-After": DOUBT_SECONDS})
            await self._verify(attempt)
        await self.gate(attempt.purchase.operation)
        now = self.clock()
        lease = self._lease(now, self.policy.lease)
        fresh = decisions.reservation(attempt, self.ids.new(RECEIPT_PREFIX), lease, now)
        reserve = partial(decisions.reserve_payment, attempt=attempt, payment=fresh)
        rule = partial(reserve, limits=self.policy.limits)
        payment = await self.store.update(attempt.keys, rule)
        if self.policy.verifies and not is_delegated:
            try:
                await self._verify(attempt)
            except Problem as error:
                is_invalid = error.type is problem.PAYMENT_INVALID
                event = Event.REJECT if is_invalid else Event.FAIL
                await self._give_up(payment, PaymentOutcome(event, error.detail.rstrip(".")))
                raise
        return payment

    async def _verify(self, attempt: PaymentAttempt) -> None:
        """Ask the facilitator whether the payment could be settled.

        Raises:
            Problem: PAYMENT_INVALID, or SERVICE_UNAVAILABLE where there is no answer.
        """
        try:
            verdict = await self.facilitator.verify(wire.decode_json(attempt.payment.text.encode()))
        except Unavailable as error:
            detail = "Payments cannot be checked at present; nothing was charged."
            retry = {"Retry-After": DOUBT_SECONDS}
            raise Problem(problem.SERVICE_UNAVAILABLE, detail, retry) from error
        payer, network = attempt.keys.payer, attempt.requirements.network
        if not verdict.is_valid or (verdict.payer or payer).lower() != payer:
            reason = verdict.invalid_reason or "unexpected_verify_error"
            response = SettlementResponse(False, "", network, payer, reason)
            raise payment_refusal(problem.PAYMENT_INVALID, reason, attempt.purchase, response)

    async def _work(self, payment: Payment, purchase: Purchase, work: Work) -> PaidReply:
        outcome = PaymentOutcome(Event.FAIL, "request_failed")
        try:
            answer = await work()
        except Exception:
            await self._give_up(payment, outcome)
            raise
        is_good = answer.status < ERROR_STATUS_MIN
        if is_good and purchase.is_awaited():
            return await self._settle(payment, answer, purchase, is_first=True)
        await self._give_up(payment, outcome)
        if is_good:
            raise ClientGone
        return PaidReply(answer)

    async def _give_up(self, payment: Payment, outcome: PaymentOutcome) -> None:
        with suppress(Superseded):
            await self.resolve(payment, outcome, holder=payment.holder)

    # -- settling ------------------------------------------------------------------------------

    async def _settle(
        self, payment: Payment, answer: HeldAnswer, purchase: Purchase, *, is_first: bool
    ) -> PaidReply:
        try:
            payment = await self._begin(payment, answer if is_first else None)
        except Superseded as error:
            raise in_progress() from error
        outcome = await self._ask_until_certain(payment, is_first=is_first)
        is_paid = outcome.event is Event.OBSERVE
        if is_paid and purchase.is_awaited():
            outcome_ = attrs.evolve(outcome, event=Event.CONFIRM)
            return await self._send(payment, answer, outcome_, purchase)
        is_copy = False
        try:
            is_copy = outcomes.is_marked(
                await self.resolve(payment, outcome, holder=payment.holder)
            )
        except Superseded:
            outcome = PaymentOutcome(Event.LOSE, outcomes.UNKNOWN, outcome.transaction)
        if is_paid:
            raise ClientGone
        if is_copy:
            raise decisions.copy_refusal(payment, purchase)
        raise _settlement_problem(payment, outcome, purchase)

    async def _begin(self, payment: Payment, answer: HeldAnswer | None) -> Payment:
        """Store that a facilitator is going to be asked, with the answer if it is new.

        Raises:
            Superseded: another process holds the payment, or has moved it.
        """
        now, is_first = self.clock(), answer is not None
        holder = payment.holder if is_first else None
        lease = self._lease(now, self.policy.lease)
        move = self._move_rule(
            PaymentOutcome(Event.SETTLE), holder=holder, lease=lease, answer=answer
        )
        rule = move if is_first else lambda rows: move(_in_doubt(rows, payment, now))
        return await self.store.update(payment.keys, rule)

    async def _ask_until_certain(self, payment: Payment, *, is_first: bool) -> PaymentOutcome:
        """Ask the facilitator, in doubt a second time, and then the chain."""
        outcome = await self._settle_once(payment, is_first=is_first)
        if outcome.event in _DOUBTS:
            again = await self._settle_once(payment, is_first=False)
            # A transfer that was named stays the one to look for.
            if again.event is not Event.LOSE or outcome.event is Event.LOSE:
                outcome = again
        if outcome.event in _DOUBTS:
            outcome = await self._chain_outcome(payment) or outcome
        return outcome

    async def _settle_once(self, payment: Payment, *, is_first: bool) -> PaymentOutcome:
        try:
            response = await self.facilitator.settle(wire.decode_json(payment.payload.encode()))
        except Unavailable:
            response = None
        return outcomes.judge_settlement(response, payment, is_first=is_first)

    async def _chain_outcome(self, payment: Payment) -> PaymentOutcome | None:
        """The outcome of a look at the chain; None where it cannot be read."""
        if self.chain is None:
            return None
        try:
            sighting = await self.chain.authorization_state(payment)
            transfer = await self.chain.transfer(payment) if sighting.is_used else None
        except Unavailable:
            return None
        return outcomes.judge_chain(sighting, transfer, payment)

    async def _send(
        self, payment: Payment, answer: HeldAnswer, outcome: PaymentOutcome, purchase: Purchase
    ) -> PaidReply:
        """Store that the answer is sent and return it, or the one that another process sent.

        Raises:
            Problem: PAYMENT_REPLAYED where another payment has the transaction.
        """
        now, move = self.clock(), self._move_rule(outcome)

        def with_receipt(payment: Payment) -> HeldAnswer:
            payer = checksum_address(payment.payer, self.judge.crypto)
            response = receipts.response(payment, payer, self.signing, now)
            return attrs.evolve(answer, payment_response=response.header())

        def rule(rows: PaymentRows) -> Writes:
            writes = move(rows)
            if writes.payment.state is not State.SETTLED:
                return writes
            if writes.payment.identifier is None:
                return attrs.evolve(writes, forget=True)
            return attrs.evolve(writes, answer=with_receipt(writes.payment))

        try:
            settled_payment = await self.store.update(_keys(payment, outcome), rule)
        except Superseded:
            rows = await self.store.look(payment.keys)
            answer_ = rows.answers.get(payment.id)
            if payment.identifier is None or answer_ is None:
                raise decisions.replay_refusal(rows.payment or payment, purchase) from None
            return PaidReply(answer_, payment.receipt_id)
        if settled_payment.state is not State.SETTLED:
            raise decisions.copy_refusal(settled_payment, purchase)
        return PaidReply(with_receipt(settled_payment), settled_payment.receipt_id)

    # -- what was cut off ----------------------------------------------------------------------

    async def reconcile(self, *, at_once: bool = False) -> tuple[Payment, ...]:
        """Recover the payments that no process holds; those whose state changed, as they are now.

        With `at_once` also those that were looked at a short while ago. Without a view of the
        chain a payment stays unknown until its client returns, or the operator resolves it.
        """
        payments = await self.store.due(_LAST if at_once else self.clock(), limit=100)
        results = [await self.recover(payment, at_once=at_once) for payment in payments]
        return tuple(payment for payment in results if payment is not None)

    async def resolve(
        self,
        payment: Payment,
        outcome: PaymentOutcome,
        *,
        holder: str | None = None,
        lease: Lease | None = None,
    ) -> Payment:
        """Apply an outcome to a payment; the payment after it.

        The outcome comes from the `holder`, or, for a payment in doubt, from the operator: OBSERVE
        with its transaction, or REJECT. The new `lease` says who looks at it next.

        Raises:
            Superseded: the holder no longer holds it, or it is not in doubt.
        """
        rule = self._move_rule(outcome, holder=holder, lease=lease)
        return await self.store.update(_keys(payment, outcome), rule)

    async def recover(self, payment: Payment, *, at_once: bool = False) -> Payment | None:
        """Recover one payment that no process holds; None where its state did not change."""
        now = self.clock()
        move = self._move_rule(PaymentOutcome(Event.LAPSE), lease=self._pause(payment))
        # The lease of a payment in doubt is only a pause, which `at_once` cuts short.
        leased_states = IN_FLIGHT if at_once else WATCHED

        def rule(rows: PaymentRows) -> Writes:
            current = rows.payment
            if current is None or current.state not in WATCHED:
                raise Superseded("There is nothing to look after.")
            if current.state in leased_states and current.is_worked_on(now):
                raise Superseded("Another looks after the payment.")
            return move(rows)

        outcome = None
        try:
            current = await self.store.update(payment.keys, rule)
            if current.state is State.PENDING and self.chain is None:
                # The facilitator said that a transfer is under way.
                current = await self._begin(current, None)
                outcome = await self._settle_once(current, is_first=False)
            elif current.state in IN_DOUBT:
                outcome = await self._chain_outcome(current)
            if outcome is not None:
                lease = self._pause(current)
                return await self.resolve(current, outcome, holder=current.holder, lease=lease)
        except Superseded:
            return None
        return current if current.state is not payment.state else None

    def _move_rule(self, outcome: PaymentOutcome, **how: Any) -> Rule:
        """The store rule that applies an outcome now."""
        now, limits = self.clock(), self.policy.limits
        return partial(decisions.move, outcome=outcome, now=now, limits=limits, **how)

    def _pause(self, payment: Payment) -> Lease:
        """A lease of nobody, to wait before the next look: the older the payment, the longer."""
        now = self.clock()
        return self._lease(now, self.policy.pause + (now - payment.reserved_at) / BACKOFF)

    def _lease(self, now: datetime, length: timedelta) -> Lease:
        return Lease(self.ids.random(HOLDER_BYTES).hex(), now + length)


def _keys(payment: Payment, outcome: PaymentOutcome) -> PaymentKeys:
    return attrs.evolve(payment.keys, transaction=outcome.transaction)


def _in_doubt(rows: PaymentRows, payment: Payment, now: datetime) -> PaymentRows:
    """The rows of a payment in doubt that no process holds.

    Raises:
        Superseded: it is not in doubt, or a process holds it.
    """
    current = rows.payment
    # A reservation has its own receipt: another one was made since, perhaps for something else.
    if current is None or current.receipt_id != payment.receipt_id:
        raise Superseded("Another reservation was made since.")
    if current.state is State.SETTLING and not current.is_worked_on(now):
        current = current.after(Event.LAPSE, now)
    if current.state not in IN_DOUBT:
        raise Superseded("The payment is not in doubt.")
    return attrs.evolve(rows, payment=current)


def _settlement_problem(payment: Payment, outcome: PaymentOutcome, purchase: Purchase) -> Problem:
    """The problem of an unsettled payment; in doubt it contains no new challenge."""
    reason, kind = outcome.reason or outcomes.UNKNOWN, _DOUBTS.get(outcome.event)
    transaction = outcome.transaction or payment.transaction or ""
    response = SettlementResponse(False, transaction, payment.network, payment.payer, reason)
    if kind is None:
        return payment_refusal(problem.SETTLEMENT_FAILED, reason, purchase, response)
    fields = {PAYMENT_RESPONSE: response.header(), "Retry-After": DOUBT_SECONDS}
    return Problem(kind, f"{reason}.", fields)
