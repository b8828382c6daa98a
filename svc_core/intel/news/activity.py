"""Topic activity: how many items a topic had in each hour, their languages and sources."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from svc_core.intel.news.model import NewsItem, TopicActivity

ACTIVITY_HOURS = 48
ACTIVITY_NAMES_MAX = 500  # sources or languages remembered for one topic


def _hour(instant: datetime) -> int:
    return int(instant.timestamp()) // 3600


def activity_after(
    before: TopicActivity, items: Iterable[NewsItem], now: datetime
) -> TopicActivity:
    """The activity of a topic after some new items are added to it."""
    fresh = list(items)
    hours = Counter(dict(before.hours))
    hours.update(_hour(item.seen_at) for item in fresh)
    oldest = _hour(now) - ACTIVITY_HOURS
    moments = [before.last_item_at, *(item.seen_at for item in fresh)]
    return TopicActivity(
        id=before.id,
        hours=tuple(sorted((hour, n) for hour, n in hours.items() if hour > oldest)),
        languages=_union(before.languages, (item.language for item in fresh)),
        sources=_union(before.sources, (item.source.id for item in fresh)),
        last_item_at=max(filter(None, moments), default=None),
    )


def _union(names: tuple[str, ...], additions: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({*names, *(name for name in additions if name)}))[:ACTIVITY_NAMES_MAX]


def items_last_day(activity: TopicActivity, now: datetime) -> int:
    """How many items a topic had in the 24 hours before `now`, counted in whole hours."""
    return sum(count for hour, count in activity.hours if _hour(now) - 24 < hour <= _hour(now))
