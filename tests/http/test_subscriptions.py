"""Subscriptions over HTTP: what is listed, what a patch does, to whom (Spec: Profiles)."""

import pytest

from svc_core import accounts, catalog, problem
from svc_core.access import plans
from svc_core.accounts import KeyWish
from svc_core.operation import Actor, Context
from svc_core.profiles.operations import pass_over
from svc_core.resources.profile import DUE
from svc_http.storage import MemoryStorage

PROFILES, SUBSCRIPTIONS, WEBHOOKS = "/api/v1/profiles", "/api/v1/subscriptions", "/api/v1/webhooks"
PROFILE = {
    "name": "Ports",
    "topic": "Strikes at container ports",
    "frequency": "daily",
    "scheduleTimeOfDay": "07:30",
    "timezone": "Europe/Paris",
}
SCOPES = ("profiles:read", "profiles:write", "webhooks:manage", "osint:read")


@pytest.fixture
def desk(make_house):
    """A service of the real catalogue and a way to get keys of workspaces."""
    parts = {"operations": catalog.OPERATIONS, "storage": MemoryStorage(catalog.COLLECTIONS)}
    return Desk(make_house(parts=parts))


class Desk:
    def __init__(self, house):
        self.house = house
        self.workspace = self.new_workspace()
        self.key = self.new_key(self.workspace, *SCOPES)
        self.profile = self.made(PROFILES, PROFILE)
        self.subscription = self.listed(PROFILES)[0]["subscription"]
        self.path = f"{SUBSCRIPTIONS}/{self.subscription['id']}"

    def new_workspace(self):
        table = plans.DEFAULT_PLANS
        return self.house.system(
            lambda ctx: accounts.create_workspace(ctx, name="W", plan="elite", plans=table)
        ).id

    def new_key(self, workspace, *scopes):
        wish = KeyWish(name="+".join(scopes), scopes=scopes, workspace_id=workspace)

        async def make(ctx):
            return (await accounts.create_key(ctx, wish, plans=plans.DEFAULT_PLANS)).secret

        return self.house.system(make)

    def made(self, path, body, key=None):
        headers = {"Idempotency-Key": f"key-{self.house.ids.new('req')}"}
        answer = self.house.ask("POST", path, key or self.key, json=body, headers=headers)
        assert answer.status_code == 201, answer.text
        return answer.json()["data"]

    def listed(self, path):
        return self.house.ask("GET", path, self.key).json()["data"]

    def patch(self, body, key=None, **headers):
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.house.ask("PATCH", self.path, key or self.key, json=body, headers=fields)


def test_the_listing_shows_status_preferences_and_the_next_run(desk):
    (row,) = desk.listed(PROFILES)
    assert row["subscription"] == {
        "id": desk.subscription["id"],
        "profileId": desk.profile["id"],
        "status": "active",
        "delivery": {"webhookIds": [], "includeAudio": False, "minSignalConfidence": 0.0},
        "createdAt": "2026-03-04T05:06:07Z",
        "updatedAt": "2026-03-04T05:06:07Z",
    }
    assert row["nextRunAt"] == "2026-03-04T06:30:00Z"
    assert desk.listed(SUBSCRIPTIONS) == [row["subscription"]]


def test_a_plan_that_a_worker_moves_is_listed_at_once(desk):
    """The listing is cached by what was written, though a due row has no change of its own."""
    desk.listed(PROFILES)

    async def work(tx):
        ctx = Context(tx, desk.house.clock(), desk.house.ids, Actor(desk.workspace), "test", None)
        seen = await ctx.load(DUE, desk.profile["id"])
        ready = DUE.decode(seen.raw).next_run_at
        await pass_over(ctx, desk.profile["id"], seen, ready)

    desk.house.run(desk.house.storage.write(desk.workspace, work))
    assert desk.listed(PROFILES)[0]["nextRunAt"] == "2026-03-05T06:30:00Z"


@pytest.mark.parametrize("media", ["application/json", "application/merge-patch+json"])
def test_a_patch_pauses_and_resumes(desk, media):
    for status, runs in (("paused", False), ("active", True)):
        answer = desk.patch({"status": status}, content_type=media)
        assert answer.status_code == 200
        assert answer.json()["data"]["status"] == status
        (row,) = desk.listed(PROFILES)
        assert row["subscription"]["status"] == status
        assert (row["nextRunAt"] is not None) is runs


