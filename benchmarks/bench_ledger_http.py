"""Appending to a ledger over HTTP, a hundred records a request, beside bare inserts of the lines.

A server of its own in another process, over a socket, with its store in a file: each request is
judged, sealed, stored, signed and receipted before it is answered. Beside it SQLite alone inserts
the very lines that came out, a hundred a commit, as durably. Both work in turn, round by round;
the ratio is the median of the rounds. Run: python benchmarks/bench_ledger_http.py [--quick]
"""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from outcome import close_run, is_quick

BATCH = 100
ROUNDS, QUICK_ROUNDS = 7, 3
BATCHES = 20
STARTING_SECONDS = 30.0
LEDGER = "/api/v2/ledger"


@contextmanager
def serving(folder: Path) -> Iterator[httpx2.Client]:
    """A client of a server that was started for it."""
    creation = svc("keys", "create", "--name", "bench", "--json", "--db", str(folder / "svc.db"))
    secret = json.loads(creation)["key"]
    words = ["serve", "--db", str(folder / "svc.db"), "--port", "0", "--no-rate-limits"]
    program = [sys.executable, "-c", "from svc_http.run.cli import main; main()", *words]
    log = folder / "log"
    with log.open("wb") as out, subprocess.Popen(program, stdout=out, stderr=out) as server:
        try:
            address = wait_for_address(log)
            headers = {"Authorization": f"Bearer {secret}"}
            with httpx2.Client(base_url=address, headers=headers, timeout=60) as client:
                yield client
        finally:
            server.terminate()


def svc(*words: str) -> str:
    program = [sys.executable, "-c", "from svc_http.run.cli import main; main()", *words]
    return subprocess.run(program, check=True, capture_output=True, text=True).stdout


def wait_for_address(log: Path) -> str:
    until = time.monotonic() + STARTING_SECONDS
    while time.monotonic() < until:
        words = log.read_text().split()
        addresses = [
            word for word in words if word.startswith("http://") and word.endswith("/api/v1")
        ]
        if addresses:
            return addresses[0].removesuffix("/api/v1")
        time.sleep(0.05)
    raise RuntimeError(log.read_text())


def entry(subject: str, number: int) -> dict[str, Any]:
    return {
        "kind": "claim",
        "subject": subject,
        "predicate": "officer",
        "value": {"subject": subject},
        "statement": f"Its officer number {number} is named in the register of companies.",
        "source": {"url": f"https://news.example/a/{number}", "publisher": "Pier Gazette"},
        "validFrom": "2019-01-01T00:00:00Z",
    }


def append(client: httpx2.Client, batches: list[bytes]) -> float:
    """Seconds that all batches took, one after another."""
    began = time.perf_counter()
    for body in batches:
        answer = client.post(
            f"{LEDGER}/records", content=body, headers={"Content-Type": "application/json"}
        )
        if answer.status_code != 201:
            raise RuntimeError(answer.text)
    return time.perf_counter() - began


def insert(folder: Path, lines: list[bytes], at: int) -> float:
    """Seconds that SQLite alone takes for the same lines, `BATCH` a commit."""
    connection = sqlite3.connect(folder / f"bare-{at}.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE lines (seq INTEGER PRIMARY KEY, line BLOB)")
    began = time.perf_counter()
    for start in range(0, len(lines), BATCH):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            "INSERT INTO lines (line) VALUES (?)",
            [(line,) for line in lines[start : start + BATCH]],
        )
        connection.execute("COMMIT")
    seconds = time.perf_counter() - began
    connection.close()
    return seconds


def run(rounds: int) -> list[tuple[float, float]]:
    """Records a second of each round: over HTTP, and inserted alone."""
    rates = []
    with TemporaryDirectory() as name, serving(Path(name)) as client:
        opened = client.post(f"{LEDGER}/subjects", json={"type": "topic", "label": "Ports"})
        subject = opened.json()["data"]["id"]
        count = BATCHES * BATCH
        for at in range(rounds):
            batches = [
                json.dumps([entry(subject, first + n) for n in range(BATCH)]).encode()
                for first in range(0, count, BATCH)
            ]
            seconds = append(client, batches)
            after = at * count
            chunks: list[bytes] = []
            while len(chunks) < count:
                page = client.get(f"{LEDGER}/records?after={after + len(chunks)}&limit=1000")
                chunks += page.content.splitlines()
            rates.append((count / seconds, count / insert(Path(name), chunks, at)))
    return rates


def main() -> int:
    rates = run(QUICK_ROUNDS if is_quick() else ROUNDS)
    own_rate, bare = (median(column) for column in zip(*rates, strict=True))
    ratio = median(rate / bare_rate for rate, bare_rate in rates)
    print(f"append over HTTP, {BATCH} a request   {own_rate:9,.0f} records/s")
    print(f"bare SQLite inserts of the lines    {bare:9,.0f} records/s")
    return close_run(True, f"{ratio:.3f} of their rate")


if __name__ == "__main__":
    sys.exit(main())
