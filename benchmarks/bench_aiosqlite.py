"""What aiosqlite would cost the default store: a hop a statement, and what a cancelled task leaves.

The same transactions of eight statements over one file: by aiosqlite, whose thread is asked for
each statement, and by a thread that is asked once for the whole transaction, as the store's writer
is. Then 400 transactions, one after another, of which the first is cancelled between its
statements: how many of those after it fail, over aiosqlite, and over the store of the service.
Goals: the store loses none; a hop a statement costs more than one hop. Needs
`pip install aiosqlite`. Run: python benchmarks/bench_aiosqlite.py [--quick]
"""

import asyncio
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import aiosqlite
from outcome import close_run, is_quick

from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_core.testing.sync_store import a_change
from svc_http.stores import SqliteStorage

STATEMENTS = 8
LATER = 400
TABLE = "CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text TEXT)"
PRAGMAS = ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=OFF")  # the flush is not the question
INSERT = "INSERT INTO note (text) VALUES (?)"
Transaction = Callable[[], Awaitable[object]]


async def microseconds(transaction: Transaction, count: int) -> float:
    """Of the clock, for one of `count` transactions in a row."""
    began = time.perf_counter()
    for _ in range(count):
        await transaction()
    return (time.perf_counter() - began) / count * 1e6


async def hops(folder: Path, rounds: int, count: int) -> list[tuple[float, float]]:
    """Microseconds of a transaction by a hop a statement and by one hop, in turn."""
    thread = ThreadPoolExecutor(1)
    run = asyncio.get_running_loop().run_in_executor

    def open_connection() -> sqlite3.Connection:
        connection = sqlite3.connect(folder / "one.db", isolation_level=None)
        for line in (*PRAGMAS, TABLE):
            connection.execute(line)
        return connection

    own = await run(thread, open_connection)

    def whole() -> None:
        own.execute("BEGIN IMMEDIATE")
        for _ in range(STATEMENTS - 2):
            own.execute(INSERT, ("x",))
        own.execute("COMMIT")

    async with aiosqlite.connect(folder / "many.db", isolation_level=None) as connection:
        for line in (*PRAGMAS, TABLE):
            await connection.execute(line)
        rows = []
        for _ in range(rounds):
            batched_us = await microseconds(lambda: by_statement(connection), count)
            rows.append((batched_us, await microseconds(lambda: run(thread, whole), count)))
    await run(thread, own.close)
    thread.shutdown()
    return rows


async def by_statement(connection: Any) -> None:
    """A transaction, as it is written with aiosqlite."""
    await connection.execute("BEGIN IMMEDIATE")
    for _ in range(STATEMENTS - 2):
        await connection.execute(INSERT, ("x",))
    await connection.execute("COMMIT")


async def failed_after(transaction: Transaction, steps: int) -> int:
    """How many of `LATER` transactions fail after one that is cancelled at its so many-th wait."""
    first = asyncio.ensure_future(transaction())
    for _ in range(steps):
        await asyncio.sleep(0.0005)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    overhead = 0
    for _ in range(LATER):
        try:
            await transaction()
        except sqlite3.Error:
            overhead += 1
    return overhead


async def over_aiosqlite(folder: Path, steps: int) -> int:
    """The same, where each statement waits for the thread."""
    async with aiosqlite.connect(folder / f"{steps}.db", isolation_level=None) as connection:
        await connection.execute(TABLE)
        return await failed_after(lambda: pause(connection), steps)


async def pause(connection: Any) -> None:
    """A transaction that asks something else between its statements, as a use case does."""
    await connection.execute("BEGIN IMMEDIATE")
    await connection.execute(INSERT, ("x",))
    await asyncio.sleep(0.002 if connection.total_changes < 2 else 0)
    await connection.execute("COMMIT")


async def over_the_store(folder: Path, steps: int) -> int:
    """The same, where a unit is handed to the writer whole."""
    store = SqliteStorage.open(folder / f"store{steps}.db", SAMPLES, epoch=bytes(8))
    numbers = iter(range(10_000))

    async def transaction() -> None:
        await store.write("wsp_a", lambda tx: creation(tx, next(numbers)))

    try:
        return await failed_after(transaction, steps)
    finally:
        await store.close()


async def creation(tx: Any, number: int) -> None:
    """A document of its own."""
    id_ = f"nte_{number:024x}"
    await tx.documents.put(NOTES, id_, Note(id_, "flood warning", number), expect=0)
    await tx.changes.append(a_change(id_))


async def main() -> int:
    """Measure, print, and say whether the store lost none."""
    rounds, count = (3, 300) if is_quick() else (9, 2_000)
    with TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        pairs = await hops(folder, rounds, count)
        batched_us, single = median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)
        ratio = median(pair[0] / pair[1] for pair in pairs)
        hop = (batched_us - single) / (STATEMENTS - 1)
        print(
            f"a transaction of {STATEMENTS} statements: {batched_us:.0f} µs by a hop a statement,"
        )
        print(f"  {single:.0f} µs by one hop: {ratio:.1f} times, {hop:.0f} µs a hop")
        peer_rates = [await over_aiosqlite(folder, steps) for steps in range(1, 6)]
        own_rates = [await over_the_store(folder, steps) for steps in range(1, 6)]
        print(f"of {LATER} transactions after one that was cancelled, failed:")
        print(f"  aiosqlite {peer_rates}, the store {own_rates}")
    figure = (
        f"{ratio:.1f} times as long as one hop; the store fails {sum(own_rates)} of {5 * LATER}"
    )
    return close_run(max(own_rates) == 0 and ratio > 1, figure)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
