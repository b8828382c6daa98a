"""Writing what documents say: contributions, and the rows folded of them.

Rule 1: a reading that is known writes nothing. One that is older by its source's own stamp than
        what is kept changes nothing either, so documents may come in any order.
Rule 2: a row is written only where it says something new to a reader; with it goes its change.
Rule 3: a row that several keys name is one row, whichever of them comes first. Its id is made of
        the key that was the preferred one at the earliest stamp; a row that another takes up is
        remembered, so that its id keeps answering.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from typing import Any

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.differences import changed_fields
from svc_core.intake import health, items
from svc_core.intake.contributions import (
    CONTRIBUTIONS,
    MERGED_ROWS,
    ROW_KEYS,
    Contribution,
    MergedRow,
    RowKey,
    contribution_id,
    digest,
    row_key_id,
)
from svc_core.intake.fold import fold
from svc_core.intake.kinds import KINDS, Kind
from svc_core.operation import Context
from svc_core.ports import Document, Position
from svc_core.resources.news import SOURCES, LastRun, NewsText, Source
from svc_core.sources.formats import Document as ReadDocument
from svc_core.sources.model import About, Format, Record

ROWS_SCANNED = 500  # contributions of touched rows that are read at once
HELD_COUNTED = 1_000_000  # twice as many as one document may bring


@frozen
class Taken:
    """What one document brought, or a part of it: rows."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0

    def __add__(self, more: "Taken") -> "Taken":
        """What both brought."""
        mine, theirs = attrs.astuple(self), attrs.astuple(more)
        return Taken(*map(sum, zip(mine, theirs, strict=True)))

    def run(self, rejected: int) -> LastRun:
        """How a run that brought it is told of."""
        return LastRun(self.created, self.updated, self.unchanged, self.deleted, rejected)


@frozen
class Reading:
    """One record on its way into the store. `words` are those of a news item, once it is judged."""

    contribution: Contribution
    also: tuple[str, ...] = ()
    gone: bool = False
    words: NewsText | None = None


# -- before the transaction --------------------------------------------------------------------


def reading(source: Source, format_: Format, about: About, record: Record) -> Reading:
    """What a record of a source's document contributes, before it is judged."""
    kind = KINDS[record.resource]
    row = kind.row_id(source, record)
    provider = record.said.get("provider") or format_.provider or "feed"
    stamp = record.stamp or about.stamp
    ref = {
        "id": source.id,
        "provider": provider,
        "name": source.name,
        "url": record.url,
        "recordId": record.record_id,
        "publishedAt": record.published_at,
        "license": format_.license,
    }
    said = {"provider": provider} | dict(record.said)
    return Reading(
        Contribution(
            id=contribution_id(row, source.id),
            row=row,
            source=source.id,
            resource=record.resource,
            format=format_.id,
            key=record.key,
            digest=digest(said, record.raw, ref, kind.context(source)),
            said=said,
            ref=ref,
            read_at=_EPOCH,
            stamp=stamp,
            raw=record.raw,
        ),
        also=record.also,
        gone=record.gone,
    )


_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00Z")  # until it is judged


def judged(source: Source, one: Reading, now: datetime) -> Reading:
    """The reading as it is to be written, first read at `now`."""
    said, words = one.contribution.said, None
    if one.contribution.resource == "newsItem" and not one.gone:
        said, words = items.judged(source, one.contribution.row, said, now)
    ref = dict(one.contribution.ref) | {"retrievedAt": now}
    contribution = attrs.evolve(one.contribution, said=said, ref=ref, read_at=now)
    return attrs.evolve(one, contribution=contribution, words=words)


async def unknown(ctx: Context, readings: Sequence[Reading]) -> list[Reading]:
    """The readings that would write something now."""
    known = await ctx.tx.documents.get_many(
        CONTRIBUTIONS, [one.contribution.id for one in readings]
    )
    return [one for one in readings if _is_new(one, known.get(one.contribution.id)) or one.also]


def _is_new(one: Reading, stored: Document[Contribution] | None) -> bool:
    if stored is None:
        return not one.gone
    if stored.order == one.contribution.digest and not one.gone:
        return False
    before, stamp = CONTRIBUTIONS.decode(stored.raw).stamp, one.contribution.stamp
    return before is None or stamp is None or stamp >= before


# -- in the transaction ------------------------------------------------------------------------


