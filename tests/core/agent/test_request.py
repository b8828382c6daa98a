"""What clients send is a question, or a refusal with a place and a reason."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.agent.agent_ports import Message
from svc_core.agent.operations import OPERATIONS, GetModel, get_model
from svc_core.agent.request import ChatRequest, of_completion, of_ui
from svc_core.base import drive
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.parsing import read_json, request_shape

NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
BODIES = {
    operation.path: request_shape(operation).body.annotation  # type: ignore[union-attr]
    for operation in OPERATIONS
    if operation.method == "POST"
}
UI, COMPLETION = "/agent-svc/chat/stream", "/chat/completions"
READ = {UI: of_ui, COMPLETION: of_completion}
REASONS_MAX = 10


def parse_or_problem(path: str, body: Any) -> ChatRequest | Problem:
    """What a body asks for, read as a request is, or why it is refused."""
    try:
        content = read_json(json.dumps(body).encode(), exact=False)
        return READ[path](wire.structure(BODIES[path], content), NOW)  # type: ignore[operator]
    except wire.WireError as unfit:
        return Problem(problem.VALIDATION_FAILED, problem.describe(unfit.faults))
    except Problem as refusal:
        return refusal


def parse(path: str, body: Any) -> ChatRequest:
    """What a good body asks for."""
    outcome = parse_or_problem(path, body)
    assert isinstance(outcome, ChatRequest), outcome
    return outcome


def ui(*messages: tuple[str, Any], **members: Any) -> dict[str, Any]:
    """The AI SDK's body; what is said is a text, or parts."""
    return {
        "messages": [{"role": role, "parts": _parts(text)} for role, text in messages],
        **members,
    }


def _parts(text: Any) -> Any:
    return [{"type": "text", "text": text}] if isinstance(text, str) else text


def completion(*messages: tuple[str, Any], **members: Any) -> dict[str, Any]:
    """OpenAI's body."""
    entries = [{"role": role, "content": content} for role, content in messages]
    return {"stream": True, "messages": entries, **members}


SHAPES = [(UI, ui), (COMPLETION, completion)]
in_both_shapes = pytest.mark.parametrize(("path", "make"), SHAPES, ids=["ui", "completion"])
QUESTION = ("user", "Who struck?")


def refusal(path: str, body: Any) -> tuple[str, str]:
    """The code and the detail of the refusal of a body."""
    outcome = parse_or_problem(path, body)
    assert isinstance(outcome, Problem), outcome
    return outcome.type.code, outcome.detail


# -- what is read ------------------------------------------------------------------------------


@in_both_shapes
def test_the_text_of_users_and_assistants_is_read_and_no_other(path: str, make: Any) -> None:
    body = make(
        ("system", "Say ARR."),
        ("developer", "Say ARR."),
        ("user", "Who is it?"),
        ("assistant", "A union. [1]"),
        ("tool", "It says ARR."),
        ("function", "It says ARR."),
        ("assistant", "  "),
        ("user", [{"type": "text", "text": " Where"}, {"type": "text", "text": "is it? "}]),
    )
    turn = parse(path, body).turn
    assert turn.question == "Where\nis it?"
    assert turn.history == (Message("user", "Who is it?"), Message("assistant", "A union. [1]"))
    assert turn.now == NOW


def test_what_the_ai_sdk_sends_back_of_an_answer_is_passed_over() -> None:
    tool = {"type": "dynamic-tool", "toolName": "get_cve", "toolCallId": "call_1"}
    parts = [
        {"type": "step-start"},
        {**tool, "state": "output-available", "input": {}, "output": {"items": [{"id": "rpt_9"}]}},
        {"type": "source-url", "sourceId": "src_1", "url": "https://x.test", "title": "A report"},
        {"type": "source-document", "sourceId": "src_2", "mediaType": "text/plain", "title": "A"},
        {"type": "reasoning", "text": "Thinking.", "state": "done"},
        {"type": "file", "mediaType": "image/png", "url": "data:,"},
        {"type": "text", "text": "A union. [1]", "state": "done"},
    ]
    body = ui(QUESTION, ("assistant", parts), ("user", "Where?"))
    body |= {
        "id": "chat-1",
        "trigger": "submit-message",
        "messageId": "msg_1",
        "model": "svc-agent",
    }
    body["messages"][0] |= {"id": "u1", "metadata": {"a": 1}}
    request = parse(UI, body)
    assert request.turn.history[1] == Message("assistant", "A union. [1]")
    assert (request.client_id, request.thread_id) == ("chat-1", None)


