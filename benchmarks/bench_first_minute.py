"""What vectors and recordings, which are on where they are installed, cost whoever starts a server.

The demo is started with both and with neither, in turn: seconds until `/readyz` is 200, memory, and
when a report has audio and retrieval finds by meaning. Then a client with a key reads one list
again and again while a server works off items that have no vectors yet, and beside one that makes
none. Goals: 3 s more until it is ready, both there within a minute, and 1.5 times the time of a
request (p99, the median of rounds). Needs the extra `full`.
Run: python benchmarks/bench_first_minute.py [--quick]
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

import attrs
from outcome import close_run, is_quick

MORE_SECONDS = 3.0
THERE_SECONDS = 60.0
TIMES = 1.5
PATIENCE_SECONDS = 240.0
PAUSE_SECONDS = 0.01
ITEMS = 6_000  # more than the vectors of a round
FEED_ITEMS = 1_500
ON = {"SVC_SPEECH": "auto", "SVC_EMBEDDINGS": "auto"}
OFF = {"SVC_SPEECH": "none", "SVC_EMBEDDINGS": "none"}
WORDS = ("dockers", "strike", "port", "crane", "tariff", "storm", "bank", "vote", "ship", "grid")


@attrs.define
class Server:
    """A server that runs, and how to ask it."""

    pid: int
    port: int
    greeting: dict[str, Any]
    began: float
    key: str

    def ask(self, path: str, body: bytes | None = None) -> bytes:
        """The body of an answer, over a connection of its own."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        fields = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        link.request("GET" if body is None else "POST", path, body, fields)
        return link.getresponse().read()

    def seconds(self) -> float:
        """Since it was started."""
        return time.monotonic() - self.began

    def memory(self) -> int:
        """What it and the processes that it started have of memory, in MB."""
        threads = Path(f"/proc/{self.pid}/task").glob("*/children")  # each has its own
        children = [pid for file in threads for pid in file.read_text("utf-8").split()]
        status_files = [Path(f"/proc/{pid}/status") for pid in (self.pid, *children)]
        sizes = [
            path.read_text("utf-8").split("VmRSS:")[1] for path in status_files if path.exists()
        ]
        return sum(int(text.split()[0]) for text in sizes) // 1024


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(variables: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "SVC_REQUEST_LOG": "off", **variables}  # noqa: TID251 - no part of the service


