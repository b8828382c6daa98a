"""Threads: conversations that go on over several requests.

Rule 1: a thread is its account's: of a workspace whichever of its keys asks, else of a person. One
        of another account, one that is over and one that never was are refused alike.
Rule 2: turns stand in the order in which they ended, however many go on at once.
Rule 3: a turn is stored as its question and answer, never with what tools gave. A thread is removed
        once it was silent for the retention that the operator chose; with none, nothing is stored,
        and the identifier only says which answers belong together.
Rule 4: people see the threads that they began themselves, with a key or on the dashboard, or that
        their automations did. What they delete is gone for all keys of the account.
"""

from datetime import datetime, timedelta
from functools import partial
from typing import Final

import attrs
from attrs import field, frozen

from svc_core.agent.agent_ports import Message
from svc_core.agent.answer_events import AnswerSource, FinishReason, Usage
from svc_core.agent.request import Metadata
from svc_core.base import ids, instants
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.members import OwnerId, micros
from svc_core.operation.ports import Collection, attribute_keys
from svc_core.operation.units import Units

TURNS_MAX: Final = 200
"""Turns that are kept of a thread: as many as one request may have messages."""
CONTEXT_TURNS: Final = 20
CONTEXT_BYTES: Final = 64 * 1024
"""Turns and bytes of its thread that a new question has as context, the newest first."""
FORGOTTEN_MAX: Final = 50
"""Turns that one unit of work removes: a few megabytes at most."""
TITLE_MAX: Final = 200
"""Characters of a first question that are its thread's title."""


@frozen
class Thread:
    """A conversation: how many turns it had, and when the last one ended."""

    turns: int
    last_at: datetime


@frozen(kw_only=True)
class ThreadTurn:
    """A question and its answer; `number` counts the turns of its thread from 1.

    One that is `incomplete` ended before its answer did: `text` is what the client was sent.
    `metadata` is what the caller attached to the question.
    """

    thread_id: str
    number: int = 0
    asked_at: datetime
    question: str
    text: str
    sources: tuple[AnswerSource, ...] = ()
    finish_reason: FinishReason | None = None
    usage: Usage | None = None
    metadata: Metadata = field(factory=dict)
    incomplete: bool = False


@frozen(kw_only=True)
class ThreadHead:
    """What a list shows of a thread to the person who began it; its first question is its title."""

    id: str
    owner_id: OwnerId
    title: str
    turns: int
    created_at: datetime
    last_at: datetime


THREADS: Collection[Thread] = Collection(
    name="threads", model=Thread, prefix="thr", order=lambda thread: micros(thread.last_at)
)

THREAD_TURNS: Collection[ThreadTurn] = Collection(
    name="thread_turns",
    model=ThreadTurn,
    prefix="msg",
    order=lambda turn: turn.number,
    keys={"thread_id": lambda turn: turn.thread_id},
)
"""Turns, each under the id of the message that answered."""

THREAD_HEADS: Collection[ThreadHead] = Collection(
    name="thread_heads",
    model=ThreadHead,
    prefix="thr",
    order=lambda head: micros(head.last_at),
    keys=attribute_keys("owner_id"),
    owner="owner_id",
)
"""Under the id of the thread; one of an earlier version has none until it goes on."""


@frozen
class ThreadContext:
    """The thread of a question, and the messages before it, oldest first."""

    id: str
    is_new: bool = False
    history: tuple[Message, ...] = ()


async def find(
    ctx: Context, keys: tuple[str | None, str | None, str | None], retention: timedelta
) -> ThreadContext:
    """The thread that a question belongs to, or a new one; nothing is written.

    `keys` are the ids in the body and the header, and the client's own name of the conversation,
    which names a thread of the account from the first question on. A thread ends after a silence of
    `retention`.

    Raises:
        Problem: CONFLICTING_PARAMETERS for two ids that differ; THREAD_NOT_FOUND.
    """
    body_id, header_id, alias = keys
    if body_id and header_id and body_id != header_id:
        detail = "threadId and X-Thread-Id name different threads."
        raise Problem(problem.CONFLICTING_PARAMETERS, detail)
    id_ = body_id or header_id
    if id_ is None and alias is None:
        return ThreadContext(ctx.ids.new("thr"), is_new=True)
    if id_ is None:
        # Derived, so that whoever asks first in two processes begins the same thread.
        id_ = ids.derived_id("thr", "thread", ctx.actor.tenant, alias or "")
    elif not await _exists(ctx, id_, retention):
        raise Problem(problem.THREAD_NOT_FOUND, "No such thread is visible to this key.")
    history = await _history(ctx, id_, retention)
    return ThreadContext(id_, is_new=not history, history=history)