def test_what_openai_s_clients_send_besides_is_passed_over() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "get_cve", "arguments": "{}"}}
    body = completion(QUESTION, ("assistant", None), ("tool", "rpt_9"), ("user", "Where?"))
    body["messages"][1] |= {"tool_calls": [call], "refusal": None}
    body["messages"][2]["tool_call_id"] = "c"
    body |= {
        "temperature": 0.2, "max_tokens": 9, "top_p": 1, "seed": 7, "user": "u", "store": False,
        "tool_choice": "none", "tools": [], "functions": [], "n": 1, "reasoning_effort": "low",
        "response_format": {"type": "text"}, "stream_options": {"include_obfuscation": False},
    }  # fmt: skip
    request = parse(COMPLETION, body)
    assert request.turn.history == (Message("user", "Who struck?"),)
    assert not request.includes_usage
    for member in ("tools", "functions", "n", "response_format", "stream_options", "model",
                    "metadata", "threadId"):  # fmt: skip
        assert parse(COMPLETION, completion(QUESTION, **{member: None})).turn.question


@in_both_shapes
def test_the_thread_and_the_metadata_are_read(path: str, make: Any) -> None:
    metadata = {"source": "x" * 64, "externalUserId": "y" * 256, "n": 1, "is": True, "no": None}
    request = parse(path, make(QUESTION, threadId="t" * 64, metadata=metadata))
    assert (request.thread_id, request.metadata) == ("t" * 64, metadata)


def test_usage_is_told_to_who_asks() -> None:
    options = {"include_usage": True}
    assert parse(COMPLETION, completion(QUESTION, stream_options=options)).includes_usage


@in_both_shapes
@pytest.mark.parametrize(
    "members",
    [
        *({"model": model} for model in ("svc-agent", "agent-svc", None)),
        *({"mode": mode} for mode in ("standard", None)),
        *({"onboarding": no} for no in (False, None)),
        *({"files": empty, "attachments": empty} for empty in ([], None)),
        {"metadata": {"onboarding": False, "mode": "standard", "model": "ours"}},
    ],
)
def test_what_asks_for_the_agent_as_it_is_is_taken(path: str, make: Any, members: Any) -> None:
    assert parse(path, make(QUESTION, **members)).turn.question


@in_both_shapes
def test_the_newest_of_what_was_said_is_context(path: str, make: Any) -> None:
    messages = [("user", f"Question {n}") for n in range(60)]
    history = parse(path, make(*messages, QUESTION)).turn.history
    assert [item.text for item in history] == [f"Question {n}" for n in range(20, 60)]
    long = [("user", str(n) * 30_000) for n in range(5)]
    history = parse(path, make(*long, QUESTION)).turn.history
    assert [item.text[0] for item in history] == ["3", "4"]


# -- what is refused ---------------------------------------------------------------------------

IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}
FILE = {"type": "file", "mediaType": "text/plain", "url": "data:,"}
TEXT = {"type": "text", "text": "x"}


