"""Both streams read as their clients read them: who breaks a rule of theirs fails here.

`Message` is the AI SDK's reducer (`processUIMessageStream` of `ai`) behind the strict schema of
its version 5.0.0; `completion` is what OpenAI's clients add up, behind the schema of a chunk.
"""

import json
from typing import Any

import jsonschema_rs

OPTIONAL = {"providerExecuted", "dynamic"}
MEMBERS = {
    "start": (set(), {"messageId", "messageMetadata"}),
    "start-step": (set(), set()),
    "finish-step": (set(), set()),
    "text-start": ({"id"}, {"providerMetadata"}),
    "text-delta": ({"id", "delta"}, {"providerMetadata"}),
    "text-end": ({"id"}, {"providerMetadata"}),
    "tool-input-start": ({"toolCallId", "toolName"}, OPTIONAL),
    "tool-input-available": (
        {"toolCallId", "toolName", "input"},
        OPTIONAL | {"providerMetadata"},
    ),
    "tool-output-available": ({"toolCallId", "output"}, OPTIONAL),
    "tool-output-error": ({"toolCallId", "errorText"}, OPTIONAL),
    "source-url": ({"sourceId", "url"}, {"title", "providerMetadata"}),
    "source-document": (
        {"sourceId", "mediaType", "title"},
        {"filename", "providerMetadata"},
    ),
    "finish": (set(), {"messageMetadata"}),
    "error": ({"errorText"}, set()),
}
"""The members of every chunk that may be sent: those it must have, those it may have."""
OBJECTS = {"messageMetadata", "providerMetadata", "output", "input"}

CHUNK = jsonschema_rs.validator_for(
    {
        "type": "object",
        "required": ["id", "object", "created", "model", "choices"],
        "additionalProperties": False,
        "properties": {
            "id": {"type": "string"},
            "object": {"const": "chat.completion.chunk"},
            "created": {"type": "integer"},
            "model": {"const": "svc-agent"},
            "usage": {
                "type": ["object", "null"],
                "required": ["prompt_tokens", "completion_tokens", "total_tokens"],
                "additionalProperties": {"type": "integer", "minimum": 0},
            },
            "choices": {
                "type": "array",
                "maxItems": 1,
                "items": {
                    "type": "object",
                    "required": ["index", "delta", "logprobs", "finish_reason"],
                    "additionalProperties": False,
                    "properties": {
                        "index": {"const": 0},
                        "logprobs": {"const": None},
                        "finish_reason": {"enum": [None, "stop", "length"]},
                        "delta": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {
                                "role": {"const": "assistant"},
                                "content": {"type": "string"},
                                "annotations": {"type": "array", "minItems": 1},
                            },
                        },
                    },
                },
            },
        },
    }
)
ERROR = {"message", "type", "param", "code"}


def frames(stream: bytes) -> list[Any]:
    """The JSON of every frame: one line each, after a comment, before `[DONE]`."""
    text = stream.decode("ascii")
    comment, *lines, last, rest = text.split("\n\n")
    assert (comment, last, rest) == (": stream-open", "data: [DONE]", "")
    assert all(line.startswith("data: {") and "\n" not in line for line in lines)
    return [json.loads(line.removeprefix("data: ")) for line in lines]


