"""The counts of terms are exact in every store, whoever writes at once and whatever was before."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest

from svc_core import catalog
from svc_core.intel.news.model import NEWS_TEXTS, NewsText
from svc_core.intel.news.news_corpus import COUNTED_AT_ONCE, ITEMS
from svc_core.operation.ports import SYSTEM, Transaction
from svc_core.search import corpus
from svc_core.search.corpus import FAN
from svc_core.testing.clock import START
from svc_core.text.frequencies import Frequencies
from svc_http.service.workers.source_pulls import add_source, pull, tidy
from svc_http.stores import SqliteStorage
from tests.backends import EPOCH

pytestmark = pytest.mark.anyio

Make = Callable[..., bytes]


async def texts(house: Any) -> list[Any]:
    rows = await house.service.read(
        SYSTEM, lambda ctx: ctx.tx.documents.scan(NEWS_TEXTS, limit=10_000)
    )
    return [NEWS_TEXTS.decode(row.raw) for row in rows.rows]


async def is_exact(house: Any) -> bool:
    """Whether the table has what counting everything now gives."""
    table: Frequencies = await house.service.read(
        SYSTEM, lambda ctx: corpus.term_frequencies(ctx, ITEMS)
    )
    words = await texts(house)
    scratch = Frequencies.of(set(text.terms.split()) for text in words)
    return (dict(table.counts), table.total) == (dict(scratch.counts), len(words))


async def test_two_writers_at_once_lose_no_count(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    titles = [f"Crane {number} stops at pier{number % 7}" for number in range(12)]
    sources = []
    for turn in range(FAN + 1):
        url = publisher.publish(f"/{turn}", feed(*titles[turn:], text="Ships wait"))
        sources.append(await add_source(any_house.service, url))
    await asyncio.gather(
        *(pull(any_house.service, source, any_house.fetcher) for source in sources)
    )
    assert await is_exact(any_house)
    new_titles = [f"{title} again" for title in titles]
    for turn, source in enumerate(sources):
        publisher.publish(f"/{turn}", feed(*titles[:3], *new_titles, text="Ships sail"))
        assert source.location.endswith(f"/{turn}")
    pulls = (pull(any_house.service, source, any_house.fetcher) for source in sources)
    await asyncio.gather(*pulls, *(tidy(any_house.service) for _ in range(3)))
    assert await is_exact(any_house)
    state = await any_house.service.read(SYSTEM, lambda ctx: ctx.value(ITEMS.state, "terms"))
    levels = [segment.level for segment in state.segments]
    assert max(levels.count(level) for level in levels) < FAN
    segments = await any_house.service.read(
        SYSTEM, lambda ctx: ctx.tx.documents.scan(ITEMS.counts, limit=99)
    )
    assert {row.id for row in segments.rows} == {segment.id for segment in state.segments}


OLD_TEXTS = attrs.evolve(NEWS_TEXTS, keys={}, search=lambda words: words.text)
LATER = (NEWS_TEXTS, ITEMS.state, ITEMS.counts)
OLD = [OLD_TEXTS, *(collection for collection in catalog.COLLECTIONS if collection not in LATER)]
"""What was declared before terms were kept."""


async def test_a_store_of_before_is_searched_at_once_and_counted_by_the_worker(
    tmp_path: Path, make_house: Callable[[str], Any]
) -> None:
    old = SqliteStorage.open(tmp_path / "svc.db", OLD, epoch=EPOCH)

    async def write(tx: Transaction) -> None:
        for number in range(COUNTED_AT_ONCE + 1):
            text = NewsText(f"obs_{number:024x}", START, f"Crane {number}", "Ships wait", "en")
            await tx.documents.put(OLD_TEXTS, text.id, text)

    await old.write(SYSTEM, write)
    await old.close()
    house = make_house("sqlite")
    rows = await house.service.read(SYSTEM, partial(_candidates, term="ship"))
    assert len(rows) == COUNTED_AT_ONCE + 1
    assert [await tidy(house.service) for _ in range(3)] == [True, True, False]
    assert await is_exact(house)
    await house.close()


async def _candidates(ctx: Any, term: str) -> Any:
    table = await corpus.term_frequencies(ctx, ITEMS)
    return await corpus.candidate_ids(ctx, {term: 1.0}, table, texts=NEWS_TEXTS, limit=1_000)
