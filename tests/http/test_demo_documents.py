"""The demo's documents parse, are fresh, tell overlapping stories and suit the demo's profiles."""

import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.formats.feeds.feed_document import parse_feed
from svc_core.formats.feeds.model import FeedItem
from svc_core.operation.schedule import TIMED_FREQUENCIES
from svc_core.reports.profiles.model import ProfileInput
from svc_core.text.evidence import EvidenceTexts, readings
from svc_core.text.frequencies import Frequencies
from svc_core.text.query import Query
from svc_core.text.ranking import rank
from svc_core.text.topics import TOPIC_IDS, assign
from svc_http.run.demo.demo_feeds import AGE_MAX, DemoDocument, demo_documents
from svc_http.run.demo.demo_profiles import PROFILES
from tests.sampling import examples

NOW = datetime(2026, 3, 2, 9, 30, 15, 250_000, tzinfo=UTC)

# Each story with words that only its own items have.
STORIES: Mapping[str, str] = {
    "hospital ransomware": r"Vallmere",
    "file transfer flaw": r"Portway",
    "port strike": r"Valpara|San Antonio",
    "earthquake": r"Esmeraldas",
    "wildfire": r"La Gomera",
    "election": r"Harbour Alliance",
    "disinformation": r"Paper Lighthouse",
    "tanker sanctions": r"41 tankers|Ostara Light",
    "blackout": r"Malt[ae]\b.*(cable|câble)|(cable|câble).*Malt[ae]\b",
    "cholera": r"cholera|choléra",
    "fuel protests": r"Bolivia",
    "cable cut": r"BalticLink",
    "central bank": r"Norges Bank",
    "stress test": r"Hansekredit",
    "crypto exchange": r"Kestrel",
    "merger": r"Alpenkorn",
    "chip exports": r"packaging tools|advanced packaging",
    "AI rules": r"general-purpose AI|IA à usage général",
    "location data": r"Geolytik",
    "coffee drought": r"Minas Gerais",
    "satellite": r"Aurora-3",
    "migration talks": r"Valletta talks|La Valette",
    "cocaine": r"cocaine|cocaïne",
    "inflation": r"2\.9 ?(%|percent) (in|over) the year",
    "chip earnings": r"Tessera Devices reported|Tessera Devices sold",
}


DOCUMENTS = demo_documents(NOW)
FEEDS = {document.name: parse_feed(document.body) for document in DOCUMENTS}


class Item:
    """An item of a document: what our parser reads, with the name of its source."""

    def __init__(self, source: str, item: FeedItem) -> None:
        self.source, self.item = source, item
        self.text = " ".join(item.text.split())
        self.published_at = item.published_at or item.updated_at

    def __getattr__(self, name: str) -> Any:
        return getattr(self.item, name)


def items_of(document: DemoDocument) -> list[Item]:
    return [Item(document.name, item) for item in parse_feed(document.body).items]


ITEMS = [item for document in DOCUMENTS for item in items_of(document)]


def by_file(document: DemoDocument) -> str:
    return document.file_name


def story_items(story: str) -> list[Item]:
    pattern = re.compile(STORIES[story])
    return [item for item in ITEMS if pattern.search(f"{item.title} {item.text}")]


def test_the_demo_holds_fifteen_sources_and_at_least_a_hundred_items() -> None:
    assert len({document.name for document in DOCUMENTS}) == len(DOCUMENTS) == 15
    assert len(ITEMS) >= 100
    assert min(Counter(item.source for item in ITEMS).values()) >= 6


def test_items_cover_all_forty_topics_and_sources_name_only_real_ones() -> None:
    defaults = {topic for document in DOCUMENTS for topic in document.topics}
    assert defaults <= TOPIC_IDS
    topics = defaults | {name for item in ITEMS for name in item.categories}
    assert topics >= TOPIC_IDS
    assert len(TOPIC_IDS) == 40
    assert all(document.topics for document in DOCUMENTS)


