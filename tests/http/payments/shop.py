"""A shop that takes payments over a socket, the facilitator that it asks, and its customers.

    python -m tests.http.payments.shop DB FACILITATOR PORT FOLDER

serves one in a process of its own; what its handlers did stands in FOLDER.
"""

import asyncio
import http.client
import json
import socket
import sys
import threading
import time
from base64 import b64decode
from collections import Counter, deque
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from attrs import frozen

from svc_core import catalog, wire
from svc_core.base.unset import UNSET, Maybe
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Single
from svc_core.operation.context import Context
from svc_core.operation.declaration import (
    PATH,
    QUERY,
    T3_ENRICHED,
    T4_PREMIUM_LIST,
    T4_PREMIUM_SINGLE,
    Operation,
)
from svc_core.payments.messages import PaymentRequirements
from svc_core.wire.constraints import IdOf
from svc_http import stores as storage
from svc_http import system
from svc_http.exchange.http_exchange import Exchange
from svc_http.outside.facilitators.x402 import payment_provider
from svc_http.run.server import hypercorn
from svc_http.service.runtime import application as app
from svc_http.service.runtime import tasks
from svc_http.service.runtime.runtime_state import Providers, Runtime
from svc_http.service.workers.payment_recovery import lapse_payments
from svc_http.settings import Settings
from tests.nursery import DEVNULL, program
from tests.wallets import Wallet, field

PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
SECRET = "0123456789abcdef" * 4
REPORT, OTHER, MISSING, BROKEN, LARGE, SLOW = (f"rpt_{digit * 24}" for digit in "123456")
LARGE_BYTES = 17 * 1024 * 1024
SECONDS = 60.0


# -- what is sold ------------------------------------------------------------------------------


@frozen
class AskReport:
    report_id: Annotated[str, PATH, IdOf("rpt")]


@frozen
class AskReports:
    limit: Annotated[int, QUERY] = 20
    note: Annotated[Maybe[str], QUERY] = UNSET


@frozen
class Report:
    id: str
    text: str


def shop_operations(folder: Path) -> tuple[Operation[Any, Any], ...]:
    """The operations of the shop; each run of a handler is a line in a file of `folder`."""

    def ran(operation_id: str) -> None:
        with (folder / "runs").open("a") as runs:
            runs.write(f"{operation_id}\n")

    async def get_report(ctx: Context, request: AskReport) -> Single[Report]:
        ran(request.report_id)
        if request.report_id == MISSING:
            raise Problem(problem.NOT_FOUND)
        if request.report_id == BROKEN:
            raise RuntimeError("broken")
        text = "x" * LARGE_BYTES if request.report_id == LARGE else "secret words"
        while request.report_id == SLOW and not (folder / "go").exists():
            time.sleep(0.01)  # noqa: ASYNC251 - units of work run in threads
        return Single(wire.to_bytes(Report(request.report_id, text)), (request.report_id, 1))

    async def get_reports(ctx: Context, request: AskReports) -> Single[Report]:
        ran("reports")
        return Single(wire.to_bytes(Report("all", f"{request.limit} secret words")))

    def priced(id_: str, path: str, request: Any, run: Any, tier: Any) -> Operation[Any, Any]:
        return Operation(
            id=id_,
            method="GET",
            path=path,
            summary=f"{id_}.",
            description=f"{id_}.",
            request=request,
            response=Single[Report],
            run=run,
            scopes=frozenset({"reports:read"}),
            auth="bearer-or-x402",
            tier=tier,
            tag="Reports",
        )

    return (
        priced("getReport", "/reports/{reportId}", AskReport, get_report, T4_PREMIUM_SINGLE),
        priced("getGraph", "/reports/{reportId}/graph", AskReport, get_report, T3_ENRICHED),
        priced("listReports", "/reports", AskReports, get_reports, T4_PREMIUM_LIST),
    )


# -- who settles -------------------------------------------------------------------------------


