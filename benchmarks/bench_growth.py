"""A page deep in a long list costs what the first page costs.

Pages of 20 rows through the store's own `scan`, by cursor position: page 1 against page 5,000 of
a million rows, unfiltered and by a facet. Run: python benchmarks/bench_growth.py [--quick]
"""

import asyncio
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from outcome import exit_code, is_quick

from svc_core.base import drive
from svc_core.operation.ports import Position
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_http.stores import SqliteStorage
from svc_http.stores.sqlite._documents import SqliteDocuments
from svc_http.stores.sqlite._table import build_table

GOAL = 1.25
LIMIT = 20
REPEATS = 400
ROWS_PER_UNIT = 10_000
Filters = Mapping[str, tuple[str, ...]] | None


def fill(path: Path, rows: int) -> None:
    """Make a store of `rows` notes, half of them about the weather."""

    async def work() -> None:
        store = SqliteStorage.open(path, SAMPLES, epoch=bytes(8))
        for first in range(0, rows, ROWS_PER_UNIT):
            await store.write("ann", lambda tx, first=first: put_all(tx.documents, first))
        await store.close()

    async def put_all(documents: SqliteDocuments, first: int) -> None:
        for number in range(first, min(first + ROWS_PER_UNIT, rows)):
            topics = ("weather",) if number % 2 else ("sport",)
            note = Note(f"n{number:08}", "", number, "open", topics=topics)
            await documents.put(NOTES, note.id, note)

    asyncio.run(work())


def time_of(documents: SqliteDocuments, filters_: Filters, after: Position | None) -> float:
    """Seconds of one page."""
    began = time.perf_counter()
    page = drive.run(documents.scan(NOTES, where=filters_, after=after, limit=LIMIT))
    seconds = time.perf_counter() - began
    if len(page.rows) != LIMIT:
        raise SystemExit("the list is too short for this page")
    return seconds


def offset(connection: sqlite3.Connection, offset_rows: int) -> float:
    """Seconds of the same page by counting rows away: what keyset paging avoids."""
    began = time.perf_counter()
    connection.execute(
        "SELECT id, version, ord, body FROM c_sample_notes WHERE tenant = 'ann'"
        " ORDER BY ord DESC, id DESC LIMIT ? OFFSET ?",
        (LIMIT + 1, offset_rows),
    ).fetchall()
    return time.perf_counter() - began


def lines(
    connection: sqlite3.Connection, rows: int, page: int
) -> Iterator[tuple[str, float, float]]:
    """Name, microseconds of page 1 and of the deep page."""
    documents = SqliteDocuments(connection, {NOTES.name: build_table(NOTES)}, "ann", None)
    filters: tuple[tuple[str, Filters, int], ...] = (
        ("keyset, whole list", None, 1),
        ("keyset, key filter", {"status": ("open",)}, 1),
        # Every other row, so the page of the same number lies twice as deep in the list.
        ("keyset, facet of every other row", {"topic": ("weather",)}, 2),
    )
    for name, filters_, step in filters:
        place = rows - (page - 1) * LIMIT * step
        after = Position(place, f"n{place:08}")
        pairs = [
            (time_of(documents, filters_, None), time_of(documents, filters_, after))
            for _ in range(REPEATS)
        ]
        yield name, median(first for first, _ in pairs), median(deep for _, deep in pairs)
    offset_rows = (page - 1) * LIMIT
    yield "offset, whole list (not ours)", offset(connection, 0), offset(connection, offset_rows)


def main() -> int:
    """Print the table; `GOAL_MISSED` when the goal is missed."""
    rows = 100_000 if is_quick() else 1_000_000
    page = 2_400 if is_quick() else 5_000
    misses = False
    with TemporaryDirectory() as folder:
        path = Path(folder, "svc.db")
        fill(path, rows)
        connection = sqlite3.connect(path, isolation_level=None, cached_statements=512)
        title, deep_title = f"{rows:,} rows, {LIMIT} a page", f"page {page:,}"
        print(f"{title:<36}{'page 1':>10}{deep_title:>12}{'ratio':>8}")
        for name, first, deep in lines(connection, rows, page):
            ratio = deep / first
            verdict = "" if name.startswith("offset") else ("PASS" if ratio <= GOAL else "FAIL")
            misses = misses or verdict == "FAIL"
            print(f"{name:<36}{first * 1e6:>7.1f} us{deep * 1e6:>9.1f} us{ratio:>8.2f} {verdict}")
        connection.close()
    print(f"goal: at most {GOAL} times the first page: {'FAIL' if misses else 'PASS'}")
    return exit_code(not misses)


if __name__ == "__main__":
    sys.exit(main())
