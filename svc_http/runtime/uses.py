"""When keys were last used: noted in memory at every request, written once a minute.

Rule 1: a request pays for one entry in a dictionary, never for a write.
Rule 2: one commit a minute at most, because every commit ends what is kept of pages.
Rule 3: what cannot be written now is noted again; a clean end of the server loses nothing.
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime

from svc_core import accounts
from svc_http.runtime.service import Service

WRITE_SECONDS = 60.0
"""How far what `svc keys show` tells may lie behind."""

KEYS_MAX = 10_000
"""Keys noted between two writes; a transaction of so many takes half a second."""


class Uses:
    """The latest use of every key since the last write, by the key's id; for one event loop."""

    def __init__(self, keys_max: int = KEYS_MAX) -> None:
        self._keys_max = keys_max
        self._noted: dict[str, datetime] = {}

    def note(self, key_id: str, at: datetime) -> None:
        """Note one use; beyond the most keys, only those that are known go on."""
        if key_id in self._noted or len(self._noted) < self._keys_max:
            self._noted[key_id] = at

    def take(self) -> Mapping[str, datetime]:
        """What was noted, which is then forgotten here."""
        taken, self._noted = self._noted, {}
        return taken

    def give_back(self, taken: Mapping[str, datetime]) -> None:
        """Note again what could not be written, unless it was used since."""
        self._noted = {**taken, **self._noted}


async def write_uses(service: Service, uses: Uses) -> int:
    """Write what was noted, in one transaction; how many keys tell a new time."""
    taken = uses.take()
    if not taken:
        return 0
    try:
        return await service.system(lambda ctx: accounts.note_use(ctx, taken))
    except BaseException:
        uses.give_back(taken)
        raise


async def uses_loop(service: Service, uses: Uses, seconds: float = WRITE_SECONDS) -> None:
    """Write what was noted every `seconds`, and once more when it is told to end."""
    try:
        while True:
            await asyncio.sleep(seconds)
            await write_uses(service, uses)
    finally:
        await write_uses(service, uses)
