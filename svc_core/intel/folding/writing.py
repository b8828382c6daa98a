"""Writes contributions, folds the rows that they touch, and stores the rows that changed.

Rule: a row is written, with its change record, only where a reader would see a difference. A quiet
change (its kind decides) is stored without a change record, under the revision that the row has.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any, get_origin

import attrs

from svc_core import wire
from svc_core.base import instants
from svc_core.base.differences import changed_fields
from svc_core.intel.folding.contributions import (
    CONTRIBUTIONS,
    PREPARED_CONTRIBUTIONS,
    Contribution,
    PreparedContribution,
    prepare_contribution,
)
from svc_core.intel.folding.identity import Claims, Placement, assign_rows, contributions_of
from svc_core.intel.folding.kind import RowChange, RowKind
from svc_core.intel.folding.model import RowCounts
from svc_core.intel.folding.rules import Rules, strongest_contribution
from svc_core.operation.context import Context
from svc_core.operation.ports import Collection, StoredRow
from svc_core.wire import shapes


async def write(
    ctx: Context,
    kind: RowKind,
    before: Claims,
    after: Claims,
    *,
    forms: Mapping[str, PreparedContribution] = MappingProxyType({}),
    words: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[RowCounts, dict[str, Contribution]]:
    """Replace the contributions `before` by those `after`, and refold the rows that change.

    `forms` are contributions that are encoded already, `words` the words of news items by row. The
    counts of rows, and the contributions as they are stored.
    """
    if kind.is_joined:
        placement = await assign_rows(ctx, kind, before, after)
    else:
        placement = Placement(dict(after), {c.row for c in (*before.values(), *after.values())})
    for id_ in before.keys() - placement.after.keys():
        await ctx.tx.documents.delete(CONTRIBUTIONS, id_)
    for id_, claim in placement.after.items():
        form = forms.get(id_)
        if form is None or form.contribution is not claim:
            form = prepare_contribution(claim)
        await ctx.tx.documents.put(PREPARED_CONTRIBUTIONS, id_, form)
    if kind.collection is not None:
        counts = await _refold(ctx, kind, placement, words)
    else:
        counts = _claim_counts(before, after)
        if kind.listen is not None:
            await kind.listen(ctx, [*before.values(), *after.values()])
    return counts, {id_: placement.after[id_] for id_ in after}


def _claim_counts(before: Claims, after: Claims) -> RowCounts:
    """Counts contributions in place of rows, for a kind that has no rows."""
    old = {id_: claim.digest for id_, claim in before.items() if not claim.gone}
    new = {id_: claim.digest for id_, claim in after.items() if not claim.gone}
    return RowCounts(
        created=len(new.keys() - old.keys()),
        updated=sum(old[id_] != new[id_] for id_ in new.keys() & old.keys()),
        deleted=len(old.keys() - new.keys()),
    )


async def strongest_of(ctx: Context, rules: Rules, ids: Sequence[str]) -> dict[str, Contribution]:
    """The strongest contribution of each row."""
    claims = by_row((await contributions_of(ctx, ids)).values())
    return {row: strongest_contribution(rules, group) for row, group in claims.items()}


async def _refold(
    ctx: Context, kind: RowKind, placement: Placement, words: Mapping[str, Any]
) -> RowCounts:
    """Fold the touched rows again, and write those that differ."""
    collection: Any = kind.collection
    ids = sorted(placement.row_ids)
    documents = await ctx.tx.documents.get_many(collection, ids)
    claims = await _row_claims(ctx, kind, placement, [row for row in ids if row in documents])
    drafts: dict[str, tuple[Any, Any]] = {}
    all_members: dict[str, Mapping[str, Any] | None] = {}
    quiet_changes: list[RowChange] = []
    for row in ids:
        before, value = documents.get(row), None
        all_members[row] = members = kind.row_members(row, claims.get(row, ()))
        if members is not None:
            value, is_quiet = _build(kind, collection, members | {"id": row}, before, ctx.now)
            if is_quiet and before is not None:
                await ctx.tx.documents.put(collection, row, value)
                quiet_changes.append(RowChange(collection.decode(before.raw), value))
                continue
        if value is not None or (members is None and before is not None):
            drafts[row] = (before, value)
    settlements = {} if kind.settle is None else await kind.settle(ctx, drafts)
    changes: list[RowChange] = []
    for row, (before, draft) in drafts.items():
        value = settlements.get(row, draft)
        if value is not None:
            is_back = row in placement.restored_ids
            await write_row(ctx, collection, row, value, before=before, is_back=is_back)
        else:
            await remove_row(ctx, collection, before, placement.survivors.get(row))
        old = None if before is None else collection.decode(before.raw)
        changes.append(
            RowChange(old, value, words.get(row) or _words(kind, all_members[row], value))
        )
    for follow in kind.follows:
        await follow(ctx, [*changes, *quiet_changes])
    return RowCounts(
        created=sum(change.before is None for change in changes),
        updated=sum(change.before is not None and change.after is not None for change in changes),
        deleted=sum(change.after is None for change in changes),
    )


async def _row_claims(
    ctx: Context, kind: RowKind, placement: Placement, stored_rows: Sequence[str]
) -> dict[str, list[Contribution]]:
    """The contributions to the touched rows, stored and new.

    A row that is not stored had no contributions before, except for kinds where contributions may
    make no row: of silent formats, or withdrawn ones, which may bear on other keys.
    """
    rows = sorted(placement.row_ids) if kind.rules.silent_formats or kind.is_joined else stored_rows
    claims = await contributions_of(ctx, rows, placement.cache | placement.after)
    return by_row((claims | placement.after).values())


def by_row(contributions: Iterable[Contribution]) -> dict[str, list[Contribution]]:
    """Groups contributions by row."""
    groups: dict[str, list[Contribution]] = defaultdict(list)
    for claim in contributions:
        groups[claim.row].append(claim)
    return groups


def _words(kind: RowKind, members: Mapping[str, Any] | None, value: Any) -> Any:
    return None if members is None or kind.words is None else kind.words(members, value)


async def write_row(
    ctx: Context,
    collection: Collection[Any],
    row: str,
    value: Any,
    *,
    before: StoredRow[Any] | None,
    is_back: bool,
) -> None:
    """Write a row; one that was merged into another and is back is `restored`."""
    if before is None and is_back:
        document = await ctx.tx.documents.put(collection, row, value)
        await ctx.record(collection, row, "restored", document.version)
    else:
        await ctx.save(collection, row, value, before=before)


async def remove_row(
    ctx: Context, collection: Collection[Any], row: StoredRow[Any], merged_into: str | None
) -> None:
    """Remove a row; one that became part of another is `merged`."""
    if merged_into is None:
        await ctx.remove(collection, row.id)
    else:
        await ctx.tx.documents.delete(collection, row.id)
        await ctx.record(collection, row.id, "merged", row.version + 1, merged_into_id=merged_into)


def _build(
    kind: RowKind,
    collection: Collection[Any],
    members: Mapping[str, Any],
    before: StoredRow[Any] | None,
    now: datetime,
) -> tuple[Any, bool]:
    """The row of these members, and whether its change is quiet; None where it does not differ."""
    timestamp = instants.render(now)
    old = {} if before is None else json.loads(before.raw)
    draft = dict(_blank(collection.model))  # type: ignore[arg-type]  # mypy: classes are hashable
    is_timed = "revision" in draft
    draft |= {name: value for name, value in members.items() if value is not None}
    draft |= {name: old[name] for name in kind.own_members if name in old}
    if is_timed:
        draft["createdAt"], draft["updatedAt"] = old.get("createdAt", timestamp), timestamp
        draft["revision"] = old.get("revision", 0) + 1
    else:
        draft["recordedAt"] = timestamp
    value = wire.from_json(collection.model, draft)
    if before is None:
        return value, False
    names = changed_fields(before.raw, wire.to_bytes(value))
    if not names or kind.is_idle(names, old, draft):
        return None, False
    if kind.is_quiet(names, old, draft):
        last_change = instants.parse(old["updatedAt"])
        return attrs.evolve(value, updated_at=last_change, revision=old["revision"]), True
    return value, False


@cache
def _blank(model: Any) -> Mapping[str, Any]:
    """The members of a row that no source states: null, and lists empty."""
    return {
        wire.camel(member.name): []
        if get_origin(shapes.split_annotation(member.type)[0]) is tuple
        else None
        for member in attrs.fields(model)
        if member.default is attrs.NOTHING
    }
