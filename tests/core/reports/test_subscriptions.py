"""Subscriptions: pause and resume, delivery preferences, tags, changes (Spec: Profile)."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from svc_core.reports.profiles.model import DUE, Due

DEFAULTS = {"webhookIds": [], "includeAudio": False, "minSignalConfidence": 0.0}
DAILY = {"frequency": "daily", "scheduleTimeOfDay": "07:30"}


def subscribe(house: Any, **members: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """A new profile's row and the path of its subscription."""
    house.profile(**{**DAILY, **members})
    row = house.rows("listProfiles")[0]
    return row, {"subscriptionId": row["subscription"]["id"]}


def patch(house: Any, path: dict[str, str], body: Any, **headers: str) -> Any:
    reply = house.send("updateSubscription", path=path, body=body, **headers)
    return json.loads(reply.body)["data"]


def webhook(house: Any, tenant: str = "wsp_a") -> str:
    return str(house.webhook(tenant)["id"])


def due(house: Any, profile_id: str) -> Due:
    row: Due = house.value(DUE, profile_id)
    return row


def next_run(house: Any) -> datetime | None:
    text = house.rows("listProfiles")[0]["nextRunAt"]
    return None if text is None else datetime.fromisoformat(text)


# -- reading -----------------------------------------------------------------------------------


def test_the_listings_and_the_resource_show_the_same(house: Any) -> None:
    row, path = subscribe(house)
    reply = house.send("getSubscription", path=path)
    view = json.loads(reply.body)["data"]
    assert view == row["subscription"] == house.rows("listSubscriptions")[0]
    assert (view["profileId"], view["status"]) == (row["id"], "active")
    assert view["delivery"] == DEFAULTS
    tag = dict(reply.headers)["ETag"]
    assert house.send("getSubscription", path=path, if_none_match=tag).status == 304


# -- pause and resume --------------------------------------------------------------------------


def test_a_paused_subscription_takes_the_profile_off_the_schedule(house: Any) -> None:
    row, path = subscribe(house)
    assert patch(house, path, {"status": "paused"})["status"] == "paused"
    profile = house.rows("listProfiles")[0]
    assert profile["subscription"]["status"] == "paused"
    assert (profile["status"], profile["nextRunAt"]) == ("active", None)
    house.clock.advance(3 * 86_400)
    patch(house, path, {"status": "active"})
    run_at = next_run(house)
    assert run_at is not None
    assert house.clock.now() < run_at <= house.clock.now() + timedelta(days=1)
    assert due(house, row["id"]).covered_until is None


@pytest.mark.parametrize("first", ["profile", "subscription"])
def test_a_profile_is_due_when_neither_it_nor_its_subscription_is_paused(
    house: Any, first: str
) -> None:
    row, path = subscribe(house)

    def switch(part: str, status: str) -> None:
        if part == "profile":
            house.send("updateProfile", path={"profileId": row["id"]}, body={"status": status})
        else:
            patch(house, path, {"status": status})

    second = "subscription" if first == "profile" else "profile"
    switch(first, "paused")
    switch(second, "paused")
    switch(first, "active")
    assert next_run(house) is None
    switch(second, "active")
    assert next_run(house) is not None


def test_a_paused_profile_stays_unscheduled_when_its_subscription_changes(house: Any) -> None:
    row, path = subscribe(house)
    house.send("updateProfile", path={"profileId": row["id"]}, body={"status": "archived"})
    patch(house, path, {"status": "paused"})
    patch(house, path, {"status": "active"})
    assert next_run(house) is None


def test_preferences_that_change_while_a_report_is_due_cost_no_report(house: Any) -> None:
    row, path = subscribe(house)
    plan = due(house, row["id"])
    house.clock.advance(2 * 86_400)
    patch(house, path, {"delivery": {"minSignalConfidence": 0.5}})
    house.send("updateProfile", path={"profileId": row["id"]}, body={"name": "Harbours"})
    assert due(house, row["id"]) == plan
    change = {"scheduleTimeOfDay": "09:00"}
    house.send("updateProfile", path={"profileId": row["id"]}, body=change)
    due_at = due(house, row["id"]).next_run_at
    assert due_at is not None
    assert due_at > house.clock.now()


