"""Queries of a ledger: subject lists, folds, pictures, exports and tiles; nothing here writes."""

from collections.abc import Callable, Sequence, Sized
from functools import partial
from typing import Final, TypeVar

import attrs
from attrs import frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.ledger import timestamps
from svc_core.ledger.fold.bitemporal import fold_records
from svc_core.ledger.fold.recordset import RecordSet
from svc_core.ledger.fold.standing import Standing
from svc_core.ledger.fold.view import Basis, CollisionView, SubjectView
from svc_core.ledger.fold.view_rows import text_of
from svc_core.ledger.log import tiles
from svc_core.ledger.log.note import to_base64
from svc_core.ledger.log.record_seals import TreeHead
from svc_core.ledger.log.tiles import Tile
from svc_core.ledger.model import SubjectRow
from svc_core.ledger.picture import svg
from svc_core.ledger.records import SealedRecord, decode, split_line
from svc_core.ledger.repository import (
    PART_LINES,
    SUBJECT_LINES_MAX,
    answer_with_all,
    check_all,
    first_part,
    head_of,
    parted_records,
    prefix,
    records_by_id,
)
from svc_core.ledger.stix.bundle import related_subjects, stix_bundle
from svc_core.ledger.transfer.marking import Tlp
from svc_core.operation.context import Context
from svc_core.operation.ports import LEDGER_LEVELS, SealedLine
from svc_core.operation.units import WorkContext

EXPORT_BYTES_MAX: Final = 4 * 2**20
"""Bytes of one page of an export; a page ends early rather than pass it."""
HOLDERS_MAX: Final = 20
"""Other subjects that are named for one designator."""
RIVAL_RECORDS_MAX: Final = 2_000
"""Records of other subjects that give its designators, and as many that act on those: 0.1 s."""
NAMING_RECORDS_MAX: Final = SUBJECT_LINES_MAX + RIVAL_RECORDS_MAX
"""Records that are looked at for one designator: all of the subject itself, too."""
NAMES_AT_ONCE: Final = 5
IDENTITY_ACTS_MAX: Final = 2_000
"""Records that say what the subjects of one page are: 0.1 s."""
RELATED_MAX: Final = 1_000
"""Other subjects in one STIX bundle; their records are read one subject after the other."""

R = TypeVar("R")


@frozen
class FoldBounds:
    """The bounds of a fold: record time, valid time and ledger size, as the ledger's texts."""

    record_time: str | None
    valid_time: str
    size: int | None


# -- subjects ----------------------------------------------------------------------------------


async def subject_rows(ctx: Context, openings: Sequence[SealedLine]) -> tuple[SubjectRow, ...]:
    """Return the list rows of the subjects that these records opened, as described now.

    There are fewer rows, and at least one, where too many records say what these subjects are. A
    subject of which too many do has no description.
    """
    subjects = [opening.subject for opening in openings]
    acts = await _identity_acts(ctx, subjects)
    if len(acts) <= IDENTITY_ACTS_MAX:
        return tuple(_subject_row(ctx, opening, acts) for opening in openings)
    rows, count = list[SubjectRow](), 0
    for opening in openings:
        acts = await _identity_acts(ctx, [opening.subject])
        count += len(acts)
        if count > IDENTITY_ACTS_MAX and rows:
            break
        rows.append(_subject_row(ctx, opening, acts))
    return tuple(rows)


async def _identity_acts(ctx: Context, subjects: Sequence[str]) -> list[SealedRecord]:
    """Read the records that act on what the subjects are said to be, some more than are judged."""
    lines = await ctx.tx.ledger.acts(subjects, subjects=subjects, limit=IDENTITY_ACTS_MAX + 1)
    return [decode(line) for line in lines]


def _subject_row(ctx: Context, opening: SealedLine, acts: Sequence[SealedRecord]) -> SubjectRow:
    first = decode(opening.line)
    is_known = len(acts) <= IDENTITY_ACTS_MAX
    view = fold_records(
        [first, *acts] if is_known else (), opening.subject, valid_time=timestamps.utc_text(ctx.now)
    )
    return SubjectRow(
        id=opening.subject,
        type=text_of(view.identity and view.identity.type),
        label=text_of(view.identity and view.identity.label),
        description=text_of(view.identity and view.identity.description),
        opened_at=first.recorded_at,
        author=first.author,
        seq=first.seq,
    )


