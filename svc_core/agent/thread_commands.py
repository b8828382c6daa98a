"""The operations on conversations, for the person who began them: list, show and delete.

Rule 1: nobody sees or deletes a thread of somebody else, also where keys of both go on with it.
"""

from datetime import datetime
from functools import partial
from typing import Annotated, Any

from attrs import frozen

from svc_core import wire
from svc_core.agent import threads
from svc_core.agent.answer_events import AnswerSource
from svc_core.agent.operations import AGENT
from svc_core.agent.threads import THREAD_HEADS, THREAD_TURNS, TURNS_MAX, ThreadHead, ThreadTurn
from svc_core.base.unset import UNSET, Maybe
from svc_core.base.views import reshape
from svc_core.contract.result import Empty, Page, Single
from svc_core.operation.context import Context
from svc_core.operation.declaration import EVERYBODY, Operation, local
from svc_core.operation.members import ThreadId
from svc_core.operation.ports import StoredRow
from svc_core.operation.units import WorkContext
from svc_core.wire.constraints import Arg, Doc, Ge, Le


@frozen
class ListThreads:
    """The caller's conversations."""

    limit: Annotated[int, Ge(1), Le(100), Doc("Rows in one page.")] = 20
    cursor: Maybe[str] = UNSET
    """`meta.page.nextCursor` of the page before, unchanged."""


@frozen
class ThreadRequest:
    """One conversation."""

    thread_id: Annotated[ThreadId, Arg(positional=True)]


@frozen
class ShowThread(ThreadRequest):
    """One conversation with its newest messages."""

    limit: Annotated[int, Ge(1), Le(TURNS_MAX)] = 50
    """At most so many messages, the newest."""


@frozen
class ThreadMessage:
    """A question and its answer, which is `incomplete` where it broke off."""

    id: str
    asked_at: datetime
    question: str
    answer: str
    sources: tuple[AnswerSource, ...]
    incomplete: bool


@frozen(kw_only=True)
class ThreadDetail(ThreadHead):
    """A conversation with messages, oldest first."""

    messages: tuple[ThreadMessage, ...]


async def list_threads(ctx: Context, request: ListThreads) -> Page[ThreadHead]:
    """Those that the person began, that of the last answer first. They are stored for as long as
    the setting `thread_days` says.
    """
    return await ctx.page(THREAD_HEADS, after=request.cursor, limit=request.limit)


async def show_thread(ctx: Context, request: ShowThread) -> Single[ThreadDetail]:
    """One conversation of the person, with its newest messages, oldest first.

    Raises:
        Problem: NOT_FOUND, also where it is somebody else's.
    """
    head = await ctx.value(THREAD_HEADS, request.thread_id)
    where = {"thread_id": (request.thread_id,)}
    rows = [row async for row in ctx.every(THREAD_TURNS, request.limit, where=where)]
    messages = tuple(_message(row) for row in reversed(rows))
    return Single(wire.to_bytes(reshape(ThreadDetail, head, messages=messages)))


def _message(row: StoredRow[ThreadTurn]) -> ThreadMessage:
    turn = THREAD_TURNS.decode(row.raw)
    return reshape(ThreadMessage, turn, id=row.id, answer=turn.text)


async def delete_thread(ctx: WorkContext, request: ThreadRequest) -> Empty:
    """Deletes a conversation for good, with all of its messages.

    Raises:
        Problem: NOT_FOUND, also where it is somebody else's.
    """
    await threads.remove_thread(ctx.work, ctx.actor, request.thread_id)
    return Empty()


_local: Any = partial(local, binding="workspace", roles=EVERYBODY, scopes=AGENT, personal=True)

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _local(
        "threads list",
        "List your conversations with the agent",
        list_threads,
        method="GET",
        columns=("id", "title", "lastAt", "turns"),
    ),
    _local("threads show", "Read a conversation with the agent", show_thread, method="GET"),
    _local("threads delete", "Delete a conversation with the agent", delete_thread),
)
