"""The rows of the news room: items, their texts, topic activity and recaps (Spec: News item).

A news item is one published article, post or notice. Its row holds what lists show; its full text
and index terms stand in a row of their own (`NewsText`), so that lists stay small.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Literal

import attrs
from attrs import frozen

from svc_core.base import ids
from svc_core.base.unset import UNSET, Maybe
from svc_core.intel.entities.model import EntityRef
from svc_core.intel.linking.articles import incident_of_article
from svc_core.intel.linking.references import text_references
from svc_core.operation.declaration import QUERY
from svc_core.operation.filters import FilterFields, UnboundedValues, sort_orders
from svc_core.operation.members import (
    LANGUAGE_TAG,
    CountryCode,
    EntityId,
    IncidentId,
    ObservationId,
    PageRequest,
    RecapId,
    SourceId,
    micros,
    micros_or_undated,
)
from svc_core.operation.period import TimeFilter, UpdatedSince
from svc_core.operation.ports import BASE_V1, Collection, Layout
from svc_core.operation.source_members import Place, SourceRef
from svc_core.search import lists
from svc_core.search.field_index import FieldIndex, MatchMember
from svc_core.text.evidence import TEXT_MAX, term_lines
from svc_core.text.topics import TOPICS
from svc_core.wire.constraints import Example, Ge, Le, MaxLen, Pattern

UNDATED = datetime.min.replace(tzinfo=UTC)
"""Stands for the date of an item that has none, where items are ordered to be grouped."""
SUMMARY_MAX = 600  # characters: a paragraph, so that a list of items stays a list


@frozen
class Sentiment:
    """How positive a text reads, from -1 to 1; null where its language is not judged."""

    label: Annotated[str | None, Example("negative")]
    """`positive`, `neutral` or `negative`; null where its language is not judged."""
    value: Annotated[Annotated[float, Ge(-1), Le(1)] | None, Example(-0.318)]
    """From -1 to 1; null where its language is not judged."""


@frozen
class NewsSource:
    """Who published an item."""

    id: SourceId
    name: Annotated[str, Example("The Quayside Ledger")]
    """What it calls itself."""
    domain: Annotated[str, Example("news.example.com")]
    """The host of its home page."""
    country_code: CountryCode
    tier: Annotated[Annotated[int, Ge(1), Le(4)] | None, Example(2)] = None
    """From 1 (wire or official) to 4, as its owner says; null if unknown."""
    state_affiliated: Annotated[bool | None, Example(False)] = None
    """Whether a state runs it; null if unknown."""


@frozen
class NewsItem:
    """One published item, known by its permalink."""

    id: ObservationId
    title: Annotated[str, Example("Antwerp dockworkers join walkout")]
    """The headline."""
    summary: Annotated[
        str,
        MaxLen(SUMMARY_MAX),
        Example("Dockworkers at Antwerp joined the walkout that began in Rotterdam on Monday."),
    ]
    """Plain text; may be empty."""
    url: Annotated[str | None, Example("https://news.example.com/antwerp-dockworkers-join-walkout")]
    """The item's address; null where the source gives none."""
    sentiment: Sentiment
    published_at: Annotated[datetime | None, Example("2026-01-31T05:40:00Z")]
    """When it was published; null where the source gives no date."""
    updated_at: Annotated[datetime | None, Example(None)]
    """When the source last changed it; null where the source does not say."""
    retrieved_at: Annotated[datetime, Example("2026-01-31T05:52:11Z")]
    """When it was first taken in."""
    source: NewsSource
    language: Annotated[str | None, Example("en")]
    """BCP 47 tag; null where it is not known."""
    authors: Annotated[tuple[str, ...], Example([])]
    """Who wrote it; empty where the source does not say."""
    topics: Annotated[tuple[str, ...], Example(["supply-chain", "shipping"])]
    """Topics of the catalogue that it is about."""
    image_url: Annotated[str | None, Example(None)]
    """A picture of it; null where there is none."""
    source_url: Annotated[
        str | None, Example("https://news.example.com/2026/port-strike?utm_source=rss")
    ]
    """The item's address as its source gave it; null where it gave none."""
    published_basis: Annotated[Literal["stated", "assumed"] | None, Example("stated")] = None
    """`assumed` where the date names no zone and one was assumed, else `stated`; null without a
    date."""
    story_id: IncidentId | None = None
    """The event that it tells together with other items; null while it is alone."""
    duplicate_of: ObservationId | None = None
    """The item whose words it repeats; null where none is known."""
    place: Place | None = None
    """Where it happened; null while nobody looked."""
    entities: tuple[EntityRef, ...] | None = None
    """Whom its headline and summary name, as far as they are known."""
    recorded_at: Annotated[datetime | None, Example("2026-01-31T05:52:11Z")] = None
    """When this version was written here; null for items of before that was kept."""
    match: MatchMember = UNSET

    @property
    def dated_at(self) -> datetime | None:
        """The item's own date: when it was published, else when its source last changed it."""
        return self.published_at or self.updated_at

    @property
    def seen_at(self) -> datetime:
        """The item's date, capped at the time of retrieval: some sources date items ahead."""
        return min(self.dated_at or self.retrieved_at, self.retrieved_at)

    @property
    def listed_at(self) -> datetime | None:
        """The item's own date, capped likewise: its place in lists."""
        return None if self.dated_at is None else self.seen_at

    @property
    def ref(self) -> SourceRef:
        """The item as a source reference, for rows that cite it."""
        source, read_at = self.source, self.retrieved_at
        return SourceRef(source.id, "feed", source.name, self.url, None, read_at, self.published_at)


