"""Turns the records of a document into contributions, and writes them with the rows they change.

Rule 1: a repeated reading writes nothing. Nor does one that is older, by its source's own stamp,
        than the stored contribution, so documents may come in any order.
Rule 2: a stamped withdrawal is remembered, so that an older document does not undo it.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from types import MappingProxyType
from typing import Any

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.formats.model import Metadata, Record
from svc_core.formats.reading.format import Format
from svc_core.formats.reading.values import rfc3339
from svc_core.formats.table import FORMATS
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
from svc_core.intel.folding.model import SOURCES, LastRun, RowCounts, Source
from svc_core.intel.intake import health
from svc_core.intel.intake.document_checks import is_outdated
from svc_core.intel.intake.kinds import KINDS
from svc_core.intel.news.model import NewsText
from svc_core.intel.signals import change_signals as changes
from svc_core.operation.context import Context
from svc_core.operation.ports import Position

ROWS_SCANNED = 500  # contributions that are read at once in search of absent ones
HELD_COUNTED = 1_000_000  # contributions that are counted: twice as many as a document may have


@frozen
class RecordReading:
    """One record on its way into the store: its contribution and that one's JSON.

    The second step adds `prepared`, its stored form, and for a news item its `words`.
    """

    contribution: Contribution
    words_json: bytes = field(repr=False)
    prepared: PreparedContribution | None = field(default=None, repr=False)
    words: NewsText | None = None


# -- before the transaction --------------------------------------------------------------------


def record_reading(
    source: Source, format_: Format, about: Metadata, record: Record
) -> RecordReading:
    """First step: the contribution that a record of a source's document makes."""
    kind = KINDS[record.resource]
    row = kind.row_id(source, record)
    of_source = source.options.get("provider") or format_.provider
    provider = record.members.get("provider") or of_source or "feed"
    stamp = record.stamp or about.stamp
    names = kind.names(record)
    ref = {
        "id": source.id,
        "provider": provider,
        "name": source.name,
        "url": record.url,
        "recordId": record.record_id,
        "publishedAt": rfc3339(record.published_at),
        "license": format_.license if provider in {of_source, "feed"} else None,
    }
    members = {"provider": provider, **record.members}
    head: dict[str, Any] = {
        "id": contribution_id(
            source.id, record.resource, row if kind.is_keyed_by_row else record.key, row
        ),
        "row": row,
        "source": source.id,
        "resource": record.resource,
        "format": format_.id,
        "key": record.key,
        "said": members,
        "ref": ref,
        "names": names,
        "gone": record.is_withdrawn,
        "raw": record.raw,
    }
    words_json = wire.to_bytes(head)
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


_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00Z")  # until the second step


def record_readings(
    source: Source, document: ReadDocument, records: Iterable[Record], seen: set[str]
) -> list[RecordReading]:
    """The readings of some records of a document, each once; `seen` are the ids before them."""
    batch = []
    for record in records:
        item = record_reading(source, document.format, document.metadata, record)
        if item.contribution.id not in seen:
            seen.add(item.contribution.id)
            batch.append(item)
    return batch


def judge_reading(source: Source, item: RecordReading, now: datetime) -> RecordReading:
    """Second step: the reading as it is written, with `now` as the time it was read."""
    claim, state = item.contribution, KINDS[item.contribution.resource].state
    if state is not None and not claim.gone:
        members, words = state(source, claim.row, claim.said, now)
        claim = attrs.evolve(claim, said=members, read_at=now)
        return RecordReading(claim, item.words_json, prepare_contribution(claim), words)
    claim = attrs.evolve(claim, read_at=now)
    return RecordReading(claim, item.words_json, prepare_contribution(claim, item.words_json))


async def new_readings(ctx: Context, readings: Sequence[RecordReading]) -> list[RecordReading]:
    """The readings that would change what is stored."""
    claims = await ctx.find_many(CONTRIBUTIONS, [item.contribution.id for item in readings])
    return [
        item
        for item in readings
        if _claim_after(claims.get(item.contribution.id), item.contribution)
        or _is_late(claims.get(item.contribution.id), item.contribution)
    ]


