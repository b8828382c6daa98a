"""Writing what documents say: contributions, and with them the rows that they change.

Rule 1: a reading that is known writes nothing. One that is older by its source's own stamp than
        what is kept changes nothing either, so documents may come in any order.
Rule 2: what a source takes back is remembered with its stamp, where it has one: an older document
        does not bring it back.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from typing import Any

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.formats.model import About, Record
from svc_core.formats.reading.format import Format
from svc_core.formats.reading.values import at
from svc_core.formats.table import Document as ReadDocument
from svc_core.intel.folding import writing
from svc_core.intel.folding.contributions import (
    CONTRIBUTIONS,
    Contribution,
    PreparedContribution,
    contribution_id,
    ended_source,
    prepare_contribution,
    words_digest,
)
from svc_core.intel.folding.kind import Written
from svc_core.intel.folding.model import SOURCES, Source
from svc_core.intel.folding.writing import Taken
from svc_core.intel.intake import health
from svc_core.intel.intake.kinds import KINDS
from svc_core.intel.news import items
from svc_core.intel.news.model import NEWS, NewsText
from svc_core.intel.signals import changes
from svc_core.operation.context import Context
from svc_core.operation.ports import Position

ROWS_SCANNED = 500  # contributions that are looked at for what is absent
HELD_COUNTED = 1_000_000  # twice as many as one document may bring


@frozen
class Reading:
    """One record on its way into the store, and the JSON of its words.

    Once it is judged, `ready` is its stored form and `words` are those of a news item.
    """

    contribution: Contribution
    worded: bytes = field(repr=False)
    ready: PreparedContribution | None = field(default=None, repr=False)
    words: NewsText | None = None


# -- before the transaction --------------------------------------------------------------------


def reading(source: Source, format_: Format, about: About, record: Record) -> Reading:
    """What a record of a source's document contributes, before it is judged."""
    kind = KINDS[record.resource]
    row = kind.row_id(source, record)
    of_source = source.options.get("provider") or format_.provider
    provider = record.said.get("provider") or of_source or "feed"
    stamp = record.stamp or about.stamp
    names = kind.names(record)
    ref = {
        "id": source.id,
        "provider": provider,
        "name": source.name,
        "url": record.url,
        "recordId": record.record_id,
        "publishedAt": at(record.published_at),
        "license": format_.license,
    }
    said = {"provider": provider, **record.said}
    first: dict[str, Any] = {
        "id": contribution_id(source.id, record.resource, record.key, row),
        "row": row,
        "source": source.id,
        "resource": record.resource,
        "format": format_.id,
        "key": record.key,
        "said": said,
        "ref": ref,
        "names": names,
        "gone": record.gone,
        "raw": record.raw,
    }
    worded = wire.dumps(first)
    return Reading(
        Contribution(
            **first,
            digest=words_digest(worded, kind.context(source)),
            read_at=_EPOCH,
            stamp=stamp,
            since=stamp if names else None,
        ),
        worded,
    )


_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00Z")  # until it is judged


def readings(
    source: Source, document: ReadDocument, records: Iterable[Record], seen: set[str]
) -> list[Reading]:
    """What some records of a document contribute, each once: `seen` are those before them."""
    found = []
    for record in records:
        one = reading(source, document.format, document.about, record)
        if one.contribution.id not in seen:
            seen.add(one.contribution.id)
            found.append(one)
    return found


def judged(source: Source, one: Reading, now: datetime) -> Reading:
    """The reading as it is to be written, first read at `now`."""
    told = one.contribution
    if told.resource == "newsItem" and not told.gone:
        said, words = items.judged(source, told.row, told.said, now)
        told = attrs.evolve(told, said=said, read_at=now)
        return Reading(told, one.worded, prepare_contribution(told), words)
    told = attrs.evolve(told, read_at=now)
    return Reading(told, one.worded, prepare_contribution(told, one.worded))


async def unknown(ctx: Context, readings: Sequence[Reading]) -> list[Reading]:
    """The readings that would write something now."""
    known = await ctx.find_many(CONTRIBUTIONS, [one.contribution.id for one in readings])
    return [one for one in readings if _kept(known.get(one.contribution.id), one.contribution)]


def _kept(before: Contribution | None, told: Contribution) -> Contribution | None:
    """What is kept after a reading; None where that changes nothing."""
    if before is None:
        return None if told.gone and told.stamp is None else told
    if before.stamp is not None and told.stamp is not None:
        since = min(filter(None, (before.since, told.since)), default=None)
        if told.stamp < before.stamp:
            earlier = _later(before.earlier, told)
            is_same = since == before.since and earlier is before.earlier
            return None if is_same else attrs.evolve(before, since=since, earlier=earlier)
        earlier = before.earlier if told.stamp == before.stamp else _later(before.earlier, before)
        if (since, earlier) != (told.since, None):
            told = attrs.evolve(told, since=since, earlier=earlier)
    is_known = (before.digest, before.stamp) == (told.digest, told.stamp)
    return None if is_known else told


def _says(one: Reading, kept: Contribution) -> bool:
    """Whether the words of a reading are those of what is kept, where it stands."""
    told = one.contribution
    is_there = (kept.row, kept.apart) == (told.row, told.apart)
    return is_there and kept.digest == told.digest and kept.resource != "newsItem"


