"""Bounds what requests hold in one process, and shares it fairly among callers.

Rule 1: a working slot is held only while the service itself works on a request. A request that
        waits for its client (to send the body, to read the answer) or for another request with
        the same key (`keyed_locks`) holds none.
Rule 2: a request that waits has a place in a room of fixed size. A new one always gets a place;
        where the room is full, the oldest place of the caller with the most is evicted for it.
Rule 3: places are counted by address block and by key.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any, Generic, TypeVar

# Why slots and rooms are two things, and why a full room evicts
# --------------------------------------------------------------
# A working slot stands for work that ends by itself: CPU and storage, some milliseconds. Slots are
# simply counted; when all are taken, the answer is 503, and a retry a second later finds one.
#
# Waiting for a client does not end by itself. A thousand connections that send one byte of a body
# every second (slowloris) would hold a thousand slots for as long as they like, at no cost to who
# opens them. So a request gives its slot back before it waits (`Exchange.resting`), and takes a
# place in a room instead.
#
# A room that refuses when it is full would move the problem: who came first would hold it, and
# every honest caller would be refused. A room therefore never refuses. It evicts, by these rules:
#
#   place free                          the newcomer enters, nobody leaves
#   room full, one holder has > FEW     the oldest place of the largest holder is evicted
#   room full, nobody has > FEW         the oldest place of all is evicted
#
# Where `is_spare` is given (idle connections, say), the oldest such place of that crowd goes first.
#
# An honest request has its place for moments, so the oldest place is most likely one that does not
# move. A holder is counted by its address block and by its key, and is the largest in whichever
# of the two it has the most: one attacker with many addresses is caught by the key, one with many
# keys by the address. `FEW` protects a browser or a client's pool, which holds several places at
# once in good faith.
#
# What is weak: a flood from many addresses without a key looks like many small holders. Then the
# oldest place goes, whoever has it, and an honest client on a very slow line can lose its place
# and see a 408; it retries. The search for a place that may be spared stops at `SEARCHED_MAX`,
# because a room has thousands of places and this runs for every newcomer.
#
# The evicted request learns of it by its own timeout: `asyncio.Timeout` is rescheduled to now, so
# that it wakes up where it waits and answers as if its time were over.

P = TypeVar("P", bound=Hashable)

LINGERING_MAX = 64
"""Refused requests whose body is read and dropped at once. Beyond that a client may lose the text
of a refusal, and nobody loses a working slot."""

FEW = 16
"""Places that a holder may have before it counts as a crowd; a browser or a client's pool has
fewer."""

SEARCHED_MAX = 1_000
"""How many places are examined to find one that may be evicted."""


class Room(Generic[P]):
    """A fixed number of places, shared fairly among holders. Not thread-safe: one event loop."""

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
        """Take a place, counted for each of `shares`; returns the place that was evicted for it."""
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
    """A room for requests that wait, each with a time limit."""

    def __init__(self, size: int) -> None:
        self._room: Room[asyncio.Timeout] = Room(size)

    def __len__(self) -> int:
        return len(self._room)

    @asynccontextmanager
    async def place(self, seconds: float, *shares: str) -> AsyncIterator[None]:
        """Hold a place while the block runs.

        Raises:
            TimeoutError: the block took longer than `seconds`, or its place was evicted.
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
    """The working slots of one process, and its rooms for requests that wait.

    The room for bodies has as many places as there are slots; a place holds at most
    `body_bytes_max` of memory.
    """

    def __init__(self, in_flight_max: int, block: Callable[[Any], str]) -> None:
        """`block` gives the address block (a prefix of the client's address) of an exchange."""
        self.block = block
        self.in_flight = 0
        self.in_flight_max = in_flight_max
        self.bodies = WaitingRoom(in_flight_max)
        self.lingering = WaitingRoom(LINGERING_MAX)
