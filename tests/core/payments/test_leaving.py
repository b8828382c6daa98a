"""Who leaves before the answer is there is not charged, or is owed it."""

from collections.abc import Callable

import attrs
import pytest

from svc_core.base import drive
from svc_core.payments.states import State
from svc_core.payments.steps import ClientGone
from tests.paying import REQUIREMENTS, World, purchase
from tests.wallets import field, wallet


def leaving(world: World, waits: Callable[[], bool]) -> str:
    """Have a payment made by a client that waits for as long as that."""
    value = field(wallet(0).payment(REQUIREMENTS, world.second))
    order = attrs.evolve(purchase(value), is_awaited=waits)
    with pytest.raises(ClientGone):
        drive.run(world.checkout.serve(order, world.work()))
    return value


def test_who_left_during_the_work_is_not_charged() -> None:
    world = World()
    value = leaving(world, lambda: False)
    assert (world.only().state, world.chain.charges) == (State.RELEASED, [])
    assert drive.run(world.checkout.serve(purchase(value), world.work())).receipt_id is not None


def test_who_left_while_it_was_settled_is_owed_the_answer_once() -> None:
    world = World()
    value = leaving(world, lambda: not world.chain.charges)
    assert (world.only().state, len(world.chain.charges)) == (State.OWED, 1)
    reply = drive.run(world.checkout.serve(purchase(value), world.work()))
    assert (reply.answer.status, world.only().state, world.runs) == (200, State.SETTLED, 1)
    assert len(world.chain.charges) == 1
