"""Answers of the agent as streams: the first word, words a second, and what many at once take.

A backend that has its words at hand stands in for a model, so that what is measured is ours: from
the event to the frame on the wire. Beside it a bare Starlette route sends the same number of
frames of the same size on Hypercorn, which our server is built on. Then the backend without a
model, over the demo's rows. Last, 200 answers that wait in silence.

    python benchmarks/bench_streams.py [--quick]

Exit code 3 when a goal is missed.
"""

import asyncio
import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import attrs
import uvloop
from outcome import close_run, is_quick

GOAL_RATIO = 0.5
GOAL_MB = 100.0
STREAMS = 200
WORDS = 3_000
"""Of four characters each: little less than an answer may have."""
FRAME = b'data: {"type":"text-delta","id":"txt_1","delta":"word"}\n\n'
PATH = "/api/v1/agent-svc/chat/stream"
BODY = json.dumps(
    {"messages": [{"role": "user", "parts": [{"type": "text", "text": "How is it?"}]}]}
)
SECONDS = 60.0


# -- the servers -------------------------------------------------------------------------------


async def serve_bare(port: int) -> None:
    """A route that sends so many frames."""
    from hypercorn.asyncio import serve  # noqa: PLC0415 - each server loads its own
    from hypercorn.config import Config  # noqa: PLC0415
    from starlette.applications import Starlette  # noqa: PLC0415
    from starlette.requests import Request  # noqa: PLC0415
    from starlette.responses import StreamingResponse  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    async def words() -> AsyncIterator[bytes]:
        for _ in range(WORDS):
            yield FRAME
        yield b"data: [DONE]\n\n"

    async def chat(request: Request) -> StreamingResponse:
        await request.json()
        return StreamingResponse(words(), media_type="text/event-stream")

    config = Config()
    config.bind = [f"127.0.0.1:{port}"]
    config.accesslog = None
    await serve(Starlette(routes=[Route(PATH, chat, methods=["POST"])]), config)  # type: ignore[arg-type]


async def serve_ours(port: int) -> None:
    """Our service with a backend that has its words at hand, or none; its key is printed."""
    from svc_core import catalog  # noqa: PLC0415 - each server loads its own
    from svc_core.access import operations as accounts  # noqa: PLC0415
    from svc_core.access.creation import KeyWish  # noqa: PLC0415
    from svc_core.access.plans import DEFAULT_PLANS  # noqa: PLC0415
    from svc_core.agent.agent_ports import Backend, Toolbox, Turn  # noqa: PLC0415
    from svc_core.agent.answer_events import AnswerDone, Event, Step, Text  # noqa: PLC0415
    from svc_http import settings  # noqa: PLC0415
    from svc_http.run.server import hypercorn  # noqa: PLC0415
    from svc_http.service.runtime import application  # noqa: PLC0415
    from svc_http.service.runtime.runtime_state import Runtime  # noqa: PLC0415
    from svc_http.stores import SqliteStorage  # noqa: PLC0415

    class Words:
        async def open(self, turn: Turn, _: Toolbox) -> AsyncIterator[Event]:
            return self._silence() if turn.question == "Hush?" else self._words()

        async def _words(self) -> AsyncIterator[Event]:
            yield Step()
            for _ in range(WORDS):
                yield Text("word")
            yield AnswerDone()

        async def _silence(self) -> AsyncIterator[Event]:
            yield Step()
            yield Text("word")
            await asyncio.Event().wait()

    folder = os.environ["BENCH_FOLDER"]  # noqa: TID251 - no part of the service
    config = settings.Settings(
        db=f"{folder}/svc.db", secret="0123456789abcdef" * 4, port=port, rate_limits=False
    )
    store = SqliteStorage.open(Path(config.db), catalog.COLLECTIONS, epoch=bytes(8))
    service = application.build(Runtime(config, store, closing=[store.close]))
    runtime = service.runtime
    runtime.host = attrs.evolve(
        runtime.host, providers={**runtime.host.providers, Backend: Words()}
    )

    async def make(ctx: Any) -> str:
        home = await accounts.create_workspace(ctx, name="W", plan="elite", plans=DEFAULT_PLANS)
        wish = KeyWish(name="K", scopes=("agent:svc",), workspace_id=home.id)
        return (await accounts.create_key(ctx, wish, plans=DEFAULT_PLANS)).secret

    print(await runtime.service.system(make), flush=True)
    await hypercorn.serve(service, hypercorn.listen("127.0.0.1", port))


