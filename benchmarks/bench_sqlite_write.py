"""Durable creations by 64 clients at once: group commit against one commit each.

A creation is a document, its change record and its kept answer, acknowledged after the flush to
disk. Run: python benchmarks/bench_sqlite_write.py [--quick]
"""

import asyncio
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from svc_core.ports import Answer, Transaction
from svc_core.testing.clock import START
from svc_core.testing.desk import a_change
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_http.storage import SqliteStorage

CLIENTS = 64
GOAL = 8.0
ROUNDS = 3


async def create(store: SqliteStorage, id_: str, number: int) -> float:
    """Create one row; the seconds until it was acknowledged."""

    async def unit(tx: Transaction) -> None:
        note = Note(id_, "flood warning for the coast", number, "open", topics=("weather",))
        await tx.documents.put(NOTES, id_, note, expect=0)
        await tx.changes.append(a_change(id_))
        await tx.answers.put("notes.create", id_, Answer(b"f" * 32, 201, (), b"x" * 400, START))

    began = time.perf_counter()
    await store.write("ann", unit)
    return time.perf_counter() - began


async def measure(path: Path, units_per_commit: int, creations: int) -> tuple[float, float]:
    """Creations per second and the median seconds of one."""
    store = SqliteStorage.open(path, SAMPLES, epoch=bytes(8), units_per_commit=units_per_commit)

    async def client(name: int) -> list[float]:
        return [
            await create(store, f"n{turn:06}-{name}", turn * CLIENTS + name)
            for turn in range(creations // CLIENTS)
        ]

    began = time.perf_counter()
    waits = [wait for one in await asyncio.gather(*map(client, range(CLIENTS))) for wait in one]
    seconds = time.perf_counter() - began
    stored = await store.read("ann", lambda tx: tx.changes.head())
    await store.close()
    if stored.own != len(waits):
        raise SystemExit(f"{len(waits)} acknowledged, {stored.own} stored")
    return len(waits) / seconds, median(waits)


def main() -> int:
    """Print the table; 1 when the goal is missed."""
    quick = "--quick" in sys.argv
    creations = {1: 640 if quick else 3200, 64: 6400 if quick else 25_600}
    figures: dict[int, list[tuple[float, float]]] = {1: [], 64: []}
    with TemporaryDirectory() as folder:
        for turn in range(1 if quick else ROUNDS):
            for size, rows in creations.items():
                path = Path(folder, f"{size}-{turn}.db")
                figures[size].append(asyncio.run(measure(path, size, rows)))
    rates = {size: median(rate for rate, _ in each) for size, each in figures.items()}
    waits = {size: median(wait for _, wait in each) for size, each in figures.items()}
    ratio = rates[64] / rates[1]
    verdict = "PASS" if ratio >= GOAL else "FAIL"
    print(f"{'64 clients, synchronous=FULL':<32}{'per second':>12}{'p50 ms':>10}{'ratio':>8}")
    for size, name in ((1, "one commit each"), (64, "group commit, 64")):
        told = f"{rates[size]:>12.0f}{waits[size] * 1000:>10.2f}{rates[size] / rates[1]:>8.1f}"
        print(f"{name:<32}{told}")
    print(f"goal: at least {GOAL:.0f} times as many: {verdict}")
    return 0 if verdict == "PASS" else 1


if __name__ == "__main__":
    sys.exit(main())
