"""From a parsed feed to public rows, and what a run says about the health of its source.

Rule 1: an item's id is derived from its permalink at its publisher, else from its source and
        natural key, so taking a document in twice, or in two formats, changes nothing. Only a
        document of the publisher's own host, or of this machine, speaks for a permalink.
Rule 2: a date is never invented; an item without one sorts by when it was first retrieved.
Rule 3: a feed that is fetched but has nothing new for `CONTENT_STALE` is `staleContent`, one
        that cannot be fetched or read is `error`; an empty feed is not an error. One that nobody
        reads any more is `stale`, which only shows when somebody looks.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import attrs
from attrs import frozen

from svc_core import data, ids
from svc_core.analysis.sentiment import sentiment
from svc_core.analysis.topics import assign
from svc_core.egress import is_loopback
from svc_core.resources.news import (
    SUMMARY_MAX,
    HealthError,
    HealthStatus,
    NewsItem,
    NewsSource,
    NewsText,
    Sentiment,
    Source,
    SourceHealth,
    TopicActivity,
)
from svc_core.sources import FeedItem, ParsedFeed, Rejection
from svc_core.text.language import guess

PROVIDER = "feed"
CONTENT_STALE = timedelta(days=7)  # spared from flapping: weekly feeds are not broken
STALE_INTERVALS = 2  # one missed run may be a restart, two are nobody at work
BACKOFF_MAX = timedelta(hours=24)
ACTIVITY_HOURS = 48
ACTIVITY_NAMES_MAX = 500  # sources or languages remembered for one topic


@frozen
class Incoming:
    """One item on its way into the store: its row and its words."""

    item: NewsItem
    words: NewsText


# -- items -------------------------------------------------------------------------------------


def incoming(source: Source, parsed: ParsedFeed, now: datetime) -> tuple[Incoming, ...]:
    """The rows of a parsed document, each once; of those with one permalink the first."""
    rows = [_incoming(source, parsed, item, now) for item in parsed.items]
    return tuple({row.item.id: row for row in reversed(rows)}.values())[::-1]


def _incoming(source: Source, parsed: ParsedFeed, item: FeedItem, now: datetime) -> Incoming:
    stated = item.language or parsed.language or source.language
    language = stated or guess(f"{item.title} {item.summary}")
    words = item.text or item.summary
    tone = sentiment(item.title, item.summary, language)
    row = NewsItem(
        id=ids.derived_id("obs", "news", *_identity(source, item)),
        title=item.title,
        summary=item.summary[:SUMMARY_MAX],
        url=item.url,
        sentiment=Sentiment(None, None) if tone is None else Sentiment(tone.label, tone.value),
        published_at=item.published_at,
        published_basis=item.published_basis,
        updated_at=item.updated_at,
        retrieved_at=now,
        source=NewsSource(source.id, source.name, source.domain, source.country_code),
        language=language,
        authors=item.authors,
        topics=assign(item.title, words, item.categories, source.topics, language=language),
        image_url=item.image_url,
        source_url=item.source_url,
    )
    return Incoming(row, NewsText(row.id, now, row.title, words, language))


def _identity(source: Source, item: FeedItem) -> tuple[str, str]:
    """By what an item is known: its publisher and permalink, else its source and natural key."""
    if item.url is not None and item.natural_key == item.url:
        page, location = urlsplit(item.url), urlsplit(source.location)
        host, own = _bare(page.hostname), _bare(location.hostname)
        if own in ("", host) or is_loopback(own) or host.endswith(f".{own}"):
            address = page._replace(scheme="", netloc="", path=page.path.rstrip("/")).geturl()
            return f"{PROVIDER}:{host}", address
    return f"{PROVIDER}:{source.id}", item.natural_key


def _bare(host: str | None) -> str:
    return (host or "").removeprefix("www.")


def settle(old: NewsItem, new: NewsItem) -> NewsItem | None:
    """The row to write over `old`, or None when nothing new was said.

    Of two sources that tell one item, the one that changed it last tells it, of as late ones the
    one with the lower id: whichever is read first.
    """
    if old.source.id != new.source.id and _later(old, new) is old:
        return None
    merged = attrs.evolve(new, retrieved_at=old.retrieved_at, story_id=old.story_id)
    return None if merged == old else merged


def _later(left: NewsItem, right: NewsItem) -> NewsItem:
    def stamp(item: NewsItem) -> tuple[float, str]:
        at = item.updated_at or item.published_at
        return (0.0 if at is None else -at.timestamp(), item.source.id)

    return min(left, right, key=stamp)


def zones(source: Source) -> tuple[ZoneInfo | None, ZoneInfo | None]:
    """The zone of a source's dates without one, and the only zone of its country, as known."""
    named, only = source.timezone, _only_zones().get(source.country_code or "")
    return ((named and ZoneInfo(named)) or None, (only and ZoneInfo(only)) or None)


