"""Shares: a number of places, shared fairly among those who hold them, with one table of bounds.

Rule 1: a working slot is held only while the service itself works on a request. A request that
        waits for its client (to send the body, to read the answer) or for another request with
        the same key (`keyed_locks`) holds none.
Rule 2: a request that waits has a place. A new one always gets a place (`enter`, `place`); where
        all are taken, the oldest place of the holder with the most is evicted for it.
Rule 3: what lasts long and cannot be evicted (a stream, a payment) is refused (`fits`) where it
        would be one too many, in all or of one holder.
Rule 4: work that can wait, as every request can, stands in line (`turn`). No owner takes more
        places than it leaves free: a single owner gets half of them, two owners a third each. A
        newcomer finds a place at once, however slow the others are. The owner with the fewest
        places goes first; of several, the one that has waited longest.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any, Final, Generic, TypeVar

from attrs import field, frozen

from svc_core.operation.ports import Overloaded

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
#
# Why the line is fair
# --------------------
# A place is granted to the waiting owner with the fewest places, and only if
# it has fewer places than are still free (`count(owner) < places - len(self)`). With N places and k
# owners that all want more, each ends with about N/(k+1), and N/(k+1) stay free: enough for
# owner k+1 to begin at once, after which places that end are granted to whoever has the
# fewest. The price is that the last share is never used; that reserve is what keeps one slow
# owner from blocking a newcomer, and a plain semaphore has none.
#
# The order of `_queues` is the order of waiting: an owner whose turn was granted is put back at
# the end if it waits for more. `min` takes the first of several equal owners, so those with as
# many places take turns. A waiter that was cancelled stays in its queue until its turn and is
# skipped there; one that is cancelled after its grant gives the place back in `finally`.

P = TypeVar("P", bound=Hashable)

FEW: Final = 16
"""Places that a holder may have before it counts as a crowd; a browser or a client's pool has
fewer."""

SEARCHED_MAX: Final = 1_000
"""How many places are examined to find one that may be evicted."""


@frozen
class Bound:
    """How many places there are, and how many of them one holder of a kind may have."""

    places: int
    each: Mapping[str, int] = field(factory=dict)


BOUNDS: Final[dict[str, Bound]] = {
    # Requests that are worked on at once, in turn by workspace, and beside them those of strangers,
    # in turn by address. As many of them as are at work take a step before anybody's next one: 32
    # steps are some 10 ms.
    "requests": Bound(24),
    "requests of strangers": Bound(8),
    # Refused requests whose body is read and dropped. Beyond that a client may lose the text of a
    # refusal, and nobody loses a working slot.
    "lingering": Bound(64),
    # Unknown keys that are looked up. A known key is looked up beside them, and waits in the store
    # behind no more than these; half of the readers of a snapshot (`stores.sqlite.threads`).
    "lookups": Bound(16),
    # Requests that may wait for such a look-up: a second's work of a slow store.
    "strangers": Bound(1_000),
    # Open event streams; each holds a view of the store. One address may have as many as four keys,
    # and one workspace half of all, however many keys it has.
    "account streams": Bound(100, {"key": 5, "address": 20, "workspace": 50}),
    # Live pages of the dashboard: one browser holds one stream, whatever tabs it has.
    "person streams": Bound(100, {"session": 3, "workspace": 50}),
    # Open answers of the agent: each takes some 100 kB and two minutes at most. The agent's rates
    # keep a key far below its bound.
    "agent streams": Bound(400, {"key": 200, "address": 200, "workspace": 200}),
    # Payments: a slow facilitator takes a minute for each, and an answer has 16 MB at most and a
    # few kilobytes as a rule.
    "payments": Bound(128, {"address": 64}),
    # Webhooks; each has at most five attempts under way, so 320 connections.
    "webhooks": Bound(64),
    # Webhooks at one host, so that a slow host does not take all places.
    "webhooks of a host": Bound(8),
    "automations": Bound(8),
    # Passwords that are hashed at once, of 19 MiB each, and those that wait with them: a third of a
    # second's work. Half of them are free for whoever comes from elsewhere.
    "hashes": Bound(2),
    "passwords": Bound(18, {"block": 9}),
    # Reads of more than a unit of work, and those that wait with them; half of both is free for
    # whoever comes from elsewhere. Each has some 100 MB of memory at most.
    "long reads": Bound(2),
    "waiting long reads": Bound(64, {"workspace": 8}),
    # Programs that speak, each of which may need a processor.
    "recordings": Bound(4),
}
"""The bounds that no setting states: how many at once, in one process."""


class Shares(Generic[P]):
    """A number of places, each counted for its holders. Not thread-safe: one event loop."""

    def __init__(self, bound: Bound, is_spare: Callable[[P], bool] = lambda _: False) -> None:
        self.bound = bound
        self._is_spare = is_spare
        self._holders_of: dict[P, tuple[Hashable, ...]] = {}
        self._places_of: dict[Hashable, dict[P, None]] = {}
        self._lines: dict[Hashable, deque[asyncio.Future[None]]] = {}

    def __len__(self) -> int:
        return len(self._holders_of)

    def __contains__(self, place: object) -> bool:
        return place in self._holders_of

    def __iter__(self) -> Iterator[P]:
        return iter(self._holders_of)

    def count(self, holder: Hashable) -> int:
        """How many places a holder has."""
        return len(self._places_of.get(holder, ()))

    def enter(self, place: P, *holders: Hashable) -> P | None:
        """Take a place, counted for each holder; returns the place that was evicted for it."""
        self._holders_of[place] = holders
        for holder in holders:
            self._places_of.setdefault(holder, {})[place] = None
        if len(self) <= self.bound.places:
            return None
        largest = max(self._places_of.values(), key=len)
        crowd = largest if len(largest) > FEW else self._holders_of
        evicted = next(filter(self._is_spare, islice(crowd, SEARCHED_MAX)), next(iter(crowd)))
        self.leave(evicted)
        return evicted

    def leave(self, place: P) -> None:
        """Give a place back. Safe to repeat."""
        for holder in self._holders_of.pop(place, ()):
            places = self._places_of[holder]
            del places[place]
            if not places:
                del self._places_of[holder]

    def fits(self, holders: Iterable[tuple[str, str]]) -> bool:
        """Whether one more place keeps within the bounds; a holder is a kind and a name."""
        return len(self) < self.bound.places and all(
            self.count(holder) < self.bound.each[holder[0]] for holder in holders
        )

    @asynccontextmanager
    async def place(
        self: "Shares[asyncio.Timeout]", seconds: float, *holders: str
    ) -> AsyncIterator[None]:
        """Hold a place while the block runs.

        Raises:
            TimeoutError: the block took longer than `seconds`, or its place was evicted.
        """
        async with asyncio.timeout(seconds) as limit:
            evicted = self.enter(limit, *holders)
            if evicted is not None and not evicted.expired():
                evicted.reschedule(asyncio.get_running_loop().time())
            try:
                yield
            finally:
                self.leave(limit)

    @asynccontextmanager
    async def turn(self: "Turns", owner: str) -> AsyncIterator[None]:
        """Wait in line for a place of the owner, and have it while the block runs."""
        turn = self.line_up(owner)
        try:
            await turn
            yield
        finally:
            self.end(turn)

    def line_up(self: "Turns", owner: str) -> asyncio.Future[None]:
        """A turn of the owner, which is done once it has its place; `end` has to follow."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(owner, deque()).append(turn)
        self._grant()
        return turn

    def end(self: "Turns", turn: asyncio.Future[None]) -> None:
        """Give the place of a turn back, to whoever is next."""
        self.leave(turn)
        self._grant()

    def _grant(self: "Turns") -> None:
        """Grant the places that may be granted now."""
        while self._lines and len(self) < self.bound.places:
            owner = min(self._lines, key=self.count)
            if self.count(owner) >= self.bound.places - len(self):
                return
            line = self._lines.pop(owner)
            turn = line.popleft()
            if line:
                self._lines[owner] = line
            if not turn.cancelled():  # else its waiter was cancelled before its turn
                turn.set_result(None)
                self.enter(turn, owner)


