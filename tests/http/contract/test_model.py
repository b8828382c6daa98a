"""Profiles over HTTP against a dictionary: whatever is asked, both know the same.

The model is slow and obvious: a dictionary of bodies for each tenant. The service is asked in
random order, with tags and keys that are current, stale and repeated.
"""

import json

import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.sampling import examples

NAMES = st.sampled_from(["Ports", "Mines", "\u00e9t\u00e9 \U0001f30d", "x" * 120])
BODIES = st.fixed_dictionaries(
    {"name": NAMES, "topic": st.just("Strikes at ports"), "frequency": st.just("manual")},
    optional={"keywords": st.lists(st.sampled_from(["a", "b"]), max_size=2)},
)
PATCHES = st.fixed_dictionaries(
    {}, optional={"name": NAMES, "keywords": st.none() | st.just(["c"])}
)
TENANTS = st.sampled_from(["a", "b"])
CONDITIONS = st.sampled_from(["none", "current", "stale", "star"])
PLACES = st.integers(0, 1_000)
MEMBERS = ("name", "topic", "frequency", "keywords")


def as_stored(body):
    """Members that are null are left out; what a list repeats counts once."""
    members = {name: value for name, value in body.items() if value is not None}
    return {**members, "keywords": list(dict.fromkeys(members.get("keywords", ())))}


class Profiles(RuleBasedStateMachine):
    """The service and the model, driven together."""

    def __init__(self, world):
        super().__init__()
        self.world = world
        self.profiles = {"a": {}, "b": {}}
        self.tags = {}
        self.answers = {}
        self.deleted_ids = set()
        self.calls = 0

    def send(self, tenant, method, id_=None, body=None, **fields):
        """One request; a minute passes now and then, so that quotas do not count."""
        self.calls += 1
        if self.calls % 50 == 0:
            self.world.clock.forward(minutes=1)
        operation = {"POST": "createProfile", "PUT": "replaceProfile", "PATCH": "updateProfile",
                     "DELETE": "deleteProfile", "GET": "getProfile"}[method]  # fmt: skip
        address = self.world.operation(operation).address.replace("{profileId}", str(id_))
        content = None if body is None else json.dumps(body).encode()
        ask = self.ask(method, address, (), {"Content-Type": "application/json"}, content)
        return self.world.send(ask.having(**fields), tenant)

    def profile_id(self, tenant, place):
        """One of the profiles of a tenant."""
        return sorted(self.profiles[tenant])[place % len(self.profiles[tenant])]

    def tag(self, id_, condition):
        tags = {"current": self.tags[id_], "stale": '"stale"', "star": "*"}
        return {"if_match": tags[condition]} if condition in tags else {}

    @rule(tenant=TENANTS, body=BODIES, number=st.integers(0, 5))
    def create(self, tenant, body, number):
        key = f"key-number-{number}"
        answer = self.send(tenant, "POST", body=body, idempotency_key=key)
        answer_before = self.answers.get((tenant, key))
        if answer_before is None:
            row = answer.json()["data"]
            assert answer.status_code == 201
            assert {name: row[name] for name in MEMBERS} == as_stored(body)
            self.profiles[tenant][row["id"]] = as_stored(body)
            self.tags[row["id"]] = answer.headers["etag"]
            self.answers[tenant, key] = (body, answer.content)
        elif answer_before[0] == body:
            assert (answer.status_code, answer.content) == (201, answer_before[1])
            assert answer.headers["idempotency-replayed"] == "true"
        else:
            assert answer.json()["code"] == "IDEMPOTENCY_CONFLICT"

    @precondition(lambda self: any(self.profiles.values()))
    @rule(
        tenant=TENANTS,
        place=PLACES,
        change=st.tuples(st.just("PUT"), BODIES) | st.tuples(st.just("PATCH"), PATCHES),
        condition=CONDITIONS,
    )
    def write(self, tenant, place, change, condition):
        if not self.profiles[tenant]:
            return
        method, body = change
        id_ = self.profile_id(tenant, place)
        answer = self.send(tenant, method, id_, body, **self.tag(id_, condition))
        if condition == "stale":
            assert (answer.status_code, answer.headers["etag"]) == (412, self.tags[id_])
            return
        before = self.profiles[tenant][id_]
        after = as_stored(body if method == "PUT" else {**before, **body})
        assert answer.status_code == 200
        assert {name: answer.json()["data"][name] for name in MEMBERS} == after
        assert (answer.headers["etag"] == self.tags[id_]) == (after == before)
        self.profiles[tenant][id_] = after
        self.tags[id_] = answer.headers["etag"]

    @precondition(lambda self: any(self.profiles.values()))
    @rule(tenant=TENANTS, place=PLACES, condition=CONDITIONS)
    def delete(self, tenant, place, condition):
        if not self.profiles[tenant]:
            return
        id_ = self.profile_id(tenant, place)
        answer = self.send(tenant, "DELETE", id_, **self.tag(id_, condition))
        if condition == "stale":
            assert answer.status_code == 412
            return
        assert answer.status_code == 204
        del self.profiles[tenant][id_]
        self.deleted_ids.add(id_)

    @precondition(lambda self: any(self.profiles.values()))
    @rule(tenant=TENANTS, place=PLACES, method=st.sampled_from(["GET", "DELETE", "PATCH"]))
    def trespass(self, tenant, place, method):
        owner = "b" if tenant == "a" else "a"
        if self.profiles[owner]:
            body = {} if method == "PATCH" else None
            id_ = self.profile_id(owner, place)
            assert self.send(tenant, method, id_, body, if_match="*").status_code == 404

    @invariant()
    def both_know_the_same(self):
        for tenant, profiles in self.profiles.items():
            rows = self.world.get("/api/v1/profiles?limit=100", tenant).json()["data"]
            assert {row["id"]: {n: row[n] for n in MEMBERS} for row in rows} == profiles
        for id_ in [*self.profiles["a"]][:2]:
            answer = self.send("a", "GET", id_)
            assert answer.headers["etag"] == self.tags[id_]

    def teardown(self):
        for tenant, profiles in self.profiles.items():
            alive, path = {}, "/api/v2/changes?limit=100&types=profile"
            while path:
                body = self.world.get(path, tenant).json()
                for row in body["data"]:
                    alive[row["resourceId"]] = (row["version"], not row["tombstone"])
                link = body["links"]["next"]
                path = link and link.removeprefix("https://api.example.org")
            assert {id_ for id_, (_, lives) in alive.items() if lives} == set(profiles)


@pytest.mark.parametrize(("store", "runs"), [("memory", 12), ("sqlite", 6)])
def test_the_service_and_a_dictionary_know_the_same_profiles(make_world, ask, store, runs):
    Profiles.ask = ask
    run_state_machine_as_test(
        lambda: Profiles(make_world(store, is_sown=False)),
        settings=examples(runs, stateful_step_count=25, suppress_health_check=list(HealthCheck)),
    )
