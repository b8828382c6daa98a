"""Maintains the search indexes of reports and signals: missing rows, vectors, word counts.

A lease lets one process of all do this at a time. The lease of a dead process expires soon, and
what it had written stays.
"""

import asyncio
from functools import partial
from typing import Final

from svc_core.intel.signals.signal_index import SIGNAL_INDEX
from svc_core.knowledge.index_upkeep import process_index, queue_reindex
from svc_core.operation.ports import SYSTEM, Leases, SharedUnavailable
from svc_core.reports.report_index import REPORT_INDEX
from svc_core.search.indexing import NEVER, Index
from svc_core.search.vector_likeness import Embedder, NotEmbedded
from svc_http import system
from svc_http.service.commits import Commits
from svc_http.service.service_units import Service

LOOK_SECONDS: Final = 10.0
"""How often the indexes are checked without a commit."""
GATHER_SECONDS: Final = 0.5
HOLD_SECONDS: Final = 60.0
"""How long a lease lasts: longer than a turn of one index takes."""
PUT_OFF_SECONDS: Final = 30.0
"""How long the model is not asked after a failure."""
TENANTS_AT_ONCE: Final = 256
"""Waiting rows that are read to find the tenants with work."""


async def index_loop(
    service: Service, embedder: Embedder | None, commits: Commits, leases: Leases
) -> None:
    """Maintain the indexes for ever; it ends when it is cancelled."""
    work = IndexWork(service, embedder, leases)
    await commits.rounds(work.turn, look_seconds=LOOK_SECONDS, gather_seconds=GATHER_SECONDS)


class IndexWork:
    """The index maintenance of one process."""

    def __init__(self, service: Service, embedder: Embedder | None, leases: Leases) -> None:
        self._service = service
        self._embedder = embedder
        self._leases = leases
        self._holder = system.new_request_id()
        self._is_begun = False

    async def turn(self) -> None:
        """Do all waiting work, while this process has the lease and the model answers."""
        try:
            while await self._has_lease() and await self._round():
                pass
        except SharedUnavailable:
            return
        except NotEmbedded:  # the model has logged the failure
            await asyncio.sleep(PUT_OFF_SECONDS)

    async def _has_lease(self) -> bool:
        return await self._leases.take("index", self._holder, HOLD_SECONDS)

    async def _round(self) -> bool:
        """Give every index with waiting work one turn; return whether there was any."""
        if not self._is_begun:
            await self._begin()
        waiting = [
            (tenant, index)
            for index in (SIGNAL_INDEX, REPORT_INDEX)
            for tenant in await self._due(index)
        ]
        for tenant, index in waiting:
            await self._has_lease()
            await process_index(self._service, tenant, index, self._embedder)
        return bool(waiting)

    async def _due(self, index: Index) -> list[str]:
        """The tenants whose index has waiting work."""
        storage = self._service.storage
        rows = await storage.across(index.due, end=NEVER - 1, limit=TENANTS_AT_ONCE)
        return list(dict.fromkeys(row.tenant for row in rows))

    async def _begin(self) -> None:
        """Mark every index for a rebuild that has an older form or another model."""
        model = "" if self._embedder is None else self._embedder.model
        tenants = await self._service.tenants()
        for tenant, index in [
            (SYSTEM, SIGNAL_INDEX),
            *((owner, REPORT_INDEX) for owner in tenants),
        ]:
            unit = partial(queue_reindex, index=index, model=model, again=False)
            await self._service.write(tenant, unit)
        self._is_begun = True
