"""How long the knowledge takes to answer a question, as the store grows a hundredfold.

    python benchmarks/bench_knowledge.py [--quick] [--postgres]

Reports of invented words with fifty signals each are indexed in a small store and in a large one:
1,000 and 100,000 documents, 10,000 with --quick. Every one has a vector of 384 dimensions. Asked
are the newest 1,000 documents of both stores, by words and by both, and then all. Times are those
of whole answers, excerpts and all. The stores are SQLite files, or are in a PostgreSQL server of
the benchmark's own.

Exit code 3 when a goal is missed.
"""

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from bench_retrieval import EPOCH, Language
from database import postgres
from outcome import close_run

from svc_core import catalog
from svc_core.access import plans
from svc_core.base.seals import Keyring
from svc_core.base.unset import UNSET
from svc_core.knowledge.index_upkeep import process_index
from svc_core.knowledge.retrieval import retrieve
from svc_core.knowledge.rows import KnowledgeQuery, Mode, RetrievalPeriod
from svc_core.operation.caller import Actor
from svc_core.operation.host import Host
from svc_core.reports.model import (
    Period,
    ReportContent,
    ReportCounts,
    ReportFacets,
    ReportLinks,
    ReportRow,
    ReportSignal,
    SignalConfidence,
)
from svc_core.reports.report_index import REPORT_INDEX, index_report
from svc_core.search import corpus
from svc_core.search.vector_likeness import Embedder
from svc_http import system
from svc_http.outside.embeddings.model import Embeddings
from svc_http.service.service_units import Service
from svc_http.stores import SqliteStorage
from svc_http.stores.postgres import PostgresStorage

TENANT = "wsp_" + "0" * 24
WINDOW = 1_000
SIGNALS = 49
GROWTH_GOAL = 3.0
START = datetime(2026, 1, 1, tzinfo=UTC)
MODES: tuple[Mode, ...] = ("lexical", "hybrid")
_LINKS, _CONTENT = ReportLinks("", None, "", "", ""), ReportContent("", "")
_PARTS = SignalConfidence(1.0, 1.0, 1.0, 1.0)


