"""Places in fair shares: nobody has more than is left to others, nor waits beside a free one."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_http.exchange.fair_shares import Bound, Shares

pytestmark = pytest.mark.anyio


class Hall:
    """People who come for places, leave, or have enough of waiting."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.shares: Shares[asyncio.Future[None]] = Shares(Bound(places))
        self.inside: list[tuple[str, asyncio.Event]] = []
        self.tasks: list[tuple[str, asyncio.Task[None]]] = []

    async def enter(self, name: str) -> None:
        self.tasks.append((name, asyncio.create_task(self._visit(name))))
        await settle()

    async def _visit(self, name: str) -> None:
        async with self.shares.turn(name):
            entry = name, asyncio.Event()
            self.inside.append(entry)
            try:
                await entry[1].wait()
            finally:
                self.inside.remove(entry)

    async def leave(self, at: int) -> None:
        if self.inside:
            self.inside[at % len(self.inside)][1].set()
            await settle()

    async def give_up(self, at: int) -> None:
        if self.tasks:
            self.tasks[at % len(self.tasks)][1].cancel()
            await settle()

    @property
    def held_places(self) -> Counter[str]:
        return Counter(name for name, _ in self.inside)

    @property
    def waiting(self) -> set[str]:
        outside = Counter(name for name, task in self.tasks if not task.done()) - self.held_places
        return set(outside)

    async def close(self) -> None:
        for _, task in self.tasks:
            task.cancel()
        await asyncio.gather(*(task for _, task in self.tasks), return_exceptions=True)


async def settle() -> None:
    for _ in range(4):
        await asyncio.sleep(0)


STEPS = st.tuples(st.sampled_from(["come", "come", "leave", "give_up"]), st.integers(0, 30))


@given(places=st.integers(1, 9), steps=st.lists(STEPS, max_size=40))
def test_nobody_has_more_than_half_and_who_waits_has_no_fewer_than_are_free(
    places: int, steps: list[tuple[str, int]]
) -> None:
    async def walk() -> None:
        hall = Hall(places)
        for verb, number in steps:
            await (hall.enter("abc"[number % 3]) if verb == "come" else getattr(hall, verb)(number))
            free = places - hall.held_places.total()
            assert free >= 0
            assert all(count <= (places + 1) // 2 for count in hall.held_places.values())
            assert all(hall.held_places[name] >= free for name in hall.waiting)
        await hall.close()
        assert hall.held_places.total() == 0
        await hall.enter("d")
        assert hall.held_places == {"d": 1}
        await hall.close()

    asyncio.run(walk())


@pytest.mark.parametrize(
    ("names", "counts"),
    [
        ("aaaaaaaaa", {"a": 4}),
        ("aaaaaaaaab", {"a": 4, "b": 1}),
        ("aaaaaaaaabbbbbccc", {"a": 4, "b": 2, "c": 1}),
        ("aaaaaaaaabbbbbcccddd", {"a": 4, "b": 2, "c": 1, "d": 1}),
        ("abcdefgh", dict.fromkeys("abcdefg", 1) | {"h": 1}),
    ],
)
async def test_what_everybody_has_of_eight_places(names: str, counts: Any) -> None:
    hall = Hall(8)
    for name in names:
        await hall.enter(name)
    assert hall.held_places == counts
    await hall.close()


async def test_what_is_given_back_goes_to_who_has_the_fewest() -> None:
    hall = Hall(8)
    for name in "aaaaaaaabbbbcccdddee":
        await hall.enter(name)
    for _ in range(40):
        await hall.leave(0)
    assert hall.held_places.total() == 0
    await hall.close()


async def test_who_gives_up_while_another_leaves_takes_nothing_from_who_waits_behind() -> None:
    hall = Hall(1)
    for name in "aab":
        await hall.enter(name)
    (_, inside), (_, waits), (_, behind) = hall.tasks
    inside.cancel()  # both in one go: who gave up has not heard of it when the place is free
    waits.cancel()
    await settle()
    assert hall.held_places == {"b": 1}
    ends = await asyncio.gather(inside, waits, return_exceptions=True)
    assert all(isinstance(end, asyncio.CancelledError) for end in ends)
    assert not behind.done()
    await hall.close()
