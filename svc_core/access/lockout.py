"""Lockout: five unknown keys from one address within fifteen minutes (Spec: Lockout).

Rule 1: only malformed and unknown keys count. A revoked, expired or ineligible key is known.
Rule 2: the window rolls: an address is locked while its fifth newest failure is younger than
    fifteen minutes. Success does not reset it.
Rule 3: a request that the lock refuses records nothing, so waiting always ends the lock.
Rule 4: the fifth failure itself answers 401; the sixth request with a key answers 429.
Rule 5: the passwords of people are counted in the same way, under names that no address has:
    those of an account from one address, and those of an account, of which it takes twenty.
"""

from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime, timedelta

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.ports import Failures, LockedAddress

# The theory of the lockout. The state of an address is one tuple: the times of its failures, oldest
# first, five at most. Two states matter, and no timer moves between them:
#
#     free      fewer than five times, or the oldest of five is fifteen minutes old
#     locked    five times, and the oldest is younger than fifteen minutes
#
# Five times are enough, because the window rolls and the lock depends on the fifth newest alone:
# an older time can never be the fifth newest again. So the state is bounded, and `is_locked` is a
# comparison of one time with the clock.
#
# Moves. A failure in the state free adds its time and drops the oldest of six; the fifth may lock.
# A failure in the state locked changes nothing (rule 3). Otherwise an attacker who goes on would
# extend the lock of everybody behind the same address for ever, and a client that waits as
# `Retry-After` says would not be free then. A success changes nothing either: a reset would let
# an attacker with one valid key try four others for each use of it.
#
# Only unknown and malformed keys are failures (rule 1): an attacker learns nothing new from a key
# that is revoked or expired, and a client with an old key must not lock out its neighbours. Over
# several processes the store records a failure and returns the failures before it in one step, and
# the caller refuses as locked if those already lock: exactly five of a burst are answered 401.
#
# Weak spots: the state is kept by address block (of IPv6 a prefix, as one subscriber has a /64 at
# least), so an attacker with many of them has five attempts from each. Against keys of 256 random
# bits that is no danger: the lockout saves work and log lines, and is not what protects keys. Each
# kind of names has a bound of its own: a flood under made-up handles, or from many addresses,
# drops no failure of an account that there is.

ATTEMPTS_MAX = 5
ACCOUNT = "account "
"""How the name of a person's account begins; whatever address its failures come from, they count
together."""
ACCOUNT_ATTEMPTS_MAX = 20
WINDOW = timedelta(minutes=15)
ADDRESSES_MAX = 100_000
"""Addresses remembered at once: about 30 MB, far beyond the attackers of one quarter hour."""

_SECOND = timedelta(seconds=1)


def attempts_max(address: str) -> int:
    """How many failures lock what is counted under this name: an address, unless it says more."""
    return ACCOUNT_ATTEMPTS_MAX if address.startswith(ACCOUNT) else ATTEMPTS_MAX


def is_locked(failures: Failures, now: datetime, attempts: int = ATTEMPTS_MAX) -> bool:
    """Whether authentication from this address is refused at `now`."""
    return len(failures) == attempts and failures[0] + WINDOW > now


def record_failure(failures: Failures, now: datetime, attempts: int = ATTEMPTS_MAX) -> Failures:
    """The failures after one more at `now`; the same tuple while the address is locked."""
    if is_locked(failures, now, attempts):
        return failures
    # Sorted, because a clock that was set back must not make the oldest failure look newest.
    return tuple(sorted((*failures, now))[-attempts:])


def check_lockout(failures: Failures, now: datetime) -> None:
    """Check that an address is not locked at `now`.

    Raises: Problem AUTH_LOCKED, with the whole seconds until it is free again, never too few.
    """
    if is_locked(failures, now):
        raise _locked(failures, now, "Too many unknown keys were sent from this address.")


def check_sign_in(name: str, failures: Failures, now: datetime) -> None:
    """Check that the password of an account is not locked at `now`; `name` has its failures.

    Raises: Problem AUTH_LOCKED, as `check_lockout`.
    """
    if is_locked(failures, now, attempts_max(name)):
        detail = "Too many attempts to sign in as this person have failed."
        step = "Wait, sign in with a passkey, or have the operator run: svc users link HANDLE"
        raise _locked(failures, now, detail, step)


def _locked(failures: Failures, now: datetime, detail: str, step: str = "") -> Problem:
    wait = -((max(now - failures[0], timedelta()) - WINDOW) // _SECOND)
    return Problem(problem.AUTH_LOCKED, detail, {"Retry-After": str(wait)}, resolution=step)


def locked_addresses(failures: Mapping[str, Failures], now: datetime) -> tuple[LockedAddress, ...]:
    """The addresses that are locked at `now`, the one that is free soonest first."""
    rows = [
        LockedAddress(address, times[0] + WINDOW)
        for address, times in failures.items()
        if is_locked(times, now, attempts_max(address))
    ]
    return tuple(sorted(rows, key=lambda row: (row.until, row.address)))


class MemoryLockouts:
    """The lockout state of this process; of each kind of names the one with the oldest last failure
    is dropped first.

    For one thread or event loop: no method waits, so between reading what is `known`, deciding and
    noting nothing else runs. A host that looks keys up asynchronously reads again after the
    look-up, and of a burst exactly five attempts get a 401.
    """

    __slots__ = ("_addresses_max", "_failures", "_kinds")

    def __init__(self, addresses_max: int = ADDRESSES_MAX) -> None:
        self._addresses_max = addresses_max
        self._failures: dict[str, Failures] = {}
        self._kinds: dict[str, OrderedDict[str, None]] = {}

    def __len__(self) -> int:
        return len(self._failures)

    def _alike(self, name: str) -> OrderedDict[str, None]:
        """The names of the same kind: addresses, or people who are there or are not."""
        kind, is_person, _ = name.partition("_")
        return self._kinds.setdefault(kind if is_person else "", OrderedDict())

    def known(self, address: str) -> Failures:
        """The failures of one address, oldest first; empty for a stranger."""
        return self._failures.get(address, ())

    def note(self, address: str, now: datetime) -> Failures:
        """Record a failure, unless the address is locked; the failures before it."""
        before, names = self.known(address), self._alike(address)
        self._failures[address] = record_failure(before, now, attempts_max(address))
        names[address] = None
        names.move_to_end(address)
        if len(names) > self._addresses_max:
            del self._failures[names.popitem(last=False)[0]]
        return before

    # -- as the port that processes may share ----------------------------------------------------

    async def failures(self, address: str) -> Failures:
        """As `known`."""
        return self.known(address)

    async def record(self, address: str, now: datetime) -> Failures:
        """As `note`."""
        return self.note(address, now)

    async def locked(self, now: datetime) -> tuple[LockedAddress, ...]:
        """The addresses that are locked at `now`."""
        return locked_addresses(self._failures, now)

    async def clear(self, address: str | None) -> int:
        """Delete the failures of one address, or of all; the number of addresses that had some."""
        addresses = [key for key in self._failures if address in (None, key)]
        for key in addresses:
            del self._failures[key]
            del self._alike(key)[key]
        return len(addresses)
