"""Sources: added once by their location, claimed before they are read, and let go.

Rule 1: adding a location again changes only what is said anew.
Rule 2: a source is claimed before it is read, so that two workers do not read it at once. One that
        dies leaves it to be read later, one that is told to end to be read at once.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import attrs
from attrs import field, frozen

from svc_core import problem, schedule
from svc_core.analysis.topics import TOPIC_IDS
from svc_core.intake import health
from svc_core.operation import Context
from svc_core.ports import Document
from svc_core.problem import Problem
from svc_core.resources.news import SOURCES, Source

CADENCE_SECONDS = 900  # most publishers ask readers not to come more than four times an hour
CADENCE_SECONDS_MIN = 60
CADENCE_SECONDS_MAX = 7 * 86_400


@frozen
class SourceWish:
    """A source as a person names it; what is None is taken from the document or the defaults."""

    location: str
    name: str | None = None
    topics: Sequence[str] | None = None
    cadence_seconds: int | None = None
    country_code: str | None = None
    timezone: str | None = None
    format: str | None = None
    options: Mapping[str, str] = field(factory=dict)


async def add_source(ctx: Context, wish: SourceWish) -> Source:
    """The source at a location, new or known.

    Raises:
        Problem: VALIDATION_FAILED for an unknown topic or zone, or a cadence out of bounds.
    """
    check(wish)
    known = await ctx.find(SOURCES, health.source_id(wish.location))
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
        id=health.source_id(location),
        location=location,
        name="",
        home_url=None,
        domain=health.domain(location, None),
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
        topics=source.topics if wish.topics is None else tuple(wish.topics),
        cadence_seconds=wish.cadence_seconds or source.cadence_seconds,
        country_code=wish.country_code or source.country_code,
        timezone=wish.timezone or source.timezone,
        format=wish.format or source.format,
        options={**source.options, **wish.options},
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
    due = attrs.evolve(source.health, next_attempt_at=at)
    return await save_source(ctx, attrs.evolve(source, health=due))


async def note_run(ctx: Context, id_: str, outcome: Callable[[Source], Source]) -> Source | None:
    """Change what is known of a source, as it is now; None when it was removed meanwhile."""
    stored = await ctx.find(SOURCES, id_)
    if stored is None:
        return None
    after = outcome(stored)
    return stored if after == stored else await save_source(ctx, after)


async def save_source(ctx: Context, source: Source) -> Source:
    """Keep what is known of a source."""
    await ctx.save(SOURCES, source.id, source)
    return source


async def list_sources(ctx: Context, *, limit: int) -> tuple[Source, ...]:
    """Sources, those whose next attempt is farthest first."""
    found = await ctx.tx.documents.scan(SOURCES, limit=limit)
    return tuple(health.seen(SOURCES.decode(row.raw), ctx.now) for row in found.rows)


@frozen
class Copy:
    """By what a document is known again: the server's validators and the digest of its bytes."""

    etag: str | None
    last_modified: str | None
    digest: str