def _later(earlier: Any, told: Contribution) -> Any:
    """The later one of an earlier reading and of what was told of the member that is kept."""
    said = told.said.get(KINDS[told.resource].earlier)
    if said is None or told.stamp is None:
        return earlier
    reading = {"at": at(told.stamp), "said": said}
    return reading if earlier is None or earlier["at"] < reading["at"] else earlier


# -- in the transaction ------------------------------------------------------------------------


async def take(ctx: Context, readings: Sequence[Reading]) -> Taken:
    """Write readings with the rows that they change, all or none; known ones write nothing."""
    known = await ctx.find_many(CONTRIBUTIONS, [one.contribution.id for one in readings])
    after: dict[str, Contribution] = {}
    made: dict[str, PreparedContribution] = {}
    words: dict[str, NewsText] = {}
    for one in readings:
        kept = _kept(known.get(one.contribution.id), one.contribution)
        if kept is None:
            continue
        after[kept.id] = kept
        if one.ready is not None and kept is one.contribution:
            made[kept.id] = one.ready
        elif _says(one, kept):
            made[kept.id] = prepare_contribution(kept, one.worded)
        if one.words is not None:
            words[kept.row] = one.words
    before = {id_: known[id_] for id_ in after if id_ in known}
    brought = await _change(ctx, before, after, made, words)
    written = brought.created + brought.updated + brought.deleted
    return attrs.evolve(brought, unchanged=max(0, len(readings) - written))


async def withdraw(ctx: Context, contributions: Sequence[Contribution]) -> Taken:
    """Take back what a source said of some rows; each is left with what others say."""
    return await _change(ctx, {one.id: one for one in contributions}, {}, {}, {})


async def lapse(ctx: Context, contributions: Sequence[Contribution]) -> Taken:
    """Take back what is no more in a snapshot; of sanctions lists it is kept who was listed."""
    before = {one.id: one for one in contributions}
    after = {
        one.id: attrs.evolve(one, gone=True, digest=0, stamp=None, said=said, raw=None)
        for one in contributions
        if (said := _ended(one))
    }
    return await _change(ctx, before, after, {}, {})


def _ended(one: Contribution) -> dict[str, Any]:
    """The listings of a contribution, which are no more."""
    listings = one.said.get("sanctions") if one.resource == "entity" and not one.gone else None
    return {"sanctions": [each | {"status": "delisted"} for each in listings]} if listings else {}


async def withdraw_items(ctx: Context, source: str, limit: int) -> Taken:
    """Take back some items of a source that nobody contributes to: of before that was kept."""
    left = await ctx.tx.documents.scan(NEWS, where={"source": (source,)}, limit=limit)
    for row in left.rows:
        await ctx.remove(NEWS, row.id)
    await items.follow(ctx, [Written(NEWS.decode(row.raw), None) for row in left.rows])
    return Taken(deleted=len(left.rows))


async def _change(
    ctx: Context,
    before: Mapping[str, Contribution],
    after: Mapping[str, Contribution],
    made: Mapping[str, PreparedContribution],
    words: Mapping[str, Any],
) -> Taken:
    brought = Taken()
    for resource in dict.fromkeys(one.resource for one in (*before.values(), *after.values())):
        was, now = _of(resource, before), _of(resource, after)
        taken, kept = await writing.write(
            ctx, KINDS[resource], was, now, stored_forms=made, words=words
        )
        brought += taken
        await changes.follow(ctx, was, kept)
    return brought


def _of(resource: str, all_: Mapping[str, Contribution]) -> dict[str, Contribution]:
    return {id_: one for id_, one in all_.items() if one.resource == resource}


async def absent(
    ctx: Context, source: str, kept: Set[str], after: Position | None = None
) -> tuple[list[Contribution], Position | None]:
    """Some of what a source contributes that is not among the `kept` ids, and where to go on."""
    return await _some(ctx, (source,), kept, after)


async def contributed(
    ctx: Context, source: str, after: Position | None = None
) -> tuple[list[Contribution], Position | None]:
    """Some of what a source ever contributed, and where to go on."""
    return await _some(ctx, (source, ended_source(source)), frozenset(), after)


async def _some(
    ctx: Context, sources: tuple[str, ...], kept: Set[str], after: Position | None
) -> tuple[list[Contribution], Position | None]:
    page = await ctx.tx.documents.scan(
        CONTRIBUTIONS, where={"source": sources}, after=after, limit=ROWS_SCANNED
    )
    return [CONTRIBUTIONS.decode(row.raw) for row in page.rows if row.id not in kept], page.end


async def held(ctx: Context, source: str) -> int:
    """How many rows a source contributes to."""
    return await ctx.tx.documents.count(
        CONTRIBUTIONS, where={"source": (source,)}, limit=HELD_COUNTED
    )


async def take_document(ctx: Context, id_: str, document: ReadDocument) -> Taken | None:
    """Write all of a document in one unit of work: for hosts without workers, and small documents.

    The source is kept as the document describes it; None where there is none with this id.
    """
    source = await ctx.find(SOURCES, id_)
    if source is None:
        return None
    described = health.described(source, document)
    kept: set[str] = set()
    told = readings(described, document, document.records, kept)
    brought = await take(ctx, [judged(described, one, ctx.now) for one in told])
    after: Position | None = None
    while document.format.kind == "snapshot":
        gone, after = await absent(ctx, id_, kept, after)
        brought += await lapse(ctx, gone)
        if after is None:
            break
    run = brought.run(document.rejected)
    done = health.succeeded(described, ctx.now, run, document.rejections)
    await ctx.save(SOURCES, id_, done)
    return brought
