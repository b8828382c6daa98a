"""Subscriptions: pause and resume, delivery preferences, tags, changes (Spec: Profile)."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from svc_core.reports.profiles.model import DUE, Due

DEFAULTS = {"webhookIds": [], "includeAudio": False, "minSignalConfidence": 0.0}
DAILY = {"frequency": "daily", "scheduleTimeOfDay": "07:30"}


def subscribed(house: Any, **members: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """A new profile's row and the path of its subscription."""
    house.profile(**{**DAILY, **members})
    row = house.rows("listProfiles")[0]
    return row, {"subscriptionId": row["subscription"]["id"]}


def patched(house: Any, path: dict[str, str], body: Any, **headers: str) -> Any:
    reply = house.send("updateSubscription", path=path, body=body, **headers)
    return json.loads(reply.body)["data"]


def webhook(house: Any, tenant: str = "wsp_a") -> str:
    reply = house.send(
        "createWebhook",
        tenant=tenant,
        body={"url": "https://hooks.example.com/svc", "secret": "whsec_" + "U0VD" * 8},
        idempotency_key=f"key-{house.ids.new('req')}",
    )
    return str(json.loads(reply.body)["data"]["id"])


def due(house: Any, profile_id: str) -> Due:
    return DUE.decode(house.run(lambda ctx: ctx.load(DUE, profile_id), "wsp_a").raw)


def next_run(house: Any) -> datetime | None:
    text = house.rows("listProfiles")[0]["nextRunAt"]
    return None if text is None else datetime.fromisoformat(text)


# -- reading -----------------------------------------------------------------------------------


def test_the_listings_and_the_resource_show_the_same(house: Any) -> None:
    row, path = subscribed(house)
    reply = house.send("getSubscription", path=path)
    shown = json.loads(reply.body)["data"]
    assert shown == row["subscription"] == house.rows("listSubscriptions")[0]
    assert (shown["profileId"], shown["status"]) == (row["id"], "active")
    assert shown["delivery"] == DEFAULTS
    tag = dict(reply.headers)["ETag"]
    assert house.send("getSubscription", path=path, if_none_match=tag).status == 304


# -- pause and resume --------------------------------------------------------------------------


def test_a_paused_subscription_takes_the_profile_off_the_schedule(house: Any) -> None:
    row, path = subscribed(house)
    assert patched(house, path, {"status": "paused"})["status"] == "paused"
    listed = house.rows("listProfiles")[0]
    assert listed["subscription"]["status"] == "paused"
    assert (listed["status"], listed["nextRunAt"]) == ("active", None)
    house.clock.advance(3 * 86_400)
    patched(house, path, {"status": "active"})
    resumed = next_run(house)
    assert resumed is not None
    assert house.clock.now() < resumed <= house.clock.now() + timedelta(days=1)
    assert due(house, row["id"]).covered_until is None


@pytest.mark.parametrize("first", ["profile", "subscription"])
def test_a_profile_is_due_when_neither_it_nor_its_subscription_is_paused(
    house: Any, first: str
) -> None:
    row, path = subscribed(house)

    def switch(which: str, status: str) -> None:
        if which == "profile":
            house.send("updateProfile", path={"profileId": row["id"]}, body={"status": status})
        else:
            patched(house, path, {"status": status})

    second = "subscription" if first == "profile" else "profile"
    switch(first, "paused")
    switch(second, "paused")
    switch(first, "active")
    assert next_run(house) is None
    switch(second, "active")
    assert next_run(house) is not None


def test_a_paused_profile_stays_unscheduled_when_its_subscription_changes(house: Any) -> None:
    row, path = subscribed(house)
    house.send("updateProfile", path={"profileId": row["id"]}, body={"status": "archived"})
    patched(house, path, {"status": "paused"})
    patched(house, path, {"status": "active"})
    assert next_run(house) is None


def test_preferences_that_change_while_a_report_is_due_cost_no_report(house: Any) -> None:
    row, path = subscribed(house)
    planned = due(house, row["id"])
    house.clock.advance(2 * 86_400)
    patched(house, path, {"delivery": {"minSignalConfidence": 0.5}})
    house.send("updateProfile", path={"profileId": row["id"]}, body={"name": "Harbours"})
    assert due(house, row["id"]) == planned
    change = {"scheduleTimeOfDay": "09:00"}
    house.send("updateProfile", path={"profileId": row["id"]}, body=change)
    moved = due(house, row["id"]).next_run_at
    assert moved is not None
    assert moved > house.clock.now()


# -- delivery preferences ----------------------------------------------------------------------


