"""Ports for state that processes share: request counters, lockouts, leases and commit signals.

Rule 1: calls from any number of processes happen as if one after another, each whole or not at all.
Rule 2: a backend that does not answer raises `SharedUnavailable` within a second of the call, and
        at once while it is known to be down. Whether the call took effect is then unknown.
Rule 3: what is kept is bounded, and ends by itself; losing all of it loses no row.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from attrs import frozen

Failures = tuple[datetime, ...]
"""When the five newest unknown keys came from one address, oldest first."""

CommitListener = Callable[[frozenset[str]], None]
"""Called after a commit with the names of the collections that were written."""

ANY_COLLECTION: Final = frozenset({"*"})
"""The names given to a listener that may have missed signals: any collection may have changed."""


class SharedUnavailable(Exception):  # noqa: N818 - said as the state that it is
    """The shared backend does not answer; the message gives the reason."""


@frozen
class Pool:
    """One quota: `limit` requests of `subject` per window of `seconds`.

    `name` is how the `RateLimit` fields call it; with the subject it names one counter.
    """

    name: str
    subject: str
    limit: int
    seconds: int


class PoolUsage(NamedTuple):
    """The counts of each pool before one request, and the latest windows that were counted.

    `minute` and `day` are numbers of windows since 1970. A named tuple: one is made per request.
    """

    used: tuple[int, ...]
    minute: int
    day: int


class Counters(Protocol):
    """Counts of requests in fixed UTC windows.

    A window never moves back: it is the later of the one seen and the one of the caller's clock.
    What was counted is kept for at least a day after the last request of its subject.
    """

    async def hit(self, pools: Sequence[Pool], second: int) -> PoolUsage:
        """Count one request at Unix `second` in all of the pools, or in none if one is full.

        The pools are those of one account, the minute and the day of a subject side by side, the
        account's last.

        Raises:
            SharedUnavailable: the place does not answer; the request may have been counted.
        """


class LockedAddress(NamedTuple):
    """A locked client address and the end of its lockout."""

    address: str
    until: datetime


class Lockouts(Protocol):
    """The authentication failures of client addresses, kept for fifteen minutes (Spec: Lockout)."""

    async def failures(self, address: str) -> Failures:
        """The failures of one address; empty for a stranger.

        Raises:
            SharedUnavailable: the place does not answer.
        """

    async def record(self, address: str, now: datetime) -> Failures:
        """Count one invalid or unknown key, unless the address is locked; the failures before it.

        A caller whose answer already locks the address must be refused as locked. So, of a burst
        of bad keys over any number of processes, exactly five are answered 401.

        Raises:
            SharedUnavailable: the place does not answer; the failure may have been counted.
        """

    async def locked(self, now: datetime) -> tuple[LockedAddress, ...]:
        """The addresses that are locked at `now`, those that are free first before the others.

        Raises:
            SharedUnavailable: the place does not answer.
        """

    async def clear(self, address: str | None) -> int:
        """Forget the failures of one address, or of all; of how many there were some.

        Raises:
            SharedUnavailable: the place does not answer.
        """


class Leases(Protocol):
    """Leases: a name belongs to one holder at a time, for some seconds of the backend's clock.

    A lease is a lock that ends by itself, so that a dead holder blocks nobody for long. The clock
    is the backend's, because those of the holders differ.
    """

    async def take(self, name: str, holder: str, seconds: float) -> bool:
        """Take or extend the lease of a name for `seconds` from now.

        False while another holder has it.

        Raises:
            SharedUnavailable: the place does not answer; the name may have been taken.
        """

    async def release(self, name: str, holder: str) -> None:
        """End the lease of a name; a no-op where another holder has it.

        Raises:
            SharedUnavailable: the place does not answer; the name is free once its time is over.
        """


class Signals(Protocol):
    """Signals of commits to all processes, delivered at most once and never stored.

    A signal may be lost while the backend is down, so a listener also polls from time to time.
    """

    async def tell(self, names: frozenset[str]) -> None:
        """Signal to all processes, this one included, that these collections were written.

        Raises:
            SharedUnavailable: the place does not answer; nobody may have heard.
        """

    async def hear(self, listener: CommitListener) -> None:
        """Have `listener` called with the names of what is told from the return of this call on.

        It is called on the event loop, and must neither wait nor raise. After a time without the
        place it is called with `EVERYTHING`. Where the place is down this returns soon, and what
        is told is heard once it is back.
        """
