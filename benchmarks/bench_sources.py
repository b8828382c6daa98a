"""What it costs to take documents of several formats in, row by row, beside the bare parse.

    python benchmarks/bench_sources.py [--quick] [--postgres]

Documents are made up: scores in CSV, earthquakes and vulnerabilities in JSON, events in tabs, news
in RSS. Each is parsed by the bare library (`csv`, `json`, `feedparser`), read and judged by ours,
and taken into a store by the worker, while somebody else writes now and then. CPU time is that of
all threads; of PostgreSQL's processes it is counted in. The mixture is 30 MB, the largest document
300,000 rows (3 MB and 30,000 with --quick).

Exit code 3 when a goal is missed.
"""

import argparse
import asyncio
import csv
import io
import json
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import feedparser
from attrs import frozen
from bench_ingest import Waits, document, peak_rss_mib, vocabulary
from database import cpu_seconds, family, postgres
from outcome import close_run

from svc_core import catalog
from svc_core.access import plans
from svc_core.base.seals import Keyring
from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import read_document, recognise_format
from svc_http import system
from svc_http.outside.fetch.document_fetcher import Fetcher
from svc_http.service.service_units import Service
from svc_http.service.workers.source_pulls import add_source, pull_all
from svc_http.stores import SqliteStorage
from svc_http.stores.postgres import PostgresStorage

JUDGED_US, STORED_US = 25.0, 200.0
SECONDS_MAX, RSS_MIB_MAX, WAIT_MS_MAX = 60.0, 500, 250
START = datetime(2026, 1, 2, tzinfo=UTC)
EPOCH = b"12345678"


# -- documents ---------------------------------------------------------------------------------


def epss(rows: int) -> bytes:
    """A day's scores."""
    chance = random.Random(rows)
    lines = "".join(
        f"CVE-{1999 + at % 27}-{at:06},{chance.random():.5f},{chance.random():.5f}\n"
        for at in range(rows)
    )
    head = "#model_version:v2025.03.14,score_date:2026-01-02T00:00:00+0000\ncve,epss,percentile\n"
    return (head + lines).encode()


def usgs(rows: int) -> bytes:
    """Earthquakes."""
    chance = random.Random(rows)
    features = []
    for at in range(rows):
        millis = 1_767_225_600_000 + at * 60_000
        magnitude = round(chance.uniform(2, 8), 1)
        features.append(
            {
                "type": "Feature",
                "id": f"us7000{at:05}",
                "properties": {
                    "mag": magnitude, "place": f"{at} km W of Quito", "time": millis,
                    "updated": millis + 5_000, "url": f"https://earthquake.usgs.gov/us7000{at:05}",
                    "status": "reviewed", "tsunami": 0, "sig": 600, "net": "us", "code": f"{at}",
                    "ids": f",us7000{at:05},pr{at:05},", "magType": "mww", "type": "earthquake",
                    "alert": "green", "title": f"M {magnitude} - {at} km W of Quito",
                },
                "geometry": {
                    "type": "Point",
                    "coordinates": [chance.uniform(-180, 180), chance.uniform(-80, 80), 10.0],
                },
            }
        )  # fmt: skip
    about = {"generated": 1_767_325_600_000, "title": "Earthquakes", "status": 200, "count": rows}
    return json.dumps(
        {"type": "FeatureCollection", "metadata": about, "features": features}
    ).encode()


def kev(rows: int) -> bytes:
    """Exploited vulnerabilities."""
    text = " ".join(vocabulary()[:40])
    entries = [
        {
            "cveID": f"CVE-2024-{at:05}", "vendorProject": "Harbour", "product": f"Crane {at % 99}",
            "vulnerabilityName": f"Harbour Crane {at} Overflow", "dateAdded": "2026-01-01",
            "shortDescription": text, "requiredAction": "Apply updates.", "dueDate": "2026-02-01",
            "knownRansomwareCampaignUse": "Unknown", "notes": "https://nvd.nist.gov/", "cwes": [],
        }
        for at in range(rows)
    ]  # fmt: skip
    head = {"title": "KEV", "catalogVersion": "2026.01.02", "dateReleased": START.isoformat()}
    return json.dumps(head | {"count": rows, "vulnerabilities": entries}).encode()


