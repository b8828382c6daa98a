"""What a 402 asks for, byte for byte as clients read it."""

import json
import re
from base64 import b64decode
from decimal import Decimal
from typing import Any

import attrs
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.catalog import OPERATIONS
from svc_core.operation.declaration import T3_ENRICHED, T4_PREMIUM_LIST, T4_PREMIUM_SINGLE
from svc_core.payments import challenge as payments
from svc_core.payments.challenge import (
    ERROR_UNPAID,
    URL_LENGTH_MAX,
    Offer,
    Terms,
    atomic,
    requirements,
)
from svc_core.payments.networks import BASE, BASE_SEPOLIA, BURN_ADDRESS

TERMS = Terms()
URL = "https://api.svc.test/api/v1/reports"
PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
PAYABLE = [operation for operation in OPERATIONS if operation.tier is not None]
LIST = next(operation for operation in PAYABLE if operation.id == "listReports")


def offer_(operation: Any = LIST, terms: Terms = TERMS) -> Offer:
    offer = payments.offer(operation, terms)
    assert offer is not None
    return offer


def read(header: str) -> Any:
    # What the clients check before they decode: the standard alphabet, padded.
    assert re.fullmatch("[A-Za-z0-9+/]*={0,2}", header)
    return json.loads(b64decode(header, validate=True).decode())


def test_the_challenge_has_the_members_and_the_order_of_the_standard() -> None:
    challenge = read(offer_().header(URL, ERROR_UNPAID))
    assert challenge == {
        "x402Version": 2,
        "error": "PAYMENT-SIGNATURE header is required",
        "resource": {
            "url": URL,
            "description": "List reports",
            "mimeType": "application/json",
        },
        "accepts": [
            {
                "scheme": "exact",
                "network": "eip155:84532",
                "amount": "50000",
                "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
                "payTo": BURN_ADDRESS,
                "maxTimeoutSeconds": 300,
                "extra": {"name": "USDC", "version": "2"},
            }
        ],
        "extensions": {"payment-identifier": challenge["extensions"]["payment-identifier"]},
    }
    assert list(challenge) == ["x402Version", "error", "resource", "accepts", "extensions"]


def test_the_challenge_says_that_a_payment_may_be_named() -> None:
    extension = read(offer_().header(URL, ERROR_UNPAID))["extensions"]["payment-identifier"]
    assert extension["info"] == {"required": False}
    validator = jsonschema_rs.validator_for(extension["schema"])
    for good in ({"required": False}, {"required": False, "id": "a" * 16}):
        assert validator.is_valid(good)
    for bad in ({}, {"required": False, "id": "a" * 15}, {"required": False, "id": " " * 16}):
        assert not validator.is_valid(bad)


@pytest.mark.parametrize(
    ("tier", "amount"),
    [(T3_ENRICHED, "10000"), (T4_PREMIUM_LIST, "50000"), (T4_PREMIUM_SINGLE, "250000")],
)
@pytest.mark.parametrize(
    ("network", "asset", "name"),
    [
        (BASE, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin"),
        (BASE_SEPOLIA, "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC"),
    ],
)
def test_every_tier_has_its_amount_and_every_network_its_coin(
    tier: Any, amount: str, network: Any, asset: str, name: str
) -> None:
    assert wire.to_json(requirements(tier, Terms(network, PAYEE))) == {
        "scheme": "exact",
        "network": network.id,
        "amount": amount,
        "asset": asset,
        "payTo": PAYEE,
        "maxTimeoutSeconds": 300,
        "extra": {"name": name, "version": "2"},
    }


def test_test_money_is_never_offered_beside_real_money() -> None:
    text = b64decode(offer_(terms=Terms(BASE, PAYEE)).header(URL, ERROR_UNPAID)).decode()
    assert "eip155:8453" in text
    assert "84532" not in text


@pytest.mark.parametrize("operation", PAYABLE, ids=lambda operation: operation.id)
def test_every_priced_operation_has_an_offer_of_its_own(operation: Any) -> None:
    challenge = read(offer_(operation).header(URL, ERROR_UNPAID))
    assert challenge["resource"]["description"] == operation.summary
    price = Decimal(challenge["accepts"][0]["amount"]) / 10**6
    assert price == Decimal(operation.tier.price_usd)
    assert price < 1  # standard clients refuse more than a dollar without being told
    assert len(offer_(operation).header(URL, ERROR_UNPAID)) < 1_200


def test_what_has_no_price_has_no_offer() -> None:
    assert payments.offer(attrs.evolve(LIST, tier=None), Terms()) is None
    assert payments.offer(attrs.evolve(LIST, auth="bearer"), Terms()) is None


def test_a_price_finer_than_the_coin_is_a_mistake() -> None:
    assert atomic("0.000001", 6) == 1
    with pytest.raises(ValueError, match="more than 6 decimals"):
        atomic("0.0000001", 6)


def test_an_address_too_long_for_a_field_is_named_without_its_query() -> None:
    longest = f"{URL}?cursor=".ljust(URL_LENGTH_MAX, "a")
    assert read(offer_().header(longest, "x"))["resource"]["url"] == longest
    assert read(offer_().header(f"{longest}a", "x"))["resource"]["url"] == URL
    assert len(offer_().header(longest, ERROR_UNPAID)) < 4_096


@given(
    st.text(st.characters(codec="utf-8"), max_size=200), st.text(max_size=50).filter(str.isascii)
)
def test_whatever_is_asked_for_is_named_as_it_is(url: str, error: str) -> None:
    challenge = read(offer_().header(url, error))
    assert (challenge["resource"]["url"], challenge["error"]) == (url, error)


@given(st.integers(0, 10**9), st.integers(0, 18))
def test_a_price_is_exact(units: int, decimals: int) -> None:
    price = format(Decimal(units).scaleb(-decimals), "f")
    assert atomic(price, decimals) == units
