"""How a document comes into the store: what the fetcher and the command line ask of the core.

Rule 1: a source is added once, by its location; adding it again changes only what is said anew.
Rule 2: a document is written in parts, each a short unit of work: some items with their words and
        the activity of their topics. Its source is `partial` from the first of them on; the last
        one says how the run went and what the document is known by. What was cut off before that
        is read again, and goes on with what is not stored yet.
Rule 3: what costs time (reading, judging, making the records) is done before that unit begins,
        so that other writers wait for the writing alone.
Rule 4: a source is claimed before it is read, so that two workers do not read it at once. One that
        dies leaves it to be read later, one that is told to end to be read at once.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs
from attrs import field, frozen

from svc_core import corpus, problem, schedule
from svc_core.analysis.topics import TOPIC_IDS
from svc_core.news import rules
from svc_core.operation import Context
from svc_core.ports import Collection, Document, Record
from svc_core.problem import Problem
from svc_core.resources.news import (
    NEWS,
    NEWS_TEXTS,
    SOURCES,
    TOPIC_ACTIVITY,
    UNGROUPED,
    NewsItem,
    NewsText,
    Source,
    TopicActivity,
    Ungrouped,
)
from svc_core.sources import ParsedFeed

CADENCE_SECONDS = 900  # most publishers ask readers not to come more than four times an hour
CADENCE_SECONDS_MIN = 60
CADENCE_SECONDS_MAX = 7 * 86_400


@frozen
class SourceWish:
    """A source as a person names it; what is None is taken from the document or the defaults."""

    location: str
    name: str | None = None
    topics: tuple[str, ...] | None = None
    cadence_seconds: int | None = None
    country_code: str | None = None
    timezone: str | None = None


async def add_source(ctx: Context, wish: SourceWish) -> Source:
    """The source at a location, new or known.

    Raises:
        Problem: VALIDATION_FAILED for an unknown topic or zone, or a cadence out of bounds.
    """
    check(wish)
    known = await ctx.find(SOURCES, rules.source_id(wish.location))
    source = _wished(known or _new(wish.location, ctx.now), wish)
    return source if source == known else await save_source(ctx, source)


def check(wish: SourceWish) -> None:
    """Pass a wish that may become a source.

    Raises:
        Problem: VALIDATION_FAILED.
    """
    faults = _faults(wish)
    if faults:
        raise Problem(problem.VALIDATION_FAILED, "; ".join(faults))


def _faults(wish: SourceWish) -> list[str]:
    faults = [
        f"topics: {topic!r} is not one of the topics, such as economy"
        for topic in wish.topics or ()
        if topic not in TOPIC_IDS
    ]
    if wish.timezone is not None and not schedule.is_zone(wish.timezone):
        faults.append("timezone: must be an IANA time zone such as Europe/Paris")
    seconds = wish.cadence_seconds
    if seconds is not None and not CADENCE_SECONDS_MIN <= seconds <= CADENCE_SECONDS_MAX:
        bounds = f"{CADENCE_SECONDS_MIN} to {CADENCE_SECONDS_MAX}"
        faults.append(f"cadenceSeconds: must be {bounds} seconds")
    return faults


def _new(location: str, now: datetime) -> Source:
    return Source(
        id=rules.source_id(location),
        location=location,
        name="",
        home_url=None,
        domain=rules.domain(location, None),
        format=None,
        language=None,
        country_code=None,
        topics=(),
        cadence_seconds=CADENCE_SECONDS,
        created_at=now,
    )


def _wished(source: Source, wish: SourceWish) -> Source:
    changed = attrs.evolve(
        source,
        name=source.name if wish.name is None else wish.name,
        topics=source.topics if wish.topics is None else wish.topics,
        cadence_seconds=wish.cadence_seconds or source.cadence_seconds,
        country_code=wish.country_code or source.country_code,
        timezone=wish.timezone or source.timezone,
    )
    if attrs.evolve(changed, cadence_seconds=source.cadence_seconds) == source:
        return changed
    # Items carry the rest: without its validators the document is read again as if it were new.
    return attrs.evolve(changed, etag=None, last_modified=None, digest=None)


async def remove_sources(ctx: Context, ids: Sequence[str]) -> None:
    """Forget sources, as far as they are known, so that nobody reads them again.

    Their items stay, with what they say of where they are from. A document that is being read at
    this moment is not written. Adding the location again makes the same source anew.
    """
    for id_ in await ctx.find_many(SOURCES, ids):
        await ctx.remove(SOURCES, id_)


async def claim(
    ctx: Context, seen: Sequence[Document[Source]], until: datetime
) -> tuple[Source, ...]:
    """Put due sources off, for this worker to read: those that are as they were seen."""
    stored = await ctx.tx.documents.get_many(SOURCES, [row.id for row in seen])
    due = [row for row in seen if row.id in stored and stored[row.id].version == row.version]
    return tuple([await _due(ctx, SOURCES.decode(row.raw), until) for row in due])


async def release(ctx: Context, ids: Sequence[str], until: datetime) -> None:
    """Let others read at once what was claimed until then and is not read."""
    for source in (await ctx.find_many(SOURCES, ids)).values():
        if source.health.next_attempt_at == until:
            await _due(ctx, source, ctx.now)


async def _due(ctx: Context, source: Source, at: datetime) -> Source:
    health = attrs.evolve(source.health, next_attempt_at=at)
    return await save_source(ctx, attrs.evolve(source, health=health))


async def note_run(ctx: Context, id_: str, outcome: Callable[[Source], Source]) -> Source | None:
    """Change what is known of a source, as it is now; None when it was removed meanwhile."""
    stored = await ctx.find(SOURCES, id_)
    return None if stored is None else await save_source(ctx, outcome(stored))


async def save_source(ctx: Context, source: Source) -> Source:
    """Keep what is known of a source."""
    await ctx.save(SOURCES, source.id, source)
    return source


async def list_sources(ctx: Context, *, limit: int) -> tuple[Source, ...]:
    """Sources, those whose next attempt is farthest first."""
    found = await ctx.tx.documents.scan(SOURCES, limit=limit)
    return tuple(rules.seen(SOURCES.decode(row.raw), ctx.now) for row in found.rows)


# -- documents ---------------------------------------------------------------------------------


@frozen
class Taken:
    """What one document brought, or a part of it."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0

    def __add__(self, more: "Taken") -> "Taken":
        """What both brought."""
        mine, theirs = attrs.astuple(self), attrs.astuple(more)
        return Taken(*map(sum, zip(mine, theirs, strict=True)))


