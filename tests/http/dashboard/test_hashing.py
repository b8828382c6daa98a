"""Passwords are hashed beside the event loop, two at once, and blocks of addresses take turns."""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http.dashboard.hashing import HashingLine
from svc_http.exchange.fair_shares import BOUNDS

pytestmark = pytest.mark.anyio

PLACES, ROOM = BOUNDS["hashes"].places, BOUNDS["passwords"]


class Work:
    """Work that ends when the test says so, and the most of it that ran at once."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.lock = threading.Lock()
        self.running = self.running_max = 0
        self.order: list[str] = []
        self.loop = asyncio.get_running_loop()
        self.starts: asyncio.Queue[str] = asyncio.Queue()

    def __call__(self, name: str) -> str:
        with self.lock:
            self.running += 1
            self.running_max = max(self.running, self.running_max)
            self.order.append(name)
        self.loop.call_soon_threadsafe(self.starts.put_nowait, name)
        assert self.gate.wait(30)
        with self.lock:
            self.running -= 1
        return name


@pytest.fixture
def line() -> HashingLine:
    return HashingLine()


@pytest.fixture
async def work() -> Work:
    return Work()


def start(line: HashingLine, work: Callable[[str], Any], block: str) -> "asyncio.Task[Any]":
    return asyncio.create_task(line.run(partial(work, block), block))


async def refusals(tasks: list["asyncio.Task[Any]"]) -> list[Problem]:
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    return [outcome for outcome in outcomes if isinstance(outcome, Problem)]


async def test_two_are_hashed_at_once_and_the_loop_goes_on(line: HashingLine, work: Work) -> None:
    tasks = [start(line, work, f"block {number}") for number in range(ROOM.places)]
    for _ in range(PLACES):
        await work.starts.get()  # the loop runs while threads hash
    work.gate.set()

    assert await refusals(tasks) == []
    assert work.running_max == PLACES == 2
    assert len(work.order) == ROOM.places == 18


async def test_beyond_the_line_it_is_busy(line: HashingLine, work: Work) -> None:
    tasks = [start(line, work, f"block {number}") for number in range(ROOM.places + 3)]
    await asyncio.sleep(0)
    work.gate.set()

    refused = await refusals(tasks)
    assert {refusal.type for refusal in refused} == {problem.OVERLOADED}
    assert len(refused) == 3
    assert refused[0].headers["Retry-After"] == "1"
    assert await line.run(partial(work, "later"), "later") == "later"


async def test_a_flood_from_one_block_leaves_room_for_the_next(
    line: HashingLine, work: Work
) -> None:
    flood = [start(line, work, "flood") for _ in range(100)]
    await asyncio.sleep(0)
    person = start(line, work, "person")
    for _ in range(PLACES):
        await work.starts.get()  # no hash of the flood ends before that of the person begins

    assert work.order == ["flood", "person"]
    work.gate.set()
    assert await person == "person"
    assert len(await refusals(flood)) == 100 - ROOM.each["block"]


async def test_who_gives_up_leaves_the_line(line: HashingLine, work: Work) -> None:
    tasks = [start(line, work, f"block {number}") for number in range(ROOM.places)]
    await asyncio.sleep(0)
    for task in tasks[PLACES:]:
        task.cancel()
    await asyncio.gather(*tasks[PLACES:], return_exceptions=True)
    others = [start(line, work, f"other {number}") for number in range(ROOM.places - PLACES)]
    await asyncio.sleep(0)
    work.gate.set()

    assert await refusals(others) == []
    assert len(await asyncio.gather(*tasks[:PLACES])) == PLACES
