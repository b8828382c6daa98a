"""Listing news items and the forty topics."""

import json
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


# -- by words ----------------------------------------------------------------------------------


@pytest.fixture
def told(house: Any, make_document: Make, make_entry: Make) -> Any:
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


ASKED = [
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


@pytest.mark.parametrize(("query", "titles"), ASKED)
def test_news_are_found_by_words_of_their_whole_text(told: Any, query: str, titles: Any) -> None:
    assert sorted(row["title"] for row in told.rows("listNews", query)) == titles


def test_a_match_tells_what_was_found_where(told: Any) -> None:
    query = "q=quay oldenzaal zeppelin&include=match"
    rows = told.rows("listNews", query)
    match = rows[0]["match"]
    assert match["fields"] == ["title", "text"]
    assert {one["term"] for one in match["terms"]} == {"oldenz", "quay"}
    assert 0.5 < match["score"] < 1
    assert told.rows("listNews", "q=quay&include=match")[0]["match"]["score"] == 1
    assert told.rows("listNews", "include=match")[0]["match"] is None


def test_found_news_are_sorted_where_a_sort_is_asked_for(told: Any) -> None:
    rows = told.rows("listNews", "q=arvenport&sort=publishedAt")
    assert [row["title"] for row in rows] == [
        "Walkout at the quay 0",
        "Walkout at the quay 1",
        "Harbour dues rise 0",
        "Harbour dues rise 1",
    ]


@pytest.mark.parametrize("sort", ["", "&sort=publishedAt", "&sort=sentiment"])
def test_pages_of_found_news_join(told: Any, sort: str) -> None:
    whole = [row["id"] for row in told.rows("listNews", f"q=arvenport{sort}")]
    found, more = [], ""
    while more is not None:
        body = json.loads(told.send("listNews", query=f"q=arvenport{sort}&limit=1{more}").body)
        found += [row["id"] for row in body["data"]]
        cursor = body["meta"]["page"]["nextCursor"]
        more = None if cursor is None else f"&cursor={cursor}"
    assert found == whole
    assert len(whole) == 4


def test_words_that_very_many_news_hold_are_found_in_the_order_of_the_list(
    told: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "COUNTED_MAX", 2)
    titles = [row["title"] for row in told.rows("listNews", "q=arvenport&topics=energy")]
    assert titles == ["Walkout at the quay 1", "Harbour dues rise 1"]
