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
    payment_header,
    runs,
)
from tests.postgres import PostgresServer
from tests.wallets import Wallet

REPORT_PATH, SLOW_PATH = f"/api/v1/reports/{REPORT}", f"/api/v1/reports/{SLOW}"
USED = "invalid_exact_evm_nonce_already_used"
_wallets = count(5_000)


@pytest.fixture
def facilitator() -> Iterator[Facilitator]:
    instance = Facilitator()
    yield instance
    instance.close()


@pytest.fixture
def open_shop(tmp_path: Path, facilitator: Facilitator) -> Iterator[Callable[[str], Process]]:
    processes: list[Process] = []

    def make(db: str = "") -> Process:
        processes.append(Process(tmp_path, facilitator, db or str(tmp_path / "svc.db")))
        return processes[-1]

    yield make
    for process in processes:
        if process.process.poll() is None:
            process.kill()


def total(facilitator: Facilitator) -> int:
    return sum(facilitator.settlements.values())


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
        value = payment_header(ports[0], REPORT_PATH, Wallet(next(_wallets)), **how)
        before = runs(tmp_path), total(facilitator)

        def buy(number: int, value: str = value) -> Reply:
            return ask(ports[number % 2], REPORT_PATH, value)

        with ThreadPoolExecutor(50) as pool:
            replies = list(pool.map(buy, range(50)))
        winners = [reply for reply in replies if reply.status == 200]
        losers = [reply for reply in replies if reply.status != 200]
        assert {reply.status for reply in losers} <= {402}
        assert not any(b"secret" in reply.body for reply in losers)
        assert len({(winner.body, winner.fields["payment-response"]) for winner in winners}) == 1
        assert is_named or len(winners) == 1
        assert (runs(tmp_path), total(facilitator)) == (before[0] + 1, before[1] + 1)


# -- killed ------------------------------------------------------------------------------------


def _start(port: int, path: str, value: str, pool: ThreadPoolExecutor) -> None:
    def buy() -> None:
        with suppress(OSError, HTTPException):
            ask(port, path, value)

    pool.submit(buy)


def _until(holds: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while not (outcome := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.02)  # others of their own process tell nobody
    return outcome


def _final_reply(port: int, path: str, value: str) -> Reply:
    """The answer, once nobody else is at it."""

    def poll() -> Reply | None:
        reply = ask(port, path, value)
        return None if b"PAYMENT_IN_PROGRESS" in reply.body else reply

    reply: Reply = _until(poll)
    return reply


def test_killed_with_payments_in_every_state(
    open_shop: Callable[..., Process], facilitator: Facilitator, tmp_path: Path
) -> None:
    """Whoever sends the same again gets what was paid for, once; what was not begun is free."""
    shop = open_shop()
    port = shop.port

    def pay(path: str = REPORT_PATH, **how: str) -> str:
        return payment_header(port, path, Wallet(next(_wallets)), **how)

    with_id, bare = pay(identifier="an-order-of-mine"), pay()
    first = ask(port, REPORT_PATH, with_id)
    assert (first.status, ask(port, REPORT_PATH, bare).status) == (200, 200)
    doubtful = {fault: pay() for fault in ("pending", "lost", "error", "silent")}
    for fault, value in doubtful.items():
        facilitator.faults.extend([fault] * 2)
        assert _final_reply(port, REPORT_PATH, value).status == 500
    settling, working = pay(), pay(SLOW_PATH)
    with ThreadPoolExecutor(2) as pool:
        facilitator.faults.append("wait")
        _start(port, REPORT_PATH, settling, pool)
        assert facilitator.waiting.wait(60)
        before = runs(tmp_path)
        _start(port, SLOW_PATH, working, pool)
        _until(lambda: runs(tmp_path) > before)
        shop.kill()
        before = total(facilitator)
        facilitator.go.set()  # what was asked before the end is done after it
        _until(lambda: total(facilitator) > before)
        (tmp_path / "go").touch()
    shop.start()

    for value in (*doubtful.values(), settling):
        reply = _final_reply(port, REPORT_PATH, value)
        assert (reply.status, reply.settlement["success"]) == (200, True)
        assert ask(port, REPORT_PATH, value).challenge["error"] == USED
    assert _final_reply(port, SLOW_PATH, working).status == 200
    again = ask(port, REPORT_PATH, with_id)
    assert (again.status, again.body) == (200, first.body)
    assert again.fields["payment-response"] == first.fields["payment-response"]
    assert ask(port, REPORT_PATH, bare).challenge["error"] == USED
    assert (total(facilitator), {*facilitator.settlements.values()}) == (8, {1})
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
    values = [payment_header(shop.port, REPORT_PATH, Wallet(next(_wallets))) for _ in range(2)]
    for value in values:
        facilitator.faults.extend(["lost", "lost"])
        assert _final_reply(shop.port, REPORT_PATH, value).status == 500
        again = ask(shop.port, REPORT_PATH, value)
        assert (again.status, again.json["code"]) == (500, "SETTLEMENT_UNKNOWN")
        assert "payment-required" not in again.fields
    shop.kill()

    def command_lines(*line: str) -> list[str]:
        assert main(["payments", *line, "--db", str(tmp_path / "svc.db"), "--json"]) == 0
        return capsys.readouterr().out.splitlines()

    rows = json.loads("".join(command_lines("list", "--state", "unknown")))
    assert len(rows) == 2
    paid_id, failed_id = rows[1]["id"], rows[0]["id"]
    command_lines("reconcile", paid_id, "--settled", f"0x{1:064x}")
    command_lines("reconcile", failed_id, "--failed")
    twice = ["payments", "reconcile", failed_id, "--failed", "--db", str(tmp_path / "svc.db")]
    assert main(twice) == 1
    capsys.readouterr()
    row = json.loads("".join(command_lines("show", f"0x{1:064x}")))
    assert (row["state"], "payload" in row) == ("owed", False)

    shop.start()
    first = ask(shop.port, REPORT_PATH, values[0])
    assert (first.status, first.settlement["success"]) == (200, True)
    assert ask(shop.port, REPORT_PATH, values[0]).challenge["error"] == USED
