# ruff: noqa: TID251
"""A list of 20 reports by key over HTTP, beside a Starlette route that does nothing else.

Every server runs at once and is asked in turn, pinned to one core with the load on the other, so
that a busy machine slows all. The measure is the server's CPU time for one request, read from
/proc; requests a second are shown beside it.

All get the same URL and header fields, and give the same bytes; all run on uvloop, uvicorn with
httptools, without access logs. `hypercorn` is Hypercorn as it comes, `svc` is Hypercorn as we
serve with it. Ours is measured with the log that it has by default, one line a request, written
to /dev/null; `unlogged` is `cached` without it.

    python benchmarks/bench_http.py [--quick]

Exit code 3 when a ratio misses its goal or any answer is no 200. Needs Linux, `wrk`, and
pip install fastapi slowapi aiosqlite orjson "uvicorn[standard]"
"""

import asyncio
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from http_target import PLANS, SECRET
from outcome import close_run, is_quick

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access.creation import KeyWish
from svc_core.base.seals import Keyring
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Transaction
from svc_core.reports.model import REPORTS, Period, ReportCounts, ReportLinks, ReportRow
from svc_http import system
from svc_http.stores import SqliteStorage

FOLDER = Path(__file__).parent
ROWS = 2_000
PATH = "/api/v1/reports?limit=20"
CONNECTIONS = 32
TICKS = os.sysconf("SC_CLK_TCK")
FIRST = datetime(2026, 1, 1, tzinfo=UTC)

TARGETS = [
    ("hypercorn", "floor"),
    ("hypercorn", "cached"),
    ("hypercorn", "uncached"),
    ("svc", "floor"),
    ("svc", "cached"),
    ("svc", "unlogged"),
    ("svc", "uncached"),
    ("uvicorn", "floor"),
    ("uvicorn", "cached"),
    ("uvicorn", "unlogged"),
    ("uvicorn", "uncached"),
    ("uvicorn", "fastapi"),
]

PAIRS = [
    # what, beside what, without a goal
    (("svc", "cached"), ("svc", "floor")),
    (("svc", "uncached"), ("svc", "floor")),
    (("hypercorn", "cached"), ("hypercorn", "floor")),
    (("svc", "unlogged"), ("hypercorn", "floor")),
    (("uvicorn", "unlogged"), ("uvicorn", "floor")),
]
"""The floor on our own Hypercorn protocol, ours on the stock one, and ours without its log."""

GOALS = [
    # what, of what, at least
    (("svc", "uncached"), ("hypercorn", "floor"), 0.60),
    (("svc", "cached"), ("hypercorn", "floor"), 0.85),
    (("uvicorn", "uncached"), ("uvicorn", "floor"), 0.38),
    (("uvicorn", "cached"), ("uvicorn", "floor"), 0.85),
    (("uvicorn", "uncached"), ("uvicorn", "fastapi"), 7.0),
]


# -- what is served ----------------------------------------------------------------------------


def row(number: int) -> ReportRow:
    """One report of the size that real ones have."""
    id_ = f"rpt_{number:024x}"
    instant = FIRST + timedelta(minutes=number)
    path = f"/api/v1/reports/{id_}"
    return ReportRow(
        id=id_,
        profile_id=f"prf_{number % 7:024x}",
        title=f"Report {number}: harbours, markets and weather of the day",
        summary="Dockworkers joined the walkout that began elsewhere on the day before. " * 2,
        language="en",
        generated_at=instant,
        period=Period(instant - timedelta(days=1), instant),
        status="ready",
        has_audio=False,
        counts=ReportCounts(12, 3, 20, 4),
        links=ReportLinks(path, None, f"{path}/graph", f"{path}/signals", f"{path}/text"),
    )


async def fill(path: Path) -> str:
    """A store with a workspace, its key and its reports; the key's secret."""
    store = SqliteStorage.open(path, catalog.COLLECTIONS, epoch=bytes(8))

    def context(tx: Transaction, tenant: str) -> Context:
        ring = Keyring({1: SECRET.encode()}, 1)
        return Context(system.now(), system.SystemIds(), Actor(tenant), "bench", ring, tx=tx)

    async def account(tx: Transaction) -> tuple[str, str]:
        ctx = context(tx, SYSTEM)
        place = await accounts.create_workspace(ctx, name="bench", plan="elite", plans=PLANS)
        wish = KeyWish(name="bench", scopes=("reports:read",), workspace_id=place.id)
        return place.id, (await accounts.create_key(ctx, wish, plans=PLANS)).secret

    tenant, secret = await store.write(SYSTEM, account)

    async def reports(tx: Transaction) -> None:
        for number in range(ROWS):
            await tx.documents.put(REPORTS, f"rpt_{number:024x}", row(number))

    await store.write(tenant, reports)
    await store.close()
    return secret