def test_preferences_change_one_by_one(desk):
    hook = desk.made(WEBHOOKS, {"url": "https://hooks.example.com/svc"})["id"]
    desk.patch({"delivery": {"webhookIds": [hook], "minSignalConfidence": 0.4}})
    answer = desk.patch({"delivery": {"includeAudio": True, "minSignalConfidence": None}})
    delivery = answer.json()["data"]["delivery"]
    assert delivery == {"webhookIds": [hook], "includeAudio": True, "minSignalConfidence": 0.0}
    assert desk.listed(PROFILES)[0]["subscription"]["delivery"] == delivery


def test_webhooks_of_others_are_refused_by_their_place(desk, refused):
    other = desk.new_key(desk.new_workspace(), "webhooks:manage")
    foreign = desk.made(WEBHOOKS, {"url": "https://hooks.example.com/svc"}, other)["id"]
    answer = desk.patch({"delivery": {"webhookIds": [foreign]}})
    detail = refused(answer, problem.VALIDATION_FAILED)["detail"]
    assert detail == "/delivery/webhookIds/0: is no webhook of this workspace"
    answer = desk.patch({"status": "off", "delivery": {"minSignalConfidence": 2, "sms": 1}})
    detail = refused(answer, problem.VALIDATION_FAILED)["detail"]
    for place in ("/status: ", "/delivery/minSignalConfidence: ", "/delivery/sms: "):
        assert place in detail
    assert desk.house.ask("GET", desk.path, desk.key).json()["data"] == desk.subscription


def test_a_stale_tag_changes_nothing_and_is_told_the_current_one(desk, refused):
    before = desk.house.ask("GET", desk.path, desk.key).headers["etag"]
    answer = desk.patch({"status": "paused"}, if_match=before)
    after = answer.headers["etag"]
    assert after != before
    assert desk.house.ask("GET", desk.path, desk.key).headers["etag"] == after
    stale = desk.patch({"status": "active"}, if_match=before)
    refused(stale, problem.PRECONDITION_FAILED)
    assert stale.headers["etag"] == after
    assert desk.listed(SUBSCRIPTIONS)[0]["status"] == "paused"
    assert desk.patch({"status": "paused"}, if_match=after).headers["etag"] == after


def test_the_change_feed_tells_of_each_change(desk):
    desk.patch({"status": "paused"})
    desk.patch({"status": "paused"})
    desk.house.ask("DELETE", f"{PROFILES}/{desk.profile['id']}", desk.key)
    rows = desk.house.ask("GET", "/api/v2/changes", desk.key).json()["data"]
    told = [
        (row["changeType"], row["tombstone"])
        for row in rows
        if row["resourceId"] == desk.subscription["id"]
    ]
    assert told == [("created", False), ("updated", False), ("deleted", True)]


def test_a_deleted_profile_leaves_no_subscription(desk, refused):
    desk.house.ask("DELETE", f"{PROFILES}/{desk.profile['id']}", desk.key)
    assert desk.listed(SUBSCRIPTIONS) == desk.listed(PROFILES) == []
    refused(desk.patch({"status": "paused"}), problem.NOT_FOUND)


def test_reading_and_changing_need_their_scopes(desk, refused):
    reader = desk.new_key(desk.workspace, "profiles:read")
    writer = desk.new_key(desk.workspace, "profiles:write")
    refused(desk.patch({"status": "paused"}, reader), problem.INSUFFICIENT_SCOPE)
    assert desk.patch({"status": "paused"}, writer).status_code == 200
    for path in (SUBSCRIPTIONS, desk.path):
        assert desk.house.ask("GET", path, reader).status_code == 200
        refused(desk.house.ask("GET", path, writer), problem.INSUFFICIENT_SCOPE)


def test_another_workspace_finds_no_subscription(desk, refused):
    stranger = desk.new_key(desk.new_workspace(), *SCOPES)
    refused(desk.patch({"status": "paused"}, stranger), problem.NOT_FOUND)
    refused(desk.house.ask("GET", desk.path, stranger), problem.NOT_FOUND)
    assert desk.house.ask("GET", SUBSCRIPTIONS, stranger).json()["data"] == []
    assert desk.listed(SUBSCRIPTIONS)[0]["status"] == "active"
