"""The operations that list and read news items, recaps and topics (Spec: Other v1 operations)."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final

from attrs import frozen

from svc_core import wire
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page, Single
from svc_core.intel.entities import directory
from svc_core.intel.news.activity import items_last_day
from svc_core.intel.news.model import (
    NEWS,
    NEWS_TEXTS,
    RECAPS,
    TOPIC_ACTIVITY,
    WORDS,
    ListNews,
    ListRecaps,
    NewsItem,
    Recap,
    TopicActivity,
    mentions,
)
from svc_core.intel.news.vectors import VECTORS
from svc_core.operation.context import Context
from svc_core.operation.declaration import JSON, NDJSON, PATH, Operation, declare
from svc_core.operation.members import NoMembers, ObservationId, RecapId
from svc_core.search.lists import Listing
from svc_core.search.ranked_rows import SearchKind
from svc_core.text.topics import TOPICS, Topic
from svc_core.wire.constraints import Example

READ = frozenset({"news:read"})
RETRY_SECONDS = 30  # about as long as a first run over a list of feeds takes

# -- requests and rows -------------------------------------------------------------------------


@frozen
class GetNewsItem:
    """One news item."""

    news_id: Annotated[ObservationId, PATH]


@frozen
class GetRecap:
    """One recap."""

    recap_id: Annotated[RecapId, PATH]


@frozen
class TopicRow:
    """One of the 40 topics and what it has seen."""

    id: Annotated[str, Example("shipping")]
    """What `topics` parameters and items say."""
    name: Annotated[str, Example("Shipping")]
    """What people call it."""
    group: Annotated[str, Example("business")]
    """The group of topics it belongs to."""
    description: Annotated[str, Example("Sea trade, ports and vessels")]
    """What it covers."""
    media_topic: Annotated[str | None, Example(None)]
    """IPTC media topic; null where none fits."""
    feed_count: Annotated[int, Example(12)]
    """Sources that had an item of it."""
    item_count24h: Annotated[int, Example(37)]
    """Items taken in within the last 24 hours."""
    languages: Annotated[tuple[str, ...], Example(["en", "fr"])]
    """Languages of those items."""
    last_item_at: Annotated[datetime | None, Example("2026-01-31T05:52:11Z")]
    """When its newest item was taken in; null before the first."""


# -- use cases ---------------------------------------------------------------------------------


async def with_entities(ctx: Context, rows: Sequence[bytes]) -> list[bytes]:
    """The rows of items with the entities that their texts mention."""
    references = [mentions(NEWS.decode(row)) for row in rows]
    return await directory.with_mentions(ctx, rows, references)


NEWS_LISTING = Listing(
    NEWS,
    WORDS,
    text_rows=NEWS_TEXTS,
    look_ups={"entity": directory.entity_references},
    complete=with_entities,
)
NEWS_SEARCH: Final = SearchKind(
    "newsItem", NEWS_LISTING, "getNewsItem", "title", "summary", "obs", VECTORS
)
RECAP_LISTING = Listing(RECAPS)


async def list_news(ctx: Context, request: ListNews) -> Page[NewsItem]:
    """News items, newest first, or with `q` those that contain its words, the best match first. A
    page of matches may be short although another page follows. The values of one filter are
    alternatives; different filters must all match. Until the first item has been read, the answer
    is 503 `NEWS_NOT_READY`.

    Raises:
        Problem: NEWS_NOT_READY before the first item was taken in.
    """
    await _require_news(ctx)
    return await NEWS_LISTING.page(ctx, request)


async def get_news_item(ctx: Context, request: GetNewsItem) -> Single[NewsItem]:
    """One news item, as the list and the change feed name it.

    Raises:
        Problem: NOT_FOUND.
    """
    return await NEWS_LISTING.row(ctx, request.news_id)


async def get_recap(ctx: Context, request: GetRecap) -> Single[Recap]:
    """One recap.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await ctx.load(RECAPS, request.recap_id)
    return Single(document.raw, document.tag)


async def _require_news(ctx: Context) -> None:
    if not (await ctx.tx.documents.scan(NEWS, limit=1)).rows:
        wait = {"Retry-After": str(RETRY_SECONDS)}
        raise Problem(problem.NEWS_NOT_READY, "No news has been taken in yet.", wait)


async def list_recaps(ctx: Context, request: ListRecaps) -> Page[Recap]:
    """What the news of a topic reported on a day (UTC), in its own sentences, each with the items
    that it cites. A recap is renewed when more items of its day are read. `datetime` selects days
    that end in a period.

    Raises:
        Problem: NEWS_NOT_READY before the first item was taken in.
    """
    await _require_news(ctx)
    return await RECAP_LISTING.page(ctx, request)


async def list_news_feeds(ctx: Context, _: NoMembers) -> Page[TopicRow]:
    """The catalogue of 40 topics, each with its sources and recent activity."""
    return Page(tuple([wire.to_bytes(await _topic_row(ctx, topic)) for topic in TOPICS]))


async def _topic_row(ctx: Context, topic: Topic) -> TopicRow:
    activity = await ctx.find(TOPIC_ACTIVITY, topic.id) or TopicActivity(topic.id)
    return TopicRow(
        id=topic.id,
        name=topic.name,
        group=topic.group,
        description=topic.description,
        media_topic=topic.media_topic,
        feed_count=len(activity.sources),
        item_count24h=items_last_day(activity, ctx.now),
        languages=activity.languages,
        last_item_at=activity.last_item_at,
    )


# -- declarations ------------------------------------------------------------------------------

_read = partial(declare, scopes=READ, timeless=True)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _read(
        "news list",
        "GET /news",
        "List news items",
        list_news,
        columns=("id", "title", "publishedAt", "topics", "language"),
        media=(JSON, NDJSON),
        fails=(problem.NEWS_NOT_READY,),
    ),
    _read(
        "news show",
        "GET /news/{newsId}",
        "Read a news item",
        get_news_item,
    ),
    _read(
        "news recaps",
        "GET /news/recaps",
        "List recaps",
        list_recaps,
        columns=("id", "topic", "headline", "window.start", "itemCount", "language"),
        fails=(problem.NEWS_NOT_READY,),
    ),
    _read(
        "news recap",
        "GET /news/recaps/{recapId}",
        "Read a recap",
        get_recap,
        description="One recap, as the list and the change feed name it.",
    ),
    _read(
        "news topics",
        "GET /news/feeds",
        "List the news topics",
        list_news_feeds,
        columns=("id", "name", "feedCount", "itemCount24h", "lastItemAt"),
        timeless=False,
    ),
)