@frozen
class NewsText:
    """The full text of an item, stored and indexed beside its row.

    Texts are ordered by when the item was first retrieved, not by its own date: a report covers
    what became known since the report before it, so an item that arrives late is not lost. `terms`
    holds the index terms of headline, lead and rest, one line each, or None until `with_terms`
    has made them. An item is counted in the corpus (`svc_core.search.corpus`) exactly while it
    has terms.
    """

    id: ObservationId
    taken_at: datetime
    title: str
    text: str
    language: str | None = None
    terms: str | None = None

    def with_terms(self) -> "NewsText":
        """This text with its index terms computed, unless it has them already."""
        if self.terms is not None:
            return self
        return attrs.evolve(self, terms=term_lines(self.title, self.text, self.language))


def _tokens(words: NewsText) -> str:
    """The distinct index terms of a text, separated by blanks."""
    return " ".join(dict.fromkeys((words.with_terms().terms or "").split()))


def ranges(language: str | None) -> tuple[str, ...]:
    """The language ranges that match a tag (RFC 4647, basic filtering): `fr`, `fr-ch`."""
    parts = [] if language is None else language.lower().split("-")
    return tuple("-".join(parts[: size + 1]) for size in range(len(parts)))


SENTIMENT_STEPS = 1_000  # a sentiment is kept as a whole number of thousandths


def mentions(item: NewsItem) -> Mapping[str, str]:
    """The entities that an item mentions: their references, each with the name in the text."""
    day = item.dated_at.date() if item.dated_at else None
    return text_references(f"{item.title}\n{item.summary}", day)


TopicName = Annotated[
    str,
    Pattern(
        "|".join(topic.id for topic in TOPICS),
        f"one of the 40 topics that GET {BASE_V1}/news/feeds lists",
    ),
]
_Language = Annotated[str, LANGUAGE_TAG]
_Tone = Annotated[float, Ge(-1), Le(1)]
_ITEM = FilterFields[NewsItem]()


