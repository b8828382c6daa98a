"""A scheduler that dies anywhere leaves no report or a whole one, and the next makes the rest.

A whole report is its row, its facets, its change record, its event with one delivery for the
webhook, and the next run of its profile. The boundaries are every call of the store that a round
makes, and the moments before, within and after each commit.
"""

import contextlib
import os
import random
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest

from svc_core.operation.ports import FeedPosition
from svc_core.outbox.model import (
    DEFAULT_EVENTS,
    DELIVERIES,
    EVENTS,
    QUEUED_DELIVERIES,
    WEBHOOKS,
    StoredWebhook,
    delivery_id,
)
from svc_core.reports.model import FACETS, REPORTS, ReportRow
from svc_core.reports.profiles import operations as profiles
from svc_core.reports.profiles.model import DUE, ProfileInput
from svc_http.service.workers.schedules import SETTLING, run_due
from tests.backends import NAMES

pytestmark = pytest.mark.anyio

TENANT = "wsp_" + "a" * 24
HOOK = "whk_" + "1" * 24
PROFILES = 3
KILLS, KILLS_OF_A_SOAK = 10, 100


class Fault(Exception):  # noqa: N818
    """What a test lets happen at a boundary."""


class Fragile:
    """A store that counts its boundaries and fails at one of them."""

    def __init__(self, storage: Any, fails_at: int = 0) -> None:
        self.storage, self.fails_at, self.count = storage, fails_at, 0

    def boundary(self) -> None:
        self.count += 1
        if self.count == self.fails_at:
            raise Fault(self.count)

    async def across(self, *arguments: Any, **how: Any) -> Any:
        self.boundary()
        return await self.storage.across(*arguments, **how)

    async def read(self, tenant: str, unit: Any) -> Any:
        return await self._run(self.storage.read, tenant, unit)

    async def write(self, tenant: str, unit: Any) -> Any:
        return await self._run(self.storage.write, tenant, unit)

    async def _run(self, runner: Any, tenant: str, unit: Any) -> Any:
        async def watched_unit(tx: Any) -> Any:
            outcome = await unit(WatchedPart(tx, self.boundary))
            self.boundary()  # all is done and nothing is committed
            return outcome

        self.boundary()
        outcome = await runner(tenant, watched_unit)
        self.boundary()  # it is committed and nobody was told
        return outcome


class WatchedPart:
    """A part of the store, with a boundary before each call."""

    def __init__(self, part: Any, boundary: Callable[[], None]) -> None:
        self._part, self._boundary = part, boundary

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._part, name)
        if name in ("documents", "changes", "answers", "ledger"):
            return WatchedPart(member, self._boundary)
        if not callable(member):
            return member

        def call(*arguments: Any, **how: Any) -> Any:
            self._boundary()
            return member(*arguments, **how)

        return call


# -- a town with a webhook ---------------------------------------------------------------------


async def furnish(house: Any, number: int = PROFILES) -> list[str]:
    """Due hourly profiles and a webhook that is told of all of them."""
    now = house.clock.now()
    hook = StoredWebhook(
        id=HOOK,
        url="https://hooks.example.com/svc",
        description=None,
        events=DEFAULT_EVENTS,
        profile_ids=(),
        created_at=now,
        updated_at=now,
    )
    await house.service.write(TENANT, lambda ctx: ctx.save(WEBHOOKS, HOOK, hook))
    ids = []
    for at in range(number):
        wish = ProfileInput(name=f"Ports {at}", topic="Cranes", frequency="hourly")
        creation = await house.service.write(
            TENANT,
            lambda ctx, wish=wish: profiles.create_profile(ctx, profiles.CreateProfile(wish)),
        )
        ids.append(creation.location.rpartition("/")[2])
    house.clock.advance(3_600)
    return ids


async def scan(house: Any, collection: Any) -> dict[str, Any]:
    page = await house.service.read(
        TENANT, lambda ctx: ctx.tx.documents.scan(collection, limit=100_000)
    )
    return {row.id: collection.decode(row.raw) for row in page.rows}


async def check_whole(house: Any) -> list[ReportRow]:
    """Every report is whole, and nothing of one that is not there is left; the reports."""
    rows: dict[str, ReportRow] = await scan(house, REPORTS)
    feed = await house.service.read(
        TENANT, lambda ctx: ctx.tx.changes.read(FeedPosition(), limit=100_000)
    )
    events = await scan(house, EVENTS)
    assert set(await scan(house, FACETS)) == set(rows)
    changed_ids = [
        change.resource_id for change in feed.changes if change.resource_type == "report"
    ]
    assert sorted(changed_ids) == sorted(rows)
    assert sorted(event.subject for event in events.values()) == sorted(rows)
    deliveries = {delivery_id(HOOK, id_) for id_ in events}
    assert (
        set(await scan(house, DELIVERIES))
        == set(await scan(house, QUEUED_DELIVERIES))
        == deliveries
    )
    for profile_id, due in (await scan(house, DUE)).items():
        own = [row for row in rows.values() if row.profile_id == profile_id]
        newest = max(own, key=lambda row: row.period.end, default=None)
        assert due.last_report_id == (newest and newest.id)
        assert due.covered_until == (newest and newest.period.end)
        assert len({row.period.end for row in own}) == len(own)
        if newest is not None and not due.failures:
            assert due.next_run_at == newest.period.end + timedelta(hours=1)
    return list(rows.values())


