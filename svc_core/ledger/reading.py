"""Reading the ledger: lists, folds, exports, proofs and verification. Nothing here writes."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

import attrs
from attrs import frozen

from svc_core import problem
from svc_core.ledger import stix, stored, timestamps
from svc_core.ledger.append.erasure import erased_later
from svc_core.ledger.fold.fold import fold
from svc_core.ledger.fold.standing import Standing
from svc_core.ledger.fold.view import Basis, CollisionView, SubjectView
from svc_core.ledger.log import tiles
from svc_core.ledger.log.checkpoint import Checkpoint, open_checkpoint
from svc_core.ledger.log.note import NoteError, VerifierKey, from_base64, to_base64
from svc_core.ledger.log.note import parse as parse_note
from svc_core.ledger.log.proofs import ProofError, consistency_ranges, verify_consistency
from svc_core.ledger.log.seal import TreeHead
from svc_core.ledger.log.tiles import Tile
from svc_core.ledger.log.tree import HASH_BYTES
from svc_core.ledger.model import Consistency, SubjectRow, Verification, verification
from svc_core.ledger.picture import svg
from svc_core.ledger.records import Record, decode, split
from svc_core.ledger.stored import Proofs, head_of, records_of
from svc_core.ledger.verify.anchors import Anchor, Anchors, gather
from svc_core.ledger.verify.diagnosis import Diagnosis
from svc_core.ledger.verify.sweep import RUN_LINES_MAX, Sweep
from svc_core.ledger.verify.verdict import Level, Verdict
from svc_core.operation import Context
from svc_core.ports import LEDGER_LEVELS, SealedLine
from svc_core.problem import Problem

VERIFIED_MAX: Final = 250_000
"""Records that one request verifies: about two seconds of work. Larger ledgers are walked."""
EXPORT_BYTES_MAX: Final = 4 * 2**20
"""Bytes of one page of an export; a page ends early rather than pass it."""
HOLDERS_MAX: Final = 20
"""Other subjects that are named for one designator."""
RELATED_MAX: Final = 1_000
"""Other subjects in one STIX bundle; their records are read one subject after the other."""
_SUBJECT_KIND: Final = b',"kind":"subject",'


@frozen
class Bounds:
    """What a fold is asked for, in the ledger's own texts."""

    record_time: str | None
    valid_time: str
    size: int | None


# -- subjects ----------------------------------------------------------------------------------


async def subjects(
    ctx: Context, *, before: int | None, key: str | None, limit: int
) -> tuple[tuple[SubjectRow, ...], int | None]:
    """Subjects by when they were opened, newest first, and the number to go on before."""
    opened = await ctx.tx.ledger.opened(before=before, key=key, limit=limit + 1)
    rows = [await _row(ctx, line) for line in opened[:limit]]
    return tuple(rows), opened[limit - 1].seq if len(opened) > limit else None