@frozen
class ListNews(PageRequest):
    """News items, newest first."""

    topics: Annotated[UnboundedValues[TopicName], Example(["cybersecurity", "ransomware"])] = (
        _ITEM.facet(lambda item: item.topics)
    )
    """Topics, separated by commas; an item has at least one of them."""
    language: Annotated[UnboundedValues[_Language], Example(["en", "fr"])] = _ITEM.facet(
        lambda item: ranges(item.language), form=str.lower
    )
    """Comma list of BCP 47 tags."""
    source: UnboundedValues[SourceId] = _ITEM.key(lambda item: item.source.id)
    """Comma list of source ids."""
    story_id: UnboundedValues[IncidentId] = _ITEM.key(lambda item: item.story_id, "story")
    """Comma list of events that an item tells."""
    entity_id: UnboundedValues[EntityId] = _ITEM.facet(mentions, "entity")
    """Entities, separated by commas; at least one takes part."""
    min_sentiment: Annotated[Maybe[_Tone], QUERY, Example(-0.2)] = _ITEM.at_least(
        lambda item: item.sentiment.value, "sentiment", SENTIMENT_STEPS
    )
    """Items at least so positive."""
    max_sentiment: Annotated[Maybe[_Tone], QUERY, Example(0.5)] = _ITEM.at_most(
        lambda item: item.sentiment.value, "sentiment", SENTIMENT_STEPS
    )
    """Items at most so positive."""
    datetime: TimeFilter = _ITEM.within()
    updated_since: UpdatedSince = _ITEM.later(lambda item: item.recorded_at, "recorded")
    q: lists.Q = UNSET
    sort: Annotated[Maybe[Literal["publishedAt", "recordedAt", "sentiment"]], QUERY] = sort_orders(
        recordedAt="recorded", sentiment="sentiment"
    )
    """The order, highest first; without `q` newest first. Undated items come last."""
    include: lists.Include = UNSET


NEWS: Collection[NewsItem] = Collection(
    name="news",
    model=NewsItem,
    prefix="obs",
    order=lambda item: micros_or_undated(item.listed_at),
    scope="global",
    layout=Layout(is_compressed=True),
    **_ITEM.indexes(
        ListNews,
        keys={"article": lambda item: item.story_id and incident_of_article(item.url)},
        numbers={"dated": lambda item: micros(item.dated_at or UNDATED)},
    ),
    form=2,
    kind="newsItem",
)


NEWS_TEXTS: Collection[NewsText] = Collection(
    name="news_texts",
    model=NewsText,
    prefix="obs",
    order=lambda words: micros(words.taken_at),
    scope="global",
    layout=Layout(is_compressed=True),
    keys={"uncounted": lambda words: "yes" if words.terms is None else None},
    search=_tokens,
)


def _term_places(words: NewsText) -> dict[str, list[str]]:
    """The index terms of an item by field: `title`, and `text` for lead and rest."""
    title, lead, rest = (words.with_terms().terms or "").split("\n")
    return {"title": title.split(), "text": [*lead.split(), *rest.split()]}


WORDS: FieldIndex[NewsText] = FieldIndex(
    lambda words: {"title": [words.title], "text": [words.text[:TEXT_MAX]]}, terms=_term_places
)


@frozen
class UngroupedItem:
    """A marker for an item that was written and is not yet assigned to a story, with its date.

    There is one, too, for the date at which an item is missing since. `vector_at` is when its
    vector came, where nothing else is new.
    """

    id: ObservationId
    taken_at: datetime
    vector_at: datetime | None = None


def ungrouped_item(item: NewsItem) -> UngroupedItem:
    """The marker of an item."""
    return UngroupedItem(item.id, item.dated_at or UNDATED)


def missing_item(item: NewsItem) -> UngroupedItem:
    """The marker of the date that an item had before it was withdrawn or dated anew."""
    at = item.dated_at or UNDATED
    return UngroupedItem(ids.derived_id("obs", "missing", at.isoformat(), item.id), at)


UNGROUPED_ITEMS: Collection[UngroupedItem] = Collection(
    name="ungrouped",
    model=UngroupedItem,
    prefix="obs",
    order=lambda item: micros(item.taken_at),
    scope="system",
)


@frozen
class StoryPass:
    """The last pass that assigned items to stories; its version counts the passes that wrote.

    Where it is that over a busy part of time, `until` says when the next one begins at the latest.
    """

    id: str
    until: datetime | None = None


STORY_PASSES: Collection[StoryPass] = Collection(
    name="story_passes", model=StoryPass, prefix="", order=lambda _: 0, scope="system"
)


@frozen
class StoryPart:
    """An item of a story, and the earliest one that it was grouped with."""

    id: ObservationId
    first: ObservationId


STORY_PARTS: Collection[StoryPart] = Collection(
    name="story_parts",
    model=StoryPart,
    prefix="obs",
    order=lambda _: 0,
    scope="system",
    keys={"first": lambda part: part.first},
)


