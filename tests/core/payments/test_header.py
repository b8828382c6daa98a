"""Reading payments from strangers: one form is taken, and nothing makes the reader fall over."""

import copy
import json
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.payments import header
from svc_core.payments.header import LENGTH_MAX
from tests.paying import REQUIREMENTS, URL
from tests.wallets import field, wallet

NOW = 1_767_323_045
GOOD = wallet().payment(REQUIREMENTS, NOW, 1, identifier="pay_0123456789abc", url=URL)


def refusal_of(*values: str) -> Problem:
    with pytest.raises(Problem) as failure:
        header.parse_payment(values)
    assert failure.value.type is problem.INVALID_PAYMENT
    assert failure.value.detail.startswith("PAYMENT-SIGNATURE: ")
    assert len(failure.value.detail) < 2_000
    return failure.value


def change_code(path: str, value: Any = None, *, drop: bool = False) -> dict[str, Any]:
    """The good payment with another value at a place, or without the member."""
    payload = copy.deepcopy(GOOD)
    *way, last = path.split(".")
    rows: Any = payload
    for name in way:
        rows = rows[name]
    if drop:
        del rows[last]
    else:
        rows[last] = value
    return payload


def test_a_payment_is_read_as_it_was_sent() -> None:
    value = field(GOOD)
    payment_ = header.parse_payment([value])
    assert json.loads(payment_.text) == GOOD
    assert payment_.digest == sha256(json.dumps(GOOD).encode()).hexdigest()
    assert payment_.identifier == "pay_0123456789abc"
    assert payment_.payload.accepted == REQUIREMENTS
    assert payment_.payload.resource is not None
    assert payment_.payload.resource.url == URL
    assert payment_.payload.payload.authorization.value == "250000"


@pytest.mark.parametrize(
    "payload",
    [
        change_code("resource", drop=True),
        change_code("resource", None),
        change_code("extensions", drop=True),
        change_code("extensions", None),
        change_code("extensions", {}),
        change_code("extensions", {"bazaar": {"info": {"any": [1]}}, "payment-identifier": None}),
        change_code("extensions.payment-identifier.info", {}),
        change_code("extensions.payment-identifier.info", {"required": False, "id": None}),
    ],
)
def test_what_need_not_be_sent_need_not_be_sent(payload: Any) -> None:
    names = (payload.get("extensions") or {}).get("payment-identifier")
    expected = names["info"].get("id") if names else None
    assert header.parse_payment([field(payload)]).identifier == expected


def test_what_others_add_beside_the_signed_part_is_passed_over() -> None:
    payload = change_code("metadata", {"client": "x"})
    payload["resource"]["serviceName"] = "Reports"
    payload["accepted"]["outputSchema"] = None
    assert header.parse_payment([field(payload)]).payload.accepted == REQUIREMENTS


HEX = "0x" + "ab" * 32
MALFORMED = {
    "version 1": change_code("x402Version", 1),
    "version as text": change_code("x402Version", "2"),
    "no version": change_code("x402Version", drop=True),
    "no accepted": change_code("accepted", drop=True),
    "amount as a number": change_code("accepted.amount", 250000),
    "network of another kind": change_code("accepted.network", "base"),
    "no payload": change_code("payload", drop=True),
    "another transfer method beside it": change_code("payload.permit2Authorization", {}),
    "no authorization": change_code("payload.authorization", drop=True),
    "more in the authorization": change_code("payload.authorization.extra", "1"),
    "value as a number": change_code("payload.authorization.value", 250000),
    "value with an underscore": change_code("payload.authorization.value", "250_000"),
    "value with a sign": change_code("payload.authorization.value", "+250000"),
    "value with a space": change_code("payload.authorization.value", " 250000"),
    "value with a line end": change_code("payload.authorization.value", "250000\n"),
    "value with a zero before": change_code("payload.authorization.value", "0250000"),
    "value in other digits": change_code("payload.authorization.value", "٢٥٠٠٠٠"),
    "value of 257 bits": change_code("payload.authorization.value", str(2**256)),
    "value of a thousand digits": change_code("payload.authorization.value", "9" * 1_000),
    "end beyond 256 bits": change_code("payload.authorization.validBefore", str(2**256)),
    "nonce of 31 bytes": change_code("payload.authorization.nonce", HEX[:-2]),
    "nonce without 0x": change_code("payload.authorization.nonce", HEX[2:]),
    "nonce with 0X": change_code("payload.authorization.nonce", HEX.replace("x", "X")),
    "payer of 19 bytes": change_code("payload.authorization.from", "0x" + "11" * 19),
    "signature of half a byte": change_code("payload.signature", "0xabc"),
    "signature of nothing": change_code("payload.signature", "0x"),
    "resource without an address": change_code("resource", {}),
    "resource with an empty address": change_code("resource.url", ""),
    "an identifier of 5 characters": change_code("extensions.payment-identifier.info.id", "abcde"),
    "an identifier of 129": change_code("extensions.payment-identifier.info.id", "a" * 129),
    "an identifier with a line end": change_code(
        "extensions.payment-identifier.info.id", "a" * 16 + "\n"
    ),
    "an identifier as a number": change_code("extensions.payment-identifier.info.id", 10**16),
    "an identifier without its place": change_code("extensions.payment-identifier", {}),
    "a changed echo": change_code("extensions.payment-identifier.info.required", True),
    "a list": [GOOD],
}


