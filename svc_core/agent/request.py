"""Parses a chat request in both shapes that clients send: the AI SDK's and OpenAI's.

Rule 1: only the text of users and assistants counts. All other roles and parts are skipped: system
        messages, tool calls and their results give no instruction and no evidence. An attachment
        of a user is refused, for it was meant to be read.
Rule 2: unknown members are skipped, for clients send more than is needed. What asks for another
        agent, a model, onboarding or files is refused, for its absence would be noticed.
Rule 3: earlier messages are context: the newest of them, as many as there is room for.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, TypeVar

from attrs import field, frozen

from svc_core import wire
from svc_core.agent.agent_ports import Message, Turn
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.wire import InputFault
from svc_core.wire.constraints import Doc, Example, MaxLen, MinLen

MESSAGES_MAX: Final = 200
PARTS_MAX: Final = 256  # of a message: the steps of an answer with many tools
TEXT_MAX: Final = 32_000  # characters of a message
TEXTS_MAX: Final = 256_000  # characters of all messages
CONTEXT_MESSAGES_MAX: Final = 40  # twenty turns
CONTEXT_MAX: Final = 64_000  # characters
METADATA_NAME_MAX: Final = 64
METADATA_BYTES_MAX: Final = 8192
METADATA_LENGTHS: Final = {"source": 64, "externalUserId": 256}
MODELS: Final = ("svc-agent", "agent-svc")

Role: TypeAlias = Literal["user", "assistant", "system", "developer", "tool", "function"]
RoleMember: TypeAlias = Annotated[
    Role, Doc("Who speaks; only `user` and `assistant` are listened to."), Example("user")
]
Metadata: TypeAlias = Mapping[str, Annotated[str, MaxLen(512)] | float | bool | None]
MetadataMember: TypeAlias = Annotated[
    Annotated[Metadata, MaxLen(16)] | None,
    Doc(
        f"What the caller wants to be kept with the turn: names of up to {METADATA_NAME_MAX} "
        f"characters, {METADATA_BYTES_MAX} bytes in all. `source` (up to 64 characters) and "
        "`externalUserId` (up to 256) are strings."
    ),
    Example({"source": "newsdesk", "externalUserId": "u-1842"}),
]
M = TypeVar("M")
Conversation: TypeAlias = Annotated[
    tuple[M, ...],
    MinLen(1),
    MaxLen(MESSAGES_MAX),
    Doc("What was said, oldest first; the last is the question, of a user."),
]
_TEXTS: Final = f"Up to {TEXT_MAX} characters in a message, {TEXTS_MAX} in all."


Unusable: TypeAlias = Annotated[tuple[Any, ...], MaxLen(0)]


@frozen(kw_only=True)
class _WithoutFiles(wire.OpenShape):
    """Files are not read, wherever a client puts them."""

    attachments: Unusable | None = None
    """None: files are not read."""
    files: Unusable | None = None
    """None: files are not read."""


@frozen(kw_only=True)
class _CommonRequest(_WithoutFiles):
    """What both shapes say beside the messages; one agent answers, in one way."""

    thread_id: Annotated[
        Annotated[str, MinLen(1), MaxLen(64)] | None, Example("thr_65f1c0de8badf00d12345678")
    ] = None
    """Continues this thread: the `X-Thread-Id` of an earlier answer."""
    metadata: MetadataMember = None
    model: Annotated[str | None, Example("svc-agent")] = None
    """`svc-agent` or `agent-svc`, or left out."""
    mode: Literal["standard"] | None = None
    """There is one mode."""
    onboarding: Literal[False] | None = None
    """There is no onboarding mode."""


@frozen
class Part(wire.OpenShape):
    """A part of a message."""

    type: Annotated[str, Example("text")]
    """`text`; a user's message may hold no other."""
    text: Annotated[str, Doc(f"What is said. {_TEXTS}"), Example("Who is behind it?")] = ""


@frozen
class UiMessage(_WithoutFiles):
    """A message of the AI SDK."""

    role: RoleMember
    parts: Annotated[tuple[Part, ...], MaxLen(PARTS_MAX)]
    """What is said, and what is shown."""

    member: ClassVar = "parts"


@frozen
class UiRequest(_CommonRequest):
    """A conversation as the AI SDK sends it; members that are not named here are passed over."""

    messages: Conversation[UiMessage]
    id: Annotated[Annotated[str, MaxLen(128)] | None, Example("chat-1842")] = None
    """The client's own name of the conversation; one that comes again continues it."""
    trigger: Annotated[str | None, Example("submit-message")] = None
    """`regenerate-message`: the messages are all that was said, as with a `messageId`."""
    message_id: Annotated[str | None, Example("msg-1842")] = None
    """The message that this one replaces."""


@frozen
class CompletionMessage(_WithoutFiles):
    """A message of OpenAI's."""

    role: RoleMember
    content: Annotated[
        str | Annotated[tuple[Part, ...], MaxLen(PARTS_MAX)] | None,
        Doc(f"What is said: a text, or parts that are texts. {_TEXTS}"),
        Example("Who is behind it?"),
    ] = None

    member: ClassVar = "content"

    @property
    def parts(self) -> tuple[Part, ...]:
        """The content in parts."""
        text = self.content
        return (Part("text", text),) if isinstance(text, str) else text or ()


@frozen
class ResponseFormat(wire.OpenShape):
    """How the answer is written: in words."""

    type: Literal["text"]
    """The only one."""


@frozen
class StreamOptions(wire.OpenShape):
    """What is streamed besides."""

    include_usage: bool | None = None
    """Whether the last chunk tells how many words were read and written."""


