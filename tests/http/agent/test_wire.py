"""The bytes of both streams, and every refusal of a body, over a real socket."""

import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from typing import Any

import pytest

from svc_core.agent.agent_ports import Turn
from svc_core.agent.answer_events import (
    AnswerDone,
    AnswerSource,
    Event,
    Step,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from tests.core.agent.reading import Message, completion
from tests.core.agent.reading import frames as read
from tests.http.agent.conftest import CHAT, NATIVE, question_body

SOURCE = AnswerSource(1, "inc_1", "A port", "https://a.example/1")
MIB = 2**20


async def whole(_: Turn) -> AsyncIterator[Event]:
    yield Step()
    yield ToolCall("a", "list_incidents", {"q": "port"})
    yield ToolResult("a", (SOURCE,))
    yield Step()
    yield SOURCE
    yield Text("It is \u2028 shut [1].")
    yield AnswerDone(usage=Usage(3, 4))


def body_of(answer: bytes) -> bytes:
    """The body of an answer in chunks (RFC 9112, 7.1)."""
    rest, body = answer.partition(b"\r\n\r\n")[2], b""
    while not rest.startswith(b"0\r\n"):
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        body, rest = body + rest[:length], rest[length + 2 :]
    return body


@pytest.fixture
def playing(scene: Any) -> Any:
    scene.stage.plays(whole)
    return scene


def test_a_ui_message_stream_is_framed_to_the_byte(playing: Any) -> None:
    asker = playing.ask(NATIVE)
    stream = body_of(asker.whole())
    assert stream.startswith(b': stream-open\n\ndata: {"type":"start","messageId":"msg_')
    assert stream.endswith(b"}\n\ndata: [DONE]\n\n")
    chunks = read(stream)
    assert [chunk["type"] for chunk in chunks] == [
        "start", "start-step", "tool-input-start", "tool-input-available",
        "tool-output-available", "finish-step", "start-step", "source-url", "text-start",
        "text-delta", "text-end", "finish-step", "finish",
    ]  # fmt: skip
    message = Message(chunks)
    assert message.text == "It is \u2028 shut [1]."
    assert message.metadata["threadId"] == asker.fields["x-thread-id"]
    assert message.end == {
        "messageMetadata": {
            "threadId": asker.fields["x-thread-id"],
            "finishReason": "stop",
            "usage": {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7},
        },
    }


def test_a_completion_is_framed_to_the_byte(playing: Any) -> None:
    asker = playing.ask(CHAT, stream_options={"include_usage": True}, model="agent-svc")
    stream = body_of(asker.whole())
    assert stream.startswith(b': stream-open\n\ndata: {"id":"chatcmpl-')
    message = completion(read(stream))
    assert message["text"] == "It is \u2028 shut [1]."
    assert message["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    (citation,) = message["annotations"]
    assert citation["url_citation"]["url"] == SOURCE.url


@pytest.mark.needs("curl")
@pytest.mark.parametrize("path", [NATIVE, CHAT])
def test_curl_reads_both(playing: Any, path: str) -> None:
    process = subprocess.run(
        [
            str(shutil.which("curl")), "-sN", f"http://127.0.0.1:{playing.wire.port}{path}",
            "-H", f"Authorization: Bearer {playing.wire.key}", "-d", question_body(path).decode(),
        ],
        capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    assert process.stdout.endswith(b"data: [DONE]\n\n")


def body_with(*messages: tuple[str, Any], member: str, **members: Any) -> bytes:
    entries = [{"role": role, member: content} for role, content in messages]
    return json.dumps({"messages": entries, "stream": True, **members}).encode()


def ui(*messages: tuple[str, Any], **members: Any) -> bytes:
    parts = [
        (role, [{"type": "text", "text": text}] if isinstance(text, str) else text)
        for role, text in messages
    ]
    return body_with(*parts, member="parts", **members)


def chat(*messages: tuple[str, Any], **members: Any) -> bytes:
    return body_with(*messages, member="content", **members)


WHO_QUESTION = ("user", "Who?")
SHAPES = {
    "no messages": (lambda make: make(), "VALIDATION_FAILED"),
    "an assistant's word last": (
        lambda make: make(WHO_QUESTION, ("assistant", "A")),
        "VALIDATION_FAILED",
    ),
    "a file": (
        lambda make: make(("user", [{"type": "file", "url": "data:,"}])),
        "ATTACHMENTS_NOT_SUPPORTED",
    ),
    "33,000 characters": (lambda make: make(("user", "x" * 33_000)), "VALIDATION_FAILED"),
    "17 names": (
        lambda make: make(WHO_QUESTION, metadata={f"k{n}": "v" for n in range(17)}),
        "VALIDATION_FAILED",
    ),
    "a mebibyte and one": (
        lambda make: make(WHO_QUESTION) + b" " * (MIB + 1 - len(make(WHO_QUESTION))),
        "REQUEST_TOO_LARGE",
    ),
    "no JSON": (lambda _: b"{", "MALFORMED_JSON"),
    "nothing": (lambda _: b"", "MALFORMED_JSON"),
    "nested without end": (lambda _: b"[" * 200_000, "JSON_TOO_DEEP"),
    "half a pair": (lambda _: b'{"messages":"\\ud800"}', "INVALID_ENCODING"),
    "no number": (lambda _: b'{"messages":NaN}', "MALFORMED_JSON"),
    "an unknown thread": (
        lambda make: make(WHO_QUESTION, threadId="thr_" + "0" * 24),
        "THREAD_NOT_FOUND",
    ),
}
OF_CHAT = {
    "no stream": (chat(WHO_QUESTION, stream=False), "STREAM_REQUIRED"),
    "another model": (chat(WHO_QUESTION, model="gpt-4o"), "UNSUPPORTED_MODEL"),
    "an image": (
        chat(("user", [{"type": "image_url", "image_url": {"url": "data:,"}}])),
        "ATTACHMENTS_NOT_SUPPORTED",
    ),
    "tools": (chat(WHO_QUESTION, tools=[{"type": "function"}]), "VALIDATION_FAILED"),
}
REFUSALS = [
    *(
        (f"{name} {path}", path, body(make), code)
        for name, (body, code) in SHAPES.items()
        for path, make in ((NATIVE, ui), (CHAT, chat))
    ),
    *((name, CHAT, body, code) for name, (body, code) in OF_CHAT.items()),
]


def test_every_refusal_of_a_body_is_a_400_that_says_why(playing: Any) -> None:
    for name, path, body, code in REFUSALS:
        asker = playing.send(path, body)
        answer = asker.until(b'"resolution"')
        assert answer.startswith(b"HTTP/1.1 400"), name
        assert asker.fields["content-type"] == "application/problem+json"
        assert "x-thread-id" not in asker.fields
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == code, name
        asker.leave()
    assert playing.account() == {"used": 0, "held": 0, "threads": 0, "turns": 0}
    assert not playing.stage.turns
