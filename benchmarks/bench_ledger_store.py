"""Sealed lines appended by hundreds: a ledger in the store against bare inserts into SQLite.

Each batch is one durable commit, on both sides: 100 lines of 800 bytes with their identifiers,
subjects, designators and seals. The bare side writes the same bytes into one table with a key, the
least that anybody could do. Both work in turn, so that a busy machine slows both; the ratio is the
median of the turns. Run: python benchmarks/bench_ledger_store.py [--quick]
"""

import asyncio
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from outcome import close_run, is_quick

from svc_core.operation.ports import SealedLine
from svc_core.testing.sample import SAMPLES
from svc_core.testing.sealed_lines import Growth, a_line, growth
from svc_http.stores import SqliteStorage
from svc_http.stores.sqlite.file_connection import connect_writer

LINES = 100
LINE_BYTES = 800
"""Of the rate of bare inserts: the ledger writes two tables and three indexes, not one table."""

BARE = "CREATE TABLE lines (place INTEGER PRIMARY KEY, line BLOB NOT NULL)"


def batches(turn: int, count: int) -> list[Growth]:
    """Appends whose identifiers lie as far apart as hashes do."""
    size = turn * count * LINES
    return [
        growth(start, [line(seq) for seq in range(start, start + LINES)])
        for start in range(size, size + count * LINES, LINES)
    ]


def line(seq: int) -> SealedLine:
    """A line; every fourth states a designator, every tenth opens a subject."""
    id_ = f"clm_{seq * 0x9E3779B97F4A7C15 % 2**96:024x}"
    keys = (f"domain:{seq}.example",) if seq % 4 == 0 else ()
    draft = a_line(seq, id_, f"sbj_{seq // 10:024x}", opens=seq % 10 == 0, keys=keys, time=seq)
    return draft._replace(line=b"x" * LINE_BYTES)


async def append(store: SqliteStorage, growths: Sequence[Growth]) -> float:
    """Seconds for these appends, one commit each."""
    began = time.perf_counter()
    for lines, nodes, head, expect in growths:
        await store.write(
            "ann",
            lambda tx, g=(lines, nodes, head), at=expect: tx.ledger.append(*g, expect=at),  # type: ignore[misc]
        )
    return time.perf_counter() - began


def insert(connection: sqlite3.Connection, growths: Sequence[Growth]) -> float:
    """Seconds for the same bytes in one table, one commit each."""
    began = time.perf_counter()
    for lines, *_ in growths:
        connection.execute("BEGIN IMMEDIATE")
        rows = ((item.seq, item.line) for item in lines)
        connection.executemany("INSERT INTO lines VALUES (?, ?)", rows)
        connection.execute("COMMIT")
    return time.perf_counter() - began


async def main() -> int:
    """Print both rates and their ratio; the exit code."""
    turns, count = (3, 50) if is_quick() else (9, 100)
    with TemporaryDirectory() as folder:
        store = SqliteStorage.open(Path(folder, "svc.db"), SAMPLES, epoch=bytes(8))
        connection = connect_writer(Path(folder, "bare.db"))
        connection.execute(BARE)
        rates = []
        for turn in range(turns):
            growths = batches(turn, count)
            total = count * LINES
            rates.append(
                (total / await append(store, growths), total / insert(connection, growths))
            )
        connection.close()
        await store.close()
    own_rate, bare = (median(column) for column in zip(*rates, strict=True))
    ratio = median(rate / bare_rate for rate, bare_rate in rates)
    print(f"ledger, {LINES} lines a commit   {own_rate:>10,.0f} lines/s")
    print(f"bare inserts of the bytes   {bare:>10,.0f} lines/s")
    return close_run(True, f"{ratio:.2f} of their rate")


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
