"""What one request costs in process, part by part, without a socket: microseconds of CPU.

A page of 20 reports by key, from the same application that the server runs, over a store in
memory: the parts first, then whole requests as an ASGI server would hand them in, answered from
the kept page, answered anew, and refused. Beside them a Starlette route that answers with constant
bytes. All work in turn in short rounds, so that a busy machine slows all; the best round counts.

    python benchmarks/bench_pipeline.py [--quick]

Exit code 3 when a goal is missed or an answer has another status than it should.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from attrs import frozen
from bench_http import PATH, ROWS, row
from http_target import PLANS, SECRET
from outcome import close_run, is_quick
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access.authorization import OperationAccess
from svc_core.access.creation import KeyWish
from svc_core.base import drive, seals
from svc_core.contract import cursor, envelope
from svc_core.contract.result import Page
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.executor import Execution
from svc_core.operation.parsing import Call, prepare
from svc_core.operation.ports import SYSTEM, Transaction
from svc_core.reports.model import REPORTS
from svc_http import system
from svc_http.adapter.page_cache import PageCache
from svc_http.exchange import sending as answers
from svc_http.exchange.fair_shares import Load
from svc_http.exchange.http_exchange import Exchange
from svc_http.service.runtime import application as app
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.settings import Settings
from svc_http.stores import MemoryStorage

RUNS = 100
PAGE = 20
LIST = next(operation for operation in catalog.OPERATIONS if operation.id == "listReports")

GOALS = [
    # what, of what, at most
    ("whole, kept page", "Starlette route", 1.0),
    ("whole, anew", "Starlette route", 3.5),
]


@frozen
class Store:
    """A store in memory with reports, and keys by what becomes of their requests."""

    storage: MemoryStorage
    may: str
    may_not: str
    used_up: str
    revoked_secret: str


def fill() -> Store:
    """The store."""
    storage = MemoryStorage(catalog.COLLECTIONS)
    ring = seals.Keyring({1: SECRET.encode()}, 1)

    async def people(tx: Transaction) -> tuple[str, list[str]]:
        ctx = Context(system.now(), system.SystemIds(), Actor(SYSTEM), "bench", ring, tx=tx)
        place = await accounts.create_workspace(ctx, name="bench", plan="elite", plans=PLANS)
        wishes = [
            KeyWish(name="may", scopes=("reports:read",), workspace_id=place.id),
            KeyWish(name="may not", scopes=("news:read",), workspace_id=place.id),
            KeyWish(name="up", scopes=("reports:read",), workspace_id=place.id, per_day=1),
            KeyWish(name="gone", scopes=("reports:read",), workspace_id=place.id),
        ]
        keys = [await accounts.create_key(ctx, wish, plans=PLANS) for wish in wishes]
        await accounts.revoke_key(ctx, keys[-1].key.id)
        return place.id, [key.secret for key in keys]

    tenant, secrets = drive.run(storage.write(SYSTEM, people))

    async def reports(tx: Transaction) -> None:
        for number in range(ROWS):
            await tx.documents.put(REPORTS, f"rpt_{number:024x}", row(number))

    drive.run(storage.write(tenant, reports))
    return Store(storage, *secrets)


# -- whole requests ----------------------------------------------------------------------------

Work = Callable[[], Awaitable[object]]


def scope(key: str | None, target: str = PATH) -> dict[str, Any]:
    """A request as a server hands it in, with the fields that clients send."""
    path, _, query = target.partition("?")
    headers = [(b"host", b"127.0.0.1:8000"), (b"accept", b"application/json")]
    if key is not None:
        headers.append((b"authorization", b"Bearer " + key.encode()))
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 8000),
    }


async def receive() -> Any:
    """A request without a body."""
    return {"type": "http.request", "body": b"", "more_body": False}


def whole(application: Any, key: str | None, status: int, target: str = PATH) -> Work:
    """One request to its last byte.

    Raises:
        SystemExit: the answer has another status, so that the figure would be of something else.
    """
    request_scope = scope(key, target)

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start" and message["status"] != status:
            raise SystemExit(f"{message['status']} instead of {status}")

    async def request() -> None:
        await application(dict(request_scope), receive, send)

    return request


def service(
    store: Store, *, entries: int, monotonic: Callable[[], float] = system.monotonic
) -> app.Application:
    """The application as it is served, but for the log."""
    config = Settings(db=":memory:", secret=SECRET, request_log="off")
    service_ = app.build(Runtime(config, store.storage, plans=PLANS, monotonic=monotonic))
    service_.runtime.pages = PageCache(entries_max=entries)
    return service_


def floor() -> Starlette:
    """A route that answers with constant bytes of the size of the page."""
    body = b"x" * 11_000

    async def reports(_request: Request) -> Response:
        return Response(body, media_type="application/json")

    return Starlette(routes=[Route(PATH.partition("?")[0], reports)])


async def requests(store: Store) -> dict[str, Work]:
    """Whole requests by name."""
    with_cache, anew = service(store, entries=1_000), service(store, entries=0)
    await whole(with_cache, store.used_up, 200)()  # the only one of its day
    return {
        "Starlette route": whole(floor(), None, 200),
        "whole, kept page": whole(with_cache, store.may, 200),
        "whole, anew": whole(anew, store.may, 200),
        "refused 401": whole(with_cache, store.revoked_secret, 401),
        "refused 401, no key": whole(with_cache, None, 401, "/api/v1/profiles"),
        "refused 403": whole(with_cache, store.may_not, 403),
        "refused 429": whole(with_cache, store.used_up, 429),
    }


# -- parts -------------------------------------------------------------------------------------


async def parts(store: Store) -> dict[str, Work]:
    """Parts of one request by name."""
    # A clock that stands still: a key that is no longer believed would be measured as known.
    service_ = service(store, entries=0, monotonic=lambda: 0.0)
    runtime, now = service_.runtime, system.now()
    access = OperationAccess(scopes=LIST.scopes, auth=LIST.auth)
    exchange = Exchange(scope(store.may), receive, receive, 0, Load(1, str))  # type: ignore[arg-type]
    gate = runtime.gate
    grant = await gate.let_in(access, exchange, gate.facts(exchange), now)
    site = runtime.site(now)
    call = Call({}, PATH.partition("?")[2], exchange.header)
    execution = Execution(prepare(LIST, call, site), grant.actor, now, runtime.service)
    binding = cursor.binding(grant.tenant, LIST.id, {}, "desc")
    ring, nonce = runtime.keyring, bytes(seals.NONCE_BYTES)
    token = cursor.seal(ring, [1_767_225_600_000_000, f"rpt_{7:024x}"], binding, nonce)

    async def scan(tx: Transaction) -> tuple[bytes, ...]:
        page = await tx.documents.scan(REPORTS, limit=PAGE)
        return tuple(document.raw for document in page.rows)

    page: Page[Any] = Page(await store.storage.read(grant.tenant, scan), token)
    reply = await execution.reply()

    def plain(work: Callable[[], object]) -> Work:
        async def once() -> object:
            return work()

        return once

    return {
        "nothing (what measuring costs)": plain(lambda: None),
        "request id": plain(system.new_request_id),
        "gate": plain(lambda: gate.admit(access, exchange, gate.facts(exchange), now)),
        "prepare": plain(lambda: prepare(LIST, call, site)),
        "cursor opened": plain(lambda: cursor.unseal(ring, token, binding)),
        "cursor sealed": plain(lambda: cursor.seal(ring, [7, "rpt_7"], binding, nonce)),
        "scan of 20 rows in memory": lambda: store.storage.read(grant.tenant, scan),
        "envelope": plain(lambda: envelope.page_body(page, next_link="https://x/", aliases=True)),
        "use case, page and envelope": execution.reply,
        "constant header fields": plain(lambda: answers.ready(LIST, reply)),
    }


# -- measuring ---------------------------------------------------------------------------------


async def microseconds(works: dict[str, Work], rounds: int) -> dict[str, float]:
    """The CPU time of one of each, from its best round."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            start = time.process_time()
            for _ in range(RUNS):
                await work()
            best[name] = min(best[name], (time.process_time() - start) / RUNS * 1e6)
    return best


async def run(rounds: int) -> int:
    """Measure, print, judge; the exit code."""
    store = fill()
    works = await requests(store)
    costs = await microseconds({**await parts(store), **works}, rounds)
    for name, cost in costs.items():
        print(f"{name:<34}{cost:>9.2f} us")
    print()
    ratios = [costs[name] / costs[beside] for name, beside, _ in GOALS]
    is_met = all(ratio <= limit for ratio, (*_, limit) in zip(ratios, GOALS, strict=True))
    return close_run(is_met, "a cached page {:.1f}, a new one {:.1f}".format(*ratios))


def main() -> int:
    """Run it in a loop."""
    return asyncio.run(run(30 if is_quick() else 200))


if __name__ == "__main__":
    sys.exit(main())
