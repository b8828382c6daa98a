"""The rows of the news room: items, their texts, topic activity and recaps (Spec: News item).

A news item is one published article, post or notice. Its row holds what lists show; its full text
and index terms stand in a row of their own (`NewsText`), so that lists stay small.
"""

from datetime import datetime
from typing import Annotated, Literal

import attrs
from attrs import frozen

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
)
from svc_core.operation.period import TimeFilter, UpdatedSince
from svc_core.operation.ports import BASE_V1, Collection
from svc_core.operation.source_members import Place, SourceRef
from svc_core.search import lists
from svc_core.search.field_index import FieldIndex, MatchMember
from svc_core.text.evidence import TEXT_MAX, term_lines
from svc_core.text.topics import TOPICS
from svc_core.wire.constraints import Doc, Example, Ge, Le, MaxLen, Pattern

SUMMARY_MAX = 600  # characters: a paragraph, so that a list of items stays a list


@frozen
class Sentiment:
    """How positive a text reads, from -1 to 1; null where its language is not judged."""

    label: Annotated[
        str | None,
        Doc("`positive`, `neutral` or `negative`; null where its language is not judged."),
        Example("negative"),
    ]
    value: Annotated[
        Annotated[float, Ge(-1), Le(1)] | None,
        Doc("From -1 to 1; null where its language is not judged."),
        Example(-0.318),
    ]


@frozen
class NewsSource:
    """Who published an item."""

    id: SourceId
    name: Annotated[str, Doc("What it calls itself."), Example("The Quayside Ledger")]
    domain: Annotated[str, Doc("The host of its home page."), Example("news.example.com")]
    country_code: CountryCode
    tier: Annotated[
        Annotated[int, Ge(1), Le(4)] | None,
        Doc("From 1 (wire or official) to 4, as its owner says; null where nobody said."),
        Example(2),
    ] = None
    state_affiliated: Annotated[
        bool | None, Doc("Whether a state runs it; null where nobody said."), Example(False)
    ] = None


@frozen
class NewsItem:
    """One published item, known by its permalink."""

    id: ObservationId
    title: Annotated[str, Doc("The headline."), Example("Antwerp dockworkers join walkout")]
    summary: Annotated[
        str,
        MaxLen(SUMMARY_MAX),
        Doc("Plain text; may be empty."),
        Example("Dockworkers at Antwerp joined the walkout that began in Rotterdam on Monday."),
    ]
    url: Annotated[
        str | None,
        Doc("The item's address; null where the source gives none."),
        Example("https://news.example.com/antwerp-dockworkers-join-walkout"),
    ]
    sentiment: Sentiment
    published_at: Annotated[
        datetime | None,
        Doc("When it was published; null where the source gives no date."),
        Example("2026-01-31T05:40:00Z"),
    ]
    updated_at: Annotated[
        datetime | None,
        Doc("When the source last changed it; null where the source does not say."),
        Example(None),
    ]
    retrieved_at: Annotated[
        datetime, Doc("When it was first taken in."), Example("2026-01-31T05:52:11Z")
    ]
    source: NewsSource
    language: Annotated[str | None, Doc("BCP 47 tag; null where it is not known."), Example("en")]
    authors: Annotated[
        tuple[str, ...], Doc("Who wrote it; empty where the source does not say."), Example([])
    ]
    topics: Annotated[
        tuple[str, ...],
        Doc("Topics of the catalogue that it is about."),
        Example(["supply-chain", "shipping"]),
    ]
    image_url: Annotated[
        str | None, Doc("A picture of it; null where there is none."), Example(None)
    ]
    source_url: Annotated[
        str | None,
        Doc("The item's address as its source gave it; null where it gave none."),
        Example("https://news.example.com/2026/port-strike?utm_source=rss"),
    ]
    published_basis: Annotated[
        Literal["stated", "assumed"] | None,
        Doc(
            "`assumed` where the date names no zone and one was assumed, else `stated`; null "
            "without a date."
        ),
        Example("stated"),
    ] = None
    story_id: Annotated[
        IncidentId | None,
        Doc("The event that it tells together with other items; null while it is alone."),
    ] = None
    duplicate_of: Annotated[
        ObservationId | None, Doc("The item whose words it repeats; null where none is known.")
    ] = None
    place: Annotated[Place | None, Doc("Where it happened; null while nobody looked.")] = None
    entities: Annotated[
        tuple[EntityRef, ...] | None,
        Doc("Whom its headline and summary name, as far as they are known."),
    ] = None
    recorded_at: Annotated[
        datetime | None,
        Doc("When this version was written here; null for items of before that was kept."),
        Example("2026-01-31T05:52:11Z"),
    ] = None
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


