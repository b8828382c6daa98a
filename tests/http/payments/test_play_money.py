"""The facilitator for development: it judges as the real ones do."""

from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from svc_core import wire
from svc_core.payments.messages import PaymentRequirements, facilitator_request
from svc_core.payments.networks import BASE, BASE_SEPOLIA
from svc_http.outside.facilitators import play_money
from svc_http.outside.facilitators.play_money import PATH, WALLET_START, PlayMoney
from tests.wallets import Coins, Wallet

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 11, 23, tzinfo=UTC)
CRYPTO = Coins()
PAYEE = "0x" + "b" * 40
_numbers = count()
TERMS: dict[str, Any] = {
    "scheme": "exact",
    "network": BASE_SEPOLIA.id,
    "amount": "250000",
    "asset": BASE_SEPOLIA.asset.address,
    "payTo": PAYEE,
    "maxTimeoutSeconds": 300,
    "extra": {"name": "USDC", "version": "2"},
}


@pytest.fixture
def play() -> PlayMoney:
    return PlayMoney(BASE_SEPOLIA, CRYPTO, lambda: NOW)


@pytest.fixture
def payer() -> Wallet:
    return Wallet(next(_numbers))


def pays(payer: Wallet, terms: dict[str, Any] | None = None, **members: str) -> dict[str, Any]:
    requirements = wire.structure(PaymentRequirements, terms or TERMS)
    return payer.payment(requirements, int(NOW.timestamp()), next(_numbers), **members)


def test_real_money_is_refused_when_one_is_made() -> None:
    with pytest.raises(ValueError, match="eip155:84532 alone"):
        PlayMoney(BASE, CRYPTO, lambda: NOW)


async def test_a_fresh_wallet_pays_once_with_each_authorization(
    play: PlayMoney, payer: Wallet
) -> None:
    payload = pays(payer)
    assert (await play.verify(payload)).is_valid
    settlement = await play.settle(payload)
    assert (settlement.success, settlement.network, settlement.amount) == (
        True,
        BASE_SEPOLIA.id,
        "250000",
    )
    assert settlement.payer == payer.address.lower()
    again = await play.settle(payload)
    assert (again.success, again.error_reason) == (False, "invalid_exact_evm_nonce_already_used")
    upper = pays(
        payer, nonce=payload["payload"]["authorization"]["nonce"].upper().replace("X", "x")
    )
    assert (await play.verify(upper)).invalid_reason == "invalid_exact_evm_nonce_already_used"
    assert [transfer.amount for transfer in play.transfers.values()] == [250_000]
    rest = pays(payer, {**TERMS, "amount": str(WALLET_START - 250_000)})
    second = pays(payer, {**TERMS, "amount": str(WALLET_START - 249_999)})
    assert (await play.verify(rest)).is_valid
    assert (await play.verify(second)).invalid_reason == "insufficient_funds"
    (kind,) = (await play.supported()).kinds
    assert (kind.scheme, kind.network) == ("exact", BASE_SEPOLIA.id)
    await play.aclose()


@pytest.mark.parametrize(
    ("terms", "members", "why"),
    [
        ({"amount": "250001"}, {"value": "250000"}, "authorization_value_mismatch"),
        ({}, {"to": "0x" + "c" * 40}, "recipient_mismatch"),
        ({}, {"validBefore": str(int(NOW.timestamp()) + 3)}, "valid_before"),
        ({}, {"validAfter": str(int(NOW.timestamp()) + 60)}, "valid_after"),
        ({"network": BASE.id}, {}, "invalid_network"),
        ({"scheme": "upto"}, {}, "unsupported_scheme"),
        ({"asset": PAYEE}, {}, "invalid_payment_requirements"),
        ({"amount": str(WALLET_START + 1)}, {}, "insufficient_funds"),
    ],
)
async def test_what_is_wrong_is_told_in_the_words_of_the_standard(
    play: PlayMoney, payer: Wallet, terms: dict[str, str], members: dict[str, str], why: str
) -> None:
    payload = pays(payer, {**TERMS, **terms}, **members)
    assert str((await play.verify(payload)).invalid_reason).endswith(why)
    assert str((await play.settle(payload)).error_reason).endswith(why)
    assert not play.transfers


async def test_a_signature_of_another_or_of_a_contract_is_not_taken(
    play: PlayMoney, payer: Wallet
) -> None:
    for change in ({"from": Wallet(next(_numbers)).address}, {}):
        payload = pays(payer, **change)
        if not change:
            payload["payload"]["signature"] += "00"
        verdict = await play.verify(payload)
        assert verdict.invalid_reason == "invalid_exact_evm_payload_signature"


@pytest.mark.parametrize("payload", [None, {}, {"accepted": TERMS}, []])
async def test_what_is_no_payment_is_refused(play: PlayMoney, payload: Any) -> None:
    assert (await play.verify(payload)).invalid_reason == "invalid_payload"
    assert (await play.settle(payload)).error_reason == "invalid_payload"


async def test_wallets_beyond_the_bound_have_nothing(
    play: PlayMoney, payer: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play_money, "WALLETS_MAX", 1)
    assert (await play.settle(pays(payer))).success
    assert (await play.settle(pays(Wallet(next(_numbers))))).error_reason == "insufficient_funds"
    assert (await play.settle(pays(payer))).success


# -- over HTTP ---------------------------------------------------------------------------------


@pytest.fixture
def web(play: PlayMoney) -> TestClient:
    return TestClient(Starlette(routes=play.routes(is_shown=True)))


def test_a_facilitator_answers_over_http(web: TestClient, payer: Wallet) -> None:
    request = facilitator_request(pays(payer))
    verdict = web.post(f"{PATH}/verify", json=request).json()
    assert verdict == {"isValid": True, "payer": payer.address}
    settlement = web.post(f"{PATH}/settle", json=request).json()
    assert settlement["success"]
    kinds = web.get(f"{PATH}/supported").json()["kinds"]
    assert kinds == [{"x402Version": 2, "scheme": "exact", "network": BASE_SEPOLIA.id}]
    (transfer,) = web.get(f"{PATH}/play").json()["paid"]
    assert (transfer["amount"], transfer["transaction"]) == (250_000, settlement["transaction"])
    for path in ("verify", "settle"):
        for body in (b"", b"{}", b'{"x402Version":1,"paymentPayload":{},"paymentRequirements":{}}'):
            assert web.post(f"{PATH}/{path}", content=body).status_code == 400


def test_requirements_are_those_that_are_sent(web: TestClient, payer: Wallet) -> None:
    request = facilitator_request(pays(payer))
    request["paymentRequirements"] = {**TERMS, "amount": "1"}
    verdict = web.post(f"{PATH}/verify", json=request).json()
    assert verdict["invalidReason"].endswith("authorization_value_mismatch")


def test_where_it_is_open_nobody_sees_who_paid(play: PlayMoney) -> None:
    web = TestClient(Starlette(routes=play.routes(is_shown=False)))
    assert web.get(f"{PATH}/supported").status_code == 200
    assert web.get(f"{PATH}/play").status_code == 404
