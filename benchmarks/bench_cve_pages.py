"""A filtered page of CVEs costs the same in a short list and in a long one.

Pages of 20 rows of `/cyber/cves`, with what is looked up when they are read, over 10,000 and over
300,000 CVEs (SQLite): the best of some, and their ratio. The rows of both are of one world: CVEs
with scores as the NVD and EPSS have them, of which half a percent are listed as exploited.
Run: python benchmarks/bench_cve_pages.py [--quick]
"""

import asyncio
import random
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
from bench_osint_pages import GOAL, LIMIT
from outcome import close_run, is_quick

from svc_core import catalog
from svc_core.base import drive
from svc_core.base.seals import Keyring
from svc_core.intel.entities import vulnerability
from svc_core.intel.entities.vulnerability import CVES, Cve, ListCves
from svc_core.intel.linking.references import id_of
from svc_core.intel.vulnerabilities.operations import list_cves
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Transaction
from svc_http import system
from svc_http.stores import SqliteStorage

REPEATS = 30
ROWS_PER_UNIT = 2_000
SIZES = (10_000, 300_000)
NEWEST = datetime(2026, 3, 1, tzinfo=UTC)
SPAN = timedelta(days=365 * 20)
VENDORS = tuple(f"Vendor {number}" for number in range(2_000))
WEAKNESSES = tuple(f"CWE-{number}" for number in range(1, 401))
SCORES = (("low", 3.1, 4), ("medium", 5.4, 40), ("high", 7.5, 40), ("critical", 9.8, 16))
SORTS = ("updatedAt", "published", "modified", "score", "epss")

FILTERS: Mapping[str, dict[str, Any]] = {
    "all": {},
    "cveId": {"cve_id": ("CVE-2020-000007",)},
    "vendor": {"vendor": ("vendor 3",)},
    "rare vendor": {"vendor": ("vendor 1200",)},
    "product": {"product": ("product 7",)},
    "entityId": {"entity_id": (id_of("cik:0000789019"),)},
    "minScore=9": {"min_score": 9.0},
    "cvssVersion=4.0": {"cvss_version": ("4.0",)},
    "severity=critical": {"severity": ("critical",)},
    "severity=high,critical": {"severity": ("high", "critical")},
    "kev=true": {"kev": True},
    "kev=false": {"kev": False},
    "ransomware=true": {"ransomware": True},
    "minEpss=0.5": {"min_epss": 0.5},
    "minEpssPercentile=0.99": {"min_epss_percentile": 0.99},
    "cwe=CWE-79": {"cwe": ("CWE-1",)},
    "rare cwe": {"cwe": ("CWE-300",)},
    "state=REJECTED": {"state": ("REJECTED",)},
    "a month": {"published_from": "2020-01-01", "published_to": "2020-01-31"},
    "modifiedSince": {"modified_since": "2026-02-01"},
}

TOGETHER: Mapping[str, dict[str, Any]] = {
    "kev and minScore=9": {"kev": True, "min_score": 9.0},
    "critical and minEpss=0.5": {"severity": ("critical",), "min_epss": 0.5},
    "vendor and high": {"vendor": ("vendor 3",), "severity": ("high",)},
}


