"""The corpus of news texts: counts the terms of items, and reads items as evidence for reports.

Items that were stored before terms were counted are counted later, a few at a time
(`uncounted_texts`, `count_texts`), and are then due to be assigned to stories.
"""

from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

from svc_core.intel.news.model import (
    NEWS,
    NEWS_TEXTS,
    UNGROUPED_ITEMS,
    NewsItem,
    NewsText,
    ungrouped_item,
)
from svc_core.operation.context import Context
from svc_core.operation.ports import StoredRow
from svc_core.search.corpus import Corpus, TermChange, count
from svc_core.text.evidence import EvidenceTexts

ITEMS: Final = Corpus.of("global")
"""The corpus of all news items: one for every tenant, as news is shared."""
COUNTED_AT_ONCE: Final = 32
"""Older items counted in one unit of work: about 0.1 s where each has 20,000 characters."""


async def uncounted_texts(ctx: Context) -> tuple[StoredRow[NewsText], ...]:
    """Some texts that are not counted in the corpus yet."""
    page = await ctx.tx.documents.scan(
        NEWS_TEXTS, where={"uncounted": ("yes",)}, limit=COUNTED_AT_ONCE
    )
    return page.rows


async def count_texts(ctx: Context, documents: Sequence[StoredRow[NewsText]]) -> None:
    """Count texts in the corpus, mark their items for grouping, and rewrite the items' rows.

    Rewritten rows have all members of today. Texts that another unit of work changed meanwhile
    are left out.
    """
    changes = []
    items = await ctx.tx.documents.get_many(NEWS, [document.id for document in documents])
    for document in documents:
        words = await ctx.if_unchanged(NEWS_TEXTS, document)
        if words is not None:
            words = words.with_terms()
            await ctx.save(NEWS_TEXTS, words.id, words)
            item = items.get(words.id)
            if item is not None:
                value = NEWS.decode(item.raw)
                await ctx.save(UNGROUPED_ITEMS, item.id, ungrouped_item(value))
                await ctx.save(NEWS, item.id, value, before=item)
            changes.append(TermChange(words.id, None, words.terms))
    await count(ctx, changes, ITEMS)


async def news_evidence(ctx: Context, texts: Iterable[StoredRow[NewsText]]) -> list[EvidenceTexts]:
    """The evidence of some texts, in their order; a text without its item is left out."""
    texts_read = [NEWS_TEXTS.decode(document.raw) for document in texts]
    items = await ctx.find_many(NEWS, [words.id for words in texts_read])
    return [item_evidence(items[words.id], words) for words in texts_read if words.id in items]


def item_evidence(item: NewsItem, words: NewsText) -> EvidenceTexts:
    """An item and its text as evidence, which reports search, group and quote."""
    return EvidenceTexts(
        id=item.id,
        title=item.title,
        text=words.text,
        url=item.url or "",
        source_id=item.source.id,
        source_name=item.source.name,
        source_domain=item.source.domain or urlsplit(item.url or "").hostname or "",
        published_at=item.dated_at,
        retrieved_at=item.retrieved_at,
        language=item.language,
        topics=item.topics,
        story=item.story_id,
        terms=words.terms,
    )