async def foldable_count(ctx: Context, subjects: Sequence[str]) -> int:
    """Return how many of the subjects, the first ones, are folded in one unit of work; at least 1.

    If it is one it may have too many records for that.
    """
    total = 0
    for place, subject in enumerate(subjects):
        total += (await ctx.tx.ledger.counts_of((subject,)))[subject]
        if total >= PART_LINES:
            return max(place, 1)
    return len(subjects)


async def known_records(
    ctx: Context, subject: str, bounds: FoldBounds
) -> tuple[TreeHead, tuple[SealedRecord, ...]]:
    """Read the ledger's head within the bounds, and the first records of a subject there.

    There are more records if these are `PART_LINES`. With a record time and a size, the smaller
    prefix counts. A subject that was opened later has no records in it.

    Raises:
        Problem: NOT_FOUND if the ledger has no such subject at all; INVALID_PARAMETER for a size
            that the ledger never had.
    """
    sizes = [] if bounds.size is None else [bounds.size]
    if bounds.record_time is not None:
        sizes.append(await ctx.tx.ledger.size_at(bounds.record_time))
    head = await prefix(ctx, min(sizes, default=None))
    records = await first_part(ctx, subject, size=head.size)
    if not records and await ctx.tx.ledger.get(subject) is None:
        raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")
    return head, records


async def view_of(
    ctx: Context,
    subject: str,
    bounds: FoldBounds,
    answer: Callable[[SubjectView], R],
    *,
    parts: Sequence[str] = (),
) -> R:
    """Answer with a subject folded on the prefix of the ledger that the bounds name.

    Raises:
        Problem: as `known_records`; INVALID_PARAMETER if there is too much to read.
    """
    head, records = await known_records(ctx, subject, bounds)
    fold = partial(_fold, subject=subject, bounds=bounds, head=head, parts=parts)
    if len(records) < PART_LINES:
        view = fold(records)
        return answer(attrs.evolve(view, collisions=await _collisions(ctx, view, head)))

    async def rest(work: WorkContext) -> R:
        units, tenant = work.work, work.actor.tenant
        all_records = await parted_records(work, (subject,), size=head.size)
        view = await units.aside(partial(fold, all_records))
        collisions = await units.read(tenant, lambda own: _collisions(own, view, head))
        return await units.aside(lambda: answer(attrs.evolve(view, collisions=collisions)))

    return ctx.later(rest)


def _fold(
    records: Sequence[SealedRecord],
    *,
    subject: str,
    bounds: FoldBounds,
    head: TreeHead,
    parts: Sequence[str],
) -> SubjectView:
    view = fold_records(
        records,
        subject,
        valid_time=bounds.valid_time,
        record_time=bounds.record_time,
        basis=Basis(head.size, to_base64(head.root), head.seal),
        with_history="history" in parts,
        with_segments="segments" in parts,
    )
    if view.record_time is None or bounds.record_time is None:
        view = attrs.evolve(view, record_time=head.recorded_at)
    return view


async def _collisions(ctx: Context, view: SubjectView, head: TreeHead) -> tuple[CollisionView, ...]:
    """Find designators in force that other subjects have in force as well."""
    names = {
        f"{row.scheme}:{row.value}": (row.scheme, row.value)
        for row in view.designators
        # Of one that was erased it is not known what it was.
        if isinstance(row.scheme, str) and isinstance(row.value, str)
    }
    rivals: dict[str, str] = {}
    keys = [*names]
    for start in range(0, len(keys), NAMES_AT_ONCE):
        some = keys[start : start + NAMES_AT_ONCE]
        holders = await ctx.tx.ledger.holders(
            some, size=head.size, limit=HOLDERS_MAX + 1, records=NAMING_RECORDS_MAX
        )
        rivals |= {
            id_: subject
            for rows in holders.values()
            for subject, ids in rows.items()
            if subject != view.id
            for id_ in ids
        }
        _check_rivals(rivals)
    if not rivals:
        return ()
    ids, subjects = sorted(rivals), sorted({*rivals.values()})
    acts = await ctx.tx.ledger.acts(
        ids, subjects=subjects, size=head.size, limit=RIVAL_RECORDS_MAX + 1
    )
    _check_rivals(acts)
    known = RecordSet.of([*await records_by_id(ctx, ids), *map(decode, acts)])
    bearing: dict[tuple[str, str], set[str]] = {}
    for record in Standing(known.records).live(view.valid_time):
        payload = record.payload or {}
        name = str(payload.get("scheme")), str(payload.get("value"))
        bearing.setdefault(name, set()).add(record.subject)
    return tuple(
        CollisionView(*name, tuple(sorted(bearing[name])))
        for name in names.values()
        if name in bearing
    )


