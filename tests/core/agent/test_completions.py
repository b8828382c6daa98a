"""Streams of OpenAI's form, with the habits of those who make them."""

import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.agent import completions
from svc_core.agent.answer_events import Usage
from svc_core.agent.completions import Completion, Frames, ModelCall, UpstreamFailure, refusal
from svc_core.contract import problem
from tests.themes import each
from tests.upstream import call, chunk, frame, words

CVE, QUERY = {"cveId": "CVE-2024-3400"}, {"q": "port"}
ONE_CALL = [("get_cve", CVE)]
TWO = [("get_cve", CVE), ("list_news", QUERY)]
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def text(arguments: Any) -> str:
    return json.dumps(arguments)


HALVES = text(CVE)[:9], text(CVE)[9:]

CALLS: dict[str, tuple[list[Any], list[tuple[str, Any]]]] = {
    "arguments in parts by index": (
        [
            call("get_cve", "", index=0, id="a"),
            call(None, HALVES[0], index=0),
            call("list_news", "", index=1, id="b"),
            call(None, HALVES[1], index=0),
            call(None, text(QUERY), index=1),
        ],
        TWO,
    ),
    "a whole call in one delta": ([call("get_cve", text(CVE), index=0, id="a")], ONE_CALL),
    "neither index nor id": ([call("get_cve", text(CVE)), call("list_news", text(QUERY))], TWO),
    "neither index nor id, in parts": (
        [call("get_cve", HALVES[0]), call(None, HALVES[1]), call("list_news", text(QUERY))],
        TWO,
    ),
    "an id and no index": (
        [call("get_cve", text(CVE), id="a"), call("list_news", text(QUERY), id="b")],
        TWO,
    ),
    "all of index 0 with ids of their own": (
        [
            call("get_cve", text(CVE), index=0, id="a"),
            call("list_news", text(QUERY), index=0, id="b"),
        ],
        TWO,
    ),
    "all of index 0 without an id": (
        [call("get_cve", text(CVE), index=0), call("list_news", text(QUERY), index=0)],
        TWO,
    ),
    "an index and no id": (
        [call("get_cve", HALVES[0], index=0), call(None, HALVES[1], index=0)],
        ONE_CALL,
    ),
    "the id again with each part": (
        [call("get_cve", HALVES[0], index=0, id="a"), call(None, HALVES[1], index=0, id="a")],
        ONE_CALL,
    ),
    "an empty id with each part but the first": (
        [call("get_cve", HALVES[0], index=0, id="a"), call("", HALVES[1], index=0, id="")],
        ONE_CALL,
    ),
    "an id that comes with one part alone": (
        [call("get_cve", HALVES[0], index=0), call(None, HALVES[1], index=0, id="a")],
        ONE_CALL,
    ),
    "an id in two parts": (
        [call("get_cve", HALVES[0], index=0, id="call"), call(None, HALVES[1], index=0, id="_1")],
        ONE_CALL,
    ),
    "parts by their id, without an index": (
        [
            call("get_cve", HALVES[0], id="a"),
            call("list_news", text(QUERY), id="b"),
            call(None, HALVES[1], id="a"),
        ],
        TWO,
    ),
    "a name in two parts": (
        [call("get_", index=0, id="a"), call("cve", index=0), call(None, text(CVE), index=0)],
        ONE_CALL,
    ),
    "a name in two parts, the second with the arguments": (
        [call("get_", "", index=0), call("cve", text(CVE), index=0)],
        ONE_CALL,
    ),
    "a name in two parts and the id again": (
        [call("get_", id="a"), call("cve", HALVES[0], id="a"), call(None, HALVES[1], id="a")],
        ONE_CALL,
    ),
    "a name in two parts without index and id": (
        [call("get_"), call("cve", text(CVE)), call("list_"), call("news", text(QUERY))],
        TWO,
    ),
    "a name that grows": ([call("get_", index=0), call("get_cve", text(CVE), index=0)], ONE_CALL),
    "the name again with each part": (
        [
            call("get_cve", "", index=0, id="a"),
            call("get_cve", HALVES[0], index=0),
            call("get_cve", HALVES[1], index=0),
            call("get_cve", "", index=0),
        ],
        ONE_CALL,
    ),
    "the name again with each part, without index and id": (
        [call("get_cve", HALVES[0]), call("get_cve", HALVES[1]), call("list_news", text(QUERY))],
        TWO,
    ),
    "one tool twice at index 0": (
        [call("get_cve", text(CVE), index=0), call("get_cve", text(CVE), index=0)],
        ONE_CALL * 2,
    ),
    "one tool twice at index 0, in parts": (
        [
            call("get_cve", text(CVE), index=0),
            call("get_cve", "", index=0),
            call(None, text(CVE), index=0),
        ],
        ONE_CALL * 2,
    ),
    "a chunk without choices between the parts": (
        [call("get_cve", HALVES[0], index=0), {"choices": []}, call(None, HALVES[1], index=0)],
        ONE_CALL,
    ),
    "a call of the form before": (
        [
            chunk(function_call={"name": "get_cve", "arguments": HALVES[0]}),
            chunk(function_call={"arguments": HALVES[1]}),
        ],
        ONE_CALL,
    ),
    "a whole message in place of a delta": (
        [{"choices": [{"message": call("get_cve", CVE, id="a")["choices"][0]["delta"]}]}],
        ONE_CALL,
    ),
    "arguments as an object, without index and id": (
        [call("get_cve", CVE), call("list_news", QUERY)],
        TWO,
    ),
    "arguments as an object": ([call("get_cve", CVE, index=0)], ONE_CALL),
    "no arguments": ([call("get_cve", None, index=0, id="a")], [("get_cve", {})]),
    "arguments that are no JSON": ([call("get_cve", "{cve", index=0)], [("get_cve", None)]),
    "arguments that are no object": ([call("get_cve", "[1]", index=0)], [("get_cve", None)]),
    "arguments without end of depth": ([call("get_cve", "[" * 7000, index=0)], [("get_cve", None)]),
    "a call without a name": ([call(None, text(CVE), index=0, id="a")], []),
    "more calls than are run": (
        [call("get_cve", text(CVE), index=place) for place in range(completions.CALLS_MAX + 1)],
        ONE_CALL * completions.CALLS_MAX,
    ),
}