# -- delivery preferences ----------------------------------------------------------------------


def test_only_the_preferences_that_are_sent_change(house: Any) -> None:
    _, path = subscribe(house)
    hook_id = webhook(house)
    preferences = {"webhookIds": [hook_id], "includeAudio": True, "minSignalConfidence": 0.5}
    assert patch(house, path, {"delivery": preferences})["delivery"] == preferences
    now = patch(house, path, {"delivery": {"includeAudio": False}})
    assert now["delivery"] == preferences | {"includeAudio": False}
    now = patch(house, path, {"delivery": {"webhookIds": None, "minSignalConfidence": None}})
    assert now["delivery"] == DEFAULTS
    patch(house, path, {"delivery": preferences, "status": "paused"})
    now = patch(house, path, {"delivery": None})
    assert (now["delivery"], now["status"]) == (DEFAULTS, "paused")


def test_the_webhooks_told_are_webhooks_of_this_workspace(house: Any) -> None:
    _, path = subscribe(house)
    own, foreign, absent = webhook(house), webhook(house, "wsp_b"), "whk_" + "0" * 24
    before, changes = house.send("getSubscription", path=path).body, house.changes()
    choice = {"webhookIds": [own, foreign, absent]}
    refusal = house.refusal("updateSubscription", path=path, body={"delivery": choice})
    assert refusal.type.code == "VALIDATION_FAILED"
    faults = [f"/delivery/webhookIds/{at}: is no webhook of this workspace" for at in (1, 2)]
    assert refusal.detail == "; ".join(faults)
    assert house.send("getSubscription", path=path).body == before
    assert house.changes() == changes


def test_a_chosen_webhook_that_was_deleted_may_stay_but_is_not_chosen_anew(house: Any) -> None:
    _, path = subscribe(house)
    choice = {"webhookIds": [webhook(house)]}
    patch(house, path, {"delivery": choice})
    house.send("deleteWebhook", path={"webhookId": choice["webhookIds"][0]})
    reply = patch(house, path, {"delivery": {**choice, "includeAudio": True}})
    assert reply["delivery"] == DEFAULTS | choice | {"includeAudio": True}
    patch(house, path, {"delivery": {"webhookIds": []}})
    refusal = house.refusal("updateSubscription", path=path, body={"delivery": choice})
    assert "/delivery/webhookIds/0" in refusal.detail


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({"status": "archived"}, "/status"),
        ({"status": None}, "/status"),
        ({"delivery": {"minSignalConfidence": 1.1}}, "/delivery/minSignalConfidence"),
        ({"delivery": {"webhookIds": ["whk_" + "0" * 24] * 51}}, "/delivery/webhookIds"),
        ({"delivery": {"email": "a@b.example"}}, "/delivery/email"),
        ({"profileId": "prf_" + "0" * 24}, "/profileId"),
        ({"id": "sub_" + "0" * 24}, "/id"),
        ([], "(body)"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused_by_place(house: Any, body: Any, fault: str) -> None:
    _, path = subscribe(house)
    refusal = house.refusal("updateSubscription", path=path, body=body)
    assert refusal.type.code == "VALIDATION_FAILED"
    assert f"{fault}: " in refusal.detail


# -- tags and changes --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"status": "active"},
        {"delivery": {}},
        {"delivery": None},
        {"delivery": DEFAULTS},
        {"delivery": {"webhookIds": None}},
    ],
)
def test_a_patch_that_changes_nothing_of_a_subscription_writes_nothing(
    house: Any, body: Any
) -> None:
    row, path = subscribe(house)
    before, changes = house.send("getSubscription", path=path), house.changes()
    plan = due(house, row["id"])
    house.clock.advance(5 * 86_400)
    reply = house.send("updateSubscription", path=path, body=body)
    assert reply.body == before.body
    assert dict(reply.headers)["ETag"] == dict(before.headers)["ETag"]
    assert house.changes() == changes
    assert due(house, row["id"]) == plan
