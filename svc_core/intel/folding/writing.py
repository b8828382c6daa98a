"""Rows as they are stored: folded of their contributions, written where they say something new.

Rule: a row is written only where it says something new to a reader; with it goes its change, but
for one that is quiet: it is written as it is now, under the revision that it has.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any, get_origin

import attrs
from attrs import frozen

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
from svc_core.intel.folding.kind import RowKind, Written
from svc_core.intel.folding.model import LastRun
from svc_core.intel.folding.rules import Rules, strongest_contribution
from svc_core.operation.context import Context
from svc_core.operation.ports import Collection, Document
from svc_core.wire import shapes


@frozen
class Taken:
    """What one document brought, or a part of it: rows."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0

    def __add__(self, other: "Taken") -> "Taken":
        """What both brought."""
        left, right = attrs.astuple(self), attrs.astuple(other)
        return Taken(*map(sum, zip(left, right, strict=True)))

    def run(self, rejected: int) -> LastRun:
        """How a run that brought it is told of."""
        return LastRun(self.created, self.updated, self.unchanged, self.deleted, rejected)


async def write(
    ctx: Context,
    kind: RowKind,
    before: Claims,
    after: Claims,
    *,
    forms: Mapping[str, PreparedContribution] = MappingProxyType({}),
    words: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Taken, dict[str, Contribution]]:
    """Write contributions of a kind with the rows that they change; they, where they stand.

    Of what is `forms` the stored form is known; `words` are those of rows.
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


def _claim_counts(before: Claims, after: Claims) -> Taken:
    """What became of contributions that make no rows yet."""
    old = {id_: claim.digest for id_, claim in before.items() if not claim.gone}
    new = {id_: claim.digest for id_, claim in after.items() if not claim.gone}
    return Taken(
        created=len(new.keys() - old.keys()),
        updated=sum(old[id_] != new[id_] for id_ in new.keys() & old.keys()),
        deleted=len(old.keys() - new.keys()),
    )


async def strongest_of(ctx: Context, rules: Rules, ids: Sequence[str]) -> dict[str, Contribution]:
    """Of each row the contribution that others give way to."""
    claims = by_row((await contributions_of(ctx, ids)).values())
    return {row: strongest_contribution(rules, group) for row, group in claims.items()}


async def _refold(
    ctx: Context, kind: RowKind, placement: Placement, words: Mapping[str, Any]
) -> Taken:
    """Fold the touched rows again and write those that say something new."""
    collection: Any = kind.collection
    ids = sorted(placement.row_ids)
    documents = await ctx.tx.documents.get_many(collection, ids)
    claims = await _row_claims(ctx, kind, placement, [row for row in ids if row in documents])
    drafts: dict[str, tuple[Any, Any]] = {}
    all_members: dict[str, Mapping[str, Any] | None] = {}
    quiet_changes: list[Written] = []
    for row in ids:
        before, value = documents.get(row), None
        all_members[row] = members = kind.row_members(row, claims.get(row, ()))
        if members is not None:
            value, is_quiet = _build(kind, collection, members | {"id": row}, before, ctx.now)
            if is_quiet and before is not None:
                await ctx.tx.documents.put(collection, row, value)
                quiet_changes.append(Written(collection.decode(before.raw), value))
                continue
        if value is not None or (members is None and before is not None):
            drafts[row] = (before, value)
    settlements = {} if kind.settle is None else await kind.settle(ctx, drafts)
    changes: list[Written] = []
    for row, (before, draft) in drafts.items():
        value = settlements.get(row, draft)
        if value is not None:
            await _write(ctx, collection, row, value, before, is_back=row in placement.restored_ids)
        else:
            await _remove(ctx, collection, before, placement.survivors.get(row))
        old = None if before is None else collection.decode(before.raw)
        changes.append(Written(old, value, words.get(row) or _words(kind, all_members[row], value)))
    for follow in kind.follows:
        await follow(ctx, [*changes, *quiet_changes])
    return Taken(
        created=sum(change.before is None for change in changes),
        updated=sum(change.before is not None and change.after is not None for change in changes),
        deleted=sum(change.after is None for change in changes),
    )


async def _row_claims(
    ctx: Context, kind: RowKind, placement: Placement, stored_rows: Sequence[str]
) -> dict[str, list[Contribution]]:
    """What is said of the touched rows.

    Of one that is not stored nothing was said before, but for what makes no row: of a silent
    format, or that it is gone, which may go for other keys too.
    """
    rows = sorted(placement.row_ids) if kind.rules.silent_formats or kind.is_joined else stored_rows
    claims = await contributions_of(ctx, rows, placement.cache | placement.after)
    return by_row((claims | placement.after).values())


def by_row(contributions: Iterable[Contribution]) -> dict[str, list[Contribution]]:
    """Contributions by the rows under which they stand."""
    groups: dict[str, list[Contribution]] = defaultdict(list)
    for claim in contributions:
        groups[claim.row].append(claim)
    return groups


def _words(kind: RowKind, members: Mapping[str, Any] | None, value: Any) -> Any:
    return None if members is None or kind.words is None else kind.words(members, value)


async def _write(
    ctx: Context,
    collection: Collection[Any],
    row: str,
    value: Any,
    before: Document[Any] | None,
    *,
    is_back: bool,
) -> None:
    if before is None and is_back:
        document = await ctx.tx.documents.put(collection, row, value)
        await ctx.record(collection, row, "restored", document.version)
    else:
        await ctx.save(collection, row, value, before=before)


async def _remove(
    ctx: Context, collection: Collection[Any], row: Document[Any], merged_into: str | None
) -> None:
    if merged_into is None:
        await ctx.remove(collection, row.id)
    else:
        await ctx.tx.documents.delete(collection, row.id)
        await ctx.record(collection, row.id, "merged", row.version + 1, merged_into_id=merged_into)


def _build(
    kind: RowKind,
    collection: Collection[Any],
    members: Mapping[str, Any],
    before: Document[Any] | None,
    now: datetime,
) -> tuple[Any, bool]:
    """The row of these members, and whether it is quiet; None where it says nothing new."""
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
    names = changed_fields(kind.complete(before.raw), wire.dumps(value))
    if not names or kind.is_idle(names, old, draft):
        return None, False
    if kind.is_quiet(names, old, draft):
        last_change = instants.parse(old["updatedAt"])
        return attrs.evolve(value, updated_at=last_change, revision=old["revision"]), True
    return value, False


@cache
def _blank(model: Any) -> Mapping[str, Any]:
    """The members of a row of which nobody says anything: null, and lists are empty."""
    return {
        wire.camel(member.name): [] if get_origin(shapes.split(member.type)[0]) is tuple else None
        for member in attrs.fields(model)
        if member.default is attrs.NOTHING
    }
