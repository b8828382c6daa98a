"""A facilitator behind an address: what it is sent, what counts as an answer, and its failures."""

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from svc_core.payments.messages import Kind, PaymentRequirements, SettlementResponse, Verdict
from svc_core.payments.payment_ports import Unavailable
from svc_http.outside.facilitators import remote_facilitator as facilitator
from svc_http.outside.facilitators.remote_facilitator import (
    PAUSE_SECONDS,
    WAITING_PAYERS_MAX,
    RemoteFacilitator,
)
from tests.upstream import Upstream
from tests.wallets import Wallet

pytestmark = pytest.mark.anyio
KEY = "sk-very-secret"
PAYLOAD = {"x402Version": 2, "accepted": {"scheme": "exact"}, "payload": {"any": "thing"}}
HASH = "0x" + "ab" * 32
SETTLEMENT = {"success": True, "transaction": HASH, "network": "eip155:84532", "payer": "0xaa"}
TERMS = PaymentRequirements(
    scheme="exact",
    network="eip155:84532",
    amount="250000",
    asset="0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    pay_to="0x" + "b" * 40,
    max_timeout_seconds=300,
    extra={"name": "USDC", "version": "2"},
)
PENDING = {"success": False, "errorReason": "settlement_pending", "transaction": HASH}


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def remote(server: Upstream, clock: Clock) -> AsyncIterator[RemoteFacilitator]:
    remote = RemoteFacilitator(server.url, KEY, monotonic=clock)
    yield remote
    await remote.aclose()


@pytest.fixture
async def impatient(server: Upstream) -> AsyncIterator[RemoteFacilitator]:
    """A client for what never answers: where an answer comes, its bound is too near."""
    remote = RemoteFacilitator(server.url, KEY, settle_seconds=1.0, verify_seconds=1.0)
    yield remote
    await remote.aclose()


