"""Places for so many at once, in fair shares.

Rule 1: nobody takes more places than are left to others: one alone has half of them, two have a
        third each. Whoever comes next finds a place at once, however slow the others are.
Rule 2: who has the fewest goes first, and of as many who has waited longest.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Shares:
    """So many places, for the tasks of one event loop."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._places: Counter[str] = Counter()
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def place(self, owner: str) -> AsyncIterator[None]:
        """Have a place in somebody's share for as long as the block runs, once there is one."""
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
        """Give out what may be given now."""
        self._places = +self._places
        while self._queues:
            of = min(self._queues, key=self._places.__getitem__)
            if self._places[of] >= self._free:
                return
            line = self._queues.pop(of)
            place = line.popleft()
            if line:
                self._queues[of] = line
            if place.cancelled():  # whoever has given up is only passed by
                continue
            place.set_result(None)
            self._free -= 1
            self._places[of] += 1
