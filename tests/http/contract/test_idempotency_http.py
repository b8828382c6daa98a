"""One key, one effect: repeated and simultaneous creations (Spec: Representation rules 5)."""

import json

import pytest

from svc_core import catalog
from svc_core.contract import problem
from svc_core.contract.result import Created
from tests.backends import NAMES

CREATIONS = [
    operation
    for operation in catalog.OPERATIONS
    if operation.idempotency != "none" and any(kind is Created for kind, _ in operation.results)
]
creation = pytest.mark.parametrize("operation", CREATIONS, ids=[op.id for op in CREATIONS])

PUBLIC_PREFIXES = {
    collection.prefix for collection in catalog.COLLECTIONS if collection.kind is not None
} | {"sbj"}
"""The prefixes of what the feed tells of."""

PROFILE = {"name": "Ports", "topic": "Strikes at ports", "frequency": "manual"}


@pytest.fixture(params=NAMES)
def town(request, make_world):
    """A world over each store, empty at first."""
    return make_world(request.param, is_sown=False)


def changes(world, key="a"):
    """The whole feed of a tenant."""
    rows, path = [], "/api/v2/changes?limit=100"
    while path:
        body = world.get(path, key).json()
        rows += body["data"]
        path = body["links"]["next"] and body["links"]["next"].partition("example.org")[2]
    return rows


def create(world, key="a", name="same-key-1", body=None, **fields):
    ask = world.ask_of(world.operation("createProfile"), key)
    content = json.dumps(PROFILE if body is None else body).encode()
    return world.send(ask.having(idempotency_key=name, **fields).evolve(body=content), key)


# -- at once -----------------------------------------------------------------------------------


@creation
def test_fifty_equal_creations_at_once_make_one_resource(town, operation):
    ask = town.ask_of(operation)
    before = changes(town)
    answers = town.send_all([ask] * 50)
    assert {answer.status_code for answer in answers} == {operation.success}
    assert len({answer.content for answer in answers}) == 1
    assert len({answer.headers["location"] for answer in answers}) == 1
    assert len({answer.headers["etag"] for answer in answers}) == 1
    assert {a.headers["idempotency-key"] for a in answers} == {ask.headers["Idempotency-Key"]}
    replays = [answer.headers.get("idempotency-replayed") for answer in answers]
    assert sorted(map(str, replays)) == ["None"] + ["true"] * 49
    assert len({answer.headers["x-request-id"] for answer in answers}) == 50
    new = changes(town)[len(before) :]
    changed_ids = [change["resourceId"] for change in new]
    assert len(changed_ids) == len(set(changed_ids))
    row = answers[0].json()["data"]
    id_, is_new = row.get("id"), row.get("isNew", True)
    assert changed_ids.count(id_) == (is_new and str(id_).partition("_")[0] in PUBLIC_PREFIXES)
    assert {change["changeType"] for change in new} <= {"created", "updated"}


def test_fifty_keys_at_once_make_fifty_profiles(town):
    ask = town.ask_of(town.operation("createProfile"))
    asks = [ask.having(idempotency_key=f"own-key-{number:03d}") for number in range(50)]
    answers = town.send_all(asks)
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["data"]["id"] for answer in answers}) == 50


def test_fifty_different_bodies_under_one_key_at_once_make_one_profile(town):
    ask = town.ask_of(town.operation("createProfile")).having(idempotency_key="same-key-1")
    asks = [
        ask.evolve(body=json.dumps({**PROFILE, "name": f"Ports {number}"}).encode())
        for number in range(50)
    ]
    answers = town.send_all(asks)
    codes = sorted(answer.status_code for answer in answers)
    assert codes == [201] + [409] * 49
    winner = next(answer for answer in answers if answer.status_code == 201)
    profiles = town.get("/api/v1/profiles?limit=100").json()["data"]
    names = [row["name"] for row in profiles if row["name"].startswith("Ports ")]
    assert names == [winner.json()["data"]["name"]]


# -- one after the other -----------------------------------------------------------------------


def test_the_same_value_written_otherwise_is_the_same_body(town):
    first = create(town)
    reversed_body = dict(reversed(PROFILE.items()))
    again = create(town, body=reversed_body)
    answer_to_spaces = town.send(
        town.ask_of(town.operation("createProfile"))
        .having(idempotency_key="same-key-1", content_type="application/json; charset=utf-8")
        .evolve(body=b"\xef\xbb\xbf" + json.dumps(PROFILE, indent=8).encode())
    )
    for answer in (again, answer_to_spaces):
        assert answer.status_code == 201
        assert answer.headers["idempotency-replayed"] == "true"
        assert answer.content == first.content
        assert answer.headers["x-request-id"] != first.headers["x-request-id"]
    assert "idempotency-replayed" not in first.headers


def test_another_body_is_a_conflict_that_changes_nothing(town, check_problem):
    create(town)
    before = changes(town)
    check_problem(create(town, body={**PROFILE, "name": "Other"}), problem.IDEMPOTENCY_CONFLICT)
    check_problem(create(town, body={**PROFILE, "colour": "red"}), problem.IDEMPOTENCY_CONFLICT)
    assert changes(town) == before


def test_a_key_belongs_to_its_tenant(town):
    answers = [create(town, key) for key in ("a", "b", "personal")]
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["data"]["id"] for answer in answers}) == 3
    assert all("idempotency-replayed" not in answer.headers for answer in answers)


def test_all_keys_of_one_tenant_share_it(town):
    first = create(town)
    again = create(town, "a profiles:write")
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"


def test_a_refusal_is_not_kept(town, check_problem):
    check_problem(create(town, body={"name": "Ports"}), problem.VALIDATION_FAILED)
    check_problem(create(town, content_type="text/plain"), problem.UNSUPPORTED_MEDIA_TYPE)
    answer = create(town)
    assert (answer.status_code, answer.headers.get("idempotency-replayed")) == (201, None)


def test_a_key_is_free_again_after_exactly_24_hours(town):
    town.step_seconds = 0
    first = create(town)
    town.clock.forward(hours=23, minutes=59, seconds=59.999)
    assert create(town).content == first.content
    town.clock.forward(seconds=0.001)
    later = create(town)
    assert later.status_code == 201
    assert later.json()["data"]["id"] != first.json()["data"]["id"]
    assert "idempotency-replayed" not in later.headers
    town.clock.forward(hours=23)
    assert create(town).content == later.content


def test_a_replay_is_that_of_the_creation_even_when_the_resource_is_gone(town):
    first = create(town)
    path = first.headers["location"].partition("example.org")[2]
    assert (
        town.send(town.ask_of(town.operation("deleteProfile")).evolve(path=path)).status_code == 204
    )
    again = create(town)
    assert (again.status_code, again.content) == (201, first.content)
    assert town.get(path).status_code == 404


def test_keys_are_opaque(town):
    answers = [create(town, name=name) for name in ("k" * 8, '"kkkkkkkk"', "K" * 8, "k" * 200)]
    assert len({answer.json()["data"]["id"] for answer in answers}) == 4


def test_two_lines_of_the_field_are_malformed(town, check_problem):
    ask = town.ask_of(town.operation("createProfile"))
    lines = [*ask.headers.items(), ("Idempotency-Key", "another-key")]
    check_problem(town.send(ask.evolve(headers=lines)), problem.BAD_REQUEST)
