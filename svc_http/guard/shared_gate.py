"""Admits requests by counters and lockouts that several processes share (Redis or PostgreSQL).

Rule 1: requests are counted in the shared place alone, so limits hold exactly over all processes.
Rule 2: the failures of an address may be a second old when they are read, but are recorded at
        once, in one step: of a burst of guesses, exactly five learn that their key is unknown.
Rule 3: while the shared place cannot be reached, requests with a key are refused or, where the
        settings say so, run without being counted; failures are then counted in this process.
"""

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime

import attrs

from svc_core.access import lockout
from svc_core.access.address import AddressRules
from svc_core.access.authorization import Facts, Grant, OperationAccess, authorize, authorize_shared
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.ports import Counters, Failures, Lockouts, SharedUnavailable
from svc_http.exchange.http_exchange import Exchange, busy
from svc_http.guard.gate import Gate, Principals

READ_SECONDS = 1.0
"""How long the failures of an address are used without being read again."""

ADDRESSES_MAX = 10_000
"""Addresses in memory: far more than call one process within that time."""


class SharedGate(Gate):
    """Decides whether a request may run by the counts of all processes.

    With `admits`, requests run uncounted while the shared counters cannot be reached.
    """

    waits = True

    def __init__(
        self,
        principals: Principals,
        addresses: AddressRules,
        counters: Counters,
        lockouts: Lockouts,
        *,
        monotonic: Callable[[], float],
        admits: bool,
    ) -> None:
        super().__init__(principals, addresses)
        self._counters = counters
        self._shared_lockouts = lockouts
        self._monotonic = monotonic
        self._admits = admits
        self._read: OrderedDict[str, tuple[Failures, float]] = OrderedDict()

    async def _let_in(
        self, access: OperationAccess, exchange: Exchange, facts: Facts, now: datetime
    ) -> Grant:
        """Permission to run the operation; its limits are written to the exchange.

        Raises:
            Problem: as `authorize_shared`; SERVICE_UNAVAILABLE while nothing can be counted.
        """
        address = self._addresses.block(facts.address.text)
        if facts.bearer is not None and access.auth != "public":
            facts = facts._replace(failures=await self._shared_failures(address))
        facts = await self._complete(exchange, facts, now)
        try:
            grant = await self._authorize(access, facts, now)
        except Problem as refusal:
            if refusal.type is problem.INVALID_API_KEY:
                lockout.check_lockout(await self._record(address, now), now)
            raise
        return self._note_grant(exchange, facts, grant, now)

    async def _authorize(self, access: OperationAccess, facts: Facts, now: datetime) -> Grant:
        try:
            return await authorize_shared(access, facts, now, self._counters)
        except SharedUnavailable as down:
            self._refuse(down)
            return authorize(attrs.evolve(access, pool="none"), facts, now)

    async def _shared_failures(self, address: str) -> Failures:
        read = self._read.get(address)
        if read is not None and read[1] >= self._monotonic():
            return read[0]
        try:
            failures = await self._shared_lockouts.failures(address)
        except SharedUnavailable as down:
            self._refuse(down)
            return self._lockouts.known(address)
        self._remember(address, failures)
        return failures

    async def _record(self, address: str, now: datetime) -> Failures:
        try:
            before = await self._shared_lockouts.record(address, now)
        except SharedUnavailable as down:
            self._refuse(down)
            return self._lockouts.note(address, now)
        self._remember(address, lockout.record_failure(before, now))
        return before

    def _remember(self, address: str, failures: Failures) -> None:
        self._read[address] = failures, self._monotonic() + READ_SECONDS
        self._read.move_to_end(address)
        if len(self._read) > ADDRESSES_MAX:
            self._read.popitem(last=False)

    def _refuse(self, down: SharedUnavailable) -> None:
        """Refuse a request that cannot be counted, unless the settings admit it."""
        if not self._admits:
            raise busy(problem.SERVICE_UNAVAILABLE, "Requests cannot be counted now.") from down
