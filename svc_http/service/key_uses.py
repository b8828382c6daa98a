"""Writes when API keys were last used: once a minute, from what requests noted in memory.

Rule 1: a request pays for one entry in a dictionary, never for a write.
Rule 2: there is one commit a minute, or a few while very many keys are used, because every commit
        empties the page cache, and because no other work should wait long for one of them.
Rule 3: what cannot be written now is noted again; a clean end of the server loses nothing.
"""

import asyncio
from contextlib import suppress
from functools import partial
from itertools import islice

from svc_core.access import operations as accounts
from svc_core.operation.ports import Overloaded, StorageUnavailable
from svc_http.guard.use_log import Uses
from svc_http.service.service_units import Service

WRITE_SECONDS = 60.0
"""How far the time that `svc keys show` prints may lie behind."""

KEYS_AT_ONCE = 500
"""Keys written in one transaction: 10,000 took half a second in a file."""


async def write_uses(service: Service, use_log: Uses) -> int:
    """Write the noted uses; return how many keys have a new time."""
    pending = dict(use_log.take())
    count = 0
    try:
        while pending:
            part = dict(islice(pending.items(), KEYS_AT_ONCE))
            count += await service.system(partial(accounts.note_use, uses=part))
            for key_id in part:
                del pending[key_id]
    except BaseException:
        use_log.give_back(pending)
        raise
    return count


async def write_last_uses(service: Service, uses: Uses) -> None:
    """Write the uses of the last requests before the end, unless the store is unavailable."""
    with suppress(StorageUnavailable, Overloaded):
        await write_uses(service, uses)


async def uses_loop(service: Service, uses: Uses, seconds: float = WRITE_SECONDS) -> None:
    """Write the noted uses every `seconds`, and once more when it is cancelled."""
    try:
        while True:
            await asyncio.sleep(seconds)
            await write_uses(service, uses)
    finally:
        await write_uses(service, uses)