class Facilitator:
    """One over HTTP that says yes, fails as it is told, and knows what it did.

    `faults` are those of the next payment, one for each time it asks: "refused", "pending",
    "error", "silent" (nothing is done, no answer), "lost" (it is done, no answer) and "wait" (it
    is done once `go` is set).
    One that is `idempotent` answers a second settlement as it did the first.
    """

    def __init__(self) -> None:
        self.faults: deque[str] = deque()
        self.is_idempotent = True
        self.verifies: str | None = None
        self.settlements: Counter[str] = Counter()
        self.requests: Counter[str] = Counter()
        self.amounts: list[str] = []
        self.go, self.waiting = threading.Event(), threading.Event()
        self._hashes: dict[str, str] = {}
        self._plans: dict[str, deque[str]] = {}
        self._lock = threading.Lock()
        self._numbers = count(1)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                reply = outer.answer(self.path, body["paymentPayload"])
                if reply is None:
                    self.close_connection = True
                    return
                self._say(*reply)

            def do_GET(self) -> None:
                kind = {"x402Version": 2, "scheme": "exact", "network": "eip155:84532"}
                self._say(200, {"kinds": [kind], "extensions": [], "signers": {}})

            def _say(self, status: int, members: Any) -> None:
                body = json.dumps(members).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.go.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, payload: Any) -> tuple[int, Any] | None:
        """The status and the members of an answer; None for none."""
        authorization = payload["payload"]["authorization"]
        payer, nonce = authorization["from"], authorization["nonce"].lower()
        if path == "/verify":
            if self.verifies is not None:
                return 200, {"isValid": False, "invalidReason": self.verifies, "payer": payer}
            return 200, {"isValid": True, "payer": payer}
        with self._lock:
            plan = self._plans.setdefault(nonce, deque())
            if not self.requests[nonce]:
                plan.extend(self.faults)
                self.faults.clear()
            self.requests[nonce] += 1
            fault = plan.popleft() if plan else ""
        network = payload["accepted"]["network"]
        answer = {"success": False, "transaction": "", "network": network, "payer": payer}
        if fault == "refused":
            return 200, {**answer, "errorReason": "insufficient_funds"}
        if fault == "error":
            return 500, {"oops": True}
        if fault == "silent":
            return None
        if fault == "wait":
            self.waiting.set()
            self.go.wait(SECONDS)
        is_new = self._settle(nonce, authorization["value"])
        if fault == "lost":
            return None
        answer["transaction"] = self._hashes[nonce]
        if fault == "pending":  # as some of them say it
            return 500, {**answer, "errorReason": "settlement_pending"}
        if not is_new and not self.is_idempotent:
            reason = "invalid_exact_evm_nonce_already_used"
            return 200, {**answer, "transaction": "", "errorReason": reason}
        return 200, {**answer, "success": True}

    def _settle(self, nonce: str, amount: str) -> bool:
        with self._lock:
            is_new = nonce not in self._hashes
            if is_new:
                self._hashes[nonce] = f"0x{next(self._numbers):064x}"
                self.settlements[nonce] += 1
                self.amounts.append(amount)
            return is_new


# -- who sells ---------------------------------------------------------------------------------


def settings(facilitator: str, **members: Any) -> Settings:
    usual = {
        "secret": SECRET,
        "base_url": "https://shop.example",
        "x402_pay_to": PAYEE,
        "x402_facilitator": facilitator,
        "x402_settle_seconds": 1,
        "env": "development",
        "log_level": "error",
    }
    return Settings(**{**usual, **members})


async def serve(
    settings_: Settings,
    db: str,
    folder: Path,
    listening: socket.socket,
    ready: Any = None,
    clock: Callable[[], datetime] = system.now,
) -> None:
    """Serve until told to stop, with the reconciler beside it."""
    store = await storage.open(db, catalog.COLLECTIONS)
    payments = payment_provider(settings_)
    assert payments is not None
    runtime = Runtime(
        settings_,
        store,
        now=clock,
        providers=Providers(payments=payments),
        workers=(tasks._reconcile,),
    )
    service = app.build(runtime, shop_operations(folder))
    assert service.runtime.checkout is not None
    if not db.startswith("postgres"):
        await lapse_payments(service.runtime.checkout.checkout, print)
    if ready is not None:
        ready(service, asyncio.get_running_loop())

    def on_ready(*_: object) -> None:
        sys.stdout.write("ready\n")
        sys.stdout.flush()

    await hypercorn.serve(service, listening, on_ready, signals=False)
    await payments.aclose()
    await store.close()


