"""The operations of the agent: a question in, a stream of events out (Spec: Agent streams)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Final, Literal, TypeAlias

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.access import chat_credits
from svc_core.agent import samples, threads
from svc_core.agent.agent_ports import Backend, Tools
from svc_core.agent.answer_stream import AnswerStream
from svc_core.agent.chunks import MODEL, ChunkEncoder
from svc_core.agent.encoder import Encoder
from svc_core.agent.request import ChatRequest, CompletionRequest, UiRequest, of_completion, of_ui
from svc_core.agent.ui_stream import UiEncoder
from svc_core.base.unset import UNSET, Maybe, or_default
from svc_core.contract import problem
from svc_core.contract.problem import Problem, ProblemType
from svc_core.contract.result import Bare, Empty, Fields
from svc_core.operation.caller import CallContext
from svc_core.operation.context import Context
from svc_core.operation.declaration import BODY, PATH, SSE, Operation, Trait, declare, header_field
from svc_core.operation.members import NoMembers
from svc_core.operation.stream import Stream
from svc_core.operation.units import WorkContext
from svc_core.wire.constraints import Doc, Example, IdOf, MaxLen, MinLen

AGENT = frozenset({"agent:svc"})

_FIRST_OFFERED: Final = 1_795_392_000
"""The day on which the agent was first there."""
NATIVE: Final[Fields] = (
    ("X-Vercel-AI-UI-Message-Stream", "v1"),
    ("X-Svc-Agent", "svc-agent"),
    ("X-Svc-Agent-Mode", "standard"),
)

ThreadHeader: TypeAlias = Annotated[
    Maybe[Annotated[str, MinLen(1), MaxLen(64)]],
    header_field("X-Thread-Id"),
    Doc("Continues this thread, as `threadId` in the body does."),
    Example("thr_65f1c0de8badf00d12345678"),
]


@frozen
class GetModel:
    """One model."""

    model: Annotated[str, PATH, MinLen(1), MaxLen(128), Example(MODEL)]
    """Its id."""


@frozen
class Model:
    """A model as OpenAI's clients read it."""

    id: Annotated[str, Example(MODEL)]
    """What a request names as `model`."""
    object: Literal["model"] = "model"
    """Says that this is a model."""
    created: Annotated[int, Example(_FIRST_OFFERED)] = _FIRST_OFFERED
    """When it was first offered, in seconds of Unix time."""
    owned_by: Literal["svc"] = "svc"
    """Who offers it."""


@frozen
class ModelList:
    """All models as OpenAI's clients read them."""

    data: tuple[Model, ...]
    """The agent, the only one."""
    object: Literal["list"] = "list"
    """Says that this is a list."""


@frozen
class ChatStream:
    """A turn of a conversation, as the AI SDK sends it."""

    body: Annotated[UiRequest, BODY, Trait.FOREIGN]
    thread: ThreadHeader = UNSET


@frozen
class ChatCompletion:
    """A turn of a conversation, as OpenAI's clients ask for it."""

    body: Annotated[CompletionRequest, BODY, Trait.FOREIGN]
    thread: ThreadHeader = UNSET


@frozen
class ResumedChat:
    """Whose stream is to be resumed."""

    chat_id: Annotated[str, PATH, MinLen(1), MaxLen(128)]
    """The client's own name of the conversation."""


async def list_models(_: CallContext, __: NoMembers) -> Bare[ModelList]:
    """The models that requests to the agent may name, as OpenAI's clients list them: the agent."""
    return Bare(wire.to_bytes(ModelList((Model(MODEL),))))


async def get_model(_: CallContext, request: GetModel) -> Bare[Model]:
    """One model, as OpenAI's clients read it.

    Raises:
        Problem: NOT_FOUND.
    """
    if request.model != MODEL:
        raise Problem(problem.NOT_FOUND, f"The only model is {MODEL}.")
    return Bare(wire.to_bytes(Model(MODEL)))


async def chat_stream(ctx: WorkContext, request: ChatStream) -> Stream:
    """Answers the last message as a UI message stream."""
    chat = of_ui(request.body, ctx.now)
    encoder = partial(UiEncoder, tells_reason=ctx.host.ui_finish_reason)
    return await _answer(ctx, chat, request.thread, encoder, NATIVE)


