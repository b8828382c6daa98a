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
class RecordReading:
    """One record on its way into the store, and the JSON of its words.

    Once it is judged, `prepared` is its stored form and `words` are those of a news item.
    """

    contribution: Contribution
    words_json: bytes = field(repr=False)
    prepared: PreparedContribution | None = field(default=None, repr=False)
    words: NewsText | None = None


# -- before the transaction --------------------------------------------------------------------


def reading(source: Source, format_: Format, about: About, record: Record) -> RecordReading:
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
    members = {"provider": provider, **record.said}
    head: dict[str, Any] = {
        "id": contribution_id(source.id, record.resource, record.key, row),
        "row": row,
        "source": source.id,
        "resource": record.resource,
        "format": format_.id,
        "key": record.key,
        "said": members,
        "ref": ref,
        "names": names,
        "gone": record.gone,
        "raw": record.raw,
    }
    words_json = wire.dumps(head)
    return RecordReading(
        Contribution(
            **head,
            digest=words_digest(words_json, kind.context(source)),
            read_at=_EPOCH,
            stamp=stamp,
            since=stamp if names else None,
        ),
        words_json,
    )


_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00Z")  # until it is judged


def readings(
    source: Source, document: ReadDocument, records: Iterable[Record], seen: set[str]
) -> list[RecordReading]:
    """What some records of a document contribute, each once: `seen` are those before them."""
    batch = []
    for record in records:
        item = reading(source, document.format, document.about, record)
        if item.contribution.id not in seen:
            seen.add(item.contribution.id)
            batch.append(item)
    return batch


def judged(source: Source, item: RecordReading, now: datetime) -> RecordReading:
    """The reading as it is to be written, first read at `now`."""
    claim = item.contribution
    if claim.resource == "newsItem" and not claim.gone:
        members, words = items.judged(source, claim.row, claim.said, now)
        claim = attrs.evolve(claim, said=members, read_at=now)
        return RecordReading(claim, item.words_json, prepare_contribution(claim), words)
    claim = attrs.evolve(claim, read_at=now)
    return RecordReading(claim, item.words_json, prepare_contribution(claim, item.words_json))


async def unknown(ctx: Context, readings: Sequence[RecordReading]) -> list[RecordReading]:
    """The readings that would write something now."""
    claims = await ctx.find_many(CONTRIBUTIONS, [item.contribution.id for item in readings])
    return [
        item
        for item in readings
        if _claim_after(claims.get(item.contribution.id), item.contribution)
    ]


def _claim_after(before: Contribution | None, claim: Contribution) -> Contribution | None:
    """What is kept after a reading; None where that changes nothing."""
    if before is None:
        return None if claim.gone and claim.stamp is None else claim
    if before.stamp is not None and claim.stamp is not None:
        since = min(filter(None, (before.since, claim.since)), default=None)
        if claim.stamp < before.stamp:
            earlier = _later(before.earlier, claim)
            is_same = since == before.since and earlier is before.earlier
            return None if is_same else attrs.evolve(before, since=since, earlier=earlier)
        earlier = before.earlier if claim.stamp == before.stamp else _later(before.earlier, before)
        if (since, earlier) != (claim.since, None):
            claim = attrs.evolve(claim, since=since, earlier=earlier)
    is_known = (before.digest, before.stamp) == (claim.digest, claim.stamp)
    return None if is_known else claim


def _is_unchanged(item: RecordReading, after: Contribution) -> bool:
    """Whether the words of a reading are those of what is kept, where it stands."""
    claim = item.contribution
    is_there = (after.row, after.apart) == (claim.row, claim.apart)
    return is_there and after.digest == claim.digest and after.resource != "newsItem"


def _later(earlier: Any, claim: Contribution) -> Any:
    """The later one of an earlier reading and of what was told of the member that is kept."""
    member = claim.said.get(KINDS[claim.resource].earlier)
    if member is None or claim.stamp is None:
        return earlier
    reading = {"at": at(claim.stamp), "said": member}
    return reading if earlier is None or earlier["at"] < reading["at"] else earlier


# -- in the transaction ------------------------------------------------------------------------