@each(list(product(CALLS, ["tool_calls", "stop", "function_call", "length"])))
def test_calls_are_put_together_whatever_the_habits(case: str, finish: str) -> None:
    chunks, expected = CALLS[case]
    completion = Completion()
    for part in [*chunks, chunk(finish)]:
        assert completion.feed(json.dumps(part)) == ""
    completion.end()
    assert completion.calls(3) == [
        ModelCall(f"call_3_{place}", *call) for place, call in enumerate(expected, 1)
    ]


TEXTS: dict[str, tuple[list[Any], str, Usage | None]] = {
    "words": (words("Port", " closed."), "Port closed.", None),
    "a first chunk with a role": ([chunk(role="assistant", content="")], "", None),
    "no content": ([chunk(content=None)], "", None),
    "content without a text": ([chunk(content=[{"type": "text"}])], "", None),
    "content in parts": (  # as Mistral sends what a model thinks beside what it says
        [
            chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}]),
            chunk(content=[{"type": "text", "text": "Port"}, {"type": "text", "text": " shut"}]),
            chunk(content="."),
        ],
        "Port shut.",
        None,
    ),
    "no delta": ([{"choices": [{"index": 0, "delta": None}]}], "", None),
    "thoughts": ([chunk(reasoning_content="Hm")], "", None),
    "usage without choices": ([*words("a"), {"choices": [], "usage": USAGE}], "a", Usage(7, 3)),
    "usage with the end": ([{**chunk("stop"), "usage": USAGE}], "", Usage(7, 3)),
    "usage of nothing": ([{"choices": None, "usage": None}], "", None),
    "usage without numbers": ([{"choices": [], "usage": {"prompt_tokens": None}}], "", None),
}


@pytest.mark.parametrize("case", TEXTS)
def test_words_and_usage_are_read(case: str) -> None:
    chunks, expected, usage = TEXTS[case]
    completion = Completion()
    texts = [completion.feed(json.dumps(chunk)) for chunk in chunks]
    assert "".join(texts) == expected
    assert completion.usage == usage
    assert completion.pieces == sum(map(bool, texts))
    assert completion.feed("[DONE]") == ""