@frozen
class CompletionRequest(_CommonRequest):
    """A conversation as OpenAI's clients send it; members that are not named here are passed over,
    among them all that would steer a model."""

    messages: Conversation[CompletionMessage]
    stream: Annotated[bool | None, Example(True)] = None
    """Must be true."""
    stream_options: StreamOptions | None = None
    """What is streamed besides."""
    n: Literal[1] | None = None
    """One answer."""
    response_format: ResponseFormat | None = None
    """Text."""
    tools: Unusable | None = None
    """None: the agent has tools of its own."""
    functions: Unusable | None = None
    """None: the agent has tools of its own."""


_Message: TypeAlias = UiMessage | CompletionMessage


@frozen
class ChatRequest:
    """What a client asks for, whatever the shape of its request.

    `thread_id` names the thread that it continues, `client_id` is its client's own name of the
    conversation; one that `is_anew` replaces an answer, so that only its own history counts.
    """

    turn: Turn
    thread_id: str | None = None
    client_id: str | None = None
    is_anew: bool = False
    metadata: Mapping[str, Any] = field(factory=dict)
    includes_usage: bool = False


def of_ui(body: UiRequest, now: datetime) -> ChatRequest:
    """The chat request in the AI SDK's shape.

    Raises:
        Problem: VALIDATION_FAILED, UNSUPPORTED_MODEL or ATTACHMENTS_NOT_SUPPORTED.
    """
    is_anew = body.trigger == "regenerate-message" or body.message_id is not None
    return _chat_request(body, now, client_id=body.id, is_anew=is_anew)


def of_completion(body: CompletionRequest, now: datetime) -> ChatRequest:
    """The chat request in OpenAI's shape.

    Raises:
        Problem: VALIDATION_FAILED, UNSUPPORTED_MODEL, STREAM_REQUIRED or
            ATTACHMENTS_NOT_SUPPORTED.
    """
    usage = body.stream_options is not None and bool(body.stream_options.include_usage)
    chat = _chat_request(body, now, includes_usage=usage)
    if not body.stream:
        raise Problem(problem.STREAM_REQUIRED, "/stream: must be true")
    return chat


# -- what was said -----------------------------------------------------------------------------


def _text(message: _Message) -> str:
    return "\n".join(part.text for part in message.parts if part.type == "text")


def _text_faults(messages: Sequence[_Message]) -> Iterator[InputFault]:
    lengths = [len(_text(message)) for message in messages]
    for index, (message, length) in enumerate(zip(messages, lengths, strict=True)):
        if length > TEXT_MAX:
            pointer = f"/messages/{index}/{message.member}"
            yield InputFault(pointer, f"must have at most {TEXT_MAX} characters of text")
    if sum(lengths) > TEXTS_MAX:
        yield InputFault("/messages", f"must have at most {TEXTS_MAX} characters of text")
    last, pointer = messages[-1], f"/messages/{len(messages) - 1}"
    if last.role != "user":
        yield InputFault(f"{pointer}/role", "must be user in the last message")
    elif not _text(last).strip() and not any(_attachments([last])):
        yield InputFault(f"{pointer}/{last.member}", "must hold text in the last message")


def _metadata_faults(metadata: Mapping[str, Any]) -> Iterator[InputFault]:
    for name in metadata:
        if len(name) > METADATA_NAME_MAX:
            reason = f"must have a name of at most {METADATA_NAME_MAX} characters"
            yield InputFault(f"/metadata/{wire.escape(name)}", reason)
    for name, limit in METADATA_LENGTHS.items():
        value = metadata.get(name, "")
        if not isinstance(value, str) or len(value) > limit:
            yield InputFault(f"/metadata/{name}", f"must be a string of at most {limit} characters")
    if metadata.get("onboarding") or metadata.get("mode") == "onboarding":
        yield InputFault("/metadata", "must not ask for onboarding, there is no such mode")
    if len(wire.to_bytes(metadata)) > METADATA_BYTES_MAX:
        yield InputFault("/metadata", f"must have at most {METADATA_BYTES_MAX} bytes")


def _attachments(messages: Sequence[_Message]) -> Iterator[InputFault]:
    for index, message in enumerate(messages):
        for number, part in enumerate(message.parts if message.role == "user" else ()):
            if part.type != "text":
                pointer = f"/messages/{index}/{message.member}/{number}"
                yield InputFault(pointer, f"is of type {part.type[:32]!r}")


def _chat_request(
    body: UiRequest | CompletionRequest, now: datetime, **options: Any
) -> ChatRequest:
    metadata, model = body.metadata or {}, body.model
    for kind, faults in (
        (problem.VALIDATION_FAILED, [*_text_faults(body.messages), *_metadata_faults(metadata)]),
        (problem.ATTACHMENTS_NOT_SUPPORTED, [*_attachments(body.messages)]),
    ):
        if faults:
            raise Problem(kind, problem.describe(faults))
    if model not in (None, *MODELS):
        raise Problem(problem.UNSUPPORTED_MODEL, f"/model: must be one of: {', '.join(MODELS)}")
    texts = [(message.role, _text(message)) for message in body.messages]
    *earlier, last = [
        Message(role, text)
        for role, text in texts
        if role in ("user", "assistant") and text.strip()
    ]
    history = newest_messages(earlier, CONTEXT_MESSAGES_MAX, CONTEXT_MAX)
    turn = Turn(last.text.strip(), now, history)
    return ChatRequest(turn, body.thread_id, metadata=metadata, **options)


def newest_messages(messages: Sequence[Message], limit: int, chars: int) -> tuple[Message, ...]:
    """The newest messages that fit into a number of characters, oldest first."""
    sizes = accumulate(len(message.text) for message in reversed(messages[-limit:]))
    fit = sum(size <= chars for size in sizes)
    return tuple(messages[len(messages) - fit :])