def test_only_the_preferences_that_are_sent_change(house: Any) -> None:
    _, path = subscribed(house)
    hook_id = webhook(house)
    all_ = {"webhookIds": [hook_id], "includeAudio": True, "minSignalConfidence": 0.5}
    assert patched(house, path, {"delivery": all_})["delivery"] == all_
    now = patched(house, path, {"delivery": {"includeAudio": False}})
    assert now["delivery"] == all_ | {"includeAudio": False}
    now = patched(house, path, {"delivery": {"webhookIds": None, "minSignalConfidence": None}})
    assert now["delivery"] == DEFAULTS
    patched(house, path, {"delivery": all_, "status": "paused"})
    now = patched(house, path, {"delivery": None})
    assert (now["delivery"], now["status"]) == (DEFAULTS, "paused")


def test_the_webhooks_told_are_webhooks_of_this_workspace(house: Any) -> None:
    _, path = subscribed(house)
    own, foreign, absent = webhook(house), webhook(house, "wsp_b"), "whk_" + "0" * 24
    before, changes = house.send("getSubscription", path=path).body, house.changes()
    chosen = {"webhookIds": [own, foreign, absent]}
    refused = house.refused("updateSubscription", path=path, body={"delivery": chosen})
    assert refused.type.code == "VALIDATION_FAILED"
    faults = [f"/delivery/webhookIds/{at}: is no webhook of this workspace" for at in (1, 2)]
    assert refused.detail == "; ".join(faults)
    assert house.send("getSubscription", path=path).body == before
    assert house.changes() == changes


def test_a_chosen_webhook_that_was_deleted_may_stay_but_is_not_chosen_anew(house: Any) -> None:
    _, path = subscribed(house)
    chosen = {"webhookIds": [webhook(house)]}
    patched(house, path, {"delivery": chosen})
    house.send("deleteWebhook", path={"webhookId": chosen["webhookIds"][0]})
    reply = patched(house, path, {"delivery": {**chosen, "includeAudio": True}})
    assert reply["delivery"] == DEFAULTS | chosen | {"includeAudio": True}
    patched(house, path, {"delivery": {"webhookIds": []}})
    refused = house.refused("updateSubscription", path=path, body={"delivery": chosen})
    assert "/delivery/webhookIds/0" in refused.detail


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({"status": "archived"}, "/status"),
        ({"status": None}, "/status"),
        ({"delivery": {"minSignalConfidence": -0.1}}, "/delivery/minSignalConfidence"),
        ({"delivery": {"minSignalConfidence": 1.1}}, "/delivery/minSignalConfidence"),
        ({"delivery": {"minSignalConfidence": "0.5"}}, "/delivery/minSignalConfidence"),
        ({"delivery": {"includeAudio": 1}}, "/delivery/includeAudio"),
        ({"delivery": {"webhookIds": ["whk_1"]}}, "/delivery/webhookIds/0"),
        ({"delivery": {"webhookIds": ["whk_" + "0" * 24] * 51}}, "/delivery/webhookIds"),
        ({"delivery": {"email": "a@b.example"}}, "/delivery/email"),
        ({"profileId": "prf_" + "0" * 24}, "/profileId"),
        ({"id": "sub_" + "0" * 24}, "/id"),
        ([], "(body)"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused_by_place(house: Any, body: Any, fault: str) -> None:
    _, path = subscribed(house)
    refused = house.refused("updateSubscription", path=path, body=body)
    assert refused.type.code == "VALIDATION_FAILED"
    assert f"{fault}: " in refused.detail


@pytest.mark.parametrize("least", [0, 0.0, 0.4, 1, 1.0])
def test_the_bounds_of_confidence_are_in(house: Any, least: float) -> None:
    _, path = subscribed(house)
    now = patched(house, path, {"delivery": {"minSignalConfidence": least}})
    assert now["delivery"]["minSignalConfidence"] == least


# -- tags and changes --------------------------------------------------------------------------


def test_each_change_of_a_subscription_is_in_the_feed_once(house: Any) -> None:
    row, path = subscribed(house)
    before = house.changes()
    house.clock.advance(5)
    now = patched(house, path, {"status": "paused", "delivery": {"includeAudio": True}})
    assert now["updatedAt"] > row["subscription"]["updatedAt"] == now["createdAt"]
    (change,) = [change for change in house.changes() if change not in before]
    assert (change["changeType"], change["resourceType"]) == ("updated", "subscription")
    assert change["resourceId"] == now["id"]
    assert change["links"]["self"].endswith(f"/api/v1/subscriptions/{now['id']}")


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
    row, path = subscribed(house)
    before, changes = house.send("getSubscription", path=path), house.changes()
    planned = due(house, row["id"])
    house.clock.advance(5 * 86_400)
    reply = house.send("updateSubscription", path=path, body=body)
    assert reply.body == before.body
    assert dict(reply.headers)["ETag"] == dict(before.headers)["ETag"]
    assert house.changes() == changes
    assert due(house, row["id"]) == planned
