"""The news operations (Spec: Other v1 operations) and the use cases of the fetcher."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from attrs import frozen

from svc_core import instants, problem, wire
from svc_core.analysis.topics import TOPICS, Topic
from svc_core.constraints import Doc, Example, Pattern
from svc_core.instants import InstantError, Interval
from svc_core.news import rules
from svc_core.operation import BASE_V1, JSON, NDJSON, QUERY, Context, Operation
from svc_core.ports import Collection, Document
from svc_core.problem import Problem
from svc_core.resources.members import LANGUAGE_TAG, Cursor, Limit, SourceId, micros
from svc_core.resources.news import (
    NEWS,
    NEWS_TEXTS,
    SOURCES,
    TOPIC_ACTIVITY,
    NewsItem,
    NewsText,
    Source,
    TopicActivity,
)
from svc_core.result import Page
from svc_core.unset import UNSET, Maybe, Unset

READ = frozenset({"news:read"})
RETRY_SECONDS = 30  # about as long as a first run over a list of feeds takes

TopicName = Annotated[
    str,
    Pattern(
        "|".join(topic.id for topic in TOPICS),
        f"one of the 40 topics that GET {BASE_V1}/news/feeds lists",
    ),
]


# -- requests and rows -------------------------------------------------------------------------


@frozen
class ListNews:
    """News items, newest first."""

    topics: Annotated[
        Maybe[tuple[TopicName, ...]],
        QUERY,
        Doc("Comma list of topics, any of which an item has."),
        Example(["cybersecurity", "ransomware"]),
    ] = UNSET
    language: Annotated[
        Maybe[tuple[Annotated[str, LANGUAGE_TAG], ...]],
        QUERY,
        Doc("Comma list of BCP 47 tags."),
        Example(["en", "fr"]),
    ] = UNSET
    source: Annotated[Maybe[tuple[SourceId, ...]], QUERY, Doc("Comma list of source ids.")] = UNSET
    datetime: Annotated[
        Maybe[str],
        QUERY,
        Doc("RFC 3339 instant or `start/end` interval, `..` for an open end."),
        Example("2026-01-31T00:00:00Z/.."),
    ] = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class ListTopics:
    """The topic catalogue."""


@frozen
class TopicRow:
    """One of the 40 topics and what it has seen."""

    id: Annotated[str, Doc("What `topics` parameters and items say."), Example("shipping")]
    name: Annotated[str, Doc("What people call it."), Example("Shipping")]
    group: Annotated[str, Doc("The group of topics it belongs to."), Example("business")]
    description: Annotated[str, Doc("What it covers."), Example("Sea trade, ports and vessels")]
    media_topic: Annotated[
        str | None,
        Doc("IPTC media topic; null where none fits."),
        Example(None),
    ]
    feed_count: Annotated[int, Doc("Sources that had an item of it."), Example(12)]
    item_count24h: Annotated[int, Doc("Items taken in within the last 24 hours."), Example(37)]
    languages: Annotated[tuple[str, ...], Doc("Languages of those items."), Example(["en", "fr"])]
    last_item_at: Annotated[
        datetime | None,
        Doc("When its newest item was taken in; null before the first."),
        Example("2026-01-31T05:52:11Z"),
    ]


# -- use cases of the interface ----------------------------------------------------------------


async def list_news(ctx: Context, request: ListNews) -> Page[NewsItem]:
    """A page of news items.

    Raises:
        Problem: NEWS_NOT_READY before the first item was taken in.
    """
    await _ready(ctx)
    languages = request.language
    if not isinstance(languages, Unset):
        languages = tuple(language.lower() for language in languages)
    filters = {"topics": request.topics, "language": languages, "source": request.source}
    where = {name: value for name, value in filters.items() if not isinstance(value, Unset)}
    span = _interval(request.datetime)
    return await ctx.page(
        NEWS,
        where=where,
        start=None if span.start is None else micros(span.start),
        end=None if span.end is None else micros(span.end),
        after=request.cursor,
        limit=request.limit,
    )


def _interval(text: Maybe[str]) -> Interval:
    if isinstance(text, Unset):
        return Interval(None, None)
    try:
        return instants.parse_interval(text)
    except InstantError as fault:
        raise Problem(problem.INVALID_PARAMETER, f"datetime: {fault}") from fault


async def _ready(ctx: Context) -> None:
    if not (await ctx.tx.documents.scan(NEWS, limit=1)).rows:
        raise Problem(
            problem.NEWS_NOT_READY,
            "No news has been taken in yet.",
            {"Retry-After": str(RETRY_SECONDS)},
        )


async def list_topics(ctx: Context, _: ListTopics) -> Page[TopicRow]:
    """The 40 topics, each with its recent activity."""
    return Page(tuple([wire.dumps(await _topic_row(ctx, topic)) for topic in TOPICS]))


async def _topic_row(ctx: Context, topic: Topic) -> TopicRow:
    stored = await ctx.tx.documents.get(TOPIC_ACTIVITY, topic.id)
    seen = TopicActivity(topic.id, (), (), (), None)
    if stored is not None:
        seen = TOPIC_ACTIVITY.decode(stored.raw)
    return TopicRow(
        id=topic.id,
        name=topic.name,
        group=topic.group,
        description=topic.description,
        media_topic=topic.media_topic,
        feed_count=len(seen.sources),
        item_count24h=rules.items_last_day(seen, ctx.now),
        languages=seen.languages,
        last_item_at=seen.last_item_at,
    )


# -- use cases of the fetcher (system transactions) --------------------------------------------


@frozen
class Taken:
    """What one document brought."""

    created: int
    updated: int
    unchanged: int


async def take_in(
    ctx: Context,
    batch: Sequence[rules.Incoming],
    *,
    news: Collection[NewsItem] = NEWS,
    texts: Collection[NewsText] = NEWS_TEXTS,
) -> Taken:
    """Write the rows of one document, all or none; repeated rows write nothing.

    `news` and `texts` are the collections, or forms of them that know the records already.
    """
    created: list[NewsItem] = []
    updated = 0
    for incoming in batch:
        stored = await ctx.tx.documents.get(NEWS, incoming.item.id)
        row = _settled(stored, incoming.item)
        if row is None:
            continue
        await ctx.save(news, row.id, row)
        await ctx.save(texts, row.id, rules.words_of(row, incoming))
        if stored is None:
            created.append(row)
        else:
            updated += 1
    await _note_topics(ctx, created)
    return Taken(len(created), updated, len(batch) - len(created) - updated)


def _settled(stored: Document[NewsItem] | None, item: NewsItem) -> NewsItem | None:
    return item if stored is None else rules.settle(NEWS.decode(stored.raw), item)


async def unseen(ctx: Context, batch: Sequence[rules.Incoming]) -> tuple[rules.Incoming, ...]:
    """The rows of a document that `take_in` would write now."""
    found: list[rules.Incoming] = []
    for incoming in batch:
        stored = await ctx.tx.documents.get(NEWS, incoming.item.id)
        if _settled(stored, incoming.item) is not None:
            found.append(incoming)
    return tuple(found)


async def _note_topics(ctx: Context, created: Sequence[NewsItem]) -> None:
    by_topic: dict[str, list[NewsItem]] = defaultdict(list)
    for item in created:
        for topic in item.topics:
            by_topic[topic].append(item)
    for topic, items in sorted(by_topic.items()):
        stored = await ctx.tx.documents.get(TOPIC_ACTIVITY, topic)
        before = None if stored is None else TOPIC_ACTIVITY.decode(stored.raw)
        await ctx.save(TOPIC_ACTIVITY, topic, rules.active(before, topic, items, ctx.now))


async def save_source(ctx: Context, source: Source) -> Source:
    """Keep what is known of a source."""
    await ctx.save(SOURCES, source.id, source)
    return source


async def find_source(ctx: Context, id_: str) -> Source | None:
    """A source by its id."""
    stored = await ctx.tx.documents.get(SOURCES, id_)
    return None if stored is None else SOURCES.decode(stored.raw)


async def list_sources(ctx: Context, *, limit: int) -> tuple[Source, ...]:
    """Sources, those whose next attempt is farthest first."""
    found = await ctx.tx.documents.scan(SOURCES, limit=limit)
    return tuple(rules.seen(SOURCES.decode(row.raw), ctx.now) for row in found.rows)


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        id="listNews",
        group="news",
        verb="list",
        columns=("publishedAt", "title", "topics", "language", "url"),
        method="GET",
        path="/news",
        summary="List news items",
        description=(
            "News items, newest first. The values of one filter are alternatives; different "
            "filters must all match. Until the first item has been taken in, the answer is 503 "
            "`NEWS_NOT_READY`."
        ),
        tag="News",
        request=ListNews,
        response=Page[NewsItem],
        run=list_news,
        scopes=READ,
        media=(JSON, NDJSON),
        fails=(problem.NEWS_NOT_READY,),
        timeless=True,
    ),
    Operation(
        id="listNewsFeeds",
        group="news",
        verb="topics",
        columns=("id", "name", "feedCount", "itemCount24h", "lastItemAt"),
        method="GET",
        path="/news/feeds",
        summary="List the news topics",
        description="The catalogue of 40 topics, each with its sources and recent activity.",
        tag="News",
        request=ListTopics,
        response=Page[TopicRow],
        run=list_topics,
        scopes=READ,
    ),
)
