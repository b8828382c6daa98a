"""Answers that hold what is shown once are kept sealed, each for its own key."""

from typing import Any

import attrs
import pytest

from svc_core.contract import problem
from svc_core.operation.declaration import Confidential

KEYS = ("confidential-1", "confidential-2")


@pytest.fixture
def sealing(house: Any) -> Any:
    """A house whose profiles are as confidential as its secrets."""
    operation = house.operations["createProfile"]
    house.operations["createProfile"] = attrs.evolve(operation, confidential=Confidential())
    return house


def answers(house: Any) -> list[Any]:
    async def read(ctx: Any) -> list[Any]:
        return [await ctx.tx.answers.get("createProfile", key) for key in KEYS]

    rows: list[Any] = house.run(read, "wsp_a")
    return rows


def test_a_kept_answer_is_sealed_and_opens_for_its_own_key_alone(sealing: Any) -> None:
    profile, _ = (sealing.profile(key=key) for key in KEYS)
    assert sealing.profile(key=KEYS[0]) == profile
    first, second = answers(sealing)
    assert profile["id"].encode() not in first.body

    async def swap(ctx: Any) -> None:
        await ctx.tx.answers.put("createProfile", KEYS[0], first._replace(body=second.body))

    sealing.run(swap, "wsp_a")
    body = {"name": "Ports", "topic": "Port strikes", "frequency": "manual"}
    refusal = sealing.refusal("createProfile", body=body, idempotency_key=KEYS[0])
    assert refusal.type is problem.IDEMPOTENCY_CONFLICT