async def take(ctx: Context, readings: Sequence[Reading]) -> Taken:
    """Write readings with the rows that they change, all or none; known ones write nothing."""
    settled, moved = await _rows_of(ctx, readings)
    known = await ctx.tx.documents.get_many(CONTRIBUTIONS, [one.contribution.id for one in settled])
    fresh = [one for one in settled if _is_new(one, known.get(one.contribution.id))]
    for one in fresh:
        if one.gone:
            await ctx.remove(CONTRIBUTIONS, one.contribution.id)
        else:
            await ctx.save(CONTRIBUTIONS, one.contribution.id, one.contribution)
    words = {one.contribution.row: one.words for one in fresh if one.words is not None}
    touched = [(one.contribution.resource, one.contribution.row) for one in fresh] + moved
    brought = await _refold(ctx, touched, words)
    for one in fresh:
        if KINDS[one.contribution.resource].collection is None:
            is_known = one.contribution.id in known
            brought += Taken(not is_known, is_known and not one.gone, 0, one.gone)
    written = brought.created + brought.updated + brought.deleted
    return attrs.evolve(brought, unchanged=max(0, len(readings) - written))


async def withdraw(ctx: Context, contributions: Sequence[Contribution]) -> Taken:
    """Take back what a source said of some rows; each is left with what others say."""
    for one in contributions:
        await ctx.tx.documents.delete(CONTRIBUTIONS, one.id)
    brought = await _refold(ctx, [(one.resource, one.row) for one in contributions], {})
    bare = sum(KINDS[one.resource].collection is None for one in contributions)
    return attrs.evolve(brought, deleted=brought.deleted + bare)


async def absent(
    ctx: Context, source: str, kept: Set[str], after: Position | None = None
) -> tuple[list[Contribution], Position | None]:
    """Some of what a source contributed that is not among the `kept` ids, and where to go on."""
    page = await ctx.tx.documents.scan(
        CONTRIBUTIONS, where={"source": (source,)}, after=after, limit=ROWS_SCANNED
    )
    gone = [CONTRIBUTIONS.decode(row.raw) for row in page.rows if row.id not in kept]
    return gone, page.end


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
    readings = [
        judged(described, reading(described, document.format, document.about, record), ctx.now)
        for record in document.records
    ]
    brought = await take(ctx, readings)
    if document.format.kind == "snapshot":
        kept = {one.contribution.id for one in readings}
        brought += await withdraw(ctx, (await absent(ctx, source.id, kept))[0])
    after = health.succeeded(
        described, ctx.now, brought.run(document.rejected), document.rejections
    )
    await ctx.save(SOURCES, source.id, after)
    return brought


async def _refold(
    ctx: Context, touched: Iterable[tuple[str, str]], words: Mapping[str, NewsText]
) -> Taken:
    rows: dict[str, list[str]] = defaultdict(list)
    for resource, row in dict.fromkeys(touched):
        rows[resource].append(row)
    brought = Taken()
    for resource, ids in rows.items():
        kind = KINDS[resource]
        if kind.collection is not None:
            brought += await _refold_kind(ctx, kind, ids, words)
    return brought


async def _refold_kind(
    ctx: Context, kind: Kind, ids: Sequence[str], words: Mapping[str, NewsText]
) -> Taken:
    collection = kind.collection
    if collection is None:
        raise AssertionError("the kind has rows")
    stored = await ctx.tx.documents.get_many(collection, ids)
    told = await _contributions(ctx, ids)
    changes: list[items.Written] = []
    brought = Taken()
    for row in ids:
        members = fold(kind.rules, told.get(row, ()))
        before = stored.get(row)
        if members is None:
            if before is not None:
                await ctx.remove(collection, row)
                changes.append(items.Written(collection.decode(before.raw), None, None))
                brought += Taken(deleted=1)
            continue
        value = _built(kind, row, members, before, ctx.now)
        if value is None:
            continue
        await ctx.save(collection, row, value, before=before)
        old = None if before is None else collection.decode(before.raw)
        changes.append(items.Written(old, value, words.get(row) or items.words(members, value)))
        brought += Taken(created=before is None, updated=before is not None)
    if kind.resource == "newsItem":
        await items.follow(ctx, changes)
    return brought


async def _contributions(ctx: Context, rows: Sequence[str]) -> dict[str, list[Contribution]]:
    found: dict[str, list[Contribution]] = defaultdict(list)
    after = None
    while rows:
        page = await ctx.tx.documents.scan(
            CONTRIBUTIONS, where={"row": tuple(rows)}, after=after, limit=ROWS_SCANNED
        )
        for document in page.rows:
            one = CONTRIBUTIONS.decode(document.raw)
            found[one.row].append(one)
        after = page.end
        if after is None:
            break
    return found


