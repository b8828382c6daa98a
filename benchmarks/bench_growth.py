"""A page deep in a long list costs what the first page costs, and no filter pays for other rows.

Pages of 20 rows through the store's own `scan`, by cursor position: page 1 against page 5,000 of
a million rows, unfiltered and by a facet. Then every kind of filter, order and verb that finds the
same twelve rows, among a hundred others and among a hundred thousand.
Run: python benchmarks/bench_growth.py [--quick]
"""

import asyncio
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from outcome import close_run, is_quick

from svc_core.base import drive
from svc_core.operation.ports import Position
from svc_core.testing.outline_rows import outline_of
from svc_core.testing.promises.cost_promises import CostLaw
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_core.testing.sync_store import SyncStore
from svc_http.stores import SqliteStorage
from svc_http.stores.sqlite._documents import SqliteDocuments
from svc_http.stores.sqlite._session import SqliteSession
from svc_http.stores.sqlite._table import build_table

GOAL = 1.25
LIMIT = 20
REPEATS, ASKINGS = 400, 20
ROWS_PER_UNIT = 10_000
FEW_ROWS = 100
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
    session = SqliteSession(connection, None)
    documents = SqliteDocuments(session, {NOTES.name: build_table(NOTES)}, "ann")
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


def questions(folder: Path, rows: int) -> Iterator[tuple[str, float, float]]:
    """Each kind of question, with its seconds among few other rows and among `rows` others."""
    law = CostLaw(outline_of(NOTES))
    with asyncio.Runner() as runner:
        stores = []
        for strangers in (FEW_ROWS, rows):
            store = SqliteStorage.open(folder / f"{strangers}.db", SAMPLES, epoch=bytes(8))
            stores.append(SyncStore(store, runner.run))
            law.fill(stores[-1], strangers)
        for name, question in law.questions():
            pairs = [
                [seconds_of(question, store) for store in stores] for _ in range(REPEATS // 20)
            ]
            few, many = (median(column) for column in zip(*pairs, strict=True))
            yield name, few, many
        for store in stores:
            store.close()


def seconds_of(question: Callable[[SyncStore], Any], store: SyncStore) -> float:
    """Seconds of one question."""
    began = time.perf_counter()
    question(store)
    return time.perf_counter() - began


def main() -> int:
    """Print the tables; `GOAL_MISSED` when a goal is missed."""
    rows, page, strangers = (50_000, 1_200, 5_000) if is_quick() else (1_000_000, 5_000, 100_000)
    deepest = 0.0
    with TemporaryDirectory() as folder:
        path = Path(folder, "svc.db")
        fill(path, rows)
        connection = sqlite3.connect(path, isolation_level=None, cached_statements=512)
        title, deep_title = f"{rows:,} rows, {LIMIT} a page", f"page {page:,}"
        print(f"{title:<44}{'page 1':>10}{deep_title:>12}{'ratio':>8}")
        for name, first, deep in lines(connection, rows, page):
            ratio = deep / first
            if not name.startswith("offset"):
                deepest = max(deepest, ratio)
            print(f"{name:<44}{first * 1e6:>7.1f} us{deep * 1e6:>9.1f} us{ratio:>8.2f}")
        connection.close()
        ratios = []
        print(
            f"{'the same 12 rows':<44}{f'of {FEW_ROWS:,}':>10}{f'of {strangers:,}':>12}{'ratio':>8}"
        )
        for name, few, many in questions(Path(folder), strangers):
            ratios.append(many / few)
            print(f"{name:<44}{few * 1e6:>7.1f} us{many * 1e6:>9.1f} us{many / few:>8.2f}")
    growth = median(ratios)
    figure = f"{deepest:.2f} at a deep page, {growth:.2f} among more rows"
    return close_run(max(deepest, growth) <= GOAL, figure)


if __name__ == "__main__":
    sys.exit(main())