def test_every_upstream_format_and_three_languages_are_shown() -> None:
    formats = Counter(feed.format for feed in FEEDS.values())
    assert formats.keys() == {"rss", "rdf", "atom", "jsonfeed"}
    assert min(formats.values()) >= 2
    languages = {str(feed.language)[:2] for feed in FEEDS.values()}
    assert languages == {"en", "fr", "de"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=by_file)
def test_a_document_keeps_no_placeholder_and_no_repeated_id(document: DemoDocument) -> None:
    assert b"{{" not in document.body
    assert b"}}" not in document.body
    keys = [item.natural_key for item in items_of(document)]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("document", DOCUMENTS, ids=by_file)
def test_an_item_is_attributed_and_long_enough_to_quote(document: DemoDocument) -> None:
    for item in items_of(document):
        parts = urlsplit(item.url)
        assert parts.scheme == "https"
        assert (parts.hostname or "").endswith(".example")
        assert all(item.authors)
        assert item.categories
        assert len(re.findall(r"[.?!»](?:\s|$)", item.text)) >= 3, item.title
        assert 200 <= len(item.text) <= 1_000, item.title


def test_links_relative_to_the_base_of_a_feed_lead_to_its_own_pages() -> None:
    urls = {item.source_url for item in ITEMS}
    assert "https://eastcorridor.example/dispatch/valletta-migration-talks" in urls
    assert "https://www.saltmarshpost.example/world/ecuador-quake-nine-dead" in urls


def test_every_date_lies_within_the_last_six_days_and_only_three_are_missing() -> None:
    days = [item.published_at for item in ITEMS if item.published_at is not None]
    assert len(ITEMS) - len(days) == 3
    assert min(days) > NOW - AGE_MAX
    assert NOW - timedelta(hours=3) < max(days) < NOW


def test_news_keeps_coming_every_day_of_the_window() -> None:
    ages = Counter((NOW - item.published_at).days for item in ITEMS if item.published_at)
    assert min(ages[day] for day in range(6)) >= 4


def test_the_declared_encoding_of_the_french_feed_is_kept() -> None:
    body = next(d.body for d in DOCUMENTS if d.file_name == "courrier-du-large.xml")
    text = body.decode("windows-1252")
    assert "choléra" in text
    assert "l’incendie" in text
    with pytest.raises(UnicodeDecodeError):
        body.decode("utf-8")
    french = {item.title for item in ITEMS if item.source == "Le Courrier du Large"}
    assert "Mozambique : le choléra gagne un cinquième district" in french


def test_a_mentioned_weekday_is_the_day_of_the_event() -> None:
    assert NOW.strftime("%A") == "Monday"
    texts = " ".join(item.text for item in ITEMS)
    assert "on Sunday after the BalticLink East data cable" in texts
    assert "a publié samedi ses lignes" in texts
    assert "hat am Samstag ihre" in texts


def test_the_same_moment_gives_the_same_bytes_in_any_time_zone() -> None:
    tokyo = NOW.astimezone(timezone(timedelta(hours=9))).replace(microsecond=0)
    assert demo_documents(NOW) == demo_documents(tokyo) == DOCUMENTS


@examples(15)
@given(st.timedeltas(timedelta(days=-15_000), timedelta(days=25_000)))
def test_ids_never_depend_on_the_day_and_dates_follow_it(later: timedelta) -> None:
    now = NOW + later
    later_items = [item for document in demo_documents(now) for item in items_of(document)]
    assert [item.natural_key for item in later_items] == [item.natural_key for item in ITEMS]
    whole = now.replace(microsecond=0)
    base = NOW.replace(microsecond=0)
    for item, copy in zip(ITEMS, later_items, strict=True):
        if item.published_at is None or copy.published_at is None:
            assert item.published_at is copy.published_at
        else:
            assert whole - copy.published_at == base - item.published_at


@pytest.mark.parametrize("story", STORIES)
def test_a_story_is_told_by_at_least_two_sources(story: str) -> None:
    assert len({item.source for item in story_items(story)}) >= 2


def test_most_stories_have_three_sources_and_some_items_belong_to_none() -> None:
    sources = {story: {item.source for item in story_items(story)} for story in STORIES}
    assert sum(len(names) >= 3 for names in sources.values()) >= 12
    covered_ids = {item.natural_key for story in STORIES for item in story_items(story)}
    assert len([item for item in ITEMS if item.natural_key not in covered_ids]) >= 15


