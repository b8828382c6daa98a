"""Turns the record of a feed into a news item, and writes what belongs to the item.

Rule 1: an item's id is derived from its permalink and publisher, else from its source and natural
        key, so reading a document twice, or in two formats, changes nothing. Only a document from
        the publisher's own host, or from this machine, may claim a permalink.
Rule 2: a date is never invented; an item without one sorts by when it was first retrieved.
Rule 3: text, term counts and topic activity are written in the unit of work that writes the row.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from svc_core.base import ids, instants
from svc_core.base.egress import is_loopback
from svc_core.formats.model import Record
from svc_core.intel.folding.kind import RowChange
from svc_core.intel.folding.model import Source
from svc_core.intel.news.activity import activity_after
from svc_core.intel.news.model import (
    NEWS_TEXTS,
    RECAPS_DUE,
    STORY_PARTS,
    SUMMARY_MAX,
    TOPIC_ACTIVITY,
    UNGROUPED_ITEMS,
    NewsItem,
    NewsText,
    RecapDue,
    TopicActivity,
    missing_item,
    ungrouped_item,
)
from svc_core.intel.news.news_corpus import ITEMS
from svc_core.intel.news.vectors import VECTORS
from svc_core.operation.context import Context
from svc_core.operation.ports import Collection
from svc_core.search import corpus
from svc_core.text.language import guess
from svc_core.text.sentiment import sentiment_of
from svc_core.text.topics import assign

PROVIDER = "feed"


# -- what a record becomes ---------------------------------------------------------------------


def row_id(source: Source, record: Record) -> str:
    """The id of a record's item: of publisher and permalink, else of source and natural key."""
    url = record.members.get("url")
    if url is not None and record.key == url:
        page, location = urlsplit(url), urlsplit(source.location)
        host, own = _bare(page.hostname), _bare(location.hostname)
        if own in ("", host) or is_loopback(own) or host.endswith(f".{own}"):
            address = page._replace(scheme="", netloc="", path=page.path.rstrip("/")).geturl()
            return ids.derived_id("obs", "news", f"{PROVIDER}:{host}", address)
    return ids.derived_id("obs", "news", f"{PROVIDER}:{source.id}", record.key)


def _bare(host: str | None) -> str:
    return (host or "").removeprefix("www.")


def item_context(source: Source) -> list[Any]:
    """The settings of a source that its items carry; when they change, its items are read again."""
    return [source.name, source.domain, source.country_code, source.language, list(source.topics),
            dict(source.options)]  # fmt: skip


def news_members(
    source: Source, row: str, fields: Mapping[str, Any], now: datetime
) -> tuple[dict[str, Any], NewsText]:
    """The members of an item's row and its text, from the fields that a feed states."""
    title, summary = fields["title"], fields["summary"]
    text = fields["text"] or summary
    language = fields["language"] or source.language or guess(f"{title} {summary}")
    tone = sentiment_of(title, summary, language)
    options = source.options
    tier, affiliation = options.get("tier"), options.get("stateAffiliated")
    members = {
        **{name: fields[name] for name in _AS_SAID},
        "title": title,
        "summary": summary[:SUMMARY_MAX],
        "text": text,
        "sentiment": {"label": tone and tone.label, "value": tone and tone.value},
        "retrievedAt": instants.render(now),
        "source": {
            "id": source.id,
            "name": source.name,
            "domain": source.domain,
            "countryCode": source.country_code,
            "tier": tier and int(tier),
            "stateAffiliated": None if affiliation is None else affiliation == "true",
        },
        "language": language,
        "topics": assign(title, text, fields["categories"], source.topics, language=language),
    }
    return members, NewsText(row, now, title, text, language).with_terms()


_AS_SAID = ("url", "sourceUrl", "publishedAt", "publishedBasis", "updatedAt", "authors", "imageUrl")


def item_words(members: Mapping[str, Any], row: NewsItem) -> NewsText:
    """The text of a row whose strongest contribution is now another one."""
    return NewsText(row.id, row.retrieved_at, row.title, members["text"], row.language)


# -- what is written beside rows ---------------------------------------------------------------


async def follow_news(ctx: Context, rows: Sequence[RowChange]) -> None:
    """Write what belongs to changed items: texts, term counts, story marks, topics and recaps."""
    before = await ctx.find_many(NEWS_TEXTS, [_id(row) for row in rows])
    counts = [await _write_words(ctx, row, before.get(_id(row))) for row in rows]
    await corpus.count(ctx, counts, ITEMS)
    arrivals = [row.after for row in rows if row.before is None]
    await _note_topics(ctx, arrivals)
    await _note_recaps(ctx, [item for row in rows for item in (row.before, row.after) if item])


async def _note_recaps(ctx: Context, items: Sequence[NewsItem]) -> None:
    days = {
        (topic, item.dated_at.replace(hour=0, minute=0, second=0, microsecond=0))
        for item in items
        if item.dated_at is not None
        for topic in item.topics
    }
    for topic, day in sorted(days):
        due = RecapDue(f"{topic}|{day:%Y-%m-%d}", topic, day)
        await ctx.save(RECAPS_DUE, due.id, due)


_COMPANIONS: tuple[Collection[Any], ...] = (NEWS_TEXTS, UNGROUPED_ITEMS, STORY_PARTS, VECTORS)
"""The collections whose rows are deleted together with an item."""


def _id(row: RowChange) -> str:
    id_: str = (row.after or row.before).id
    return id_


async def _write_words(
    ctx: Context, row: RowChange, previous: NewsText | None
) -> corpus.TermChange:
    old = None if previous is None else previous.terms
    if row.before is not None and (row.after is None or row.after.dated_at != row.before.dated_at):
        gone = missing_item(row.before)
        await ctx.save(UNGROUPED_ITEMS, gone.id, gone)
    if row.after is None or row.words is None:
        for companion in _COMPANIONS:
            await ctx.tx.documents.delete(companion, _id(row))
        return corpus.TermChange(_id(row), old, None)
    taken_at = row.after.retrieved_at
    words = NewsText(row.after.id, taken_at, row.words.title, row.words.text, row.words.language,
                    row.words.terms).with_terms()  # fmt: skip
    await ctx.save(NEWS_TEXTS, words.id, words)
    await ctx.save(UNGROUPED_ITEMS, words.id, ungrouped_item(row.after))
    return corpus.TermChange(words.id, old, words.terms)


async def _note_topics(ctx: Context, arrivals: Sequence[NewsItem]) -> None:
    by_topic: dict[str, list[NewsItem]] = defaultdict(list)
    for item in arrivals:
        for topic in item.topics:
            by_topic[topic].append(item)
    activities = await ctx.find_many(TOPIC_ACTIVITY, by_topic)
    for topic, items in sorted(by_topic.items()):
        before = activities.get(topic) or TopicActivity(topic)
        await ctx.save(TOPIC_ACTIVITY, topic, activity_after(before, items, ctx.now))
