"""Maintains the search indexes of reports and signals: missing rows, vectors, word counts."""

from functools import partial
from typing import Final

from svc_core.intel.signals.signal_index import SIGNAL_INDEX
from svc_core.knowledge.index_upkeep import process_index, queue_reindex
from svc_core.operation.ports import SYSTEM, Leases
from svc_core.reports.report_index import REPORT_INDEX
from svc_core.search.indexing import NEVER, Index
from svc_core.search.vector_likeness import Embedder
from svc_http.service.service_units import Service
from svc_http.service.workers.due_queue import DueQueue
from svc_http.service.workers.leased_work import LeasedWork

TENANTS_AT_ONCE: Final = 256
"""Waiting rows that are read to find the tenants with work."""


class IndexWork(LeasedWork):
    """The index maintenance of one process."""

    lease_name = "index"

    def __init__(self, service: Service, embedder: Embedder | None, leases: Leases) -> None:
        super().__init__(leases)
        self._service = service
        self._embedder = embedder
        self._is_begun = False
        self._queues = {
            index: DueQueue(service, index.due) for index in (SIGNAL_INDEX, REPORT_INDEX)
        }

    async def work(self) -> int:
        """Do all waiting work; the number of turns that it took."""
        count = 0
        while await self.has_lease() and (turns := await self._round()):
            count += turns
        return count

    async def _round(self) -> int:
        """Give every index with waiting work one turn; return how many there were."""
        if not self._is_begun:
            await self._begin()
        waiting: dict[tuple[str, Index], None] = {}
        for index, queue in self._queues.items():
            rows = await queue.rows(TENANTS_AT_ONCE, end=NEVER - 1)
            waiting |= {(row.tenant, index): None for row in rows}
        for tenant, index in waiting:
            await self.has_lease()
            await process_index(self._service, tenant, index, self._embedder)
        return len(waiting)

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