def test_four_items_are_near_copies_of_the_wire() -> None:
    wire = {
        frozenset(item.text.lower().split()): item.title
        for item in ITEMS
        if item.source == "Meridian Wire"
    }
    copies = set()
    for item in ITEMS:
        words = frozenset(item.text.lower().split())
        for original, title in wire.items():
            shared = len(words & original) / len(words)
            if item.source != "Meridian Wire" and shared >= 0.8:
                copies.add((item.source, title))
    assert len(copies) == 4


@cache
def demo_evidence() -> list[EvidenceTexts]:
    return [
        EvidenceTexts(
            id=item.url or "",
            title=item.title,
            text=item.text,
            url=item.url or "",
            source_id=document.file_name,
            source_name=document.name,
            source_domain=urlsplit(item.url or "").hostname or "",
            published_at=item.published_at,
            retrieved_at=NOW,
            language=item.language,
            topics=tuple(assign(item.title, item.text, item.categories, document.topics)),
        )
        for document in DOCUMENTS
        for item in parse_feed(document.body).items
    ]


def matches(profile: ProfileInput) -> list[EvidenceTexts]:
    query = Query.of(profile.topic, profile.keywords, profile.language)
    articles = readings(demo_evidence())
    frequencies = Frequencies.of(reading.counts for reading in articles)
    return [hit.reading.evidence for hit in rank(query, articles, frequencies).hits]


def test_every_item_is_read_as_plain_text_of_a_known_language() -> None:
    assert not [i.title for i in demo_evidence() if "<" in i.text or not i.language]


@pytest.mark.parametrize("profile", PROFILES[:-1], ids=lambda profile: profile.name)
def test_a_profile_matches_one_story_as_three_sources_tell_it(profile: ProfileInput) -> None:
    evidence = matches(profile)
    assert len({item.source_name for item in evidence}) >= 3
    stories = [{item.url for item in story_items(name)} for name in STORIES]
    best_count = max(sum(item.id in story for item in evidence) for story in stories)
    assert best_count >= max(4, 0.7 * len(evidence))


@pytest.mark.parametrize("profile", PROFILES[:-1], ids=lambda profile: profile.name)
def test_a_profile_has_something_new_in_the_last_two_days(profile: ProfileInput) -> None:
    recent = NOW - timedelta(days=2)
    assert [item for item in matches(profile) if item.published_at and item.published_at > recent]


def test_words_alone_tell_a_topic_that_the_publisher_gives_of_most_items() -> None:
    read = [item for document in DOCUMENTS for item in parse_feed(document.body).items]
    topics_of_items = [(item, set(assign("", "", item.categories))) for item in read]
    hits = [
        not topics.isdisjoint(assign(item.title, item.text, language=item.language))
        for item, topics in topics_of_items
        if topics
    ]
    assert sum(hits) >= 0.6 * len(hits)


def test_the_last_profile_matches_nothing() -> None:
    assert matches(PROFILES[-1]) == []


def test_the_last_profile_has_a_subject_nobody_writes_about() -> None:
    words = {*PROFILES[-1].keywords, *PROFILES[-1].topic.lower().split()}
    texts = " ".join(f"{item.title} {item.text}" for item in ITEMS).lower()
    assert not [word for word in words if word in texts]


def test_profiles_have_names_of_their_own_and_a_valid_schedule() -> None:
    assert len(PROFILES) == len({profile.name for profile in PROFILES}) == 6
    for profile in PROFILES:
        assert (profile.schedule_time_of_day is not None) == (
            profile.frequency in TIMED_FREQUENCIES
        )
        if profile.schedule_time_of_day:
            assert re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", profile.schedule_time_of_day)
        assert ZoneInfo(profile.timezone).key == profile.timezone
        assert 3 <= len(profile.topic) <= 2_000
        assert 1 <= len(profile.name) <= 120
        assert 0 < len(profile.keywords) <= 50
