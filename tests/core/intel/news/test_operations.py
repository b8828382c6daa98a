"""Listing news items and the forty topics."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from svc_core.base import instants
from svc_core.contract import problem
from svc_core.search import lists as searching
from svc_core.testing.clock import START
from svc_core.text.topics import TOPICS

Make = Callable[..., Any]


@pytest.fixture
def newsroom(house: Any, make_document: Make, make_entry: Make) -> Any:
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
    refusal = house.refusal("listNews")
    assert refusal.type is problem.NEWS_NOT_READY
    assert refusal.headers["Retry-After"] == "30"


def test_news_come_newest_first(newsroom: Any) -> None:
    titles = [row["title"] for row in newsroom.rows("listNews")]
    assert titles == [f"Item {number}{place}" for place in range(3) for number in range(3)]


def test_an_unknown_topic_is_told_where_the_topics_are(newsroom: Any) -> None:
    refusal = newsroom.refusal("listNews", query="topics=energy,nope")
    assert refusal.type is problem.INVALID_PARAMETER
    assert refusal.detail.startswith("topics: ")
    assert "GET /api/v1/news/feeds" in refusal.detail


def test_an_item_without_a_date_comes_last_and_is_in_no_period(
    newsroom: Any, make_document: Make, make_entry: Make
) -> None:
    newsroom.clock.advance(60)
    newsroom.take(
        newsroom.add("https://host9.org/"), make_document(make_entry("x", title="Quarry"))
    )
    *_, row = newsroom.rows("listNews")
    assert (row["title"], row["publishedAt"]) == ("Quarry", None)
    assert row["retrievedAt"] == instants.render(newsroom.clock.now())
    day = instants.render(newsroom.clock.now())
    for interval in (f"../{day}", "1970-01-01T00:00:00Z/..", f"0001-01-01T00:00:00Z/{day}"):
        rows = newsroom.rows("listNews", f"datetime={interval}")
        assert "Quarry" not in {row["title"] for row in rows}
    assert "Quarry" in {row["title"] for row in newsroom.rows("listNews", "q=quarry")}


def test_an_item_dated_in_the_future_does_not_head_the_list_for_years(
    newsroom: Any, make_document: Make, make_entry: Make
) -> None:
    newsroom.clock.advance(1)
    ahead = make_entry("a", title="Ahead", published_at=START + timedelta(days=9_999))
    newsroom.take(newsroom.add("https://host8.org/"), make_document(ahead))
    assert newsroom.rows("listNews")[0]["title"] == "Ahead"
    newsroom.clock.advance(60)
    new = make_entry("x", title="New", published_at=START + timedelta(seconds=30))
    newsroom.take(newsroom.add("https://host9.org/"), make_document(new))
    assert [row["title"] for row in newsroom.rows("listNews")[:2]] == ["New", "Ahead"]


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
def test_filters_narrow_the_list(newsroom: Any, query: str, count: int) -> None:
    assert len(newsroom.rows("listNews", query)) == count


@pytest.mark.parametrize("span", ["yesterday", "2026-01-02", "../..", ""])
def test_a_period_that_cannot_be_read_is_refused(newsroom: Any, span: str) -> None:
    refusal = newsroom.refusal("listNews", query=f"datetime={span}")
    assert refusal.type is problem.INVALID_PARAMETER


def test_all_forty_topics_are_listed_before_any_news(house: Any) -> None:
    rows = house.rows("listNewsFeeds")
    assert [row["id"] for row in rows] == [topic.id for topic in TOPICS]
    assert len(rows) == 40
    assert all((row["feedCount"], row["itemCount24h"]) == (0, 0) for row in rows)
    assert all(row["lastItemAt"] is None and row["languages"] == [] for row in rows)


def test_topics_show_their_feeds_languages_and_items(newsroom: Any) -> None:
    energy = next(row for row in newsroom.rows("listNewsFeeds") if row["id"] == "energy")
    assert (energy["feedCount"], energy["itemCount24h"]) == (2, 6)
    assert energy["languages"] == ["en", "fr"]
    assert energy["lastItemAt"] == instants.render(START)
    newsroom.clock.advance(26 * 3_600)
    later = next(row for row in newsroom.rows("listNewsFeeds") if row["id"] == "energy")
    assert later["itemCount24h"] == 0


# -- by words ----------------------------------------------------------------------------------


@pytest.fixture
def archive(house: Any, make_document: Make, make_entry: Make) -> Any:
    """Items of two sources whose titles say less than their texts."""
    texts = {
        "Walkout at the quay": "Dockworkers of Arvenport walked out. "
        + "Cranes stand idle. " * 60
        + "The harbourmaster Piet Oldenzaal asked for patience.",
        "Harbour dues rise": "Arvenport asks more of tankers from spring on.",
        "Rain expected": "Showers reach the coast.",
    }
    for number, topic in enumerate(["shipping", "energy"]):
        source = house.add(f"https://words{number}.org/feed", topics=(topic,))
        entries = [
            make_entry(
                f"{number}{place}",
                title=f"{title} {number}",
                text=text,
                published_at=START - timedelta(hours=place, minutes=number),
            )
            for place, (title, text) in enumerate(texts.items())
        ]
        house.take(source, make_document(*entries))
    return house


SEARCHES = [
    ("q=Oldenzaal", ["Walkout at the quay 0", "Walkout at the quay 1"]),
    ("q=arvenport tankers", ["Harbour dues rise 0", "Harbour dues rise 1"]),
    ("q=arvenport -tankers", ["Walkout at the quay 0", "Walkout at the quay 1"]),
    ('q="piet oldenzaal"', ["Walkout at the quay 0", "Walkout at the quay 1"]),
    ('q="oldenzaal piet"', []),
    ("q=zeppelin", []),
    ("q=the", []),
    ("q=arvenport tankers&topics=energy", ["Harbour dues rise 1"]),
    ("q=arvenport tankers&language=fr", []),
    ("q=arvenport&datetime=2026-01-02T03:04:00Z/..", ["Walkout at the quay 0"]),
    ("q=tankers&datetime=../2026-01-02T02:03:30Z", ["Harbour dues rise 1"]),
    ("q=tankers&minSentiment=1", []),
    ("q=tankers&maxSentiment=1", ["Harbour dues rise 0", "Harbour dues rise 1"]),
    ("q=tankers&updatedSince=2027-01-01T00:00:00Z", []),
]


@pytest.mark.parametrize(("query", "titles"), SEARCHES)
def test_news_are_found_by_words_of_their_whole_text(archive: Any, query: str, titles: Any) -> None:
    assert sorted(row["title"] for row in archive.rows("listNews", query)) == titles


def test_a_match_tells_what_was_found_where(archive: Any) -> None:
    query = "q=quay oldenzaal zeppelin&include=match"
    rows = archive.rows("listNews", query)
    match = rows[0]["match"]
    assert match["fields"] == ["title", "text"]
    assert {term["term"] for term in match["terms"]} == {"oldenz", "quay"}
    assert 0.5 < match["score"] < 1
    assert archive.rows("listNews", "q=quay&include=match")[0]["match"]["score"] == 1
    assert archive.rows("listNews", "include=match")[0]["match"] is None


def test_found_news_are_sorted_where_a_sort_is_asked_for(archive: Any) -> None:
    rows = archive.rows("listNews", "q=arvenport&sort=publishedAt")
    assert [row["title"] for row in rows] == [
        "Walkout at the quay 0",
        "Walkout at the quay 1",
        "Harbour dues rise 0",
        "Harbour dues rise 1",
    ]


@pytest.mark.parametrize("sort", ["", "&sort=publishedAt", "&sort=sentiment"])
def test_pages_of_found_news_join(archive: Any, sort: str) -> None:
    whole = [row["id"] for row in archive.rows("listNews", f"q=arvenport{sort}")]
    rows = archive.every("listNews", f"q=arvenport{sort}&limit=1")
    assert [row["id"] for row in rows] == whole
    assert len(whole) == 4


def test_words_that_very_many_news_hold_are_found_in_the_order_of_the_list(
    archive: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "COUNTED_MAX", 2)
    titles = [row["title"] for row in archive.rows("listNews", "q=arvenport&topics=energy")]
    assert titles == ["Walkout at the quay 1", "Harbour dues rise 1"]
