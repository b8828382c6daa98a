"""Keeps search indexes complete: indexes older rows, computes missing vectors, merges counts.

Rule 1: each step is a unit of work of its own, and any number of workers may take steps: what
        another worker did first, or a row that changed meanwhile, is left alone.
Rule 2: a worker may be killed at any time: what was committed stands, and the next one resumes.
"""

from base64 import b64encode
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Single
from svc_core.intel.signals.model import SIGNALS
from svc_core.intel.signals.signal_index import SIGNAL_INDEX, index_signals
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation, local
from svc_core.operation.host import Progress
from svc_core.operation.members import NoMembers, micros
from svc_core.operation.ports import SYSTEM, Position, StoredRow
from svc_core.operation.units import Units, WorkContext
from svc_core.reports.model import FACETS, REPORTS
from svc_core.reports.report_index import REPORT_INDEX, ids_of, index_report
from svc_core.search import corpus
from svc_core.search.indexing import (
    FORM,
    NEVER,
    WHOLE_INDEX,
    Index,
    IndexDue,
    IndexedText,
    IndexedVector,
)
from svc_core.search.vector_likeness import BATCH, Embedder, NotEmbedded, passage, vectors_of

REPORTS_AT_ONCE: Final = 4
"""Reports indexed in one unit of work: about 0.1 s where each has fifty signals."""
SIGNALS_AT_ONCE: Final = 100
BATCHES_MAX: Final = 16
"""Batches of vectors computed before another index has its turn: 5 to 15 s of one processor."""


async def queue_reindex(ctx: Context, index: Index, model: str, *, again: bool) -> None:
    """Mark a whole index to be rebuilt, unless it is already under way for this model and form.

    An index that was completed for them is rebuilt only with `again`.
    """
    due = await ctx.find(index.due, WHOLE_INDEX)
    is_current = due is not None and (due.model, due.form) == (model, FORM)
    if not is_current or (again and due is not None and due.is_done):
        await ctx.save(index.due, WHOLE_INDEX, IndexDue(WHOLE_INDEX, model=model, form=FORM))


async def process_index(
    work: Units, tenant: str, index: Index, embedder: Embedder | None
) -> int | None:
    """Do some of the waiting work of one index; return how many older rows it indexed.

    None means that nothing waits any more.

    Raises:
        NotEmbedded: the model gives no vectors.
    """
    due = await work.read(tenant, lambda ctx: ctx.find(index.due, WHOLE_INDEX))
    is_whole = due is None or due.is_done
    rows = 0 if is_whole else await work.write(tenant, partial(_walk, index=index))
    for _ in range(BATCHES_MAX):
        batch = await work.read(tenant, partial(_waiting, index=index))
        if not batch:
            break
        await _vectors(work, tenant, index, embedder, batch)
    while merge := await work.read(tenant, partial(corpus.next_merge, corpus=index.corpus)):
        lines = await work.aside(merge.sum_lines)
        await work.write(tenant, partial(corpus.apply_merge, merge=merge, lines=lines))
    return None if is_whole and len(batch) < BATCH else rows


async def _walk(ctx: Context, index: Index) -> int:
    """Index the next page of older rows, the newest first, and return their number."""
    due = await ctx.find(index.due, WHOLE_INDEX)
    if due is None or due.is_done:
        return 0
    after = Position(*due.after) if due.after else None
    if index is REPORT_INDEX:
        page: Any = await ctx.tx.documents.scan(REPORTS, after=after, limit=REPORTS_AT_ONCE)
        reports = {row.id: REPORTS.decode(row.raw) for row in page.rows}
        for id_, facets in (await ctx.find_many(FACETS, reports)).items():
            await index_report(ctx, reports[id_], facets)
        ids = await ids_of(ctx, list(reports))
    else:
        page = await ctx.tx.documents.scan(SIGNALS, after=after, limit=SIGNALS_AT_ONCE)
        await index_signals(ctx, [SIGNALS.decode(row.raw) for row in page.rows])
        ids = [row.id for row in page.rows]
    if due.model:
        await _queue_vectors(ctx, index, due.model, ids)
    end = page.end
    place = end and (end.order, end.id)
    progress = attrs.evolve(due, after=place, is_done=end is None)
    await ctx.save(index.due, WHOLE_INDEX, progress)
    return len(page.rows)


