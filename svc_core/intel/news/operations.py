"""The operations that list and read news items, recaps and topics (Spec: Other v1 operations)."""

import json
from collections.abc import Sequence
from datetime import datetime
from math import ceil, floor
from typing import Annotated, Any, Literal

from attrs import evolve, frozen

from svc_core import wire
from svc_core.base.unset import UNSET, Maybe, Unset, or_default
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page, Single
from svc_core.intel.entities import directory
from svc_core.intel.news.activity import items_last_day
from svc_core.intel.news.model import (
    NEWS,
    NEWS_TEXTS,
    RECAPS,
    SENTIMENT_STEPS,
    TOPIC_ACTIVITY,
    WORDS,
    NewsItem,
    Recap,
    TopicActivity,
    mentions,
    with_all_members,
)
from svc_core.operation import crud
from svc_core.operation.context import Context
from svc_core.operation.declaration import JSON, NDJSON, PATH, QUERY, Operation
from svc_core.operation.members import (
    LANGUAGE_TAG,
    Cursor,
    EntityId,
    IncidentId,
    Limit,
    ObservationId,
    RecapId,
    SourceId,
)
from svc_core.operation.period import TimeFilter, UpdatedSince, range_after, time_bounds
from svc_core.operation.ports import BASE_V1
from svc_core.search import lists
from svc_core.search.lists import RowQuery
from svc_core.text.topics import TOPICS, Topic
from svc_core.wire.constraints import Doc, Example, Ge, Le, Pattern

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
    story_id: Annotated[
        Maybe[tuple[IncidentId, ...]], QUERY, Doc("Comma list of events that an item tells.")
    ] = UNSET
    entity_id: Annotated[
        Maybe[tuple[EntityId, ...]], QUERY, Doc("Comma list of entities, one of which takes part.")
    ] = UNSET
    min_sentiment: Annotated[
        Maybe[float], QUERY, Ge(-1), Le(1), Doc("Items at least so positive."), Example(-0.2)
    ] = UNSET
    max_sentiment: Annotated[
        Maybe[float], QUERY, Ge(-1), Le(1), Doc("Items at most so positive."), Example(0.5)
    ] = UNSET
    datetime: TimeFilter = UNSET
    updated_since: UpdatedSince = UNSET
    q: lists.Q = UNSET
    sort: Annotated[
        Maybe[Literal["publishedAt", "recordedAt", "sentiment"]],
        QUERY,
        Doc("What the list is ordered by, the highest first; without `q` the newest."),
    ] = UNSET
    include: lists.Include = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class GetNewsItem:
    """One news item."""

    news_id: Annotated[ObservationId, PATH]


@frozen
class ListRecaps:
    """Recaps, the newest day first."""

    topics: Annotated[
        Maybe[tuple[TopicName, ...]],
        QUERY,
        Doc("Comma list of topics."),
        Example(["cybersecurity", "shipping"]),
    ] = UNSET
    language: Annotated[
        Maybe[tuple[Annotated[str, LANGUAGE_TAG], ...]],
        QUERY,
        Doc("Comma list of languages that a recap may be in."),
        Example(["en", "fr"]),
    ] = UNSET
    datetime: TimeFilter = UNSET
    updated_since: UpdatedSince = UNSET
    sort: Annotated[
        Literal["window", "generatedAt"],
        QUERY,
        Doc("What the list is ordered by, the newest first."),
    ] = "window"
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class GetRecap:
    """One recap."""

    recap_id: Annotated[RecapId, PATH]


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


# -- use cases ---------------------------------------------------------------------------------


async def list_news(ctx: Context, request: ListNews) -> Page[NewsItem]:
    """A page of news items.

    Raises:
        Problem: NEWS_NOT_READY before the first item was taken in.
    """
    await _require_news(ctx)
    languages = request.language
    if not isinstance(languages, Unset):
        languages = tuple(language.lower() for language in languages)
    entity_ids = or_default(request.entity_id, None)
    query = RowQuery[NewsItem](
        where={
            "topics": request.topics,
            "language": languages,
            "source": request.source,
            "story": request.story_id,
            "entity": UNSET
            if entity_ids is None
            else await directory.entity_references(ctx, entity_ids),
        },
        order=_ORDERS.get(or_default(request.sort, "")),
        is_sorted=not isinstance(request.sort, Unset),
        binding={"entity": entity_ids or ()},
        bounds=time_bounds(request.datetime) | {"ranges": _ranges(request)},
        text_rows=NEWS_TEXTS,
    )
    page = await lists.list_page(ctx, NEWS, WORDS, request, query)
    return evolve(page, rows=tuple(await _with_entities(ctx, page.rows)))


