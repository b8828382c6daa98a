"""What a client with a key gets while strangers, or another's keys, flood the server.

A server of its own in another process, as it is delivered but for rate limits, over a socket, with
its store in a file. Each kind of flood comes once from one address and once with an address of its
own for every connection (all of 127.0.0.0/8 is this machine); payments are good ones, each of
another wallet, for a facilitator that takes connections and never answers. A client with a key, at
another address, reads and writes before, during and after it, over a connection that it keeps and
over new ones. Shown is how many of its requests were answered 2xx within five seconds, how long
they took, how much more memory the server had at most than before, and how long after the end of
the flood the client and the processor were as before. Goals, in each flood: 99 of 100; five times
as long as before it (p99), or 250 ms; 150 MB; 5 s. The time for which other programs keep the
server from its processor counts for nobody.

    python benchmarks/bench_floods.py [--quick] [KIND ...]

KIND is the name of a flood or a part of it, such as `pipelined`. The short form takes one server
for floods that need the same, and every second of them from one address.

Needs: pip install coincurve pycryptodome
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import attrs
from flood_kinds import KINDS, PROFILE, TOPIC, Kind, Stream, head
from flood_target import clock
from outcome import close_run, is_quick

GOAL = 0.99
"""Of the requests of the client with a key."""
TIMES_MAX, SECONDS_MAX = 5.0, 0.25
"""How much longer than before the flood a request may take, or how long (p99)."""
MEMORY_MB_MAX = 150.0
BACK_SECONDS_MAX = 5.0
SECONDS, QUICK_SECONDS = 8.0, 1.2
BEFORE_SECONDS, QUICK_BEFORE_SECONDS = 3.0, 0.8
"""How long a flood goes on before the client begins: until it keeps all that it can."""
ANSWER_SECONDS = 5.0
PAUSE_SECONDS = 0.02
WATCHED_SECONDS = 20.0
"""How long after a flood it is watched whether the server is as before."""
WINDOW_SECONDS = 0.25
SUBJECTS = 100
"""Subjects of the workspace whose key reads a list of them."""
CLIENT = "127.0.0.2"


# -- the client with a key ---------------------------------------------------------------------


class Client:
    """Reads and writes in turn; every second request over a connection of its own."""

    def __init__(self, port: int, key: str, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.port = port
        self.fields = (f"Authorization: Bearer {key}", "Content-Type: application/json")
        self.stream: Stream | None = None
        self.seconds: list[float] = []
        self.failures: list[str] = []

    async def ask(self, number: int) -> None:
        """One request; whether it was answered well is kept."""
        request = head("GET /api/v1/profiles", *self.fields)
        if number % 2:
            request = self.write("/api/v1/profiles", PROFILE)
        began = self.clock()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                status = await self._over_one(request, is_new=number % 4 > 1)
        except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError) as failure:
            status = type(failure).__name__
        self.seconds.append(self.clock() - began)
        if status[:1] != "2":
            self.failures.append(status)

    def write(self, path: str, body: bytes) -> bytes:
        """A request that writes."""
        key = f"Idempotency-Key: request-{time.perf_counter_ns()}"
        return head(f"POST {path}", *self.fields, key, f"Content-Length: {len(body)}") + body

    async def _over_one(self, request: bytes, *, is_new: bool) -> str:
        if is_new:
            return await self.answer(await self._connect(), request, closes=True)
        self.stream, stream = None, self.stream or await self._connect()
        status = await self.answer(stream, request, closes=False)
        self.stream = stream
        return status

    async def _connect(self) -> Stream:
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(CLIENT, 0))

    async def answer(self, stream: Stream, request: bytes, *, closes: bool) -> str:
        """The status of the answer to a request."""
        reader, writer = stream
        try:
            writer.write(request)
            head_bytes = await reader.readuntil(b"\r\n\r\n")
            fields = dict(line.lower().split(b": ", 1) for line in head_bytes.split(b"\r\n")[1:-2])
            await reader.readexactly(int(fields[b"content-length"]))
        except BaseException:
            closes = True
            raise
        finally:
            if closes:
                writer.transport.abort()
        return head_bytes.split()[1].decode()

    async def prepare(self, keys: list[str]) -> None:
        """Have the server hold what it keeps anyway, and subjects for whoever reads them."""
        await self.answer(await self._connect(), head("GET /openapi.json"), closes=True)
        owner, stream = Client(self.port, keys[1], self.clock), await self._connect()
        for _ in range(SUBJECTS):
            subject = owner.write("/api/v2/ledger/subjects", TOPIC)
            assert await self.answer(stream, subject, closes=False) == "201"
        stream[1].transport.abort()

    @property
    def share(self) -> float:
        """The share of requests that were answered well."""
        return 1 - len(self.failures) / len(self.seconds)

    @property
    def why(self) -> str:
        """What came of the others."""
        counts = Counter(self.failures).items()
        return ", ".join(f"{count} x {status}" for status, count in counts)

    @property
    def p99(self) -> float:
        """What one in a hundred of the requests exceeds, in seconds."""
        return sorted(self.seconds)[len(self.seconds) * 99 // 100]


async def measure(client: Client, seconds: float) -> Client:
    """Have the client ask for so long."""
    until = client.clock() + seconds
    while client.clock() < until:
        await client.ask(len(client.seconds))
        await asyncio.sleep(PAUSE_SECONDS)
    return client


# -- the server, from outside --------------------------------------------------------------------


@attrs.frozen
class Server:
    """A server in a process of its own."""

    pid: int
    port: int
    keys: list[str]
    output: IO[str]

    def client(self) -> Client:
        """A client with the first of the keys."""
        return Client(self.port, self.keys[0], self.clock)

    def clock(self) -> float:
        """See `flood_target.clock`."""
        return clock(self.pid)

    def memory_mb(self, name: str) -> float:
        """Its memory: now (`VmRSS`), or the most since it was last forgotten (`VmHWM`)."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split(f"{name}:")[1].split()[0]) / 1024

    def forget_memory(self) -> None:
        """Count the most memory anew."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def cpu_seconds(self) -> float:
        """The processor time that it has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(*words: str) -> Iterator[Server]:
    """A server that a script starts, given the file of its store and these words."""
    with TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        script, *rest = words
        program = [sys.executable, str(Path(__file__).with_name(script))]
        process = subprocess.Popen(
            [*program, str(Path(folder) / "svc.db"), *rest],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            assert process.stdout is not None
            greeting = json.loads(process.stdout.readline())
            server = Server(process.pid, greeting["port"], greeting["keys"], process.stdout)
            asyncio.run(server.client().prepare(server.keys))
            yield server
        finally:
            process.kill()
            process.wait()


@contextmanager
def flooding(server: Server, *words: str, is_spread: bool) -> Iterator[None]:
    """A flood that a script makes while the block runs, of a kind, for so many seconds."""
    script, kind, seconds = words
    program = [
        sys.executable,
        str(Path(__file__).with_name(script)),
        kind,
        str(server.port),
        str(server.pid),
    ]
    spread = ["spread"] if is_spread else []
    process = subprocess.Popen(
        [*program, seconds, json.dumps(server.keys[1:]), *spread],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline(), "the flood does not begin"
        yield
    finally:
        process.kill()
        process.wait()


# -- putting them together ---------------------------------------------------------------------


@attrs.frozen
class Outcome:
    """What a flood did: the share that was answered well, p99 (seconds) and how many times that of
    before, more memory (MB), seconds until all was as before."""

    share: float
    p99: float
    times: float
    memory_mb: float
    back_seconds: float

    @property
    def is_met(self) -> bool:
        """Whether it met every goal."""
        return (
            self.share >= GOAL
            and (self.times <= TIMES_MAX or self.p99 <= SECONDS_MAX)
            and self.memory_mb <= MEMORY_MB_MAX
            and self.back_seconds <= BACK_SECONDS_MAX
        )


async def seconds_until_back(server: Server, control: Client, cost: float) -> float:
    """How long it takes until a client waits, and the processor works, as before.

    `cost` is the processor time of a request before, in seconds.
    """
    client, began = server.client(), server.clock()
    while (passed := server.clock() - began) < WATCHED_SECONDS:
        first, cpu = len(client.seconds), server.cpu_seconds()
        await measure(client, WINDOW_SECONDS)
        count = len(client.seconds) - first
        is_idle = server.cpu_seconds() - cpu < 2 * cost * count + WINDOW_SECONDS / 5
        if is_idle and max(client.seconds[first:]) <= max(2 * control.p99, 0.05):
            return passed
    return WATCHED_SECONDS


def measured(server: Server, kind: str, *, is_spread: bool) -> Outcome:
    """What a client got before, while and after a flood of one kind came."""
    seconds, before = SECONDS, BEFORE_SECONDS
    if is_quick():
        seconds, before = QUICK_SECONDS, QUICK_BEFORE_SECONDS
    cpu = server.cpu_seconds()
    control = asyncio.run(measure(server.client(), seconds / 2))
    cost = (server.cpu_seconds() - cpu) / len(control.seconds)
    server.forget_memory()
    memory_mb = server.memory_mb("VmRSS")
    lasts = str(before + seconds + ANSWER_SECONDS)
    with flooding(server, "flood_kinds.py", kind, lasts, is_spread=is_spread):
        time.sleep(before)
        client = asyncio.run(measure(server.client(), seconds))
    back_seconds = asyncio.run(seconds_until_back(server, control, cost))
    outcome = Outcome(
        client.share,
        client.p99,
        client.p99 / control.p99,
        server.memory_mb("VmHWM") - memory_mb,
        back_seconds,
    )
    print_outcome(f"{kind}, {'an address each' if is_spread else 'one address'}", client, outcome)
    return outcome


def print_outcome(name: str, client: Client, outcome: Outcome) -> None:
    print(
        f"{name:40} {len(client.seconds):4} asked {outcome.share:6.1%} well  p99"
        f" {outcome.p99 * 1_000:5.0f} ms ({outcome.times:5.1f} times)  {outcome.memory_mb:+5.0f} MB"
        f"  back in {outcome.back_seconds:4.1f} s  {'' if outcome.is_met else 'missed '}"
        f"{client.why}",
        flush=True,
    )


def chosen_kinds() -> dict[str, Kind]:
    """The floods that the command line names, or all."""
    parts = [word for word in sys.argv[1:] if not word.startswith("--")]
    return {
        name: kind
        for name, kind in KINDS.items()
        if not parts or any(part in name for part in parts)
    }


def main() -> int:
    """Measure, print, judge."""
    outcomes: list[Outcome] = []
    with ExitStack() as stack:
        servers: dict[str, Server] = {}
        for number, (name, kind) in enumerate(chosen_kinds().items()):
            if is_quick():
                if kind.target not in servers:
                    context = serving("flood_target.py", kind.target)
                    servers[kind.target] = stack.enter_context(context)
                is_spread = bool(number % 2)
                outcomes.append(measured(servers[kind.target], name, is_spread=is_spread))
                continue
            for is_spread in (False, True):
                with serving("flood_target.py", kind.target) as server:
                    outcomes.append(measured(server, name, is_spread=is_spread))
    share = min(outcome.share for outcome in outcomes)
    return close_run(
        all(outcome.is_met for outcome in outcomes),
        f"{share:.1%}, {max(outcome.p99 for outcome in outcomes) * 1_000:.0f} ms, "
        f"{max(outcome.memory_mb for outcome in outcomes):.0f} MB, "
        f"{max(outcome.back_seconds for outcome in outcomes):.1f} s at worst",
    )


if __name__ == "__main__":
    sys.exit(main())