def fill_peer(path: Path) -> None:
    """The same rows in a table as one would write it by hand."""
    with sqlite3.connect(path) as connection:
        connection.execute(
            "create table reports (id text primary key, profile_id text, title text, "
            "summary text, language text, generated_at text, start text, end text, sources int)"
        )
        connection.execute("create index newest on reports (generated_at, id)")
        rows = [
            (r.id, r.profile_id, r.title, r.summary, r.language, r.generated_at.isoformat(),
             r.period.start.isoformat(), r.period.end.isoformat(), r.counts.sources)
            for r in map(row, range(ROWS))
        ]  # fmt: skip
        connection.executemany("insert into reports values (?,?,?,?,?,?,?,?,?)", rows)
    connection.close()


# -- servers -----------------------------------------------------------------------------------


class Server:
    """One server process."""

    def __init__(self, kind: str, name: str, environment: dict[str, str]) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.name = (kind, name)
        self.cpu: list[float] = []
        self.rate: list[float] = []
        self.process = subprocess.Popen(
            ["taskset", "-c", "0", sys.executable, FOLDER / "http_target.py", kind, name,
             str(self.port)],
            env=environment,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def get(self, key: str) -> bytes:
        """One page."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{PATH}", headers={"Authorization": f"Bearer {key}"}
        )
        with urllib.request.urlopen(request, timeout=5) as response:
            body: bytes = response.read()
        return body

    def wait(self, key: str) -> bytes:
        """The first page it gives."""
        for _ in range(200):
            try:
                return self.get(key)
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"{self.name} does not answer")

    def load(self, key: str, seconds: int) -> None:
        """Ask it for a while."""
        before = self._ticks()
        done = subprocess.run(
            ["taskset", "-c", "1", "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s",
             "-H", f"Authorization: Bearer {key}", f"http://127.0.0.1:{self.port}{PATH}"],
            capture_output=True,
            text=True,
            check=True,
        )  # fmt: skip
        if "Non-2xx" in done.stdout:
            raise SystemExit(f"{self.name} refused:\n{done.stdout}")
        match = re.search(r"(\d+) requests in", done.stdout)
        requests = int(match[1]) if match else 0
        self.cpu.append((self._ticks() - before) / TICKS / requests * 1e6)
        self.rate.append(requests / seconds)

    def _ticks(self) -> int:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def stop(self) -> None:
        """End it."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)


def measure(folder: Path, *, rounds: int, seconds: int) -> dict[tuple[str, str], Server]:
    """All targets, asked in turn."""
    key = asyncio.run(fill(folder / "svc.db"))
    fill_peer(folder / "peer.db")
    page = folder / "page.json"
    servers: list[Server] = []
    try:
        for number, (kind, name) in enumerate([("uvicorn", "uncached"), *TARGETS]):
            own = folder / f"svc{number}.db"  # one process owns a file
            own.write_bytes((folder / "svc.db").read_bytes())
            environment = {
                **os.environ,
                "PYTHONPATH": os.pathsep.join((str(FOLDER.parent), str(FOLDER))),
                "BENCH_DB": str(own),
                "BENCH_PAGE": str(page),
                "BENCH_PEER_DB": str(folder / "peer.db"),
                "BENCH_KEY": key,
            }
            server_ = Server(kind, name, environment)
            servers.append(server_)
            body = server_.wait(key)
            if number == 0:
                page.write_bytes(body)  # the floor gives the very page that ours gives
        servers.pop(0).stop()
        for server in servers:
            server.load(key, 1)
            server.cpu.clear()
            server.rate.clear()
        for _ in range(rounds):
            for server in servers:
                server.load(key, seconds)
    finally:
        for server in servers:
            server.stop()
    return {server.name: server for server in servers}


def main() -> int:
    """Measure, print, judge."""
    quick = is_quick()
    with tempfile.TemporaryDirectory() as folder:
        servers = measure(Path(folder), rounds=3 if quick else 5, seconds=1 if quick else 2)
    print(f"{'server':10} {'target':10} {'CPU us/request':>15} {'requests/s':>11}")
    for name, server in servers.items():
        print(f"{name[0]:10} {name[1]:10} {median(server.cpu):15.1f} {median(server.rate):11.0f}")
    ratios = []
    for goal_name, beside, goal in GOALS:
        ratio = median(servers[beside].cpu) / median(servers[goal_name].cpu)
        ratios.append(ratio)
        print(f"{' '.join(goal_name):20} / {' '.join(beside):18} {ratio:5.2f}  goal {goal}")
    for goal_name, beside in PAIRS:
        ratio = median(servers[beside].cpu) / median(servers[goal_name].cpu)
        print(f"{' '.join(goal_name):20} / {' '.join(beside):18} {ratio:5.2f}")
    is_met = all(ratio >= goal for ratio, (*_, goal) in zip(ratios, GOALS, strict=True))
    return close_run(is_met, ", ".join(f"{ratio:.2f}" for ratio in ratios))


if __name__ == "__main__":
    sys.exit(main())