@pytest.mark.parametrize("payload", MALFORMED.values(), ids=MALFORMED.keys())
def test_what_is_not_of_the_form_is_refused(payload: Any) -> None:
    refusal_of(field(payload))


def raw(text: str | bytes) -> str:
    return b64encode(text if isinstance(text, bytes) else text.encode()).decode()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((), "is to be sent once"),
        ((field(GOOD), field(GOOD)), "is to be sent once"),
        (("",), "has 0 characters"),
        (("A" * (LENGTH_MAX + 4),), "has 12,292 characters"),
        (("%%%%",), "base64"),
        (("é" * 4,), "ASCII"),
        ((field(GOOD).rstrip("=") + "=====",), "one form"),
        ((field(GOOD) + "\n",), "base64"),
        (("eyJ4IjoiPz8_In0=",), "base64"),
        (("eyJ4IjoxfR==",), "one form"),
        ((raw(b"\xff\xfe"),), "UTF-8"),
        ((raw("{"),), "not JSON"),
        ((raw('{"x402Version":2,"x402Version":2}'),), "more than once"),
        ((raw("[" * 3_000),), "nests deeper"),
        ((raw("NaN"),), "NaN"),
        ((raw("9" * 5_000),), "lies beyond"),
        ((raw('"\\ud800"'),), "surrogate"),
    ],
)
def test_what_is_no_field_is_refused(values: tuple[str, ...], words: str) -> None:
    assert words in refusal_of(*values).detail


def test_all_faults_are_named_up_to_a_few() -> None:
    payload = change_code("payload.authorization", dict.fromkeys("abcdefg", 1))
    assert refusal_of(field(payload)).detail.count(";") == 4


def test_the_longest_field_is_read() -> None:
    payload = change_code("padding", "")
    payload["padding"] = "x" * ((LENGTH_MAX // 4 * 3) - len(json.dumps(payload)))
    assert len(field(payload)) == LENGTH_MAX
    assert header.parse_payment([field(payload)]).identifier


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
PLACES = [
    "x402Version", "accepted", "accepted.amount", "accepted.extra", "payload", "payload.signature",
    "payload.authorization", "payload.authorization.value", "payload.authorization.nonce",
    "payload.authorization.from", "resource", "resource.url", "extensions",
    "extensions.payment-identifier", "extensions.payment-identifier.info.id",
]  # fmt: skip


def harmless(*values: str) -> None:
    """It is read, or refused as it should be; nothing else comes out."""
    rows: Problem | None = None
    try:
        header.parse_payment(values)
    except Problem as error:
        rows = error
    assert rows is None or rows.type is problem.INVALID_PAYMENT


@given(st.lists(st.text(), max_size=3))
def test_no_text_does_harm(values: list[str]) -> None:
    harmless(*values)


@given(st.binary(max_size=500))
def test_no_bytes_do_harm(data: bytes) -> None:
    harmless(raw(data))


@given(JSON)
def test_no_json_does_harm(value: Any) -> None:
    harmless(field(value))


@given(st.sampled_from(PLACES), JSON)
def test_no_member_does_harm(path: str, value: Any) -> None:
    harmless(field(change_code(path, value)))


@given(st.integers(0, len(json.dumps(GOOD)) - 1), st.binary(min_size=1, max_size=1))
def test_no_byte_does_harm(at: int, byte: bytes) -> None:
    text = json.dumps(GOOD).encode()
    harmless(raw(text[:at] + byte + text[at + 1 :]))
