"""Requests with the same Idempotency-Key: one after the other, none for ever, none in the way."""

import asyncio
from typing import Any

import pytest

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http.exchange import http_exchange
from svc_http.exchange.fair_shares import BOUNDS, FEW, Bound, Load
from svc_http.exchange.http_exchange import ClientGoneError, Exchange
from svc_http.guard import keyed_locks as turns
from svc_http.guard.keyed_locks import KeyedLocks

NO_CHANNEL: Any = None


def asking(load: Load | None = None) -> Exchange:
    """A request that is being worked on."""
    scope = {"method": "POST", "path": "/", "query_string": b"", "headers": ()}
    return Exchange(scope, NO_CHANNEL, NO_CHANNEL, 0, load or Load(9, lambda _: "here"))


def test_equal_keys_take_turns_and_others_do_not_wait() -> None:
    async def go() -> list[str]:
        locks, order = KeyedLocks(9), []

        async def take(key: str, name: str) -> None:
            async with locks.take(key, asking()):
                order.append(f"{name} begins")
                await asyncio.sleep(0)
                order.append(f"{name} ends")

        await asyncio.gather(take("k", "first"), take("k", "second"), take("other", "third"))
        return order

    order = asyncio.run(go())
    assert [line for line in order if "third" not in line] == [
        "first begins", "first ends", "second begins", "second ends",
    ]  # fmt: skip
    assert order.index("third begins") < order.index("first ends")


def test_a_turn_that_does_not_come_is_told_with_a_time_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "WAIT_SECONDS_MAX", 0.01)

    async def go() -> Problem:
        locks = KeyedLocks(9)
        async with locks.take("k", asking()):
            with pytest.raises(Problem) as refusal:
                async with locks.take("k", asking()):
                    raise AssertionError("two at once")
        async with locks.take("k", asking()):
            return refusal.value

    refusal = asyncio.run(go())
    assert refusal.type is problem.IDEMPOTENCY_IN_PROGRESS
    assert refusal.headers == {"Retry-After": "1"}


@pytest.mark.parametrize("end", [ValueError, asyncio.CancelledError])
def test_whoever_fails_or_leaves_gives_the_key_back(end: type[BaseException]) -> None:
    async def go() -> None:
        locks = KeyedLocks(9)
        with pytest.raises(end):
            async with locks.take("k", asking()):
                raise end
        async with locks.take("k", asking()):
            pass
        assert not locks._locks

    asyncio.run(go())


def test_of_those_who_wait_one_of_the_largest_crowd_gives_way_to_one_too_many() -> None:
    async def go() -> list[str]:
        locks, order = KeyedLocks(FEW + 1), []

        async def take(number: int) -> None:
            try:
                async with locks.take("k", asking()):
                    order.append(f"{number} comes")
            except Problem as refusal:
                order.append(f"{number} {refusal.type.code}")

        async with locks.take("k", asking()):
            waiting = [asyncio.create_task(take(number)) for number in range(FEW + 2)]
            while not order:  # noqa: ASYNC110 - it has no event
                await asyncio.sleep(0)
        await asyncio.gather(*waiting)
        return order

    order = asyncio.run(go())
    assert order == [
        "0 IDEMPOTENCY_IN_PROGRESS",
        *(f"{number} comes" for number in range(1, FEW + 2)),
    ]


def test_a_turn_without_a_working_slot_goes_to_the_next() -> None:
    async def go() -> Problem:
        load = Load(1, lambda _: "here")
        locks, late = KeyedLocks(9), asking(load)
        async with locks.take("k", asking()):
            waits = asyncio.create_task(_take(locks, late))
            while load.in_flight:  # noqa: ASYNC110 - it has no event
                await asyncio.sleep(0)
            asking(load)
        with pytest.raises(Problem) as refusal:
            await waits
        await _take(locks, asking())
        assert load.in_flight == 1
        return refusal.value

    assert asyncio.run(go()).type is problem.OVERLOADED


async def _take(locks: KeyedLocks, exchange: Exchange) -> None:
    async with locks.take("k", exchange):
        pass


# -- turns of every request -----------------------------------------------------------------------


def request_of(load: Load, owner: str) -> Exchange:
    """A request of a known workspace, or of a stranger's address where it begins with a dot."""
    scope = {
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "headers": ((b"owner", owner.encode()),),
    }
    return Exchange(scope, NO_CHANNEL, NO_CHANNEL, 0, load)


def load_of_owners(in_flight_max: int = 10_000) -> Load:
    def block(exchange: Exchange) -> str:
        return exchange.header("owner") or ""

    def tenant(exchange: Exchange) -> str | None:
        owner = block(exchange)
        return None if owner.startswith(".") else owner

    return Load(in_flight_max, block, tenant)


@pytest.mark.parametrize(
    ("crowd", "newcomer", "has_place"),
    [
        (["a"] * 99, "b", True),
        ([".a"] * 99, ".b", True),
        ([f".{number}" for number in range(99)], ".b", False),
        ([f".{number}" for number in range(99)], "b", True),
        ([f"{number}" for number in range(99)], ".b", True),
    ],
    ids=["one workspace", "one address", "many addresses", "no key", "many keys"],
)
def test_a_newcomer_is_worked_for_beside_a_crowd(
    crowd: list[str], newcomer: str, has_place: bool
) -> None:
    async def go() -> bool:
        load = load_of_owners()
        tasks = [asyncio.create_task(request_of(load, owner).take_turn()) for owner in crowd]
        await asyncio.sleep(0)
        last = asyncio.create_task(request_of(load, newcomer).take_turn())
        await asyncio.sleep(0)
        is_at_work = last.done()
        for task in (*tasks, last):
            task.cancel()
        await asyncio.gather(*tasks, last, return_exceptions=True)
        return is_at_work

    assert asyncio.run(go()) is has_place


@pytest.mark.parametrize("end", ["rests", "is cancelled", "has left", "is late"])
def test_whatever_ends_a_turn_the_next_one_has_it(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BOUNDS, "requests", Bound(1))
    monkeypatch.setattr(http_exchange, "TURN_SECONDS", 0.01 if end == "is late" else 60.0)

    async def go() -> tuple[object, int]:
        load = load_of_owners()
        first, second, third = (request_of(load, owner) for owner in "abc")
        await first.take_turn()
        waiting = asyncio.create_task(second.take_turn())
        await asyncio.sleep(0)
        assert load.in_flight == 2  # who waits holds no slot
        if end == "is cancelled":
            waiting.cancel()
        second.has_left = end == "has left"
        if end == "is late":
            await asyncio.wait([waiting])
        first.rest()
        outcome = (await asyncio.gather(waiting, return_exceptions=True))[0]
        second.rest()
        await third.take_turn()
        third.rest()
        return outcome, load.in_flight

    outcome, in_flight = asyncio.run(go())
    assert in_flight == 0
    kinds = {
        "rests": type(None),
        "is cancelled": asyncio.CancelledError,
        "has left": ClientGoneError,
        "is late": Problem,
    }
    assert type(outcome) is kinds[end]