class Random:
    """A `VectorModel` whose vectors have random directions."""

    name = "random"
    usual = (0.0, 0.05)
    passage_prefix = query_prefix = ""

    async def vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vector of each text."""
        return [[byte - 127.5 for byte in random.Random(text).randbytes(384)] for text in texts]

    async def aclose(self) -> None:
        """Nothing is under way."""


def report(number: int, language: Language) -> tuple[ReportRow, ReportFacets]:
    """A report and its signals: fifty documents, made in fifty minutes."""
    chance = random.Random(number)
    minutes = [START + timedelta(minutes=number * 50 + n) for n in range(SIGNALS + 1)]
    period = Period(minutes[0] - timedelta(days=1), minutes[0])
    id_, title = f"rpt_{number:024x}", language.text(chance, 9)
    signals = tuple(
        ReportSignal(
            f"sig_{number * 64 + n:024x}", "strike", language.text(chance, 9),
            language.text(chance, 20), (), "down", (), (), None, at, at, 1.0, _PARTS, 1, "s", (1,),
        )
        for n, at in enumerate(minutes[1:])
    )  # fmt: skip
    counts = ReportCounts(0, SIGNALS, 0, 0)
    row = ReportRow(
        id_, "prf_" + "0" * 24, title, "", "en", minutes[0], period, "ready", False, counts, _LINKS
    )
    facets = ReportFacets(
        (), (), (), (), (), report_id=id_, digest="", signals=signals, graph=None,
        content=_CONTENT, text=f"{title}\n\n{language.text(chance, 600)}",
    )  # fmt: skip
    return row, facets


async def fill(storage: Any, numbers: range, language: Language) -> Service:
    """A store with these reports, each indexed and with vectors."""
    embedder = Embeddings(Random())
    host = Host(providers={corpus.Tables: corpus.Tables(), Embedder: embedder})
    ring = Keyring({1: b"k" * 32}, 1)
    service = Service(
        storage, system.SystemIds(), system.now, ring, plans=plans.PRESETS["default"], host=host
    )
    for number in numbers:
        row, facets = report(number, language)
        await service.write(TENANT, partial(index_report, row=row, facets=facets))
        if number % 8 == 7:
            await process_index(service, TENANT, REPORT_INDEX, embedder)
    while await process_index(service, TENANT, REPORT_INDEX, embedder) is not None:
        pass
    return service


async def milliseconds(service: Service, queries: Sequence[KnowledgeQuery]) -> float:
    """The median time of some questions, each the best of three; CPU time of a file."""
    clock = time.process_time if isinstance(service.storage, SqliteStorage) else time.perf_counter
    ctx = service.context(Actor(TENANT))
    took = []
    for query in queries:
        best = float("inf")
        for _ in range(3):
            began = clock()
            page = await retrieve(ctx, query)
            best = min(best, clock() - began)
        assert page.mode == query.mode
        took.append(best * 1_000)
    return statistics.median(took)


async def measure(storage: Any, numbers: range) -> list[float]:
    """Times of questions to the newest documents by each mode, then to all."""
    language = Language()
    service = await fill(storage, numbers, language)
    since = START + timedelta(minutes=50 * (numbers[-1] + 1) - WINDOW)
    times = []
    for period in (RetrievalPeriod(start=since), UNSET):
        for mode in MODES:
            queries = [
                KnowledgeQuery(words, period=period, mode=mode) for words in language.questions()
            ]
            times.append(await milliseconds(service, queries))
    await storage.close()
    return times


async def run(size: int, stores: Callable[[str], Awaitable[Any]]) -> list[list[float]]:
    """The times of the small store and of the large one, whose newest documents are the same."""
    per, reports_count = SIGNALS + 1, size // (SIGNALS + 1)
    return [
        await measure(await stores(name), range(first, reports_count))
        for name, first in (("small", reports_count - WINDOW // per), ("large", 0))
    ]


def in_files(size: int) -> list[list[float]]:
    """The times of SQLite files."""
    with tempfile.TemporaryDirectory() as folder:

        async def make_store(name: str) -> SqliteStorage:
            path = Path(folder) / f"{name}.db"
            return SqliteStorage.open(path, catalog.COLLECTIONS, epoch=EPOCH)

        return asyncio.run(run(size, make_store))


def in_a_server(size: int) -> list[list[float]]:
    """The times of PostgreSQL."""
    with postgres() as server:

        async def make_store(name: str) -> PostgresStorage:
            connection = await asyncpg.connect(server.dsn)
            await connection.execute(f"CREATE DATABASE {name}")
            await connection.close()
            dsn = urlsplit(server.dsn)._replace(path=f"/{name}").geturl()
            return await PostgresStorage.open(dsn, catalog.COLLECTIONS, epoch=EPOCH)

        return asyncio.run(run(size, make_store))


def main() -> int:
    """Measure, print, judge."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--quick", action="store_true", help="10,000 documents, not 100,000")
    arguments.add_argument("--postgres", action="store_true", help="PostgreSQL, not SQLite")
    options = arguments.parse_args()
    size = 10_000 if options.quick else 100_000
    few, times_many = (in_a_server if options.postgres else in_files)(size)
    worst = 0.0
    print(f"{'knowledge, ms (median)':28} {'of 1,000':>9} {f'of {size:,}':>11}")
    for at, mode in enumerate(MODES):
        growth = times_many[at] / few[at]
        worst = max(worst, growth)
        times = f"{few[at]:>9.1f} {times_many[at]:>11.1f}  {growth:.1f}x"
        print(f"{f'newest {WINDOW:,}, {mode}':28} {times}")
    for mode, time_ in zip(MODES, times_many[len(MODES) :], strict=True):
        print(f"{f'all, {mode}':28} {'':>9} {time_:>11.1f}")
    return close_run(worst <= GROWTH_GOAL, f"{worst:.1f} times")


if __name__ == "__main__":
    sys.exit(main())