def row(number: int, chance: random.Random, rows: int) -> Cve:
    """One CVE of a world in which few are exploited, and most are of a few vendors."""
    at = NEWEST - SPAN * (number / rows)
    changed_at = at + (NEWEST - at) * chance.random() ** 4
    is_listed, is_rejected = chance.random() < 0.005, chance.random() < 0.03
    severity, base, _ = chance.choices(SCORES, [weight for *_, weight in SCORES])[0]
    version = chance.choices(("2.0", "3.1", "4.0"), (20, 70, 10))[0]
    score = vulnerability.Score(version, None, base, severity, "nvd", "primary")
    rank = 0.99 + chance.random() * 0.01 if is_listed else chance.random()
    vendor = VENDORS[min(int(chance.paretovariate(0.6)) - 1, len(VENDORS) - 1)]
    vendor = "Microsoft" if chance.random() < 0.04 else vendor
    cwe = WEAKNESSES[min(int(chance.paretovariate(0.5)) - 1, len(WEAKNESSES) - 1)]
    kev = vulnerability.Kev(
        date(2026, 1, 1), known_ransomware_campaign_use=chance.choice(["Known", "Unknown"])
    )
    cve_id = f"CVE-2020-{number:06}"
    cve = Cve(
        id=id_of(cve_id), type="vulnerability", name=cve_id, cve_id=cve_id,
        state="REJECTED" if is_rejected else "PUBLISHED",
        description="What goes wrong, in some words. " * 8,
        published_at=at, modified_at=changed_at, sources=(),
        created_at=at, updated_at=NEWEST - SPAN * chance.random(), revision=1,
    )  # fmt: skip
    if is_rejected:
        return cve
    product = f"Product {chance.randrange(200)}"
    return attrs.evolve(
        cve,
        scores=(score,),
        score=score,
        epss=vulnerability.Epss(round(rank**30, 5), round(rank, 5), "v2025.03.14", NEWEST),
        weaknesses=(vulnerability.Weakness(cwe),),
        affected=(vulnerability.Affected(vendor, product),),
        **({"kev": kev} if is_listed else {}),
    )


async def fill(path: Path, rows: int) -> SqliteStorage:
    """A store with so many CVEs."""
    chance = random.Random(14)
    store = SqliteStorage.open(path, catalog.COLLECTIONS, epoch=bytes(8))

    async def put(tx: Transaction, first: int) -> None:
        for number in range(first, min(first + ROWS_PER_UNIT, rows)):
            cve = row(number, chance, rows)
            await tx.documents.put(CVES, cve.id, cve)

    for first in range(0, rows, ROWS_PER_UNIT):
        await store.write(SYSTEM, lambda tx, first=first: put(tx, first))
    return store


async def time_of(store: SqliteStorage, filters: dict[str, Any], repeats: int) -> tuple[float, int]:
    """Microseconds of one page at best, and how many rows it has."""

    async def work(tx: Transaction) -> tuple[float, int]:
        ring = Keyring({1: b"k" * 32}, 1)
        ctx = Context(NEWEST, system.SystemIds(), Actor("wsp_a"), "listCves", ring, tx=tx)
        best, count = float("inf"), 0
        for _ in range(repeats):
            began = time.perf_counter()
            page = drive.run(list_cves(ctx, ListCves(**filters)))
            best = min(best, time.perf_counter() - began)
            count = len(page.rows)
        return best * 1e6, count

    return await store.read("wsp_a", work)


def questions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every filter with every sort, and some together."""
    for name, filters in (FILTERS | TOGETHER).items():
        for sort in SORTS:
            yield f"{name}, by {sort}", filters | {"sort": sort}


async def measure(sizes: tuple[int, int], folder: Path, repeats: int) -> int:
    """Measure both stores in turns, so that what else the machine does weighs on both."""
    short, long = [await fill(folder / f"{rows}.db", rows) for rows in sizes]
    print(f"pages of {LIMIT} CVEs of {sizes[0]:,} and of {sizes[1]:,}")
    print(f"{'list':48} {'few, us':>9} {'many, us':>9} {'ratio':>6}  rows")
    misses = total = 0
    for name, filters in questions():
        (few, rows_few), (large, rows) = [
            await time_of(store, filters, repeats) for store in (short, long)
        ]
        print(
            f"{name:48} {few:9.0f} {large:9.0f} {large / few:6.2f}  {rows_few:4} {rows:4}",
            flush=True,
        )
        if rows_few == rows:  # a page of fewer rows is another page
            misses += large > GOAL * few
            total += 1
    for store in (short, long):
        await store.close()
    return close_run(not misses, f"{total - misses} of {total} lists")


def main() -> int:
    """Measure and print; the exit code."""
    sizes, repeats = ((2_000, 20_000), 10) if is_quick() else (SIZES, REPEATS)
    with TemporaryDirectory() as folder:
        return asyncio.run(measure(sizes, Path(folder), repeats))


if __name__ == "__main__":
    sys.exit(main())