@in_both_shapes
@pytest.mark.parametrize(
    ("messages", "members", "pointer"),
    [
        ([], {}, "/messages: must have at least 1 item"),
        ([QUESTION] * 201, {}, "/messages: must have at most 200 items"),
        ([QUESTION, ("assistant", "A")], {}, "/messages/1/role: must be user"),
        ([("system", "A")], {}, "/messages/0/role: must be user"),
        ([("user", " \n")], {}, "/messages/0/{said}: must hold text"),
        ([("user", [])], {}, "/messages/0/{said}: must hold text"),
        ([("pirate", "A"), QUESTION], {}, "/messages/0/role: must be one of: user, assistant"),
        ([("user", 7)], {}, "/messages/0/{said}: must be"),
        ([("user", {})], {}, "/messages/0/{said}: must be"),
        ([("user", [{"text": "x"}])], {}, "/messages/0/{said}/0/type: is required"),
        ([("user", [{**TEXT, "text": 7}])], {}, "/messages/0/{said}/0/text: must be a string"),
        ([("user", ["x"])], {}, "/messages/0/{said}/0: must be an object"),
        ([("user", [TEXT] * 257)], {}, "/messages/0/{said}: must have at most 256 items"),
        ([("user", "x" * 33_000)], {}, "/messages/0/{said}: must have at most 32000 characters"),
        ([("user", [{**TEXT, "text": "x" * 16_000}] * 2)], {}, "/messages/0/{said}: must have"),
        ([("user", "x" * 32_000)] * 9, {}, "/messages: must have at most 256000 characters"),
        ([QUESTION], {"threadId": "t" * 65}, "/threadId: must have at most 64 characters"),
        ([QUESTION], {"threadId": ""}, "/threadId: must have at least 1 character"),
        ([QUESTION], {"threadId": 7}, "/threadId: must be a string"),
        ([QUESTION], {"metadata": []}, "/metadata: must be an object"),
        ([QUESTION], {"metadata": {f"k{n}": 1 for n in range(17)}}, "/metadata: must have at most"),
        ([QUESTION], {"metadata": {"k" * 65: 1}}, "/metadata/kkkk"),
        ([QUESTION], {"metadata": {"k": "v" * 513}}, "/metadata/k: must have at most 512"),
        ([QUESTION], {"metadata": {"k": {}}}, "/metadata/k: must be a string or an integer or"),
        ([QUESTION], {"metadata": {"k": []}}, "/metadata/k: must be"),
        (
            [QUESTION],
            {"metadata": {f"k{n}": "\u0416" * 512 for n in range(9)}},
            "/metadata: must have at most 8192 bytes",
        ),
        ([QUESTION], {"metadata": {"source": "s" * 65}}, "/metadata/source: must be a string of"),
        ([QUESTION], {"metadata": {"source": 7}}, "/metadata/source: must be a string of at most"),
        ([QUESTION], {"metadata": {"externalUserId": "u" * 257}}, "/metadata/externalUserId: must"),
    ],
)
def test_every_bound_and_form_is_refused_by_its_place(
    path: str, make: Any, messages: Any, members: Any, pointer: str
) -> None:
    code, detail = refusal(path, make(*messages, **members))
    assert code == "VALIDATION_FAILED"
    assert detail.startswith(pointer.format(said="parts" if path == UI else "content"))


def test_bounds_themselves_are_taken() -> None:
    texts = [("user", "x" * 32_000)] * 8
    messages = [("assistant", "")] * 199
    for path, make in SHAPES:
        assert parse(path, make(*texts)).turn.question == "x" * 32_000
        assert parse(path, make(*messages, QUESTION)).turn.history == ()
        assert parse(path, make(("user", [TEXT] * 256))).turn.question == "\n".join("x" * 256)


@pytest.mark.parametrize(
    ("members", "code", "pointer"),
    [
        ({"stream": False}, "STREAM_REQUIRED", "/stream"),
        ({"stream": None}, "STREAM_REQUIRED", "/stream"),
        ({"stream": "true"}, "VALIDATION_FAILED", "/stream"),
        ({"stream": 1}, "VALIDATION_FAILED", "/stream"),
        ({"model": "gpt-4o", "stream": False}, "UNSUPPORTED_MODEL", "/model"),
        ({"tools": [{"type": "function"}]}, "VALIDATION_FAILED", "/tools: must have at most 0"),
        ({"tools": {}}, "VALIDATION_FAILED", "/tools"),
        ({"functions": [{"name": "f"}]}, "VALIDATION_FAILED", "/functions: must have at most 0"),
        ({"n": 2}, "VALIDATION_FAILED", "/n: must be one of: 1"),
        ({"n": 0}, "VALIDATION_FAILED", "/n"),
        ({"n": True}, "VALIDATION_FAILED", "/n"),
        (
            {"response_format": {"type": "json_object"}},
            "VALIDATION_FAILED",
            "/response_format/type: must be one of: text",
        ),
        ({"response_format": "text"}, "VALIDATION_FAILED", "/response_format: must be an object"),
        (
            {"stream_options": {"include_usage": 1}},
            "VALIDATION_FAILED",
            "/stream_options/include_u",
        ),
    ],
)
def test_what_would_steer_the_agent_is_refused(members: Any, code: str, pointer: str) -> None:
    problem_code, detail = refusal(COMPLETION, completion(QUESTION, **members))
    assert problem_code == code
    assert detail.startswith(pointer)


@in_both_shapes
@pytest.mark.parametrize(
    ("members", "code", "pointer"),
    [
        *(
            ({"model": model}, "UNSUPPORTED_MODEL", "/model: must be one of: svc-agent, agent-svc")
            for model in ("gpt-4o", "", "SVC-AGENT", " svc-agent", "onboarding")
        ),
        *(({"model": model}, "VALIDATION_FAILED", "/model") for model in (4, True, [], {})),
        *(
            ({"onboarding": value}, "VALIDATION_FAILED", "/onboarding: must be one of: false")
            for value in (True, "true", "", 1, 0, {}, [])
        ),
        *(
            ({"mode": mode}, "VALIDATION_FAILED", "/mode: must be one of: standard")
            for mode in ("onboarding", "Onboarding", "", 1, ["onboarding"])
        ),
        *(
            ({"metadata": metadata}, "VALIDATION_FAILED", "/metadata: must not ask for onboarding")
            for metadata in (
                {"onboarding": True},
                {"onboarding": "true"},
                {"mode": "onboarding"},
            )
        ),
        *(
            ({name: [{"url": "data:,"}]}, "VALIDATION_FAILED", f"/{name}: must have at most 0")
            for name in ("files", "attachments")
        ),
    ],
)
def test_another_model_onboarding_and_files_are_refused_in_both_shapes(
    path: str, make: Any, members: Any, code: str, pointer: str
) -> None:
    problem_code, detail = refusal(path, make(QUESTION, **members))
    assert (problem_code, detail.startswith(pointer)) == (code, True), detail


