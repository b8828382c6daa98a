"""Finds the row of each contribution where rows may have several keys; merges and restores rows.

Rule 1: the row of a contribution is a pure function of all contributions that may be connected
        with it (`svc_core.intel.folding.row_union`), so a row comes apart again when the source
        that joined it withdraws.
Rule 2: a row that was merged into another is remembered, so that its id keeps answering.
"""

from collections.abc import Iterable, Mapping, Set

import attrs
from attrs import define, field, frozen

from svc_core.intel.folding.contributions import CONTRIBUTIONS, MERGED_ROWS, Contribution, MergedRow
from svc_core.intel.folding.kind import RowKind
from svc_core.intel.folding.row_union import Grouping, group_claims, other_names
from svc_core.intel.folding.union import ALIKE_MAX, follow_names, shared_names
from svc_core.operation.context import Context
from svc_core.operation.ports import StoredRow

ROWS_SCANNED = 500  # contributions that are read at once
JOINED_MAX = 5_000
"""The most contributions that are read to place one part of a document; what lies beyond is not
joined."""
HOPS_MAX = 16
"""The longest chain of names between two contributions to one row: no thing has a longer one."""

Claims = Mapping[str, Contribution]


@frozen
class Placement:
    """The rows of contributions after a write, and which rows change by it.

    `after` has the contributions by id, each with its row; `survivors` maps a merged row to the row
    that it was merged into; `restored_ids` are merged rows that are rows again; `cache` holds the
    contributions that were read, as they are stored.
    """

    after: dict[str, Contribution]
    row_ids: set[str] = field(factory=set)
    survivors: dict[str, str] = field(factory=dict)
    restored_ids: set[str] = field(factory=set)
    cache: dict[str, Contribution] = field(factory=dict)


@define
class _SharedNames:
    """The names that more than `limit` stored rows have, so that they join nothing, found while
    contributions are read into `cache`."""

    limit: int
    cache: dict[str, Contribution]
    names: set[str] = field(factory=set)


async def assign_rows(ctx: Context, kind: RowKind, before: Claims, after: Claims) -> Placement:
    """Places contributions that replace others, with all stored ones that change rows by it."""
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
    """Move contributions to their rows, and remember which rows were emptied by it."""
    rows = grouping.rows
    for row, group in rows.items():
        for claim in group:
            old_row = closure[claim.id].row if claim.id in closure else row
            refusals = tuple(sorted(grouping.apart.get(claim.id, ())))
            if (claim.row, claim.apart) != (row, refusals):
                placement.after[claim.id] = attrs.evolve(claim, row=row, apart=refusals)
            if old_row != row:
                placement.row_ids.add(old_row)
                if old_row not in rows:
                    placement.survivors[old_row] = row
    for old_row, row in sorted(placement.survivors.items()):
        await _merge(ctx, old_row, row)


async def _closure(
    ctx: Context, frontier: Set[str], names: Set[str], namesakes: Claims, common: _SharedNames
) -> dict[str, Contribution]:
    """The stored contributions connected with these names, hop by hop.

    `namesakes` are those that have one of `names`, which were read before.
    """
    closure = dict(namesakes)

    async def read(row_names: Set[str]) -> set[str]:
        batch = await _bearers(ctx, row_names - names, common)
        batch |= await contributions_of(ctx, row_names, common.cache)
        closure.update(batch)
        return _row_names(batch.values()) if len(closure) <= JOINED_MAX else set()

    await follow_names(frontier, read, HOPS_MAX)
    return closure


def _row_names(contributions: Iterable[Contribution]) -> set[str]:
    return {name for claim in contributions for name in (*claim.names, claim.row)}


async def _bearers(ctx: Context, names: Set[str], common: _SharedNames) -> dict[str, Contribution]:
    """The stored contributions that have these names, except names that are too `common`."""
    claims: dict[str, Contribution] = {}
    names, after = names - common.names, None
    while names:
        clause = {"name": tuple(sorted(names))}
        page = await ctx.tx.documents.scan(
            CONTRIBUTIONS, where=clause, after=after, limit=ROWS_SCANNED
        )
        claims |= _decode(page.rows, common.cache)
        common.names |= names & shared_names(other_names(claims.values()), common.limit)
        names, after = names - common.names, page.end
        if after is None:
            break
    return {id_: claim for id_, claim in claims.items() if not names.isdisjoint(claim.names)}


async def contributions_of(
    ctx: Context, rows: Iterable[str], cache: dict[str, Contribution] | None = None
) -> dict[str, Contribution]:
    """The contributions to these rows, by id; those in `cache` are not decoded again."""
    cache = {} if cache is None else cache
    clause = {"row": tuple(sorted(rows))}
    if not clause["row"]:
        return {}
    return _decode([row async for row in ctx.every(CONTRIBUTIONS, where=clause)], cache)


def _decode(
    rows: Iterable[StoredRow[Contribution]], cache: dict[str, Contribution]
) -> dict[str, Contribution]:
    """Decodes contributions, each once: decoding takes most of the time here."""
    claims = {row.id: cache.get(row.id) or CONTRIBUTIONS.decode(row.raw) for row in rows}
    cache |= claims
    return claims


# -- merged rows -------------------------------------------------------------------------------


async def _merge(ctx: Context, old_row: str, row: str) -> None:
    absorbed_rows = await ctx.tx.documents.scan(
        MERGED_ROWS, where={"into": (old_row,)}, limit=ROWS_SCANNED
    )
    for id_ in [old_row, *(document.id for document in absorbed_rows.rows)]:
        await ctx.save(MERGED_ROWS, id_, MergedRow(id_, row))


async def survivor(ctx: Context, row: str) -> str:
    """The id that a row answers to now: its own, or that of the row that it was merged into."""
    merger = await ctx.find(MERGED_ROWS, row)
    return row if merger is None else merger.into