# -- a fault at every boundary -----------------------------------------------------------------


@pytest.mark.parametrize("kind", NAMES)
async def test_a_fault_at_any_boundary_leaves_none_or_a_whole_report(
    make_house: Callable[[str], Any], kind: str
) -> None:
    """One report at a time: at the n-th boundary of its round the store fails."""
    house = make_house(kind)
    (id_,) = await furnish(house, 1)
    whole, count_before = house.service, 0
    fails_at, was_reached = 0, True
    while was_reached:
        fails_at += 1
        run_at = (await scan(house, DUE))[id_].next_run_at
        house.clock.advance((run_at + SETTLING - house.clock.now()).total_seconds())
        fragile = Fragile(whole.storage, fails_at)
        with contextlib.suppress(Fault, ExceptionGroup):
            await run_due(attrs.evolve(whole, storage=fragile))
        was_reached = fragile.count >= fails_at
        count = len(await check_whole(house))
        assert count - count_before in (0, 1)
        house.clock.advance(3_600)  # whatever was put off has its turn
        await run_due(whole)
        rows = await check_whole(house)
        assert len(rows) > count_before
        count_before = len(rows)
    assert fails_at > 25  # the boundaries of one round
    await house.close()


# -- kill -9 -----------------------------------------------------------------------------------

# Imports once; then a fork for each life, which opens the file itself.
LIVES = """
import asyncio, attrs, os, signal, sys
from svc_core import catalog
from svc_http import system
from svc_http.service.workers.schedules import schedule_loop
from svc_http.stores import SqliteStorage
from tests.backends import EPOCH
from tests.http.workers.conftest import House
from tests.http.workers.test_schedule_crashes import Fragile

class Mortal(Fragile):
    def boundary(self):
        self.count += 1
        if self.count == self.fails_at:
            os.kill(os.getpid(), signal.SIGKILL)

async def live(path, seconds, dies_at):
    house = House(SqliteStorage.open(path, catalog.COLLECTIONS, epoch=EPOCH))
    house.clock.advance(float(seconds))
    storage = Mortal(house.storage, int(dies_at))
    service = attrs.evolve(house.service, storage=storage, ids=system.SystemIds())
    await schedule_loop(service, round_seconds=0.005)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        asyncio.run(live(*line.split()))
    print(child, flush=True)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


class Lives:
    """Schedulers in processes of their own, one after another, each killed."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", LIVES],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(Path(__file__).parents[3])},
        )

    def end_of(self, path: Path, ahead: float, dies_at: int, kill_after: float | None) -> int:
        """How a life ended that dies at a boundary, or is killed after some seconds."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{path} {ahead} {dies_at}\n")
        self.process.stdin.flush()
        child = int(self.process.stdout.readline())
        if kill_after is not None:
            select.select([], [], [], kill_after)
            os.kill(child, signal.SIGKILL)  # it lives until then, and is waited for after
        return int(self.process.stdout.readline())


@pytest.fixture
def lives() -> Iterator[Lives]:
    lives_ = Lives()
    yield lives_
    lives_.process.communicate("")


@pytest.mark.parametrize("kills", [KILLS, pytest.param(KILLS_OF_A_SOAK, marks=pytest.mark.soak)])
async def test_killed_schedulers_leave_whole_reports_and_the_next_makes_the_rest(
    make_house: Callable[[str], Any], tmp_path: Path, lives: Lives, kills: int
) -> None:
    house = make_house("sqlite")
    ids = await furnish(house)
    start, chance = type(house.clock)().now(), random.Random(kills)
    for life in range(kills):
        await house.close()
        now = house.clock.now()
        ahead, dies_at = (now - start).total_seconds(), chance.randrange(1, 150)
        after = chance.choice([None, chance.random() * 0.15])
        code = await anyio.to_thread.run_sync(
            lives.end_of, tmp_path / "svc.db", ahead, dies_at if after is None else 10**9, after
        )
        assert code == -signal.SIGKILL
        house = make_house("sqlite")
        house.clock.advance(ahead)
        assert len(await check_whole(house)) >= life * len(ids)
        while await run_due(house.service):
            pass
        rows = await check_whole(house)
        assert len(rows) == (life + 1) * len(ids)  # each profile has its report of this hour, once
        house.clock.advance(3_600)
    await house.close()
