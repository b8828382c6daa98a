"""Encodes the events of an answer as the AI SDK's UI message stream, version 1.

Rule 1: only members that version 5.0.0 of the SDK knows, which refuses all others; unknown values
        are left out, for every version refuses null.
Rule 2: text is closed before a tool is called, and with its step.
Rule 3: tools are dynamic and run by the provider: no client runs one, or asks again by itself.
"""

from collections.abc import Iterator
from typing import Any, Final

from svc_core.agent import answer_events as events
from svc_core.agent.answer_events import SOURCES_MAX, AnswerSource, Event, Usage
from svc_core.agent.encoder import TITLE_MAX, Chunk, Encoder, json_or_empty

_OUTSIDE, _IN_STEP, _IN_TEXT = range(3)
"""How deep a stream is: outside of any step, in one, or in a text of one."""
_DEPTHS: Final[dict[type[Any], tuple[int, int]]] = {
    events.Text: (_IN_TEXT, _IN_TEXT),
    events.ToolCall: (_IN_STEP, _IN_STEP),
    events.AnswerSource: (_IN_STEP, _IN_TEXT),
    events.AnswerFailure: (_OUTSIDE, _IN_STEP),
    events.Step: (_OUTSIDE, _OUTSIDE),
    events.AnswerDone: (_OUTSIDE, _OUTSIDE),
}
"""The least and the greatest depth at which an event is sent; the others are sent at any."""
_COUNTS: Final = ("inputTokens", "outputTokens", "totalTokens")
_TOOL_FLAGS: Final = {"providerExecuted": True, "dynamic": True}


class UiEncoder(Encoder):
    """The frames of one message, whose id is unique."""

    def __init__(self, message_id: str, thread_id: str, *, tells_reason: bool = False) -> None:
        """Make the encoder; with `tells_reason`, versions before 5.0.92 refuse the end."""
        super().__init__()
        self._message_id = message_id
        self._thread = {"threadId": thread_id}
        self._tells_reason = tells_reason
        self._depth = _OUTSIDE
        self._texts = 0

    def _opening(self) -> Iterator[Chunk]:
        yield {"type": "start", "messageId": self._message_id, "messageMetadata": self._thread}

    def _chunks(self, event: Event) -> Iterator[Chunk]:
        least, most = _DEPTHS.get(type(event), (self._depth, self._depth))
        while self._depth > most:
            end = {"type": "text-end", "id": self._text_id}
            yield end if self._depth == _IN_TEXT else {"type": "finish-step"}
            self._depth -= 1
        while self._depth < least:
            self._depth += 1
            self._texts += self._depth == _IN_TEXT
            start = {"type": "text-start", "id": self._text_id}
            yield start if self._depth == _IN_TEXT else {"type": "start-step"}
        match event:
            case events.Text(text):
                yield {"type": "text-delta", "id": self._text_id, "delta": text}
            case events.ToolCall(id_, name, arguments):
                call = {"toolCallId": id_, "toolName": name, **_TOOL_FLAGS}
                yield {"type": "tool-input-start", **call}
                yield {"type": "tool-input-available", **call, "input": json_or_empty(arguments)}
            case events.ToolResult(id_, sources):
                output = {"toolCallId": id_, "output": {"items": _items(sources)}}
                yield {"type": "tool-output-available", **output, **_TOOL_FLAGS}
            case events.ToolFailure(id_, text):
                failure = {"toolCallId": id_, "errorText": text}
                yield {"type": "tool-output-error", **failure, **_TOOL_FLAGS}
            case events.AnswerSource():
                yield _source(event)
            case events.AnswerDone(reason, usage):
                yield self._finish(reason, usage)
            case events.AnswerFailure(code, text):
                yield {"type": "error", "errorText": f"{text} ({code})"}

    @property
    def _text_id(self) -> str:
        return f"txt_{self._texts}"

    def _finish(self, reason: str, usage: Usage) -> Chunk:
        end = {"finishReason": reason} if self._tells_reason else {}
        metadata = {**self._thread, "finishReason": reason, "usage": usage.counts(_COUNTS)}
        return {"type": "finish", **end, "messageMetadata": metadata}


def _source(source: AnswerSource) -> Chunk:
    head = {"sourceId": f"src_{source.number}", "title": source.title[:TITLE_MAX]}
    by_id = {"providerMetadata": {"svc": {"id": source.id}}}
    if source.url is None:
        return {"type": "source-document", **head, "mediaType": "application/json", **by_id}
    return {"type": "source-url", **head, "url": source.url, **by_id}


def _items(sources: tuple[AnswerSource, ...]) -> list[object]:
    """The first sources, as many as an output has room for."""
    items: list[object] = []
    for source in sources[:SOURCES_MAX]:
        address = {"url": source.url} if source.url else {}
        items.append({"id": source.id, "title": source.title[:TITLE_MAX], **address})
    while json_or_empty({"items": items}) == {}:
        items.pop()
    return items
