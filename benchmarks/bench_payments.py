"""What paying for a request adds to it, part by part; and what judging a signature costs.

One change-feed page, from the application that the server runs over a SQLite file, handed in as a
server would: by key, then with a payment that is settled by the play money of this process, so that
neither network nor chain is in it. A hosted facilitator adds two exchanges with it and a block or
two of its chain, which is seconds. Beside the judging of a payment stands `eth-account`, which
recovers the same signer.

    python benchmarks/bench_payments.py [--quick]

Exit code 3 when a goal is missed or an answer has another status than it should. Needs:
pip install coincurve pycryptodome eth-account
"""

import asyncio
import json
import secrets
import statistics
import sys
import tempfile
import time
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
from bench_pipeline import scope
from eth_account import Account
from eth_account.messages import encode_typed_data
from http_target import PLANS, SECRET
from outcome import close_run, is_quick

from svc_core import catalog, wire
from svc_core.access import operations as accounts
from svc_core.access.creation import KeyWish
from svc_core.access.scopes import SCOPES
from svc_core.base.seals import Keyring
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Transaction
from svc_core.payments import header as headers
from svc_core.payments.challenge import offer
from svc_core.payments.evm import Judge
from svc_http import system
from svc_http.outside.facilitators.x402 import payment_provider
from svc_http.service.runtime import application
from svc_http.service.runtime.runtime_state import Providers, Runtime
from svc_http.settings import Settings
from svc_http.stores import SqliteStorage

PATH = "/api/v2/changes?limit=1"
PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
TYPE = [
    *({"name": name, "type": "address"} for name in ("from", "to")),
    *({"name": name, "type": "uint256"} for name in ("value", "validAfter", "validBefore")),
    {"name": "nonce", "type": "bytes32"},
]
GOAL_RATIO = 1.0
GOAL_MS = 25.0
"""Added to a request, without the facilitator: a tenth of what one exchange with it takes."""