def _is_late(before: Contribution | None, claim: Contribution) -> bool:
    """Whether a statement is older than the stored one, and tells what had changed since."""
    stored_at = None if before is None else before.stamp
    if stored_at is None or claim.stamp is None or claim.resource not in changes.DETECTED:
        return False
    return claim.stamp < stored_at


def _claim_after(before: Contribution | None, claim: Contribution) -> Contribution | None:
    """The contribution to store after a reading; None where nothing changes (Rules 1 and 2)."""
    if before is None:
        # What a delta takes back may be what another source said (`deltas`).
        is_for_others = FORMATS[claim.format].kind == "delta"
        return None if claim.gone and claim.stamp is None and not is_for_others else claim
    if before.gone and not claim.gone and before.digest == claim.digest:
        return None  # its row was ended here (`row_retention`), and this is what it said
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
    """Whether the JSON of a reading is that of the contribution to be stored."""
    claim = item.contribution
    is_there = (after.row, after.apart) == (claim.row, claim.apart)
    return is_there and after.digest == claim.digest and KINDS[claim.resource].state is None


def _later(earlier: Any, claim: Contribution) -> Any:
    """The later of an earlier reading and a claim's, of the one member that keeps both."""
    member = claim.said.get(KINDS[claim.resource].earlier)
    if member is None or claim.stamp is None:
        return earlier
    reading = {"at": rfc3339(claim.stamp), "said": member}
    return reading if earlier is None or earlier["at"] < reading["at"] else earlier


# -- in the transaction ------------------------------------------------------------------------


async def write_readings(
    ctx: Context, readings: Sequence[RecordReading], *, stamp: datetime | None = None
) -> RowCounts:
    """Write readings of a document, which may have a stamp, with the rows that they change, all or
    none; repeated ones write nothing.
    """
    stored_claims = await ctx.find_many(CONTRIBUTIONS, [item.contribution.id for item in readings])
    after: dict[str, Contribution] = {}
    forms: dict[str, PreparedContribution] = {}
    words: dict[str, NewsText] = {}
    late: dict[str, tuple[Contribution, Contribution]] = {}
    for item in readings:
        stored = stored_claims.get(item.contribution.id)
        if stored is not None and _is_late(stored, item.contribution):
            late[stored.id] = item.contribution, stored
        claim = _claim_after(stored, item.contribution)
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
    counts = await replace_contributions(ctx, before, after, forms, words, stamp=stamp)
    await changes.write_late_signals(ctx, late)
    written_count = counts.created + counts.updated + counts.deleted
    return attrs.evolve(counts, unchanged=max(0, len(readings) - written_count))


async def withdraw(ctx: Context, contributions: Sequence[Contribution]) -> RowCounts:
    """Withdraw a source's contributions; their rows are left with what other sources say."""
    return await replace_contributions(ctx, {claim.id: claim for claim in contributions}, {})


async def lapse(
    ctx: Context, contributions: Sequence[Contribution], *, stamp: datetime | None = None
) -> RowCounts:
    """Withdraw what a snapshot with this stamp no longer has, but for what its kind keeps of it."""
    before = {claim.id: claim for claim in contributions}
    after = {
        claim.id: attrs.evolve(claim, gone=True, digest=0, stamp=None, said=members, raw=None)
        for claim in contributions
        if (members := {} if claim.gone else KINDS[claim.resource].lapse(claim))
    }
    return await replace_contributions(ctx, before, after, stamp=stamp)


