"""Lockout: five unknown keys from one address within fifteen minutes (Spec: Lockout).

Rule 1: only malformed and unknown keys count. A revoked, expired or ineligible key is known.
Rule 2: the window rolls: an address is locked while its fifth newest failure is younger than
    fifteen minutes. Success does not reset it.
Rule 3: a request that the lock refuses records nothing, so waiting always ends the lock.
Rule 4: the fifth failure itself answers 401; the sixth request with a key answers 429.

The state of an address is the tuple of its five newest failure times, oldest first. Five are
enough: older ones can never again be the fifth newest.
"""

from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime, timedelta

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.ports import Failures, Locked

ATTEMPTS_MAX = 5
WINDOW = timedelta(minutes=15)
ADDRESSES_MAX = 100_000
"""Addresses remembered at once: about 30 MB, far beyond the attackers of one quarter hour."""

_SECOND = timedelta(seconds=1)


def is_locked(failures: Failures, now: datetime) -> bool:
    """Whether authentication from this address is refused at `now`."""
    return len(failures) == ATTEMPTS_MAX and failures[0] + WINDOW > now


def record(failures: Failures, now: datetime) -> Failures:
    """The failures after one more at `now`; the very same tuple while the address is locked."""
    if is_locked(failures, now):
        return failures
    # Sorted, because a clock that was set back must not make the oldest failure look newest.
    return tuple(sorted((*failures, now))[-ATTEMPTS_MAX:])


def check(failures: Failures, now: datetime) -> None:
    """Pass an address that is not locked at `now`.

    Raises: Problem AUTH_LOCKED, with the whole seconds until it is free again, never too few.
    """
    if is_locked(failures, now):
        wait = -((now - failures[0] - WINDOW) // _SECOND)
        detail = "Too many unknown keys were sent from this address."
        raise Problem(problem.AUTH_LOCKED, detail, {"Retry-After": str(wait)})


def locked(failures: Mapping[str, Failures], now: datetime) -> tuple[Locked, ...]:
    """The addresses among these that are locked at `now`, those that are free first in front."""
    rows = [
        Locked(address, times[0] + WINDOW)
        for address, times in failures.items()
        if is_locked(times, now)
    ]
    return tuple(sorted(rows, key=lambda row: (row.until, row.address)))


class MemoryLockouts:
    """The failures of many addresses in this process, the least recently failing forgotten first.

    For one thread or event loop: no method waits, so between reading what is `known`, deciding and
    noting nothing else runs. A host that looks keys up asynchronously reads again after the
    look-up, and of a burst exactly five attempts get a 401.
    """

    __slots__ = ("_addresses_max", "_failures")

    def __init__(self, addresses_max: int = ADDRESSES_MAX) -> None:
        self._addresses_max = addresses_max
        self._failures: OrderedDict[str, Failures] = OrderedDict()

    def __len__(self) -> int:
        return len(self._failures)

    def known(self, address: str) -> Failures:
        """The failures of one address, oldest first; empty for a stranger."""
        return self._failures.get(address, ())

    def note(self, address: str, now: datetime) -> Failures:
        """Count one invalid or unknown key, unless the address is locked; the failures before."""
        before = self.known(address)
        self._failures[address] = record(before, now)
        self._failures.move_to_end(address)
        if len(self._failures) > self._addresses_max:
            self._failures.popitem(last=False)
        return before

    # -- as the port that processes may share ----------------------------------------------------

    async def failures(self, address: str) -> Failures:
        """As `known`."""
        return self.known(address)

    async def record(self, address: str, now: datetime) -> Failures:
        """As `note`."""
        return self.note(address, now)

    async def locked(self, now: datetime) -> tuple[Locked, ...]:
        """The addresses that are locked at `now`."""
        return locked(self._failures, now)

    async def clear(self, address: str | None) -> int:
        """Forget the failures of one address, or of all; of how many there were some."""
        addresses = [key for key in self._failures if address in (None, key)]
        for key in addresses:
            del self._failures[key]
        return len(addresses)