async def take(ctx: Context, readings: Sequence[RecordReading]) -> Taken:
    """Write readings with the rows that they change, all or none; known ones write nothing."""
    stored_claims = await ctx.find_many(CONTRIBUTIONS, [item.contribution.id for item in readings])
    after: dict[str, Contribution] = {}
    forms: dict[str, PreparedContribution] = {}
    words: dict[str, NewsText] = {}
    for item in readings:
        claim = _claim_after(stored_claims.get(item.contribution.id), item.contribution)
        if claim is None:
            continue
        after[claim.id] = claim
        if item.prepared is not None and claim is item.contribution:
            forms[claim.id] = item.prepared
        elif _is_unchanged(item, claim):
            forms[claim.id] = prepare_contribution(claim, item.words_json)
        if item.words is not None:
            words[claim.row] = item.words
    before = {id_: stored_claims[id_] for id_ in after if id_ in stored_claims}
    counts = await _change(ctx, before, after, forms, words)
    written_count = counts.created + counts.updated + counts.deleted
    return attrs.evolve(counts, unchanged=max(0, len(readings) - written_count))


async def withdraw(ctx: Context, contributions: Sequence[Contribution]) -> Taken:
    """Take back what a source said of some rows; each is left with what others say."""
    return await _change(ctx, {claim.id: claim for claim in contributions}, {}, {}, {})


async def lapse(ctx: Context, contributions: Sequence[Contribution]) -> Taken:
    """Take back what is no more in a snapshot; of sanctions lists it is kept who was listed."""
    before = {claim.id: claim for claim in contributions}
    after = {
        claim.id: attrs.evolve(claim, gone=True, digest=0, stamp=None, said=members, raw=None)
        for claim in contributions
        if (members := _delisted_members(claim))
    }
    return await _change(ctx, before, after, {}, {})


def _delisted_members(claim: Contribution) -> dict[str, Any]:
    """The listings of a contribution, which are no more."""
    is_listed = claim.resource == "entity" and not claim.gone
    listings = claim.said.get("sanctions") if is_listed else None
    return {"sanctions": [row | {"status": "delisted"} for row in listings]} if listings else {}


async def withdraw_items(ctx: Context, source: str, limit: int) -> Taken:
    """Take back some items of a source that nobody contributes to: of before that was kept."""
    remaining = await ctx.tx.documents.scan(NEWS, where={"source": (source,)}, limit=limit)
    for row in remaining.rows:
        await ctx.remove(NEWS, row.id)
    await items.follow(ctx, [Written(NEWS.decode(row.raw), None) for row in remaining.rows])
    return Taken(deleted=len(remaining.rows))


async def _change(
    ctx: Context,
    before: Mapping[str, Contribution],
    after: Mapping[str, Contribution],
    forms: Mapping[str, PreparedContribution],
    words: Mapping[str, Any],
) -> Taken:
    counts = Taken()
    for resource in dict.fromkeys(claim.resource for claim in (*before.values(), *after.values())):
        old, new = _of_resource(resource, before), _of_resource(resource, after)
        part, claims = await writing.write(ctx, KINDS[resource], old, new, forms=forms, words=words)
        counts += part
        await changes.follow(ctx, old, claims)
    return counts


def _of_resource(resource: str, claims: Mapping[str, Contribution]) -> dict[str, Contribution]:
    return {id_: claim for id_, claim in claims.items() if claim.resource == resource}


async def absent(
    ctx: Context, source: str, kept: Set[str], after: Position | None = None
) -> tuple[list[Contribution], Position | None]:
    """Some of what a source contributes that is not among the `kept` ids, and where to go on."""
    return await _contribution_page(ctx, (source,), kept, after)


async def contributions_from(
    ctx: Context, source: str, after: Position | None = None
) -> tuple[list[Contribution], Position | None]:
    """Some of what a source ever contributed, and where to go on."""
    return await _contribution_page(ctx, (source, ended_source(source)), frozenset(), after)


async def _contribution_page(
    ctx: Context, sources: tuple[str, ...], skip: Set[str], after: Position | None
) -> tuple[list[Contribution], Position | None]:
    page = await ctx.tx.documents.scan(
        CONTRIBUTIONS, where={"source": sources}, after=after, limit=ROWS_SCANNED
    )
    return [CONTRIBUTIONS.decode(row.raw) for row in page.rows if row.id not in skip], page.end


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
    source_after = health.described(source, document)
    seen: set[str] = set()
    batch = readings(source_after, document, document.records, seen)
    counts = await take(ctx, [judged(source_after, item, ctx.now) for item in batch])
    after: Position | None = None
    while document.format.kind == "snapshot":
        claims, after = await absent(ctx, id_, seen, after)
        counts += await lapse(ctx, claims)
        if after is None:
            break
    run = counts.run(document.rejected)
    finished_source = health.succeeded(source_after, ctx.now, run, document.rejections)
    await ctx.save(SOURCES, id_, finished_source)
    return counts