async def note_late(
    ctx: Context,
    late: Sequence[RecordReading],
    absent: Sequence[Contribution] = (),
    *,
    source_id: str,
    stamp: datetime | None,
) -> None:
    """Write the signals of what has changed since a snapshot that is older than the known one: by
    its records, and by stored contributions that it lacks. Nothing else of it is written.
    """
    source = await ctx.find(SOURCES, source_id)
    readings = {item.contribution.id: item.contribution for item in late}
    stored = await ctx.find_many(CONTRIBUTIONS, readings)
    pairs: changes.LateClaims = {
        **{id_: (reading, stored.get(id_)) for id_, reading in readings.items()},
        **{claim.id: (None, claim) for claim in absent},
    }
    await changes.write_late_signals(ctx, pairs, stamp, source.stamp if source else None)


async def replace_contributions(
    ctx: Context,
    before: Mapping[str, Contribution],
    after: Mapping[str, Contribution],
    forms: Mapping[str, PreparedContribution] = MappingProxyType({}),
    words: Mapping[str, Any] = MappingProxyType({}),
    *,
    stamp: datetime | None = None,
) -> RowCounts:
    """Replace contributions of any kinds, each under its id, and write the rows that change."""
    counts = RowCounts()
    for resource in dict.fromkeys(claim.resource for claim in (*before.values(), *after.values())):
        old, new = _of_resource(resource, before), _of_resource(resource, after)
        part, claims = await writing.write(ctx, KINDS[resource], old, new, forms=forms, words=words)
        counts += part
        await changes.write_change_signals(ctx, old, claims, stamp)
    return counts


def _of_resource(resource: str, claims: Mapping[str, Contribution]) -> dict[str, Contribution]:
    return {id_: claim for id_, claim in claims.items() if claim.resource == resource}


async def absent_contributions(
    ctx: Context, source: str, present_ids: Set[str], after: Position | None = None
) -> tuple[list[Contribution], Position | None]:
    """A page of a source's contributions whose ids are not in `present_ids`, and where to go on."""
    return await _contribution_page(ctx, (source,), present_ids, after)


async def contributions_from(
    ctx: Context, source: str, after: Position | None = None
) -> tuple[list[Contribution], Position | None]:
    """A page of all contributions of a source, ended ones too, and where to go on."""
    return await _contribution_page(ctx, (source, ended_source(source)), frozenset(), after)


async def _contribution_page(
    ctx: Context, sources: tuple[str, ...], skip: Set[str], after: Position | None
) -> tuple[list[Contribution], Position | None]:
    page = await ctx.tx.documents.scan(
        CONTRIBUTIONS, where={"source": sources}, after=after, limit=ROWS_SCANNED
    )
    return [CONTRIBUTIONS.decode(row.raw) for row in page.rows if row.id not in skip], page.end


async def contribution_count(ctx: Context, source: str) -> int:
    """How many contributions a source has."""
    return await ctx.tx.documents.count(
        CONTRIBUTIONS, where={"source": (source,)}, limit=HELD_COUNTED
    )


async def take_document(ctx: Context, id_: str, document: ReadDocument) -> RowCounts | None:
    """Write a whole document in one unit of work: for small documents and hosts without workers.

    The source is stored as the document describes it; None where no source has this id.
    """
    source = await ctx.find(SOURCES, id_)
    if source is None:
        return None
    source_after, stamp = health.with_description(source, document), document.metadata.stamp
    seen: set[str] = set()
    batch = record_readings(source_after, document, document.records, seen)
    absent: list[Contribution] = []
    if document.format.kind == "snapshot":
        stored = [row async for row in ctx.every(CONTRIBUTIONS, where={"source": (id_,)})]
        absent = [CONTRIBUTIONS.decode(row.raw) for row in stored if row.id not in seen]
        if is_outdated(source, document):
            await note_late(ctx, batch, absent, source_id=id_, stamp=stamp)
            return RowCounts(unchanged=len(batch))
    counts = await write_readings(
        ctx, [judge_reading(source_after, item, ctx.now) for item in batch], stamp=stamp
    )
    counts += await lapse(ctx, absent, stamp=stamp)
    run = LastRun.of(counts, document.rejection_count)
    finished_source = health.after_success(source_after, ctx.now, run, document.rejections)
    await ctx.save(SOURCES, id_, finished_source)
    return counts