async def take_in(
    ctx: Context,
    batch: Sequence[rules.Incoming],
    *,
    news: Collection[NewsItem] = NEWS,
    texts: Collection[NewsText] = NEWS_TEXTS,
) -> Taken:
    """Write rows, all or none; repeated ones write nothing.

    `news` and `texts` are the collections, or forms of them that know the records already.
    """
    created: list[NewsItem] = []
    counts: list[corpus.Change] = []
    updated = 0
    known = await _stored(ctx, batch)
    before = {id_: old.terms for id_, old in (await ctx.find_many(NEWS_TEXTS, known)).items()}
    for incoming in batch:
        stored = known.get(incoming.item.id)
        row = _settled(stored, incoming.item)
        if row is None:
            continue
        known[row.id] = await ctx.save(news, row.id, row, before=stored)
        words = rules.words_of(row, incoming).read()
        await ctx.save(texts, row.id, words)
        await ctx.save(UNGROUPED, row.id, Ungrouped(row.id, words.taken_at))
        counts.append(corpus.Change(row.id, before.get(row.id), words.terms))
        before[row.id] = words.terms
        if stored is None:
            created.append(row)
        else:
            updated += 1
    await corpus.count(ctx, counts)
    await _note_topics(ctx, created)
    return Taken(len(created), updated, len(batch) - len(created) - updated)


async def _stored(ctx: Context, batch: Sequence[rules.Incoming]) -> dict[str, Document[NewsItem]]:
    return await ctx.tx.documents.get_many(NEWS, [incoming.item.id for incoming in batch])


