"""From items to the activity of topics."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import ids
from svc_core.intel.folding.model import source_id
from svc_core.intel.news.activity import ACTIVITY_NAMES_MAX, activity_after, items_last_day
from svc_core.intel.news.model import NewsItem, NewsSource, Sentiment, TopicActivity
from svc_core.testing.clock import START as NOW

Make = Callable[..., Any]

WORLD = TopicActivity("world")


def item(key: str = "a", **members: Any) -> NewsItem:
    attributes: dict[str, Any] = {
        "id": ids.derived_id("obs", "news", "feed", key),
        "title": "T",
        "summary": "",
        "url": None,
        "sentiment": Sentiment(None, None),
        "published_at": None,
        "updated_at": None,
        "retrieved_at": NOW,
        "source": NewsSource(source_id("x"), "X", "x.org", None),
        "language": "en",
        "authors": (),
        "topics": (),
        "image_url": None,
        "source_url": None,
        **members,
    }
    return NewsItem(**attributes)


# -- topics ------------------------------------------------------------------------------------


def test_a_topic_counts_items_by_the_hour(make_source: Make) -> None:
    fresh = [
        item("a", published_at=NOW),
        item("b", published_at=NOW - timedelta(hours=1), language="fr"),
        item("c", published_at=NOW - timedelta(hours=30), language=None),
        item("d"),
    ]
    seen = activity_after(WORLD, fresh, NOW)
    assert [count for _, count in seen.hours] == [1, 1, 2]
    assert seen.languages == ("en", "fr")
    assert seen.sources == (source_id("x"),)
    assert seen.last_item_at == NOW
    assert items_last_day(seen, NOW) == 3
    assert items_last_day(seen, NOW + timedelta(hours=23)) == 2
    assert items_last_day(seen, NOW + timedelta(hours=24)) == 0


def test_a_topic_remembers_two_days_of_hours_and_the_newest_item() -> None:
    first = activity_after(WORLD, [item("a", published_at=NOW)], NOW)
    late = NOW + timedelta(hours=47)
    second = activity_after(first, [item("b", published_at=NOW - timedelta(days=9))], late)
    assert second.hours == first.hours
    assert second.last_item_at == NOW
    third = activity_after(second, [], late + timedelta(hours=1))
    assert third.hours == ()
    assert third.last_item_at == NOW


def test_a_topic_without_items_has_no_newest_one() -> None:
    assert activity_after(WORLD, [], NOW).last_item_at is None


def test_an_item_dated_in_the_future_counts_when_it_was_read() -> None:
    seen = activity_after(WORLD, [item("a", published_at=NOW + timedelta(days=900))], NOW)
    assert seen.last_item_at == NOW
    assert items_last_day(seen, NOW) == 1


def test_a_topic_remembers_a_bounded_number_of_sources() -> None:
    fresh = [item("a", source=NewsSource(source_id(str(n)), "", "", None)) for n in range(600)]
    assert len(activity_after(WORLD, fresh, NOW).sources) == ACTIVITY_NAMES_MAX


@given(
    st.lists(
        st.datetimes(datetime(2025, 12, 30), datetime(2026, 1, 3), timezones=st.just(UTC)),
        max_size=8,
    ),
    st.integers(0, 8),
)
def test_a_topic_sees_the_same_in_one_step_or_two(moments: list[datetime], cut: int) -> None:
    fresh = [item(str(at), published_at=at) for at in moments]
    whole = activity_after(WORLD, fresh, NOW)
    halves = activity_after(activity_after(WORLD, fresh[:cut], NOW), fresh[cut:], NOW)
    assert halves == whole
