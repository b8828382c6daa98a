"""Profiles and subscriptions (Spec: Profiles; States, Profile; Representation rules 4-5)."""

import json
import re
from typing import Any

import pytest

GOOD = {
    "name": "Ports",
    "topic": "Port strikes",
    "frequency": "daily",
    "scheduleTimeOfDay": "07:30",
}


def test_a_new_profile_is_active_and_subscribed(house: Any) -> None:
    reply = house.send("createProfile", body=GOOD, idempotency_key="first-key")
    headers = dict(reply.headers)
    profile = json.loads(reply.body)["data"]
    assert reply.status == 201
    assert re.fullmatch("prf_[a-f0-9]{24}", profile["id"])
    assert headers["Location"] == f"https://api.example/api/v1/profiles/{profile['id']}"
    assert headers["ETag"].startswith('"')
    assert headers["Idempotency-Key"] == "first-key"
    assert profile["status"] == "active"
    row = json.loads(house.send("listProfiles").body)["data"][0]
    assert row["id"] == profile["id"]
    assert row["subscription"]["status"] == "active"
    assert re.fullmatch("sub_[a-f0-9]{24}", row["subscription"]["id"])
    assert row["subscription"]["delivery"] == {
        "webhookIds": [],
        "includeAudio": False,
        "minSignalConfidence": 0.0,
    }
    assert row["reportGeneratedAtISO"] is None
    assert row["reportGeneratedAt"] is None
    assert row["nextRunAt"] == "2026-01-02T07:30:00Z"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"name": ""}, "/name"),
        ({"name": "two\nlines"}, "/name"),
        ({"topic": " \n "}, "/topic"),
        ({"keywords": ["a\tb"]}, "/keywords/0"),
        ({"frequency": "yearly"}, "/frequency"),
        ({"scheduleTimeOfDay": None}, "/scheduleTimeOfDay"),
        ({"scheduleTimeOfDay": "24:00"}, "/scheduleTimeOfDay"),
        ({"scheduleTimeOfDay": "7:30"}, "/scheduleTimeOfDay"),
        ({"scheduleDay": 1}, "/scheduleDay"),
        ({"frequency": "weekly", "scheduleDay": 8}, "/scheduleDay"),
        ({"frequency": "monthly", "scheduleDay": 29}, "/scheduleDay"),
        ({"timezone": "Mars/Base"}, "/timezone"),
        ({"language": "english!"}, "/language"),
        ({"keywords": ["k"] * 51}, "/keywords"),
        ({"status": "paused"}, "/status"),
        ({"unknown": 1}, "/unknown"),
    ],
)
def test_a_body_that_does_not_fit_is_refused_by_place(
    house: Any, change: dict[str, Any], fault: str
) -> None:
    refusal = house.refusal("createProfile", body=GOOD | change, idempotency_key="some-key")
    assert refusal.type.code == "VALIDATION_FAILED"
    assert f"{fault}: " in refusal.detail
    assert house.changes() == []


def test_all_faults_are_told_together(house: Any) -> None:
    body = {"name": "", "topic": "", "frequency": "never", "extra": 1}
    detail = house.refusal("createProfile", body=body, idempotency_key="some-key").detail
    assert all(place in detail for place in ("/name", "/topic", "/frequency", "/extra"))


def test_what_was_read_is_taken_back_and_what_stands_stays(house: Any) -> None:
    profile = house.profile()
    path = {"profileId": profile["id"]}
    reply = house.send("replaceProfile", path=path, body={**profile, "updatedAt": "never"})
    assert json.loads(reply.body)["data"] == profile
    twin = profile["createdAt"].replace("Z", "+00:00")  # the same time in another form
    reply = house.send("updateProfile", path=path, body={"createdAt": twin})
    assert json.loads(reply.body)["data"] == profile
    wrong = {**profile, "id": "prf_" + "0" * 24, "createdAt": 7, "visibility": "public", "x": 1}
    detail = house.refusal("replaceProfile", path=path, body=wrong).detail
    for name in ("id", "createdAt", "visibility", "x"):
        assert f"/{name}: " in detail
    assert profile["id"] in detail


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({"name": None}, "/name"),
        ({"frequency": "daily"}, "/scheduleTimeOfDay"),
        ({"scheduleDay": 3}, "/scheduleDay"),
        ([], "(body)"),
    ],
)
def test_a_patch_never_leaves_an_invalid_profile(house: Any, body: Any, fault: str) -> None:
    profile = house.profile()
    refusal = house.refusal("updateProfile", path={"profileId": profile["id"]}, body=body)
    assert refusal.type.code == "VALIDATION_FAILED"
    assert fault in refusal.detail


def test_a_deleted_profile_is_gone_with_its_subscription(house: Any) -> None:
    profile = house.profile()
    path = {"profileId": profile["id"]}
    subscription = json.loads(house.send("listSubscriptions").body)["data"][0]
    reply = house.send("deleteProfile", path=path, if_match="*")
    assert (reply.status, reply.body) == (204, b"")
    assert house.refusal("deleteProfile", path=path).type.code == "NOT_FOUND"
    assert house.refusal("getProfile", path=path).type.code == "NOT_FOUND"
    refusal = house.refusal("getSubscription", path={"subscriptionId": subscription["id"]})
    assert refusal.type.code == "NOT_FOUND"
    tombstones = {row["resourceId"] for row in house.changes() if row["tombstone"]}
    assert tombstones == {profile["id"], subscription["id"]}


def test_a_paused_profile_is_not_due(house: Any) -> None:
    reply = house.send("createProfile", body=GOOD, idempotency_key="some-key")
    path = {"profileId": json.loads(reply.body)["data"]["id"]}
    house.send("updateProfile", path=path, body={"status": "paused"})
    assert json.loads(house.send("listProfiles").body)["data"][0]["nextRunAt"] is None