async def _exists(ctx: Context, id_: str, retention: timedelta) -> bool:
    if not retention:
        return ids.is_id("thr", id_)
    thread = await ctx.find(THREADS, id_)
    return thread is not None and thread.last_at >= ctx.now - retention


async def _history(ctx: Context, id_: str, retention: timedelta) -> tuple[Message, ...]:
    since, room = ctx.now - retention, CONTEXT_BYTES
    messages: list[Message] = []
    rows = ctx.every(THREAD_TURNS, CONTEXT_TURNS, where={"thread_id": (id_,)})
    async for row in rows:
        turn = THREAD_TURNS.decode(row.raw)
        room -= len(turn.question.encode()) + len(turn.text.encode())
        if room < 0 or turn.asked_at < since:
            break
        # Models refuse an answer without words.
        answer = [Message("assistant", turn.text)] if turn.text.strip() else []
        messages += [*answer, Message("user", turn.question)]
    return tuple(reversed(messages))


async def begin_thread(ctx: Context, id_: str) -> None:
    """Store the thread, so that it can be continued from its first answer on."""
    if await ctx.find(THREADS, id_) is None:
        await ctx.create(THREADS, id_, Thread(0, ctx.now))


async def append_turn(
    ctx: Context, id_: str, turn: ThreadTurn, *, owner_id: str | None = None
) -> None:
    """Store a turn that ended at the end of its thread, under the id of its message, once.

    With its first turn, or the first one after it was deleted, a thread becomes that of `owner_id`.
    """
    if await ctx.find(THREAD_TURNS, id_) is not None:
        return
    thread = await ctx.find(THREADS, turn.thread_id) or Thread(0, ctx.now)
    number = thread.turns + 1
    last_at = max(ctx.now, thread.last_at)
    await ctx.save(THREADS, turn.thread_id, Thread(number, last_at))
    await ctx.create(THREAD_TURNS, id_, attrs.evolve(turn, number=number))
    await _forget_turns(ctx, turn.thread_id, end=number - TURNS_MAX)
    head = await ctx.find(THREAD_HEADS, turn.thread_id)
    is_begun = thread.turns > 0 and thread.last_at != instants.EPOCH
    if head is None and owner_id is not None and not is_begun:
        head = ThreadHead(
            id=turn.thread_id,
            owner_id=owner_id,
            title=" ".join(turn.question.split())[:TITLE_MAX],
            turns=number,
            created_at=turn.asked_at,
            last_at=last_at,
        )
    if head is not None:
        head = attrs.evolve(head, turns=number, last_at=last_at)
        await ctx.save(THREAD_HEADS, turn.thread_id, head)


async def remove_thread(work: Units, actor: Actor, id_: str) -> None:
    """Delete a thread of this person for good, a few turns at a time.

    What is left when the process dies goes with the threads that are over. A turn that ends
    meanwhile begins the thread anew.

    Raises:
        Problem: NOT_FOUND, also where it is somebody else's.
    """
    tenant = actor.tenant
    end = await work.write(tenant, partial(_end_thread, actor=actor, id_=id_))
    while await work.write(tenant, partial(_forget_turns, id_=id_, end=end)):
        continue
    await work.write(tenant, partial(forget_thread, id_=id_, retention=work.host.thread_retention))


async def _end_thread(ctx: Context, *, actor: Actor, id_: str) -> int:
    """Mark a thread as one that is over; the number of its last turn."""
    await attrs.evolve(ctx, actor=actor).load(THREAD_HEADS, id_)
    await ctx.remove(THREAD_HEADS, id_)
    thread = await ctx.find(THREADS, id_) or Thread(0, ctx.now)
    await ctx.save(THREADS, id_, attrs.evolve(thread, last_at=instants.EPOCH))
    return thread.turns


async def forget_thread(ctx: Context, *, id_: str, retention: timedelta) -> bool:
    """Remove a thread that is over, a few turns at a time; True where more is left."""
    thread = await ctx.find(THREADS, id_)
    if thread is None or thread.last_at >= ctx.now - retention:
        return False
    if await _forget_turns(ctx, id_):
        return True
    await ctx.remove(THREADS, id_)
    await ctx.tx.documents.delete(THREAD_HEADS, id_)
    return False


async def _forget_turns(ctx: Context, id_: str, end: int | None = None) -> int:
    filters = {"thread_id": (id_,)}
    turns = ctx.every(THREAD_TURNS, FORGOTTEN_MAX, where=filters, end=end)
    old = [row.id async for row in turns]
    for turn_id in old:
        await ctx.remove(THREAD_TURNS, turn_id)
    return len(old)