def feed(rows: int) -> bytes:
    """News."""
    return document(rows, vocabulary()) if rows == 2_000 else document(1, vocabulary())


def _json(body: bytes) -> object:
    return json.loads(body)


def _csv(body: bytes) -> object:
    return list(csv.reader(io.StringIO(body.decode())))


def _feed(body: bytes) -> object:
    return feedparser.parse(io.BytesIO(body))


Make = Callable[[], Awaitable[Any]]
Build = Callable[[int], bytes]
CASES: tuple[tuple[str, Build, Callable[[bytes], object], int, float], ...] = (
    ("epss.csv", epss, _csv, 20_000, 1.0),
    ("usgs.json", usgs, _json, 10_000, 1.0),
    ("kev.json", kev, _json, 10_000, 1.0),
    ("feed.xml", feed, _feed, 2_000, float("inf")),  # judged by bench_ingest_parse.py
)


# -- what is measured --------------------------------------------------------------------------


class Clock:
    """CPU time of this process and of the database's."""

    def __init__(self, pid: int | None) -> None:
        self.pid = pid

    def __call__(self) -> float:
        """Seconds so far."""
        return time.process_time() + (cpu_seconds(family(self.pid)) if self.pid else 0.0)


@frozen
class Cost:
    """What one document took."""

    rows: int
    cpu_us: float
    seconds: float
    longest_ms: float


async def take_in(make: Make, clock: Clock, paths: list[Path]) -> Cost:
    """Take documents into an empty store."""
    storage = await make()
    ring = Keyring({1: b"k" * 32}, 1)
    service = Service(storage, system.SystemIds(), system.now, ring, plans=plans.PRESETS["default"])
    async with Fetcher() as fetcher:
        sources = [await add_source(service, str(path)) for path in paths]
        waits = Waits(service)
        watching = asyncio.create_task(waits.watch())
        cpu, began = clock(), time.perf_counter()
        outcomes = await pull_all(service, sources, fetcher)
        seconds, cpu_spent = time.perf_counter() - began, clock() - cpu
        watching.cancel()
    for outcome in outcomes:
        if outcome.status != "taken":
            raise SystemExit(f"{outcome}")
    rows = sum(outcome.run.created + outcome.run.unchanged for outcome in outcomes)
    await storage.close()
    return Cost(rows, cpu_spent / rows * 1e6, seconds, max(waits.milliseconds, default=0.0))


@contextmanager
def stores(dsn: str | None) -> Iterator[Make]:
    """Makes empty stores."""
    with tempfile.TemporaryDirectory() as folder:
        numbers = count()

        async def make() -> Any:
            name = f"store{next(numbers)}"
            if dsn is None:
                path = Path(folder) / f"{name}.db"
                return SqliteStorage.open(path, catalog.COLLECTIONS, epoch=EPOCH)
            connection = await asyncpg.connect(dsn)
            await connection.execute(f"CREATE DATABASE {name}")
            await connection.close()
            own = urlsplit(dsn)._replace(path=f"/{name}").geturl()
            return await PostgresStorage.open(own, catalog.COLLECTIONS, epoch=EPOCH)

        yield make


def cpu_us(work: Callable[[], object], rows: int) -> float:
    """CPU time for a row, the best of three."""
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best / rows * 1e6


def _read(body: bytes, path: Path) -> object:
    text = Body(body)
    return read_document(text, recognise_format(text), Origin(name=path.name))


def _row(name: str, figure: str, goal: str, is_met: bool) -> bool:
    print(f"{name:44} {figure:>12} {goal:>10} {'' if is_met else 'MISSED'}", flush=True)
    return is_met


