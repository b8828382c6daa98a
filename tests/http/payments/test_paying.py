"""What the settings say of payments: what stops the start, and what does not."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from svc_core.payments.networks import BASE, BASE_SEPOLIA, BURN_ADDRESS
from svc_core.payments.payment_ports import Unavailable
from svc_http import extras
from svc_http.outside.facilitators import ethereum
from svc_http.outside.facilitators.chain import JsonRpcChain
from svc_http.outside.facilitators.play_money import PlayMoney
from svc_http.outside.facilitators.x402 import check_payment_provider, payment_provider
from svc_http.settings import SettingsError, load
from tests.node import Node, node
from tests.upstream import Upstream

pytestmark = pytest.mark.anyio
PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
MIXED_CASE = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
REAL = {"SVC_X402_NETWORK": BASE.id, "SVC_X402_FACILITATOR": "https://f.example"}


@pytest.fixture
async def place() -> AsyncIterator[Node]:
    async with node() as server:
        yield server


def settings_of(**members: str) -> Any:
    return load(
        {"SVC_X402_PAY_TO": PAYEE, **{f"SVC_X402_{n.upper()}": v for n, v in members.items()}}
    )


def takes(server: Upstream, *networks: str) -> None:
    kinds = [{"x402Version": 2, "scheme": "exact", "network": name} for name in networks]
    server.says(json.dumps({"kinds": kinds}).encode())


def test_nobody_is_paid_where_nobody_is_named() -> None:
    assert payment_provider(load({"SVC_X402_FACILITATOR": "https://f.example"})) is None


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"needs coincurve and Crypto.*pip install .*\[x402\]"):
        payment_provider(settings_of())


@pytest.mark.parametrize(
    "address", [PAYEE, MIXED_CASE, MIXED_CASE.lower(), "0x" + MIXED_CASE[2:].upper()]
)
def test_an_address_is_taken_with_its_capitals_or_with_none(address: str) -> None:
    provider = payment_provider(settings_of(pay_to=address))
    assert provider is not None
    assert provider.terms.pay_to == address
    assert provider.terms.network == BASE_SEPOLIA


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"SVC_X402_PAY_TO": MIXED_CASE[:-1] + "D"}, "'x402_pay_to' has not the capitals"),
        ({**REAL, "SVC_X402_PAY_TO": MIXED_CASE.lower()}, "'x402_pay_to' has not the capitals"),
        ({"SVC_X402_PAY_TO": BASE_SEPOLIA.asset.address}, "is the contract of the asset"),
        ({**REAL, "SVC_X402_PAY_TO": BURN_ADDRESS}, "nobody has the key"),
        ({"SVC_X402_NETWORK": BASE.id}, "'x402_facilitator' is missing"),
        ({"SVC_ENV": "production"}, "'x402_facilitator' is missing"),
        (
            {"SVC_ENV": "production", "SVC_X402_NETWORK": BASE_SEPOLIA.id},
            "'x402_facilitator' is missing; play money",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_at_the_start(members: dict[str, str], why: str) -> None:
    with pytest.raises(SettingsError, match=why) as error:
        payment_provider(load({"SVC_X402_PAY_TO": PAYEE, **members}))
    assert "for example SVC_X402_" in str(error.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("network", "eip155:1"),
        ("facilitator", "ftp://x"),
        ("facilitator", "https://x/?key=1"),
        ("rpc", "x"),
        ("rpc", "https://me:word@x"),
        ("settle_seconds", "61"),
    ],
)
def test_a_value_of_another_form_is_refused(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"x402_{name}"):
        settings_of(**{name: value})


async def test_development_has_play_money_which_is_also_its_chain() -> None:
    provider = payment_provider(settings_of())
    assert provider is not None
    assert isinstance(provider.facilitator, PlayMoney)
    assert provider.chain is provider.facilitator
    assert provider.address == "http://127.0.0.1:8000/x402/facilitator"
    assert {route.path.rpartition("/")[2] for route in provider.routes} == {
        "verify",
        "settle",
        "supported",
        "play",
    }
    await provider.check()
    await provider.aclose()
    public = payment_provider(load({"SVC_X402_PAY_TO": PAYEE, "SVC_HOST": "0.0.0.0"}))
    assert public is not None
    assert not any(route.path.endswith("/play") for route in public.routes)


async def test_a_facilitator_has_to_take_what_is_asked_for(server: Upstream) -> None:
    provider = payment_provider(settings_of(facilitator=server.url, facilitator_key="k"))
    assert provider is not None
    takes(server, BASE.id, BASE_SEPOLIA.id)
    await provider.check()
    assert server.requests[0][0]["authorization"] == "bearer k"
    takes(server, BASE.id)
    server.plays.pop(0)
    errors: list[BaseException] = []
    with pytest.raises(SettingsError, match="does not take exact on eip155:84532, but on eip155:8"):
        await check_payment_provider(provider, errors.append)
    takes(server)
    server.plays.pop(0)
    with pytest.raises(SettingsError, match="but on nothing"):
        await check_payment_provider(provider, errors.append)
    assert not errors
    await provider.aclose()


async def test_a_facilitator_that_is_silent_stops_no_start_and_is_told_of(
    server: Upstream,
) -> None:
    provider = payment_provider(settings_of(facilitator=server.url))
    assert provider is not None
    server.says(b"<html>", status=502)
    errors: list[BaseException] = []
    await check_payment_provider(provider, errors.append)
    assert [type(error) for error in errors] == [Unavailable]
    with pytest.raises(Unavailable):
        await provider.facilitator.settle({"accepted": {}})
    assert len(errors) == 2
    await provider.aclose()
    await check_payment_provider(None, errors.append)


async def test_a_node_has_to_be_one_of_the_network(server: Upstream, place: Node) -> None:
    provider = payment_provider(settings_of(facilitator=server.url, rpc=place.url))
    assert provider is not None
    assert isinstance(provider.chain, JsonRpcChain)
    takes(server, BASE_SEPOLIA.id)
    await provider.check()
    await provider.aclose()
    place.chain = 8_453
    wrong_node = payment_provider(settings_of(facilitator=server.url, rpc=place.url))
    assert wrong_node is not None
    with pytest.raises(SettingsError, match="'x402_rpc' is a node of eip155:8453"):
        await wrong_node.check()
    await wrong_node.aclose()
    assert place.url not in repr(settings_of(rpc=place.url))


def test_the_cryptography_is_that_of_ethereum() -> None:
    crypto = ethereum.Ethereum()
    empty = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    assert crypto.keccak(b"").hex() == empty
    assert crypto.recover(bytes(32), bytes(65)) is None
    assert crypto.recover(bytes(32), bytes(64) + b"\x09") is None
    assert crypto.recover(bytes(32), b"") is None
