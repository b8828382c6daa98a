"""A use case over a store that does not suspend needs no event loop."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import drive


async def answer(value):
    return value


async def add(left, right):
    return await answer(left) + await answer(right)


async def refuse(error):
    await answer(None)
    raise error


@given(st.integers(), st.integers())
def test_nested_coroutines_run_to_their_result(left, right):
    assert drive.run(add(left, right)) == left + right


def test_a_coroutine_without_a_result_gives_none():
    assert drive.run(answer(None)) is None


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("k"), LookupError()])
def test_what_it_raises_is_passed_on(error):
    with pytest.raises(type(error)) as caught:
        drive.run(refuse(error))
    assert caught.value is error


def test_a_waiting_coroutine_is_refused_and_closed():
    closings = []

    async def wait():
        try:
            await asyncio.sleep(0)
        finally:
            closings.append(True)

    with pytest.raises(drive.Suspended, match="event loop"):
        drive.run(wait())
    assert closings == [True]


def test_it_runs_inside_a_running_loop_as_well():
    async def host():
        return drive.run(add(1, 2))

    assert asyncio.run(host()) == 3
