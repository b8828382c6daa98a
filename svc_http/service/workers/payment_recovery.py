"""Resolves payments that no request works on: those that a crash cut off, and those in doubt.

Rule 1: each payment is claimed with a lease, so that any number of processes may do this.
Rule 2: no payment waits for another one: those that need a facilitator, which may be slow, have
        places of their own, and one whose rows are broken is paused.
Rule 3: the stored answers of payments expire like those under an Idempotency-Key.
"""

# Which payments, and why (the table of states is `svc_core.payments.states`). A payment in flight
# belongs to the process that serves its request; the lease says until when. When that process dies,
# the lease runs out and the payment becomes due here. `Checkout.recover` then decides by its state:
# one that was not sent for settlement is given up and costs nothing; one that may have been sent is
# PENDING: it is unknown whether money moved. Only the facilitator or the chain can tell, so PENDING
# payments have a lane of their own: eight slow look-ups must not keep the others waiting. A process
# that has the store alone need not wait for leases: nobody else can be working on them.

import asyncio
from typing import Final

from svc_core.contract.idempotency import RETENTION
from svc_core.payments.outcomes import PaymentOutcome
from svc_core.payments.payment_rows import Payment
from svc_core.payments.states import IN_FLIGHT, WATCHED, Event, State
from svc_core.payments.steps import Checkout
from svc_http.service.service_units import OnFailure
from svc_http.service.workers.claim_loop import KeyedTasks

LOOK_SECONDS: Final = 2.0
"""How often due payments are searched."""
LANES: Final = (frozenset({State.PENDING}), WATCHED - {State.PENDING})
"""Payments that need the facilitator or the chain, and those that need neither."""
AT_ONCE: Final = 8
"""Payments of one lane that are resolved at once."""
PUT_OFF_SECONDS: Final = 60.0
"""How long a payment is paused that could not be read or changed."""
ROWS_MAX: Final = 100
"""Payments deleted in one unit of work."""


async def reconcile_loop(checkout: Checkout, on_failure: OnFailure) -> None:
    """Resolve due payments for ever; when cancelled, it finishes those that it has begun."""
    rounds = PaymentRounds(checkout, on_failure)
    try:
        while True:
            await rounds.begin()
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        await rounds.wait()


class PaymentRounds:
    """The payments that one process resolves, by lane."""

    def __init__(self, checkout: Checkout, on_failure: OnFailure) -> None:
        self._checkout = checkout
        self._lanes = {
            states: KeyedTasks[str, Payment | None](on_failure, lambda _: PUT_OFF_SECONDS)
            for states in LANES
        }

    async def begin(self) -> None:
        """Begin the payments that have waited longest, as many as there are places for."""
        checkout = self._checkout
        for states, lane in self._lanes.items():
            busy = frozenset[str]().union(*(lane.busy_keys() for lane in self._lanes.values()))
            limit = AT_ONCE + len(busy)
            due = await checkout.store.due(checkout.clock(), states=states, limit=limit)
            for payment in [row for row in due if row.id not in busy][: AT_ONCE - len(lane)]:
                lane.begin(payment.id, checkout.recover(payment))

    async def wait(self) -> None:
        """Wait until all begun payments are resolved."""
        for lane in self._lanes.values():
            await lane.wait()


async def lapse_payments(checkout: Checkout, on_failure: OnFailure) -> None:
    """Give up the payments that the previous process had in flight, without waiting for leases.

    Only for a process that has the store to itself, and before it serves.
    """
    after: str | None = None
    while page := await checkout.store.list_payments(states=IN_FLIGHT, limit=ROWS_MAX, after=after):
        after = page[-1].id
        for payment in page:
            try:
                await checkout.resolve(payment, PaymentOutcome(Event.LAPSE))
            except Exception as failure:  # its lease will do
                on_failure(failure)


async def forget_payments(checkout: Checkout) -> None:
    """Delete answers that were delivered long enough ago, and payments that were given up."""
    while await checkout.store.forget(checkout.clock() - RETENTION, limit=ROWS_MAX) == ROWS_MAX:
        continue
