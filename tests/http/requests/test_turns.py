"""Requests with the same Idempotency-Key: one after the other, none for ever, none in the way."""

import asyncio

import pytest

from svc_core import problem
from svc_core.problem import Problem
from svc_http.requests import turns
from svc_http.requests.turns import Turns


def test_equal_keys_take_turns_and_others_do_not_wait() -> None:
    async def go() -> list[str]:
        taken, told = Turns(), []

        async def one(key: str, name: str) -> None:
            async with taken.take(key):
                told.append(f"{name} begins")
                await asyncio.sleep(0)
                told.append(f"{name} ends")

        await asyncio.gather(one("k", "first"), one("k", "second"), one("other", "third"))
        return told

    told = asyncio.run(go())
    assert [line for line in told if "third" not in line] == [
        "first begins", "first ends", "second begins", "second ends",
    ]  # fmt: skip
    assert told.index("third begins") < told.index("first ends")


def test_a_turn_that_does_not_come_is_told_with_a_time_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "WAIT_SECONDS_MAX", 0.01)

    async def go() -> Problem:
        taken = Turns()
        async with taken.take("k"):
            with pytest.raises(Problem) as caught:
                async with taken.take("k"):
                    raise AssertionError("two at once")
        async with taken.take("k"):
            return caught.value

    refusal = asyncio.run(go())
    assert refusal.type is problem.IDEMPOTENCY_IN_PROGRESS
    assert refusal.headers == {"Retry-After": "1"}


@pytest.mark.parametrize("end", [ValueError, asyncio.CancelledError])
def test_whoever_fails_or_leaves_gives_the_key_back(end: type[BaseException]) -> None:
    async def go() -> None:
        taken = Turns()
        with pytest.raises(end):
            async with taken.take("k"):
                raise end
        async with taken.take("k"):
            pass
        assert not taken._locks

    asyncio.run(go())
