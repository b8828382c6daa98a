"""Looks after the indexes of the knowledge: older rows, vectors, segments of counts.

One process of all does this at a time. The hold of one that died is over soon, and what it had kept
stands.
"""

import asyncio
from functools import partial
from typing import Final

from svc_core.intel.signals.indexing import SIGNAL_INDEX
from svc_core.knowledge.reindexing import begin, tend
from svc_core.operation.ports import SYSTEM, Leases, SharedUnavailable
from svc_core.reports.indexing import REPORT_INDEX
from svc_core.search.embeddings import Embedder, NotEmbedded
from svc_core.search.indexing import NEVER, Index
from svc_http import system
from svc_http.service.commits import Commits
from svc_http.service.service import Service

LOOK_SECONDS: Final = 10.0
"""How often it is looked when nothing was heard."""
GATHER_SECONDS: Final = 0.5
HOLD_SECONDS: Final = 60.0
"""How long the work is one process's: longer than a turn of one index takes."""
PUT_OFF_SECONDS: Final = 30.0
"""How long a model is left alone that gave nothing."""
TENANTS_AT_ONCE: Final = 256
"""Rows that wait, by which it is known whose turn it is."""


async def index_loop(
    service: Service, embedder: Embedder | None, commits: Commits, leases: Leases
) -> None:
    """Do what waits in the indexes, for ever; it ends by being cancelled."""
    work = Indexing(service, embedder, leases)
    await commits.rounds(work.turn, look_seconds=LOOK_SECONDS, gather_seconds=GATHER_SECONDS)


class Indexing:
    """One process's part in the work."""

    def __init__(self, service: Service, embedder: Embedder | None, leases: Leases) -> None:
        self._service = service
        self._embedder = embedder
        self._leases = leases
        self._holder = system.new_request_id()
        self._is_begun = False

    async def turn(self) -> None:
        """Do all that waits, as long as nobody else does and the model answers."""
        try:
            while await self._has_lease() and await self._round():
                pass
        except SharedUnavailable:
            return
        except NotEmbedded:  # whoever asked the model has told of it
            await asyncio.sleep(PUT_OFF_SECONDS)

    async def _has_lease(self) -> bool:
        return await self._leases.take("index", self._holder, HOLD_SECONDS)

    async def _round(self) -> bool:
        """Give every index a turn in which something waits; whether there was any."""
        if not self._is_begun:
            await self._begin()
        waiting = [
            (tenant, index)
            for index in (SIGNAL_INDEX, REPORT_INDEX)
            for tenant in await self._due(index)
        ]
        for tenant, index in waiting:
            await self._has_lease()
            await tend(self._service, tenant, index, self._embedder)
        return bool(waiting)

    async def _due(self, index: Index) -> list[str]:
        """Whose index has something that waits."""
        storage = self._service.storage
        rows = await storage.across(index.due, end=NEVER - 1, limit=TENANTS_AT_ONCE)
        return list(dict.fromkeys(row.tenant for row in rows))

    async def _begin(self) -> None:
        """Have every index looked at that is older than this, or of another model."""
        model = "" if self._embedder is None else self._embedder.model
        tenants = await self._service.tenants()
        for tenant, index in [
            (SYSTEM, SIGNAL_INDEX),
            *((owner, REPORT_INDEX) for owner in tenants),
        ]:
            unit = partial(begin, index=index, model=model, again=False)
            await self._service.write(tenant, unit)
        self._is_begun = True