def raw(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


async def test_a_payload_is_sent_as_it_came_with_the_requirements_that_it_accepted(
    server: Upstream, remote: RemoteFacilitator
) -> None:
    server.says(raw({"isValid": True, "payer": "0xaa", "new": [1]}))
    server.says(raw({"isValid": False, "invalidReason": "insufficient_funds", "payer": None}))
    server.says(raw(SETTLEMENT))
    assert await remote.verify(PAYLOAD) == Verdict(True, payer="0xaa")
    assert await remote.verify(PAYLOAD) == Verdict(False, "insufficient_funds")
    assert await remote.settle(PAYLOAD) == SettlementResponse(True, HASH, "eip155:84532", "0xaa")
    body = {
        "x402Version": 2,
        "paymentPayload": PAYLOAD,
        "paymentRequirements": PAYLOAD["accepted"],
    }
    assert [body for _, body in server.requests] == [body] * 3
    assert [fields[":path"] for fields, _ in server.requests] == ["/v1/verify"] * 2 + ["/v1/settle"]
    assert {fields["authorization"] for fields, _ in server.requests} == {f"bearer {KEY}"}


@pytest.mark.parametrize("status", [200, 202, 402, 500])
async def test_an_answer_with_a_reason_is_one_whatever_its_status(
    server: Upstream, remote: RemoteFacilitator, status: int
) -> None:
    server.says(raw(PENDING), status=status)
    settlement = await remote.settle(PAYLOAD)
    assert (settlement.success, settlement.error_reason, settlement.transaction) == (
        False,
        "settlement_pending",
        HASH,
    )


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (500, {"success": False, "error": "bad gateway"}, "answered 500 Internal Server Error"),
        (503, {"success": True, "transaction": HASH}, "answered 503"),
        (401, {"message": f"no such key {KEY}"}, "cannot be read"),
        (502, b"<html>", "answered 502 Bad Gateway and what cannot be read"),
        (200, b"", "cannot be read"),
        (200, [], "cannot be read"),
        (200, {}, "cannot be read"),
        (200, {"success": "true"}, "cannot be read"),
        (200, {"success": 1}, "cannot be read"),
        (200, b'{"success": true, "success": false}', "cannot be read"),
        (200, b" " * (facilitator.ANSWER_BYTES + 1), "answers more than"),
        (301, b"", "cannot be read"),
    ],
)
async def test_what_is_no_answer_says_nothing_and_is_not_asked_for_again(
    server: Upstream, remote: RemoteFacilitator, status: int, body: Any, why: str
) -> None:
    errors: list[BaseException] = []
    remote.on_failure = errors.append
    server.says(raw(body), status=status)
    with pytest.raises(Unavailable, match=why) as error:
        await remote.settle(PAYLOAD)
    assert errors == [error.value]
    assert KEY not in str(error.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("parts", [(None,), (b'{"succ', None)])
async def test_a_silence_ends_in_time_and_the_settlement_is_asked_for_once(
    server: Upstream, impatient: RemoteFacilitator, parts: tuple[bytes | None, ...]
) -> None:
    server.says(*parts)
    with pytest.raises(Unavailable, match=r"did not answer within 1 seconds"):
        await impatient.settle(PAYLOAD)
    assert len(server.requests) == 1
    with anyio.fail_after(60):
        await server.departure.wait()


async def test_an_answer_that_breaks_off_and_nobody_there_are_told_apart(
    server: Upstream, remote: RemoteFacilitator
) -> None:
    server.says(b'{"success": true', is_cut=True)
    with pytest.raises(Unavailable, match="broke off"):
        await remote.settle(PAYLOAD)
    absent = RemoteFacilitator("http://127.0.0.1:9")
    with pytest.raises(Unavailable, match=r"http://127\.0\.0\.1:9/settle cannot be reached"):
        await absent.settle(PAYLOAD)
    await absent.aclose()


def pays(number: int) -> dict[str, Any]:
    """What a payer of its own sends."""
    return Wallet(number).payment(TERMS, 0)


def now_says(server: Upstream, *parts: Any, **how: Any) -> None:
    """Answer so from now on."""
    server.plays.clear()
    server.says(*parts, **how)


async def silent(server: Upstream, remote: RemoteFacilitator, payload: Any) -> None:
    """A question that breaks off without an answer."""
    now_says(server, b"{", is_cut=True)
    before = len(server.requests)
    with pytest.raises(Unavailable, match="broke off"):
        await remote.verify(payload)
    assert len(server.requests) == before + 1


async def test_while_it_is_away_new_payments_are_refused_at_once_and_begun_ones_are_settled(
    server: Upstream, remote: RemoteFacilitator, clock: Clock
) -> None:
    for number in range(WAITING_PAYERS_MAX):
        await silent(server, remote, pays(number))
    with pytest.raises(Unavailable, match="broke off"):
        await remote.verify(pays(9))
    assert len(server.requests) == WAITING_PAYERS_MAX
    now_says(server, b"{", is_cut=True)
    with pytest.raises(Unavailable):
        await remote.settle(pays(9))
    assert len(server.requests) == WAITING_PAYERS_MAX + 1
    clock.now += PAUSE_SECONDS
    await silent(server, remote, pays(9))  # one is enough to know that it is still away
    with pytest.raises(Unavailable):
        await remote.verify(pays(8))
    assert len(server.requests) == WAITING_PAYERS_MAX + 2
    clock.now += PAUSE_SECONDS
    now_says(server, raw({"isValid": True}))
    assert (await remote.verify(pays(8))).is_valid
    assert (await remote.verify(pays(8))).is_valid


async def test_what_one_payer_sends_keeps_nobody_else_away(
    server: Upstream, remote: RemoteFacilitator
) -> None:
    for _ in range(2 * WAITING_PAYERS_MAX):
        await silent(server, remote, pays(1))
        await silent(server, remote, PAYLOAD)  # and who names no payer
    now_says(server, raw({"isValid": True}))
    assert (await remote.verify(pays(2))).is_valid


@pytest.mark.parametrize("status", [200, 402, 500, 502])
async def test_any_answer_shows_that_it_is_there(
    server: Upstream, remote: RemoteFacilitator, status: int
) -> None:
    for number in range(2 * WAITING_PAYERS_MAX):
        await silent(server, remote, pays(number))
        now_says(server, b"<html>", status=status)
        with pytest.raises(Unavailable, match="cannot be read"):
            await remote.verify(PAYLOAD)


async def test_a_settlement_that_is_answered_brings_it_back_at_once(
    server: Upstream, remote: RemoteFacilitator
) -> None:
    for number in range(WAITING_PAYERS_MAX):
        await silent(server, remote, pays(number))
    now_says(server, raw(SETTLEMENT))
    assert (await remote.settle(pays(1))).success
    now_says(server, raw({"isValid": True}))
    assert (await remote.verify(pays(9))).is_valid


async def test_a_slow_one_holds_a_bounded_number_of_payments(
    server: Upstream, impatient: RemoteFacilitator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facilitator, "AT_ONCE_MAX", 1)
    server.says(None)

    async def slow() -> None:
        with pytest.raises(Unavailable, match="did not answer"):
            await impatient.verify(PAYLOAD)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(slow)
        await server.is_asked.wait()
        with pytest.raises(Unavailable, match="1 payments are being verified already"):
            await impatient.verify(PAYLOAD)
    assert len(server.requests) == 1


async def test_what_it_takes_is_read_and_other_forms_are_passed_over(
    server: Upstream, remote: RemoteFacilitator
) -> None:
    kind = {"x402Version": 2, "scheme": "exact", "network": "eip155:8453", "extra": None}
    strange = [{"x402Version": "1"}, None, {"scheme": "exact"}]
    server.says(raw({"kinds": [*strange, kind], "extensions": [{"key": "bazaar"}], "signers": 1}))
    assert (await remote.supported()).kinds == (Kind(2, "exact", "eip155:8453"),)
    ((fields, body),) = server.requests
    assert (fields[":path"], body) == ("/v1/supported", None)


@pytest.mark.parametrize(("status", "body"), [(200, {}), (200, {"kinds": 1}), (500, {"kinds": []})])
async def test_a_list_that_is_none_is_no_answer(
    server: Upstream, remote: RemoteFacilitator, status: int, body: Any
) -> None:
    server.says(raw(body), status=status)
    with pytest.raises(Unavailable):
        await remote.supported()
