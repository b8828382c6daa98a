"""What a facilitator's words are worth, and what the chain shows."""

from datetime import timedelta
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import drive
from svc_core.payments import outcomes
from svc_core.payments.messages import SettlementResponse
from svc_core.payments.outcomes import (
    CLOCK_SKEW_MAX,
    PaymentOutcome,
    judge_chain,
    judge_settlement,
    transaction_of,
)
from svc_core.payments.payment_ports import Sighting, Transfer
from svc_core.payments.payment_rows import Payment
from svc_core.payments.states import Event
from tests.paying import REQUIREMENTS, URL, World, purchase
from tests.wallets import field, wallet

HASH = "0x" + "ab" * 32
NETWORK = "eip155:84532"
SECOND = "0x" + "11" * 20


def _payment() -> Payment:
    world = World()
    value = field(wallet().payment(REQUIREMENTS, world.second, url=URL))
    drive.run(world.checkout.serve(purchase(value), world.work()))
    return world.only()


PAYMENT = _payment()
PAYER = PAYMENT.payer


def settlement(
    success: bool, transaction: Any = "", reason: str | None = None, **extra: Any
) -> Any:
    return SettlementResponse(success, transaction, NETWORK, error_reason=reason, **extra)


DOUBT = PaymentOutcome(Event.LOSE, outcomes.UNKNOWN)
NO_HASH = "0x" + "0" * 64


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (None, DOUBT),
        (settlement(True, HASH), PaymentOutcome(Event.OBSERVE, None, HASH)),
        (
            settlement(True, HASH.upper().replace("X", "x")),
            PaymentOutcome(Event.OBSERVE, None, HASH),
        ),
        (settlement(True, HASH, payer=wallet().address), PaymentOutcome(Event.OBSERVE, None, HASH)),
        # Success in a form that proves nothing is doubt, never a refusal.
        (settlement(True, HASH, payer=SECOND), PaymentOutcome(Event.LOSE, outcomes.UNKNOWN, HASH)),
        (SettlementResponse(True, HASH), PaymentOutcome(Event.LOSE, outcomes.UNKNOWN, HASH)),
        (
            SettlementResponse(True, HASH, "eip155:8453"),
            PaymentOutcome(Event.LOSE, outcomes.UNKNOWN, HASH),
        ),
        (settlement(True), DOUBT),
        (settlement(True, NO_HASH), DOUBT),
        (settlement(True, "0xabc"), DOUBT),
        (
            settlement(False, HASH, "settlement_pending"),
            PaymentOutcome(Event.PEND, outcomes.PENDING, HASH),
        ),
        (settlement(False, "", "settlement_pending"), PaymentOutcome(Event.PEND, outcomes.PENDING)),
        (settlement(False), DOUBT),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_what_is_said_is_taken_for_what_it_is(
    response: Any, expected: PaymentOutcome, is_first: bool
) -> None:
    assert judge_settlement(response, PAYMENT, is_first=is_first) == expected


@pytest.mark.parametrize(
    "reason",
    [
        "insufficient_funds",
        "invalid_exact_evm_payload_signature",
        "invalid_exact_evm_insufficient_balance",
        "invalid_exact_evm_nonce_already_used",
        "invalid_exact_evm_transaction_simulation_failed",
        "invalid_payment_requirements",
        "invalid_scheme",
        "invalid_x402_version",
        "unsupported_scheme",
        "missing_eip712_domain",
        "network_mismatch",
    ],
)
def test_a_refusal_before_sending_is_definite_once(reason: str) -> None:
    first = judge_settlement(settlement(False, "", reason), PAYMENT, is_first=True)
    assert first == PaymentOutcome(Event.REJECT, reason)
    # The attempt before may be why.
    again = judge_settlement(settlement(False, "", reason), PAYMENT, is_first=False)
    assert again == PaymentOutcome(Event.LOSE, reason)
    outcome = judge_settlement(settlement(False, HASH, reason), PAYMENT, is_first=True)
    assert outcome == PaymentOutcome(Event.LOSE, reason, HASH)
    odd = judge_settlement(settlement(False, "0x1", reason), PAYMENT, is_first=True)
    assert odd == PaymentOutcome(Event.LOSE, reason)


@pytest.mark.parametrize(
    "reason",
    [
        "unexpected_settle_error",
        "unexpected_verify_error",
        "transaction_failed",
        "invalid_transaction_state",
        "invalid_exact_evm_transfer_event_mismatch",
        "smart_wallet_deployment_failed",
        "something new",
        "",
    ],
)
def test_other_reasons_leave_doubt(reason: str) -> None:
    outcome = judge_settlement(settlement(False, "", reason), PAYMENT, is_first=True)
    assert outcome == PaymentOutcome(Event.LOSE, reason or outcomes.UNKNOWN)


@given(
    st.booleans(),
    st.text(max_size=70),
    st.sampled_from([NETWORK, "eip155:8453", ""]),
    st.none() | st.sampled_from([PAYER, SECOND, ""]),
    st.none() | st.text(max_size=40),
    st.booleans(),
)
def test_paid_is_only_what_says_so_in_every_respect(
    success: bool, transaction: str, network: str, payer: Any, reason: Any, is_first: bool
) -> None:
    response = SettlementResponse(success, transaction, network, payer, reason)
    outcome = judge_settlement(response, PAYMENT, is_first=is_first)
    if outcome.event is Event.OBSERVE:
        assert success
        assert network == NETWORK
        assert payer in (None, "", PAYER)
        assert outcome.transaction == transaction_of(transaction) is not None
    if outcome.event is Event.REJECT:
        assert is_first
        assert not success
        assert transaction == ""


END = PAYMENT.reserved_at + timedelta(seconds=300)
MARGIN = timedelta(seconds=60)
TICK = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("sighting", "transfer", "expected"),
    [
        (Sighting(False, PAYMENT.reserved_at), None, None),
        (Sighting(False, END + MARGIN - TICK), None, None),
        (Sighting(False, END + MARGIN), None, PaymentOutcome(Event.REJECT, outcomes.EXPIRED)),
        (Sighting(True, END), None, PaymentOutcome(Event.REJECT, outcomes.CANCELLED)),
        (Sighting(True, END), Transfer(HASH, END), PaymentOutcome(Event.OBSERVE, None, HASH)),
        (
            Sighting(True, END),
            Transfer(HASH, PAYMENT.reserved_at - CLOCK_SKEW_MAX),
            PaymentOutcome(Event.OBSERVE, None, HASH),
        ),
        # It was paid with for something else.
        (
            Sighting(True, END),
            Transfer(HASH, PAYMENT.reserved_at - CLOCK_SKEW_MAX - TICK),
            PaymentOutcome(Event.REJECT, outcomes.NONCE_USED),
        ),
    ],
)
def test_the_chain_shows_what_it_shows(
    sighting: Sighting, transfer: Transfer | None, expected: PaymentOutcome | None
) -> None:
    payment = attrs.evolve(PAYMENT, valid_before=int(END.timestamp()))
    assert judge_chain(sighting, transfer, payment) == expected


@pytest.mark.parametrize("text", ["", "0x", NO_HASH, HASH[:-1], HASH + "0", HASH + "\n", "x" * 66])
def test_a_hash_has_its_form(text: str) -> None:
    assert transaction_of(text) is None
