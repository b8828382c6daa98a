"""Embedding vectors of news items: finds items without one, computes them, and compares them.

Rule 1: vectors are computed in the background, outside units of work, and stored a batch at a time.
        A process that is killed loses at most the batch in hand; items without a vector are found
        again. Who compares vectors never waits for missing ones.
Rule 2: an item that gets its vector is grouped anew (`intel.incidents.story_grouping`).
Rule 3: a vector belongs to one model and to one version of an item's text; when either changes,
        it is computed again.
"""

from collections.abc import Sequence
from typing import Final

import attrs

from svc_core.intel.news.model import (
    NEWS,
    NEWS_TEXTS,
    UNGROUPED_ITEMS,
    NewsText,
    ungrouped_item,
)
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Collection, Position, StoredRow
from svc_core.operation.units import Units
from svc_core.search.vector_likeness import (
    GAPS_PAGE,
    Embedder,
    Likeness,
    Vector,
    VectorGap,
    nearest,
    passage,
)

LACKING_MAX: Final = 0.1
"""The share of items without a vector up to which the others are compared by theirs: some come in
while a question is answered. By reason, not measured."""

VECTORS: Collection[Vector] = Collection(
    "news_vectors", Vector, "obs", lambda vector: micros(vector.taken_at), scope="global"
)


async def vector_gaps(
    ctx: Context,
    model: str,
    *,
    start: int | None = None,
    end: int | None = None,
    after: Position | None = None,
) -> tuple[tuple[VectorGap, ...], Position | None]:
    """The items of one page that lack a vector of this model, and the position after the page.

    `start` and `end` bound the time of retrieval in microseconds since 1970; the newest come first.
    """
    page = await ctx.tx.documents.scan(
        NEWS_TEXTS, start=start, end=end, after=after, limit=GAPS_PAGE
    )
    return await _gaps_of(ctx, model, page.rows), page.end


async def _gaps_of(
    ctx: Context, model: str, rows: Sequence[StoredRow[NewsText]]
) -> tuple[VectorGap, ...]:
    vectors = await ctx.find_many(VECTORS, [row.id for row in rows])
    versions = {id_: (vector.model, vector.version) for id_, vector in vectors.items()}
    lacking = [row for row in rows if versions.get(row.id) != (model, row.version)]
    texts = [(row, NEWS_TEXTS.decode(row.raw)) for row in lacking]
    return tuple(
        (Vector(row.id, words.taken_at, model, row.version, ""), passage(words.title, words.text))
        for row, words in texts
    )


async def save_vectors(ctx: Context, rows: Sequence[Vector]) -> None:
    """Store the vectors of those items whose text has not changed meanwhile, and mark these to be
    grouped anew.
    """
    ids = [vector.id for vector in rows]
    texts = await ctx.tx.documents.get_many(NEWS_TEXTS, ids)
    items, markers = await ctx.find_many(NEWS, ids), await ctx.find_many(UNGROUPED_ITEMS, ids)
    fresh = {
        vector.id: vector
        for vector in rows
        if vector.id in texts and texts[vector.id].version == vector.version
    }
    for id_, vector in fresh.items():
        await ctx.save(VECTORS, id_, vector)
    for id_ in sorted(fresh.keys() & items.keys()):
        marker = attrs.evolve(ungrouped_item(items[id_]), vector_at=ctx.now)
        # Also where there is one, so that a pass that has not seen the vector leaves it.
        await ctx.save(UNGROUPED_ITEMS, id_, markers.get(id_, marker))


# -- comparing them ----------------------------------------------------------------------------


async def item_likeness(
    work: Units,
    embedder: Embedder,
    questions: Sequence[str],
    item_ids: Sequence[str],
    span: tuple[int | None, int | None] = (None, None),
) -> list[Likeness] | None:
    """The likeness of some items to each question, and of the nearest others that came in since.

    The vectors are read once for all questions. `span` bounds the time of retrieval of the others.
    None while more than `LACKING_MAX` of these items, and of the newest page of the others, have no
    vector of the model: then nobody can tell which of all are near.

    Raises:
        NotEmbedded: the model gives no vector of a question.
    """
    if await work.read(SYSTEM, lambda ctx: _lack_vectors(ctx, embedder.model, item_ids, span)):
        return None
    queries = [await embedder.embed_query(question) for question in questions]
    rows = await work.read(SYSTEM, lambda ctx: _candidates(ctx, embedder, item_ids, span))

    def compare() -> list[Likeness]:
        vectors, ids = [VECTORS.decode(row.raw) for row in rows], frozenset(item_ids)
        return [nearest(embedder, query, vectors, ids) for query in queries]

    return await work.aside(compare)


async def _lack_vectors(
    ctx: Context, model: str, item_ids: Sequence[str], span: tuple[int | None, int | None]
) -> bool:
    rows = await ctx.tx.documents.get_many(NEWS_TEXTS, item_ids)
    page = await ctx.tx.documents.scan(NEWS_TEXTS, start=span[0], end=span[1], limit=GAPS_PAGE)
    rows |= {row.id: row for row in page.rows}
    gaps = await _gaps_of(ctx, model, tuple(rows.values()))
    return not rows or len(gaps) > LACKING_MAX * len(rows)


async def _candidates(
    ctx: Context, embedder: Embedder, item_ids: Sequence[str], span: tuple[int | None, int | None]
) -> list[StoredRow[Vector]]:
    """The vectors of these items, and the newest ones of the time span."""
    rows = await ctx.tx.documents.get_many(VECTORS, item_ids)
    async for row in ctx.every(VECTORS, embedder.compared_max, start=span[0], end=span[1]):
        rows[row.id] = row
    return list(rows.values())
