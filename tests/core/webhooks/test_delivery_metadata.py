"""A profile tells the time of the newest report that a webhook took (Spec: Profile)."""

import json
from typing import Any

import pytest

from svc_core.base import instants
from svc_core.reports.profiles.model import DUE, PROFILE_DELIVERIES
from svc_core.webhooks.rules import attempt_outcome
from tests.core.webhooks.test_audio_in_events import Stage

ABSENT = {"generatedAtISO": None, "generatedAt": None}


class Scene(Stage):
    """A stage whose reports are not spoken."""

    def __init__(self, yard: Any) -> None:
        super().__init__(yard, speaks=False)
        self.path = {"profileId": self.profile["id"]}

    def answer(self, operation: str = "getProfile", **parts: Any) -> Any:
        return self.house.send(operation, path=self.path, **parts)

    def profile_view(self, operation: str = "getProfile", **parts: Any) -> Any:
        return json.loads(self.answer(operation, **parts).body)["data"]["deliveryMetadata"]

    def rows_of(self) -> Any:
        return self.house.rows("listProfiles")[0]["deliveryMetadata"]

    def report(self, digest: str) -> str:
        """The time of a report that was made now and is on its way."""
        self.yard.forward(seconds=10)
        self.publish(digest=digest)
        return instants.render(self.house.clock.now())


@pytest.fixture
def scene(yard: Any) -> Scene:
    return Scene(yard)


def values(at: str) -> dict[str, str]:
    return {"generatedAtISO": at, "generatedAt": at}


def test_every_answer_with_a_profile_has_it_and_it_is_null_before_the_first(scene: Scene) -> None:
    body = {"name": "N", "topic": "Cranes", "frequency": "manual"}
    row = scene.house.send("createProfile", body=body, idempotency_key="key-12345")
    assert json.loads(row.body)["data"]["deliveryMetadata"] == ABSENT
    assert scene.profile_view() == scene.rows_of() == ABSENT
    at = scene.report("one")
    assert scene.profile_view() == ABSENT
    scene.yard.deliver()
    assert (
        scene.profile_view()
        == scene.house.rows("listProfiles")[-1]["deliveryMetadata"]
        == values(at)
    )
    assert scene.profile_view("updateProfile", body={"name": "M"}) == values(at)
    assert scene.profile_view("replaceProfile", body=body) == values(at)


@pytest.mark.parametrize("status", [301, 410, 500])
def test_an_attempt_that_failed_delivered_nothing(scene: Scene, status: int) -> None:
    scene.report("one")
    scene.yard.deliver(status)
    assert scene.profile_view() == ABSENT


def test_only_a_report_counts(scene: Scene) -> None:
    scene.house.send("testWebhook", path={"webhookId": scene.hook})
    scene.yard.deliver()
    assert scene.profile_view() == ABSENT


def test_the_newest_report_counts_in_whatever_order_they_arrive(scene: Scene) -> None:
    first = scene.report("one")
    older = scene.yard.take(scene.hook)
    second = scene.report("two")
    newer = scene.yard.take(scene.hook)
    for (task,) in (newer, older):
        scene.yard.conclude(task, attempt_outcome(200, 1))
        assert scene.profile_view() == values(second) != values(first)
    scene.yard.redeliver(scene.hook, older[0].event.id)
    scene.yard.deliver()
    assert scene.profile_view() == values(second)


def test_a_delivery_is_no_change_of_the_profile(scene: Scene) -> None:
    tag = dict(scene.answer().headers)["ETag"]
    due = scene.run(lambda ctx: ctx.load(DUE, scene.profile["id"]))
    scene.report("one")
    after = scene.run(lambda ctx: ctx.load(DUE, scene.profile["id"]))
    assert after.version == due.version + 1  # the report's own note
    changes = scene.house.changes()
    scene.yard.deliver()
    assert scene.house.changes() == changes
    assert scene.run(lambda ctx: ctx.load(DUE, scene.profile["id"])) == after
    assert dict(scene.answer().headers)["ETag"] == tag
    assert scene.answer("updateProfile", body={"name": "M"}, if_match=tag).status == 200


def test_a_workspace_is_told_of_its_own_deliveries_alone(scene: Scene) -> None:
    second_id = scene.house.profile("wsp_b", topic="Strikes at European ports")
    scene.report("one")
    scene.yard.deliver()
    foreign_id = scene.house.rows("listProfiles", tenant="wsp_b")[0]
    assert (foreign_id["id"], foreign_id["deliveryMetadata"]) == (second_id["id"], ABSENT)


def test_what_arrives_after_the_profile_went_leaves_nothing(scene: Scene) -> None:
    scene.report("one")
    scene.yard.deliver()
    (task,) = (scene.report("two"), scene.yard.take(scene.hook))[1]
    scene.answer("deleteProfile")
    scene.yard.conclude(task, attempt_outcome(200, 1))
    assert scene.run(lambda ctx: ctx.find(PROFILE_DELIVERIES, scene.profile["id"])) is None
