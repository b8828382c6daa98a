"""Pure decisions on a paid request, from its payment and the stored rows of that payment.

The order of the checks is fixed, so that a payment with several faults always gets one answer:

    recall         the same bytes were sent before: their answer again, or the state of the payment
    fault          the offer, the resource, the recipient, the amount, the times, the signature
    check_claim    with a proven payer: the identifier, the authorization, the limits; then reserve

Rule 1: a client that may have paid is never asked to pay again for the same request.
Rule 2: an answer is repeated only to a client that knows the identifier which its payer chose.
        Everything else of a settled payment is public on the chain, so anybody could forge it.
Rule 3: an answer that was paid for and never sent goes once to the client that brings the same
        authorization for the same request. Without an identifier that need not be the payer,
        which is the weak spot of payments without one.

Why in this order. `recall` comes first because a payment in doubt must be resumable after its
authorization has expired, when `fault` would refuse it. It proves nothing about the sender, so it
gives an answer only for equal bytes, and for a settled payment only where those hold the secret
identifier. `fault` needs no rows; it runs before any write, so that garbage costs no transaction.
`check_claim` runs again inside the writing unit (`reserve_payment`), because the rows may have
changed since they were read; the checks before are a look without a lock, and these are binding.

Payments are found by three keys: the payment id, which follows from network, asset, payer and
nonce; the client's identifier together with its payer; and the wallet. The chain accepts a nonce
once, so one row per id is enough to make two requests with one authorization meet.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final, Literal

import attrs
from attrs import define, frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem, ProblemType
from svc_core.payments import admission
from svc_core.payments import payment_rows as records
from svc_core.payments.admission import Limits
from svc_core.payments.challenge import Offer, resource_url
from svc_core.payments.evm import Judge
from svc_core.payments.header import ReceivedPayment
from svc_core.payments.messages import (
    PAYMENT_REQUIRED,
    PAYMENT_RESPONSE,
    PaymentRequirements,
    SettlementResponse,
)
from svc_core.payments.outcomes import NONCE_USED, TRANSACTION_USED, PaymentOutcome, judge_owner
from svc_core.payments.payment_rows import (
    RECEIPTS_PATH,
    HeldAnswer,
    Lease,
    Payment,
    PaymentKeys,
    PaymentRows,
    Wallet,
    Writes,
    payment_id,
)
from svc_core.payments.states import IN_DOUBT, IN_FLIGHT, Event, State, Superseded

SECOND_MAX: Final = 253_402_300_799
"""The end of the year 9999, which stands for all that is later."""
BUSY_SECONDS: Final = "1"

SCHEME: Final = "unsupported_scheme"
NETWORK: Final = "invalid_network"
REQUIREMENTS: Final = "invalid_payment_requirements"
RESOURCE: Final = "resource_mismatch"


# -- what a request brings ---------------------------------------------------------------------


def _always() -> bool:
    return True


@frozen
class Purchase:
    """A payable request; `values` are the values of `PAYMENT-SIGNATURE` as sent.

    `url` is its address under the configured origin. `is_awaited` says whether the client is still
    connected: one that leaves before settlement begins is not charged; one that leaves later is
    owed the answer.
    """

    operation: str
    tier: str
    price: str
    method: str
    url: str
    offer: Offer
    values: tuple[str, ...]
    is_awaited: Callable[[], bool] = _always


@frozen
class PaymentAttempt:
    """A request together with the payment that it brings."""

    purchase: Purchase
    payment: ReceivedPayment

    @property
    def requirements(self) -> PaymentRequirements:
        """The payment that the operation asks for."""
        return self.purchase.offer.requirements

    @property
    def fingerprint(self) -> str:
        """The digest of the request."""
        return records.fingerprint(self.purchase.method, self.purchase.url)

    @property
    def keys(self) -> PaymentKeys:
        """The keys of its stored rows."""
        transfer, terms = self.payment.payload.payload.authorization, self.requirements
        id_ = payment_id(terms.network, terms.asset, transfer.from_, transfer.nonce)
        return PaymentKeys(id_, transfer.from_.lower(), self.payment.identifier)


def reservation(attempt: PaymentAttempt, receipt_id: str, lease: Lease, now: datetime) -> Payment:
    """The payment row of an attempt whose signature proves the payer."""
    terms, sent_payment, keys = attempt.requirements, attempt.payment, attempt.keys
    authorization = sent_payment.payload.payload.authorization
    return Payment(
        id=keys.id,
        receipt_id=receipt_id,
        network=terms.network,
        asset=terms.asset,
        pay_to=terms.pay_to,
        payer=keys.payer,
        nonce=authorization.nonce.lower(),
        amount=int(terms.amount),
        valid_before=min(int(authorization.valid_before), SECOND_MAX),
        operation=attempt.purchase.operation,
        tier=attempt.purchase.tier,
        price=attempt.purchase.price,
        url=resource_url(attempt.purchase.url),
        fingerprint=attempt.fingerprint,
        payload=sent_payment.text,
        payload_digest=sent_payment.digest,
        identifier=keys.identifier,
        state=State.RESERVED,
        lease=lease,
        reserved_at=now,
        updated_at=now,
    )


# -- what is decided ---------------------------------------------------------------------------


@define
class PriorAnswer(Exception):  # noqa: N818 - no error: the answer that exists
    """Raised where the same payment came before and its answer is stored.

    The state of the payment says whether that answer was sent, is owed, or waits for settlement.
    """

    payment: Payment
    answer: HeldAnswer


def recall(rows: PaymentRows, attempt: PaymentAttempt, now: datetime) -> None:
    """Check that these bytes were not sent before; the sender is not proven to be the payer.

    It comes before all other checks, because a payment in doubt must be resumable after its
    authorization has expired.

    Raises:
        PriorAnswer: the stored answer of this payment.
        Problem: PAYMENT_IN_PROGRESS, PAYMENT_REPLAYED or PAYMENT_IDENTIFIER_CONFLICT.
    """
    for payment in (rows.namesake, rows.payment):
        if payment is None or payment.payload_digest != attempt.payment.digest:
            continue
        if payment.fingerprint == attempt.fingerprint:
            _check_free(payment, rows, attempt, now)
            return
        if payment.identifier is not None and payment.state is not State.RELEASED:
            raise Problem(problem.PAYMENT_IDENTIFIER_CONFLICT)


def is_doubtful(rows: PaymentRows, attempt: PaymentAttempt) -> bool:
    """Whether the authorization may already have paid for this request, in other bytes.

    A facilitator would find it used, and the payer would be asked to pay again.
    """
    payment = rows.payment
    if payment is None or payment.fingerprint != attempt.fingerprint:
        return False
    return payment.state in IN_DOUBT or payment.state is State.OWED


def check_claim(rows: PaymentRows, attempt: PaymentAttempt, now: datetime) -> None:
    """Check that a proven payer may use this authorization and identifier.

    Raises:
        PriorAnswer: the stored answer of this payment.
        Problem: PAYMENT_IN_PROGRESS, PAYMENT_REPLAYED or PAYMENT_IDENTIFIER_CONFLICT.
    """
    namesake, payment = rows.namesake, rows.payment
    if namesake is not None and namesake.fingerprint != attempt.fingerprint:
        raise Problem(problem.PAYMENT_IDENTIFIER_CONFLICT)
    if namesake is not None and namesake.id != attempt.keys.id:
        _check_free(namesake, rows, attempt, now)
        # One that was given up is not free for another authorization before it is released: whoever
        # had it might still come back, and then two would be settled.
        raise in_progress()
    if payment is not None:
        request = (attempt.fingerprint, attempt.payment.identifier)
        is_same = (payment.fingerprint, payment.identifier) == request
        _check_free(payment, rows, attempt, now, is_same=is_same)


def _check_free(
    payment: Payment,
    rows: PaymentRows,
    attempt: PaymentAttempt,
    now: datetime,
    *,
    is_same: bool = True,
) -> None:
    """Check that no other request holds the payment, and that it has bought nothing yet."""
    if payment.state in IN_FLIGHT and payment.is_worked_on(now):
        raise in_progress()
    if payment.state in (State.RELEASED, State.RESERVED):
        return
    answer = rows.answers.get(payment.id)
    is_public = payment.state is State.SETTLED and payment.identifier is None
    if answer is None or is_public or not is_same:
        raise replay_refusal(payment, attempt.purchase)
    raise PriorAnswer(payment, answer)


def fault(attempt: PaymentAttempt, judge: Judge, now: datetime) -> str | Literal[False] | None:
    """The reason code (x402) for refusing the payment; None where it is valid.

    False where only a facilitator can verify the signature, that of a contract wallet.
    """
    payload, terms = attempt.payment.payload, attempt.requirements
    offer = payload.accepted
    if offer.scheme != terms.scheme:
        return SCHEME
    if offer.network != terms.network:
        return NETWORK
    if _lower_case(offer) != _lower_case(terms):
        return REQUIREMENTS
    # The signature does not cover it, and it need not be sent; clients echo what they were told.
    if payload.resource is not None and payload.resource.url != resource_url(attempt.purchase.url):
        return RESOURCE
    return judge.fault(
        payload.payload.authorization,
        payload.payload.signature,
        pay_to=terms.pay_to,
        amount=terms.amount,
        now=int(now.timestamp()),
    )


def _lower_case(terms: PaymentRequirements) -> PaymentRequirements:
    """The requirements with addresses in one case: capitals in them are a checksum."""
    return attrs.evolve(terms, asset=terms.asset.lower(), pay_to=terms.pay_to.lower())


# -- what is kept ------------------------------------------------------------------------------


def reserve_payment(
    rows: PaymentRows, attempt: PaymentAttempt, payment: Payment, limits: Limits
) -> Writes:
    """The writes that reserve a payment, checked against the rows inside the writing unit.

    Raises:
        PriorAnswer: the stored answer of this payment.
        Problem: PAYMENT_RATE_LIMITED, or as `check_claim`.
    """
    now = payment.reserved_at
    check_claim(rows, attempt, now)
    wallet, before = rows.wallet or Wallet(payment.payer), rows.payment
    if before is not None:
        lapsed_payment = before.after(Event.LAPSE, now)
        wallet = admission.count_move(wallet, before, lapsed_payment, now)
        payment = attrs.evolve(payment, revision=lapsed_payment.revision + 1)
    return Writes(payment, admission.count_reservation(wallet, payment, limits, now))


def move(
    rows: PaymentRows,
    outcome: PaymentOutcome,
    now: datetime,
    limits: Limits,
    *,
    holder: str | None = None,
    lease: Lease | None = None,
    answer: HeldAnswer | None = None,
) -> Writes:
    """The writes for an outcome: the payment in its next state, with its wallet.

    `holder` is the process that held the lease. If another holds it now, the outcome counts only
    where it says that the money moved. One whose transaction is that of another payment says
    nothing of this one.

    Raises:
        Superseded: another process holds the payment, or its state does not allow the event.
    """
    before, is_paid = rows.payment, outcome.event in (Event.CONFIRM, Event.OBSERVE)
    if before is None or (holder not in (None, before.holder) and not is_paid):
        raise Superseded("Another has the payment.")
    outcome = judge_owner(outcome, before, rows.owner)
    event = outcome.event
    after = before.after(event, now, lease)
    after = attrs.evolve(
        after,
        reason=outcome.reason if outcome.reason is not None else after.reason,
        transaction=outcome.transaction or before.transaction,
    )
    wallet = admission.count_move(rows.wallet or Wallet(before.payer), before, after, now)
    if event is Event.REJECT:
        wallet = admission.count_rejection(wallet, limits, now)
    return Writes(after, wallet, answer, forget=after.state is State.RELEASED)


# -- refusals ----------------------------------------------------------------------------------


def payment_refusal(
    kind: ProblemType,
    reason: str,
    purchase: Purchase,
    response: SettlementResponse | None = None,
    note: str = "",
) -> Problem:
    """The refusal of a payment: its reason stands in a new challenge, beside the `response`."""
    fields = {PAYMENT_REQUIRED: purchase.offer.header(purchase.url, reason)}
    if response is not None:
        fields[PAYMENT_RESPONSE] = response.header()
    return Problem(kind, f"{reason}.{note}", fields)


def in_progress() -> Problem:
    """PAYMENT_IN_PROGRESS: another request with this payment is running."""
    return Problem(problem.PAYMENT_IN_PROGRESS, headers={"Retry-After": BUSY_SECONDS})


def replay_refusal(payment: Payment, purchase: Purchase) -> Problem:
    """PAYMENT_REPLAYED: the authorization has already bought an answer."""
    note = f" Its receipt: {RECEIPTS_PATH}{payment.receipt_id}" if payment.settled_at else ""
    return payment_refusal(problem.PAYMENT_REPLAYED, NONCE_USED, purchase, note=note)


def copy_refusal(payment: Payment, purchase: Purchase) -> Problem:
    """PAYMENT_REPLAYED: the transaction named for this payment has paid for another request."""
    reason = TRANSACTION_USED
    response = SettlementResponse(False, "", payment.network, payment.payer, reason)
    return payment_refusal(problem.PAYMENT_REPLAYED, reason, purchase, response)
