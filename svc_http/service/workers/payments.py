"""Looks after payments that nobody works on: those that a crash cut off, and those in doubt.

Rule 1: each is taken with a lease, so that any number of processes may do this.
Rule 2: nobody waits for another's payment: those that ask a facilitator, which may be slow, have
        places of their own, and one whose rows are broken is left alone for a while.
Rule 3: answers that nobody may ask for any more are forgotten, as those under an Idempotency-Key.
"""

import asyncio
from datetime import timedelta
from typing import Final

from svc_core.contract.idempotency import RETENTION
from svc_core.payments.outcomes import Outcome
from svc_core.payments.records import Payment
from svc_core.payments.states import IN_FLIGHT, WATCHED, Event, State
from svc_core.payments.steps import Checkout
from svc_http.service.service import OnFailure
from svc_http.service.workers.claims import KeyedTasks

LOOK_SECONDS: Final = 2.0
"""How often they are looked for."""
LANES: Final = (frozenset({State.PENDING}), WATCHED - {State.PENDING})
"""Those of which a facilitator is asked, and those that wait for nobody."""
AT_ONCE: Final = 8
"""Payments of a lane that are looked after."""
PUT_OFF_SECONDS: Final = 60.0
"""How long a payment is left alone that could not be read or moved."""
ROWS_MAX: Final = 100
"""Forgotten in one unit of work."""


async def reconcile_loop(checkout: Checkout, on_failure: OnFailure) -> None:
    """Look after payments, for ever; cancelled, it finishes those that it has begun."""
    rounds = PaymentRounds(checkout, on_failure)
    try:
        while True:
            await rounds.begin()
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        await rounds.wait()


class PaymentRounds:
    """What is under way, by lane."""

    def __init__(self, checkout: Checkout, on_failure: OnFailure) -> None:
        self._checkout = checkout
        self._lanes = {
            states: KeyedTasks[str, Payment | None](on_failure, lambda _: PUT_OFF_SECONDS)
            for states in LANES
        }

    async def begin(self) -> None:
        """Begin with those that have waited longest, as many as there are places for."""
        checkout = self._checkout
        for states, lane in self._lanes.items():
            busy = frozenset[str]().union(*(lane.busy_keys() for lane in self._lanes.values()))
            limit = AT_ONCE + len(busy)
            due = await checkout.store.due(checkout.clock(), states=states, limit=limit)
            for payment in [row for row in due if row.id not in busy][: AT_ONCE - len(lane)]:
                lane.begin(payment.id, checkout.recover(payment))

    async def wait(self) -> None:
        """Wait until what was begun has ended."""
        for lane in self._lanes.values():
            await lane.wait()


async def lapse_payments(checkout: Checkout, on_failure: OnFailure) -> None:
    """Give up what the process before this one had under way, at once instead of after its leases.

    Only for a process that has the store to itself, and before it serves.
    """
    after: str | None = None
    while page := await checkout.store.listed(states=IN_FLIGHT, limit=ROWS_MAX, after=after):
        after = page[-1].id
        for payment in page:
            try:
                await checkout.resolve(payment, Outcome(Event.LAPSE))
            except Exception as failure:  # its lease will do
                on_failure(failure)


async def forget_payments(checkout: Checkout, age: timedelta = RETENTION) -> None:
    """Drop answers that were delivered long enough ago, and payments that came to nothing."""
    while await checkout.store.forget(checkout.clock() - age, limit=ROWS_MAX) == ROWS_MAX:
        continue
