"""The meaning of settlements: which event a facilitator's answer or a look at the chain is.

Rule 1: a payment is paid only if the answer says so in every respect: success, on our network, from
        this payer, in a transaction with a hash. Success in any other form is doubt, not refusal.
Rule 2: a refusal is definite when the facilitator cannot have sent anything: it gives a reason
        that is found before sending and names no transaction, and this is the first attempt. After
        an attempt in doubt the nonce may be used, or the wallet empty, because that attempt
        succeeded.
Rule 3: that a nonce is used is no proof of payment: it may have been cancelled. What counts is the
        transfer, and only one that was made since the payment was reserved here: an older one
        paid for something else.
Rule 4: a transaction pays for one payment: of two that name it, the one that did so first. What the
        facilitator then says of the other is doubt, and its reason says so to the operator.
"""

import re
from datetime import timedelta
from typing import Final

import attrs
from attrs import frozen

from svc_core.payments.messages import SettlementResponse
from svc_core.payments.payment_ports import Sighting, Transfer
from svc_core.payments.payment_rows import Payment
from svc_core.payments.states import Event

PENDING: Final = "settlement_pending"
UNKNOWN: Final = "settlement_unknown"
NONCE_USED: Final = "invalid_exact_evm_nonce_already_used"
CANCELLED: Final = "authorization_canceled"
TRANSACTION_USED: Final = "transaction_already_used"
"""Two payments name one transaction; the reason of the second names it as well."""
EXPIRED: Final = "invalid_exact_evm_payload_authorization_valid_before"

EXPIRY_MARGIN_SECONDS: Final = 60
"""How long after its expiry an unused authorization counts as one that never will be used."""
CLOCK_SKEW_MAX: Final = timedelta(seconds=300)
"""The largest difference between the clocks of this service and of the chain."""

_HASH = re.compile("0x[0-9a-f]{64}")
_NO_HASH: Final = "0x" + "0" * 64
_BEFORE_SENDING = re.compile(
    "insufficient_funds|unsupported_scheme|missing_eip712_domain|network_mismatch"
    "|asset_not_deployed_contract|eip6492_factory_not_allowed"
    "|invalid_(?!transaction_state|exact_evm_transfer_event_mismatch).*"
)
"""The reasons of the specification (section 9) and of the reference facilitator that are found in
looking at a payment. Others, those that nobody knows among them, leave doubt."""


@frozen
class PaymentOutcome:
    """The event that happened to a payment, with its reason and its transaction."""

    event: Event
    reason: str | None = None
    transaction: str | None = None


def judge_settlement(
    response: SettlementResponse | None, payment: Payment, *, is_first: bool
) -> PaymentOutcome:
    """The outcome of a facilitator's answer; None is no answer. `is_first`: no attempt came before.

    Where the money moved the event is OBSERVE: whether a client still waits is not known here.
    """
    if response is None:
        # Who named a transfer that is under way, and says nothing now, took nothing back.
        is_under_way = payment.reason == PENDING
        return (
            PaymentOutcome(Event.PEND, PENDING)
            if is_under_way
            else PaymentOutcome(Event.LOSE, UNKNOWN)
        )
    transaction = transaction_of(response.transaction)
    if response.success:
        payer = response.payer or payment.payer
        is_ours = response.network == payment.network and payer.lower() == payment.payer
        if is_ours and transaction is not None:
            return PaymentOutcome(Event.OBSERVE, None, transaction)
        return PaymentOutcome(Event.LOSE, UNKNOWN, transaction)
    if response.error_reason == PENDING:
        return PaymentOutcome(Event.PEND, PENDING, transaction)
    reason = response.error_reason or UNKNOWN
    if is_first and not response.transaction and _BEFORE_SENDING.fullmatch(reason):
        return PaymentOutcome(Event.REJECT, reason)
    return PaymentOutcome(Event.LOSE, reason, transaction)


def judge_owner(outcome: PaymentOutcome, payment: Payment, owner: Payment | None) -> PaymentOutcome:
    """The outcome where `owner` is the payment that named the same transaction first, or None."""
    if owner is not None:
        return PaymentOutcome(Event.LOSE, f"{TRANSACTION_USED} {outcome.transaction}")
    if outcome.event is Event.LOSE and is_marked(payment):
        return attrs.evolve(outcome, reason=payment.reason)
    return outcome


def is_marked(payment: Payment) -> bool:
    """Whether the transaction that a payment last named is that of another."""
    return (payment.reason or "").startswith(TRANSACTION_USED)


def judge_chain(
    sighting: Sighting, transfer: Transfer | None, payment: Payment
) -> PaymentOutcome | None:
    """The outcome of a look at the chain; None where it settles nothing yet.

    `transfer` is the one found for a used authorization, or None.
    """
    if not sighting.is_used:
        is_over = payment.valid_before + EXPIRY_MARGIN_SECONDS <= sighting.at.timestamp()
        return PaymentOutcome(Event.REJECT, EXPIRED) if is_over else None
    if transfer is None:
        return PaymentOutcome(Event.REJECT, CANCELLED)
    if transfer.at < payment.reserved_at - CLOCK_SKEW_MAX:
        return PaymentOutcome(Event.REJECT, NONCE_USED)
    return PaymentOutcome(Event.OBSERVE, None, transfer.transaction)


def transaction_of(text: str) -> str | None:
    """The hash of a transaction in lower case; None where the text is none."""
    lower = text.lower()
    return lower if _HASH.fullmatch(lower) and lower != _NO_HASH else None
