"""Whatever a backend gives, both streams are what their clients take."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.agent.answer_events import (
    SOURCES_MAX,
    TEXT_MAX,
    AnswerDone,
    AnswerFailure,
    AnswerSource,
    Event,
    Step,
    Text,
    ToolCall,
    ToolFailure,
    ToolResult,
    Usage,
)
from svc_core.agent.chunks import CITATIONS_MAX, ChunkEncoder
from svc_core.agent.encoder import TITLE_MAX, Encoder
from svc_core.agent.transcript import Transcript
from svc_core.agent.ui_stream import UiEncoder
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from tests.core.agent.reading import Message, completion, frames

REPORT = AnswerSource(1, "rpt_1", "Port strikes", "https://api.test/reports/rpt_1")
RECORD = AnswerSource(2, "clm_1", "The registry lists Zug", None)
ANSWER: tuple[Event, ...] = (
    Step(),
    ToolCall("a", "search_reports", {"q": "port"}),
    ToolResult("a", (REPORT, RECORD)),
    Step(),
    REPORT,
    RECORD,
    Text("The port struck [1]. "),
    Text("Zug is listed [2]."),
    AnswerDone(usage=Usage(3, 7)),
)
FLAGS = {"providerExecuted": True, "dynamic": True}


def ui(**options: Any) -> UiEncoder:
    return UiEncoder("msg_1", "thr_1", **options)


def chunks(**options: Any) -> ChunkEncoder:
    return ChunkEncoder("chatcmpl-1", 1772600760, **options)


def feed(encoder: Encoder, *run: Event) -> bytes:
    transcript = Transcript()
    return b"".join(encoder.feed(part) for event in run for part in transcript.add(event))


def encode(encoder: Encoder, *run: Event) -> bytes:
    return encoder.open() + feed(encoder, *run) + encoder.close()


on_both = pytest.mark.parametrize("make", [ui, chunks])


# -- the canonical sequences -------------------------------------------------------------------


def test_an_answer_is_the_canonical_ui_message_stream() -> None:
    call = {"toolCallId": "call_1", "toolName": "search_reports"}
    data = [
        {"id": "rpt_1", "title": "Port strikes", "url": REPORT.url},
        {"id": "clm_1", "title": "The registry lists Zug"},
    ]
    usage = {"inputTokens": 3, "outputTokens": 7, "totalTokens": 10}
    assert frames(encode(ui(), *ANSWER)) == [
        {"type": "start", "messageId": "msg_1", "messageMetadata": {"threadId": "thr_1"}},
        {"type": "start-step"},
        {"type": "tool-input-start", **call, **FLAGS},
        {"type": "tool-input-available", **call, "input": {"q": "port"}, **FLAGS},
        {
            "type": "tool-output-available",
            "toolCallId": "call_1",
            "output": {"items": data},
            **FLAGS,
        },
        {"type": "finish-step"},
        {"type": "start-step"},
        {
            "type": "source-url",
            "sourceId": "src_1",
            "title": "Port strikes",
            "url": REPORT.url,
            "providerMetadata": {"svc": {"id": "rpt_1"}},
        },
        {
            "type": "source-document",
            "sourceId": "src_2",
            "title": "The registry lists Zug",
            "mediaType": "application/json",
            "providerMetadata": {"svc": {"id": "clm_1"}},
        },
        {"type": "text-start", "id": "txt_1"},
        {"type": "text-delta", "id": "txt_1", "delta": "The port struck [1]. "},
        {"type": "text-delta", "id": "txt_1", "delta": "Zug is listed [2]."},
        {"type": "text-end", "id": "txt_1"},
        {"type": "finish-step"},
        {
            "type": "finish",
            "messageMetadata": {"threadId": "thr_1", "finishReason": "stop", "usage": usage},
        },
    ]


def test_an_answer_is_the_canonical_run_of_chunks() -> None:
    head = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1772600760,
        "model": "svc-agent",
    }

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return {**head, "choices": [choice], "usage": None}

    citation = {"url": REPORT.url, "title": "Port strikes", "start_index": 16, "end_index": 19}
    usage = {"prompt_tokens": 3, "completion_tokens": 7, "total_tokens": 10}
    run = frames(encode(chunks(includes_usage=True), *ANSWER))
    assert run == [
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "The port struck [1]. "}),
        chunk({"content": "Zug is listed [2]."}),
        chunk({"annotations": [{"type": "url_citation", "url_citation": citation}]}),
        chunk({}, "stop"),
        {**head, "choices": [], "usage": usage},
    ]
    message = completion(run)
    assert message["text"][16:19] == "[1]"
    for plain in frames(encode(chunks(), *ANSWER)):
        assert "usage" not in plain


def test_clients_since_5_0_92_can_be_told_the_reason() -> None:
    *_, finish = frames(encode(ui(tells_reason=True), *ANSWER))
    assert finish["finishReason"] == "stop"


# -- what comes amiss --------------------------------------------------------------------------


def test_a_failure_closes_what_is_open_before_it_is_told() -> None:
    run = (
        Text("The port"),
        ToolCall("a", "get_cve", {}),
        Text(" st"),
        AnswerFailure("OVERLOADED", "Busy."),
    )
    kinds = [frame["type"] for frame in frames(encode(ui(), *run))]
    assert kinds[-4:] == ["text-delta", "tool-output-error", "text-end", "error"]
    message = Message(frames(encode(ui(), *run)))
    assert message.end == {"errorText": "Busy. (OVERLOADED)"}
    text = completion(frames(encode(chunks(includes_usage=True), *run)))
    assert text["error"] == {
        "message": "Busy.",
        "type": "server_error",
        "param": None,
        "code": "OVERLOADED",
    }


@on_both
def test_a_run_without_an_end_is_a_failure(make: Any) -> None:
    for run in ((), ANSWER[:-1]):
        encoder = make()
        assert b"INTERNAL_ERROR" in encode(encoder, *run)
        assert isinstance(encoder.end, AnswerFailure)


@on_both
def test_the_host_ends_an_answer_in_its_own_words(make: Any) -> None:
    body = problem.body(Problem(problem.SHUTTING_DOWN, "Soon."), base_url="", request_id="req_1")
    for body_, code in [(body, "SHUTTING_DOWN"), (None, "UPSTREAM_TIMEOUT")]:
        encoder = make()
        stream = encoder.open() + encoder.feed(Text("The ")) + encoder.farewell(body_)
        last = frames(stream)[-1]
        assert code in json.dumps(last)
        assert "instance" not in json.dumps(last)
        assert encoder.farewell(body_) == encoder.close() == b""


@on_both
def test_a_result_of_no_call_is_passed_over(make: Any) -> None:
    stream = encode(make(), ToolResult("b", ()), ToolFailure("b", "Gone."), AnswerDone())
    assert stream == encode(make(), AnswerDone())


def test_a_call_that_is_never_answered_failed_and_each_has_an_id_of_its_own() -> None:
    call = ToolCall("a", "get_cve", {})
    message = Message(
        frames(encode(ui(), call, call, ToolResult("a", ()), call, Step(), AnswerDone()))
    )
    tools = [part for part in message.parts if part["type"] == "dynamic-tool"]
    assert [tool["toolCallId"] for tool in tools] == ["call_1", "call_2", "call_3"]
    states = [tool["state"] for tool in tools]
    assert states == ["output-error", "output-available", "output-error"]


@pytest.mark.parametrize(
    "arguments",
    [{"q": float("nan")}, {"q": object()}, {"q": "x" * 5000}, {"q": {1, 2}}],
    ids=["not a number", "no value", "long", "a set"],
)
def test_arguments_that_cannot_be_told_are_left_out(arguments: dict[str, object]) -> None:
    message = Message(frames(encode(ui(), ToolCall("a", "get_cve", arguments), AnswerDone())))
    assert message.parts[1]["input"] == {}


def test_arguments_that_nest_without_end_are_left_out() -> None:
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"q": deep}
    message = Message(frames(encode(ui(), ToolCall("a", "get_cve", deep), AnswerDone())))
    assert message.parts[1]["input"] == {}
    while deep:  # taken apart by hand: letting go of it at once goes as deep as it does
        deep = deep["q"]  # type: ignore[assignment]


def test_what_a_tool_found_is_told_as_far_as_there_is_room() -> None:
    sources = tuple(
        AnswerSource(n, f"rpt_{n}", "\u0416" * 300, f"https://x.test/{n}") for n in range(30)
    )
    message = Message(
        frames(encode(ui(), ToolCall("a", "q", {}), ToolResult("a", sources), AnswerDone()))
    )
    items = message.parts[1]["output"]["items"]
    assert [item["id"] for item in items] == ["rpt_0", "rpt_1", "rpt_2"]
    assert {len(item["title"]) for item in items} == {TITLE_MAX}
    few = tuple(AnswerSource(n, f"rpt_{n}", "", None) for n in range(30))
    message = Message(
        frames(encode(ui(), ToolCall("a", "q", {}), ToolResult("a", few), AnswerDone()))
    )
    assert len(message.parts[1]["output"]["items"]) == SOURCES_MAX


def test_a_source_is_told_once_and_no_more_than_an_answer_may_have() -> None:
    sources = [AnswerSource(n, f"rpt_{n}", "A report", "https://x.test") for n in range(1, 30)]
    message = Message(frames(encode(ui(), *sources, *sources, AnswerDone())))
    assert [source["sourceId"] for source in message.sources] == [
        f"src_{n}" for n in range(1, SOURCES_MAX + 1)
    ]


def test_the_places_that_are_cited_are_told_as_far_as_there_is_room() -> None:
    message = completion(frames(encode(chunks(), REPORT, Text("[1]" * 200 + "[2]"), AnswerDone())))
    assert len(message["annotations"]) == CITATIONS_MAX


@on_both
def test_a_long_answer_ends_at_its_bound(make: Any) -> None:
    encoder = make()
    half = Text("word " * (TEXT_MAX // 10))
    stream = encode(
        encoder, half, half, Text("more"), Text("yet more"), AnswerDone(usage=Usage(1, 1))
    )
    assert encoder.end == AnswerDone("length", Usage(0, 2 * TEXT_MAX // 10))
    assert stream.count(b'"length"') == 1
    assert b"more" not in stream
    whole = make()
    encode(whole, half, half, AnswerDone())
    assert whole.end == AnswerDone()


# -- laws --------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=()), max_size=12)
IDS = st.sampled_from("abc")
SOURCES = st.builds(AnswerSource, st.integers(1, 30), TEXTS, TEXTS, st.none() | TEXTS)
ARGUMENTS = st.dictionaries(TEXTS, st.none() | TEXTS | st.floats() | st.lists(TEXTS), max_size=3)
EVENTS = st.one_of(
    st.builds(Step),
    st.builds(ToolCall, IDS, st.just("get_cve"), ARGUMENTS),
    st.builds(ToolResult, IDS, st.lists(SOURCES, max_size=5).map(tuple)),
    st.builds(ToolFailure, IDS, TEXTS),
    SOURCES,
    st.builds(Text, TEXTS | st.sampled_from(["[1] and [2].", "x" * 9000])),
    st.builds(AnswerDone, st.sampled_from(["stop", "length"]), st.builds(Usage)),
    st.builds(AnswerFailure, st.just("OVERLOADED"), TEXTS),
)
ENDS = st.none() | st.builds(AnswerFailure, st.just("UPSTREAM_TIMEOUT"), TEXTS)


@given(st.lists(EVENTS, max_size=30), ENDS)
def test_every_run_is_a_message_of_the_ai_sdk(run: list[Event], end: AnswerFailure | None) -> None:
    encoder = ui()
    stream = feed(encoder, *run) or encoder.open()
    Message(frames(stream + encoder.close(end)))


@given(st.lists(EVENTS, max_size=30), ENDS, st.booleans())
def test_every_run_is_a_completion(
    run: list[Event], end: AnswerFailure | None, counts: bool
) -> None:
    encoder = chunks(includes_usage=counts)
    stream = feed(encoder, *run) or encoder.open()
    message = completion(frames(stream + encoder.close(end)))
    for annotation in message["annotations"]:
        place = annotation["url_citation"]
        assert re.fullmatch(r"\[\d+\]", message["text"][place["start_index"] : place["end_index"]])


@given(st.lists(EVENTS, max_size=30))
def test_both_streams_tell_the_same_text_and_the_same_end(run: list[Event]) -> None:
    message = Message(frames(encode(ui(), *run)))
    text = completion(frames(encode(chunks(), *run)))
    assert message.text == text["text"]
    assert ("errorText" in (message.end or {})) == ("error" in text)


FEW = st.builds(AnswerSource, st.integers(1, SOURCES_MAX), TEXTS, TEXTS, st.none() | TEXTS)
WORDS = st.builds(Text, TEXTS.filter(bool))
CALLS = st.builds(ToolCall, IDS, st.just("get_cve"), ARGUMENTS)


@given(st.lists(FEW | WORDS | CALLS | st.builds(Step), max_size=30))
def test_sources_and_text_keep_their_order(run: list[Event]) -> None:
    """So that what is cited is there before the text that cites it."""
    marks = [f"src_{item.number}" if isinstance(item, AnswerSource) else item.text
            for item in run if isinstance(item, AnswerSource | Text)]  # fmt: skip
    marks_ = [frame.get("sourceId") or frame.get("delta") for frame in frames(encode(ui(), *run))]
    once = [mark for at, mark in enumerate(marks) if mark[:4] != "src_" or mark not in marks[:at]]
    assert [item for item in marks_ if item is not None] == once
