"""How long one workspace's report waits while another's many profiles are due in the same minute.

Both workspaces are on one SQLite store. The crowd's profiles come first in the queue, and there are
more of them than one look at it sees, so that only turns by workspace let the other's report be
made early. The control, in the same minute, is the same report where no other is due.

    python benchmarks/bench_schedules.py [--quick]

Exit code 3 when the report waits for more of the crowd's than the goal says.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from outcome import close_run, is_quick

from svc_core.access import plans
from svc_core.base.seals import Keyring
from svc_core.catalog import COLLECTIONS
from svc_core.operation.context import Context
from svc_core.operation.host import Host
from svc_core.reports.profiles import operations as profiles
from svc_core.reports.profiles.model import ProfileInput
from svc_http import system
from svc_http.service.service_units import Service
from svc_http.service.workers.schedules import run_due
from svc_http.stores import SqliteStorage

PLACE_GOAL = 1
"""Reports of the crowd that are made before the other's: its one turn."""
CROWD, SINGLE = "wsp_" + "a" * 24, "wsp_" + "b" * 24
BATCH = 100
"""Profiles written in one unit of work."""


def service_of(folder: Path, now: Callable[[], datetime]) -> Service:
    """A service over a store of its own."""
    return Service(
        SqliteStorage.open(folder / "svc.db", COLLECTIONS, epoch=bytes(8)),
        system.SystemIds(),
        now,
        Keyring({1: b"a key of the benchmark: 32 bytes"}, 1),
        plans=plans.PRESETS["default"],
        host=Host(is_development=True),
    )


async def add_profiles(service: Service, tenant: str, count: int) -> str:
    """Add hourly profiles, all of them due at one time; the address of the last one."""
    location = ""

    async def unit(ctx: Context, size: int) -> str:
        for number in range(size):
            wish = ProfileInput(name=f"Ports {number}", topic="Cranes", frequency="hourly")
            creation = await profiles.create_profile(ctx, profiles.CreateProfile(wish))
        return creation.location

    while count > 0:
        location = await service.write(tenant, partial(unit, size=min(BATCH, count)))
        count -= BATCH
    return location


async def waiting(crowd: int) -> tuple[int, float]:
    """After how many other reports the one of the single profile is there, and how many seconds."""
    days = 0
    commit_times: list[float] = []

    def now() -> datetime:
        return system.now() + timedelta(days=days)

    def listen(names: frozenset[str]) -> None:
        if "reports" in names:
            commit_times.append(time.perf_counter())

    with TemporaryDirectory() as folder:
        service = service_of(Path(folder), now)
        await add_profiles(service, CROWD, crowd)
        address = await add_profiles(service, SINGLE, 1)
        days = 2
        service.storage.watch(listen)
        start, place = time.perf_counter(), -1
        made: list[str] = []
        while place < 0:
            made += [report.profile_id for report in await run_due(service)]
            place = next((n for n, id_ in enumerate(made) if address.endswith(id_)), -1)
        seconds = commit_times[place] - start
        await service.storage.close()  # type: ignore[attr-defined]
    return place, seconds


async def main() -> int:
    crowd = 240 if is_quick() else 1_200
    await waiting(0)  # what is done once in a process
    _, control = await waiting(0)
    place, seconds = await waiting(crowd)
    print(f"alone            {control * 1e3:8.0f} ms")
    print(f"beside {crowd:5} due {seconds * 1e3:8.0f} ms, after {place} of them")
    return close_run(
        place <= PLACE_GOAL, f"after {place} of {crowd}; {seconds / control:.1f} times"
    )


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
