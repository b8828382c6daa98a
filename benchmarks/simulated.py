"""The service in a simulation of events, with a seed and a clock of its own.

What is modelled is what the store does (`svc_http/stores/postgres`): units that write are queued
by tenant, at most 64 of one tenant share a transaction, which holds the tenant's lock in every
process; four connections write and four read in each process; a unit's statements go to the
database one after another; commits that wait for the disk together share a flush; a page that is
kept costs a process little until the next commit, of whomever, makes it stale.

Read by simulate_scale.py and bench_simulation.py.
"""

import random
from bisect import bisect
from collections import deque
from collections.abc import Generator
from heapq import heappop, heappush
from itertools import accumulate, count
from typing import Any

from attrs import frozen

Steps = Generator[Any, None, None]
"""What somebody does: yields seconds to let pass, or a `Gate` to wait at."""

UNITS_PER_COMMIT = 64
CONNECTIONS = 4
PAUSE_SECONDS = 0.005
"""How often a process tells of commits: svc_http/stores/postgres/_notices.py."""
LATE_SECONDS = 0.25
DONE_SHARE = 0.95
BUSY_SHARE = 0.97
SYSTEM = -1


@frozen
class Costs:
    """Seconds, each with the command that measured it on two shared cores."""

    hit: float = 300e-6
    """A kept page, in the server: bench_scaling.py, kept pages."""
    page: float = 2000e-6
    """A new page of 20 rows out of three collections, in the server: bench_scaling.py."""
    page_db: float = 550e-6
    """The same in PostgreSQL: bench_scaling.py."""
    request: float = 500e-6
    """A creation in the server, but for its unit and transaction: bench_scaling.py, writes of 64
    workspaces, less the two."""
    unit: float = 580e-6
    """The unit of a creation, in the server: bench_postgres.py, profiles; bench_simulation.py."""
    unit_db: float = 330e-6
    """The same in PostgreSQL: bench_simulation.py."""
    batch: float = 660e-6
    """What a transaction costs the server, whatever its units: bench_simulation.py."""
    batch_db: float = 760e-6
    """The same in PostgreSQL: bench_simulation.py."""
    statements: int = 5
    """Messages of a creation that wait for their answers: bench_postgres.py, statements."""
    message: float = 200e-6
    """A message and its answer between two machines of one network: assumed."""
    flush: float = 500e-6
    """A commit on its way to the disk of a database: assumed."""
    notice: float = 60e-6
    """Hearing of a commit of another process: assumed."""
    counter_db: float = 150e-6
    """The four windows of a request in PostgreSQL: half of what bench_counters.py has for both."""
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
    one_process_each: bool = False
    """Whether the proxy sends all creations of a workspace to one process."""
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
            demand = next(steps, None)
            if isinstance(demand, Gate) and not demand.is_open:
                demand.waiting.append(steps)
            elif demand is not None:
                self.start(steps, 0.0 if isinstance(demand, Gate) else demand)


class Servers:
    """Some alike that serve whoever comes first: cores, connections, a lock."""

    def __init__(self, world: World, number: int = 1) -> None:
        self._world = world
        self._free = self.number = number
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
        self.pages_kept: dict[tuple[int, int], int] = {}
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
        service, gate = self.service, Gate()
        yield from self.work(service.place.costs.request)
        if service.place.counters_in_database and tenant != SYSTEM:
            yield from service.count_request(tenant)
        jobs = (
            self._busy[tenant] if tenant in self._busy else self._line.setdefault(tenant, deque())
        )
        jobs.append(gate)
        self._wake()
        yield gate

    def read(self, tenant: int, page: int) -> Steps:
        """A request that reads."""
        service, costs = self.service, self.service.place.costs
        if service.place.counters_in_database:
            yield from service.count_request(tenant)
        version = service.version_of(tenant)
        if self.pages_kept.get((tenant, page)) == version:
            yield from self.work(costs.hit)
            return
        self.pages_kept[tenant, page] = version
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
        service.commit(self, tenant, [first, *copies], len(batch))
        for gate in batch:
            service.world.open(gate)
        self._idle += 1
        waiting = self._busy.pop(tenant)
        if waiting:
            self._line[tenant] = waiting
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

    def count_request(self, tenant: int) -> Steps:
        """The windows of a request, counted in the database."""
        yield self.place.costs.message
        yield from self.shard_of(tenant).cores.use(self.place.costs.counter_db)

    def commit(self, process: Process, tenant: int, shards: list[Shard], units: int) -> None:
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

    def request(self) -> tuple[int, Steps]:
        """Somebody's request, to some process: whose, and what is done."""
        place = self.place
        creates = self.random.random() >= place.reads
        tenant = SYSTEM if self.random.random() < place.from_system else self.tenant()
        process = self.random.choice(self.processes)
        if creates and place.one_process_each:
            process = self.processes[tenant % len(self.processes)]
        if creates or tenant == SYSTEM:
            return tenant, process.create(tenant)
        return tenant, process.read(tenant, self.random.randrange(place.pages))

    def bears(self, load: float, requests: int) -> bool:
        """Whether so many requests a second are done in time, also those of the busiest tenant."""
        waits: list[float] = []
        of_busiest: list[float] = []

        def run_request() -> Steps:
            began = self.world.now
            tenant, steps = self.request()
            yield from steps
            waits.append(self.world.now - began)
            if tenant == 0:
                of_busiest.append(waits[-1])

        def all_of_them() -> Steps:
            for _ in range(requests):
                self.world.start(run_request())
                yield self.random.expovariate(load)

        self.world.start(all_of_them())
        self.world.run()
        # In a short run what piles up is seen in who has more to do than time to do it in.
        shards = [group for shard in self.shards for group in (shard.cores, *shard.replicas)]
        whole = requests / load * BUSY_SHARE
        is_busy = any(group.busy > whole * group.number for group in shards)
        is_busy |= sum(process.core.busy for process in self.processes) > whole * len(
            self.processes
        )
        return not is_busy and is_in_time(waits) and is_in_time(of_busiest)


def is_in_time(waits: list[float]) -> bool:
    """Whether nearly all did not wait for long."""
    return not waits or sorted(waits)[int(len(waits) * DONE_SHARE)] < LATE_SECONDS
