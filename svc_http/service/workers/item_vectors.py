"""Computes the embedding vectors of news items and of vulnerabilities, soon after they are read.

Rule 1: new items come first; older ones are worked off after them, one page a turn.
Rule 2: items that cannot be embedded now are tried again later; only comparisons miss them.
"""

from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

from attrs import evolve

from svc_core.intel.news import vectors
from svc_core.intel.vulnerabilities import cve_vectors
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Leases, Position
from svc_core.reports.composition import SETTLING
from svc_core.search import vector_likeness as embeddings
from svc_core.search.vector_likeness import GAPS_PAGE, Embedder, VectorGap
from svc_http import system
from svc_http.service.service_units import Service
from svc_http.service.workers.leased_work import LeasedWork

BACKLOG_MAX: Final = 20_000
"""Old items that still get a vector, as after the first start with a model: as many as a question
is compared with. That takes E5 about 40 minutes of one processor, MiniLM 10 to 20."""
AGAIN_SECONDS: Final = 3_600.0
"""How often all of them are checked again: publishers change the words of items."""


class VectorWork(LeasedWork):
    """The embedding work of one process for news, and how far it has come."""

    lease_name = "embed"
    gaps: Callable[..., Awaitable[tuple[Sequence[VectorGap], Position | None]]] = staticmethod(
        vectors.vector_gaps
    )
    save: Any = staticmethod(vectors.save_vectors)

    def __init__(self, service: Service, embedder: Embedder, leases: Leases) -> None:
        super().__init__(leases)
        self._service = service
        self._embedder = embedder
        self._restart()

    def _restart(self) -> None:
        self._since: int | None = None
        self._after: Position | None = None
        self._backlog_left = BACKLOG_MAX
        self._again_at = system.monotonic() + AGAIN_SECONDS

    async def work(self) -> int:
        """Compute the vectors of new items, and of one page of old ones; return how many.

        A process that has lost the lease starts anew once it has it again.
        """
        if system.monotonic() > self._again_at:
            self._restart()
        if not await self.has_lease():
            self._restart()
            return 0
        began = micros(self._service.now() - SETTLING)
        count = await self._new() if self._since is not None else 0
        self._since = began
        while self._backlog_left > 0 and not count:
            count = await self._page()
        return count

    async def _new(self) -> int:
        """Embed all items read since the last turn; return how many."""
        count, after = 0, None
        while True:
            items, after = await self._look(start=self._since, after=after)
            count += await self._make(items)
            if after is None:
                return count

    async def _page(self) -> int:
        """Embed one page of old items, the newest first; return how many."""
        items, after = await self._look(after=self._after)
        count = await self._make(items)
        self._after = after
        self._backlog_left = 0 if after is None else self._backlog_left - GAPS_PAGE
        return count

    async def _look(
        self, *, start: int | None = None, after: Position | None
    ) -> tuple[Sequence[VectorGap], Position | None]:
        unit = partial(self.gaps, model=self._embedder.model, start=start, after=after)
        return await self._service.read(SYSTEM, unit)

    async def _make(self, items: Sequence[VectorGap]) -> int:
        """Compute the vectors batch by batch, renewing the lease before each."""
        for start in range(0, len(items), embeddings.BATCH):
            await self.has_lease()
            batch = items[start : start + embeddings.BATCH]
            made = await embeddings.vectors_of(self._embedder, [text for _, text in batch])
            rows = [
                evolve(vector, data=b64encode(data).decode())
                for (vector, _), data in zip(batch, made, strict=True)
            ]
            await self._service.write(SYSTEM, partial(self.save, rows=rows))
        return len(items)


class CveVectorWork(VectorWork):
    """The same for vulnerabilities."""

    lease_name = "embedCves"
    gaps = staticmethod(cve_vectors.cve_vector_gaps)
    save = staticmethod(cve_vectors.save_cve_vectors)
