"""Encodes the events of an answer as the AI SDK's UI message stream, version 1.

Rule 1: only members that version 5.0.0 of the SDK knows, which refuses all others; unknown values
        are left out, for every version refuses null.
Rule 2: text is closed before a tool is called, and with its step.
Rule 3: tools are dynamic and run by the provider: no client runs one, or asks again by itself.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from svc_core.agent import answer_events as events
from svc_core.agent.answer_events import AnswerSource, Event, Usage
from svc_core.agent.encoder import SOURCES_MAX, TITLE_MAX, Chunk, Encoder, json_or_empty

_TOOL_FLAGS: Final = {"providerExecuted": True, "dynamic": True}


class UiEncoder(Encoder):
    """The frames of one message, whose id is unique."""

    def __init__(self, message_id: str, thread_id: str, *, tells_reason: bool = False) -> None:
        """Make the encoder; with `tells_reason`, versions before 5.0.92 refuse the end."""
        super().__init__()
        self._message_id = message_id
        self._thread = {"threadId": thread_id}
        self._tells_reason = tells_reason
        self._is_in_step = False
        self._texts = 0
        self._text: str | None = None

    def _opening(self) -> Iterator[Chunk]:
        yield {"type": "start", "messageId": self._message_id, "messageMetadata": self._thread}

    def _chunks(self, event: Event) -> Iterator[Chunk]:
        match event:
            case events.Text(text):
                if self._text is None:
                    yield from self._text_starts()
                yield {"type": "text-delta", "id": self._text, "delta": text}
            case events.Step():
                yield from self._step_ends()
            case events.ToolCall(id_, name, arguments):
                yield from self._text_ends()
                yield from self._step_starts()
                call = {"toolCallId": id_, "toolName": name}
                yield {"type": "tool-input-start", **call, **_TOOL_FLAGS}
                body = {"input": json_or_empty(arguments)}
                yield {"type": "tool-input-available", **call, **body, **_TOOL_FLAGS}
            case events.ToolResult(id_, sources):
                output = {"toolCallId": id_, "output": {"items": _items(sources)}}
                yield {"type": "tool-output-available", **output, **_TOOL_FLAGS}
            case events.ToolFailure(id_, text):
                failure = {"toolCallId": id_, "errorText": text}
                yield {"type": "tool-output-error", **failure, **_TOOL_FLAGS}
            case events.AnswerSource():
                yield from self._step_starts()
                yield _source(event)
            case events.AnswerDone(reason, usage):
                yield from self._step_ends()
                yield self._finish(reason, usage)
            case _:
                yield from self._text_ends()
                yield {"type": "error", "errorText": f"{event.text} ({event.code})"}

    def _step_starts(self) -> Iterator[Chunk]:
        if not self._is_in_step:
            self._is_in_step = True
            yield {"type": "start-step"}

    def _step_ends(self) -> Iterator[Chunk]:
        yield from self._text_ends()
        if self._is_in_step:
            self._is_in_step = False
            yield {"type": "finish-step"}

    def _text_starts(self) -> Iterator[Chunk]:
        yield from self._step_starts()
        self._texts += 1
        self._text = f"txt_{self._texts}"
        yield {"type": "text-start", "id": self._text}

    def _text_ends(self) -> Iterator[Chunk]:
        if self._text is not None:
            yield {"type": "text-end", "id": self._text}
            self._text = None

    def _finish(self, reason: str, usage: Usage) -> Chunk:
        end = {"finishReason": reason} if self._tells_reason else {}
        inputs, outputs = usage.read, usage.written
        counts = {"inputTokens": inputs, "outputTokens": outputs, "totalTokens": inputs + outputs}
        metadata = {**self._thread, "finishReason": reason, "usage": counts}
        return {"type": "finish", **end, "messageMetadata": metadata}


def _source(source: AnswerSource) -> Chunk:
    head = {"sourceId": f"src_{source.number}", "title": source.title[:TITLE_MAX]}
    by_id = {"providerMetadata": {"svc": {"id": source.id}}}
    if source.url is None:
        return {"type": "source-document", **head, "mediaType": "application/json", **by_id}
    return {"type": "source-url", **head, "url": source.url, **by_id}


def _items(sources: Sequence[AnswerSource]) -> list[object]:
    """The first sources, as many as an output has room for."""
    items: list[object] = [
        {
            "id": source.id,
            "title": source.title[:TITLE_MAX],
            **({"url": source.url} if source.url else {}),
        }
        for source in sources[:SOURCES_MAX]
    ]
    while json_or_empty({"items": items}) == {}:
        items.pop()
    return items
