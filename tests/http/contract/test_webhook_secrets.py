"""A webhook's secret is shown once and is nowhere else: no log, no later answer, no file."""

import json

import pytest

from svc_core.webhooks import signing
from tests.backends import NAMES

OWN = "whsec_" + "b3duLXNlY3JldC0w" * 2


@pytest.fixture(params=NAMES)
def town(request, make_world):
    return make_world(request.param)


def shown(answer):
    return answer.json()["data"]["secret"]


def secrets_of(world):
    """Secrets that were made and given, by everything that makes one; each repeated once."""
    create = world.ask_of(world.operation("createWebhook"))
    made = [world.send(create) for _ in range(2)]
    assert made[1].headers["idempotency-replayed"] == "true"
    rotate = world.ask_of(world.operation("rotateWebhookSecret"))
    made += [world.send(rotate) for _ in range(2)]
    assert [answer.status_code for answer in made] == [201, 201, 200, 200]
    assert shown(made[0]) == shown(made[1]) != shown(made[2]) == shown(made[3])
    given = create.having(idempotency_key="given-secret")
    body = json.dumps({**json.loads(create.body), "secret": OWN}).encode()
    for _ in range(2):
        answer = world.send(given.evolve(body=body))
        assert answer.status_code == 201
        assert "secret" not in answer.json()["data"]
    return [shown(made[0]), shown(made[2]), OWN]


def forms(secret):
    """Every form in which a secret could stand somewhere."""
    key = signing.secret_key(secret)
    return [secret.encode(), secret.removeprefix("whsec_").encode(), key, key.hex().encode()]


def test_a_secret_is_in_no_log_and_in_no_later_answer(town):
    secrets = secrets_of(town)
    later = []
    town.on_answer = later.append
    for operation in town.operations:
        if operation.tag not in {"Webhooks", "Changes"} or operation.confidential:
            continue
        if operation.method != "DELETE":
            town.send(town.ask_of(operation))
    refused = town.ask_of(town.operation("createWebhook"))
    for secret in secrets:
        body = json.dumps({"url": "https://10.0.0.1/", "secret": secret}).encode()
        assert town.send(refused.evolve(body=body)).status_code == 400
        body = json.dumps({"url": "https://a.example.com/", "secret": secret + "="}).encode()
        assert town.send(refused.evolve(body=body)).status_code == 400
    assert len(later) > 10
    told = [answer.content for answer in later] + [town.logged().encode()]
    for secret in secrets:
        for form in forms(secret):
            assert not any(form in text for text in told)
    assert b"whsec_" not in town.logged().encode()


def test_no_secret_of_a_webhook_is_in_the_file(make_world, tmp_path):
    world = make_world("sqlite")
    secrets = secrets_of(world)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.stat().st_size > 10_000 for path in files)
    hooks = [row["url"].encode() for row in world.get("/api/v1/webhooks").json()["data"]]
    content = b"".join(path.read_bytes() for path in files)
    assert all(url in content for url in hooks)
    for secret in secrets:
        for form in forms(secret):
            assert form not in content
    assert b"whsec_" not in content
