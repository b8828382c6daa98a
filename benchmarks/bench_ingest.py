"""How fast documents become stored news, beside how fast feedparser alone reads them.

`python benchmarks/bench_ingest.py [--quick]` takes 100,000 generated items (10,000 with --quick)
into a SQLite file: fetched over loopback, parsed, judged, written and indexed. Each goal is
printed with what was reached; the exit code is 3 when one is missed.
"""

import asyncio
import io
import random
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import feedparser
from attrs import frozen
from outcome import close_run, is_quick

from svc_core import catalog
from svc_core.access import plans
from svc_core.base.egress import LOOPBACK
from svc_core.base.seals import Keyring
from svc_core.intel.folding.model import SOURCES
from svc_core.intel.news.model import NEWS
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM
from svc_http import system
from svc_http.outside.fetch.document_fetcher import Fetcher
from svc_http.outside.fetch.model import FetchLimits
from svc_http.service.service_units import Service
from svc_http.service.workers.source_pulls import add_source, pull_all
from svc_http.stores import SqliteStorage

ITEMS_PER_DOCUMENT = 2_000  # the most that one document may hold: the hardest case for memory
GOAL_RSS_MIB = 300
GOAL_WRITE_MS = 300
WORDS = 20_000
TOPICAL = ["port", "strike", "ransomware", "inflation", "bank", "election", "drone", "sanctions"]


# -- documents ---------------------------------------------------------------------------------


def vocabulary() -> list[str]:
    """Words of which some mean something to the topics and the sentiment."""
    chance = random.Random(7)
    words = [
        "".join(chance.choices("aeioulnrstdmpk", k=chance.randint(3, 9))) for _ in range(WORDS)
    ]
    return words + TOPICAL * 250


def document(number: int, words: list[str]) -> bytes:
    """One RSS document; the same number gives the same bytes."""
    chance = random.Random(number)
    start = datetime(2026, 1, 2, tzinfo=UTC)
    items = "".join(
        f"<item><guid>{number}-{at}</guid><title>{' '.join(chance.choices(words, k=9))}</title>"
        f"<link>https://host{number}.org/{at}</link>"
        f"<pubDate>{format_datetime(start + timedelta(seconds=at))}</pubDate>"
        f"<description>{' '.join(chance.choices(words, k=50))}</description></item>"
        for at in range(ITEMS_PER_DOCUMENT)
    )
    return (
        f'<?xml version="1.0"?><rss version="2.0"><channel><title>Feed {number}</title>'
        f"<language>en</language><link>https://host{number}.org/</link>{items}</channel></rss>"
    ).encode()


class Publisher:
    """Serves the documents from files, so that they take no memory of the process measured."""

    def __init__(self, folder: Path) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = (folder / self.path.strip("/")).read_bytes()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def url(self, name: str) -> str:
        """Where a document is."""
        return f"http://127.0.0.1:{self.server.server_port}/{name}"

    def close(self) -> None:
        """Serve no more."""
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


# -- what is measured --------------------------------------------------------------------------


@frozen
class TakeIn:
    """What taking everything in cost."""

    seconds: float
    items: int
    again_seconds: float
    again_written: int
    writes_ms: tuple[float, ...]