async def _queue_vectors(ctx: Context, index: Index, model: str, ids: Sequence[str]) -> None:
    """Mark those texts for a vector that have none of this model."""
    texts = await ctx.tx.documents.get_many(index.texts, ids)
    vectors = await ctx.find_many(index.vectors, texts)
    for id_ in texts:
        if id_ not in vectors or vectors[id_].model != model:
            await ctx.save(index.due, id_, IndexDue(id_, micros(ctx.now)))


# -- vectors -----------------------------------------------------------------------------------

_WaitingText = tuple[StoredRow[IndexDue], StoredRow[IndexedText] | None]


async def _waiting(ctx: Context, index: Index) -> list[_WaitingText]:
    """The next texts that wait for a vector, the newest first, each with its marker.

    The text is None where its row was removed meanwhile.
    """
    page = await ctx.tx.documents.scan(index.due, start=1, end=NEVER - 1, limit=BATCH)
    texts = await ctx.tx.documents.get_many(index.texts, [row.id for row in page.rows])
    return [(row, texts.get(row.id)) for row in page.rows]


async def _vectors(
    work: Units, tenant: str, index: Index, embedder: Embedder | None, batch: Sequence[_WaitingText]
) -> None:
    """Compute the vectors of some texts, store them and delete the markers."""
    vectors: list[IndexedVector] = []
    if embedder is not None:
        texts = [index.texts.decode(row.raw) for _, row in batch if row is not None]
        passages = [passage(text.title, text.text) for text in texts]
        for text, data in zip(texts, await vectors_of(embedder, passages), strict=True):
            base64 = b64encode(data).decode()
            head = text.id, text.occurred_at, embedder.model, 1, base64
            vectors.append(IndexedVector(*head, text.kind, text.profile_id))
    due = [row for row, _ in batch]
    await work.write(tenant, partial(_save_batch, index=index, due=due, batch=vectors))


async def _save_batch(
    ctx: Context, index: Index, due: Sequence[StoredRow[IndexDue]], batch: Sequence[IndexedVector]
) -> None:
    vectors = {vector.id: vector for vector in batch}
    for row in due:
        if await ctx.if_unchanged(index.due, row) is not None:
            await ctx.tx.documents.delete(index.due, row.id)
            if row.id in vectors:
                await ctx.save(index.vectors, row.id, vectors[row.id])


# -- by hand -----------------------------------------------------------------------------------


@frozen
class Reindexed:
    """What was looked at."""

    rows: int
    """Reports, and signals of sources."""
    model: str | None
    """The model of the vectors; null without one."""


async def reindex_knowledge(ctx: WorkContext, _: NoMembers) -> Single[Reindexed]:
    """Index every report and signal, and make the vectors that they lack.

    Raises:
        Problem: SERVICE_UNAVAILABLE when the model gives none; what was made is kept.
    """
    work, embedder = ctx.work, ctx.host.providers.get(Embedder)
    model = "" if embedder is None else embedder.model
    places = [(SYSTEM, SIGNAL_INDEX), *((tenant, REPORT_INDEX) for tenant in await work.tenants())]
    rows = 0
    for at, (tenant, index) in enumerate(places):
        await work.write(tenant, partial(queue_reindex, index=index, model=model, again=True))
        try:
            while (count := await process_index(work, tenant, index, embedder)) is not None:
                rows += count
                work.tell(Progress(at, len(places), f"{rows} rows", "indexes"))
        except NotEmbedded as failure:
            detail = f"The model of meaning gives no vectors: {failure}. Repeat to go on."
            raise Problem(problem.SERVICE_UNAVAILABLE, detail) from failure
        work.tell(Progress(at + 1, len(places), f"{rows} rows", "indexes"))
    return Single(wire.to_bytes(Reindexed(rows, model or None)))


LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "knowledge reindex",
        "Index every report and signal, and make the vectors that they lack",
        reindex_knowledge,
        binding="system",
        description="After an interruption, run it again: it continues where it stopped.",
    ),
)
