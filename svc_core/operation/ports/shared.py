"""What several processes share beside their rows: counts, lockouts, leases, and news of commits.

Rule 1: calls from any number of processes happen as if one after another, each whole or not at all.
Rule 2: a place that does not answer raises `SharedUnavailable`, soon: within a second of the call,
        and at once while it is known to be down. Whether it did what was asked is then unknown.
Rule 3: what is kept is bounded, and ends by itself; losing all of it loses no row.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from attrs import frozen

Failures = tuple[datetime, ...]
"""When the five newest unknown keys came from one address, oldest first."""

Heard = Callable[[frozenset[str]], None]
"""Hears of commits: the names of the collections in which rows were written."""

EVERYTHING: Final = frozenset({"*"})
"""What a hearer of signals is told when it may have missed some: any collection was written."""


class SharedUnavailable(Exception):  # noqa: N818 - said as the state that it is
    """The place that processes share does not answer; the message says why."""


@frozen
class Pool:
    """One quota: `limit` requests of `subject` per window of `seconds`.

    `name` is how the `RateLimit` fields call it; with the subject it names one counter.
    """

    name: str
    subject: str
    limit: int
    seconds: int


class Counted(NamedTuple):
    """What was counted before one request, by its pools, and the latest windows seen of them.

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

    async def hit(self, pools: Sequence[Pool], second: int) -> Counted:
        """Count one request at Unix `second` in all of the pools, or in none if one is full.

        The pools are those of one account, the minute and the day of a subject side by side, the
        account's last.

        Raises:
            SharedUnavailable: the place does not answer; the request may have been counted.
        """


class Locked(NamedTuple):
    """An address from which no key is taken until then."""

    address: str
    until: datetime


class Lockouts(Protocol):
    """The failures of addresses (Spec: Lockout), forgotten fifteen minutes after the last one."""

    async def failures(self, address: str) -> Failures:
        """The failures of one address; empty for a stranger.

        Raises:
            SharedUnavailable: the place does not answer.
        """

    async def record(self, address: str, now: datetime) -> Failures:
        """Count one invalid or unknown key, unless the address is locked; the failures before it.

        Whoever is answered failures that lock is the one too many: of a burst, over any number
        of processes, exactly five are not.

        Raises:
            SharedUnavailable: the place does not answer; the failure may have been counted.
        """

    async def locked(self, now: datetime) -> tuple[Locked, ...]:
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
    """Names that one holder has at a time, for so many seconds of the place's own clock."""

    async def take(self, name: str, holder: str, seconds: float) -> bool:
        """Have the name from now on for `seconds`, also where this holder has it already.

        False while another holder has it.

        Raises:
            SharedUnavailable: the place does not answer; the name may have been taken.
        """

    async def release(self, name: str, holder: str) -> None:
        """Give the name back; nothing happens where another holder has it.

        Raises:
            SharedUnavailable: the place does not answer; the name is free once its time is over.
        """


class Signals(Protocol):
    """The news that something was committed: told once, kept for nobody.

    News may be lost while the place is down, so a hearer looks by itself from time to time.
    """

    async def tell(self, names: frozenset[str]) -> None:
        """Tell all processes, this one too, that collections of these names were written.

        Raises:
            SharedUnavailable: the place does not answer; nobody may have heard.
        """

    async def hear(self, listener: Heard) -> None:
        """Have `listener` called with the names of what is told from the return of this call on.

        It is called on the event loop, and must neither wait nor raise. After a time without the
        place it is called with `EVERYTHING`. Where the place is down this returns soon, and what
        is told is heard once it is back.
        """