class Waits:
    """How long another writer waits while documents come in, in milliseconds."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.milliseconds: list[float] = []

    async def watch(self) -> None:
        """Write now and then, until cancelled."""
        while True:
            began = time.perf_counter()
            await self.service.system(_no_work)
            self.milliseconds.append((time.perf_counter() - began) * 1_000)
            await asyncio.sleep(0.02)


async def _no_work(ctx: Context) -> None:
    await ctx.tx.documents.get(SOURCES, "src_" + "0" * 24)


async def take_in(path: Path, publisher: Publisher, names: list[str]) -> TakeIn:
    storage = SqliteStorage.open(path, catalog.COLLECTIONS, epoch=b"12345678")
    ring = Keyring({1: b"k" * 32}, 1)
    service = Service(storage, system.SystemIds(), system.now, ring, plans=plans.PRESETS["default"])
    limits = FetchLimits(total_seconds=600.0)
    async with Fetcher(exceptions=LOOPBACK, limits=limits) as fetcher:
        sources = [await add_source(service, publisher.url(name)) for name in names]
        waits = Waits(service)
        watching = asyncio.create_task(waits.watch())
        began = time.perf_counter()
        outcomes = await pull_all(service, sources, fetcher)
        seconds = time.perf_counter() - began
        watching.cancel()
        successes = [outcome.source for outcome in outcomes if outcome.source]
        began = time.perf_counter()
        again = await pull_all(service, successes, fetcher)
        again_seconds = time.perf_counter() - began
    count = await service.read(SYSTEM, _count)
    await storage.close()
    if count != sum(outcome.run.created for outcome in outcomes):
        raise SystemExit(f"{count} items are stored, not what the outcomes say")
    return TakeIn(
        seconds,
        count,
        again_seconds,
        sum(outcome.run.created + outcome.run.updated for outcome in again),
        tuple(sorted(waits.milliseconds)),
    )


async def _count(ctx: Context) -> int:
    return await ctx.tx.documents.count(NEWS, limit=1_000_000)


def alone(bodies: Iterator[bytes]) -> float:
    """Items per second of feedparser by itself."""
    items, seconds = 0, 0.0
    for body in bodies:
        began = time.perf_counter()
        items += len(feedparser.parse(io.BytesIO(body)).entries)
        seconds += time.perf_counter() - began
    return items / seconds


def peak_rss_mib() -> float:
    """The most memory this process ever had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def main() -> int:
    total = 10_000 if is_quick() else 100_000
    words = vocabulary()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "feeds").mkdir()
        names = [f"{number}.xml" for number in range(total // ITEMS_PER_DOCUMENT)]
        for number, name in enumerate(names):
            (root / "feeds" / name).write_bytes(document(number, words))
        publisher = Publisher(root / "feeds")
        try:
            take_in_report = asyncio.run(take_in(root / "svc.db", publisher, names))
        finally:
            publisher.close()
        rss = peak_rss_mib()
        parsing = alone((root / "feeds" / name).read_bytes() for name in names[:5])
    return report(take_in_report, rss, parsing)


def report(take_in_report: TakeIn, rss: float, parsing: float) -> int:
    """Print the table; `GOAL_MISSED` when a goal is missed."""
    rate = take_in_report.items / take_in_report.seconds
    waits = take_in_report.writes_ms
    wait_ms = waits[int(len(waits) * 0.95)]
    rows = [
        ("items taken in", f"{take_in_report.items:,}", "", True),
        ("items per second through pull()", f"{rate:,.0f}", "", True),
        ("items per second, feedparser alone", f"{parsing:,.0f}", "", True),
        ("share of feedparser's speed", f"{rate / parsing:.0%}", "", True),
        ("seconds to find all unchanged", f"{take_in_report.again_seconds:.2f}", "", True),
        (
            "items written the second time",
            str(take_in_report.again_written),
            "0",
            not take_in_report.again_written,
        ),
        ("peak memory, MiB", f"{rss:.0f}", f"< {GOAL_RSS_MIB}", rss < GOAL_RSS_MIB),
        ("another write, 95 % ms", f"{wait_ms:.0f}", f"< {GOAL_WRITE_MS}", wait_ms < GOAL_WRITE_MS),
        ("another write, longest ms", f"{waits[-1]:.0f}", "", True),
    ]
    print(f"{'figure':38} {'reached':>10} {'goal':>8}")
    for name, figure, goal, is_met in rows:
        print(f"{name:38} {figure:>10} {goal:>8} {'' if is_met else 'MISSED'}")
    figure = f"{rss:.0f} MiB, {wait_ms:.0f} ms (p95)"
    return close_run(all(is_met for *_, is_met in rows), figure)


if __name__ == "__main__":
    sys.exit(main())