@cache
def _only_zones() -> Mapping[str, str]:
    return dict(line.split("\t") for line in data.lines("zones.tsv"))


def words_of(row: NewsItem, incoming: Incoming) -> NewsText:
    """The words that stand beside `row`: found by when it was first taken in."""
    words = incoming.words
    if words.taken_at == row.retrieved_at:
        return words
    return attrs.evolve(words, taken_at=row.retrieved_at)


# -- sources and their health ------------------------------------------------------------------


def source_id(location: str) -> str:
    """The id of the source at `location`: adding it twice makes one."""
    return ids.derived_id("src", "source", PROVIDER, location)


def domain(location: str, home_url: str | None) -> str:
    """The host that publishes it, without `www.`; empty for a file that names no home."""
    for address in (home_url, location):
        host = urlsplit(address or "").hostname
        if host:
            return _bare(host)
    return ""


def described(source: Source, parsed: ParsedFeed) -> Source:
    """The source with what its document says of itself, where nobody said otherwise."""
    home = source.home_url or parsed.home_url
    return attrs.evolve(
        source,
        name=source.name or parsed.title or source.location,
        home_url=home,
        domain=domain(source.location, home),
        format=parsed.format,
        language=source.language or parsed.language,
    )


def begun(source: Source) -> Source:
    """While a document is written in parts, and after one that was never finished."""
    return attrs.evolve(source, health=attrs.evolve(source.health, status="partial"))


def succeeded(
    source: Source, now: datetime, *, taken: int, rejections: Sequence[Rejection], new: bool
) -> Source:
    """After a run that could read its document; `taken` items, `new` when it brought any news."""
    before = source.health
    content_at = now if new else before.last_content_at
    frozen_since = content_at or source.created_at
    rejected = sum(rejection.count for rejection in rejections)
    status: HealthStatus = "partial" if rejected else "ok"
    if now - frozen_since > CONTENT_STALE:
        status = "staleContent"
    health = SourceHealth(
        status=status,
        last_attempt_at=now,
        last_success_at=now,
        last_content_at=content_at,
        items_last_run=taken,
        rejected_last_run=rejected,
        rejections=tuple(rejections),
        next_attempt_at=now + timedelta(seconds=source.cadence_seconds),
    )
    return attrs.evolve(source, health=health)


def unchanged(source: Source, now: datetime) -> Source:
    """After a run that found the document which is known already.

    What is known of that document stays: its rejected rows are still rejected.
    """
    return succeeded(source, now, taken=0, rejections=source.health.rejections, new=False)


def failed(source: Source, now: datetime, code: str, message: str, status: int | None) -> Source:
    """After a run that could not fetch or read its document; attempts grow rarer."""
    before = source.health
    failures = before.consecutive_failures + 1
    wait = timedelta(seconds=source.cadence_seconds) * 2 ** min(failures - 1, 10)
    health = attrs.evolve(
        before,
        status="error",
        last_attempt_at=now,
        consecutive_failures=failures,
        items_last_run=0,
        rejected_last_run=0,
        rejections=(),
        http_status=status,
        next_attempt_at=now + min(wait, BACKOFF_MAX),
        error=HealthError(code, message),
    )
    return attrs.evolve(source, health=health)


def seen(source: Source, now: datetime) -> Source:
    """The source as it is shown: `stale` when nobody has read it for a while after it was due."""
    due = source.health.next_attempt_at
    grace = timedelta(seconds=source.cadence_seconds) * STALE_INTERVALS
    if source.health.status in {"error", "neverRun"} or due is None or now - due <= grace:
        return source
    return attrs.evolve(source, health=attrs.evolve(source.health, status="stale"))


# -- topics ------------------------------------------------------------------------------------


def _hour(instant: datetime) -> int:
    return int(instant.timestamp()) // 3600


def active(before: TopicActivity, items: Iterable[NewsItem], now: datetime) -> TopicActivity:
    """What a topic has seen once these new items are in it."""
    fresh = list(items)
    hours = dict(before.hours)
    for item in fresh:
        hour = _hour(item.seen_at)
        hours[hour] = hours.get(hour, 0) + 1
    oldest = _hour(now) - ACTIVITY_HOURS
    moments = [before.last_item_at, *(item.seen_at for item in fresh)]
    return TopicActivity(
        id=before.id,
        hours=tuple(sorted((hour, n) for hour, n in hours.items() if hour > oldest)),
        languages=_grown(before.languages, (item.language for item in fresh)),
        sources=_grown(before.sources, (item.source.id for item in fresh)),
        last_item_at=max(filter(None, moments), default=None),
    )


def _grown(known: tuple[str, ...], more: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({*known, *(name for name in more if name)}))[:ACTIVITY_NAMES_MAX]


def items_last_day(activity: TopicActivity, now: datetime) -> int:
    """How many items a topic saw in the 24 hours before `now`, by whole hours."""
    return sum(count for hour, count in activity.hours if _hour(now) - 24 < hour <= _hour(now))
