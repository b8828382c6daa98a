"""What is read of a payment from a chain, and what proves nothing."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from svc_core.payments.payment_ports import Sighting, Transfer, Unavailable
from svc_core.payments.payment_rows import Payment
from svc_core.payments.states import State
from svc_http.outside.facilitators import chain
from svc_http.outside.facilitators.chain import DEPTH, JsonRpcChain
from svc_http.outside.facilitators.ethereum import Ethereum
from tests.node import ASSET, GENESIS, Node, node

pytestmark = pytest.mark.anyio
PAYER, PAYEE, OTHER = ("0x" + digit * 40 for digit in "abc")
NONCE, NONCE_2 = ("0x" + digit * 64 for digit in "12")
TX, TX_2 = ("0x" + digit * 64 for digit in "de")
HEAD = 10_000
RESERVATION = 9_000


@pytest.fixture
async def place() -> AsyncIterator[Node]:
    async with node() as server:
        yield server


@pytest.fixture
async def reader(place: Node) -> AsyncIterator[JsonRpcChain]:
    chain = JsonRpcChain(place.url)
    yield chain
    await chain.aclose()


def at(block: int) -> datetime:
    return datetime.fromtimestamp(GENESIS + 2 * block, UTC)


def payment(**overrides: Any) -> Payment:
    members: dict[str, Any] = {
        "id": "pay_1",
        "receipt_id": "rct_1",
        "network": "eip155:84532",
        "asset": ASSET,
        "pay_to": PAYEE,
        "payer": PAYER,
        "nonce": NONCE,
        "amount": 250_000,
        "valid_before": GENESIS + 2 * RESERVATION + 300,
        "operation": "getReport",
        "tier": "T4_PREMIUM_SINGLE",
        "price": "0.25",
        "url": "https://x",
        "fingerprint": "f",
        "payload": "{}",
        "payload_digest": "d",
        "identifier": None,
        "state": State.UNKNOWN,
        "lease": None,
        "reserved_at": at(RESERVATION),
        "updated_at": at(RESERVATION),
    }
    return Payment(**{**members, **overrides})


def test_the_topics_and_selectors_are_those_of_their_signatures() -> None:
    keccak = Ethereum().keccak
    for constant, signature in [
        (chain.NONCE_USE, b"AuthorizationUsed(address,bytes32)"),
        (chain.CANCELLATION, b"AuthorizationCanceled(address,bytes32)"),
        (chain.TRANSFER, b"Transfer(address,address,uint256)"),
        (chain.AUTHORIZATION_STATE, b"authorizationState(address,bytes32)"),
    ]:
        assert f"0x{keccak(signature).hex()}".startswith(constant)


async def test_a_payment_is_seen_once_it_is_deep_enough(place: Node, reader: JsonRpcChain) -> None:
    place.used(TX, HEAD - DEPTH + 1, PAYER, NONCE)
    place.move(TX, HEAD - DEPTH + 1, PAYER, PAYEE, 250_000)
    assert await reader.authorization_state(payment()) == Sighting(False, at(HEAD - DEPTH))
    with pytest.raises(Unavailable, match="shows neither"):
        await reader.transfer(payment())
    place.head += 1
    assert await reader.authorization_state(payment()) == Sighting(True, at(HEAD - DEPTH + 1))
    assert await reader.transfer(payment()) == Transfer(TX, at(HEAD - DEPTH + 1))
    assert {method for method, _ in place.calls} == {
        "eth_chainId",
        "eth_blockNumber",
        "eth_getBlockByNumber",
        "eth_call",
        "eth_getLogs",
        "eth_getTransactionReceipt",
    }


async def test_each_of_several_transfers_in_one_transaction_counts_for_its_own_nonce(
    place: Node, reader: JsonRpcChain
) -> None:
    place.used(TX, RESERVATION, PAYER, NONCE_2)
    place.move(TX, RESERVATION, PAYER, PAYEE, 250_000)
    place.used(TX, RESERVATION, PAYER, NONCE)
    place.log(TX, RESERVATION, chain.TRANSFER, OTHER, OTHER, asset=OTHER)  # of another token
    place.move(TX, RESERVATION, PAYER, PAYEE, 10_000)
    assert await reader.transfer(payment()) is None
    assert await reader.transfer(payment(amount=10_000)) == Transfer(TX, at(RESERVATION))
    assert await reader.transfer(payment(nonce=NONCE_2)) == Transfer(TX, at(RESERVATION))


@pytest.mark.parametrize(
    ("to", "amount", "by"),
    [
        (OTHER, 250_000, {}),
        (PAYEE, 249_999, {}),
        (PAYEE, 250_001, {}),
        (PAYEE, 250_000, {"asset": OTHER}),
    ],
)
async def test_a_used_nonce_without_this_very_transfer_is_no_payment(
    place: Node, reader: JsonRpcChain, to: str, amount: int, by: dict[str, str]
) -> None:
    place.used(TX, RESERVATION, PAYER, NONCE)
    place.move(TX, RESERVATION, PAYER, to, amount, **by)
    place.move(TX_2, RESERVATION, PAYER, PAYEE, 250_000)
    assert (await reader.authorization_state(payment())).is_used
    assert await reader.transfer(payment()) is None


async def test_a_cancelled_authorization_is_used_and_pays_nothing(
    place: Node, reader: JsonRpcChain
) -> None:
    place.cancel(TX, RESERVATION, PAYER, NONCE)
    place.move(TX, RESERVATION, PAYER, PAYEE, 250_000)
    assert (await reader.authorization_state(payment())).is_used
    assert await reader.transfer(payment()) is None


async def test_many_blocks_are_asked_about_in_parts_and_too_many_not_at_all(
    place: Node, reader: JsonRpcChain
) -> None:
    place.head = RESERVATION + 2_500
    place.used(TX, RESERVATION + 2_000, PAYER, NONCE)
    place.move(TX, RESERVATION + 2_000, PAYER, PAYEE, 250_000)
    assert await reader.transfer(payment()) == Transfer(TX, at(RESERVATION + 2_000))
    spans = [
        (int(query["fromBlock"], 16), int(query["toBlock"], 16))
        for method, (query, *_) in ((m, p) for m, p in place.calls if m == "eth_getLogs")
    ]
    assert spans[0][0] == RESERVATION - chain.MARGIN_BLOCKS
    assert all(last - first < chain.RANGE_BLOCKS for first, last in spans)
    assert all(before[1] + 1 == after[0] for before, after in pairwise(spans))
    place.head = RESERVATION + chain.RANGE_BLOCKS * chain.RANGES_MAX
    with pytest.raises(Unavailable, match="would have to be asked about"):
        await reader.transfer(payment())


async def test_a_payment_of_another_network_is_not_looked_for(reader: JsonRpcChain) -> None:
    with pytest.raises(Unavailable, match="is one of eip155:84532, not of eip155:8453"):
        await reader.authorization_state(payment(network="eip155:8453"))


@pytest.mark.parametrize(
    ("method", "answer", "why"),
    [
        ("eth_chainId", b"<html>", "no JSON"),
        ("eth_chainId", [], "no object"),
        ("eth_chainId", {"error": {"message": "rate limited"}}, "rate limited"),
        ("eth_blockNumber", {"result": "12"}, "no number"),
        ("eth_blockNumber", {"result": "0x" + "f" * 65}, "no number"),
        ("eth_call", {"result": True}, "no number"),
        ("eth_call", {"result": "0x"}, "no number"),
        ("eth_getBlockByNumber", {"result": None}, "no result"),
        ("eth_getBlockByNumber", {"result": []}, "no object"),
        ("eth_getBlockByNumber", {"result": {"timestamp": hex(2**37)}}, "no time"),
        ("eth_getLogs", {"result": {}}, "no logs"),
        ("eth_getLogs", {"result": [1]}, "no object"),
        ("eth_getTransactionReceipt", {"result": None}, "no result"),
        ("eth_getTransactionReceipt", {"result": {}}, "no logs"),
        ("eth_getLogs", b" " * (chain.ANSWER_BYTES + 1), "answers more than"),
    ],
)
async def test_whatever_is_no_answer_proves_nothing_and_shows_no_key(
    place: Node, reader: JsonRpcChain, method: str, answer: Any, why: str
) -> None:
    place.used(TX, RESERVATION, PAYER, NONCE)
    place.answers[method] = answer

    async def look() -> None:
        await reader.authorization_state(payment())
        await reader.transfer(payment())

    with pytest.raises(Unavailable, match=why) as error:
        await look()
    assert "secret-key" not in str(error.value)


async def test_a_silent_node_proves_nothing_in_time(place: Node) -> None:
    place.answers["eth_chainId"] = None
    impatient = JsonRpcChain(place.url, seconds=0.5)
    with pytest.raises(Unavailable, match=r"did not answer within 0\.5 seconds"):
        await impatient.authorization_state(payment())
    await impatient.aclose()


async def test_logs_of_no_form_are_no_transfer(place: Node, reader: JsonRpcChain) -> None:
    place.used(TX, RESERVATION, PAYER, NONCE)
    receipt = {"blockNumber": "0x1", "logs": [{"address": ASSET}, {"address": 1, "topics": 2}]}
    place.answers["eth_getTransactionReceipt"] = {"result": receipt}
    assert await reader.transfer(payment()) is None


async def test_a_node_that_nobody_reaches_is_unavailable() -> None:
    chain = JsonRpcChain("http://127.0.0.1:9/key")
    with pytest.raises(Unavailable, match=r"the node at 127\.0\.0\.1 cannot be reached") as error:
        await chain.network()
    assert "key" not in str(error.value)
    await chain.aclose()
