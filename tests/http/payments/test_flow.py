"""A request is paid for, over a socket, in every way in which that may go (x402, version 2)."""

import json
import socket
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from svc_core.payments.states import IN_DOUBT, State
from svc_http import system
from svc_http.exchange.fair_shares import BOUNDS, Bound
from svc_http.service.workers import payment_recovery as reconcile
from tests.http.payments.shop import (
    BROKEN,
    LARGE,
    MISSING,
    OTHER,
    REPORT,
    Facilitator,
    Reply,
    Shop,
    ask,
    decode_header,
    payment,
    payment_header,
    terms_at,
)
from tests.wallets import Wallet, field

LIST = "/api/v1/reports"
REPORT_PATH = f"{LIST}/{REPORT}"
BASE = "https://shop.example"
USED = "invalid_exact_evm_nonce_already_used"
_wallets = count(1_000)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    usual, reconcile.LOOK_SECONDS = reconcile.LOOK_SECONDS, 0.05
    facilitator = Facilitator()
    instance = Shop(
        tmp_path_factory.mktemp("shop"),
        facilitator,
        x402_address_per_minute=1_000_000,
        x402_operation_per_minute=1_000_000,
    )
    yield instance
    instance.stop()
    facilitator.close()
    reconcile.LOOK_SECONDS = usual


@pytest.fixture
def buyer() -> Wallet:
    return Wallet(next(_wallets))


@pytest.fixture
def make_shop(tmp_path: Path) -> Iterator[Callable[..., Shop]]:
    shops: list[Shop] = []

    def make(clock: Callable[[], datetime] = system.now, **members: Any) -> Shop:
        shops.append(Shop(tmp_path, Facilitator(), clock, **members))
        return shops[-1]

    yield make
    for shop in shops:
        shop.stop()
        shop.facilitator.close()


def assert_refusal(reply: Reply, status: int, code: str, error: str | None = None) -> None:
    assert (reply.status, reply.json["code"]) == (status, code), reply
    assert reply.fields["content-type"] == "application/problem+json"
    assert b"secret words" not in reply.body
    assert ("payment-required" in reply.fields) is (error is not None)
    if error is not None:
        assert reply.challenge["error"] == error
        assert reply.fields["cache-control"] == "no-store"


def settlement_count(shop: Shop) -> int:
    return sum(shop.facilitator.settlements.values())