def _check_rivals(records: Sized) -> None:
    if len(records) > RIVAL_RECORDS_MAX:
        raise Problem(
            problem.INVALID_PARAMETER,
            f"size: more than {RIVAL_RECORDS_MAX} records of other subjects give its designators",
            resolution="Ask for a smaller size, or read GET /api/v2/ledger/records in pages.",
        )


async def picture_of(
    ctx: Context, subject: str, bounds: FoldBounds, answer: Callable[[bytes], R], *, is_marked: bool
) -> R:
    """Answer with a subject drawn as SVG; with `is_marked` the valid time is drawn as a line.

    Raises:
        Problem: as `view_of`.
    """
    head, records = await known_records(ctx, subject, bounds)
    record_time = bounds.record_time or head.recorded_at
    valid_time = bounds.valid_time if is_marked else None

    def draw(drawn: Sequence[SealedRecord]) -> R:
        picture = svg(drawn, subject, record_time=record_time, valid_time=valid_time)
        return answer(picture.encode())

    return await answer_with_all(ctx, subject, records, draw, size=head.size)


async def bundle_of(
    ctx: Context,
    subject: str,
    bounds: FoldBounds,
    answer: Callable[[bytes], R],
    *,
    tlp: Tlp,
) -> R:
    """Answer with the fold of a subject as a STIX bundle, with the subjects that its claims refer
    to.

    Raises:
        Problem: as `view_of`; INVALID_PARAMETER if the claims refer to too many subjects.
    """
    head, records = await known_records(ctx, subject, bounds)

    def bundle(bundled: Sequence[SealedRecord]) -> R:
        body = stix_bundle(
            bundled,
            subject,
            ledger=head.ledger,
            valid_time=bounds.valid_time,
            record_time=bounds.record_time or head.recorded_at,
            size=head.size,
            tlp=tlp,
        )
        return answer(body)

    peers_of = partial(
        related_subjects,
        subject=subject,
        valid_time=bounds.valid_time,
        record_time=bounds.record_time,
    )
    if len(records) < PART_LINES and not peers_of(records):
        return bundle(records)

    async def rest(work: WorkContext) -> R:
        own = await parted_records(work, (subject,), size=head.size)
        peers = await work.work.aside(partial(peers_of, own))
        if len(peers) > RELATED_MAX:
            raise Problem(
                problem.INVALID_PARAMETER,
                f"validTime: at most {RELATED_MAX} other subjects go into a bundle, not "
                f"{len(peers)}",
            )
        others = await parted_records(work, peers, size=head.size)
        return await work.work.aside(partial(bundle, (*own, *others)))

    return ctx.later(rest)


# -- the log -----------------------------------------------------------------------------------


async def export_lines(
    ctx: Context, start: int, end: int, *, bytes_max: int = EXPORT_BYTES_MAX
) -> tuple[bytes, ...]:
    """Return raw lines from `start` to before `end`, fewer if the page would grow too large.

    Raises:
        Problem: SERVICE_UNAVAILABLE if lines are missing.
    """
    lines: list[bytes] = []
    bytes_ = 0
    # At most 64 KiB a line, so that a step never holds more than the page may.
    for position in range(start, end, 64):
        if bytes_ >= bytes_max:
            break
        stop = min(end, position + 64)
        step = check_all(await ctx.tx.ledger.lines(position, stop), stop - position)
        lines += step
        bytes_ += sum(map(len, step))
    return tuple(lines)


async def tile_bytes(ctx: Context, path: str) -> bytes:
    """Return the bytes of a tile (C2SP tlog-tiles).

    Raises:
        Problem: NOT_FOUND if the path names no tile, or the ledger has not filled it yet;
            SERVICE_UNAVAILABLE if part of it is missing.
    """
    missing = Problem(
        problem.NOT_FOUND,
        "The ledger has no such tile.",
        resolution="Ask for tiles of the size that the checkpoint names.",
    )
    try:
        tile = Tile.parse(f"tile/{path}")
    except tiles.TileError as error:
        raise missing from error
    if not tile.is_in((await head_of(ctx)).size) or tile.span.level > LEDGER_LEVELS[-1]:
        raise missing
    level, start, end = tile.span
    if tile.level is None:
        lines = check_all(await ctx.tx.ledger.lines(start, end), end - start)
        return tiles.entry_bytes([split_line(line).head for line in lines])
    return b"".join(check_all(await ctx.tx.ledger.hashes(level, start, end), end - start))
