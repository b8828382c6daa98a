"""Rows that several keys name are one row, whichever of the keys is told first.

Rule 1: under which row contributions stand is a pure function of them (`grouping`), so what one
        source joined comes apart when the source takes it back.
Rule 2: a row that another takes up is remembered, so that its id keeps answering.
"""

from collections.abc import Iterable, Mapping, Set

import attrs
from attrs import define, field, frozen

from svc_core.intel.folding.contributions import CONTRIBUTIONS, MERGED_ROWS, Contribution, MergedRow
from svc_core.intel.folding.kind import Kind
from svc_core.intel.folding.union import ALIKE_MAX, Grouped, alike, grouped
from svc_core.operation.context import Context
from svc_core.operation.ports import Document

ROWS_SCANNED = 500  # contributions of touched rows that are read at once
JOINED_MAX = 5_000
"""Contributions that are looked at for the rows of one part of a document; what is beyond is not
joined."""
HOPS_MAX = 16
"""Names that may lie between two contributions to one row; a chain of thousands is no thing."""

Contributions = Mapping[str, Contribution]


@frozen
class Joined:
    """Contributions by id with the rows under which they stand, and the rows that change by it.

    `merged` are rows that were taken up, with those that did so; `parted` rows that are back;
    `read` is what was looked at, as it is stored.
    """

    after: dict[str, Contribution]
    touched: set[str] = field(factory=set)
    merged: dict[str, str] = field(factory=dict)
    parted: set[str] = field(factory=set)
    read: dict[str, Contribution] = field(factory=dict)


@define
class _Common:
    """Names that more than `most` stored rows have, so that they join nothing before or after; and
    what was `read`."""

    most: int
    read: dict[str, Contribution]
    names: set[str] = field(factory=set)


async def joined(ctx: Context, kind: Kind, before: Contributions, after: Contributions) -> Joined:
    """Contributions that were `before` and are `after`, with others that change rows by it."""
    found = Joined(dict(after), read=dict(before))
    changed = [*before.values(), *after.values()]
    names = {name for one in changed for name in one.names}
    common = _Common(ALIKE_MAX + len(changed), found.read)
    named = await _named(ctx, names, common)
    several = [one for one in (*named.values(), *changed) if len(one.names) > 1]
    known = {name for one in several for name in one.names}
    linked = {one.id: one for one in changed if not known.isdisjoint(one.names)}
    if linked:
        todo = _marks([*linked.values(), *several])
        stored = await _closure(ctx, todo, names, named, common)
        held = {id_: after.get(id_, one) for id_, one in (stored | linked).items()}
        told = [one for id_, one in held.items() if id_ in after or id_ not in before]
        await _settle(ctx, found, stored, grouped(kind, told, common.names, ALIKE_MAX))
    found.touched.update(one.row for one in (*before.values(), *found.after.values()))
    live = sorted({one.row for one in found.after.values()})
    found.parted.update(await ctx.tx.documents.get_many(MERGED_ROWS, live))
    for row in sorted(found.parted):
        await ctx.remove(MERGED_ROWS, row)
    return found


async def _settle(ctx: Context, found: Joined, stored: Contributions, placed: Grouped) -> None:
    """Put contributions under their rows, and note which rows were left by it."""
    rows = placed.rows
    for row, group in rows.items():
        for one in group:
            was = stored[one.id].row if one.id in stored else row
            apart = tuple(sorted(placed.apart.get(one.id, ())))
            if (one.row, one.apart) != (row, apart):
                found.after[one.id] = attrs.evolve(one, row=row, apart=apart)
            if was != row:
                found.touched.add(was)
                if was not in rows:
                    found.merged[was] = row
    for was, row in sorted(found.merged.items()):
        await _merge(ctx, was, row)


async def _closure(
    ctx: Context, todo: Set[str], names: Set[str], named: Contributions, common: _Common
) -> dict[str, Contribution]:
    """All that is stored of what these have names in common with; what has `names` is `named`."""
    stored, seen = dict(named), set[str]()
    for _ in range(HOPS_MAX):
        todo = todo - seen
        if not todo or len(stored) > JOINED_MAX:
            break
        more = await _named(ctx, todo - names, common)
        more |= await standing_under(ctx, todo, common.read)
        stored |= more
        seen |= todo
        todo = _marks(more.values())
    return stored


def _marks(contributions: Iterable[Contribution]) -> set[str]:
    return {name for one in contributions for name in (*one.names, one.row)}


async def _named(ctx: Context, names: Set[str], common: _Common) -> dict[str, Contribution]:
    """What has these names, but for those that are too `common`."""
    found: dict[str, Contribution] = {}
    names, after = names - common.names, None
    while names:
        where = {"name": tuple(sorted(names))}
        page = await ctx.tx.documents.scan(
            CONTRIBUTIONS, where=where, after=after, limit=ROWS_SCANNED
        )
        found |= _decoded(page.rows, common.read)
        common.names |= names & alike(found.values(), common.most)
        names, after = names - common.names, page.end
        if after is None:
            break
    return {id_: one for id_, one in found.items() if not names.isdisjoint(one.names)}


async def standing_under(
    ctx: Context, rows: Iterable[str], read: dict[str, Contribution] | None = None
) -> dict[str, Contribution]:
    """What is said of these rows, by the ids of the contributions; what was `read` is no more."""
    read = {} if read is None else read
    where = {"row": tuple(sorted(rows))}
    if not where["row"]:
        return {}
    return _decoded([row async for row in ctx.every(CONTRIBUTIONS, where=where)], read)


def _decoded(
    rows: Iterable[Document[Contribution]], read: dict[str, Contribution]
) -> dict[str, Contribution]:
    """Contributions as they are stored; each is decoded once, as that takes the most time here."""
    found = {row.id: read.get(row.id) or CONTRIBUTIONS.decode(row.raw) for row in rows}
    read |= found
    return found


# -- rows that were taken up -------------------------------------------------------------------


async def _merge(ctx: Context, other: str, row: str) -> None:
    taken_up = await ctx.tx.documents.scan(
        MERGED_ROWS, where={"into": (other,)}, limit=ROWS_SCANNED
    )
    for id_ in [other, *(document.id for document in taken_up.rows)]:
        await ctx.save(MERGED_ROWS, id_, MergedRow(id_, row))


async def survivor(ctx: Context, row: str) -> str:
    """The id under which a row stands now: its own, or that of the row that took it up."""
    merged = await ctx.find(MERGED_ROWS, row)
    return row if merged is None else merged.into