def mentions(item: NewsItem) -> dict[str, str]:
    """The entities that an item mentions: their references, each with the name in the text."""
    return text_references(f"{item.title}\n{item.summary}", item.seen_at.date())


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

    topics: Annotated[
        UnboundedValues[TopicName],
        Doc("Comma list of topics, any of which an item has."),
        Example(["cybersecurity", "ransomware"]),
    ] = _ITEM.facet(lambda item: item.topics)
    language: Annotated[
        UnboundedValues[_Language], Doc("Comma list of BCP 47 tags."), Example(["en", "fr"])
    ] = _ITEM.facet(lambda item: ranges(item.language), form=str.lower)
    source: Annotated[UnboundedValues[SourceId], Doc("Comma list of source ids.")] = _ITEM.key(
        lambda item: item.source.id
    )
    story_id: Annotated[
        UnboundedValues[IncidentId], Doc("Comma list of events that an item tells.")
    ] = _ITEM.key(lambda item: item.story_id, "story")
    entity_id: Annotated[
        UnboundedValues[EntityId], Doc("Comma list of entities, one of which takes part.")
    ] = _ITEM.facet(mentions, "entity")
    min_sentiment: Annotated[
        Maybe[_Tone], QUERY, Doc("Items at least so positive."), Example(-0.2)
    ] = _ITEM.at_least(lambda item: item.sentiment.value, "sentiment", SENTIMENT_STEPS)
    max_sentiment: Annotated[
        Maybe[_Tone], QUERY, Doc("Items at most so positive."), Example(0.5)
    ] = _ITEM.at_most(lambda item: item.sentiment.value, "sentiment", SENTIMENT_STEPS)
    datetime: TimeFilter = _ITEM.within()
    updated_since: UpdatedSince = _ITEM.later(lambda item: item.recorded_at, "recorded")
    q: lists.Q = UNSET
    sort: Annotated[
        Maybe[Literal["publishedAt", "recordedAt", "sentiment"]],
        QUERY,
        Doc("What the list is ordered by, the highest first; without `q` the newest."),
    ] = sort_orders(recordedAt="recorded", sentiment="sentiment")
    include: lists.Include = UNSET


NEWS: Collection[NewsItem] = Collection(
    name="news",
    model=NewsItem,
    prefix="obs",
    order=lambda item: micros(item.seen_at),
    scope="global",
    **_ITEM.indexes(
        ListNews, keys={"article": lambda item: item.story_id and incident_of_article(item.url)}
    ),
    kind="newsItem",
)


NEWS_TEXTS: Collection[NewsText] = Collection(
    name="news_texts",
    model=NewsText,
    prefix="obs",
    order=lambda words: micros(words.taken_at),
    scope="global",
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
    """A marker for an item that was written and is not yet assigned to a story."""

    id: ObservationId
    taken_at: datetime


UNGROUPED_ITEMS: Collection[UngroupedItem] = Collection(
    name="ungrouped",
    model=UngroupedItem,
    prefix="obs",
    order=lambda item: micros(item.taken_at),
    scope="system",
)


@frozen
class StoryPass:
    """The last pass that assigned items to stories; its version counts the passes that wrote."""

    id: str


STORY_PASSES: Collection[StoryPass] = Collection(
    name="story_passes", model=StoryPass, prefix="", order=lambda _: 0, scope="system"
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

    start: Annotated[datetime, Doc("Its beginning."), Example("2026-01-31T00:00:00Z")]
    end: Annotated[datetime, Doc("Its end, not included."), Example("2026-02-01T00:00:00Z")]


@frozen
class RecapBullet:
    """One event of the period, in a sentence of the items that it cites."""

    text: Annotated[str, Doc("A sentence of its items."), Example("Dockworkers joined the strike.")]
    news_ids: Annotated[tuple[ObservationId, ...], Doc("The items that say so; at least one.")]
    incident_id: Annotated[
        IncidentId | None, Doc("The event; null where one item alone tells of it.")
    ]


@frozen
class RecapMethod:
    """How a recap was made."""

    kind: Annotated[Literal["extractive", "model"], Doc("`extractive` quotes its items.")]
    name: Annotated[str, Doc("What made it."), Example("story-leads")]
    version: Annotated[str, Doc("Its version."), Example("1")]


@frozen
class Recap:
    """What the items of one topic told in one period."""

    id: RecapId
    topic: Annotated[str, Doc("One of the 40 topics."), Example("shipping")]
    window: RecapWindow
    generated_at: Annotated[datetime, Doc("When it was made."), Example("2026-01-31T06:00:00Z")]
    headline: Annotated[str, Doc("The headline of its first event."), Example("Port strike grows")]
    text: Annotated[str, Doc("Its bullets as one text."), Example("Dockworkers joined the strike.")]
    bullets: Annotated[tuple[RecapBullet, ...], Doc("Its events, the most told first.")]
    item_count: Annotated[int, Ge(1), Doc("Items of the topic and period."), Example(12)]
    source_count: Annotated[int, Ge(1), Doc("Publishers of these items."), Example(7)]
    language: Annotated[
        str | None, Doc("BCP 47 tag of most of the items; null where unknown."), Example("en")
    ]
    method: RecapMethod


_RECAP = FilterFields[Recap]()


@frozen
class ListRecaps(PageRequest):
    """Recaps, the newest day first."""

    topics: Annotated[
        UnboundedValues[TopicName],
        Doc("Comma list of topics."),
        Example(["cybersecurity", "shipping"]),
    ] = _RECAP.key(lambda recap: recap.topic, "topic")
    language: Annotated[
        UnboundedValues[_Language],
        Doc("Comma list of languages that a recap may be in."),
        Example(["en", "fr"]),
    ] = _RECAP.key(lambda recap: recap.language)
    datetime: TimeFilter = _RECAP.within()
    updated_since: UpdatedSince = _RECAP.later(lambda recap: recap.generated_at, "generated")
    sort: Annotated[
        Literal["window", "generatedAt"],
        QUERY,
        Doc("What the list is ordered by, the newest first."),
    ] = sort_orders("window", generatedAt="generated")


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

COLLECTIONS = (NEWS, NEWS_TEXTS, UNGROUPED_ITEMS, STORY_PASSES, RECAPS, RECAPS_DUE, TOPIC_ACTIVITY)