class Shop:
    """One in a thread of this process."""

    def __init__(
        self,
        folder: Path,
        facilitator: Facilitator,
        clock: Callable[[], datetime] = system.now,
        **members: Any,
    ):
        self.folder, self.facilitator = folder, facilitator
        self.listening = hypercorn.listen("127.0.0.1", 0)
        self.port = self.listening.getsockname()[1]
        self._up = threading.Event()
        settings_ = settings(facilitator.url, **members)

        def run() -> None:
            with asyncio.Runner(loop_factory=hypercorn.loop_factory()) as runner:
                runner.run(serve(settings_, ":memory:", folder, self.listening, self._ready, clock))

        self._thread = threading.Thread(target=run)
        self._thread.start()
        assert self._up.wait(SECONDS)

    def _ready(self, service: app.Application, loop: asyncio.AbstractEventLoop) -> None:
        self.service, self.loop = service, loop
        self._up.set()

    def do(self, work: Any) -> Any:
        """Do something on the loop of the shop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(SECONDS)

    def stop(self) -> None:
        with suppress(RuntimeError):  # it has stopped by itself
            self.loop.call_soon_threadsafe(self.service.drain)
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds that is looked at after every commit."""
        commits = self.service.runtime.commits
        version = commits.version
        while not holds():
            assert self.do(commits.after(version, SECONDS))
            version = commits.version

    def until_noticed(self) -> None:
        """Wait until clients that left are known to have."""

        async def wait() -> None:
            for task in asyncio.all_tasks():
                coroutine = task.get_coro()
                if getattr(coroutine, "__qualname__", "") == Exchange.wait_closed.__qualname__:
                    await asyncio.wait([task])

        self.do(wait())

    @property
    def runs(self) -> int:
        return runs(self.folder)

    @property
    def metrics(self) -> str:
        return ask(self.port, "/metrics").body.decode()


def runs(folder: Path) -> int:
    """How often a handler ran."""
    path = folder / "runs"
    return len(path.read_text().splitlines()) if path.exists() else 0


SHOP = """
import sys
from tests.http.payments import shop
shop.main(*sys.argv[1:])
"""


class Process:
    """One in a process of its own, to be killed."""

    def __init__(self, folder: Path, facilitator: Facilitator, db: str) -> None:
        self._listening = hypercorn.listen("127.0.0.1", 0)
        self.port = self._listening.getsockname()[1]
        self._listening.close()
        self._line = [db, facilitator.url, str(self.port), str(folder)]
        self.start()

    def start(self) -> None:
        self.process = program(SHOP, *self._line, stderr=DEVNULL)
        assert self.process.stdout.readline() == "ready\n"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(SECONDS)
        self.process.stdout.close()


# -- who buys ----------------------------------------------------------------------------------


class Reply(NamedTuple):
    """An answer, its fields in lower case."""

    status: int
    fields: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def challenge(self) -> Any:
        return decode_header(self.fields["payment-required"])

    @property
    def settlement(self) -> Any:
        return decode_header(self.fields["payment-response"])


def decode_header(value: str) -> Any:
    return json.loads(b64decode(value, validate=True))


def ask(port: int, path: str, *payments: str, method: str = "GET", **fields: str) -> Reply:
    """One answer over a connection of its own."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)) as to:
        to.putrequest(method, path)
        for value in payments:
            to.putheader("PAYMENT-SIGNATURE", value)
        for name, value in fields.items():
            to.putheader(name.replace("_", "-"), value)
        to.endheaders()
        answer = to.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return Reply(answer.status, headers, answer.read())


def terms_at(port: int, path: str) -> PaymentRequirements:
    """What a request is asked to pay."""
    terms = ask(port, path).challenge["accepts"][0]
    return wire.structure(PaymentRequirements, terms)


_nonces = count(1)


def payment(port: int, path: str, wallet: Wallet, **how: Any) -> dict[str, Any]:
    """A payment for a request, as the standard clients make it, with a nonce of its own."""
    terms = terms_at(port, path)
    return wallet.payment(terms, int(time.time()), next(_nonces), **how)


def payment_header(port: int, path: str, wallet: Wallet, **how: Any) -> str:
    """The field of a payment for a request."""
    return field(payment(port, path, wallet, **how))


def main(db: str, facilitator: str, port: str, folder: str) -> None:
    """A shop in a process of its own."""
    asyncio.run(
        serve(
            settings(facilitator, port=int(port)),
            db,
            Path(folder),
            hypercorn.listen("127.0.0.1", int(port)),
        )
    )
