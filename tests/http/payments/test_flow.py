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
from svc_http.guard import checkout as till
from svc_http.service.workers import payments as reconcile
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
    decoded,
    offered,
    paid,
    payment,
)
from tests.wallets import Wallet, field, nonce

LIST = "/api/v1/reports"
ONE = f"{LIST}/{REPORT}"
BASE = "https://shop.example"
USED = "invalid_exact_evm_nonce_already_used"
_wallets = count(1_000)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    usual, reconcile.LOOK_SECONDS = reconcile.LOOK_SECONDS, 0.05
    facilitator = Facilitator()
    made = Shop(
        tmp_path_factory.mktemp("shop"),
        facilitator,
        x402_address_per_minute=1_000_000,
        x402_operation_per_minute=1_000_000,
    )
    yield made
    made.stop()
    facilitator.close()
    reconcile.LOOK_SECONDS = usual


@pytest.fixture
def buyer() -> Wallet:
    return Wallet(next(_wallets))


@pytest.fixture
def another(tmp_path: Path) -> Iterator[Callable[..., Shop]]:
    made: list[Shop] = []

    def make(clock: Callable[[], datetime] = system.now, **given: Any) -> Shop:
        made.append(Shop(tmp_path, Facilitator(), clock, **given))
        return made[-1]

    yield make
    for each in made:
        each.stop()
        each.facilitator.close()


def refused(reply: Reply, status: int, code: str, error: str | None = None) -> None:
    assert (reply.status, reply.json["code"]) == (status, code), reply
    assert reply.fields["content-type"] == "application/problem+json"
    assert b"secret words" not in reply.body
    assert ("payment-required" in reply.fields) is (error is not None)
    if error is not None:
        assert reply.challenge["error"] == error
        assert reply.fields["cache-control"] == "no-store"


def settled(shop: Shop) -> int:
    return sum(shop.facilitator.settled.values())


