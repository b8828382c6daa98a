"""What is kept, and how it comes back; what facilitators say, and how it is read."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.payments import bodies
from svc_core.payments.messages import (
    Kind,
    SettlementResponse,
    SupportedKinds,
    Verdict,
    facilitator_reply,
    facilitator_request,
)
from svc_core.payments.payment_rows import (
    HeldAnswer,
    Lease,
    Payment,
    Wallet,
    day_of,
    fingerprint,
    identifier_key,
    minute_of,
    payment_id,
)
from svc_core.payments.states import State
from tests.paying import REQUIREMENTS, URL, decode
from tests.wallets import wallet

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)
TIMES = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))
LEASES = st.none() | st.builds(Lease, TEXTS, TIMES)
PAYMENTS = st.builds(
    Payment,
    **dict.fromkeys(("id", "receipt_id", "network", "asset", "pay_to", "payer", "nonce"), TEXTS),
    **dict.fromkeys(("operation", "tier", "price", "url", "fingerprint", "payload"), TEXTS),
    payload_digest=TEXTS,
    amount=st.integers(0, 2**53),
    valid_before=st.integers(0, 2**53),
    identifier=st.none() | TEXTS,
    state=st.sampled_from(State),
    lease=LEASES,
    reserved_at=TIMES,
    updated_at=TIMES,
    settled_at=st.none() | TIMES,
    delivered_at=st.none() | TIMES,
    transaction=st.none() | TEXTS,
    reason=st.none() | TEXTS,
    attempts=st.integers(0, 99),
    revision=st.integers(1, 99),
)


@given(PAYMENTS)
def test_a_payment_comes_back_as_it_was_kept(payment: Payment) -> None:
    assert wire.from_bytes(Payment, wire.to_bytes(payment)) == payment


@given(st.builds(Wallet, TEXTS, rejections=st.lists(TIMES, max_size=5).map(tuple)))
def test_a_wallet_comes_back_as_it_was_kept(purse: Wallet) -> None:
    assert wire.from_bytes(Wallet, wire.to_bytes(purse)) == purse


@given(
    st.builds(
        HeldAnswer,
        st.integers(100, 599),
        st.none() | TEXTS,
        st.lists(st.tuples(TEXTS, TEXTS), max_size=4).map(tuple),
        st.binary(max_size=400),
        st.none() | TEXTS,
    )
)
def test_an_answer_comes_back_byte_for_byte(answer: HeldAnswer) -> None:
    text = bodies.pack(answer)
    assert text.isascii()
    assert bodies.unpack(text) == answer


def test_an_authorization_has_one_identifier() -> None:
    base_id = payment_id("eip155:84532", "0xAB", "0xCD", "0xEF")
    assert base_id == payment_id("eip155:84532", "0xab", "0xcd", "0xef")
    siblings = {
        payment_id("eip155:8453", "0xab", "0xcd", "0xef"),
        payment_id("eip155:84532", "0xac", "0xcd", "0xef"),
        payment_id("eip155:84532", "0xab", "0xce", "0xef"),
        payment_id("eip155:84532", "0xab", "0xcd", "0xee"),
    }
    assert len(siblings | {base_id}) == 5
    assert base_id.startswith("pay_")


def test_a_request_is_its_method_and_its_whole_address() -> None:
    assert len({fingerprint("GET", URL), fingerprint("HEAD", URL), fingerprint("GET", "x")}) == 3
    assert identifier_key("0xa", "b") == "0xa b"


def test_windows_begin_in_utc() -> None:
    assert minute_of(NOW) == int(datetime(2026, 1, 2, 3, 4, tzinfo=UTC).timestamp())
    assert day_of(NOW) == int(datetime(2026, 1, 2, tzinfo=UTC).timestamp())


# -- what facilitators say ---------------------------------------------------------------------


def bytes_of(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_what_a_facilitator_says_is_read_with_good_will() -> None:
    assert facilitator_reply(
        Verdict, bytes_of({"isValid": True, "payer": "0xa", "more": 1})
    ) == Verdict(True, payer="0xa")
    assert facilitator_reply(
        Verdict, bytes_of({"isValid": False, "invalidReason": None})
    ) == Verdict(False)
    members = {"success": True, "transaction": None, "network": "n", "errorReason": None, "id": "x"}
    assert facilitator_reply(SettlementResponse, bytes_of(members)) == SettlementResponse(
        True, "", "n"
    )
    kinds = {"kinds": [{"x402Version": 2, "scheme": "exact", "network": "n", "x": 1}], "y": []}
    assert facilitator_reply(SupportedKinds, bytes_of(kinds)) == SupportedKinds(
        (Kind(2, "exact", "n"),)
    )


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"null", b"{}", b'{"isValid":1}', b'{"isValid":"true"}', b"\xff"],
)
def test_what_is_no_answer_is_none(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        facilitator_reply(Verdict, body)


def test_a_facilitator_is_asked_with_what_was_sent() -> None:
    payload = wallet().payment(REQUIREMENTS, 0)
    assert facilitator_request(payload) == {
        "x402Version": 2,
        "paymentPayload": payload,
        "paymentRequirements": wire.to_json(REQUIREMENTS),
    }


def test_an_answer_leaves_out_what_is_not_known() -> None:
    assert decode(SettlementResponse(False, "", "n", None, "why").header()) == {
        "success": False,
        "transaction": "",
        "network": "n",
        "errorReason": "why",
    }
