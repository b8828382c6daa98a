"""A webhook's secret is nowhere but where it signs: in no answer, no log, no file."""

import json

import pytest

from svc_core.webhooks import signing
from tests.backends import NAMES

SECRETS = [
    "whsec_" + text * 2 for text in ("b3duLXNlY3JldC0w", "b3duLXNlY3JldC0x", "bmV4dC1zZWNyZXQt")
]


@pytest.fixture(params=NAMES)
def town(request, make_world):
    return make_world(request.param)


def send_secrets(world):
    """Every operation that takes a secret gets one, twice each; what they answered."""
    operation_ids = ("createWebhook", "rotateWebhookSecret", "updateWebhook")
    answers = []
    for name, secret in zip(operation_ids, SECRETS, strict=True):
        ask = world.ask_of(world.operation(name))
        body = json.dumps({**json.loads(ask.body), "secret": secret}).encode()
        answers += [world.send(ask.evolve(body=body)) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201, 200, 200, 200, 200]
    assert answers[1].headers["idempotency-replayed"] == "true"
    assert answers[3].headers["idempotency-replayed"] == "true"
    return answers


def forms(secret):
    """Every form in which a secret could stand somewhere."""
    key = signing.secret_key(secret)
    return [secret.encode(), secret.removeprefix("whsec_").encode(), key, key.hex().encode()]


def test_a_secret_is_in_no_log_and_in_no_answer(town):
    later = send_secrets(town)
    town.on_answer = later.append
    for operation in town.operations:
        if operation.tag not in {"Webhooks", "Changes"}:
            continue
        if operation.method != "DELETE":
            town.send(town.ask_of(operation))
    ask = town.ask_of(town.operation("createWebhook"))
    for secret in SECRETS:
        body = json.dumps({"url": "https://10.0.0.1/", "secret": secret}).encode()
        assert town.send(ask.evolve(body=body)).status_code == 400
        body = json.dumps({"url": "https://a.example.com/", "secret": secret + "="}).encode()
        assert town.send(ask.evolve(body=body)).status_code == 400
        assert town.send(ask.evolve(body=body[:-1])).status_code == 400
        body = body.replace(b'"secret"', b'"secret": 1, "secret"')
        assert town.send(ask.evolve(body=body)).status_code == 400
    assert len(later) > 10
    texts = [answer.content for answer in later] + [town.log_text().encode()]
    for secret in SECRETS:
        for form in forms(secret):
            assert not any(form in text for text in texts)
    assert b"whsec_" not in town.log_text().encode()


def test_no_secret_of_a_webhook_is_in_the_file(make_world, tmp_path):
    world = make_world("sqlite")
    send_secrets(world)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.stat().st_size > 10_000 for path in files)
    hooks = [row["url"].encode() for row in world.get("/api/v1/webhooks").json()["data"]]
    content = b"".join(path.read_bytes() for path in files)
    assert all(url in content for url in hooks)
    for secret in SECRETS:
        for form in forms(secret):
            assert form not in content
    assert b"whsec_" not in content
