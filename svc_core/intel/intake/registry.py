"""The registry of sources: adds them by location, claims them for reading, and removes them.

Rule 1: adding a location again changes only what the request states. An option that is stated
        empty is removed.
Rule 2: a worker claims a source before it reads it, by moving its next attempt into the future, so
        that two workers do not read it at once. The claim of a worker that dies runs out; one that
        is shut down releases its claims.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

import attrs
from attrs import field, frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.formats.model import DocumentRefused
from svc_core.formats.table import FORMATS, check_options
from svc_core.intel.folding.model import SOURCES, Source, source_id
from svc_core.intel.intake import health
from svc_core.operation import schedule
from svc_core.operation.context import Context
from svc_core.operation.ports import StoredRow
from svc_core.text.topics import TOPIC_IDS

CADENCE_SECONDS = 900  # most publishers ask readers not to come more than four times an hour
CADENCE_SECONDS_MIN = 60
CADENCE_SECONDS_MAX = 7 * 86_400


@frozen
class SourceWish:
    """What a person states of a source; what is None is taken from the document or the defaults.

    `country_code` and `timezone` are short forms of the options `country` and `timezone`.
    """

    location: str
    name: str | None = None
    topics: Sequence[str] | None = None
    cadence_seconds: int | None = None
    country_code: str | None = None
    timezone: str | None = None
    format: str | None = None
    options: Mapping[str, str] = field(factory=dict)

    @property
    def all_options(self) -> Mapping[str, str]:
        """All its options, the short forms included."""
        short = {"country": self.country_code, "timezone": self.timezone}
        return {name: value for name, value in short.items() if value} | dict(self.options)


async def register_source(ctx: Context, wish: SourceWish) -> Source:
    """Store the source at a location, new or changed.

    Raises:
        Problem: VALIDATION_FAILED, as `check_wish`.
    """
    before = await ctx.find(SOURCES, source_id(wish.location))
    check_wish(wish, before)
    source = _apply_wish(before or _new(wish.location, ctx.now), wish)
    return source if source == before else await save_source(ctx, source)


def check_wish(wish: SourceWish, source: Source | None = None) -> None:
    """Check a wish that is to become a source, or to change the given `source`.

    Raises:
        Problem: VALIDATION_FAILED for an unknown topic, format or option, an option that cannot be
            meant, or a cadence out of bounds.
    """
    faults = [*_faults(wish), *_option_faults(wish, source)]
    if faults:
        raise Problem(problem.VALIDATION_FAILED, "; ".join(faults))


def _faults(wish: SourceWish) -> Iterator[str]:
    for topic in wish.topics or ():
        if topic not in TOPIC_IDS:
            yield f"topics: {topic!r} is not one of the topics, such as economy"
    if wish.format is not None and wish.format not in FORMATS:
        yield f"format: {wish.format!r} is none of: {', '.join(FORMATS)}"
    seconds = wish.cadence_seconds
    if seconds is not None and not CADENCE_SECONDS_MIN <= seconds <= CADENCE_SECONDS_MAX:
        yield f"cadenceSeconds: must be {CADENCE_SECONDS_MIN} to {CADENCE_SECONDS_MAX} seconds"


_VALUES: Mapping[str, tuple[Callable[[str], object], str]] = {
    "timezone": (schedule.is_zone, "must be an IANA time zone such as Europe/Paris"),
    "country": (re.compile("[A-Z]{2}").fullmatch, "must be an ISO 3166-1 alpha-2 code such as FR"),
    "tier": (re.compile("[1-4]").fullmatch, "must be 1 (wire or official) to 4"),
    "stateAffiliated": (re.compile("true|false").fullmatch, "must be true or false"),
}
"""Checks of option values, for options that do not take any text, with what to say."""


def _option_faults(wish: SourceWish, source: Source | None) -> Iterator[str]:
    for name, value in wish.all_options.items():
        fits, rule = _VALUES.get(name, (bool, ""))
        if value and not fits(value):
            yield f"options: {name} {rule}" if name in wish.options else f"{name}: {rule}"
    format_ = FORMATS.get(wish.format or (source and source.format) or "")
    if format_ is not None and (wish.format or wish.all_options):
        try:
            check_options(format_, _options(source, wish))
        except DocumentRefused as fault:
            yield f"options: {fault.reason}"


def _new(location: str, now: datetime) -> Source:
    return Source(
        id=source_id(location),
        location=location,
        domain=health.domain(location, None),
        cadence_seconds=CADENCE_SECONDS,
        created_at=now,
    )


def _options(source: Source | None, wish: SourceWish) -> Mapping[str, str]:
    options = {**(source.options if source else {}), **wish.all_options}
    return {name: value for name, value in options.items() if value}


def _apply_wish(source: Source, wish: SourceWish) -> Source:
    options = _options(source, wish)
    format_ = wish.format or source.format
    every = wish.cadence_seconds or source.every_seconds
    cadence = source.cadence_seconds
    if format_ is not None and format_ != source.format:
        cadence = FORMATS[format_].cadence_seconds
    changed_source = attrs.evolve(
        source,
        name=source.name if wish.name is None else wish.name,
        topics=source.topics if wish.topics is None else tuple(wish.topics),
        cadence_seconds=every or cadence,
        every_seconds=every,
        country_code=options.get("country", source.country_code),
        timezone=options.get("timezone", source.timezone),
        format=format_,
        options=options,
    )
    same_pace = attrs.evolve(
        changed_source, cadence_seconds=source.cadence_seconds, every_seconds=source.every_seconds
    )
    # Rows carry the rest: without its validators the document is read again as if it were new.
    return changed_source if same_pace == source else without_validators(changed_source)


def without_validators(source: Source) -> Source:
    """The source without validators and digests, so that its next document is processed anew."""
    return attrs.evolve(source, etag=None, last_modified=None, digest=None, stamp=None, deltas=())


def asks_same(before: Source, now: Source) -> bool:
    """Whether two states of a source read a document into the same rows."""
    return all(getattr(before, name) == getattr(now, name) for name in _READING_MEMBERS)


_READING_MEMBERS = ("name", "topics", "country_code", "timezone", "options")


async def remove_sources(ctx: Context, ids: Sequence[str]) -> None:
    """Remove the known ones of these sources, so that they are read no more.

    Their rows stay, with their provenance. A document that is being read at this moment is not
    written. Adding the location again makes the same source anew.
    """
    for id_ in await ctx.find_many(SOURCES, ids):
        await ctx.remove(SOURCES, id_)


async def change_sources(
    ctx: Context, ids: Sequence[str], change: Callable[[Source], Source]
) -> list[Source]:
    """Change the known ones of these sources; returns them as they are then."""
    sources = (await ctx.find_many(SOURCES, ids)).values()
    return [await _save_change(ctx, source, change(source)) for source in sources]


async def _save_change(ctx: Context, before: Source, after: Source) -> Source:
    return before if after == before else await save_source(ctx, after)


async def claim_sources(
    ctx: Context, candidates: Sequence[StoredRow[Source]], until: datetime
) -> tuple[Source, ...]:
    """Claim due sources for this worker until a time: those that nobody changed since."""
    documents = await ctx.tx.documents.get_many(SOURCES, [row.id for row in candidates])
    due = [
        row
        for row in candidates
        if row.id in documents and documents[row.id].version == row.version
    ]
    return tuple(await change_sources(ctx, [row.id for row in due], partial(_due_at, at=until)))


async def hold_sources(ctx: Context, ids: Sequence[str], until: datetime) -> None:
    """Claim sources until a time, for a caller who reads them now, due or not."""
    await change_sources(ctx, ids, partial(_due_at, at=until))


async def release_sources(ctx: Context, ids: Sequence[str], until: datetime) -> None:
    """Release claims that run until this time: the sources are due at once."""

    def released(source: Source) -> Source:
        is_ours = source.health.next_attempt_at == until
        return _due_at(source, ctx.now) if is_ours else source

    await change_sources(ctx, ids, released)


def _due_at(source: Source, at: datetime) -> Source:
    return attrs.evolve(source, health=attrs.evolve(source.health, next_attempt_at=at))


async def note_run(ctx: Context, id_: str, outcome: Callable[[Source], Source]) -> Source | None:
    """Record the outcome of a run in its source; None where it was removed meanwhile."""
    return next(iter(await change_sources(ctx, [id_], outcome)), None)


async def save_source(ctx: Context, source: Source) -> Source:
    """Store a source."""
    await ctx.save(SOURCES, source.id, source)
    return source


async def stored_sources(ctx: Context, *, limit: int) -> tuple[Source, ...]:
    """Sources with their health as of now, those with the latest next attempt first."""
    page = await ctx.tx.documents.scan(SOURCES, limit=limit)
    return tuple(health.with_staleness(SOURCES.decode(row.raw), ctx.now) for row in page.rows)


@frozen
class DocumentValidators:
    """What recognises a document: the server's validators and the digest of its bytes."""

    etag: str | None
    last_modified: str | None
    digest: str
