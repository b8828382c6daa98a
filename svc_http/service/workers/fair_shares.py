"""A semaphore with fair shares: limits concurrent work, and how much of it one owner may take.

Rule 1: no owner takes more places than it leaves free: a single owner gets half of them, two owners
        a third each. A newcomer finds a place at once, however slow the others are.
Rule 2: the owner with the fewest places goes first; of several, the one that has waited longest.
"""

# Why it is fair. A place is granted to the waiting owner with the fewest places, and only if
# it has fewer places than are still free (`_places[owner] < _free`). With N places and k
# owners that all want more, each ends with about N/(k+1), and N/(k+1) stay free: enough for
# owner k+1 to begin at once, after which places that end are granted to whoever has the
# fewest. The price is that the last share is never used; that reserve is what keeps one slow
# owner from blocking a newcomer, and a plain semaphore has none.
#
# The order of `_queues` is the order of waiting: an owner whose turn was granted is put back at
# the end if it waits for more. `min` takes the first of several equal owners, so those with as
# many places take turns. A waiter that was cancelled stays in its queue until its turn and is
# skipped there; one that is cancelled after its grant gives the place back in `finally`.''

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Shares:
    """A number of places, shared by owners, for the tasks of one event loop."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._places: Counter[str] = Counter()
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def place(self, owner: str) -> AsyncIterator[None]:
        """Wait for a place in the share of `owner`, and have it while the block runs."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(owner, deque()).append(turn)
        self._grant()
        try:
            await turn
            yield
        finally:
            if not turn.cancelled():
                self._free += 1
                self._places[owner] -= 1
            self._grant()

    def _grant(self) -> None:
        """Grant the places that may be granted now."""
        self._places = +self._places
        while self._queues:
            owner = min(self._queues, key=self._places.__getitem__)
            if self._places[owner] >= self._free:
                return
            line = self._queues.pop(owner)
            place = line.popleft()
            if line:
                self._queues[owner] = line
            if place.cancelled():  # this waiter was cancelled before its turn
                continue
            place.set_result(None)
            self._free -= 1
            self._places[owner] += 1
