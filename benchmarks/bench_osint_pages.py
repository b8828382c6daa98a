"""A filtered page of events costs the same in a short list and in a long one.

Pages of 20 events through the store's own `scan`, filtered and sorted as the operations on events
do it, over 10,000 and over 300,000 rows (SQLite): medians, and their ratio. The rows of both are
of one world: a page's share of the rows is the same.
Run: python benchmarks/bench_osint_pages.py [--quick]
"""

import asyncio
import random
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from outcome import close_run, is_quick

from svc_core.base import boxes, drive
from svc_core.intel.events.model import OSINT_EVENTS, OsintEvent
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, GeoBox, Transaction
from svc_core.operation.source_members import SEVERITIES, Measurement, Place
from svc_http.stores import SqliteStorage

GOAL = 1.3
BOUND_MICROSECONDS = 1_000
"""What a page may cost whose growth is above the goal. Such a page walks one filter and checks
another: the short list ends before it is full, or each of its runs does, so that the short page
costs less than a full one. The long one is bounded all the same: it ends once it is full, after as
many rows as its filters leave one of, however many there are behind it."""
LIMIT = 20
REPEATS = 200
ROWS_PER_UNIT = 5_000
SIZES = (10_000, 300_000)
NEWEST = datetime(2026, 3, 1, tzinfo=UTC)
SPAN = timedelta(days=365)
PROVIDERS = ("usgs", "gdacs", "eonet", "gdelt", "ucdp")
TYPES = ("earthquake", "flood", "storm", "battle", "protest", "wildfire", "drought", "riot")
COUNTRIES = tuple(f"{first}{second}" for first in "ABCDEFGHIJ" for second in "ABCDEFGHIJ")


def box(west: float, south: float, east: float, north: float) -> dict[str, Any]:
    """An area, as the operations ask for it."""
    area = boxes.Box(west, south, east, north)
    cells = area.cells
    filters = {} if cells is None else {"cell": cells}
    return {"where": filters, "box": GeoBox(west, south, east, north)}


FILTERS: Mapping[str, dict[str, Any]] = {
    "all": {},
    "provider": {"where": {"provider": ("usgs",)}},
    "type and country": {"where": {"country": ("CE",), "type": ("flood",)}},
    "severity at least high": {"where": {"severity": ("high", "critical")}},
    "five countries": {"where": {"country": ("AA", "BC", "CE", "HJ", "JJ")}},
    "confidence at least 0.9": {"ranges": {"confidence": (900_000, None)}},
    "box of a continent": box(-20, -35, 50, 35),
    "box of a region": box(5, 45, 15, 55),
    "box of a city": box(8.4, 47.2, 8.7, 47.5),
    "box over the antimeridian": box(170, -25, -175, -10),
    "box of open sea": box(-130, -65, -120, -60),
    "a week of last spring": {
        "start": micros(NEWEST - timedelta(days=300)),
        "end": micros(NEWEST - timedelta(days=293)),
        "ranges": {
            "occurred": (
                micros(NEWEST - timedelta(days=300)),
                micros(NEWEST - timedelta(days=293)),
            )
        },
    },
    "by severity": {"order": "gravity"},
    "by update, of a country": {"order": "updated", "where": {"country": ("CE",)}},
}


def event(number: int, chance: random.Random, rows: int) -> OsintEvent:
    """One event of a world in which most of them happen on land."""
    at = NEWEST - SPAN * (number / rows)
    longitude, latitude = chance.uniform(-180, 180), chance.gauss(20, 22)
    is_at_sea = longitude < -115 or abs(latitude) > 60
    return OsintEvent(
        id=f"obs_{number:024x}",
        provider=chance.choice(PROVIDERS),
        type=chance.choice(TYPES),
        title=f"Event {number}",
        occurred_at=at,
        date_precision="instant",
        place=Place(
            None,
            "Somewhere",
            chance.choice(COUNTRIES),
            None,
            None
            if is_at_sea
            else {"type": "Point", "coordinates": [round(longitude, 4), round(latitude, 4)]},
            "exact",
        ),
        measurements=(Measurement(5.5, "magnitude", "1", provider="usgs"),),
        severity=chance.choice(SEVERITIES),
        confidence=round(chance.random(), 3),
        sources=(),
        created_at=at,
        updated_at=at,
        revision=1,
    )


async def fill(path: Path, rows: int) -> SqliteStorage:
    """A store with so many events."""
    chance = random.Random(13)
    store = SqliteStorage.open(path, (OSINT_EVENTS,), epoch=bytes(8))

    async def put(tx: Transaction, first: int) -> None:
        for number in range(first, min(first + ROWS_PER_UNIT, rows)):
            row = event(number, chance, rows)
            await tx.documents.put(OSINT_EVENTS, row.id, row)

    for first in range(0, rows, ROWS_PER_UNIT):
        await store.write(SYSTEM, lambda tx, first=first: put(tx, first))
    return store


async def time_of(store: SqliteStorage, filters: dict[str, Any], repeats: int) -> tuple[float, int]:
    """Microseconds of one page, and how many rows it has."""

    async def work(tx: Transaction) -> tuple[float, int]:
        seconds, count = [], 0
        for _ in range(repeats):
            began = time.perf_counter()
            page = drive.run(tx.documents.scan(OSINT_EVENTS, limit=LIMIT, **filters))
            seconds.append(time.perf_counter() - began)
            count = len(page.rows)
        return median(seconds) * 1e6, count

    return await store.read("wsp_a", work)


async def measure(rows: int, folder: Path, repeats: int) -> dict[str, tuple[float, int]]:
    """Each filter over so many rows."""
    store = await fill(folder / f"{rows}.db", rows)
    try:
        return {name: await time_of(store, filters, repeats) for name, filters in FILTERS.items()}
    finally:
        await store.close()


def verdict(short: float, long: float) -> str:
    """Whether a page of the long list costs about what one of the short list costs."""
    if long <= GOAL * short:
        return "met"
    return "above, bounded" if long <= BOUND_MICROSECONDS else "missed"


def lines(few: Mapping[str, Any], times_many: Mapping[str, Any]) -> Iterator[str]:
    """A table of both, and what each comes to."""
    yield f"{'filter':28} {'few, us':>9} {'many, us':>9} {'ratio':>6}  rows  growth"
    for name, (short, _) in few.items():
        long, count = times_many[name]
        verdict_line = verdict(short, long)
        yield f"{name:28} {short:9.0f} {long:9.0f} {long / short:6.2f}  {count:4}  {verdict_line}"


def main() -> int:
    """Measure and print; the exit code."""
    sizes, repeats = ((2_000, 20_000), 20) if is_quick() else (SIZES, REPEATS)
    with TemporaryDirectory() as folder:
        few, times_many = (asyncio.run(measure(rows, Path(folder), repeats)) for rows in sizes)
    print(f"pages of {LIMIT} events of {sizes[0]:,} and of {sizes[1]:,}")
    print("\n".join(lines(few, times_many)))
    verdicts = [verdict(few[name][0], times_many[name][0]) for name in FILTERS]
    bounded = verdicts.count("above, bounded")
    figure = f"{verdicts.count('met')} of {len(FILTERS)} lists, {bounded} more below 1 ms"
    return close_run("missed" not in verdicts, figure)


if __name__ == "__main__":
    sys.exit(main())