class Message:
    """What the AI SDK makes of the chunks."""

    def __init__(self, chunks: list[dict[str, Any]]) -> None:
        self.parts: list[dict[str, Any]] = []
        self.metadata: dict[str, Any] = {}
        self.end: dict[str, Any] | None = None
        self._texts: dict[str, dict[str, Any]] = {}
        self._tools: dict[str, dict[str, Any]] = {}
        self._is_in_step = False
        for chunk in chunks:
            self._take(chunk)
        assert self.end is not None, "a stream that just stops looks whole to every client"
        assert not self._texts
        assert all(tool["state"].startswith("output-") for tool in self._tools.values())

    def _take(self, chunk: dict[str, Any]) -> None:
        assert self.end is None, "nothing follows the end"
        kind = chunk.pop("type")
        members, optional = MEMBERS[kind]
        assert members <= set(chunk) <= members | optional, (kind, chunk)
        for name, value in chunk.items():
            assert isinstance(value, dict if name in OBJECTS else bool if name in OPTIONAL else str)
        assert all(isinstance(item, dict) for item in chunk.get("providerMetadata", {}).values())
        self.metadata |= chunk.get("messageMetadata", {})
        getattr(self, "_" + kind.replace("-", "_"))(chunk)

    def _start(self, chunk: dict[str, Any]) -> None:
        assert not self.parts
        self.id = chunk["messageId"]

    def _start_step(self, _: dict[str, Any]) -> None:
        assert not self._is_in_step
        self._is_in_step = True
        self.parts.append({"type": "step-start"})

    def _finish_step(self, _: dict[str, Any]) -> None:
        assert self._is_in_step
        assert not self._texts, "what is open here breaks all versions but the last"
        assert all(tool["state"].startswith("output-") for tool in self._tools.values())
        self._is_in_step = False

    def _text_start(self, chunk: dict[str, Any]) -> None:
        assert self._is_in_step
        assert all(part.get("id") != chunk["id"] for part in self.parts)
        part = {"type": "text", "text": "", **chunk}
        self._texts[chunk["id"]] = part
        self.parts.append(part)

    def _text_delta(self, chunk: dict[str, Any]) -> None:
        assert chunk["delta"]
        self._texts[chunk["id"]]["text"] += chunk["delta"]

    def _text_end(self, chunk: dict[str, Any]) -> None:
        assert self._texts.pop(chunk["id"])["text"]

    def _tool_input_start(self, chunk: dict[str, Any]) -> None:
        assert self._is_in_step
        assert not self._texts
        assert chunk["toolCallId"] not in self._tools
        part = {"type": "dynamic-tool", "state": "input-streaming", **chunk}
        self._tools[chunk["toolCallId"]] = part
        self.parts.append(part)
        self._is_ours(chunk)

    def _tool_input_available(self, chunk: dict[str, Any]) -> None:
        self._advance(chunk, "input-streaming", "input-available")

    def _tool_output_available(self, chunk: dict[str, Any]) -> None:
        assert len(json.dumps(chunk["output"], separators=(",", ":"))) <= 4096
        self._advance(chunk, "input-available", "output-available")

    def _tool_output_error(self, chunk: dict[str, Any]) -> None:
        self._advance(chunk, "input-available", "output-error")

    def _advance(self, chunk: dict[str, Any], before: str, after: str) -> None:
        tool = self._tools[chunk["toolCallId"]]
        assert tool["state"] == before
        tool |= {**chunk, "state": after}
        self._is_ours(chunk)

    def _is_ours(self, chunk: dict[str, Any]) -> None:
        """Else a client would run the tool, or ask again by itself."""
        assert chunk["providerExecuted"] is chunk["dynamic"] is True

    def _source_url(self, chunk: dict[str, Any]) -> None:
        assert self._is_in_step
        assert all(part.get("sourceId") != chunk["sourceId"] for part in self.parts)
        self.parts.append({"type": "source", **chunk})

    _source_document = _source_url

    def _finish(self, chunk: dict[str, Any]) -> None:
        assert not self._is_in_step
        assert chunk["messageMetadata"]["finishReason"] in {"stop", "length"}
        self.end = chunk

    def _error(self, chunk: dict[str, Any]) -> None:
        self.end = chunk

    @property
    def text(self) -> str:
        return "".join(part["text"] for part in self.parts if part["type"] == "text")

    @property
    def sources(self) -> list[dict[str, Any]]:
        return [part for part in self.parts if part["type"] == "source"]


def completion(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """What OpenAI's clients make of the chunks."""
    message: dict[str, Any] = {"text": "", "annotations": [], "usage": None, "reason": None}
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    for chunk in chunks:
        assert "error" not in message, "nothing follows an error"
        if "error" in chunk:
            assert set(chunk) == {"error"}
            assert set(chunk["error"]) == ERROR
            message |= chunk
            continue
        CHUNK.validate(chunk)
        head = chunk["id"], chunk["created"], "usage" in chunk
        assert message.setdefault("same", head) == head
        if not chunk["choices"]:
            assert message["reason"], "usage follows the last choice"
            message["usage"] = chunk["usage"]
            continue
        assert message["reason"] is None, "no choice follows the reason"
        assert chunk.get("usage") is None
        (choice,) = chunk["choices"]
        message["text"] += choice["delta"].get("content", "")
        message["annotations"] += choice["delta"].get("annotations", [])
        message["reason"] = choice["finish_reason"]
    assert ("error" in message) != bool(message["reason"]), "one end"
    assert ("error" in message) or bool(message["usage"]) == message["same"][2]
    return message