def _built(
    kind: Kind, row: str, members: Mapping[str, Any], before: Document[Any] | None, now: datetime
) -> Any:
    """The row of these members; None where it says nothing new."""
    model = kind.collection.model if kind.collection else None
    if model is None:
        raise AssertionError("the kind has rows")
    old = {} if before is None else json.loads(before.raw)
    made = {
        **members,
        **{name: old.get(name) for name in kind.kept if name in old},
        "id": row,
    }
    if kind.timed:
        made["createdAt"], made["updatedAt"] = old.get("createdAt", now), now
        made["revision"] = old.get("revision", 0) + 1
    else:
        made["recordedAt"] = now
    value = wire.loads(model, wire.dumps(made))
    if before is not None and not changed_fields(before.raw, wire.dumps(value)):
        return None
    return value


# -- rows that several keys name ---------------------------------------------------------------


async def _rows_of(
    ctx: Context, readings: Sequence[Reading]
) -> tuple[list[Reading], list[tuple[str, str]]]:
    """The readings with the rows that their keys name, and the rows that took up others."""
    settled: list[Reading] = []
    moved: list[tuple[str, str]] = []
    for one in readings:
        if not one.also:
            settled.append(one)
            continue
        row, touched = await _row_of(ctx, one)
        moved += [(one.contribution.resource, other) for other in touched]
        id_ = contribution_id(row, one.contribution.source)
        settled.append(
            attrs.evolve(one, contribution=attrs.evolve(one.contribution, row=row, id=id_))
        )
    return settled, moved


async def _row_of(ctx: Context, one: Reading) -> tuple[str, list[str]]:
    told = one.contribution
    names = dict.fromkeys((told.key, *one.also))
    known = await ctx.find_many(ROW_KEYS, [row_key_id(told.resource, key) for key in names])
    group = {key.key: key for key in known.values()}
    for row in {key.row for key in known.values()}:
        group |= {key.key: key for key in await _keys_of(ctx, row)}
    before = dict(group)
    for name in names:
        group.setdefault(name, RowKey(row_key_id(told.resource, name), told.row, name))
    mine = group[told.key]
    stamp = told.stamp or ctx.now
    group[told.key] = attrs.evolve(mine, since=min(mine.since or stamp, stamp))
    first = min((key for key in group.values() if key.since is not None), key=_age)
    row = KINDS[told.resource].derived(first.key)
    rows = {key.row for key in before.values()} - {row}
    for key in group.values():
        after = attrs.evolve(key, row=row)
        if after != before.get(key.key):
            await ctx.save(ROW_KEYS, after.id, after)
    for other in sorted(rows):
        await _take_up(ctx, told.resource, other, row)
    return row, [row] if rows else []


def _age(key: RowKey) -> tuple[datetime, str]:
    if key.since is None:
        raise AssertionError("the key was a preferred one")
    return key.since, key.key


async def _keys_of(ctx: Context, row: str) -> list[RowKey]:
    page = await ctx.tx.documents.scan(ROW_KEYS, where={"row": (row,)}, limit=ROWS_SCANNED)
    return [ROW_KEYS.decode(document.raw) for document in page.rows]


async def _take_up(ctx: Context, resource: str, other: str, row: str) -> None:
    """Move what was said of `other` to `row`, which is the same."""
    collection = KINDS[resource].collection
    for one in (await _contributions(ctx, [other])).get(other, ()):
        await ctx.remove(CONTRIBUTIONS, one.id)
        id_ = contribution_id(row, one.source)
        there = await ctx.find(CONTRIBUTIONS, id_)
        if there is None or (one.stamp or one.read_at) > (there.stamp or there.read_at):
            await ctx.save(CONTRIBUTIONS, id_, attrs.evolve(one, id=id_, row=row))
    gone = None if collection is None else await ctx.tx.documents.delete(collection, other)
    if collection is not None and gone is not None:
        await ctx.record(collection, other, "merged", gone.version + 1, merged_into_id=row)
    taken_up = await ctx.tx.documents.scan(
        MERGED_ROWS, where={"into": (other,)}, limit=ROWS_SCANNED
    )
    for id_ in [other, *(document.id for document in taken_up.rows)]:
        await ctx.save(MERGED_ROWS, id_, MergedRow(id_, row))
    stale = await ctx.tx.documents.get(MERGED_ROWS, row)
    if stale is not None:
        await ctx.remove(MERGED_ROWS, row)


async def survivor(ctx: Context, row: str) -> str:
    """The id under which a row stands now: its own, or that of the row that took it up."""
    merged = await ctx.find(MERGED_ROWS, row)
    return row if merged is None else merged.into