class Stopwatch:
    """How long each call of a port took, by what the call is for."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def of(self, port: Any, *names: str) -> Any:
        """The port, with these calls timed."""

        class TimedPort:
            def __getattr__(_, name: str) -> Any:  # noqa: N805 - the port is meant
                member = getattr(port, name)
                return self.time_call(name, member) if name in names else member

        return TimedPort()

    def time_call(self, name: str, call_: Callable[..., Any]) -> Callable[..., Any]:
        """The call, timed."""

        async def call(*arguments: Any, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return await call_(*arguments, **options)
            finally:
                self.seconds[name].append(time.perf_counter() - began)

        return call


def sign(account: Any, terms: Any, judge: Judge) -> tuple[dict[str, Any], Any]:
    """A payment as clients send it, and what `eth-account` is asked to judge of it."""
    authorization = {
        "from": account.address,
        "to": terms.pay_to,
        "value": terms.amount,
        "validAfter": "0",
        "validBefore": str(int(time.time()) + 3_600),
        "nonce": f"0x{secrets.token_hex(32)}",
    }
    domain = {
        **terms.extra,
        "chainId": int(judge.network.id.partition(":")[2]),
        "verifyingContract": terms.asset,
    }
    message = {name: int(v) if v.isdigit() else v for name, v in authorization.items()}
    message["nonce"] = bytes.fromhex(authorization["nonce"][2:])
    types = {"TransferWithAuthorization": TYPE}
    signature = account.sign_typed_data(domain, types, message).signature
    payload = {"signature": f"0x{bytes(signature).hex()}", "authorization": authorization}
    payment = {"x402Version": 2, "accepted": wire.to_json(terms), "payload": payload}
    return payment, lambda: Account.recover_message(
        encode_typed_data(domain, types, message), signature=signature
    )


async def whole(service: Any, status: int, **fields: str) -> float:
    """Seconds of one request to its last byte."""
    request_scope = scope(None, PATH)
    request_scope["headers"] += [
        (name.replace("_", "-").encode(), v.encode()) for name, v in fields.items()
    ]
    bodies = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Any:
        return bodies.pop() if bodies else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start" and message["status"] != status:
            raise SystemExit(f"{message['status']} instead of {status}")

    began = time.perf_counter()
    await service(request_scope, receive, send)
    return time.perf_counter() - began


async def requests(folder: Path, count: int) -> tuple[dict[str, list[float]], list[Any]]:
    """The times of requests by key and with payments, in turn, and of the parts of the latter."""
    config = Settings(
        db=str(folder / "bench.db"), secret=SECRET, x402_pay_to=PAYEE, rate_limits=False
    )
    config = attrs.evolve(config, request_log="off")
    store = SqliteStorage.open(Path(config.db), catalog.COLLECTIONS, epoch=bytes(8))
    paid = payment_provider(config)
    if paid is None:
        raise AssertionError("the settings name a payee")
    clock = Stopwatch()
    paid = attrs.evolve(paid, facilitator=clock.of(paid.facilitator, "verify", "settle"))
    timed_store = clock.of(store, "write")
    providers = Providers(payments=paid)
    runtime = Runtime(config, timed_store, plans=PLANS, providers=providers, closing=[store.close])
    service = application.build(runtime)
    await service.runtime.start()
    key = await a_key(store)
    clock.seconds.clear()
    operation = next(op for op in catalog.OPERATIONS if op.id == "listChanges")
    terms_ = offer(operation, paid.terms).requirements  # type: ignore[union-attr]
    judge, account = Judge(paid.terms.network, paid.crypto), Account.create()
    payments = [sign(account, terms_, judge) for _ in range(count)]
    for payload, _ in payments:
        value = b64encode(json.dumps(payload).encode()).decode()
        clock.seconds["by key"].append(await whole(service, 200, authorization=f"Bearer {key}"))
        clock.seconds["paid"].append(await whole(service, 200, payment_signature=value))
        began = time.perf_counter()
        header = headers.parse_payment((value,))
        clock.seconds["parse"].append(time.perf_counter() - began)
        now, payment_fields = int(system.now().timestamp()), header.payload.payload
        began = time.perf_counter()
        fault = judge.fault(
            payment_fields.authorization,
            payment_fields.signature,
            pay_to=PAYEE,
            amount=terms_.amount,
            now=now,
        )
        clock.seconds["judge"].append(time.perf_counter() - began)
        if fault is not None:
            raise SystemExit(f"a good payment was refused: {fault}")
    await service.runtime.stop()
    return clock.seconds, [recover for _, recover in payments]


async def a_key(store: SqliteStorage) -> str:
    """A key that may read the feed."""
    ring = Keyring({1: SECRET.encode()}, 1)

    async def create(tx: Transaction) -> str:
        ctx = Context(system.now(), system.SystemIds(), Actor(SYSTEM), "bench", ring, tx=tx)
        place = await accounts.create_workspace(ctx, name="bench", plan="elite", plans=PLANS)
        wish = KeyWish(name="bench", scopes=tuple(SCOPES), workspace_id=place.id)
        return (await accounts.create_key(ctx, wish, plans=PLANS)).secret

    return await store.write(SYSTEM, create)


def main() -> int:
    """Print the table; `GOAL_MISSED` when a goal is missed."""
    count = 30 if is_quick() else 300
    with tempfile.TemporaryDirectory() as folder:
        times, recovers = asyncio.run(requests(Path(folder), count))
    peers = []
    for recover in recovers:
        began = time.perf_counter()
        recover()
        peers.append(time.perf_counter() - began)
    middle = {name: statistics.median(times) * 1e3 for name, times in times.items()}
    writes = len(times["write"]) / count
    overhead = middle["paid"] - middle["by key"]
    rows = [
        ("request by key", middle["by key"]),
        ("request that is paid for", middle["paid"]),
        ("  added", overhead),
        ("  of it parse", middle["parse"]),
        ("  judge: window, amount, signer", middle["judge"]),
        ("  verify: play money, no network", middle["verify"]),
        (f"  reserve, begin to settle, send: {writes:.1f} writes", middle["write"] * writes),
        ("  settle: play money, no network", middle["settle"]),
    ]
    rows.append(
        ("  the rest: the page anew, its receipt, wake-ups", overhead - sum(v for _, v in rows[3:]))
    )
    for name, value in rows:
        print(f"{name:48} {value:8.3f} ms")
    ratio = min(peers) / min(times["judge"])
    print(f"{'eth-account: the signer alone':48} {statistics.median(peers) * 1e3:8.3f} ms")
    is_met = ratio >= GOAL_RATIO and overhead <= GOAL_MS
    return close_run(is_met, f"{overhead:.1f} ms more; {ratio:.1f} times as fast")


if __name__ == "__main__":
    sys.exit(main())
