"""Computes the embedding vectors of news items, soon after they are read.

Rule 1: new items come first; older ones are worked off after them, one page a turn.
Rule 2: a lease lets one process of all do this at a time. The lease of a dead process expires soon,
        and what it had written stays.
Rule 3: items that cannot be embedded now are tried again later; only comparisons miss them.
"""

import asyncio
from functools import partial
from typing import Final

from svc_core.intel.news import vectors
from svc_core.intel.news.vectors import VectorGap
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Leases, Position, SharedUnavailable
from svc_core.reports.composition import SETTLING
from svc_core.search import vector_likeness as embeddings
from svc_core.search.vector_likeness import Embedder, NotEmbedded
from svc_http import system
from svc_http.service.commits import Commits
from svc_http.service.service_units import Service

LOOK_SECONDS: Final = 10.0
"""How often new items are searched without a commit."""
GATHER_SECONDS: Final = 0.5
HOLD_SECONDS: Final = 60.0
"""How long a lease lasts: longer than a batch takes."""
PUT_OFF_SECONDS: Final = 30.0
"""How long the model is not asked after a failure."""
BACKLOG_MAX: Final = 20_000
"""Old items that still get a vector, as after the first start with a model: as many as a question
is compared with. That takes about 20 minutes of one processor."""
AGAIN_SECONDS: Final = 3_600.0
"""How often all of them are checked again: publishers change the words of items."""


async def embed_loop(
    service: Service, embedder: Embedder, commits: Commits, leases: Leases
) -> None:
    """Compute missing vectors for ever; it ends when it is cancelled."""
    work = VectorWork(service, embedder, leases)
    await commits.rounds(work.turn, look_seconds=LOOK_SECONDS, gather_seconds=GATHER_SECONDS)


class VectorWork:
    """The embedding work of one process, and how far it has come."""

    def __init__(self, service: Service, embedder: Embedder, leases: Leases) -> None:
        self._service = service
        self._embedder = embedder
        self._leases = leases
        self._holder = system.new_request_id()
        self._restart()

    def _restart(self) -> None:
        self._since: int | None = None
        self._after: Position | None = None
        self._backlog_left = BACKLOG_MAX
        self._again_at = system.monotonic() + AGAIN_SECONDS

    async def turn(self) -> int:
        """Compute the vectors of new items, and of one page of old ones; return how many."""
        if system.monotonic() > self._again_at:
            self._restart()
        try:
            return await self._make_due() if await self._has_lease() else 0
        except SharedUnavailable:
            return 0
        except NotEmbedded:  # the model has logged the failure
            await asyncio.sleep(PUT_OFF_SECONDS)
            return 0

    async def _has_lease(self) -> bool:
        """Whether this process has the lease; without it, the next turn starts anew."""
        if await self._leases.take("embed", self._holder, HOLD_SECONDS):
            return True
        self._restart()
        return False

    async def _make_due(self) -> int:
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
        self._backlog_left = 0 if after is None else self._backlog_left - vectors.PAGE
        return count

    async def _look(
        self, *, start: int | None = None, after: Position | None
    ) -> tuple[tuple[VectorGap, ...], Position | None]:
        unit = partial(vectors.vector_gaps, model=self._embedder.model, start=start, after=after)
        return await self._service.read(SYSTEM, unit)

    async def _make(self, items: tuple[VectorGap, ...]) -> int:
        """Compute the vectors batch by batch, renewing the lease before each."""
        for start in range(0, len(items), embeddings.BATCH):
            await self._leases.take("embed", self._holder, HOLD_SECONDS)
            batch = items[start : start + embeddings.BATCH]
            await vectors.embed_gaps(self._service, self._embedder, batch)
        return len(items)
