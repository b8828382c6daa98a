"""Workers in processes of their own: each run is carried out once, and a killed one loses none."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from svc_core import catalog
from svc_core.testing.clock import START
from svc_http.service.commits import Commits
from svc_http.service.workers.claim_loop import CLAIM
from svc_http.stores import SqliteStorage
from svc_http.stores.postgres import PostgresStorage
from tests.backends import BACKEND, EPOCH
from tests.http.workers.conftest import House
from tests.http.workers.test_automate import Office
from tests.nursery import DEVNULL, Child, program

pytestmark = pytest.mark.anyio

LIFE = """
import asyncio, attrs, sys
from svc_http import system
from svc_http.service.commits import Commits
from svc_http.service.workers.automation_runs import AutomationRounds
from tests.http.workers.test_automate_processes import open_office

place, how = sys.argv[1:]

async def hear(question):
    print(question, flush=True)
    if how == "hangs":
        await asyncio.Event().wait()

async def live():
    office = await open_office(place)
    office.agent.waits = hear
    service = attrs.evolve(office.service, ids=system.SystemIds())
    print("ready", flush=True)
    await AutomationRounds(service, None, print).run(Commits(office.house.storage))

asyncio.run(live())
"""


class Life:
    """One worker in a process of its own, and what it says: each question that it asks."""

    def __init__(self, process: Child) -> None:
        self._process = process

    @classmethod
    async def begin(cls, place: str, how: str) -> "Life":
        life = cls(await asyncio.to_thread(program, LIFE, place, how, stderr=DEVNULL))
        assert await life.next_line() == "ready"
        return life

    async def next_line(self) -> str:
        async with asyncio.timeout(50):
            return str(await asyncio.to_thread(self._process.stdout.readline)).strip()

    async def kill(self) -> list[str]:
        """Kill it; what else it said."""
        self._process.send_signal(signal.SIGKILL)
        output, _ = await asyncio.to_thread(self._process.communicate)
        assert self._process.returncode == -signal.SIGKILL
        return output.split("\n")[:-1]


@pytest.fixture(params=["sqlite", "postgres"])
async def place(request: Any, tmp_path: Path, anyio_backend: str) -> AsyncIterator[str]:
    """A store that processes find: a file, or a database of its own."""
    if request.param == "sqlite":
        yield str(tmp_path / "svc.db")
        return
    dsn = await anyio.to_thread.run_sync(
        lambda: BACKEND.server.made_for(catalog.COLLECTIONS, epoch=EPOCH)
    )
    yield dsn
    await anyio.to_thread.run_sync(BACKEND.server.drop, dsn)


async def open_office(place: str) -> Office:
    if "://" in place:
        return Office(House(await PostgresStorage.open(place, catalog.COLLECTIONS, epoch=EPOCH)))
    return Office(House(SqliteStorage.open(Path(place), catalog.COLLECTIONS, epoch=EPOCH)))


async def test_a_run_whose_worker_was_killed_is_taken_up_again(place: str) -> None:
    office = await open_office(place)
    place_ = tenant, _ = await office.workspace()
    await office.run_by_hand(place_)
    await office.house.close()

    life = await Life.begin(place, "hangs")
    assert await life.next_line() == "What happened?"
    assert await life.kill() == []

    office = await open_office(place)
    (run,) = await office.runs(tenant)
    assert (run.status, run.started_at) == ("running", START)
    await office.work()
    assert office.agent.questions == []  # it may still be had
    if "://" in place:
        office.clock.advance(CLAIM.total_seconds())
    else:
        await office.rounds().take_over()  # nobody else can have the file
    await office.work()
    (run,) = await office.runs(tenant)
    assert (run.status, office.agent.questions) == ("succeeded", ["What happened?"])
    used, _ = await office.credits(tenant)
    assert used == 1
    await office.house.close()


@pytest.mark.parametrize("place", ["postgres"], indirect=True)  # a SQLite file has one process
async def test_processes_side_by_side_ask_each_question_once(place: str) -> None:
    office = await open_office(place)
    place_ = tenant, _ = await office.workspace()
    questions = [f"Question {number}" for number in range(20)]
    lives = [await Life.begin(place, "answers") for _ in range(3)]
    for question in questions:
        await office.run_by_hand(place_, instructions=question)
    commits = Commits(office.house.storage)
    async with asyncio.timeout(50):
        version = commits.version
        # A run has ended before its credit is settled.
        while Counter(run.status for run in await office.runs(tenant)) != {
            "succeeded": 20
        } or await office.credits(tenant) != (len(questions), 0):
            await commits.after(version, 1)
            version = commits.version
    questions_asked = [line for life in lives for line in await life.kill()]
    assert sorted(questions_asked) == sorted(questions)
    await office.house.close()