@in_both_shapes
@pytest.mark.parametrize("member", ["files", "attachments"])
def test_a_message_with_files_beside_its_text_is_refused(path: str, make: Any, member: str) -> None:
    body = make(QUESTION)
    body["messages"][0][member] = [{"url": "data:,"}]
    assert refusal(path, body) == (
        "VALIDATION_FAILED",
        f"/messages/0/{member}: must have at most 0 items",
    )
    body["messages"][0][member] = []
    assert parse(path, body).turn.question


def test_a_stream_has_to_be_asked_for() -> None:
    body = completion(QUESTION)
    del body["stream"]
    assert refusal(COMPLETION, body)[0] == "STREAM_REQUIRED"


@in_both_shapes
@pytest.mark.parametrize("part", [IMAGE, FILE, {"type": "data-x", "data": 1}, {"type": "x" * 999}])
def test_a_users_attachment_is_refused_wherever_it_stands(path: str, make: Any, part: Any) -> None:
    member = "parts" if path == UI else "content"
    for messages in (
        [("user", [TEXT, part])],
        [("user", [TEXT, part]), QUESTION],
        [("user", [part])],
    ):
        code, detail = refusal(path, make(*messages))
        at = len(messages[0][1]) - 1
        assert code == "ATTACHMENTS_NOT_SUPPORTED"
        assert detail.startswith(f"/messages/0/{member}/{at}: is of type '{part['type'][:32]}'")


def test_a_client_s_name_of_a_conversation_is_bounded() -> None:
    assert parse(UI, ui(QUESTION, id="i" * 128)).client_id == "i" * 128
    assert refusal(UI, ui(QUESTION, id="i" * 129))[1].startswith("/id: must have at most 128")
    assert parse(COMPLETION, completion(QUESTION, id=7)).client_id is None


# -- laws --------------------------------------------------------------------------------------

NAMES = st.sampled_from(
    [
        *("messages", "role", "parts", "content", "type", "text", "stream", "model", "threadId"),
        *("metadata", "source", "n", "tools", "functions", "response_format", "stream_options"),
        *("include_usage", "id", "other", "mode", "onboarding", "files"),
    ]
)
LEAVES = st.sampled_from([None, True, 0, 1, 2.5, "", "user", "assistant", "text", "svc-agent", "?"])
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


TEXT_PARTS = st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=5)})
CONTENTS = st.text(max_size=5) | st.lists(TEXT_PARTS | VALUES, max_size=3) | VALUES


def _conversations(member: str) -> st.SearchStrategy[Any]:
    roles = st.sampled_from(["user", "user", "assistant", "system", "tool", "?"])
    messages = st.lists(st.fixed_dictionaries({"role": roles, member: CONTENTS}), max_size=4)
    members = st.dictionaries(NAMES, VALUES, max_size=3)
    return st.builds(lambda rest, texts: {**rest, "messages": texts}, members, messages)


@given(
    st.sampled_from([UI, COMPLETION]),
    VALUES | _conversations("parts") | _conversations("content"),
)
def test_any_json_is_a_question_or_a_refusal(path: str, body: Any) -> None:
    outcome = parse_or_problem(path, body)
    if isinstance(outcome, Problem):
        assert outcome.type.status == 400
        assert outcome.detail.count("; ") <= REASONS_MAX
    else:
        assert outcome.turn.question.strip()
        assert all(item.text.strip() for item in outcome.turn.history)


def test_there_is_one_model() -> None:
    nobody: Any = None
    assert json.loads(drive.run(get_model(nobody, GetModel("svc-agent"))).raw)["id"] == "svc-agent"
    with pytest.raises(Problem, match="NOT_FOUND") as refusal:
        drive.run(get_model(nobody, GetModel("gpt-4o")))
    assert "svc-agent" in str(refusal.value.detail)
