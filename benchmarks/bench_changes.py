"""Catching up with the change feed, by stream and by page, beside a file of the same bytes.

One server process, ours, has a feed in SQLite and, as a route of its host, the bytes of the whole
stream as a file. One client on one connection reads all three to the end, in turn; the ratios are
the medians of the turns.

    python benchmarks/bench_changes.py [--quick]
"""

import asyncio
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from outcome import close_run, is_quick
from starlette.responses import FileResponse
from starlette.routing import Route

from svc_core.access import operations as accounts
from svc_core.access.creation import KeyWish
from svc_core.access.plans import Plan, PlanTable
from svc_core.base.seals import Keyring
from svc_core.catalog import COLLECTIONS
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Change
from svc_http import system
from svc_http.run.server import hypercorn
from svc_http.service.runtime import application
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.service.service_units import Service
from svc_http.settings import Settings
from svc_http.stores import SqliteStorage

STREAM_GOAL, PAGE_GOAL = 0.02, 0.02
"""Of the file's rate, which costs the server little more than the system call: a row of the feed is
read, placed and rendered, some 15 microseconds for 340 bytes."""
SECRET = "0123456789abcdef" * 4
RATE_MAX = 1_000_000_000
PLANS = PlanTable.of([Plan("free", True, 9, RATE_MAX, RATE_MAX)])
BATCH = 1_000
LAST = "prf_" + "f" * 24


async def fill(path: Path, rows: int) -> str:
    """Make a feed of so many rows; a key that reads it."""
    storage = SqliteStorage.open(path, COLLECTIONS, epoch=bytes(8))
    keys = Keyring({1: SECRET.encode()}, 1)
    service = Service(storage, system.SystemIds(), system.now, keys, plans=PLANS)

    async def key(ctx: Context) -> tuple[str, str]:
        home = await accounts.create_workspace(ctx, name="W", plan="free", plans=PLANS)
        wish = KeyWish(name="k", scopes=("osint:read",), workspace_id=home.id)
        return home.id, (await accounts.create_key(ctx, wish, plans=PLANS)).secret

    tenant, secret = await service.write(SYSTEM, key)
    for begin in range(0, rows, BATCH):

        async def unit(ctx: Context, begin: int = begin) -> None:
            for at in range(begin, min(begin + BATCH, rows)):
                id_ = LAST if at == rows - 1 else ctx.ids.new("prf")
                path = f"/api/v1/profiles/{id_}"
                id_of = ctx.ids.new("chg")
                await ctx.tx.changes.append(
                    Change(id_of, "created", "profile", id_, 1, ctx.now, path, everybody=False)
                )

        await service.write(tenant, unit)
    await storage.close()
    return secret


# -- the server --------------------------------------------------------------------------------


def serve(path: str, file: str, port: int) -> None:
    """Our service with the file beside it."""

    async def static(_request: object) -> FileResponse:
        return FileResponse(file, media_type="text/event-stream")

    store = SqliteStorage.open(Path(path), COLLECTIONS, epoch=bytes(8))
    settings = Settings(db=path, secret=SECRET, port=port, request_log="off")
    routes = [Route("/static", static)]
    runtime = Runtime(settings, store, plans=PLANS, closing=[store.close])
    service = application.build(runtime, routes=routes)
    hypercorn.run_hypercorn(service, lambda *_: print("ready", flush=True))


@contextmanager
def serving(path: Path, file: Path) -> Iterator[int]:
    """The port of a server in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line = [sys.executable, __file__, "--serve", path, file, port]
    running = subprocess.Popen(
        list(map(str, line)),
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,  # noqa: TID251
    )
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        yield port
    finally:
        running.terminate()
        running.wait()


# -- the client --------------------------------------------------------------------------------


def read_stream(port: int, fields: dict[str, str]) -> bytes:
    """The stream from the beginning to the last row."""
    line = http.client.HTTPConnection("127.0.0.1", port)
    line.request("GET", "/api/v2/changes?tail=true", headers=fields)
    answer, parts = line.getresponse(), []
    while True:
        part = answer.read1(65_536)
        parts.append(part)
        if LAST.encode() in part or LAST.encode() in b"".join(parts[-2:]):
            line.close()
            return b"".join(parts)


def read_pages(port: int, fields: dict[str, str]) -> int:
    """All pages of the feed; how many bytes they had."""
    line = http.client.HTTPConnection("127.0.0.1", port)
    size, mark = 0, ""
    while True:
        line.request("GET", f"/api/v2/changes?limit=100{mark}", headers=fields)
        body = line.getresponse().read()
        size += len(body)
        page = json.loads(body[body.rindex(b'"meta":') - 1 :].replace(b',"meta"', b'{"meta"', 1))
        if page["links"]["next"] is None:
            line.close()
            return size
        mark = f"&after={page['meta']['watermark']}"


def static(port: int) -> int:
    """The file; how many bytes it had."""
    line = http.client.HTTPConnection("127.0.0.1", port)
    line.request("GET", "/static")
    size = len(line.getresponse().read())
    line.close()
    return size


def turn(port: int, fields: dict[str, str]) -> tuple[float, float, float]:
    """MB a second by stream, by page and of the file."""
    rates = []
    for read in (lambda: len(read_stream(port, fields)), lambda: read_pages(port, fields)):
        began = time.perf_counter()
        size = read()
        rates.append(size / (time.perf_counter() - began) / 1e6)
    began = time.perf_counter()
    size = sum(static(port) for _ in range(10))
    rates.append(size / (time.perf_counter() - began) / 1e6)
    return rates[0], rates[1], rates[2]


def main() -> int:
    """Measure, print, judge."""
    turns, rows = (3, 20_000) if is_quick() else (5, 100_000)
    with TemporaryDirectory() as folder:
        path, file = Path(folder) / "svc.db", Path(folder) / "changes.sse"
        key = asyncio.run(fill(path, rows))
        fields = {"Authorization": f"Bearer {key}"}
        with serving(path, file) as port:
            file.write_bytes(read_stream(port, fields))
            runs = [turn(port, fields) for _ in range(turns)]
        size = file.stat().st_size
    by_stream, by_page, of_file = (median(column) for column in zip(*runs, strict=True))
    ratios = [median(run[at] / run[2] for run in runs) for at in (0, 1)]
    print(f"{rows} rows, {size / 1e6:.1f} MB as a stream, {turns} turns")
    row_bytes = size / rows
    print(f"file    {of_file:7.1f} MB/s")
    print(
        f"stream  {by_stream:7.1f} MB/s  {by_stream * 1e6 / row_bytes:8.0f} rows/s  "
        f"ratio {ratios[0]:.3f}, goal {STREAM_GOAL}"
    )
    print(f"pages   {by_page:7.1f} MB/s  ratio {ratios[1]:.3f}, goal {PAGE_GOAL}")
    is_met = ratios[0] >= STREAM_GOAL and ratios[1] >= PAGE_GOAL
    return close_run(is_met, f"{ratios[0]:.3f} by stream, {ratios[1]:.3f} by page")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        sys.exit(main())
