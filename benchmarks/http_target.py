# ruff: noqa: TID251
"""One server with one application, for `bench_http.py`; it prints a line once it answers.

    python benchmarks/http_target.py SERVER TARGET PORT

SERVER is `svc` (ours), `hypercorn` or `uvicorn`; TARGET is `floor`, `cached`, `unlogged`,
`uncached` or `fastapi`. The environment names the files: BENCH_DB, BENCH_PAGE, BENCH_PEER_DB,
BENCH_KEY.
"""

import asyncio
import importlib
import os
import sys
from pathlib import Path
from typing import Any, Literal

import uvloop
from hypercorn.asyncio import serve as hypercorn_serve
from hypercorn.config import Config

from svc_core import catalog
from svc_core.access.plans import Plan, PlanTable
from svc_http import settings
from svc_http.adapter.page_cache import PageCache
from svc_http.run.server import hypercorn
from svc_http.service.runtime import application as app
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.stores import SqliteStorage

SECRET = "0123456789abcdef" * 4
RATE_MAX = 1_000_000_000
PLANS = PlanTable.of([Plan(name, True, 9, RATE_MAX, RATE_MAX) for name in ("free", "elite")])
"""Every window is counted; none is ever full."""


def own_service(
    *, is_cached: bool, port: int, log: Literal["all", "off"] = "all"
) -> app.Application:
    """Our service as it is delivered, but for the plan, which is never used up."""
    config = settings.Settings(
        db=os.environ["BENCH_DB"],
        secret=SECRET,
        port=port,
        in_flight_max=10_000,
        request_log=log,
    )
    store = SqliteStorage.open(Path(config.db), catalog.COLLECTIONS, epoch=bytes(8))
    service = app.build(Runtime(config, store, plans=PLANS, closing=[store.close]))
    if not is_cached:
        service.runtime.pages = PageCache(entries_max=0)
    return service


def target(name: str, port: int) -> Any:
    """The application to serve."""
    if name == "floor":
        return importlib.import_module("peers.starlette_floor").app
    if name == "fastapi":
        return importlib.import_module("peers.fastapi_stack").app
    if name == "unlogged":
        return own_service(is_cached=True, port=port, log="off")
    return own_service(is_cached=name == "cached", port=port)


async def on_hypercorn(application: Any, port: int, config: Config) -> None:
    """Hypercorn at its best: uvloop, no log, no server field, long-lived connections."""
    config.bind = [f"127.0.0.1:{port}"]
    config.include_server_header = False
    config.keep_alive_max_requests = RATE_MAX
    config.accesslog = None
    await hypercorn_serve(application, config)


async def on_ours(application: Any, port: int) -> None:
    """Hypercorn with our protocol; a foreign application gets the same one."""
    if isinstance(application, app.Application):
        await hypercorn.serve(application, hypercorn.listen("127.0.0.1", port))
        return
    hypercorn.install()
    await on_hypercorn(application, port, hypercorn.Listening())


def main() -> None:
    """Serve until a signal."""
    kind, name, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    application = target(name, port)
    if kind == "uvicorn":
        uvicorn = importlib.import_module("uvicorn")
        uvicorn.run(application, host="127.0.0.1", port=port, log_level="error", access_log=False)
        return
    work = (
        on_ours(application, port) if kind == "svc" else on_hypercorn(application, port, Config())
    )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


if __name__ == "__main__":
    main()
