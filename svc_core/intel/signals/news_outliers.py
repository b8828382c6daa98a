"""Finds outliers in the news: unusual volume or tone of a topic, and sources that fell silent."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from svc_core.base.instants import render
from svc_core.intel.folding.model import SOURCES, Source
from svc_core.intel.news.model import NEWS, NewsItem
from svc_core.intel.signals.detectors import (
    DETECTORS,
    DIGITS,
    SOURCES_MAX,
    signal_evidence,
    signal_of,
)
from svc_core.intel.signals.model import Signal, SignalType
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import StoredRow
from svc_core.operation.source_members import SourceRef
from svc_core.text.deviation import highest_threshold, spread

ROWS_MAX = 500  # of one window
SOURCES_CHECKED_MAX = 40  # of one topic, that are checked for earlier items
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
    if not (members["publishedAt"] or members["updatedAt"]):
        return None
    at, tone = _EPOCH + row.order * _MICRO, members["sentiment"]["value"]
    return _Item(row.id, at, members["source"]["id"], tone, members["storyId"], row.raw)


# -- topics of news ----------------------------------------------------------------------------


async def topic_signals(ctx: Context, topic: str) -> list[Signal]:
    """The signals of a topic's news, judged over the day that ends with its newest item."""
    newest = await _items(ctx, topic, None, None, SOURCES_CHECKED_MAX)
    if not newest:
        return []
    end = newest[0].at
    day = await _items(ctx, topic, end - _DAY, end)
    return [*await _spike(ctx, topic, end, day), *await _shift(ctx, topic, end, day)]


async def _items(
    ctx: Context, topic: str, start: datetime | None, end: datetime | None, limit: int = ROWS_MAX
) -> list[_Item]:
    """The newest items of a topic that have a date, after `start` and not after `end`."""
    page = await ctx.tx.documents.scan(
        NEWS,
        where={"topics": (topic,)},
        start=None if start is None else micros(start) + 1,
        end=None if end is None else micros(end),
        limit=limit,
    )
    return [item for item in map(_item, page.rows) if item is not None]


async def _spike(ctx: Context, topic: str, end: datetime, day: Sequence[_Item]) -> list[Signal]:
    """A signal where known sources published more items than usual.

    The measure is the count as a multiple of the threshold.
    """
    numbers = DETECTORS["volumeSpike"].numbers
    window, back = numbers["windowHours"] * _HOUR, numbers["baselineDays"] * _DAY
    start = end - window
    recent = [item for item in day if item.at > start]
    if len(recent) < numbers["itemsMin"]:
        return []
    regulars = await _regular_sources(ctx, recent, start - numbers["historyDays"] * _DAY)
    recent = [item for item in recent if item.source_id in regulars]
    before = await ctx.tx.documents.count(
        NEWS,
        where={"topics": (topic,)},
        start=micros(start - back) + 1,
        end=micros(start),
        limit=round(len(recent) * back / window / numbers["factor"]) + 1,
    )
    usual = before * window / back
    threshold = max(numbers["itemsMin"], numbers["factor"] * usual)
    if len(recent) < threshold or len(regulars) < numbers["sourcesMin"]:
        return []
    minute = end.minute - end.minute % numbers["cooldownMinutes"]
    key = f"{topic}|{end:%Y-%m-%dT%H}:{minute:02}"
    title = f"{topic}: {len(recent)} items in {numbers['windowHours']} hours"
    evidence = signal_evidence(len(recent), round(usual, DIGITS), start, end, threshold=threshold)
    extras = {"direction": "up", "measure": len(recent) / threshold, "evidence": evidence}
    return [_topic_signal("volumeSpike", key, title, topic, recent, **extras)]


async def _regular_sources(ctx: Context, items: Sequence[_Item], before: datetime) -> set[str]:
    """The sources of these items that had published anything before this time."""
    ids = list(dict.fromkeys(item.source_id for item in items))[:SOURCES_CHECKED_MAX]
    regulars = set()
    for id_ in ids:
        key = {"source": (id_,)}
        if await ctx.tx.documents.count(NEWS, where=key, end=micros(before), limit=1):
            regulars.add(id_)
    return regulars


async def _shift(ctx: Context, topic: str, end: datetime, day: Sequence[_Item]) -> list[Signal]:
    """A signal where the mean tone of a day differs from that of the week before.

    The measure is the difference in standard deviations.
    """
    numbers = DETECTORS["toneShift"].numbers
    with_tone = [item for item in day if item.tone is not None]
    sources = {item.source_id for item in with_tone}
    if len(with_tone) < numbers["itemsMin"] or len(sources) < numbers["sourcesMin"]:
        return []
    start = end - numbers["windowHours"] * _HOUR
    since = start - numbers["baselineDays"] * _DAY
    usual = spread(_tones(await _items(ctx, topic, since, start, numbers["samplesMax"])))
    mean = spread(_tones(with_tone)).mean
    z_score = usual.z_score(mean, len(with_tone))
    threshold = highest_threshold(numbers["thresholds"], z_score)
    if usual.count < numbers["samplesMin"] or z_score is None or threshold is None:
        return []
    direction = "up" if z_score > 0 else "down"
    key = f"{topic}|{direction}|{end:%Y-%m-%d}"
    title = f"{topic}: mean sentiment {usual.mean:+.2f} to {mean:+.2f}"
    means = round(mean, DIGITS), round(usual.mean, DIGITS)
    evidence = signal_evidence(*means, start, end, threshold=threshold, z_score=z_score)
    extras = {"direction": direction, "measure": abs(z_score), "evidence": evidence}
    return [_topic_signal("toneShift", key, title, topic, with_tone, **extras)]


def _tones(items: Sequence[_Item]) -> Iterator[float]:
    return (item.tone for item in items if item.tone is not None)


def _topic_signal(
    type_: SignalType, key: str, title: str, topic: str, items: Sequence[_Item], **members: Any
) -> Signal:
    publishers = {item.source_id: item for item in reversed(items)}
    return signal_of(
        type_,
        key,
        title,
        items[0].at,
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
        f"{source.id}|{render(last)}",
        f"{items[0].ref.name} has published nothing new",
        last + threshold * _HOUR,
        direction="down",
        measure=silence / threshold,
        evidence=signal_evidence(hours, mean, last, read_at, threshold=least, z_score=z_score),
        sources=(items[0].ref,),
        observation_ids=(items[0].id,),
    )