# -- topics ------------------------------------------------------------------------------------


@frozen
class TopicActivity:
    """The recent activity of a topic: items per UTC hour, languages, sources and newest item.

    `hours` holds pairs of an hour (hours since 1970) and a count, for the last two days.
    """

    id: str
    hours: tuple[tuple[int, int], ...] = ()
    languages: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    last_item_at: datetime | None = None


TOPIC_ACTIVITY: Collection[TopicActivity] = Collection(
    name="topic_activity", model=TopicActivity, prefix="", order=lambda _: 0, scope="global"
)


# -- recaps ------------------------------------------------------------------------------------


@frozen
class RecapWindow:
    """The period that a recap is about, from its start up to its end."""

    start: Annotated[datetime, Example("2026-01-31T00:00:00Z")]
    """Its beginning."""
    end: Annotated[datetime, Example("2026-02-01T00:00:00Z")]
    """Its end, not included."""


@frozen
class RecapBullet:
    """One event of the period, in a sentence of the items that it cites."""

    text: Annotated[str, Example("Dockworkers joined the strike.")]
    """A sentence of its items."""
    news_ids: tuple[ObservationId, ...]
    """The items that say so; at least one."""
    incident_id: IncidentId | None
    """The event; null where one item alone tells of it."""


@frozen
class RecapMethod:
    """How a recap was made."""

    kind: Literal["extractive", "model"]
    """`extractive` quotes its items."""
    name: Annotated[str, Example("story-leads")]
    """What made it."""
    version: Annotated[str, Example("1")]
    """Its version."""


@frozen
class Recap:
    """What the items of one topic told in one period."""

    id: RecapId
    topic: Annotated[str, Example("shipping")]
    """One of the 40 topics."""
    window: RecapWindow
    generated_at: Annotated[datetime, Example("2026-01-31T06:00:00Z")]
    """When it was made."""
    headline: Annotated[str, Example("Port strike grows")]
    """The headline of its first event."""
    text: Annotated[str, Example("Dockworkers joined the strike.")]
    """Its bullets as one text."""
    bullets: tuple[RecapBullet, ...]
    """Its events, the most told first."""
    item_count: Annotated[int, Ge(1), Example(12)]
    """Items of the topic and period."""
    source_count: Annotated[int, Ge(1), Example(7)]
    """Publishers of these items."""
    language: Annotated[str | None, Example("en")]
    """BCP 47 tag of most of the items; null where unknown."""
    method: RecapMethod


_RECAP = FilterFields[Recap]()


@frozen
class ListRecaps(PageRequest):
    """Recaps, the newest day first."""

    topics: Annotated[UnboundedValues[TopicName], Example(["cybersecurity", "shipping"])] = (
        _RECAP.key(lambda recap: recap.topic, "topic")
    )
    """Comma list of topics."""
    language: Annotated[UnboundedValues[_Language], Example(["en", "fr"])] = _RECAP.key(
        lambda recap: recap.language
    )
    """Comma list of languages that a recap may be in."""
    datetime: TimeFilter = _RECAP.within()
    updated_since: UpdatedSince = _RECAP.later(lambda recap: recap.generated_at, "generated")
    sort: Annotated[Literal["window", "generatedAt"], QUERY] = sort_orders(
        "window", generatedAt="generated"
    )
    """The order, newest first."""


RECAPS: Collection[Recap] = Collection(
    name="recaps",
    model=Recap,
    prefix="rcp",
    order=lambda recap: micros(recap.window.end),
    scope="global",
    **_RECAP.indexes(ListRecaps),
    kind="recap",
    path="/news/recaps",
)


@frozen
class RecapDue:
    """A marker for a topic and day (UTC) whose items changed since its recap was made."""

    id: str
    topic: str
    day: datetime


RECAPS_DUE: Collection[RecapDue] = Collection(
    name="recaps_due", model=RecapDue, prefix="", order=lambda due: micros(due.day), scope="system"
)

COLLECTIONS = (NEWS, NEWS_TEXTS, UNGROUPED_ITEMS, STORY_PASSES, STORY_PARTS, RECAPS, RECAPS_DUE,
               TOPIC_ACTIVITY)  # fmt: skip
