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
from svc_core.intel.folding.contributions import CONTRIBUTIONS, READY, Contribution, Ready, ready
from svc_core.intel.folding.identity import Contributions, Joined, joined, standing_under
from svc_core.intel.folding.kind import Kind, Written
from svc_core.intel.folding.model import LastRun
from svc_core.intel.folding.rules import Rules, strongest
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

    def __add__(self, more: "Taken") -> "Taken":
        """What both brought."""
        mine, theirs = attrs.astuple(self), attrs.astuple(more)
        return Taken(*map(sum, zip(mine, theirs, strict=True)))

    def run(self, rejected: int) -> LastRun:
        """How a run that brought it is told of."""
        return LastRun(self.created, self.updated, self.unchanged, self.deleted, rejected)


async def write(
    ctx: Context,
    kind: Kind,
    was: Contributions,
    now: Contributions,
    *,
    made: Mapping[str, Ready] = MappingProxyType({}),
    words: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Taken, dict[str, Contribution]]:
    """Write contributions of a kind with the rows that they change; they, where they stand.

    Of what is `made` the stored form is known; `words` are those of rows.
    """
    if kind.joined:
        placed = await joined(ctx, kind, was, now)
    else:
        placed = Joined(dict(now), {one.row for one in (*was.values(), *now.values())})
    for id_ in was.keys() - placed.after.keys():
        await ctx.tx.documents.delete(CONTRIBUTIONS, id_)
    for id_, one in placed.after.items():
        prepared = made.get(id_)
        if prepared is None or prepared.contribution is not one:
            prepared = ready(one)
        await ctx.tx.documents.put(READY, id_, prepared)
    if kind.collection is not None:
        brought = await _refold(ctx, kind, placed, words)
    else:
        brought = _counted(was, now)
        if kind.heard is not None:
            await kind.heard(ctx, [*was.values(), *now.values()])
    return brought, {id_: placed.after[id_] for id_ in now}


def _counted(before: Contributions, after: Contributions) -> Taken:
    """What became of contributions that make no rows yet."""
    was = {id_: one.digest for id_, one in before.items() if not one.gone}
    now = {id_: one.digest for id_, one in after.items() if not one.gone}
    return Taken(
        created=len(now.keys() - was.keys()),
        updated=sum(was[id_] != now[id_] for id_ in now.keys() & was.keys()),
        deleted=len(was.keys() - now.keys()),
    )


async def strongest_of(ctx: Context, rules: Rules, ids: Sequence[str]) -> dict[str, Contribution]:
    """Of each row the contribution that others give way to."""
    told = by_row((await standing_under(ctx, ids)).values())
    return {row: strongest(rules, each) for row, each in told.items()}


async def _refold(ctx: Context, kind: Kind, placed: Joined, words: Mapping[str, Any]) -> Taken:
    """Fold the touched rows again and write those that say something new."""
    collection: Any = kind.collection
    ids = sorted(placed.touched)
    stored = await ctx.tx.documents.get_many(collection, ids)
    told = await _told(ctx, kind, placed, [row for row in ids if row in stored])
    built: dict[str, tuple[Any, Any]] = {}
    said: dict[str, Mapping[str, Any] | None] = {}
    quiet: list[Written] = []
    for row in ids:
        before, value = stored.get(row), None
        said[row] = members = kind.folded(row, told.get(row, ()))
        if members is not None:
            value, is_quiet = _built(kind, collection, members | {"id": row}, before, ctx.now)
            if is_quiet and before is not None:
                await ctx.tx.documents.put(collection, row, value)
                quiet.append(Written(collection.decode(before.raw), value))
                continue
        if value is not None or (members is None and before is not None):
            built[row] = (before, value)
    settled = {} if kind.settle is None else await kind.settle(ctx, built)
    changes: list[Written] = []
    for row, (before, first) in built.items():
        value = settled.get(row, first)
        if value is not None:
            await _write(ctx, collection, row, value, before, is_back=row in placed.parted)
        else:
            await _remove(ctx, collection, before, placed.merged.get(row))
        old = None if before is None else collection.decode(before.raw)
        changes.append(Written(old, value, words.get(row) or _words(kind, said[row], value)))
    for follow in kind.follows:
        await follow(ctx, [*changes, *quiet])
    return Taken(
        created=sum(one.before is None for one in changes),
        updated=sum(one.before is not None and one.after is not None for one in changes),
        deleted=sum(one.after is None for one in changes),
    )


async def _told(
    ctx: Context, kind: Kind, placed: Joined, known: Sequence[str]
) -> dict[str, list[Contribution]]:
    """What is said of the touched rows.

    Of one that is not stored nothing was said before, but for what makes no row: of a silent
    format, or that it is gone, which may go for other keys too.
    """
    rows = sorted(placed.touched) if kind.rules.silent or kind.joined else known
    stored = await standing_under(ctx, rows, placed.read | placed.after)
    return by_row((stored | placed.after).values())


def by_row(contributions: Iterable[Contribution]) -> dict[str, list[Contribution]]:
    """Contributions by the rows under which they stand."""
    found: dict[str, list[Contribution]] = defaultdict(list)
    for one in contributions:
        found[one.row].append(one)
    return found


def _words(kind: Kind, members: Mapping[str, Any] | None, value: Any) -> Any:
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


def _built(
    kind: Kind,
    collection: Collection[Any],
    members: Mapping[str, Any],
    before: Document[Any] | None,
    now: datetime,
) -> tuple[Any, bool]:
    """The row of these members, and whether it is quiet; None where it says nothing new."""
    at = instants.render(now)
    old = {} if before is None else json.loads(before.raw)
    made = dict(_blank(collection.model))  # type: ignore[arg-type]  # mypy: classes are hashable
    is_timed = "revision" in made
    made |= {name: value for name, value in members.items() if value is not None}
    made |= {name: old[name] for name in kind.kept if name in old}
    if is_timed:
        made["createdAt"], made["updatedAt"] = old.get("createdAt", at), at
        made["revision"] = old.get("revision", 0) + 1
    else:
        made["recordedAt"] = at
    value = wire.from_json(collection.model, made)
    if before is None:
        return value, False
    names = changed_fields(kind.whole(before.raw), wire.dumps(value))
    if not names or kind.idle(names, old, made):
        return None, False
    if kind.quiet(names, old, made):
        was = instants.parse(old["updatedAt"])
        return attrs.evolve(value, updated_at=was, revision=old["revision"]), True
    return value, False


@cache
def _blank(model: Any) -> Mapping[str, Any]:
    """The members of a row of which nobody says anything: null, and lists are empty."""
    return {
        wire.camel(one.name): [] if get_origin(shapes.split(one.type)[0]) is tuple else None
        for one in attrs.fields(model)
        if one.default is attrs.NOTHING
    }