async def _row(ctx: Context, opening: SealedLine) -> SubjectRow:
    lines = await ctx.tx.ledger.of_subject(opening.subject, limit=stored.SUBJECT_RECORDS_MAX)
    # Only the records of the subject itself say what it is; the others need not be decoded.
    identity = [decode(line) for line in lines if _SUBJECT_KIND in split(line).head]
    now = timestamps.of(ctx.now)
    view = fold(identity, opening.subject, valid_time=now)
    first = decode(opening.line)
    stated = view.identity
    return SubjectRow(
        id=opening.subject,
        type=_text(stated and stated.type),
        label=_text(stated and stated.label),
        description=_text(stated and stated.description),
        opened_at=first.recorded_at,
        author=first.author,
        seq=first.seq,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


async def view_of(
    ctx: Context, subject: str, asked: Bounds, *, history: bool = False, segments: bool = False
) -> SubjectView:
    """The fold of a subject, on the prefix that the bounds name.

    Raises:
        Problem: NOT_FOUND where the ledger never held it; INVALID_PARAMETER for a size that the
            ledger never had.
    """
    head = await asked_head(ctx, asked)
    records = await known_records(ctx, subject, head)
    view = fold(
        records,
        subject,
        valid_time=asked.valid_time,
        record_time=asked.record_time,
        basis=Basis(head.size, to_base64(head.root), head.seal),
        with_history=history,
        with_segments=segments,
    )
    if view.record_time is None or asked.record_time is None:
        view = attrs.evolve(view, record_time=head.recorded_at)
    return attrs.evolve(view, collisions=await _collisions(ctx, view, head))


async def known_records(ctx: Context, subject: str, head: TreeHead) -> tuple[Record, ...]:
    """The records of a subject in a prefix; none of one that was opened later.

    Raises:
        Problem: NOT_FOUND where the ledger holds no such subject at all.
    """
    records = await records_of(ctx, subject, size=head.size)
    if not records and await ctx.tx.ledger.get(subject) is None:
        raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")
    return records


async def asked_head(ctx: Context, asked: Bounds) -> TreeHead:
    """The head of the prefix that a record time or a size names; with both, of the smaller."""
    sizes = [] if asked.size is None else [asked.size]
    if asked.record_time is not None:
        sizes.append(await ctx.tx.ledger.size_at(asked.record_time))
    return await stored.prefix(ctx, min(sizes)) if sizes else await head_of(ctx)


async def _collisions(ctx: Context, view: SubjectView, head: TreeHead) -> tuple[CollisionView, ...]:
    """Which designators in force other subjects bear in force as well."""
    found = []
    for scheme, value in dict.fromkeys((each.scheme, each.value) for each in view.designators):
        if not isinstance(scheme, str) or not isinstance(value, str):
            continue  # erased: what it was is not known
        others = await ctx.tx.ledger.holders(
            f"{scheme}:{value}", size=head.size, limit=HOLDERS_MAX + 1
        )
        bearing = [
            other
            for other in others
            if other != view.id and await _bears(ctx, other, (scheme, value), view, head)
        ]
        if bearing:
            found.append(CollisionView(scheme, value, tuple(sorted(bearing))))
    return tuple(found)


async def _bears(
    ctx: Context, subject: str, name: tuple[str, str], view: SubjectView, head: TreeHead
) -> bool:
    standing = Standing.of(await records_of(ctx, subject, size=head.size), subject)
    return any(
        record.kind == "designator"
        and ((record.payload or {}).get("scheme"), (record.payload or {}).get("value")) == name
        for record in standing.live(view.valid_time)
    )


async def picture_of(ctx: Context, subject: str, asked: Bounds, *, marked: bool) -> bytes:
    """What was recorded of a subject, as SVG; with `marked` the valid time is drawn as a line.

    Raises:
        Problem: as `view_of`.
    """
    head = await asked_head(ctx, asked)
    drawn = svg(
        await known_records(ctx, subject, head),
        subject,
        record_time=asked.record_time or head.recorded_at,
        valid_time=asked.valid_time if marked else None,
    )
    return drawn.encode()


async def bundle_of(ctx: Context, subject: str, asked: Bounds, tlp: stix.Tlp) -> bytes:
    """The fold of a subject as a STIX bundle, with the subjects that its claims lead to.

    Raises:
        Problem: as `view_of`; INVALID_PARAMETER where the claims lead to too many subjects.
    """
    head = await asked_head(ctx, asked)
    records = await known_records(ctx, subject, head)
    related = stix.others(
        records, subject, valid_time=asked.valid_time, record_time=asked.record_time
    )
    if len(related) > RELATED_MAX:
        raise Problem(
            problem.INVALID_PARAMETER,
            f"validTime: at most {RELATED_MAX} other subjects go into a bundle, not {len(related)}",
        )
    found = [*records]
    for other in related:
        found += await records_of(ctx, other, size=head.size)
    return stix.bundle(
        found,
        subject,
        ledger=head.ledger,
        valid_time=asked.valid_time,
        record_time=asked.record_time or head.recorded_at,
        size=head.size,
        tlp=tlp,
    )


# -- the log -----------------------------------------------------------------------------------


async def exported(
    ctx: Context, start: int, end: int, *, bytes_max: int = EXPORT_BYTES_MAX
) -> tuple[bytes, ...]:
    """Raw lines from `start` up to and without `end`, fewer where they would grow too large."""
    lines: list[bytes] = []
    bytes_ = 0
    # At most 64 KiB a line, so that a step never holds more than the page may.
    for at in range(start, end, 64):
        if bytes_ >= bytes_max:
            break
        step = await ctx.tx.ledger.lines(at, min(end, at + 64))
        lines += step
        bytes_ += sum(map(len, step))
    return tuple(lines)


async def tile_bytes(ctx: Context, path: str) -> bytes:
    """The bytes of a tile (C2SP tlog-tiles).

    Raises:
        Problem: NOT_FOUND where the path names none, or the ledger has not filled it yet.
    """
    nothing = Problem(problem.NOT_FOUND, "The ledger has no such tile.")
    try:
        tile = Tile.parse(f"tile/{path}")
    except tiles.TileError as unknown:
        raise nothing from unknown
    if not tile.is_in((await head_of(ctx)).size) or tile.span.level > LEDGER_LEVELS[-1]:
        raise nothing
    if tile.level is None:
        lines = await ctx.tx.ledger.lines(tile.span.start, tile.span.end)
        return tiles.entry_bytes([split(line).head for line in lines])
    return tiles.hash_bytes(await ctx.tx.ledger.hashes(*tile.span))


# -- verification ------------------------------------------------------------------------------


@frozen
class Seen:
    """The tree that a caller has seen before; `root` is 32 bytes, None where only its size."""

    size: int
    root: bytes | None


def seen(size: int, root: str | None) -> Seen:
    """What a caller claims to have seen.

    Raises:
        Problem: INVALID_PARAMETER for a root that is no base64 of 32 bytes.
    """
    if root is None:
        return Seen(size, None)
    try:
        # In a query a plus that was not escaped arrives as a space.
        hash_ = from_base64(root.replace(" ", "+").replace("-", "+").replace("_", "/"))
    except NoteError:
        hash_ = b""
    if len(hash_) != HASH_BYTES:
        raise Problem(problem.INVALID_PARAMETER, "fromRootHash: must be the base64 of 32 bytes")
    return Seen(size, hash_)


async def verified(
    ctx: Context,
    *,
    level: Level,
    size: int | None,
    trusted: Seen | None,
    most: int = VERIFIED_MAX,
) -> Verification:
    """The verdict over the ledger's first `size` records.

    Raises:
        Problem: INVALID_PARAMETER for sizes that the ledger never had, or too many records.
    """
    head = await head_of(ctx) if size is None else await stored.prefix(ctx, size)
    consistency = None if trusted is None else await _consistency(ctx, trusted, head)
    start = await _start(ctx, head, trusted, most)
    vkey = VerifierKey(stored.origin_of(ctx, head.ledger), stored.signer_of(ctx).public)
    anchors, checkpoints = await _kept(ctx, head, vkey)
    if trusted is not None and trusted.root is not None:
        anchors.append(Anchor(trusted.size, trusted.root))
    evidence = gather(
        level=level,
        ledger=head.ledger,
        start=start,
        vkey=vkey,
        checkpoints=checkpoints,
        anchors=anchors,
        erased=await erased_later(ctx, _runs(ctx, start.size if start else 0, head.size), head),
    )
    verdict = await _judged(ctx, evidence, head.size)
    return verification(
        verdict,
        ledger=head.ledger,
        origin=vkey.name,
        vkey=vkey.vkey,
        checkpoint=stored.checkpoint_of(ctx, head),
        consistency=consistency,
    )


async def _consistency(ctx: Context, trusted: Seen, head: TreeHead) -> Consistency:
    if trusted.size > head.size:
        raise Problem(problem.INVALID_PARAMETER, f"fromSize: the ledger has {head.size} records")
    own = await stored.prefix(ctx, trusted.size)
    proof = await Proofs(ctx).hashes(consistency_ranges(trusted.size, head.size))
    root = own.root if trusted.root is None else trusted.root
    try:
        verify_consistency(trusted.size, head.size, root, head.root, proof)
        holds = True
    except ProofError:
        holds = False
    return Consistency(trusted.size, to_base64(root), tuple(map(to_base64, proof)), holds)


async def _start(ctx: Context, head: TreeHead, trusted: Seen | None, most: int) -> TreeHead | None:
    """Where verification begins: at the first record, or where a long ledger was seen before."""
    if head.size <= most:
        return None
    if trusted is None or trusted.root is None or head.size - trusted.size > most:
        raise Problem(
            problem.INVALID_PARAMETER,
            f"size: at most {most} records are verified at once; walk the ledger with "
            "size, then fromSize and fromRootHash of the answer before, or verify an export",
        )
    return await stored.prefix(ctx, trusted.size)


async def _kept(
    ctx: Context, head: TreeHead, vkey: VerifierKey
) -> tuple[list[Anchor], list[bytes]]:
    """The checkpoints that were kept: as roots, where they were signed under an earlier name."""
    anchors: list[Anchor] = []
    checkpoints: list[bytes] = []
    for text in await ctx.tx.ledger.checkpoints():
        earlier = _under_its_own_name(text.decode(), vkey)
        if earlier is None:
            checkpoints.append(text)
        elif earlier.size <= head.size and earlier.origin != vkey.name:
            anchors.append(Anchor(earlier.size, earlier.root))
        elif earlier.size <= head.size:
            checkpoints.append(text)
    return anchors, checkpoints


def _under_its_own_name(text: str, vkey: VerifierKey) -> Checkpoint | None:
    """The checkpoint, verified by our key under whatever name it was signed; None if it is not."""
    try:
        name = Checkpoint.parse(parse_note(text).text).origin
        return open_checkpoint(text, VerifierKey(name, vkey.public))
    except NoteError:
        return None


async def _judged(ctx: Context, held: Anchors, size: int) -> Verdict:
    sweep = Sweep(held)
    async for lines in _runs(ctx, held.base, size):
        if not sweep.feed(lines):
            break
    verdict = sweep.finish()
    if verdict is not None:
        return verdict
    diagnosis = Diagnosis(held)
    async for lines in _runs(ctx, held.base, size):
        diagnosis.feed(lines)
    return diagnosis.finish()


async def _runs(ctx: Context, start: int, end: int) -> AsyncIterator[Sequence[bytes]]:
    for at in range(start, end, RUN_LINES_MAX):
        yield await ctx.tx.ledger.lines(at, min(end, at + RUN_LINES_MAX))
