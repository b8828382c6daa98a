"""Queries of a ledger: subject lists, folds, pictures, exports and tiles; nothing here writes."""

from collections.abc import Iterable, Sequence
from typing import Final

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
    check_all,
    head_of,
    lines_of,
    prefix,
    records_by_id,
    records_of,
)
from svc_core.ledger.stix.bundle import related_subjects, stix_bundle
from svc_core.ledger.transfer.marking import Tlp
from svc_core.operation.context import Context
from svc_core.operation.ports import LEDGER_LEVELS, SealedLine

EXPORT_BYTES_MAX: Final = 4 * 2**20
"""Bytes of one page of an export; a page ends early rather than pass it."""
HOLDERS_MAX: Final = 20
"""Other subjects that are named for one designator."""
RELATED_MAX: Final = 1_000
"""Other subjects in one STIX bundle; their records are read one subject after the other."""
_SUBJECT_KIND: Final = b',"kind":"subject",'


@frozen
class FoldBounds:
    """The bounds of a fold: record time, valid time and ledger size, as the ledger's texts."""

    record_time: str | None
    valid_time: str
    size: int | None


# -- subjects ----------------------------------------------------------------------------------


async def subject_rows(ctx: Context, openings: Sequence[SealedLine]) -> tuple[SubjectRow, ...]:
    """Return the list rows of the subjects that these records opened, as described now."""
    by_subject = {opening.subject: opening for opening in openings}
    rows = {
        subject: _subject_row(ctx, by_subject[subject], lines)
        async for subject, lines in lines_of(ctx, by_subject)
    }
    return tuple(rows[opening.subject] for opening in openings)


def _subject_row(ctx: Context, opening: SealedLine, lines: Iterable[bytes]) -> SubjectRow:
    # Only the records of the subject itself say what it is; the others need not be decoded.
    records = [decode(line) for line in lines if _SUBJECT_KIND in split_line(line).head]
    identity = fold_records(
        records, opening.subject, valid_time=timestamps.utc_text(ctx.now)
    ).identity
    first = decode(opening.line)
    return SubjectRow(
        id=opening.subject,
        type=text_of(identity and identity.type),
        label=text_of(identity and identity.label),
        description=text_of(identity and identity.description),
        opened_at=first.recorded_at,
        author=first.author,
        seq=first.seq,
    )


async def known_records(
    ctx: Context, subject: str, bounds: FoldBounds
) -> tuple[TreeHead, tuple[SealedRecord, ...]]:
    """Read the records of a subject within the bounds, and the ledger's head there.

    With a record time and a size, the smaller prefix counts. A subject that was opened later has no
    records in it.

    Raises:
        Problem: NOT_FOUND if the ledger has no such subject at all; INVALID_PARAMETER for a size
            that the ledger never had.
    """
    sizes = [] if bounds.size is None else [bounds.size]
    if bounds.record_time is not None:
        sizes.append(await ctx.tx.ledger.size_at(bounds.record_time))
    head = await prefix(ctx, min(sizes, default=None))
    records = await records_of(ctx, subject, size=head.size)
    if not records and await ctx.tx.ledger.get(subject) is None:
        raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")
    return head, records


async def view_of(
    ctx: Context, subject: str, bounds: FoldBounds, *, history: bool = False, segments: bool = False
) -> SubjectView:
    """Fold a subject on the prefix of the ledger that the bounds name.

    Raises:
        Problem: as `known_records`.
    """
    head, records = await known_records(ctx, subject, bounds)
    view = fold_records(
        records,
        subject,
        valid_time=bounds.valid_time,
        record_time=bounds.record_time,
        basis=Basis(head.size, to_base64(head.root), head.seal),
        with_history=history,
        with_segments=segments,
    )
    if view.record_time is None or bounds.record_time is None:
        view = attrs.evolve(view, record_time=head.recorded_at)
    return attrs.evolve(view, collisions=await _collisions(ctx, view, head))


async def _collisions(ctx: Context, view: SubjectView, head: TreeHead) -> tuple[CollisionView, ...]:
    """Find designators in force that other subjects have in force as well."""
    names = {
        f"{row.scheme}:{row.value}": (row.scheme, row.value)
        for row in view.designators
        # Of one that was erased it is not known what it was.
        if isinstance(row.scheme, str) and isinstance(row.value, str)
    }
    holders = await ctx.tx.ledger.holders([*names], size=head.size, limit=HOLDERS_MAX + 1)
    rivals = [(subject, ids) for rows in holders.values() for subject, ids in rows.items()]
    ids = sorted({id_ for subject, named in rivals if subject != view.id for id_ in named})
    if not ids:
        return ()
    subjects = sorted({subject for subject, _ in rivals})
    acts = await ctx.tx.ledger.acts(ids, subjects=subjects, size=head.size)
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


async def picture_of(ctx: Context, subject: str, bounds: FoldBounds, *, is_marked: bool) -> bytes:
    """Draw a subject as SVG; with `is_marked` the valid time is drawn as a line.

    Raises:
        Problem: as `known_records`.
    """
    head, records = await known_records(ctx, subject, bounds)
    picture = svg(
        records,
        subject,
        record_time=bounds.record_time or head.recorded_at,
        valid_time=bounds.valid_time if is_marked else None,
    )
    return picture.encode()


async def bundle_of(ctx: Context, subject: str, bounds: FoldBounds, tlp: Tlp) -> bytes:
    """Export the fold of a subject as a STIX bundle, with the subjects that its claims refer to.

    Raises:
        Problem: as `known_records`; INVALID_PARAMETER if the claims refer to too many subjects.
    """
    head, records = await known_records(ctx, subject, bounds)
    peers = related_subjects(
        records, subject, valid_time=bounds.valid_time, record_time=bounds.record_time
    )
    if len(peers) > RELATED_MAX:
        raise Problem(
            problem.INVALID_PARAMETER,
            f"validTime: at most {RELATED_MAX} other subjects go into a bundle, not {len(peers)}",
        )
    all_records = [*records]
    async for _, lines in lines_of(ctx, peers, size=head.size):
        all_records += map(decode, lines)
    return stix_bundle(
        all_records,
        subject,
        ledger=head.ledger,
        valid_time=bounds.valid_time,
        record_time=bounds.record_time or head.recorded_at,
        size=head.size,
        tlp=tlp,
    )


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
