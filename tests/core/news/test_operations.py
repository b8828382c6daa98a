"""Listing news items and the forty topics."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from svc_core import instants, problem
from svc_core.analysis.topics import TOPICS
from svc_core.testing.clock import START

Make = Callable[..., Any]


@pytest.fixture
def stocked(house: Any, make_document: Make, make_entry: Make) -> Any:
    """Three sources, nine items an hour apart, in two languages."""
    for number, (topic, language) in enumerate(
        [("energy", "en"), ("energy", "fr"), ("shipping", "en")]
    ):
        source = house.add(f"https://host{number}.org/feed", topics=(topic,))
        entries = [
            make_entry(
                f"{number}{place}",
                title=f"Item {number}{place}",
                language=language,
                published_at=START - timedelta(hours=3 * place + number),
            )
            for place in range(3)
        ]
        house.take(source, make_document(*entries))
    return house


def test_news_before_the_first_item_is_not_ready(house: Any) -> None:
    refused = house.refused("listNews")
    assert refused.type is problem.NEWS_NOT_READY
    assert refused.headers["Retry-After"] == "30"


def test_news_come_newest_first(stocked: Any) -> None:
    titles = [row["title"] for row in stocked.rows("listNews")]
    assert titles == [f"Item {number}{place}" for place in range(3) for number in range(3)]


def test_an_unknown_topic_is_told_where_the_topics_are(stocked: Any) -> None:
    refused = stocked.refused("listNews", query="topics=energy,nope")
    assert refused.type is problem.INVALID_PARAMETER
    assert refused.detail.startswith("topics: ")
    assert "GET /api/v1/news/feeds" in refused.detail


def test_an_item_without_a_date_stands_where_it_was_read(
    stocked: Any, make_document: Make, make_entry: Make
) -> None:
    stocked.clock.advance(60)
    stocked.take(stocked.add("https://host9.org/"), make_document(make_entry("x", title="New")))
    row = stocked.rows("listNews")[0]
    assert (row["title"], row["publishedAt"]) == ("New", None)
    assert row["retrievedAt"] == instants.render(stocked.clock.now())


def test_an_item_dated_in_the_future_does_not_head_the_list_for_years(
    stocked: Any, make_document: Make, make_entry: Make
) -> None:
    stocked.clock.advance(1)
    ahead = make_entry("a", title="Ahead", published_at=START + timedelta(days=9_999))
    stocked.take(stocked.add("https://host8.org/"), make_document(ahead))
    assert stocked.rows("listNews")[0]["title"] == "Ahead"
    stocked.clock.advance(60)
    stocked.take(stocked.add("https://host9.org/"), make_document(make_entry("x", title="New")))
    assert [row["title"] for row in stocked.rows("listNews")[:2]] == ["New", "Ahead"]


FILTERS = [
    ("topics=energy", 6),
    ("topics=energy,shipping", 9),
    ("topics=markets", 0),
    ("language=fr", 3),
    ("language=FR", 3),
    ("language=fr-CH", 0),
    ("language=fr,en", 9),
    ("topics=energy&language=en", 3),
    ("datetime=2026-01-02T00:00:00Z/..", 4),
    ("datetime=../2026-01-01T21:00:00Z", 2),
    ("datetime=2026-01-02T03:04:05Z", 1),
]


@pytest.mark.parametrize(("query", "count"), FILTERS)
def test_filters_narrow_the_list(stocked: Any, query: str, count: int) -> None:
    assert len(stocked.rows("listNews", query)) == count


@pytest.mark.parametrize("span", ["yesterday", "2026-01-02", "../..", ""])
def test_a_period_that_cannot_be_read_is_refused(stocked: Any, span: str) -> None:
    refused = stocked.refused("listNews", query=f"datetime={span}")
    assert refused.type is problem.INVALID_PARAMETER


def test_all_forty_topics_are_listed_before_any_news(house: Any) -> None:
    rows = house.rows("listNewsFeeds")
    assert [row["id"] for row in rows] == [topic.id for topic in TOPICS]
    assert len(rows) == 40
    assert all((row["feedCount"], row["itemCount24h"]) == (0, 0) for row in rows)
    assert all(row["lastItemAt"] is None and row["languages"] == [] for row in rows)


def test_topics_show_their_feeds_languages_and_items(stocked: Any) -> None:
    energy = next(row for row in stocked.rows("listNewsFeeds") if row["id"] == "energy")
    assert (energy["feedCount"], energy["itemCount24h"]) == (2, 6)
    assert energy["languages"] == ["en", "fr"]
    assert energy["lastItemAt"] == instants.render(START)
    stocked.clock.advance(26 * 3_600)
    later = next(row for row in stocked.rows("listNewsFeeds") if row["id"] == "energy")
    assert later["itemCount24h"] == 0