FAILS: dict[str, tuple[Any, problem.ProblemType]] = {
    "an error": ({"error": {"message": "secret"}}, problem.UPSTREAM_ERROR),
    "an error of words": ({"error": "secret"}, problem.UPSTREAM_ERROR),
    "an error with choices": ({"error": {"code": 502}, "choices": []}, problem.UPSTREAM_ERROR),
    "too many requests": ({"error": {"code": 429}}, problem.UPSTREAM_RATE_LIMITED),
    "no credits": ({"error": {"code": 402}}, problem.PROVIDER_CREDITS_EXHAUSTED),
    "no quota": ({"error": {"code": "insufficient_quota"}}, problem.PROVIDER_CREDITS_EXHAUSTED),
    "no object": ([1], problem.UPSTREAM_ERROR),
    "choices that are none": ({"choices": [1]}, problem.UPSTREAM_ERROR),
    "arguments without end": (
        call("get_cve", "x" * (completions.ARGUMENTS_CHARS_MAX + 1)),
        problem.UPSTREAM_ERROR,
    ),
    "arguments that are a number": (call("get_cve", 7), problem.UPSTREAM_ERROR),
}


@pytest.mark.parametrize("case", FAILS)
def test_failures_are_told_by_their_kind_alone(case: str) -> None:
    data, expected = FAILS[case]
    with pytest.raises(UpstreamFailure) as failure:
        Completion().feed(json.dumps(data))
    assert failure.value.type is expected
    assert "secret" not in failure.value.detail


@pytest.mark.parametrize("data", ["", "{", "null", "[" * 100_000])
def test_what_is_no_chunk_is_a_failure(data: str) -> None:
    with pytest.raises(UpstreamFailure, match="UPSTREAM_ERROR"):
        Completion().feed(data)


@pytest.mark.parametrize("finish", [None, "content_filter", "error"])
def test_an_answer_that_is_cut_short_or_filtered_failed(finish: str | None) -> None:
    completion = Completion()
    completion.feed(json.dumps(chunk(finish, content="a")))
    completion.feed("[DONE]")
    with pytest.raises(UpstreamFailure):
        completion.end()


REFUSALS = {
    "credits": (402, "", None, problem.PROVIDER_CREDITS_EXHAUSTED, None),
    "quota": (429, '{"code": "insufficient_quota"}', 9, problem.PROVIDER_CREDITS_EXHAUSTED, None),
    "balance": (
        400,
        "Your credit balance is too low",
        None,
        problem.PROVIDER_CREDITS_EXHAUSTED,
        None,
    ),
    "requests": (429, "slow down", 7, problem.UPSTREAM_RATE_LIMITED, "7"),
    "requests, no wait told": (429, "", None, problem.UPSTREAM_RATE_LIMITED, "10"),
    "requests, a wait of months": (429, "", 9e6, problem.UPSTREAM_RATE_LIMITED, "3600"),
    "a wrong key": (401, "", None, problem.UPSTREAM_ERROR, None),
    "a wrong request": (400, "no tools", None, problem.UPSTREAM_ERROR, None),
    "its own failure": (503, "", 4, problem.UPSTREAM_ERROR, None),
    "somewhere else": (302, "", None, problem.UPSTREAM_ERROR, None),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_is_one_that_the_routes_declare(case: str) -> None:
    status, body, wait, expected, retry = REFUSALS[case]
    failure = refusal(status, body, wait)
    assert failure.type is expected
    assert failure.type.status in (402, 429, 500)
    assert failure.headers.get("Retry-After") == retry
    assert failure.diagnosis == f"answered {status}: {body}"


@given(
    st.lists(st.sampled_from([": ping", "", "event: x", "data:", "id: 1", "data: {}"])), st.data()
)
def test_frames_are_the_same_however_their_bytes_come(
    lines: list[str], data: st.DataObject
) -> None:
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    raw = ending.join(lines).encode()
    cut = data.draw(st.integers(0, len(raw)))
    frames = Frames()
    frames_ = [*frames.feed(raw[:cut]), *frames.feed(raw[cut:]), *frames.end()]
    assert frames_ == ["{}"] * lines.count("data: {}")


def test_a_field_of_errors_is_a_failure_and_a_line_has_an_end() -> None:
    for line in (b'error: {"code": 500}\n', b"error:\n"):
        (data,) = Frames().feed(line)
        with pytest.raises(UpstreamFailure):
            Completion().feed(data)
    with pytest.raises(UpstreamFailure):
        list(Frames().feed(b"data: " + b"x" * completions.LINE_BYTES_MAX))
    assert list(Frames().feed(frame({"a": "\u2028"}))) == ['{"a": "\\u2028"}']