class Watch:
    """What happened in a shop while a block ran."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._before = (settlement_count(shop), shop.runs)

    @property
    def charges(self) -> int:
        return settlement_count(self._shop) - self._before[0]

    @property
    def runs(self) -> int:
        return self._shop.runs - self._before[1]


# -- asked for and paid (C1, C2) ---------------------------------------------------------------


def test_who_brings_nothing_is_told_what_to_pay(shop: Shop) -> None:
    reply = ask(shop.port, f"{REPORT_PATH}?x=1", Origin="https://page.example")
    assert_refusal(reply, 402, "PAYMENT_REQUIRED", "PAYMENT-SIGNATURE header is required")
    challenge = reply.challenge
    assert challenge["resource"]["url"] == f"{BASE}{REPORT_PATH}?x=1"
    assert challenge["accepts"] == [
        {
            "scheme": "exact",
            "network": "eip155:84532",
            "amount": "250000",
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            "payTo": shop.service.runtime.settings.x402_pay_to,
            "maxTimeoutSeconds": 300,
            "extra": {"name": "USDC", "version": "2"},
        }
    ]
    assert "payment-response" not in reply.fields
    header = reply.fields["access-control-expose-headers"]
    assert {"PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "Retry-After"} <= {*header.split(", ")}


@pytest.mark.parametrize(
    ("path", "amount"),
    [(REPORT_PATH, "250000"), (LIST, "50000"), (f"{REPORT_PATH}/graph", "10000")],
)
def test_what_is_paid_for_is_answered(shop: Shop, buyer: Wallet, path: str, amount: str) -> None:
    watch = Watch(shop)
    reply = ask(shop.port, path, payment_header(shop.port, path, buyer, url=BASE + path))
    assert reply.status == 200, reply
    assert b"secret words" in reply.body
    assert reply.fields["cache-control"].startswith("private")
    settlement = reply.settlement
    assert (settlement["success"], settlement["network"]) == (True, "eip155:84532")
    assert (settlement["payer"].lower(), settlement["amount"]) == (buyer.address.lower(), amount)
    assert shop.facilitator.amounts[-1] == amount
    assert reply.fields["x-svc-payment-receipt"].startswith("rct_")
    assert (watch.charges, watch.runs) == (1, 1)
    assert "payment-required" not in reply.fields


# -- tampered (C3, C4, C5) ---------------------------------------------------------------------

Change = Callable[[dict[str, Any], Wallet, Any], dict[str, Any]]


def _resigning(**members: str) -> Change:
    """A payment whose payer signed another authorization."""

    def change(_: dict[str, Any], buyer: Wallet, terms: Any) -> dict[str, Any]:
        return buyer.payment(terms, int(time.time()), next(_wallets), **members)

    return change


def _under(**domain: Any) -> Change:
    """A payment that was signed under another domain."""

    def change(payload: dict[str, Any], buyer: Wallet, terms: Any) -> dict[str, Any]:
        signature = buyer.sign(payload["payload"]["authorization"], terms, **domain)
        return {**payload, "payload": {**payload["payload"], "signature": signature}}

    return change


def _accepting(**members: str) -> Change:
    def change(payload: dict[str, Any], _: Wallet, __: Any) -> dict[str, Any]:
        return {**payload, "accepted": {**payload["accepted"], **members}}

    return change


def _after(seconds: int) -> str:
    return str(int(time.time()) + seconds)


E = "invalid_exact_evm_payload_"
TAMPERINGS: dict[str, tuple[Change, str]] = {
    "a unit less": (_resigning(value="249999"), f"{E}authorization_value_mismatch"),
    "to another": (_resigning(to="0x" + "11" * 20), f"{E}recipient_mismatch"),
    "another chain": (_under(chainId=8453), f"{E}signature"),
    "ended": (_resigning(validBefore=_after(-1)), f"{E}authorization_valid_before"),
    "cheaper": (_accepting(amount="10000"), "invalid_payment_requirements"),
}
"""Of each kind one; the rules and the reference agree on all of them in `tests/core/payments`."""


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_payment_that_was_tampered_with_buys_nothing(
    shop: Shop, buyer: Wallet, name: str
) -> None:
    change, error = TAMPERINGS[name]
    watch, terms = Watch(shop), terms_at(shop.port, REPORT_PATH)
    payload = change(payment(shop.port, REPORT_PATH, buyer), buyer, terms)
    assert_refusal(ask(shop.port, REPORT_PATH, field(payload)), 402, "PAYMENT_INVALID", error)
    assert (watch.charges, watch.runs) == (0, 0)


def test_a_payment_for_one_thing_buys_no_other(shop: Shop, buyer: Wallet) -> None:
    watch = Watch(shop)
    other_path = f"{LIST}/{OTHER}"
    for_one = payment_header(shop.port, REPORT_PATH, buyer, url=BASE + REPORT_PATH)
    assert_refusal(ask(shop.port, other_path, for_one), 402, "PAYMENT_INVALID", "resource_mismatch")
    cheap = payment_header(shop.port, f"{REPORT_PATH}/graph", buyer)
    assert_refusal(
        ask(shop.port, REPORT_PATH, cheap), 402, "PAYMENT_INVALID", "invalid_payment_requirements"
    )
    assert (watch.charges, watch.runs) == (0, 0)
    assert ask(shop.port, REPORT_PATH, for_one).status == 200


# -- malformed (C6) ----------------------------------------------------------------------------


def _malformations(good: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    return {
        "no base64": ("%%%",),
        "no object": (b64encode(b"[]").decode(),),
        "version 1": (field({**good, "x402Version": 1}),),
        "sent twice": (field(good), field(good)),
        "13 KB": (field({**good, "padding": "x" * 13_000}),),
    }


def test_what_cannot_be_read_is_told_so(shop: Shop, buyer: Wallet) -> None:
    watch, good = Watch(shop), payment(shop.port, REPORT_PATH, buyer)
    for name, values in _malformations(good).items():
        reply = ask(shop.port, REPORT_PATH, *values)
        assert (reply.status, reply.json["code"]) == (400, "INVALID_PAYMENT"), name
    assert (watch.charges, watch.runs) == (0, 0)
    assert ask(shop.port, REPORT_PATH, field(good)).status == 200


# -- once (C7, C8) -----------------------------------------------------------------------------


def test_an_authorization_buys_once_however_it_is_written(shop: Shop, buyer: Wallet) -> None:
    watch, payload = Watch(shop), payment(shop.port, REPORT_PATH, buyer)
    assert ask(shop.port, REPORT_PATH, field(payload)).status == 200
    upper = json.loads(json.dumps(payload))
    authorization = upper["payload"]["authorization"]
    authorization["nonce"] = "0x" + authorization["nonce"][2:].upper()
    for path, again in ((REPORT_PATH, payload), (REPORT_PATH, upper), (f"{LIST}/{OTHER}", payload)):
        reply = ask(shop.port, path, field(again))
        assert_refusal(reply, 402, "PAYMENT_REPLAYED", USED)
        assert "/api/v1/x402/receipts/rct_" in reply.json["detail"]
    assert (watch.charges, watch.runs) == (1, 1)


def test_of_many_at_once_one_is_served(shop: Shop, buyer: Wallet) -> None:
    watch, value = Watch(shop), payment_header(shop.port, REPORT_PATH, buyer)
    with ThreadPoolExecutor(50) as pool:
        replies = list(pool.map(lambda _: ask(shop.port, REPORT_PATH, value), range(50)))
    assert sorted(reply.status for reply in replies) == [200] + [402] * 49
    assert all(b"secret" not in reply.body for reply in replies if reply.status == 402)
    assert (watch.charges, watch.runs) == (1, 1)


# -- who decides (C9) --------------------------------------------------------------------------


def test_a_bearer_header_alone_decides_and_spends_no_payment(shop: Shop, buyer: Wallet) -> None:
    watch, value = Watch(shop), payment_header(shop.port, REPORT_PATH, buyer)
    for bad in ("Bearer", "Bearer x", f"Bearer svc_{'0' * 64}", "Bearerx"):
        reply = ask(shop.port, REPORT_PATH, value, Authorization=bad)
        assert reply.status == 401
        assert not {"payment-required", "payment-response"} & reply.fields.keys()
    assert watch.charges == 0
    assert ask(shop.port, REPORT_PATH, value, Authorization="bearer x").status == 200
    assert_refusal(
        ask(shop.port, REPORT_PATH, Authorization="Basic eA=="),
        402,
        "PAYMENT_REQUIRED",
        "PAYMENT-SIGNATURE header is required",
    )


def test_nobody_pays_for_an_empty_answer(shop: Shop, buyer: Wallet) -> None:
    watch, value = Watch(shop), payment_header(shop.port, REPORT_PATH, buyer)
    reply = ask(shop.port, REPORT_PATH, value, method="HEAD")
    assert (reply.status, reply.body) == (402, b"")
    assert "payment-required" in reply.fields
    assert (watch.charges, watch.runs) == (0, 0)
    reply = ask(shop.port, REPORT_PATH, value, If_None_Match="*")
    assert reply.status == 200


# -- failures are free (C10) -------------------------------------------------------------------


def test_what_fails_is_free_and_the_payment_is_good_for_something_else(
    shop: Shop, buyer: Wallet
) -> None:
    watch, value = Watch(shop), payment_header(shop.port, REPORT_PATH, buyer)
    for path, status in (
        (f"{LIST}/{MISSING}", 404),
        (f"{LIST}/{BROKEN}", 500),
        (f"{LIST}/{LARGE}", 400),
        (f"{REPORT_PATH}?unknown=1", 400),
    ):
        reply = ask(shop.port, path, value)
        assert reply.status == status, (path, reply)
        assert not {"payment-required", "payment-response"} & reply.fields.keys()
    assert watch.charges == 0
    assert ask(shop.port, REPORT_PATH, value).status == 200


def test_a_payment_that_is_refused_gives_nothing(shop: Shop, buyer: Wallet) -> None:
    watch, value = Watch(shop), payment_header(shop.port, REPORT_PATH, buyer)
    shop.facilitator.faults.append("refused")
    reply = ask(shop.port, REPORT_PATH, value)
    assert_refusal(reply, 402, "SETTLEMENT_FAILED", "insufficient_funds")
    assert reply.settlement["success"] is False
    assert watch.charges == 0
    assert ask(shop.port, REPORT_PATH, value).status == 200  # after the wallet was filled

    shop.facilitator.verifies = "insufficient_funds"
    try:
        watch = Watch(shop)
        reply = ask(shop.port, REPORT_PATH, payment_header(shop.port, REPORT_PATH, buyer))
    finally:
        shop.facilitator.verifies = None
    assert_refusal(reply, 402, "PAYMENT_INVALID", "insufficient_funds")
    assert reply.settlement["success"] is False
    assert (watch.charges, watch.runs) == (0, 0)


# -- doubt (C11) -------------------------------------------------------------------------------

DOUBTS = {
    "error": "SETTLEMENT_UNKNOWN",
    "silent": "SETTLEMENT_UNKNOWN",
    "lost": "SETTLEMENT_UNKNOWN",
    "pending": "SETTLEMENT_PENDING",
}


@pytest.mark.parametrize("fault", DOUBTS)
def test_whoever_may_have_paid_is_not_asked_to_pay_again(
    shop: Shop, buyer: Wallet, fault: str
) -> None:
    watch, value = Watch(shop), payment_header(shop.port, REPORT_PATH, buyer)
    shop.facilitator.faults.extend([fault, fault])
    reply = ask(shop.port, REPORT_PATH, value)
    assert_refusal(reply, 500, DOUBTS[fault])
    assert reply.settlement["success"] is False
    assert int(reply.fields["retry-after"]) > 0
    assert bool(reply.settlement["transaction"]) is (fault == "pending")
    if fault == "pending":  # the reconciler asks by itself
        shop.until(lambda: _state(shop, value) not in IN_DOUBT)
    again = ask(shop.port, REPORT_PATH, value)
    assert (again.status, again.settlement["success"]) == (200, True)
    assert_refusal(ask(shop.port, REPORT_PATH, value), 402, "PAYMENT_REPLAYED", USED)
    assert (watch.charges, watch.runs) == (1, 1)


def _rows(shop: Shop) -> Any:
    return shop.do(shop.service.runtime.checkout.checkout.store.list_payments(limit=1_000))


def _state(shop: Shop, value: str) -> State:
    authorization = decode_header(value)["payload"]["authorization"]
    (row,) = [row for row in _rows(shop) if row.nonce == authorization["nonce"].lower()]
    state: State = row.state
    return state


# -- lost answers (C12) ------------------------------------------------------------------------


def test_a_named_payment_is_answered_again_byte_for_byte(shop: Shop, buyer: Wallet) -> None:
    watch, name = Watch(shop), f"order-{buyer.address}"
    value = payment_header(shop.port, REPORT_PATH, buyer, identifier=name)
    first, again = (ask(shop.port, REPORT_PATH, value) for _ in range(2))
    assert (first.status, first.body) == (200, again.body)
    assert {k: v for k, v in first.fields.items() if k not in {"x-request-id", "date"}} == {
        k: v for k, v in again.fields.items() if k not in {"x-request-id", "date"}
    }
    newly = payment_header(
        shop.port, REPORT_PATH, buyer, identifier=name
    )  # as clients do that lost the first
    assert ask(shop.port, REPORT_PATH, newly).body == first.body
    assert (watch.charges, watch.runs) == (1, 1)

    other_path = f"{LIST}/{OTHER}"
    assert_refusal(ask(shop.port, other_path, value), 409, "PAYMENT_IDENTIFIER_CONFLICT")
    otherwise = payment_header(shop.port, other_path, buyer, identifier=name)
    assert_refusal(ask(shop.port, other_path, otherwise), 409, "PAYMENT_IDENTIFIER_CONFLICT")
    stranger = Wallet(next(_wallets))
    foreign = ask(
        shop.port, REPORT_PATH, payment_header(shop.port, REPORT_PATH, stranger, identifier=name)
    )
    assert (foreign.status, foreign.settlement["payer"].lower()) == (200, stranger.address.lower())
    assert watch.charges == 2


def test_who_knows_only_what_is_on_the_chain_gets_no_answer_again(
    shop: Shop, buyer: Wallet
) -> None:
    payload = payment(shop.port, REPORT_PATH, buyer, identifier=f"order-{buyer.address}")
    assert ask(shop.port, REPORT_PATH, field(payload)).status == 200
    public = {name: value for name, value in payload.items() if name != "extensions"}
    assert_refusal(ask(shop.port, REPORT_PATH, field(public)), 402, "PAYMENT_REPLAYED", USED)


# -- limits and other origins (C14) ------------------------------------------------------------


def test_a_wallet_has_its_limits(make_shop: Callable[..., Shop], buyer: Wallet) -> None:
    shop = make_shop(_standing(), x402_wallet_per_minute=2, x402_wallet_usd_per_day="0.55")
    for _ in range(2):
        assert (
            ask(shop.port, REPORT_PATH, payment_header(shop.port, REPORT_PATH, buyer)).status == 200
        )
    reply = ask(shop.port, REPORT_PATH, payment_header(shop.port, REPORT_PATH, buyer))
    assert_refusal(reply, 429, "PAYMENT_RATE_LIMITED")
    assert int(reply.fields["retry-after"]) > 0
    assert settlement_count(shop) == 2
    assert (
        ask(
            shop.port, REPORT_PATH, payment_header(shop.port, REPORT_PATH, Wallet(next(_wallets)))
        ).status
        == 200
    )


def test_a_wallet_spends_so_many_dollars_a_day_and_midnight_gives_them_back(
    make_shop: Callable[..., Shop], buyer: Wallet
) -> None:
    noon = system.now().replace(hour=12, minute=0, second=0, microsecond=0)
    at = [noon]
    shop = make_shop(lambda: at[0], x402_wallet_per_minute=100, x402_wallet_usd_per_day="0.55")

    def pays(path: str, wallet: Wallet) -> Reply:
        now = int(at[0].timestamp())
        payload = wallet.payment(terms_at(shop.port, path), now, next(_wallets))
        return ask(shop.port, path, field(payload))

    assert [pays(path, buyer).status for path in (REPORT_PATH, REPORT_PATH, LIST)] == [
        200,
        200,
        200,
    ]
    reply = pays(f"{REPORT_PATH}/graph", buyer)  # of 55 cents all are spent: not one is left
    assert_refusal(reply, 429, "PAYMENT_RATE_LIMITED")
    assert reply.fields["retry-after"] == str(12 * 3_600)
    assert settlement_count(shop) == 3
    assert pays(REPORT_PATH, Wallet(next(_wallets))).status == 200
    at[0] = noon + timedelta(hours=12, milliseconds=-1)
    assert_refusal(pays(f"{REPORT_PATH}/graph", buyer), 429, "PAYMENT_RATE_LIMITED")
    at[0] = noon + timedelta(hours=12)
    assert pays(REPORT_PATH, buyer).status == 200


def _standing() -> Callable[[], datetime]:
    """A clock in whose minute everything happens."""
    now = system.now()
    return lambda: now


def test_an_operation_and_an_address_have_theirs(
    make_shop: Callable[..., Shop], buyer: Wallet
) -> None:
    shop = make_shop(_standing(), x402_operation_per_minute=1, x402_address_per_minute=5)
    assert ask(shop.port, REPORT_PATH, payment_header(shop.port, REPORT_PATH, buyer)).status == 200
    assert_refusal(
        ask(shop.port, REPORT_PATH, payment_header(shop.port, REPORT_PATH, buyer)),
        429,
        "PAYMENT_RATE_LIMITED",
    )
    assert ask(shop.port, LIST, payment_header(shop.port, LIST, buyer)).status == 200
    assert ask(shop.port, LIST, "%%%").status == 400  # counted as what it costs
    assert ask(shop.port, LIST).status == 402
    for values in ((), ("%%%",)):
        reply = ask(shop.port, LIST, *values)
        assert_refusal(reply, 429, "PAYMENT_RATE_LIMITED")
        assert 0 < int(reply.fields["retry-after"]) <= 60


# -- clients that leave, servers that stop -----------------------------------------------------


def _request(port: int, value: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), 60)
    line = f"GET {REPORT_PATH} HTTP/1.1\r\nHost: a\r\nPAYMENT-SIGNATURE: {value}\r\n\r\n"
    connection.sendall(line.encode())
    return connection


def test_who_leaves_during_settlement_is_owed_the_answer(
    make_shop: Callable[..., Shop], buyer: Wallet
) -> None:
    shop = make_shop(x402_settle_seconds=30)
    value = payment_header(shop.port, REPORT_PATH, buyer)
    shop.facilitator.faults.append("wait")
    with closing(_request(shop.port, value)):
        assert shop.facilitator.waiting.wait(60)
    shop.until_noticed()
    shop.facilitator.go.set()
    shop.until(lambda: _state(shop, value) is State.OWED)
    reply = ask(shop.port, REPORT_PATH, value)
    assert (reply.status, reply.settlement["success"]) == (200, True)
    assert (settlement_count(shop), shop.runs) == (1, 1)
    assert_refusal(ask(shop.port, REPORT_PATH, value), 402, "PAYMENT_REPLAYED", USED)


def test_one_address_has_half_of_the_payments_at_once(
    make_shop: Callable[..., Shop], buyer: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BOUNDS, "payments", Bound(2, {"address": 1}))
    shop = make_shop(x402_settle_seconds=30)
    values = [payment_header(shop.port, REPORT_PATH, buyer) for _ in range(3)]
    shop.facilitator.faults.append("wait")
    with closing(_request(shop.port, values[0])) as connection:
        assert shop.facilitator.waiting.wait(60)
        assert_refusal(ask(shop.port, REPORT_PATH, values[1]), 503, "OVERLOADED")
        assert ask(shop.port, REPORT_PATH, values[2], X_Forwarded_For="203.0.113.9").status == 200
        shop.facilitator.go.set()
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
    assert ask(shop.port, REPORT_PATH, values[1]).status == 200


def test_a_server_that_stops_finishes_what_it_settles(tmp_path: Path, buyer: Wallet) -> None:
    facilitator = Facilitator()
    shop = Shop(tmp_path, facilitator, x402_settle_seconds=30, graceful_seconds=30)
    value = payment_header(shop.port, REPORT_PATH, buyer)
    facilitator.faults.append("wait")
    with closing(_request(shop.port, value)) as connection:
        assert facilitator.waiting.wait(60)
        shop.loop.call_soon_threadsafe(shop.service.drain)
        facilitator.go.set()
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
    shop.stop()
    facilitator.close()
    assert sum(facilitator.settlements.values()) == 1


# -- besides -----------------------------------------------------------------------------------


def test_what_was_paid_is_counted(make_shop: Callable[..., Shop], buyer: Wallet) -> None:
    shop = make_shop()
    value = payment_header(shop.port, REPORT_PATH, buyer)
    ask(shop.port, REPORT_PATH, value)
    ask(shop.port, REPORT_PATH, value)
    shop.facilitator.faults.append("refused")
    ask(shop.port, REPORT_PATH, payment_header(shop.port, REPORT_PATH, buyer))
    metrics = shop.metrics
    assert 'svc_payments_revenue_units_total{operation="getReport"} 250000.0' in metrics
    assert 'svc_payments_total{state="settled"} 1.0' in metrics
    assert 'svc_payments_total{state="released"} 1.0' in metrics
