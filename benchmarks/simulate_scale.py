"""The service on more machines than there are here: at which load each wall stands, what moves it.

Requests come at random times from 100,000 workspaces, the busiest of which has a fiftieth of the
load (Zipf), to the service of simulated.py, which prints the same anywhere. What it costs is
measured, the command stands there beside each cost; how near it comes to the real one is shown by
bench_simulation.py. A wall is the highest load at which nineteen of twenty requests are done within
a quarter of a second, also of the busiest workspace, and nothing is busy for more than 97 % of the
time; it is found by halving, to a tenth.

    python benchmarks/simulate_scale.py [--quick]

What is not built is marked so.
"""

import sys

from attrs import evolve
from simulated import Costs, Place, Service

FEWER = Costs(statements=2)
WIDE = Place(processes=256)
"""More processes than any wall needs that is not theirs."""

WALLS: tuple[tuple[str, str, dict[str, Place]], ...] = (
    (
        "1. the order of one workspace",
        "creations a second in it",
        {
            "one process": Place(processes=1, tenants=1, reads=0.0),
            "8 processes": Place(processes=8, tenants=1, reads=0.0),
            "64 processes": Place(processes=64, tenants=1, reads=0.0),
            "64 processes, of which the proxy sends it to one": Place(
                processes=64, tenants=1, reads=0.0, one_process_each=True
            ),
            "8 processes and 8 shards": Place(processes=8, tenants=1, reads=0.0, shards=8),
            "8 processes, two messages for a unit instead of five (not built)": Place(
                processes=8, tenants=1, reads=0.0, costs=FEWER
            ),
        },
    ),
    (
        "   the same, where many share 8 shards",
        "creations a second in all",
        {
            "10,000, of whom the busiest has a tenth": evolve(
                WIDE, reads=0.0, shards=8, tenants=10_000, skew=1.0
            ),
            "100,000, of whom the busiest has a fiftieth": evolve(WIDE, reads=0.0, shards=8),
            "the same, and the proxy sends each to one of the 256 processes": evolve(
                WIDE, reads=0.0, shards=8, one_process_each=True
            ),
        },
    ),
    (
        "2. the order of the system",
        "units of the system a second",
        {
            "8 processes": Place(processes=8, from_system=1.0),
            "8 shards, each with a copy": Place(processes=8, from_system=1.0, shards=8),
            "two messages for a unit instead of five (not built)": Place(
                processes=8, from_system=1.0, costs=FEWER
            ),
        },
    ),
    (
        "3. one primary of 8 cores",
        "requests a second, a tenth of them creations",
        {
            "counters in the database": WIDE,
            "counters in Valkey": evolve(WIDE, counters_in_database=False),
            "and a fifth of reads from object storage": evolve(
                WIDE, counters_in_database=False, elsewhere=0.2
            ),
            "and 2 replicas": evolve(WIDE, counters_in_database=False, elsewhere=0.2, replicas=2),
            "or 4 shards": evolve(WIDE, counters_in_database=False, elsewhere=0.2, shards=4),
        },
    ),
    (
        "4. pages that are kept",
        "requests a second of 8 processes, a hundredth creations",
        {
            "any commit makes all stale": Place(processes=8, tenants=100, reads=0.99),
            "a commit makes its tenant's stale (not built)": Place(
                processes=8, tenants=100, reads=0.99, versions_by_tenant=True
            ),
            "any commit, 16 processes": Place(processes=16, tenants=100, reads=0.99),
        },
    ),
)


def wall(place: Place, requests: int) -> float:
    """The highest load that is borne, to a tenth."""

    def bears(load: float) -> bool:
        # Long enough for what piles up to be seen.
        return Service(place).bears(load, max(requests, int(load / 2)))

    load = 16.0
    while bears(load * 2):
        load *= 2
    step = load / 2
    while step > load / 16:
        if bears(load + step):
            load += step
        step /= 2
    return load


def walls(requests: int) -> None:
    """Print where they stand."""
    for name, unit, places in WALLS:
        print(f"{name}: {unit}")
        first = None
        for what, place in places.items():
            load = wall(place, requests)
            first = first or load
            print(f"     {load:9,.0f}  {load / first:5.1f}x  {what}", flush=True)


def main() -> None:
    """Print the walls."""
    walls(4_000 if "--quick" in sys.argv else 20_000)


if __name__ == "__main__":
    main()