@contextlib.contextmanager
def running(name: str, folder: str) -> Iterator[tuple[int, str, int]]:
    """One server: its port, a key, and its process."""
    environment = {**os.environ, "BENCH_FOLDER": folder, "SVC_RATE_LIMITS": "false"}  # noqa: TID251
    port = _free()
    command = [sys.executable, __file__, "serve", name, str(port)]
    if name == "demo":
        command = [sys.executable, "-m", "svc_http", "serve", "--demo", "--json", "--port"]
        command += [str(port)]
    process = subprocess.Popen(
        command, env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode().strip() if name != "bare" else ""
        key = json.loads(line)["key"] if name == "demo" else line
        _until_open(port)
        yield port, key, process.pid
    finally:
        process.kill()
        process.wait()


def _free() -> int:
    import socket  # noqa: PLC0415 - for this alone

    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def _until_open(port: int) -> None:
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            http.client.HTTPConnection("127.0.0.1", port).connect()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


# -- the client --------------------------------------------------------------------------------


class Client:
    """A connection that lasts, and what it measured."""

    def __init__(self, port: int, key: str, pid: int) -> None:
        self._pid = pid
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        self._fields = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.firsts: list[float] = []
        self.rates: list[float] = []
        self.words = 0
        self._cpu = cpu_seconds(self._pid)

    def ask(self) -> None:
        """One answer: when its first word came, and the rate of those after it."""
        began = time.perf_counter()
        self._connection.request("POST", PATH, BODY, self._fields)
        answer = self._connection.getresponse()
        assert answer.status == 200, answer.read()
        received_bytes = b""
        while b'"text-delta"' not in received_bytes:
            received_bytes += answer.read1(65_536)
        first = time.perf_counter()
        while part := answer.read1(65_536):
            received_bytes += part
        words = received_bytes.count(b'"text-delta"')
        self.words += words
        self.firsts.append(first - began)
        self.rates.append(words / (time.perf_counter() - first))

    @property
    def first_ms(self) -> float:
        """The median, in milliseconds."""
        return statistics.median(self.firsts) * 1e3

    @property
    def rate(self) -> float:
        """Words a second, the median."""
        return statistics.median(self.rates)

    @property
    def word_us(self) -> float:
        """CPU time of the server for a word, all else of its answers included, in microseconds."""
        return (cpu_seconds(self._pid) - self._cpu) / self.words * 1e6


def cpu_seconds(pid: int) -> float:
    """What a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_mb(pid: int) -> float:
    """What a process holds in memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory(port: int, key: str, pid: int) -> float:
    """What so many answers take that are open at once, in MB."""
    before = rss_mb(pid)
    body = BODY.replace("How is it?", "Hush?")
    fields = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    clients = []
    for _ in range(STREAMS):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        connection.request("POST", PATH, body, fields)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        received_bytes = b""
        while b'"text-delta"' not in received_bytes:
            received_bytes += answer.read1(65_536)
        clients.append((connection, answer))
    growth_mb = rss_mb(pid) - before
    for connection, answer in clients:
        answer.close()
        connection.close()
    return growth_mb


def main() -> int:
    """Measure, print, judge."""
    rounds = 10 if is_quick() else 40
    with (
        tempfile.TemporaryDirectory() as folder,
        running("bare", folder) as bare_at,
        running("ours", folder) as ours_at,
        running("demo", folder) as demo_at,
    ):
        bare, own, demo = (Client(*at) for at in (bare_at, ours_at, demo_at))
        for number in range(rounds + 2):
            for client in (bare, own, demo):
                client.ask()
                if number == 1:  # the first ones load what all use
                    client.forget()
        ratio = bare.word_us / own.word_us
        print(f"{'':24}{'first word':>12}{'words/s':>12}{'CPU time a word':>18}")
        for name, client in (("bare route", bare), ("ours", own), ("ours, no model", demo)):
            times = f"{client.first_ms:>9.2f} ms{client.rate:>12,.0f}{client.word_us:>15,.1f} us"
            print(f"{name:24}{times}")
        growth_mb = memory(*ours_at)
    is_met = ratio >= GOAL_RATIO and growth_mb <= GOAL_MB
    return close_run(is_met, f"{ratio:.2f}; {growth_mb:.0f} MB for {STREAMS} open answers")


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serves = {"bare": serve_bare, "ours": serve_ours}
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serves[sys.argv[2]](int(sys.argv[3])))
        sys.exit(0)
    sys.exit(main())
