"""The rows of the change feed, and the feed as an event stream (Spec: Change feed).

Rule 1: every row is one event whose id is the watermark after it; a client that names its last
        one misses nothing and gets nothing twice.
Rule 2: rows come in commit order, as pages give them.
Rule 3: rows about what belongs to one person are left out for everybody else, and counted.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final, Literal

from attrs import evolve, frozen

from svc_core.base import instants
from svc_core.base.compact import compact_text
from svc_core.contract import cursor
from svc_core.operation import stream
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.declaration import SSE
from svc_core.operation.ports import Change, ChangeSlice, ChangeType, FeedPosition
from svc_core.operation.stream import Stream, Watch
from svc_core.wire.constraints import Example, IdOf

# The kinds of every collection that publishes its changes; a test holds the two together.
ResourceType = Literal[
    "automation",
    "automationRun",
    "country",
    "entity",
    "incident",
    "indicator",
    "market",
    "newsItem",
    "osintEvent",
    "profile",
    "project",
    "recap",
    "report",
    "signal",
    "subject",
    "subscription",
    "webhook",
]


_SHARED = frozenset({"intel:explorer", "intel:finint", "intel:cyber"})
READERS: Mapping[str, frozenset[str]] = {
    "automation": frozenset({"automations:read"}),
    "automationRun": frozenset({"automations:read"}),
    "country": frozenset({"osint:read"}),
    "entity": frozenset({"intel:explorer"}),
    "incident": _SHARED,
    "indicator": frozenset({"osint:read"}),
    "market": frozenset({"intel:finint"}),
    "newsItem": frozenset({"news:read"}),
    "osintEvent": frozenset({"osint:read"}),
    "profile": frozenset({"profiles:read"}),
    "project": frozenset({"projects:read"}),
    "recap": frozenset({"news:read"}),
    "report": frozenset({"reports:read"}),
    "signal": _SHARED,
    "subject": frozenset({"ledger:read"}),
    "subscription": frozenset({"profiles:read"}),
    "webhook": frozenset({"webhooks:manage"}),
}
"""The scopes with any of which a key reads a resource of each type."""


@frozen
class ChangeLinks:
    """Where the changed resource is."""

    self_: Annotated[str | None, Example("/api/v1/profiles/prf_65f1c0de8badf00d12345678")]
    """Its path; null where it has no address of its own, or the key no scope to read it."""


@frozen
class ChangeRow:
    """One change of one resource."""

    id: Annotated[str, IdOf("chg")]
    change_type: Annotated[ChangeType, Example("created")]
    """What happened to it."""
    resource_type: Annotated[ResourceType, Example("profile")]
    """What it is."""
    resource_id: Annotated[str, Example("prf_65f1c0de8badf00d12345678")]
    """The resource's identifier."""
    tombstone: Annotated[bool, Example(False)]
    """True for a deleted resource."""
    occurred_at: Annotated[datetime, Example("2026-01-31T09:30:00Z")]
    """When it was recorded."""
    version: Annotated[int, Example(1)]
    """The resource's version after the change."""
    changed_fields: Annotated[tuple[str, ...] | None, Example(None)]
    """The members whose values changed; null unless it was updated, or where not known."""
    last_state: Annotated[Mapping[str, Any] | None, Example(None)]
    """The row as it was; null unless a resource that everybody reads was deleted."""
    merged_into_id: Annotated[str | None, Example(None)]
    """The resource that it lives on in; null unless it was merged."""
    links: ChangeLinks


def dump_change(change: Change, actor: Actor) -> bytes:
    """The wire bytes of a `ChangeRow`, made by hand at a third of the cost: a feed is all rows."""
    state = change.last_state
    # Whoever has no key is no key that lacks a scope: people, the operator, who pays.
    is_readable = actor.key_id is None or actor.scopes & READERS[change.resource_type]
    members = {
        "id": change.id,
        "changeType": change.change_type,
        "resourceType": change.resource_type,
        "resourceId": change.resource_id,
        "tombstone": change.change_type == "deleted",
        "occurredAt": instants.render(change.occurred_at),
        "version": change.version,
        "changedFields": change.changed_fields,
        "lastState": None if state is None else json.loads(state),
        "mergedIntoId": change.merged_into_id,
        "links": {"self": change.path if is_readable else None},
    }
    return compact_text(members).encode()


# -- whose rows they are -----------------------------------------------------------------------

READS_MAX: Final = 10
"""Reads for one page; one that holds little but other people's rows is shorter than was asked."""


async def read_visible(
    ctx: Context, after: FeedPosition, *, types: tuple[str, ...] | None, limit: int
) -> ChangeSlice:
    """At most `limit` visible changes after a position; changes of others only advance it."""
    changes: list[Change] = []
    for _ in range(READS_MAX):
        page = await ctx.tx.changes.read(after, types=types, limit=limit - len(changes))
        after = page.position
        changes += (change for change in page.changes if _is_for(ctx, change))
        if not page.has_more or len(changes) == limit:
            break
    return ChangeSlice(tuple(changes), after, page.has_more)


def _is_for(ctx: Context, change: Change) -> bool:
    return change.owner is None or change.owner == ctx.actor.user_id


# -- the event stream --------------------------------------------------------------------------

PAGE_ROWS: Final = 200
"""Rows of one part: about 100 kB, so that a slow reader holds no more of them."""
RETRY_MILLISECONDS: Final = 1_000
"""How soon a client comes back: a restart takes about as long."""


@frozen
class TailPosition:
    """The position of a streaming reader and its filter; an empty set of types means all."""

    epoch: bytes
    position: FeedPosition
    types: frozenset[str] = frozenset()


def tail(place: TailPosition) -> Stream:
    """The event stream of changes after a position, without an end."""
    # Without it a proxy may hold back what is small (the field is nginx's and widely known).
    fields = (("X-Accel-Buffering", "no"),)
    return Stream(SSE.media_type, partial(_parts, place), stream.HEARTBEAT, _farewell, fields)


async def _parts(place: TailPosition, watch: Watch) -> AsyncIterator[bytes]:
    yield stream.retry(RETRY_MILLISECONDS)
    while True:
        frames, place, has_more = await watch.read(partial(_page, place))
        if frames:
            yield frames
        if not has_more:
            await watch.news()


async def _page(place: TailPosition, ctx: Context) -> tuple[bytes, TailPosition, bool]:
    # All types are read, because only so does the count of rows tell the watermark of each.
    page = await ctx.tx.changes.read(place.position, limit=PAGE_ROWS)
    frames = b"".join(_frames(place, page.changes, ctx))
    return frames, evolve(place, position=page.position), page.has_more


def _frames(place: TailPosition, changes: Sequence[Change], ctx: Context) -> list[bytes]:
    frames = []
    shared, own = place.position.everybody, place.position.own
    for change in changes:
        shared, own = shared + change.everybody, own + (not change.everybody)
        if not _is_for(ctx, change):
            continue
        if not place.types or change.resource_type in place.types:
            mark = cursor.Watermark(place.epoch, shared, own)
            data, id_ = (
                dump_change(change, ctx.actor),
                cursor.seal_watermark(mark, ctx.actor.tenant),
            )
            frames.append(stream.event("change", data, id_))
    return frames


def _farewell(problem: bytes | None) -> bytes:
    """The last event: the problem that ended it, or nothing where the reader may just reconnect."""
    return stream.event("end", problem or b"{}")
