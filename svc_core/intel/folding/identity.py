"""Rows that several keys name are one row, whichever of the keys is told first.

Rule 1: under which row contributions stand is a pure function of them (`grouping`), so what one
        source joined comes apart when the source takes it back.
Rule 2: a row that another takes up is remembered, so that its id keeps answering.
"""

from collections.abc import Iterable, Mapping, Set

import attrs
from attrs import define, field, frozen

from svc_core.intel.folding.contributions import CONTRIBUTIONS, MERGED_ROWS, Contribution, MergedRow
from svc_core.intel.folding.kind import RowKind
from svc_core.intel.folding.union import ALIKE_MAX, Grouping, group_claims, shared_names
from svc_core.operation.context import Context
from svc_core.operation.ports import Document

ROWS_SCANNED = 500  # contributions of touched rows that are read at once
JOINED_MAX = 5_000
"""Contributions that are looked at for the rows of one part of a document; what is beyond is not
joined."""
HOPS_MAX = 16
"""Names that may lie between two contributions to one row; a chain of thousands is no thing."""

Claims = Mapping[str, Contribution]


@frozen
class Placement:
    """Contributions by id with the rows under which they stand, and the rows that change by it.

    `survivors` are rows that were taken up, with those that did so; `restored_ids` rows that are back;
    `cache` is what was looked at, as it is stored.
    """

    after: dict[str, Contribution]
    row_ids: set[str] = field(factory=set)
    survivors: dict[str, str] = field(factory=dict)
    restored_ids: set[str] = field(factory=set)
    cache: dict[str, Contribution] = field(factory=dict)


@define
class _SharedNames:
    """Names that more than `limit` stored rows have, so that they join nothing before or after; and
    what was `cache`."""

    limit: int
    cache: dict[str, Contribution]
    names: set[str] = field(factory=set)


async def assign_rows(ctx: Context, kind: RowKind, before: Claims, after: Claims) -> Placement:
    """Contributions that were `before` and are `after`, with others that change rows by it."""
    placement = Placement(dict(after), cache=dict(before))
    changes = [*before.values(), *after.values()]
    names = {name for claim in changes for name in claim.names}
    common = _SharedNames(ALIKE_MAX + len(changes), placement.cache)
    namesakes = await _bearers(ctx, names, common)
    bridges = [claim for claim in (*namesakes.values(), *changes) if len(claim.names) > 1]
    bridged_names = {name for claim in bridges for name in claim.names}
    joinable = {claim.id: claim for claim in changes if not bridged_names.isdisjoint(claim.names)}
    if joinable:
        frontier = _row_names([*joinable.values(), *bridges])
        closure = await _closure(ctx, frontier, names, namesakes, common)
        claims = {id_: after.get(id_, claim) for id_, claim in (closure | joinable).items()}
        members = [claim for id_, claim in claims.items() if id_ in after or id_ not in before]
        await _place(ctx, placement, closure, group_claims(kind, members, common.names, ALIKE_MAX))
    placement.row_ids.update(claim.row for claim in (*before.values(), *placement.after.values()))
    live = sorted({claim.row for claim in placement.after.values()})
    placement.restored_ids.update(await ctx.tx.documents.get_many(MERGED_ROWS, live))
    for row in sorted(placement.restored_ids):
        await ctx.remove(MERGED_ROWS, row)
    return placement


async def _place(ctx: Context, placement: Placement, closure: Claims, grouping: Grouping) -> None:
    """Put contributions under their rows, and note which rows were left by it."""
    rows = grouping.rows
    for row, group in rows.items():
        for claim in group:
            old_row = closure[claim.id].row if claim.id in closure else row
            apart = tuple(sorted(grouping.apart.get(claim.id, ())))
            if (claim.row, claim.apart) != (row, apart):
                placement.after[claim.id] = attrs.evolve(claim, row=row, apart=apart)
            if old_row != row:
                placement.row_ids.add(old_row)
                if old_row not in rows:
                    placement.survivors[old_row] = row
    for old_row, row in sorted(placement.survivors.items()):
        await _merge(ctx, old_row, row)


async def _closure(
    ctx: Context, frontier: Set[str], names: Set[str], namesakes: Claims, common: _SharedNames
) -> dict[str, Contribution]:
    """All that is stored of what these have names in common with; what has `names` is `namesakes`."""
    closure, seen = dict(namesakes), set[str]()
    for _ in range(HOPS_MAX):
        frontier = frontier - seen
        if not frontier or len(closure) > JOINED_MAX:
            break
        batch = await _bearers(ctx, frontier - names, common)
        batch |= await contributions_of(ctx, frontier, common.cache)
        closure |= batch
        seen |= frontier
        frontier = _row_names(batch.values())
    return closure


def _row_names(contributions: Iterable[Contribution]) -> set[str]:
    return {name for claim in contributions for name in (*claim.names, claim.row)}


async def _bearers(ctx: Context, names: Set[str], common: _SharedNames) -> dict[str, Contribution]:
    """What has these names, but for those that are too `common`."""
    claims: dict[str, Contribution] = {}
    names, after = names - common.names, None
    while names:
        clause = {"name": tuple(sorted(names))}
        page = await ctx.tx.documents.scan(
            CONTRIBUTIONS, where=clause, after=after, limit=ROWS_SCANNED
        )
        claims |= _decode(page.rows, common.cache)
        common.names |= names & shared_names(claims.values(), common.limit)
        names, after = names - common.names, page.end
        if after is None:
            break
    return {id_: claim for id_, claim in claims.items() if not names.isdisjoint(claim.names)}


async def contributions_of(
    ctx: Context, rows: Iterable[str], cache: dict[str, Contribution] | None = None
) -> dict[str, Contribution]:
    """What is said of these rows, by the ids of the contributions; what was `cache` is no more."""
    cache = {} if cache is None else cache
    clause = {"row": tuple(sorted(rows))}
    if not clause["row"]:
        return {}
    return _decode([row async for row in ctx.every(CONTRIBUTIONS, where=clause)], cache)


def _decode(
    rows: Iterable[Document[Contribution]], cache: dict[str, Contribution]
) -> dict[str, Contribution]:
    """Contributions as they are stored; each is decoded once, as that takes the most time here."""
    claims = {row.id: cache.get(row.id) or CONTRIBUTIONS.decode(row.raw) for row in rows}
    cache |= claims
    return claims


# -- rows that were taken up -------------------------------------------------------------------


async def _merge(ctx: Context, old_row: str, row: str) -> None:
    absorbed_rows = await ctx.tx.documents.scan(
        MERGED_ROWS, where={"into": (old_row,)}, limit=ROWS_SCANNED
    )
    for id_ in [old_row, *(document.id for document in absorbed_rows.rows)]:
        await ctx.save(MERGED_ROWS, id_, MergedRow(id_, row))


async def survivor(ctx: Context, row: str) -> str:
    """The id under which a row stands now: its own, or that of the row that took it up."""
    merger = await ctx.find(MERGED_ROWS, row)
    return row if merger is None else merger.into