@contextmanager
def serving(folder: Path, *arguments: str, key: str = "", **variables: str) -> Iterator[Server]:
    """A server from its start, once it is ready, to its end."""
    port, began = free_port(), time.monotonic()
    line = [sys.executable, "-m", "svc_http", "serve", "--json", "--port", str(port), *arguments]
    with subprocess.Popen(
        line, cwd=folder, env=environment(variables), stdout=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        greeting = json.loads(run.stdout.readline())
        server = Server(run.pid, port, greeting, began, key or greeting.get("key", ""))
        try:
            while server.ask("/readyz") != b'{"status":"ready"}':
                time.sleep(0.02)
            yield server
        finally:
            run.send_signal(signal.SIGINT)


def command(folder: Path, *arguments: str) -> Any:
    line = [sys.executable, "-m", "svc_http", *arguments, "--db", "svc.db", "--json"]
    process = subprocess.run(
        line, cwd=folder, env=environment(OFF), check=True, capture_output=True
    )
    return json.loads(process.stdout)


# -- the demo ----------------------------------------------------------------------------------


def startup_seconds(folder: Path, variables: dict[str, str]) -> float:
    with serving(folder, "--demo", **variables) as server:
        return server.seconds()


def watch(folder: Path) -> tuple[float, float, float, int]:
    """Seconds until the demo is ready, speaks, and finds by meaning; its memory a while after."""
    question = json.dumps({"query": "walkout at the harbour", "limit": 5}).encode()
    with serving(folder, "--demo", **ON) as server:
        ready, audio, meaning = server.seconds(), 0.0, 0.0
        while not (audio and meaning) and server.seconds() < PATIENCE_SECONDS:
            if not audio and b'"hasAudio":true' in server.ask("/api/v1/reports"):
                audio = server.seconds()
            rows = json.loads(server.ask("/api/v2/intel/knowledge/retrieve", question))["data"]
            if not meaning and any(row["scores"]["semantic"] is not None for row in rows):
                meaning = server.seconds()
            time.sleep(1.0)
        return ready, audio or PATIENCE_SECONDS, meaning or PATIENCE_SECONDS, server.memory()


# -- a client meanwhile ------------------------------------------------------------------------


def fill(folder: Path) -> str:
    """A store of items without vectors; the key of a reader."""
    for number in range(0, ITEMS, FEED_ITEMS):
        items = [
            {
                "id": str(item),
                "url": f"https://pier.example/{item}",
                "title": f"{WORDS[item % 10]} {WORDS[item % 7]} {item}",
                "content_text": " ".join(WORDS[item * n % 9] for n in range(1, 60)),
                "date_published": "2026-01-01T00:00:00Z",
            }
            for item in range(number, number + FEED_ITEMS)
        ]
        feed = {"version": "https://jsonfeed.org/version/1.1", "title": "Pier", "items": items}
        (folder / f"{number}.json").write_text(json.dumps(feed))
    command(folder, "workspaces", "create", "--name", "bench", "--plan", "elite")
    key = command(folder, "keys", "create", "--name", "bench")["key"]
    command(folder, "feeds", "add", *(str(path) for path in sorted(folder.glob("*.json"))))
    return str(key)


def latencies(server: Server, seconds: float) -> list[float]:
    """Milliseconds of requests by one client, over one connection, with short pauses."""
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    fields, until = {"Authorization": f"Bearer {server.key}"}, time.monotonic() + seconds
    percentiles_taken = []
    while time.monotonic() < until:
        began = time.perf_counter()
        link.request("GET", "/api/v1/news?limit=20", headers=fields)
        answer = link.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        percentiles_taken.append((time.perf_counter() - began) * 1_000)
        time.sleep(PAUSE_SECONDS)
    return percentiles_taken


def p99(values: list[float]) -> float:
    return quantiles(values, n=100)[98]


def beside(folder: Path, key: str, seconds: float, embeddings: str) -> tuple[float, float, int]:
    """The p50 and p99 of a client, and the vectors that were made from its begin to its end."""
    flags = ("--db", "svc.db", "--no-rate-limits")
    with serving(folder, *flags, key=key, SVC_SPEECH="none", SVC_EMBEDDINGS=embeddings) as server:
        latencies(server, 4.0)  # the model is loaded
        before = vectors(folder)
        percentiles = latencies(server, seconds)
        return median(percentiles), p99(percentiles), vectors(folder) - before


def vectors(folder: Path) -> int:
    import sqlite3  # noqa: PLC0415 - beside a server, to look on

    with sqlite3.connect(f"file:{folder}/svc.db?mode=ro", uri=True) as looking:
        return int(looking.execute("SELECT count(*) FROM c_news_vectors").fetchone()[0])


def main() -> int:
    """Measure, print, and say whether each goal was met."""
    rounds, seconds = (3, 8.0) if is_quick() else (7, 15.0)
    with TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        starts = [
            (startup_seconds(folder, OFF), startup_seconds(folder, ON)) for _ in range(rounds)
        ]
        extra = median(on - off for off, on in starts)
        print(
            f"ready: {median(off for off, _ in starts):.1f} s with neither, {extra:+.1f} s (goal 3)"
        )
        ready, audio, meaning, memory = watch(folder)
        print(f"demo: ready {ready:.1f} s, audio {audio:.1f} s, meaning {meaning:.1f} s (goal 60)")
        print(f"memory a while after: {memory} MB")
        key = fill(folder)
        ratios, made_all = [], []
        for _ in range(rounds):
            still = beside(folder, key, seconds, "none")
            busy = beside(folder, key, seconds, "auto")
            ratios.append(busy[1] / still[1])
            made_all.append(busy[2])
            print(
                f"client: p50 {still[0]:.2f} ms, p99 {still[1]:.2f} ms; beside "
                f"{busy[2] / seconds:.0f} vectors a second {busy[0]:.2f} ms, {busy[1]:.2f} ms"
            )
        print(f"p99: {median(ratios):.2f} times (goal {TIMES})")
    is_met = (
        extra <= MORE_SECONDS,
        max(audio, meaning) <= THERE_SECONDS,
        median(ratios) <= TIMES,
    )
    figure = f"{extra:+.1f} s; {max(audio, meaning):.0f} s; {median(ratios):.2f} times"
    return close_run(all(is_met) and all(made_all), figure)


if __name__ == "__main__":
    sys.exit(main())
