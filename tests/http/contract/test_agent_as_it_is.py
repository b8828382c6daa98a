"""The agent is one: no other model, no onboarding, no files, on either stream (Spec: Agent)."""

import json

import pytest

from svc_core import catalog

STREAMS = [op for op in catalog.OPERATIONS if op.pool == "agent" and op.method == "POST"]
REFUSALS = [
    ({"model": "gpt-4o"}, "UNSUPPORTED_MODEL", "/model"),
    ({"onboarding": True}, "VALIDATION_FAILED", "/onboarding"),
    ({"mode": "onboarding"}, "VALIDATION_FAILED", "/mode"),
    ({"metadata": {"onboarding": True}}, "VALIDATION_FAILED", "/metadata"),
    ({"files": [{"url": "data:,"}]}, "VALIDATION_FAILED", "/files"),
]


@pytest.mark.parametrize(("members", "code", "pointer"), REFUSALS)
@pytest.mark.parametrize("stream", STREAMS, ids=lambda op: op.id)
def test_another_agent_is_refused_as_the_document_says(shared, stream, members, code, pointer):
    ask = shared.ask_of(stream)
    answer = shared.send(ask.evolve(body=json.dumps({**json.loads(ask.body), **members}).encode()))
    body = answer.json()
    assert (answer.status_code, body["code"]) == (400, code)
    assert body["detail"].startswith(pointer)
    assert body["resolution"]


@pytest.mark.parametrize("stream", STREAMS, ids=lambda op: op.id)
def test_the_agent_by_either_of_its_names_answers(shared, stream):
    ask = shared.ask_of(stream)
    for name in ("svc-agent", "agent-svc"):
        body = json.dumps({**json.loads(ask.body), "model": name}).encode()
        assert shared.send(ask.evolve(body=body)).status_code == 200