class Watched:
    """What happened in a shop while a block ran."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._before = (settled(shop), shop.runs)

    @property
    def charges(self) -> int:
        return settled(self._shop) - self._before[0]

    @property
    def runs(self) -> int:
        return self._shop.runs - self._before[1]


# -- asked for and paid (C1, C2) ---------------------------------------------------------------


def test_who_brings_nothing_is_told_what_to_pay(shop: Shop) -> None:
    reply = ask(shop.port, f"{ONE}?x=1", Origin="https://page.example")
    refused(reply, 402, "PAYMENT_REQUIRED", "PAYMENT-SIGNATURE header is required")
    challenge = reply.challenge
    assert challenge["resource"]["url"] == f"{BASE}{ONE}?x=1"
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
    exposed = reply.fields["access-control-expose-headers"]
    assert {"PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "Retry-After"} <= {*exposed.split(", ")}


@pytest.mark.parametrize(
    ("path", "amount"), [(ONE, "250000"), (LIST, "50000"), (f"{ONE}/graph", "10000")]
)
def test_what_is_paid_for_is_answered(shop: Shop, buyer: Wallet, path: str, amount: str) -> None:
    watched = Watched(shop)
    reply = ask(shop.port, path, paid(shop.port, path, buyer, url=BASE + path))
    assert reply.status == 200, reply
    assert b"secret words" in reply.body
    assert reply.fields["cache-control"].startswith("private")
    said = reply.settlement
    assert (said["success"], said["network"]) == (True, "eip155:84532")
    assert (said["payer"].lower(), said["amount"]) == (buyer.address.lower(), amount)
    assert shop.facilitator.amounts[-1] == amount
    assert reply.fields["x-svc-payment-receipt"].startswith("rct_")
    assert (watched.charges, watched.runs) == (1, 1)
    assert "payment-required" not in reply.fields


# -- tampered (C3, C4, C5) ---------------------------------------------------------------------

Change = Callable[[dict[str, Any], Wallet, Any], dict[str, Any]]


def _signed(**members: str) -> Change:
    """A payment whose payer signed another authorization."""

    def change(_: dict[str, Any], buyer: Wallet, wanted: Any) -> dict[str, Any]:
        return buyer.payment(wanted, int(time.time()), next(_wallets), **members)

    return change


def _under(**domain: Any) -> Change:
    """A payment that was signed under another domain."""

    def change(made: dict[str, Any], buyer: Wallet, wanted: Any) -> dict[str, Any]:
        signature = buyer.sign(made["payload"]["authorization"], wanted, **domain)
        return {**made, "payload": {**made["payload"], "signature": signature}}

    return change


def _accepting(**members: str) -> Change:
    def change(made: dict[str, Any], _: Wallet, __: Any) -> dict[str, Any]:
        return {**made, "accepted": {**made["accepted"], **members}}

    return change


def _saying(**members: str) -> Change:
    """A payment whose authorization was changed after it was signed."""

    def change(made: dict[str, Any], _: Wallet, __: Any) -> dict[str, Any]:
        said = {**made["payload"]["authorization"], **members}
        return {**made, "payload": {**made["payload"], "authorization": said}}

    return change


def _after(seconds: int) -> str:
    return str(int(time.time()) + seconds)


E = "invalid_exact_evm_payload_"
TAMPERED: dict[str, tuple[Change, str]] = {
    "a unit less": (_signed(value="249999"), f"{E}authorization_value_mismatch"),
    "a unit more": (_signed(value="250001"), f"{E}authorization_value_mismatch"),
    "to another": (_signed(to="0x" + "11" * 20), f"{E}recipient_mismatch"),
    "real money": (_accepting(network="eip155:8453"), "invalid_network"),
    "another chain": (_under(chainId=8453), f"{E}signature"),
    "another name": (_under(name="USD Coin"), f"{E}signature"),
    "another contract": (_under(verifyingContract="0x" + "22" * 20), f"{E}signature"),
    "another nonce": (_saying(nonce=nonce(1)), f"{E}signature"),
    "another payer": (_saying(**{"from": "0x" + "33" * 20}), f"{E}signature"),
    "ended": (_signed(validBefore=_after(-1)), f"{E}authorization_valid_before"),
    "about to end": (_signed(validBefore=_after(3)), f"{E}authorization_valid_before"),
    "not yet": (_signed(validAfter=_after(3_600)), f"{E}authorization_valid_after"),
    "cheaper": (_accepting(amount="10000"), "invalid_payment_requirements"),
    "another payee": (_accepting(payTo="0x" + "11" * 20), "invalid_payment_requirements"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_payment_that_was_tampered_with_buys_nothing(
    shop: Shop, buyer: Wallet, name: str
) -> None:
    change, error = TAMPERED[name]
    watched, wanted = Watched(shop), offered(shop.port, ONE)
    made = change(payment(shop.port, ONE, buyer), buyer, wanted)
    refused(ask(shop.port, ONE, field(made)), 402, "PAYMENT_INVALID", error)
    assert (watched.charges, watched.runs) == (0, 0)


def test_a_payment_for_one_thing_buys_no_other(shop: Shop, buyer: Wallet) -> None:
    watched = Watched(shop)
    other = f"{LIST}/{OTHER}"
    for_one = paid(shop.port, ONE, buyer, url=BASE + ONE)
    refused(ask(shop.port, other, for_one), 402, "PAYMENT_INVALID", "resource_mismatch")
    cheap = paid(shop.port, f"{ONE}/graph", buyer)
    refused(ask(shop.port, ONE, cheap), 402, "PAYMENT_INVALID", "invalid_payment_requirements")
    assert (watched.charges, watched.runs) == (0, 0)
    assert ask(shop.port, ONE, for_one).status == 200


# -- malformed (C6) ----------------------------------------------------------------------------


def _malformed(good: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    def with_(path: str, value: Any) -> tuple[str, ...]:
        made = json.loads(json.dumps(good))
        *parts, last = path.split(".")
        inner = made
        for part in parts:
            inner = inner[part]
        inner[last] = value
        return (field(made),)

    text = json.dumps(good)
    return {
        "empty": ("",),
        "no base64": ("%%%",),
        "url base64": (b64encode(b'{"a":"\xff\xfe"}').decode().replace("/", "_") + "-",),
        "no JSON": (b64encode(b"hello").decode(),),
        "no object": (b64encode(b"[]").decode(),),
        "members twice": (b64encode(text.replace("{", '{"x402Version":2,', 1).encode()).decode(),),
        "version 1": with_("x402Version", 1),
        "version as text": with_("x402Version", "2"),
        "a number": with_("payload.authorization.value", 250000),
        "underscores": with_("payload.authorization.value", "250_000"),
        "hexadecimal": with_("payload.authorization.value", "0x3d090"),
        "short nonce": with_("payload.authorization.nonce", "0x" + "1" * 62),
        "a permit beside it": with_("payload.permit2Authorization", {}),
        "identifier of 5": with_("extensions", {"payment-identifier": {"info": {"id": "short"}}}),
        "sent twice": (field(good), field(good)),
        "13 KB": (field({**good, "padding": "x" * 13_000}),),
    }


def test_what_cannot_be_read_is_told_so(shop: Shop, buyer: Wallet) -> None:
    watched, good = Watched(shop), payment(shop.port, ONE, buyer)
    for name, values in _malformed(good).items():
        reply = ask(shop.port, ONE, *values)
        assert (reply.status, reply.json["code"]) == (400, "INVALID_PAYMENT"), name
    assert (watched.charges, watched.runs) == (0, 0)
    assert ask(shop.port, ONE, field(good)).status == 200


# -- once (C7, C8) -----------------------------------------------------------------------------


def test_an_authorization_buys_once_however_it_is_written(shop: Shop, buyer: Wallet) -> None:
    watched, made = Watched(shop), payment(shop.port, ONE, buyer)
    assert ask(shop.port, ONE, field(made)).status == 200
    upper = json.loads(json.dumps(made))
    said = upper["payload"]["authorization"]
    said["nonce"] = "0x" + said["nonce"][2:].upper()
    for path, again in ((ONE, made), (ONE, upper), (f"{LIST}/{OTHER}", made)):
        reply = ask(shop.port, path, field(again))
        refused(reply, 402, "PAYMENT_REPLAYED", USED)
        assert "/api/v1/x402/receipts/rct_" in reply.json["detail"]
    assert (watched.charges, watched.runs) == (1, 1)


def test_of_many_at_once_one_is_served(shop: Shop, buyer: Wallet) -> None:
    watched, value = Watched(shop), paid(shop.port, ONE, buyer)
    with ThreadPoolExecutor(50) as pool:
        replies = list(pool.map(lambda _: ask(shop.port, ONE, value), range(50)))
    assert sorted(reply.status for reply in replies) == [200] + [402] * 49
    assert all(b"secret" not in reply.body for reply in replies if reply.status == 402)
    assert (watched.charges, watched.runs) == (1, 1)


# -- who decides (C9) --------------------------------------------------------------------------


def test_a_bearer_header_alone_decides_and_spends_no_payment(shop: Shop, buyer: Wallet) -> None:
    watched, value = Watched(shop), paid(shop.port, ONE, buyer)
    for bad in ("Bearer", "Bearer x", f"Bearer svc_{'0' * 64}", "Bearerx"):
        reply = ask(shop.port, ONE, value, Authorization=bad)
        assert reply.status == 401
        assert not {"payment-required", "payment-response"} & reply.fields.keys()
    assert watched.charges == 0
    assert ask(shop.port, ONE, value, Authorization="bearer x").status == 200
    refused(
        ask(shop.port, ONE, Authorization="Basic eA=="),
        402,
        "PAYMENT_REQUIRED",
        "PAYMENT-SIGNATURE header is required",
    )


def test_nobody_pays_for_an_empty_answer(shop: Shop, buyer: Wallet) -> None:
    watched, value = Watched(shop), paid(shop.port, ONE, buyer)
    reply = ask(shop.port, ONE, value, method="HEAD")
    assert (reply.status, reply.body) == (402, b"")
    assert "payment-required" in reply.fields
    assert (watched.charges, watched.runs) == (0, 0)
    reply = ask(shop.port, ONE, value, If_None_Match="*")
    assert reply.status == 200


# -- failures are free (C10) -------------------------------------------------------------------


def test_what_fails_is_free_and_the_payment_is_good_for_something_else(
    shop: Shop, buyer: Wallet
) -> None:
    watched, value = Watched(shop), paid(shop.port, ONE, buyer)
    for path, status in (
        (f"{LIST}/{MISSING}", 404),
        (f"{LIST}/{BROKEN}", 500),
        (f"{LIST}/{LARGE}", 400),
        (f"{ONE}?unknown=1", 400),
    ):
        reply = ask(shop.port, path, value)
        assert reply.status == status, (path, reply)
        assert not {"payment-required", "payment-response"} & reply.fields.keys()
    assert watched.charges == 0
    assert ask(shop.port, ONE, value).status == 200


def test_a_payment_that_is_refused_gives_nothing(shop: Shop, buyer: Wallet) -> None:
    watched, value = Watched(shop), paid(shop.port, ONE, buyer)
    shop.facilitator.faults.append("refused")
    reply = ask(shop.port, ONE, value)
    refused(reply, 402, "SETTLEMENT_FAILED", "insufficient_funds")
    assert reply.settlement["success"] is False
    assert watched.charges == 0
    assert ask(shop.port, ONE, value).status == 200  # after the wallet was filled

    shop.facilitator.verifies = "insufficient_funds"
    try:
        watched = Watched(shop)
        reply = ask(shop.port, ONE, paid(shop.port, ONE, buyer))
    finally:
        shop.facilitator.verifies = None
    refused(reply, 402, "PAYMENT_INVALID", "insufficient_funds")
    assert reply.settlement["success"] is False
    assert (watched.charges, watched.runs) == (0, 0)


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
    watched, value = Watched(shop), paid(shop.port, ONE, buyer)
    shop.facilitator.faults.extend([fault, fault])
    reply = ask(shop.port, ONE, value)
    refused(reply, 500, DOUBTS[fault])
    assert reply.settlement["success"] is False
    assert int(reply.fields["retry-after"]) > 0
    assert bool(reply.settlement["transaction"]) is (fault == "pending")
    if fault == "pending":  # the reconciler asks by itself
        shop.until(lambda: _state(shop, value) not in IN_DOUBT)
    again = ask(shop.port, ONE, value)
    assert (again.status, again.settlement["success"]) == (200, True)
    refused(ask(shop.port, ONE, value), 402, "PAYMENT_REPLAYED", USED)
    assert (watched.charges, watched.runs) == (1, 1)


def _rows(shop: Shop) -> Any:
    return shop.do(shop.service.runtime.till.checkout.store.listed(limit=1_000))


def _state(shop: Shop, value: str) -> State:
    said = decoded(value)["payload"]["authorization"]
    (found,) = [row for row in _rows(shop) if row.nonce == said["nonce"].lower()]
    state: State = found.state
    return state


# -- lost answers (C12) ------------------------------------------------------------------------


def test_a_named_payment_is_answered_again_byte_for_byte(shop: Shop, buyer: Wallet) -> None:
    watched, name = Watched(shop), f"order-{buyer.address}"
    value = paid(shop.port, ONE, buyer, identifier=name)
    first, again = (ask(shop.port, ONE, value) for _ in range(2))
    assert (first.status, first.body) == (200, again.body)
    assert {k: v for k, v in first.fields.items() if k not in {"x-request-id", "date"}} == {
        k: v for k, v in again.fields.items() if k not in {"x-request-id", "date"}
    }
    newly = paid(shop.port, ONE, buyer, identifier=name)  # as clients do that lost the first
    assert ask(shop.port, ONE, newly).body == first.body
    assert (watched.charges, watched.runs) == (1, 1)

    other = f"{LIST}/{OTHER}"
    refused(ask(shop.port, other, value), 409, "PAYMENT_IDENTIFIER_CONFLICT")
    otherwise = paid(shop.port, other, buyer, identifier=name)
    refused(ask(shop.port, other, otherwise), 409, "PAYMENT_IDENTIFIER_CONFLICT")
    stranger = Wallet(next(_wallets))
    theirs = ask(shop.port, ONE, paid(shop.port, ONE, stranger, identifier=name))
    assert (theirs.status, theirs.settlement["payer"].lower()) == (200, stranger.address.lower())
    assert watched.charges == 2


def test_who_knows_only_what_is_on_the_chain_gets_no_answer_again(
    shop: Shop, buyer: Wallet
) -> None:
    made = payment(shop.port, ONE, buyer, identifier=f"order-{buyer.address}")
    assert ask(shop.port, ONE, field(made)).status == 200
    public = {name: value for name, value in made.items() if name != "extensions"}
    refused(ask(shop.port, ONE, field(public)), 402, "PAYMENT_REPLAYED", USED)


# -- limits and other origins (C14) ------------------------------------------------------------


def test_a_wallet_has_its_limits(another: Callable[..., Shop], buyer: Wallet) -> None:
    shop = another(_standing(), x402_wallet_per_minute=2, x402_wallet_usd_per_day="0.55")
    for _ in range(2):
        assert ask(shop.port, ONE, paid(shop.port, ONE, buyer)).status == 200
    reply = ask(shop.port, ONE, paid(shop.port, ONE, buyer))
    refused(reply, 429, "PAYMENT_RATE_LIMITED")
    assert int(reply.fields["retry-after"]) > 0
    assert settled(shop) == 2
    assert ask(shop.port, ONE, paid(shop.port, ONE, Wallet(next(_wallets)))).status == 200


def test_a_wallet_spends_so_many_dollars_a_day_and_midnight_gives_them_back(
    another: Callable[..., Shop], buyer: Wallet
) -> None:
    noon = system.now().replace(hour=12, minute=0, second=0, microsecond=0)
    at = [noon]
    shop = another(lambda: at[0], x402_wallet_per_minute=100, x402_wallet_usd_per_day="0.55")

    def pays(path: str, wallet: Wallet) -> Reply:
        now = int(at[0].timestamp())
        made = wallet.payment(offered(shop.port, path), now, next(_wallets))
        return ask(shop.port, path, field(made))

    assert [pays(path, buyer).status for path in (ONE, ONE, LIST)] == [200, 200, 200]
    reply = pays(f"{ONE}/graph", buyer)  # of 55 cents all are spent: not one is left
    refused(reply, 429, "PAYMENT_RATE_LIMITED")
    assert reply.fields["retry-after"] == str(12 * 3_600)
    assert settled(shop) == 3
    assert pays(ONE, Wallet(next(_wallets))).status == 200
    at[0] = noon + timedelta(hours=12, milliseconds=-1)
    refused(pays(f"{ONE}/graph", buyer), 429, "PAYMENT_RATE_LIMITED")
    at[0] = noon + timedelta(hours=12)
    assert pays(ONE, buyer).status == 200


def _standing() -> Callable[[], datetime]:
    """A clock in whose minute everything happens."""
    now = system.now()
    return lambda: now


def test_an_operation_and_an_address_have_theirs(
    another: Callable[..., Shop], buyer: Wallet
) -> None:
    shop = another(_standing(), x402_operation_per_minute=1, x402_address_per_minute=5)
    assert ask(shop.port, ONE, paid(shop.port, ONE, buyer)).status == 200
    refused(ask(shop.port, ONE, paid(shop.port, ONE, buyer)), 429, "PAYMENT_RATE_LIMITED")
    assert ask(shop.port, LIST, paid(shop.port, LIST, buyer)).status == 200
    assert ask(shop.port, LIST, "%%%").status == 400  # counted as what it costs
    assert ask(shop.port, LIST).status == 402
    for values in ((), ("%%%",)):
        reply = ask(shop.port, LIST, *values)
        refused(reply, 429, "PAYMENT_RATE_LIMITED")
        assert 0 < int(reply.fields["retry-after"]) <= 60


def test_pages_of_other_origins_may_pay(shop: Shop) -> None:
    reply = ask(
        shop.port,
        ONE,
        method="OPTIONS",
        Origin="https://page.example",
        Access_Control_Request_Method="GET",
        Access_Control_Request_Headers="payment-signature,access-control-expose-headers",
    )
    assert reply.status == 204
    allowed = {one.strip() for one in reply.fields["access-control-allow-headers"].split(",")}
    assert {"payment-signature", "access-control-expose-headers"} <= allowed


# -- clients that leave, servers that stop -----------------------------------------------------


def _request(port: int, value: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), 60)
    line = f"GET {ONE} HTTP/1.1\r\nHost: a\r\nPAYMENT-SIGNATURE: {value}\r\n\r\n"
    connection.sendall(line.encode())
    return connection


def test_who_leaves_during_settlement_is_owed_the_answer(
    another: Callable[..., Shop], buyer: Wallet
) -> None:
    shop = another(x402_settle_seconds=30)
    value = paid(shop.port, ONE, buyer)
    shop.facilitator.faults.append("wait")
    with closing(_request(shop.port, value)):
        assert shop.facilitator.waiting.wait(60)
    shop.until_noticed()
    shop.facilitator.go.set()
    shop.until(lambda: _state(shop, value) is State.OWED)
    reply = ask(shop.port, ONE, value)
    assert (reply.status, reply.settlement["success"]) == (200, True)
    assert (settled(shop), shop.runs) == (1, 1)
    refused(ask(shop.port, ONE, value), 402, "PAYMENT_REPLAYED", USED)


def test_one_address_has_half_of_the_payments_at_once(
    another: Callable[..., Shop], buyer: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(till, "AT_ONCE_MAX", 2)
    shop = another(x402_settle_seconds=30)
    values = [paid(shop.port, ONE, buyer) for _ in range(3)]
    shop.facilitator.faults.append("wait")
    with closing(_request(shop.port, values[0])) as connection:
        assert shop.facilitator.waiting.wait(60)
        refused(ask(shop.port, ONE, values[1]), 503, "OVERLOADED")
        assert ask(shop.port, ONE, values[2], X_Forwarded_For="203.0.113.9").status == 200
        shop.facilitator.go.set()
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
    assert ask(shop.port, ONE, values[1]).status == 200


def test_a_server_that_stops_finishes_what_it_settles(tmp_path: Path, buyer: Wallet) -> None:
    facilitator = Facilitator()
    shop = Shop(tmp_path, facilitator, x402_settle_seconds=30, graceful_seconds=30)
    value = paid(shop.port, ONE, buyer)
    facilitator.faults.append("wait")
    with closing(_request(shop.port, value)) as connection:
        assert facilitator.waiting.wait(60)
        shop.loop.call_soon_threadsafe(shop.service.drain)
        facilitator.go.set()
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
    shop.stop()
    facilitator.close()
    assert sum(facilitator.settled.values()) == 1


# -- besides -----------------------------------------------------------------------------------


def test_a_rehearsal_charges_nobody(another: Callable[..., Shop], buyer: Wallet) -> None:
    shop = another(x402_dry_run=True)
    for _ in range(7):  # more than are refused of a wallet otherwise
        reply = ask(shop.port, ONE, paid(shop.port, ONE, buyer))
        assert (reply.status, reply.settlement["success"]) == (402, False)
        assert b"secret words" not in reply.body
    assert (settled(shop), shop.runs) == (0, 7)


def test_what_was_paid_is_counted(another: Callable[..., Shop], buyer: Wallet) -> None:
    shop = another()
    value = paid(shop.port, ONE, buyer)
    ask(shop.port, ONE, value)
    ask(shop.port, ONE, value)
    shop.facilitator.faults.append("refused")
    ask(shop.port, ONE, paid(shop.port, ONE, buyer))
    told = shop.metrics
    assert 'svc_payments_revenue_units_total{operation="getReport"} 250000.0' in told
    assert 'svc_payments_total{state="settled"} 1.0' in told
    assert 'svc_payments_total{state="released"} 1.0' in told
