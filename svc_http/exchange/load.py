"""What requests hold in this process, and how it is shared among callers.

Rule 1: a working slot is held while this service works on a request, and never while it waits for
        the client: for the body, for the answer to be read, for what is sent on after a refusal;
        nor while it waits for its turn after other requests (`turns`).
Rule 2: whoever waits for a client has a place in a room. Whoever comes gets one; where that is one
        more than the room has, the one held longest is given up for it: by whoever holds more
        than a few and the most, else by whoever it is.
Rule 3: a caller's share is counted by address and by key. An honest request has its place for
        moments, so what is given up is what does not move.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any, Generic, TypeVar

P = TypeVar("P", bound=Hashable)

LINGERING_MAX = 64
"""Refusals at once of which the rest of the request is still read: whoever speaks on after that
loses a refusal at worst, and nobody a working slot."""

FEW = 16
"""Places that nobody is blamed for: more than a browser or a client's pool holds at once."""

SEARCHED_MAX = 1_000
"""Places that are looked at to find one which can be spared."""


class Room(Generic[P]):
    """So many places, shared among callers; for one event loop."""

    def __init__(self, size: int, is_spare: Callable[[P], bool] = lambda _: False) -> None:
        self._size = size
        self._is_spare = is_spare
        self._shares_of: dict[P, tuple[str, ...]] = {}
        self._shares: dict[str, dict[P, None]] = {}

    def __len__(self) -> int:
        return len(self._shares_of)

    def __contains__(self, place: object) -> bool:
        return place in self._shares_of

    def enter(self, place: P, *shares: str) -> P | None:
        """Take a place, which counts in each of these shares; the one that is given up for it."""
        self._shares_of[place] = shares
        for share in shares:
            self._shares.setdefault(share, {})[place] = None
        if len(self._shares_of) <= self._size:
            return None
        largest = max(self._shares.values(), key=len)
        crowd = largest if len(largest) > FEW else self._shares_of
        evicted_holder = next(
            filter(self._is_spare, islice(crowd, SEARCHED_MAX)), next(iter(crowd))
        )
        self.leave(evicted_holder)
        return evicted_holder

    def leave(self, place: P) -> None:
        """Give a place back. Safe to repeat."""
        for share in self._shares_of.pop(place, ()):
            places = self._shares[share]
            del places[place]
            if not places:
                del self._shares[share]


class WaitingRoom:
    """Places for those who wait for their client, each for a time."""

    def __init__(self, size: int) -> None:
        self._room: Room[asyncio.Timeout] = Room(size)

    def __len__(self) -> int:
        return len(self._room)

    @asynccontextmanager
    async def place(self, seconds: float, *shares: str) -> AsyncIterator[None]:
        """Have a place while the block runs.

        Raises:
            TimeoutError: it ran so long, or its place was given up for another.
        """
        async with asyncio.timeout(seconds) as limit:
            evicted_holder = self._room.enter(limit, *shares)
            if evicted_holder is not None and not evicted_holder.expired():
                evicted_holder.reschedule(asyncio.get_running_loop().time())
            try:
                yield
            finally:
                self._room.leave(limit)


class Load:
    """The working slots of one process, and the rooms beside them.

    There are as many places to wait for a body as slots: each holds `body_bytes_max` at most.
    """

    def __init__(self, in_flight_max: int, block: Callable[[Any], str]) -> None:
        """`block` tells the block of addresses that an exchange comes from."""
        self.block = block
        self.in_flight = 0
        self.in_flight_max = in_flight_max
        self.bodies = WaitingRoom(in_flight_max)
        self.lingering = WaitingRoom(LINGERING_MAX)