async def chat_completion(ctx: WorkContext, request: ChatCompletion) -> Stream:
    """Answers the last message as a stream of chat completion chunks."""
    chat = of_completion(request.body, ctx.now)

    def chunks(message_id: str, _: str) -> Encoder:
        id_ = message_id.replace("msg_", "chatcmpl-")
        return ChunkEncoder(id_, int(ctx.now.timestamp()), includes_usage=chat.includes_usage)

    return await _answer(ctx, chat, request.thread, chunks)


async def _answer(
    ctx: WorkContext,
    chat: ChatRequest,
    header_id: Maybe[str],
    encoder: Callable[[str, str], Encoder],
    fields: Fields = (),
) -> Stream:
    thread_keys = chat.thread_id, or_default(header_id, None), chat.client_id
    find = partial(threads.find, keys=thread_keys, retention=ctx.host.thread_retention)
    thread = await ctx.work.read(ctx.actor.tenant, find)
    backend, tools = ctx.borrow(Backend), ctx.borrow(Tools).of(ctx.work, ctx.actor, ctx.now)
    message_id = ctx.ids.new("msg")
    frames = encoder(message_id, thread.id)
    frames.locate = ctx.visible_url
    # Who sends what was said before may have changed it; who does not goes on from the thread.
    history = chat.turn.history or (() if chat.is_anew else thread.history)
    chat = attrs.evolve(chat, turn=attrs.evolve(chat.turn, history=history))
    credit = await chat_credits.reserve(ctx.work, ctx.actor.tenant)
    answer = AnswerStream(ctx.work, chat, thread, message_id, frames, credit, ctx.actor.user_id)
    return answer.stream(backend, tools, fields)


async def resume_chat(_: Context, __: ResumedChat) -> Empty:
    """Answers 204: there is nothing to resume, for a client that leaves a stream ends it. The AI
    SDK asks this when a page is opened again.
    """
    return Empty()


_FAILS: Final[tuple[ProblemType, ...]] = (
    problem.ATTACHMENTS_NOT_SUPPORTED,
    problem.UNSUPPORTED_MODEL,
    problem.THREAD_NOT_FOUND,
    problem.CONFLICTING_PARAMETERS,
    problem.SUBSCRIPTION_REQUIRED,
    problem.CHAT_CREDITS_EXHAUSTED,
    problem.PROVIDER_CREDITS_EXHAUSTED,
    problem.UPSTREAM_RATE_LIMITED,
    problem.UPSTREAM_ERROR,
    problem.STORAGE_UNAVAILABLE,
)
_MESSAGE: Final = {"role": "user", "parts": [{"type": "text", "text": samples.QUESTION}]}


_STREAM: Final[Mapping[str, Any]] = {"scopes": AGENT, "pool": "agent", "media": (SSE,)}


def _examples(body: Mapping[str, Any], answer: Encoder) -> Mapping[str, Any]:
    return {"body": body, SSE.media_type: samples.sample_stream(answer)}


_models: Final[Any] = partial(declare, scopes=AGENT, tag="Agent")

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    declare(
        "agent",
        "POST /agent-svc/chat/stream",
        "Ask the agent",
        chat_stream,
        id_="streamChat",
        **_STREAM,
        fields=("X-Thread-Id", *(name for name, _ in NATIVE)),
        fails=_FAILS,
        examples=_examples(
            {"messages": [_MESSAGE]}, UiEncoder(IdOf("msg").example, IdOf("thr").example)
        ),
    ),
    declare(
        "agent",
        "POST /chat/completions",
        "Ask the agent as a chat completion",
        chat_completion,
        id_="createChatCompletion",
        **_STREAM,
        fields=("X-Thread-Id",),
        fails=(*_FAILS, problem.STREAM_REQUIRED),
        examples=_examples(
            {
                "model": "svc-agent",
                "stream": True,
                "messages": [{"role": "user", "content": samples.QUESTION}],
            },
            ChunkEncoder("chatcmpl-65f1c0de8badf00d12345678", 0),
        ),
    ),
    declare(
        "agent",
        "GET /agent-svc/chat/stream/{chatId}/stream",
        "Resume a stream",
        resume_chat,
        scopes=AGENT,
    ),
    _models("models list", "GET /models", "List models", list_models),
    _models("models show", "GET /models/{model}", "Read a model", get_model),
)