Turns = Shares[asyncio.Future[None]]
"""Shares whose places are taken in turn."""


class BoundedLine:
    """A line of bounded length, in which owners wait for their turn (rule 4)."""

    def __init__(self, length: Bound, places: Bound) -> None:
        """`length` bounds those who have a place and those who wait for one."""
        self._line: Shares[object] = Shares(length)
        self._turns: Turns = Shares(places)

    @asynccontextmanager
    async def turn(self, kind: str, owner: str) -> AsyncIterator[None]:
        """Wait for a place of the owner, and have it while the block runs.

        Raises:
            Overloaded: too many wait, in all or of the owner.
        """
        place, holder = object(), (kind, owner)
        if not self._line.fits((holder,)):
            raise Overloaded(f"too many wait in line, in all or of one {kind}")
        self._line.enter(place, holder)
        try:
            async with self._turns.turn(owner):
                yield
        finally:
            self._line.leave(place)


class Load:
    """The working slots of one process, and the places for requests that wait.

    There are as many places for bodies as there are slots; each holds at most `body_bytes_max` of
    memory.
    """

    def __init__(
        self,
        in_flight_max: int,
        block: Callable[[Any], str],
        tenant: Callable[[Any], str | None] = lambda _: None,
    ) -> None:
        """`block` gives the address block (a prefix of the client's address) of an exchange, and
        `tenant` the workspace of its key; None where no such key is known."""
        self.block = block
        self._tenant = tenant
        self._of_tenants: Turns = Shares(BOUNDS["requests"])
        self._of_strangers: Turns = Shares(BOUNDS["requests of strangers"])
        self.in_flight = 0
        self.in_flight_max = in_flight_max
        self.bodies: Shares[asyncio.Timeout] = Shares(Bound(in_flight_max))
        self.lingering: Shares[asyncio.Timeout] = Shares(BOUNDS["lingering"])

    def turns(self, exchange: object) -> tuple[Turns, str]:
        """The turns that a request waits for, and the owner that it counts for."""
        tenant = self._tenant(exchange)
        if tenant is None:
            return self._of_strangers, self.block(exchange)
        return self._of_tenants, tenant