def _settled(stored: Document[NewsItem] | None, item: NewsItem) -> NewsItem | None:
    return item if stored is None else rules.settle(NEWS.decode(stored.raw), item)


async def unseen(ctx: Context, batch: Sequence[rules.Incoming]) -> tuple[rules.Incoming, ...]:
    """The rows of a document that `take_in` would write now."""
    known = await _stored(ctx, batch)
    return tuple(one for one in batch if _settled(known.get(one.item.id), one.item) is not None)


async def _note_topics(ctx: Context, created: Sequence[NewsItem]) -> None:
    by_topic: dict[str, list[NewsItem]] = defaultdict(list)
    for item in created:
        for topic in item.topics:
            by_topic[topic].append(item)
    known = await ctx.find_many(TOPIC_ACTIVITY, by_topic)
    for topic, items in sorted(by_topic.items()):
        before = known.get(topic) or TopicActivity(topic)
        await ctx.save(TOPIC_ACTIVITY, topic, rules.active(before, items, ctx.now))


@frozen
class Copy:
    """By what a document is known again: the server's validators and the digest of its bytes."""

    etag: str | None
    last_modified: str | None
    digest: str


@frozen(eq=False)
class _Made(Collection[Any]):
    """A collection that knows the records of some values beforehand.

    Rendering a row and finding its terms costs ten times what writing it does, and it needs no
    transaction.
    """

    made: Mapping[str, tuple[Any, Record]] = field(kw_only=True)

    def record(self, value: Any) -> Record:
        """The stored form of `value`."""
        known, record = self.made.get(value.id, (None, None))
        if record is not None and known is value:
            return record
        return super().record(value)


def _made(collection: Collection[Any], values: Sequence[Any]) -> _Made:
    declared = {
        member.name: getattr(collection, member.name) for member in attrs.fields(Collection)
    }
    return _Made(**declared, made={row.id: (row, collection.record(row)) for row in values})


@frozen(eq=False)
class Batch:
    """The rows of a document that are to be written, with their records."""

    rows: tuple[rules.Incoming, ...]
    news: Collection[NewsItem]
    texts: Collection[NewsText]

    def cut(self, count: int) -> tuple["Batch", "Batch"]:
        """The first so many rows, and those after them."""
        first, rest = self.rows[:count], self.rows[count:]
        return Batch(first, self.news, self.texts), Batch(rest, self.news, self.texts)


def prepared(rows: Sequence[rules.Incoming]) -> Batch:
    """The rows with everything done that can be done before the transaction."""
    rows = [attrs.evolve(row, words=row.words.read()) for row in rows]
    return Batch(
        rows=tuple(rows),
        news=_made(NEWS, [row.item for row in rows]),
        texts=_made(NEWS_TEXTS, [row.words for row in rows]),
    )


async def take_part(ctx: Context, id_: str, batch: Batch) -> Taken | None:
    """Write rows of a document that has more; None when its source was removed."""
    stored = await ctx.find(SOURCES, id_)
    if stored is None:
        return None
    begun = rules.begun(stored)
    if begun != stored:
        await save_source(ctx, begun)
    return await take_in(ctx, batch.rows, news=batch.news, texts=batch.texts)


async def take_document(
    ctx: Context,
    id_: str,
    parsed: ParsedFeed,
    batch: Batch,
    copy: Copy,
    *,
    before: Taken = Taken(),
) -> Taken | None:
    """Write the last rows of a document and how its source is doing; None when it was removed.

    `batch` holds those items of `parsed` that are not stored as they are; `before` is what the
    parts before it brought. The answer is what all of the document brought.
    """
    stored = await ctx.find(SOURCES, id_)
    if stored is None:
        return None
    taken = before + await take_in(ctx, batch.rows, news=batch.news, texts=batch.texts)
    written = taken.created + taken.updated
    source = attrs.evolve(rules.described(stored, parsed), **attrs.asdict(copy))
    after = rules.succeeded(
        source,
        ctx.now,
        taken=len(parsed.items),
        rejections=parsed.rejections,
        new=written > 0,
    )
    await save_source(ctx, after)
    return attrs.evolve(taken, unchanged=len(parsed.items) - written)
