"""Two servers over one store, and servers that are killed at any point: nobody pays twice, nothing
is given away, and what was paid for is not lost."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from svc_core import catalog
from svc_http.run.cli import main
from tests.http.payments.shop import (
    REPORT,
    SLOW,
    Facilitator,
    Process,
    Reply,
    ask,
    paid,
    runs,
)
from tests.postgres import PostgresServer
from tests.wallets import Wallet

ONE, LONG = f"/api/v1/reports/{REPORT}", f"/api/v1/reports/{SLOW}"
USED = "invalid_exact_evm_nonce_already_used"
_wallets = count(5_000)


@pytest.fixture
def facilitator() -> Iterator[Facilitator]:
    made = Facilitator()
    yield made
    made.close()


@pytest.fixture
def open_shop(tmp_path: Path, facilitator: Facilitator) -> Iterator[Callable[[str], Process]]:
    made: list[Process] = []

    def make(db: str = "") -> Process:
        made.append(Process(tmp_path, facilitator, db or str(tmp_path / "svc.db")))
        return made[-1]

    yield make
    for each in made:
        if each.process.poll() is None:
            each.kill()


def total(facilitator: Facilitator) -> int:
    return sum(facilitator.settled.values())


def test_of_fifty_over_two_servers_one_is_served(
    open_shop: Callable[[str], Process],
    facilitator: Facilitator,
    postgres: PostgresServer,
    tmp_path: Path,
) -> None:
    db = postgres.made_for(catalog.COLLECTIONS)
    ports = [open_shop(db).port, open_shop(db).port]
    for is_named in (False, True):
        how = {"identifier": "an-order-of-mine"} if is_named else {}
        value = paid(ports[0], ONE, Wallet(next(_wallets)), **how)
        before = runs(tmp_path), total(facilitator)

        def buy(number: int, value: str = value) -> Reply:
            return ask(ports[number % 2], ONE, value)

        with ThreadPoolExecutor(50) as pool:
            replies = list(pool.map(buy, range(50)))
        served = [reply for reply in replies if reply.status == 200]
        others = [reply for reply in replies if reply.status != 200]
        assert {reply.status for reply in others} <= {402}
        assert not any(b"secret" in reply.body for reply in others)
        assert len({(one.body, one.fields["payment-response"]) for one in served}) == 1
        assert is_named or len(served) == 1
        assert (runs(tmp_path), total(facilitator)) == (before[0] + 1, before[1] + 1)


# -- killed ------------------------------------------------------------------------------------


def _start(port: int, path: str, value: str, pool: ThreadPoolExecutor) -> None:
    def buy() -> None:
        with suppress(OSError, HTTPException):
            ask(port, path, value)

    pool.submit(buy)


def _until(holds: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while not (found := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.02)  # others of their own process tell nobody
    return found


def _answered(port: int, path: str, value: str) -> Reply:
    """The answer, once nobody else is at it."""

    def settled() -> Reply | None:
        reply = ask(port, path, value)
        return None if b"PAYMENT_IN_PROGRESS" in reply.body else reply

    found: Reply = _until(settled)
    return found


def test_killed_with_payments_in_every_state(
    open_shop: Callable[..., Process], facilitator: Facilitator, tmp_path: Path
) -> None:
    """Whoever sends the same again gets what was paid for, once; what was not begun is free."""
    shop = open_shop()
    port = shop.port

    def made(path: str = ONE, **how: str) -> str:
        return paid(port, path, Wallet(next(_wallets)), **how)

    named, bare = made(identifier="an-order-of-mine"), made()
    first = ask(port, ONE, named)
    assert (first.status, ask(port, ONE, bare).status) == (200, 200)
    doubtful = {fault: made() for fault in ("pending", "lost", "error", "silent")}
    for fault, value in doubtful.items():
        facilitator.faults.extend([fault] * 2)
        assert _answered(port, ONE, value).status == 500
    settling, working = made(), made(LONG)
    with ThreadPoolExecutor(2) as pool:
        facilitator.faults.append("wait")
        _start(port, ONE, settling, pool)
        assert facilitator.waiting.wait(60)
        before = runs(tmp_path)
        _start(port, LONG, working, pool)
        _until(lambda: runs(tmp_path) > before)
        shop.kill()
        before = total(facilitator)
        facilitator.go.set()  # what was asked before the end is done after it
        _until(lambda: total(facilitator) > before)
        (tmp_path / "go").touch()
    shop.start()

    for value in (*doubtful.values(), settling):
        reply = _answered(port, ONE, value)
        assert (reply.status, reply.settlement["success"]) == (200, True)
        assert ask(port, ONE, value).challenge["error"] == USED
    assert _answered(port, LONG, working).status == 200
    again = ask(port, ONE, named)
    assert (again.status, again.body) == (200, first.body)
    assert again.fields["payment-response"] == first.fields["payment-response"]
    assert ask(port, ONE, bare).challenge["error"] == USED
    assert (total(facilitator), {*facilitator.settled.values()}) == (8, {1})
    assert runs(tmp_path) == 9  # the one at work began anew


def test_what_nobody_can_tell_the_operator_says(
    open_shop: Callable[..., Process],
    facilitator: Facilitator,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The facilitator took the money and says no more than that the nonce is used."""
    monkeypatch.chdir(tmp_path)
    shop = open_shop()
    facilitator.is_idempotent = False
    values = [paid(shop.port, ONE, Wallet(next(_wallets))) for _ in range(2)]
    for value in values:
        facilitator.faults.extend(["lost", "lost"])
        assert _answered(shop.port, ONE, value).status == 500
        again = ask(shop.port, ONE, value)
        assert (again.status, again.json["code"]) == (500, "SETTLEMENT_UNKNOWN")
        assert "payment-required" not in again.fields
    shop.kill()

    def told(*line: str) -> list[str]:
        assert main(["payments", *line, "--db", str(tmp_path / "svc.db"), "--json"]) == 0
        return capsys.readouterr().out.splitlines()

    rows = json.loads("".join(told("list", "--state", "unknown")))
    assert len(rows) == 2
    paid_, failed = rows[1]["id"], rows[0]["id"]
    told("reconcile", paid_, "--settled", f"0x{1:064x}")
    told("reconcile", failed, "--failed")
    twice = ["payments", "reconcile", failed, "--failed", "--db", str(tmp_path / "svc.db")]
    assert main(twice) == 1
    capsys.readouterr()
    (revenue,) = json.loads("".join(told("revenue")))
    assert (revenue["operation"], revenue["payments"], revenue["usd"]) == ("getReport", 1, "0.25")
    shown = json.loads("".join(told("show", f"0x{1:064x}")))
    assert (shown["state"], "payload" in shown) == ("owed", False)

    shop.start()
    first = ask(shop.port, ONE, values[0])
    assert (first.status, first.settlement["success"]) == (200, True)
    assert ask(shop.port, ONE, values[0]).challenge["error"] == USED