async def _with_entities(ctx: Context, rows: Sequence[bytes]) -> list[bytes]:
    """The rows with all their members, and with the entities that their texts mention."""
    references = [mentions(NEWS.decode(row)) for row in rows]
    return await directory.with_mentions(ctx, list(map(with_all_members, rows)), references)


_ORDERS = {"recordedAt": "recorded", "sentiment": "sentiment"}


def _ranges(request: ListNews) -> dict[str, tuple[int | None, int | None]]:
    ranges = {}
    low, high = or_default(request.min_sentiment, None), or_default(request.max_sentiment, None)
    if low is not None or high is not None:
        ranges["sentiment"] = (
            None if low is None else ceil(low * SENTIMENT_STEPS),
            None if high is None else floor(high * SENTIMENT_STEPS),
        )
    span = range_after(request.updated_since)
    return ranges if span is None else ranges | {"recorded": span}


async def get_news_item(ctx: Context, request: GetNewsItem) -> Single[NewsItem]:
    """One news item.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await ctx.load(NEWS, request.news_id)
    row, *_ = await _with_entities(ctx, [document.raw])
    # An entity that the item mentions may be merged or become known while the item's own version
    # stays, so the tag names the entities too.
    ids = [ref["entityId"] for ref in json.loads(row)["entities"]]
    return Single(row, (*document.tag, *ids))


async def _require_news(ctx: Context) -> None:
    if not (await ctx.tx.documents.scan(NEWS, limit=1)).rows:
        wait = {"Retry-After": str(RETRY_SECONDS)}
        raise Problem(problem.NEWS_NOT_READY, "No news has been taken in yet.", wait)


async def list_recaps(ctx: Context, request: ListRecaps) -> Page[Recap]:
    """A page of recaps.

    Raises:
        Problem: NEWS_NOT_READY before the first item was taken in.
    """
    await _require_news(ctx)
    span = range_after(request.updated_since)
    return await ctx.page(
        RECAPS,
        where={"topic": request.topics, "language": request.language},
        order=None if request.sort == "window" else "generated",
        **(time_bounds(request.datetime) | {"ranges": span and {"generated": span}}),
        after=request.cursor,
        limit=request.limit,
    )


async def list_news_feeds(ctx: Context, _: ListTopics) -> Page[TopicRow]:
    """The 40 topics, each with its recent activity."""
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

_read = crud.RowOperations(NEWS, "news_id", READ, READ).operation

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _read(
        "news list",
        "GET /news",
        "List news items",
        list_news,
        columns=("id", "title", "publishedAt", "topics", "language"),
        description=(
            "News items, newest first, or those that hold the words of `q`, the best first: a page "
            "of them may be short though a next one follows. The values of one filter are "
            "alternatives; different filters must all match. Until the first item has been taken "
            "in, the answer is 503 `NEWS_NOT_READY`."
        ),
        media=(JSON, NDJSON),
        fails=(problem.NEWS_NOT_READY,),
    ),
    _read(
        "news show",
        "GET /news/{newsId}",
        "Read a news item",
        get_news_item,
        description="One news item, as the list and the change feed name it.",
    ),
    _read(
        "news recaps",
        "GET /news/recaps",
        "List recaps",
        list_recaps,
        columns=("id", "topic", "window.start", "headline", "itemCount", "language"),
        description=(
            "What the items of a topic told on a day (UTC), in their own sentences, each with the "
            "items that it cites. A recap is made anew when items of its day come in. `datetime` "
            "asks for days that end in a period."
        ),
        fails=(problem.NEWS_NOT_READY,),
    ),
    crud.RowOperations(RECAPS, "recap_id", READ, READ).show(
        "getRecap",
        "news recap",
        "GET /news/recaps/{recapId}",
        "Read a recap",
        GetRecap,
        description="One recap, as the list and the change feed name it.",
    ),
    _read(
        "news topics",
        "GET /news/feeds",
        "List the news topics",
        list_news_feeds,
        columns=("id", "name", "feedCount", "itemCount24h", "lastItemAt"),
        description="The catalogue of 40 topics, each with its sources and recent activity.",
        timeless=False,
    ),
)
