"""A look at a queue is bounded, and sees everybody who has something due."""

from collections import Counter
from typing import Any

import pytest

from svc_core.operation.context import Context
from svc_core.reports.profiles.model import LEAVING, Leaving
from svc_http.service.workers.due_queue import DueQueue, row_key
from svc_http.service.workers.retention import process_due

pytestmark = pytest.mark.anyio
CROWD, *OTHERS = (f"wsp_{letter * 24}" for letter in "abcdefg")


async def fill(house: Any, crowd: int) -> None:
    """Rows that are due: those of the crowd first, one of each other afterwards."""

    async def add(ctx: Context) -> None:
        for _ in range(count):
            id_ = ctx.ids.new("prf")
            await ctx.tx.documents.put(LEAVING, id_, Leaving(id_, ctx.now))

    for tenant in (CROWD, *OTHERS):
        count = crowd if tenant == CROWD else 1
        await house.service.write(tenant, add)
        house.clock.advance(1)


async def test_who_is_hidden_by_a_crowd_is_seen_after_a_few_looks(any_house: Any) -> None:
    await fill(any_house, 12)
    queue = DueQueue(any_house.service, LEAVING)
    looks = [await queue.rows(4) for _ in range(2)]
    assert all(len(rows) <= 8 for rows in looks)
    assert {row.tenant for rows in looks for row in rows} == {CROWD, *OTHERS}
    assert all(len({row_key(row) for row in rows}) == len(rows) for rows in looks)


async def test_what_is_not_due_is_not_seen(any_house: Any) -> None:
    await fill(any_house, 3)
    queue, (*_, last) = DueQueue(any_house.service, LEAVING), OTHERS
    any_house.clock.advance(-2)
    for _ in range(4):
        assert last not in {row.tenant for row in await queue.rows(2)}


@pytest.mark.parametrize("is_shuffled", [False, True])
async def test_each_other_workspace_has_one_turn_while_one_waits(
    any_house: Any, is_shuffled: bool
) -> None:
    await fill(any_house, 12)
    queue, tried = DueQueue(any_house.service, LEAVING), set[Any]()
    queue.is_shuffled = is_shuffled
    turns = []
    while (row := await queue.take(tried)) is not None:
        tried.add(row_key(row))
        turns.append(row.tenant)
    assert Counter(turns) == {CROWD: 12, **dict.fromkeys(OTHERS, 1)}
    assert max(turns.index(tenant) for tenant in OTHERS) <= len(OTHERS)


async def test_steps_go_by_turns_and_who_fails_is_left_out(any_house: Any) -> None:
    await fill(any_house, 20)
    turns: list[str] = []
    failures: list[BaseException] = []

    async def step(row: Any) -> None:
        turns.append(row.tenant)
        if row.tenant == OTHERS[0]:
            raise ArithmeticError("a defect")
        await any_house.service.write(
            row.tenant, lambda ctx: ctx.tx.documents.delete(LEAVING, row.document.id)
        )

    await process_due(any_house.service, LEAVING, step, failures.append)
    assert Counter(turns) == {CROWD: 20, **dict.fromkeys(OTHERS, 1)}
    assert [str(failure) for failure in failures] == ["a defect"]
    assert max(turns.index(tenant) for tenant in OTHERS) <= len(OTHERS)
