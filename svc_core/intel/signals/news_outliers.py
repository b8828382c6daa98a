"""Finds outliers in the news: unusual volume or tone of a topic, and sources that fell silent."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from svc_core.base import instants
from svc_core.intel.folding.model import SOURCES, Source
from svc_core.intel.news.model import NEWS, NewsItem
from svc_core.intel.signals.detection_queue import day_key
from svc_core.intel.signals.detectors import (
    DETECTORS,
    DIGITS,
    SOURCES_MAX,
    Judgement,
    signal_evidence,
    signal_id,
    signal_of,
)
from svc_core.intel.signals.deviation import highest_threshold, spread
from svc_core.intel.signals.model import Signal, SignalType
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import StoredRow
from svc_core.operation.source_members import SourceRef

ROWS_MAX = 500  # of one day, or of the days after it
SOURCES_CHECKED_MAX = 40  # of one window, that are checked for earlier items
_HOUR, _DAY, _MICRO = timedelta(hours=1), timedelta(days=1), timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Item(NamedTuple):
    """The members of a news item that detectors need.

    A topic has hundreds of items a day, and two detectors read them: decoding whole rows is slow.
    """

    id: str
    at: datetime
    source_id: str
    tone: float | None
    story_id: str | None
    raw: bytes

    @property
    def ref(self) -> SourceRef:
        """The item as a source reference."""
        return NEWS.decode(self.raw).ref


def _item(row: StoredRow[NewsItem]) -> _Item | None:
    """The members of a row that detectors need; None for an item without a date of its own."""
    members = json.loads(row.raw)
    date = members["publishedAt"] or members["updatedAt"]
    if date is None:
        return None
    at, tone = instants.parse(date), members["sentiment"]["value"]
    return _Item(row.id, at, members["source"]["id"], tone, members["storyId"], row.raw)


# -- topics of news ----------------------------------------------------------------------------


async def topic_signals(ctx: Context, key: str) -> Judgement:
    """The signals of a topic's news on one day (UTC), by the topic and the day.

    An item also counts as usual for the days after its own, which are to be judged again.
    """
    topic, _, date = key.partition("|")
    start = instants.parse(f"{date}T00:00:00Z")
    day = await _items(ctx, topic, start, start + _DAY)
    signals = [*await _shift(ctx, topic, start, day)]
    windows: dict[int, list[_Item]] = defaultdict(list)
    hours = DETECTORS["volumeSpike"].numbers["windowHours"]
    for item in day:
        windows[item.at.hour // hours * hours].append(item)
    for hour, items in windows.items():
        signals += await _spike(ctx, topic, start + hour * _HOUR, items)
    names = (signal_id("volumeSpike", f"{key}T{hour:02}") for hour in range(0, 24, hours))
    return Judgement(signals, (signal_id("toneShift", key), *names))


async def later_days(ctx: Context, key: str) -> list[str]:
    """The days of a topic after this one for which its items tell what is usual.

    Where so much is published that not all of it is looked at, these are all days in reach.
    """
    topic, _, date = key.partition("|")
    numbers = DETECTORS["volumeSpike"].numbers
    start = instants.parse(f"{date}T00:00:00Z") + _DAY
    page = await ctx.tx.documents.scan(
        NEWS,
        where={"topics": (topic,)},
        start=micros(start),
        end=micros(start + numbers["historyDays"][1] * _DAY),
        limit=ROWS_MAX,
    )
    if page.has_more:
        return [day_key(topic, start + n * _DAY) for n in range(numbers["historyDays"][1])]
    days = Counter(day_key(topic, _EPOCH + row.order * _MICRO) for row in page.rows)
    return sorted(day for day, count in days.items() if count >= numbers["itemsMin"])


async def _items(
    ctx: Context, topic: str, start: datetime, end: datetime, limit: int = ROWS_MAX
) -> list[_Item]:
    """The newest items of a topic whose own date lies at `start` or after and before `end`."""
    page = await ctx.tx.documents.scan(
        NEWS, where={"topics": (topic,)}, start=micros(start), end=micros(end) - 1, limit=limit
    )
    items = filter(None, map(_item, page.rows))
    return [item for item in items if start <= item.at < end]


async def _spike(ctx: Context, topic: str, start: datetime, items: Sequence[_Item]) -> list[Signal]:
    """A signal where known sources published more items than usual in the window from `start`.

    The measure is the count as a multiple of the threshold.
    """
    numbers = DETECTORS["volumeSpike"].numbers
    window, back = numbers["windowHours"] * _HOUR, numbers["baselineDays"] * _DAY
    if len(items) < numbers["itemsMin"]:
        return []
    regulars = await _regular_sources(ctx, topic, items, start)
    recent = [item for item in items if item.source_id in regulars]
    before = await ctx.tx.documents.count(
        NEWS,
        where={"topics": (topic,)},
        start=micros(start - back),
        end=micros(start) - 1,
        limit=round(len(recent) * back / window / numbers["factor"]) + 1,
    )
    usual = before * window / back
    threshold = max(numbers["itemsMin"], numbers["factor"] * usual)
    if len(recent) < threshold or len(regulars) < numbers["sourcesMin"]:
        return []
    title = f"{topic}: {len(recent)} items in {numbers['windowHours']} hours"
    evidence = signal_evidence(
        len(recent), round(usual, DIGITS), start, recent[0].at, threshold=threshold
    )
    key = f"{day_key(topic, start)}T{start:%H}"
    extras = {"direction": "up", "measure": len(recent) / threshold, "evidence": evidence}
    return [_topic_signal("volumeSpike", key, title, topic, recent, **extras)]


async def _regular_sources(
    ctx: Context, topic: str, items: Sequence[_Item], start: datetime
) -> set[str]:
    """The sources of these items that published about the topic well before this time."""
    newest, oldest = (
        start - days * _DAY for days in DETECTORS["volumeSpike"].numbers["historyDays"]
    )
    ids = list(dict.fromkeys(item.source_id for item in items))[:SOURCES_CHECKED_MAX]
    span: Any = {"start": micros(oldest), "end": micros(newest), "limit": 1}
    return {
        id_
        for id_ in ids
        if await ctx.tx.documents.count(NEWS, where={"source": (id_,), "topics": (topic,)}, **span)
    }


async def _shift(ctx: Context, topic: str, start: datetime, day: Sequence[_Item]) -> list[Signal]:
    """A signal where the mean tone of a day differs from that of the week before.

    The measure is the difference in standard deviations.
    """
    numbers = DETECTORS["toneShift"].numbers
    with_tone = [item for item in day if item.tone is not None]
    sources = {item.source_id for item in with_tone}
    if len(with_tone) < numbers["itemsMin"] or len(sources) < numbers["sourcesMin"]:
        return []
    since = start - numbers["baselineDays"] * _DAY
    usual = spread(_tones(await _items(ctx, topic, since, start, numbers["samplesMax"])))
    mean = spread(_tones(with_tone)).mean
    z_score = usual.z_score(mean, len(with_tone))
    threshold = highest_threshold(numbers["thresholds"], z_score)
    means = f"{usual.mean:+.2f}", f"{mean:+.2f}"
    is_seen = usual.count >= numbers["samplesMin"] and means[0] != means[1]
    if not is_seen or z_score is None or threshold is None:
        return []
    title = f"{topic}: mean sentiment {means[0]} to {means[1]}"
    evidence = signal_evidence(
        round(mean, DIGITS), round(usual.mean, DIGITS), start, with_tone[0].at,
        threshold=threshold, z_score=z_score,
    )  # fmt: skip
    direction = "up" if z_score > 0 else "down"
    extras = {"direction": direction, "measure": abs(z_score), "evidence": evidence}
    key = day_key(topic, start)
    return [_topic_signal("toneShift", key, title, topic, with_tone, **extras)]


def _tones(items: Sequence[_Item]) -> Iterator[float]:
    return (item.tone for item in items if item.tone is not None)


def _topic_signal(
    type_: SignalType, key: str, title: str, topic: str, items: Sequence[_Item], **members: Any
) -> Signal:
    items = sorted(items, key=lambda item: (item.at, item.id), reverse=True)
    publishers = {item.source_id: item for item in reversed(items)}
    return signal_of(
        type_,
        key,
        title,
        tags=(topic,),
        sources=[item.ref for item in list(publishers.values())[:SOURCES_MAX]],
        source_count=len(publishers),
        observation_ids=[item.id for item in items],
        incident_ids=tuple(dict.fromkeys(item.story_id for item in items if item.story_id))[:20],
        **members,
    )


# -- sources -----------------------------------------------------------------------------------


async def source_silences(ctx: Context, ids: Sequence[str]) -> list[Signal]:
    """The signals of regular sources that were read and had nothing new for unusually long."""
    signals: list[Signal] = []
    limit = DETECTORS["sourceSilence"].numbers["samplesMax"] + 1
    for source in (await ctx.find_many(SOURCES, ids)).values():
        page = await ctx.tx.documents.scan(NEWS, where={"source": (source.id,)}, limit=limit)
        items = [item for item in map(_item, page.rows) if item is not None]
        if urlsplit(source.location).scheme in {"http", "https"} and items:
            signals += _silence(source, items)
    return [signal for signal in signals if signal.expires_at and signal.expires_at > ctx.now]


def _silence(source: Source, items: Sequence[_Item]) -> Iterator[Signal]:
    """A signal where a source's silence exceeds its usual gaps.

    The measure is the length of the silence as a multiple of the threshold.
    """
    numbers = DETECTORS["sourceSilence"].numbers
    times = sorted({item.at for item in items})
    gaps = [(after - before) / _HOUR for before, after in pairwise(times)]
    usual, read_at, last = spread(gaps), source.health.last_success_at, times[-1]
    if usual.count < numbers["samplesMin"] or read_at is None:
        return
    threshold = max(
        numbers["hoursMin"],
        numbers["longestGapFactor"] * max(gaps),
        usual.mean + numbers["zMin"] * usual.deviation,
    )
    silence = (read_at - last) / _HOUR
    if silence < threshold:
        return
    z_score = usual.z_score(silence)
    hours, mean, least = (round(number, DIGITS) for number in (silence, usual.mean, threshold))
    yield signal_of(
        "sourceSilence",
        f"{source.id}|{instants.render(last)}",
        f"{items[0].ref.name} has published nothing new",
        signal_evidence(
            hours, mean, last, last + threshold * _HOUR, threshold=least, z_score=z_score
        ),
        direction="down",
        measure=silence / threshold,
        sources=(items[0].ref,),
        observation_ids=(items[0].id,),
    )
