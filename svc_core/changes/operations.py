"""Operations of the change feed: pages, the event stream, and the newest watermark."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any

from attrs import evolve, frozen

from svc_core import wire
from svc_core.base.ids import EXAMPLE_DIGITS
from svc_core.base.unset import UNSET, Maybe, Unset
from svc_core.changes.render import (
    ChangeRow,
    ResourceType,
    TailPosition,
    dump_change,
    read_visible,
    tail,
)
from svc_core.contract import cursor, envelope, problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Content, Page, Single
from svc_core.operation import stream
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.declaration import (
    EVERYBODY,
    JSON,
    QUERY,
    SSE,
    T3_ENRICHED,
    TEXT,
    UTF8_TEXT,
    InputRefusal,
    Operation,
    Trait,
    declare,
    header_field,
    local,
)
from svc_core.operation.members import Limit, NoMembers
from svc_core.operation.ports import BASE_V1, Change, ChangeType, FeedPosition
from svc_core.operation.stream import Stream
from svc_core.wire.constraints import Example, Pattern

_WATERMARK = "w1.ZfHA3out8A0AAAAAAAAAKQAAAAAAAAAH1c4mNQ"  # in examples
_WATERMARK_FORM = Pattern(cursor.WATERMARK_FORM, "a watermark of this feed")


@frozen
class ListChanges:
    """Changes after an exclusive watermark."""

    after: Annotated[
        Maybe[str], QUERY, _WATERMARK_FORM, InputRefusal(problem.INVALID_WATERMARK)
    ] = UNSET
    """The last `meta.watermark`. Default: the beginning."""
    cursor: Annotated[Maybe[str], QUERY, _WATERMARK_FORM, InputRefusal(problem.INVALID_CURSOR)] = (
        UNSET
    )
    """`meta.page.nextCursor` of the page before, unchanged; not together with `after`."""
    types: Annotated[Maybe[tuple[ResourceType, ...]], QUERY, Example(["profile", "report"])] = UNSET
    """Comma list of resource types."""
    limit: Limit = 100
    tail: Annotated[bool, QUERY, Trait.LIVE, Example(False)] = False
    """Stream the rows, and those to come, as `text/event-stream`; `limit` has no effect."""
    last_event_id: Annotated[
        Maybe[str],
        header_field("Last-Event-ID"),
        _WATERMARK_FORM,
        InputRefusal(problem.INVALID_WATERMARK),
    ] = UNSET
    """The id of the last event that was seen; it beats the others. For `tail=true` only."""


async def list_changes(ctx: Context, request: ListChanges) -> Page[ChangeRow] | Stream:
    """Append-only changes after an exclusive watermark, in commit order. Commit each page and
    persist `meta.watermark` last: a client that stops in between sees a page again and misses
    nothing. A deleted resource is a tombstone, with its last state where everybody reads it; an
    updated one names the members that changed; a merged one names what it lives on in. A key sees
    global changes and those of its workspace or user, of projects and automations only its person's
    own; a caller who pays per request sees global changes only. After the service was restored from
    a backup, an old watermark answers 410 `WATERMARK_GONE`: start again without one. With
    `tail=true` the answer is an event stream that stays open: one `change` event for each row,
    whose id is the watermark after it, a comment after 15 seconds of silence, and an `end` event
    when the server closes it, with the problem if there is one; reconnect with `Last-Event-ID`, as
    browsers do by themselves.
    """
    if request.tail:
        return await _tail(ctx, request)
    return await _list_page(ctx, request)


async def _tail(ctx: Context, request: ListChanges) -> Stream:
    if not isinstance(request.last_event_id, Unset):
        request = evolve(request, after=request.last_event_id, cursor=UNSET)
    epoch = await ctx.tx.changes.epoch()
    types = () if isinstance(request.types, Unset) else request.types
    return tail(TailPosition(epoch, await _start(ctx, request, epoch), frozenset(types)))


async def _list_page(ctx: Context, request: ListChanges) -> Page[ChangeRow]:
    """One page of the feed; the watermark is there even when the page is empty."""
    epoch = await ctx.tx.changes.epoch()
    after = await _start(ctx, request, epoch)
    types = None if isinstance(request.types, Unset) else request.types
    changes = await read_visible(ctx, after, types=types, limit=request.limit)
    mark = cursor.Watermark(epoch, changes.position.everybody, changes.position.own)
    watermark = cursor.seal_watermark(mark, ctx.actor.tenant)
    return Page(
        tuple(dump_change(change, ctx.actor) for change in changes.changes),
        next_cursor=watermark if changes.has_more else None,
        next_parameter="after" if isinstance(request.cursor, Unset) else "cursor",
        meta={"watermark": watermark},
    )


@frozen
class FeedHead:
    """The watermark after the newest change."""

    workspace_id: str
    watermark: str


async def read_feed_head(ctx: Context, _: NoMembers) -> Single[FeedHead] | Content:
    """The watermark after the newest change: where a consumer that wants no past begins."""
    position = await ctx.tx.changes.head()
    mark = cursor.Watermark(await ctx.tx.changes.epoch(), position.everybody, position.own)
    watermark = cursor.seal_watermark(mark, ctx.actor.tenant)
    if ctx.format == TEXT.format:
        return Content(UTF8_TEXT, f"{watermark}\n".encode())
    return Single(wire.to_bytes(FeedHead(ctx.actor.tenant, watermark)))


async def _start(ctx: Context, request: ListChanges, epoch: bytes) -> FeedPosition:
    """The position named by the watermark of a request; the beginning without one.

    Raises:
        Problem: INVALID_WATERMARK or INVALID_CURSOR by where it stands, CONFLICTING_PARAMETERS for
            one in both places, or WATERMARK_GONE for one of another epoch or of the future.
    """
    token, refusal = request.after, problem.INVALID_WATERMARK
    if not isinstance(request.cursor, Unset):
        if not isinstance(token, Unset):
            detail, step = (
                "cursor: cannot be combined with after",
                "Send cursor or after, not both.",
            )
            raise Problem(problem.CONFLICTING_PARAMETERS, detail, resolution=step)
        token, refusal = request.cursor, problem.INVALID_CURSOR
    if isinstance(token, Unset):
        return FeedPosition()
    try:
        mark = cursor.open_watermark(token, ctx.actor.tenant)
    except cursor.WatermarkError as error:
        raise Problem(refusal, "This is not a watermark of this feed.") from error
    head = await ctx.tx.changes.head()
    position = FeedPosition(mark.global_position, mark.tenant_position)
    if mark.epoch != epoch or position.everybody > head.everybody or position.own > head.own:
        raise Problem(problem.WATERMARK_GONE, "The feed was restored since; start without one.")
    return position


_NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def _example_row(
    kind: ChangeType, noun: str, id_: str, version: int, fields: tuple[str, ...] | None = None
) -> bytes:
    own, path = f"chg_{EXAMPLE_DIGITS[:-1]}{version}", f"{BASE_V1}/{noun}s/{id_}"
    change = Change(own, kind, noun, id_, version, _NOON, path, False, fields)
    return dump_change(change, Actor("wsp"))


_ROWS = (
    _example_row("updated", "profile", f"prf_{EXAMPLE_DIGITS}", 2, ("keywords", "name")),
    _example_row("deleted", "report", f"rpt_{EXAMPLE_DIGITS}", 3),
)
_PAGE = Page[object](_ROWS, meta={"watermark": _WATERMARK})
_EXAMPLES = {
    "response": json.loads(envelope.page_body(_PAGE, next_link=None, aliases=False)),
    SSE.media_type: stream.event("change", _ROWS[0], _WATERMARK).decode(),
}

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    declare(
        "changes list",
        "GET /changes",
        "Read the change feed",
        list_changes,
        columns=("occurredAt", "changeType", "resourceType", "resourceId", "version"),
        version="2.0",
        scopes=frozenset({"osint:read"}),
        auth="bearer-or-x402",
        tier=T3_ENRICHED,  # the spec lets it be paid for and shows no price: the least there is
        fails=(
            problem.INVALID_WATERMARK,
            problem.WATERMARK_GONE,
            problem.CONFLICTING_PARAMETERS,
        ),
        timeless=True,
        personal=True,
        media=(JSON, SSE),
        examples=_EXAMPLES,
    ),
)

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "changes head",
        "Print the watermark after the newest change",
        read_feed_head,
        id_="getChangesHead",
        method="GET",
        roles=EVERYBODY,
        media=(JSON, TEXT),
    ),
)
