"""From entries to rows, from runs to health, from items to the activity of topics."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import ids, wire
from svc_core.news import rules
from svc_core.resources.news import NewsItem, NewsSource, Sentiment, Source, TopicActivity
from svc_core.sources import Rejection
from svc_core.testing.clock import START as NOW

Make = Callable[..., Any]

WORLD = TopicActivity("world")


def item(key: str = "a", **members: Any) -> NewsItem:
    told: dict[str, Any] = {
        "id": ids.derived_id("obs", "news", "feed", key),
        "title": "T",
        "summary": "",
        "url": None,
        "sentiment": Sentiment(None, None),
        "published_at": None,
        "updated_at": None,
        "retrieved_at": NOW,
        "source": NewsSource(rules.source_id("x"), "X", "x.org", None),
        "language": "en",
        "authors": (),
        "topics": (),
        "image_url": None,
        "source_url": None,
        **members,
    }
    return NewsItem(**told)


# -- items -------------------------------------------------------------------------------------


def test_an_entry_becomes_a_row_and_its_words(
    make_entry: Make, make_document: Make, make_source: Make
) -> None:
    published = NOW - timedelta(hours=2)
    told = make_entry(
        "k",
        title="A terrible attack on the port",
        summary="Short.",
        text="The whole text.",
        url="https://pier.org/1",
        source_url="https://pier.org/1?utm_source=x",
        published_at=published,
        authors=("Ann",),
    )
    source = make_source(NOW, name="Pier", country_code="MT")
    (made,) = rules.incoming(source, make_document(told), NOW)
    row = made.item
    assert row.id == ids.derived_id("obs", "news", f"feed:{source.id}", "k")
    assert (row.title, row.summary, row.url) == (told.title, "Short.", "https://pier.org/1")
    assert (row.published_at, row.updated_at, row.retrieved_at) == (published, None, NOW)
    assert row.source == NewsSource(source.id, "Pier", "pier.org", "MT")
    assert row.sentiment.label == "negative"
    assert made.words.text == "The whole text."
    assert (made.words.id, made.words.taken_at, made.words.title) == (row.id, NOW, told.title)


def test_an_entry_without_text_is_found_by_its_summary(
    make_entry: Make, make_document: Make, make_source: Make
) -> None:
    (made,) = rules.incoming(make_source(NOW), make_document(make_entry("k", summary="S")), NOW)
    assert made.words.text == "S"


@pytest.mark.parametrize(
    ("entry", "document", "source", "language"),
    [("fr", "de", "it", "fr"), (None, "de", "it", "de"), (None, None, "it", "it"), (None,) * 4],
)
def test_the_nearest_word_on_the_language_counts(
    make_entry: Make,
    make_document: Make,
    make_source: Make,
    entry: str | None,
    document: str | None,
    source: str | None,
    language: str | None,
) -> None:
    parsed = make_document(make_entry("k", title="Qxv", language=entry), language=document)
    (made,) = rules.incoming(make_source(NOW, language=source), parsed, NOW)
    assert made.item.language == language


def test_the_tone_of_an_unjudged_language_is_null(
    make_entry: Make, make_document: Make, make_source: Make
) -> None:
    parsed = make_document(make_entry("k", title="Attaque terrible", language="fr"))
    (made,) = rules.incoming(make_source(NOW), parsed, NOW)
    assert made.item.sentiment == Sentiment(None, None)


def test_topics_come_from_source_categories_and_words(
    make_entry: Make, make_document: Make, make_source: Make
) -> None:
    told = make_entry("k", title="Ransomware closes a port", categories=("Energy",))
    (made,) = rules.incoming(make_source(NOW, topics=("world",)), make_document(told), NOW)
    assert {"world", "energy", "ransomware"} <= set(made.item.topics)


def test_a_summary_has_at_most_600_characters(
    make_entry: Make, make_document: Make, make_source: Make
) -> None:
    (made,) = rules.incoming(
        make_source(NOW), make_document(make_entry("k", summary="x" * 700)), NOW
    )
    assert made.item.summary == "x" * 600


@given(st.lists(st.text(min_size=1), unique=True, max_size=5), st.integers(0, 10**6))
def test_the_same_entries_are_the_same_rows_whenever_they_are_read(
    make_entry: Make, make_document: Make, make_source: Make, keys: list[str], later: int
) -> None:
    parsed = make_document(*(make_entry(key, title="T", text="words") for key in keys))
    first = rules.incoming(make_source(NOW), parsed, NOW)
    again = rules.incoming(make_source(NOW), parsed, NOW + timedelta(seconds=later))
    assert len({row.item.id for row in first}) == len(keys)
    for old, new in zip(first, again, strict=True):
        assert rules.settle(old.item, new.item) is None
        # What is compared with is what the store gives back.
        assert rules.settle(wire.loads(NewsItem, wire.dumps(old.item)), new.item) is None


def test_a_row_that_says_something_new_keeps_when_it_was_taken_in() -> None:
    old, new = item(title="T"), item(title="U", retrieved_at=NOW + timedelta(days=1))
    assert rules.settle(old, new) == attrs.evolve(new, retrieved_at=NOW)


def test_words_stand_by_the_time_of_their_row(
    make_entry: Make, make_document: Make, make_source: Make
) -> None:
    (made,) = rules.incoming(make_source(NOW), make_document(make_entry("k")), NOW)
    assert rules.words_of(made.item, made) is made.words
    earlier = NOW - timedelta(days=1)
    older = attrs.evolve(made.item, retrieved_at=earlier)
    assert rules.words_of(older, made) == attrs.evolve(made.words, taken_at=earlier)


# -- sources -----------------------------------------------------------------------------------


def test_a_location_is_one_source() -> None:
    assert rules.source_id("https://a.org/") == rules.source_id("https://a.org/")
    assert rules.source_id("https://a.org/") != rules.source_id("https://a.org/feed")
    assert ids.is_id("src", rules.source_id("x"))


@pytest.mark.parametrize(
    ("location", "home", "host"),
    [
        ("https://feeds.host.org/x", "https://www.host.org/", "host.org"),
        ("https://feeds.host.org/x", None, "feeds.host.org"),
        ("https://feeds.host.org/x", "/relative", "feeds.host.org"),
        ("/folder/feed.xml", "https://host.org", "host.org"),
        ("/folder/feed.xml", None, ""),
    ],
)
def test_the_domain_is_that_of_the_home_page_or_the_location(
    location: str, home: str | None, host: str
) -> None:
    assert rules.domain(location, home) == host


def test_a_document_says_what_nobody_said(make_document: Make, make_source: Make) -> None:
    source = rules.described(make_source(NOW), make_document(language="mt"))
    assert (source.name, source.domain, source.language) == ("The Pier", "pier.org", "mt")
    assert (source.home_url, source.format) == ("https://www.pier.org/news", "rss")


def test_what_was_said_stays(make_document: Make, make_source: Make) -> None:
    said = make_source(NOW, name="Quay", home_url="https://quay.org", language="en")
    source = rules.described(said, make_document(language="mt"))
    assert (source.name, source.domain, source.language) == ("Quay", "quay.org", "en")


def test_a_document_without_a_title_is_named_by_its_location(
    make_document: Make, make_source: Make
) -> None:
    source = rules.described(make_source(NOW), make_document(title=None))
    assert source.name == source.location


# -- health ------------------------------------------------------------------------------------

LOST = (Rejection("noTitle", 2, "x"), Rejection("twice", 1, "y"))


@pytest.mark.parametrize(
    ("age_days", "new", "lost", "status"),
    [
        (0, True, (), "ok"),
        (0, False, (), "ok"),
        (0, True, LOST, "partial"),
        (7, False, (), "ok"),
        (8, False, (), "staleContent"),
        (8, False, LOST, "staleContent"),
        (8, True, (), "ok"),
    ],
)
def test_a_run_that_was_read(
    make_source: Make, age_days: int, new: bool, lost: Any, status: str
) -> None:
    source = make_source(NOW - timedelta(days=age_days))
    after = rules.succeeded(source, NOW, taken=5, rejections=lost, new=new).health
    assert after.status == status
    assert (after.last_attempt_at, after.last_success_at) == (NOW, NOW)
    assert after.last_content_at == (NOW if new else None)
    assert (after.items_last_run, after.rejected_last_run) == (5, 3 if lost else 0)
    assert after.next_attempt_at == NOW + timedelta(seconds=900)
    assert (after.error, after.http_status, after.consecutive_failures) == (None, None, 0)


@pytest.mark.parametrize(
    ("late_seconds", "rejections", "status"),
    [
        (0, (), "ok"),
        (2 * 900, (), "ok"),
        (2 * 900 + 1, (), "stale"),
        (2 * 900 + 1, LOST, "stale"),
        (2 * 900, LOST, "partial"),
    ],
)
def test_a_source_that_nobody_reads_is_shown_as_stale(
    make_source: Make, late_seconds: int, rejections: Any, status: str
) -> None:
    read = rules.succeeded(make_source(NOW), NOW, taken=1, rejections=rejections, new=True)
    later = NOW + timedelta(seconds=900 + late_seconds)
    assert rules.seen(read, later).health.status == status


def test_errors_and_new_sources_are_shown_as_they_are(make_source: Make) -> None:
    new = make_source(NOW)
    broken = rules.failed(new, NOW, "html", "A page.", None)
    later = NOW + timedelta(days=9)
    assert rules.seen(new, later) == new
    assert rules.seen(broken, later) == broken


def test_content_ages_from_when_it_was_last_new(make_source: Make) -> None:
    source = make_source(NOW - timedelta(days=100))
    fresh = rules.succeeded(source, NOW, taken=1, rejections=(), new=True)
    later = rules.unchanged(fresh, NOW + timedelta(days=7)).health
    assert (later.status, later.last_content_at) == ("ok", NOW)
    stale = rules.unchanged(fresh, NOW + timedelta(days=7, seconds=1)).health
    assert stale.status == "staleContent"


def test_a_document_that_is_the_same_is_still_missing_its_rejected_rows(make_source: Make) -> None:
    first = rules.succeeded(make_source(NOW), NOW, taken=5, rejections=LOST, new=True)
    later = NOW + timedelta(minutes=15)
    again = rules.unchanged(first, later).health
    assert (again.status, again.rejected_last_run) == ("partial", 3)
    assert again.rejections == (Rejection("noTitle", 2, "x"), Rejection("twice", 1, "y"))
    assert (again.items_last_run, again.last_success_at) == (0, later)


def _fail(source: Source, times: int) -> Source:
    for _ in range(times):
        source = rules.failed(source, NOW, "httpStatus", "It failed.", 500)
    return source


@pytest.mark.parametrize(
    ("times", "minutes"), [(1, 15), (2, 30), (3, 60), (7, 960), (8, 1_440), (60, 1_440)]
)
def test_failures_make_attempts_rarer_up_to_a_day(
    make_source: Make, times: int, minutes: int
) -> None:
    health = _fail(make_source(NOW), times).health
    assert health.next_attempt_at == NOW + timedelta(minutes=minutes)
    assert health.consecutive_failures == times
    assert (health.status, health.http_status) == ("error", 500)
    assert (health.error.code, health.error.message) == ("httpStatus", "It failed.")


def test_a_failure_forgets_neither_the_last_success_nor_the_validators(make_source: Make) -> None:
    good = rules.succeeded(
        make_source(NOW, etag='"1"', digest="d"), NOW, taken=5, rejections=LOST, new=True
    )
    bad = rules.failed(good, NOW + timedelta(hours=1), "timeout", "Late.", None)
    assert (bad.etag, bad.digest) == ('"1"', "d")
    assert bad.health.last_success_at == bad.health.last_content_at == NOW
    assert (bad.health.items_last_run, bad.health.rejected_last_run) == (0, 0)
    assert bad.health.rejections == ()


@given(st.lists(st.sampled_from(["good", "same", "bad"]), max_size=20))
def test_whatever_happened_the_next_attempt_lies_ahead_and_within_a_day(
    make_source: Make, runs: list[str]
) -> None:
    source = make_source(NOW)
    for run in runs:
        if run == "good":
            source = rules.succeeded(source, NOW, taken=1, rejections=(), new=True)
        elif run == "same":
            source = rules.unchanged(source, NOW)
        else:
            source = rules.failed(source, NOW, "x", "X.", None)
        health = source.health
        assert NOW < health.next_attempt_at <= NOW + timedelta(hours=24)
        assert (health.error is None) == (health.status != "error")
        assert (health.consecutive_failures > 0) == (run == "bad")


# -- topics ------------------------------------------------------------------------------------


def test_a_topic_counts_items_by_the_hour(make_source: Make) -> None:
    fresh = [
        item("a", published_at=NOW),
        item("b", published_at=NOW - timedelta(hours=1), language="fr"),
        item("c", published_at=NOW - timedelta(hours=30), language=None),
        item("d"),
    ]
    seen = rules.active(WORLD, fresh, NOW)
    assert [count for _, count in seen.hours] == [1, 1, 2]
    assert seen.languages == ("en", "fr")
    assert seen.sources == (rules.source_id("x"),)
    assert seen.last_item_at == NOW
    assert rules.items_last_day(seen, NOW) == 3
    assert rules.items_last_day(seen, NOW + timedelta(hours=23)) == 2
    assert rules.items_last_day(seen, NOW + timedelta(hours=24)) == 0


def test_a_topic_remembers_two_days_of_hours_and_the_newest_item() -> None:
    first = rules.active(WORLD, [item("a", published_at=NOW)], NOW)
    late = NOW + timedelta(hours=47)
    second = rules.active(first, [item("b", published_at=NOW - timedelta(days=9))], late)
    assert second.hours == first.hours
    assert second.last_item_at == NOW
    third = rules.active(second, [], late + timedelta(hours=1))
    assert third.hours == ()
    assert third.last_item_at == NOW


def test_a_topic_without_items_has_no_newest_one() -> None:
    assert rules.active(WORLD, [], NOW).last_item_at is None


def test_an_item_dated_in_the_future_counts_when_it_was_read() -> None:
    seen = rules.active(WORLD, [item("a", published_at=NOW + timedelta(days=900))], NOW)
    assert seen.last_item_at == NOW
    assert rules.items_last_day(seen, NOW) == 1


def test_a_topic_remembers_a_bounded_number_of_sources() -> None:
    fresh = [
        item("a", source=NewsSource(rules.source_id(str(n)), "", "", None)) for n in range(600)
    ]
    assert len(rules.active(WORLD, fresh, NOW).sources) == rules.ACTIVITY_NAMES_MAX


@given(
    st.lists(
        st.datetimes(datetime(2025, 12, 30), datetime(2026, 1, 3), timezones=st.just(UTC)),
        max_size=8,
    ),
    st.integers(0, 8),
)
def test_a_topic_sees_the_same_in_one_step_or_two(moments: list[datetime], cut: int) -> None:
    fresh = [item(str(at), published_at=at) for at in moments]
    whole = rules.active(WORLD, fresh, NOW)
    halves = rules.active(rules.active(WORLD, fresh[:cut], NOW), fresh[cut:], NOW)
    assert halves == whole
