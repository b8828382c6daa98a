"""Vectors of items of news: which items lack one, making them, and what is near to a question.

Rule 1: vectors are made beside units of work, and a few at a time are kept in one: killed at any
        time, what was kept stands and the rest is still found to be lacking.
Rule 2: a vector is of one model and of one version of an item's words, else it is made anew.
"""

from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

from attrs import field, frozen

from svc_core.intel.news.model import NEWS_TEXTS, NewsText
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Collection, Document, Position
from svc_core.operation.units import Units
from svc_core.search.embeddings import (
    BATCH,
    Embedder,
    Likeness,
    Vector,
    nearest,
    passage,
    vectors_of,
)

MADE_MAX: Final = 256
"""Vectors made for one question while somebody waits for its answer: 6 to 20 s of one processor.
Beyond them an item has no likeness yet, and is judged by its words."""
PAGE: Final = 256
"""Items looked at in one unit of work."""
_VECTORS_PAGE: Final = 2_000

VECTORS: Collection[Vector] = Collection(
    name="news_vectors",
    model=Vector,
    prefix="obs",
    order=lambda vector: micros(vector.taken_at),
    scope="global",
)


@frozen
class Lacking:
    """An item whose words have no vector yet, and the words that it will be of."""

    id: str
    taken_at: datetime
    version: int
    text: str = field(repr=False)


async def lacking(
    ctx: Context,
    model: str,
    *,
    start: int | None = None,
    end: int | None = None,
    after: Position | None = None,
) -> tuple[tuple[Lacking, ...], Position | None]:
    """Those of a page of items that lack a vector, the newest first, and where the page ends."""
    page = await ctx.tx.documents.scan(NEWS_TEXTS, start=start, end=end, after=after, limit=PAGE)
    return await _gaps_of(ctx, model, page.rows), page.end


async def _gaps_of(
    ctx: Context, model: str, rows: Sequence[Document[NewsText]]
) -> tuple[Lacking, ...]:
    vectors = await ctx.find_many(VECTORS, [row.id for row in rows])
    versions = {id_: (vector.model, vector.version) for id_, vector in vectors.items()}
    return tuple(_gap(row) for row in rows if versions.get(row.id) != (model, row.version))


def _gap(row: Document[NewsText]) -> Lacking:
    words = NEWS_TEXTS.decode(row.raw)
    return Lacking(row.id, words.taken_at, row.version, passage(words.title, words.text))


async def make(work: Units, embedder: Embedder, gaps: Sequence[Lacking]) -> None:
    """Make the vectors of some items and keep them.

    Raises:
        NotEmbedded: the model gives none; those before are kept.
    """
    for start in range(0, len(gaps), BATCH):
        batch = gaps[start : start + BATCH]
        vectors = await vectors_of(embedder, [gap.text for gap in batch])
        rows = [
            Vector(gap.id, gap.taken_at, embedder.model, gap.version, b64encode(vector).decode())
            for gap, vector in zip(batch, vectors, strict=True)
        ]
        await work.write(SYSTEM, partial(_save, rows=rows))


async def _save(ctx: Context, rows: Sequence[Vector]) -> None:
    """Keep the vectors of those items whose words are still the same."""
    texts = await ctx.tx.documents.get_many(NEWS_TEXTS, [vector.id for vector in rows])
    for vector in rows:
        if vector.id in texts and texts[vector.id].version == vector.version:
            await ctx.save(VECTORS, vector.id, vector)


# -- asking them -------------------------------------------------------------------------------


async def likeness(
    work: Units,
    embedder: Embedder,
    question: str,
    item_ids: Sequence[str],
    span: tuple[int | None, int | None] = (None, None),
) -> Likeness:
    """How near the `item_ids` items come to a question, and which others of the time of taking in.

    Items that lack a vector get one, up to `MADE_MAX`: the named first, then the newest.

    Raises:
        NotEmbedded: the model gives no vectors.
    """
    query = (await embedder.embed([question]))[0]

    async def find_gaps(ctx: Context) -> tuple[Lacking, ...]:
        rows = await ctx.tx.documents.get_many(NEWS_TEXTS, item_ids)
        gaps = await _gaps_of(ctx, embedder.model, tuple(rows.values()))
        newest, _ = await lacking(ctx, embedder.model, start=span[0], end=span[1])
        return tuple({gap.id: gap for gap in (*gaps, *newest)}.values())[:MADE_MAX]

    await make(work, embedder, await work.read(SYSTEM, find_gaps))
    rows = await work.read(SYSTEM, lambda ctx: _candidates(ctx, embedder, item_ids, span))
    vectors = (VECTORS.decode(row.raw) for row in rows)
    return await work.aside(lambda: nearest(embedder, query, vectors, frozenset(item_ids)))


async def _candidates(
    ctx: Context, embedder: Embedder, item_ids: Sequence[str], span: tuple[int | None, int | None]
) -> list[Document[Vector]]:
    """The vectors of the named items, and the newest of the time."""
    rows = await ctx.tx.documents.get_many(VECTORS, item_ids)
    after: Position | None = None
    budget = embedder.compared_max
    while budget > 0:
        limit = min(budget, _VECTORS_PAGE)
        page = await ctx.tx.documents.scan(
            VECTORS, start=span[0], end=span[1], after=after, limit=limit
        )
        rows.update({row.id: row for row in page.rows})
        budget, after = budget - limit, page.end
        if after is None:
            break
    return list(rows.values())