def run(make: Make, clock: Clock, folder: Path, *, quick: bool) -> int:
    """Print every figure; the exit code."""
    is_met, worst_us, stored_us = True, 0.0, 0.0
    for name, build, bare, rows, limit in CASES:
        body = build(rows)
        path = folder / name
        path.write_bytes(body)
        alone = cpu_us(partial(bare, body), rows)
        own_us = cpu_us(partial(_read, body, path), rows)
        cost = asyncio.run(take_in(make, clock, [path]))
        _row(
            f"{name}, {len(body) / rows:.0f} bytes a row: bare parse, us", f"{alone:.1f}", "", True
        )
        overhead_us, judged_max = max(0.0, own_us - alone), JUDGED_US * limit
        goal = f"< {JUDGED_US:.0f}" if limit == 1.0 else ""
        is_met &= _row(
            "  read and judged beyond it, us", f"{overhead_us:.1f}", goal, overhead_us < judged_max
        )
        store_us = max(0.0, cost.cpu_us - own_us)
        worst_us, stored_us = max(worst_us, overhead_us / limit), max(stored_us, store_us)
        is_met &= _row(
            "  stored, us", f"{store_us:.0f}", f"< {STORED_US:.0f}", store_us < STORED_US
        )
        is_met &= _print_waits(cost)
    seconds, is_large_met = _large(make, clock, folder, quick=quick)
    figure = f"{worst_us:.0f} and {stored_us:.0f} us; {seconds:.1f} s; {peak_rss_mib():.0f} MiB"
    return close_run(is_met and is_large_met, figure)


def _large(make: Make, clock: Clock, folder: Path, *, quick: bool) -> tuple[float, bool]:
    share = 10 if quick else 1
    path = folder / "large.csv"
    path.write_bytes(epss(300_000 // share))
    cost = asyncio.run(take_in(make, clock, [path]))
    goal = SECONDS_MAX / share
    is_met = _row(
        f"{cost.rows:,} scores, s", f"{cost.seconds:.1f}", f"< {goal:.0f}", cost.seconds < goal
    )
    is_met &= _print_waits(cost)
    paths = []
    for turn in range(max(1, 3 // share)):
        for name, build, _, rows, _ in CASES:
            paths.append(folder / f"{turn}-{name}")
            rows_wanted = rows if name == "feed.xml" else rows // share * 2
            paths[-1].write_bytes(
                build(rows_wanted - turn) if name != "feed.xml" else build(rows_wanted)
            )
    size = sum(path.stat().st_size for path in paths) / 1e6
    cost = asyncio.run(take_in(make, clock, paths))
    goal = SECONDS_MAX * size / 30
    is_met &= _row(
        f"{size:.0f} MB of all, {cost.rows:,} rows, s", f"{cost.seconds:.1f}", f"< {goal:.0f}",
        cost.seconds < goal,
    )  # fmt: skip
    is_met &= _print_waits(cost)
    rss = peak_rss_mib()
    is_met &= _row("peak memory, MiB", f"{rss:.0f}", f"< {RSS_MIB_MAX}", rss < RSS_MIB_MAX)
    return cost.seconds, is_met


def _print_waits(cost: Cost) -> bool:
    return _row("  another write, longest ms", f"{cost.longest_ms:.0f}", "", True)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--quick", action="store_true", help="a tenth of the large documents")
    arguments.add_argument("--postgres", action="store_true", help="PostgreSQL instead of SQLite")
    options = arguments.parse_args()
    print(f"{'figure':44} {'reached':>12} {'goal':>10}")
    with tempfile.TemporaryDirectory() as folder:
        if options.postgres:
            with postgres() as database, stores(database.dsn) as make:
                return run(make, Clock(database.pid), Path(folder), quick=options.quick)
        with stores(None) as make:
            return run(make, Clock(None), Path(folder), quick=options.quick)


if __name__ == "__main__":
    sys.exit(main())
