"""Subscriptions to public profiles of others: who may, what is seen, who is told, how they end."""

import json
from datetime import timedelta
from functools import partial
from typing import Any

import attrs
import pytest

from svc_core.access.plans import DEFAULT_PLANS, PlanTable
from svc_core.base import drive
from svc_core.contract.problem import Problem
from svc_core.operation.host import Host
from svc_core.outbox.model import EVENTS
from svc_core.reports import publications
from svc_core.reports import speech_tasks as speaking
from svc_core.reports.audio import SPEECH_REQUESTS
from svc_core.reports.model import REPORTS
from svc_core.reports.profiles import followers as following
from svc_core.reports.profiles.followers import GRACE
from svc_core.reports.profiles.model import (
    FOLLOWER_QUEUES,
    FOLLOWS,
    PROFILES,
    SUBSCRIPTIONS,
    Follow,
)
from svc_core.reports.profiles.operations import ProfileRequest, delete_profile
from svc_core.webhooks import delivery_queue as delivering
from svc_core.webhooks.rules import attempt_outcome
from svc_http.service.workers.subscribers import inform_subscribers
from tests.core.reports.test_public_profiles import ANN, BOB, CYD, Town, speak

EVERYBODYS = {"id", "name", "topic", "language", "frequency"}


@pytest.fixture
def town() -> Town:
    return Town()


@pytest.fixture
def public(town: Town) -> str:
    """A public profile of Ann's."""
    return public_profile(town)


def public_profile(town: Town, owner: str = ANN) -> str:
    id_ = str(town.profile(owner, keywords=["secret"])["id"])
    town.publish(id_, owner)
    return id_


def webhook(town: Town, tenant: str, **members: Any) -> str:
    return str(town.webhook(tenant, **members)["id"])


def events(town: Town, tenant: str) -> list[Any]:
    page = town.run(lambda ctx: ctx.tx.documents.scan(EVENTS, limit=1_000), tenant).rows
    return [json.loads(EVENTS.decode(row.raw).body)["data"] for row in page]


def changes_of(town: Town, tenant: str, kind: str = "report") -> list[tuple[str, str]]:
    rows = [row for row in town.changes(tenant) if row["resourceType"] == kind]
    return [(row["changeType"], row["resourceId"]) for row in rows]


def body_of(reply: Any) -> Any:
    return json.loads(reply.body)["data"]


# -- who may -----------------------------------------------------------------------------------


def test_a_subscription_is_made_read_changed_and_ended_as_any_other(town: Town) -> None:
    profile = public_profile(town)
    hook = webhook(town, BOB)
    delivery = {"webhookIds": [hook, hook], "includeAudio": False, "minSignalConfidence": 0.5}
    body = {"profileId": profile, "delivery": delivery}
    reply = town.send("createSubscription", tenant=BOB, body=body)
    subscription, fields = body_of(reply), dict(reply.headers)
    path = {"subscriptionId": subscription["id"]}
    assert (reply.status, subscription["status"], subscription["profileId"]) == (
        201,
        "active",
        profile,
    )
    assert subscription["delivery"] == delivery
    assert fields["Location"].endswith(f"/api/v1/subscriptions/{subscription['id']}")
    view = town.send("getSubscription", tenant=BOB, path=path)
    assert (body_of(view), dict(view.headers)["ETag"]) == (subscription, fields["ETag"])
    patch = {"status": "paused", "delivery": {"webhookIds": None}}
    after = body_of(town.send("updateSubscription", tenant=BOB, path=path, body=patch))
    assert (after["status"], after["delivery"]["webhookIds"]) == ("paused", [])
    stale = town.refusal("deleteSubscription", tenant=BOB, path=path, if_match=fields["ETag"])
    assert stale.type.status == 412
    assert town.send("deleteSubscription", tenant=BOB, path=path).status == 204
    assert town.refusal("getSubscription", tenant=BOB, path=path).type.status == 404
    kinds = [kind for kind, _ in changes_of(town, BOB, "subscription")]
    assert kinds == ["created", "updated", "deleted"]
    assert town.subscribe(profile, BOB)["id"] != subscription["id"]


def test_only_public_profiles_of_others_and_each_once(town: Town, public: str) -> None:
    private = town.profile(ANN)["id"]
    town.subscribe(public, BOB)
    for tenant, profile, code in (
        (BOB, private, "NOT_FOUND"),
        (BOB, "prf_" + "0" * 24, "NOT_FOUND"),
        (BOB, public, "RESOURCE_CONFLICT"),
        (ANN, public, "RESOURCE_CONFLICT"),
        (ANN, private, "RESOURCE_CONFLICT"),
    ):
        body = {"profileId": profile}
        assert town.refusal("createSubscription", tenant=tenant, body=body).type.code == code
    details = {
        town.refusal("createSubscription", tenant=BOB, body={"profileId": profile}).detail
        for profile in (private, "prf_" + "0" * 24)
    }
    assert len(details) == 1


def test_a_subscription_names_webhooks_of_the_subscriber(town: Town, public: str) -> None:
    foreign = webhook(town, ANN)
    body = {"profileId": public, "delivery": {"webhookIds": [foreign]}}
    refusal = town.refusal("createSubscription", tenant=BOB, body=body)
    assert refusal.type.code == "VALIDATION_FAILED"
    assert "/delivery/webhookIds/0" in refusal.detail
    assert town.rows("listSubscriptions", tenant=BOB) == []


def test_an_own_subscription_ends_with_its_profile_alone(town: Town) -> None:
    town.profile(ANN)
    (own,) = town.rows("listSubscriptions", tenant=ANN)
    refusal = town.refusal("deleteSubscription", path={"subscriptionId": own["id"]})
    assert refusal.type.code == "RESOURCE_CONFLICT"
    assert len(town.rows("listSubscriptions", tenant=ANN)) == 1


def test_a_plan_bounds_the_subscriptions_to_others(town: Town) -> None:
    assert [DEFAULT_PLANS.plan(name).subscriptions for name in ("pro", "elite")] == [100, 1_000]
    plans = DEFAULT_PLANS.with_changes({"pro": {"subscriptions": 2}})
    town.host = Host(providers={PlanTable: plans})
    town.plan(BOB, "pro")
    profiles = [public_profile(town) for _ in range(3)]
    town.profile(BOB)  # its own count for nothing
    first, _ = (town.subscribe(profile, BOB) for profile in profiles[:2])
    refusal = town.refusal("createSubscription", tenant=BOB, body={"profileId": profiles[2]})
    assert (refusal.type.code, "2 subscriptions" in refusal.detail) == ("RESOURCE_CONFLICT", True)
    town.send("deleteSubscription", tenant=BOB, path={"subscriptionId": first["id"]})
    town.subscribe(profiles[2], BOB)
    town.plan(CYD, "free")
    body = {"profileId": profiles[0]}
    assert "has 0" in town.refusal("createSubscription", tenant=CYD, body=body).detail


# -- what is seen ------------------------------------------------------------------------------


def test_of_others_profiles_one_sees_what_everybody_is_shown(town: Town, public: str) -> None:
    own, report = town.profile(BOB)["id"], town.report(ANN, public)
    path = {"profileId": public}
    profiles = town.rows("listProfiles", "visibility=public", BOB)
    assert [(row["id"], set(row)) for row in profiles] == [(public, EVERYBODYS)]
    assert town.refusal("getProfile", tenant=BOB, path=path).type.status == 404
    assert town.listed_ids(BOB) == town.listed_ids(BOB, f"profileId={public}") == []
    subscription = town.subscribe(public, BOB)
    rows = {row["id"]: row for row in town.rows("listProfiles", tenant=BOB)}
    assert [rows[id_]["owned"] for id_ in (own, public)] == [True, False]
    members = {"owned", "visibility", "subscription", "reportGeneratedAtISO", "reportGeneratedAt"}
    assert set(rows[public]) == EVERYBODYS | members | {"deliveryMetadata"}
    assert (rows[public]["subscription"], rows[public]["visibility"]) == (subscription, "public")
    reply = town.send("getProfile", tenant=BOB, path=path)
    assert body_of(reply) == rows[public]
    tag = dict(reply.headers)["ETag"]
    assert town.send("getProfile", tenant=BOB, path=path, if_none_match=tag).status == 304
    assert town.listed_ids(BOB) == town.listed_ids(BOB, f"profileId={public}") == [report]
    assert town.listed_ids(CYD) == []


def test_the_public_ones_are_walked_page_by_page_and_private_ones_are_not_there(town: Town) -> None:
    profiles = []
    for owner in (ANN, BOB, ANN, CYD):
        town.clock.advance(1)
        profiles.append(public_profile(town, owner))
    town.unpublish(profiles[2], ANN)
    ids, cursor = [], ""
    while True:
        query = f"visibility=public&limit=1{cursor}"
        page = json.loads(town.send("listProfiles", tenant=BOB, query=query).body)
        ids += [row["id"] for row in page["data"]]
        if page["links"]["next"] is None:
            break
        cursor = f"&cursor={page['meta']['page']['nextCursor']}"
    assert ids == [profiles[3], profiles[1], profiles[0]]
    refusal = town.refusal("listProfiles", tenant=BOB, query=f"limit=1{cursor}")
    assert refusal.type.code == "INVALID_CURSOR"


@pytest.mark.parametrize(
    "operation", ["replaceProfile", "updateProfile", "deleteProfile", "generateReport"]
)
def test_others_profiles_are_read_and_not_changed(town: Town, public: str, operation: str) -> None:
    request: Any = {"path": {"profileId": public}, "tenant": BOB}
    if operation in {"replaceProfile", "updateProfile"}:
        request["body"] = {"name": "Mine", "topic": "Ports", "frequency": "manual"}
    assert town.refusal(operation, **request).type.code == "NOT_FOUND"
    town.subscribe(public, BOB)
    assert town.refusal(operation, **request).type.code == "FORBIDDEN"
    assert town.refusal(operation, **request, if_match='"x"').type.code == "FORBIDDEN"
    name = town.run(lambda ctx: ctx.value(PROFILES, public), ANN).name
    assert name == "Ports"


def test_own_and_others_reports_are_one_list_in_one_order(town: Town) -> None:
    own = town.profile(BOB)["id"]
    profiles = [public_profile(town, owner) for owner in (ANN, CYD, ANN)]
    for profile in profiles[:2]:
        town.subscribe(profile, BOB)
    for turn in range(4):
        for owner, profile in zip((BOB, ANN, CYD, ANN), (own, *profiles), strict=True):
            town.clock.advance(turn % 2)
            town.report(owner, profile)
    ids = {id_ for id_, (_, at) in town.reports.items() if at in {own, *profiles[:2]}}
    every = town.listed_ids(BOB, limit=100)
    assert set(every) == ids
    times = [row["generatedAt"] for row in town.rows("listReports", "limit=100", BOB)]
    assert times == sorted(times, reverse=True)
    for limit in (1, 2, 3, 5, 11, 12, 13):
        assert town.listed_ids(BOB, limit=limit) == every


def test_a_page_of_hidden_reports_ends_and_is_gone_on_from(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, public = public_profile(town), public_profile(town)
    for profile in (private, public):
        town.subscribe(profile, BOB)
        for _ in range(3):
            town.report(ANN, profile)
    monkeypatch.setattr("svc_core.reports.publications.READS_MAX", 2)
    town.unpublish(private, ANN)  # and nobody has ended the subscription yet
    assert town.listed_ids(BOB, limit=1) == town.listed_ids(BOB, limit=100)
    assert {town.reports[id_][1] for id_ in town.listed_ids(BOB)} == {public}


# -- who is told -------------------------------------------------------------------------------


def test_subscribers_are_told_of_new_reports_as_owners_are(town: Town, public: str) -> None:
    for tenant in (BOB, CYD):
        webhook(town, tenant)
    before = town.report(ANN, public)
    town.clock.advance(1)
    bobs = town.subscribe(public, BOB)
    pause = town.subscribe(public, CYD)
    path = {"subscriptionId": pause["id"]}
    town.send("updateSubscription", tenant=CYD, path=path, body={"status": "paused"})
    town.tell()
    assert changes_of(town, BOB) == [], "what was made before"
    town.clock.advance(1)
    report = town.report(ANN, public)
    assert (changes_of(town, BOB), events(town, BOB)) == ([], []), "the maker waits for none of it"
    for _ in range(3):
        town.tell()
    for tenant in (BOB, CYD):
        assert changes_of(town, tenant) == [("created", report)]
    (event,) = events(town, BOB)
    assert (event["reportId"], event["profileId"]) == (report, public)
    assert event["subscriptionIds"] == [bobs["id"]]
    assert events(town, CYD) == [], "a paused subscription is not told, and still read"
    assert sorted(town.listed_ids(CYD)) == sorted([report, before])
    town.run(lambda ctx: following.note_news(ctx, report, 2), ANN)
    town.tell()
    assert changes_of(town, BOB) == [("created", report), ("updated", report)]


@pytest.mark.parametrize("end", ["ended", "unpublished"])
def test_a_subscriber_sees_what_his_own_webhooks_took_while_he_is_one(
    town: Town, public: str, end: str
) -> None:
    def view(tenant: str) -> Any:
        path = {"profileId": public}
        detail = body_of(town.send("getProfile", tenant=tenant, path=path))["deliveryMetadata"]
        (row,) = town.rows("listProfiles", tenant=tenant)
        assert row["deliveryMetadata"] == detail
        return detail["generatedAtISO"]

    hook = webhook(town, BOB)
    for tenant in (BOB, CYD):
        town.subscribe(public, tenant)
    town.clock.advance(1)
    town.report(ANN, public)
    town.tell()
    assert view(BOB) is None
    for task in town.run(lambda ctx: delivering.take_deliveries(ctx, hook), BOB):
        end_of = partial(delivering.conclude, task=task, result=attempt_outcome(200, 1))
        town.run(end_of, BOB)
    assert view(BOB) == events(town, BOB)[0]["generatedAtISO"]
    assert (view(ANN), view(CYD)) == (None, None)
    if end == "ended":
        (subscription,) = town.rows("listSubscriptions", tenant=BOB)
        town.send("deleteSubscription", tenant=BOB, path={"subscriptionId": subscription["id"]})
    else:
        town.unpublish(public, ANN)
        town.clock.advance(GRACE.total_seconds() + 1)
        town.tell()
        town.publish(public, ANN)
    town.subscribe(public, BOB)
    assert view(BOB) is None


def test_a_webhook_may_be_told_of_a_profile_of_others_alone(town: Town, public: str) -> None:
    second = public_profile(town)
    for profile in (public, second):
        town.subscribe(profile, BOB)
    body: Any = {"profileIds": [public]}
    hook = webhook(town, BOB, **body)
    for profile in (second, public):
        town.report(ANN, profile)
    town.tell()
    assert [event["profileId"] for event in events(town, BOB)] == [public]
    refusal = town.refusal(
        "updateWebhook", tenant=CYD, path={"webhookId": webhook(town, CYD)}, body=body
    )
    assert "/profileIds/0" in refusal.detail
    assert hook


def test_thousands_are_told_in_small_units_and_each_once_wherever_it_was_killed(
    town: Town, public: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_http.service.workers.subscribers.AT_ONCE", 3)
    readers = [f"wsp_{number:02}" for number in range(10)]
    for reader in readers:
        town.plan(reader, "pro")
        town.subscribe(public, reader)
        webhook(town, reader)
    reports = [town.report(ANN, public) for _ in range(2)]
    store, write = town.store, town.store.write

    class Crash(BaseException):
        """The end of a process."""

    units: list[str] = []
    for life in range(1, 60):
        lives = [life % 4 + 1]

        async def dying(tenant: str, unit: Any, lives: list[int] = lives) -> Any:
            lives[0] -= 1
            if lives[0] < 0:
                raise Crash
            units.append(tenant)
            return await write(tenant, unit)

        monkeypatch.setattr(store, "write", dying)
        try:
            town.tell()
            break
        except Crash:
            continue
    monkeypatch.setattr(store, "write", write)
    town.tell()
    for reader in readers:
        assert changes_of(town, reader) == [("created", id_) for id_ in reports]
        assert sorted(event["reportId"] for event in events(town, reader)) == sorted(reports)
        assert units.count(reader) >= len(reports)


def test_a_broken_subscriber_keeps_nobody_waiting(town: Town, public: str) -> None:
    readers = [BOB, CYD, "wsp_d"]
    for reader in readers:
        town.subscribe(public, reader)
    fault = Follow(public, ANN, "sub_" + "0" * 24)
    town.run(lambda ctx: ctx.save(FOLLOWS, public, fault), CYD)
    report = town.report(ANN, public)
    failures: list[BaseException] = []
    drive.run(inform_subscribers(town.service, failures.append))
    assert [changes_of(town, reader) for reader in (BOB, "wsp_d")] == [[("created", report)]] * 2
    assert len(failures) == 1


def test_of_a_flood_of_reports_that_nobody_tells_the_newest_are_told(
    town: Town, public: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "NEWS_MAX", 3)
    town.subscribe(public, BOB)
    reports = [town.report(ANN, public) for _ in range(5)]
    town.tell()
    assert changes_of(town, BOB) == [("created", id_) for id_ in reports[2:]]


def test_a_report_that_is_gone_is_told_to_nobody(town: Town, public: str) -> None:
    town.subscribe(public, BOB)
    deleted_id, report_id = town.report(ANN, public), town.report(ANN, public)
    town.run(lambda ctx: ctx.tx.documents.delete(REPORTS, deleted_id), ANN)
    town.tell()
    assert changes_of(town, BOB) == [("created", report_id)]


def test_a_follower_of_a_profile_that_stands_beside_is_told_nothing(
    town: Town, public: str
) -> None:
    """Profiles whose ids end alike stand at one place among the followers of all."""
    twin = f"prf_{'9' * 8}{public[-16:]}"
    follow = Follow(twin, CYD, town.subscribe(public, BOB)["id"])
    town.run(lambda ctx: ctx.save(FOLLOWS, twin, follow), "wsp_d")
    town.report(ANN, public)
    town.tell()
    assert changes_of(town, "wsp_d") == []


def test_a_recording_is_waited_for_and_then_told(town: Town, public: str) -> None:
    town.host = attrs.evolve(town.host, has_voice=True)
    for tenant in (BOB, CYD):
        webhook(town, tenant)
        town.subscribe(public, tenant, delivery={"includeAudio": tenant == BOB})
    report = town.report(ANN, public)
    town.tell()
    assert [event["hasAudio"] for tenant in (BOB, CYD) for event in events(town, tenant)] == [
        False,
        False,
    ]

    def waits(tenant: str) -> list[bool]:
        rows = town.run(lambda ctx: ctx.tx.documents.scan(EVENTS, limit=9), tenant).rows
        return [EVENTS.decode(row.raw).waits_until is not None for row in rows]

    assert (waits(BOB), waits(CYD)) == ([True], [False])
    assert town.run(lambda ctx: ctx.find(SPEECH_REQUESTS, report), ANN), (
        "it is spoken for who wants that"
    )
    town.run(lambda ctx: speak(ctx, report), ANN)
    town.tell()
    assert waits(BOB) == [False]
    (event,) = events(town, BOB)
    assert event["hasAudio"] is True
    assert event["links"]["audio"].endswith(f"/reports/{report}/audio")
    assert changes_of(town, BOB) == [("created", report), ("updated", report)]


def test_a_recording_that_fails_for_good_is_not_waited_for(town: Town, public: str) -> None:
    town.host = attrs.evolve(town.host, has_voice=True)
    webhook(town, BOB)
    town.subscribe(public, BOB, delivery={"includeAudio": True})
    report = town.report(ANN, public)
    town.tell()
    town.run(
        lambda ctx: speaking.request_speech(ctx, "rpt_" + "0" * 24), ANN
    )  # of no report: nothing
    town.run(lambda ctx: speaking.give_up(ctx, report), ANN)
    town.tell()
    rows = town.run(lambda ctx: ctx.tx.documents.scan(EVENTS, limit=9), BOB).rows
    assert [EVENTS.decode(row.raw).waits_until for row in rows] == [None]
    assert changes_of(town, BOB) == [("created", report)]


# -- how they end ------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["unpublish", "delete"])
def test_with_the_profile_all_subscriptions_end_in_small_units(
    town: Town, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr("svc_http.service.workers.subscribers.AT_ONCE", 2)
    profile, second = public_profile(town), public_profile(town)
    report = town.report(ANN, profile)
    readers = [BOB, CYD, "wsp_d"]
    for reader in readers:
        town.subscribe(profile, reader)
        town.subscribe(second, reader)
    if end == "delete":
        town.run(lambda ctx: delete_profile(ctx, ProfileRequest(profile)), ANN)
    else:
        town.unpublish(profile, ANN)
    for reader in readers:
        assert town.listed_ids(reader) == [], "at once, whoever has still to be told"
        assert [row["id"] for row in town.rows("listProfiles", tenant=reader)] == [second]
        path = {"reportId": report}
        assert town.refusal("getReport", tenant=reader, path=path).type.status == 404
    town.tell()
    for reader in readers:
        (subscription,) = town.rows("listSubscriptions", tenant=reader)
        assert subscription["profileId"] == second
        assert [kind for kind, _ in changes_of(town, reader, "subscription")] == [
            *("created", "created", "deleted")
        ]
    assert len(town.rows("listSubscriptions", tenant=ANN)) == (1 if end == "delete" else 2)
    town.clock.advance(GRACE.total_seconds() + 1)
    town.tell()
    assert town.run(lambda ctx: ctx.find(FOLLOWER_QUEUES, profile), ANN) is None


def test_one_that_was_made_while_the_profile_became_private_ends_too(town: Town) -> None:
    profile = public_profile(town)
    town.unpublish(profile, ANN)
    town.tell()

    async def late(ctx: Any) -> None:
        await ctx.save(FOLLOWS, profile, Follow(profile, ANN, "sub_" + "1" * 24))
        queue = attrs.evolve(
            SUBSCRIPTIONS.decode((await ctx.tx.documents.scan(SUBSCRIPTIONS, limit=1)).rows[0].raw),
            id="sub_" + "1" * 24, profile_id=profile, created_at=ctx.now + timedelta(seconds=1),
        )  # fmt: skip
        await ctx.create(SUBSCRIPTIONS, queue.id, queue)

    town.profile(BOB)
    town.run(late, BOB)
    town.tell()
    assert len(town.rows("listSubscriptions", tenant=BOB)) == 2, "it is looked again after a while"
    assert [row["owned"] for row in town.rows("listProfiles", tenant=BOB)] == [True]
    town.clock.advance(GRACE.total_seconds() + 1)
    town.tell()
    assert len(town.rows("listSubscriptions", tenant=BOB)) == 1


def test_a_profile_that_is_public_again_keeps_who_came_since(town: Town) -> None:
    profile = public_profile(town)
    town.subscribe(profile, BOB)
    town.unpublish(profile, ANN)
    town.clock.advance(1)
    town.publish(profile, ANN)
    town.subscribe(profile, CYD)
    town.tell()
    assert town.rows("listSubscriptions", tenant=BOB) == []
    town.clock.advance(GRACE.total_seconds() + 1)
    town.tell()
    report = town.report(ANN, profile)
    town.tell()
    assert changes_of(town, CYD) == [("created", report)]
    assert town.listed_ids(CYD) == [report]


def test_nothing_is_told_of_private_profiles_and_of_none(town: Town) -> None:
    private = town.profile(ANN)["id"]
    town.report(ANN, private)
    town.run(lambda ctx: following.note_news(ctx, "rpt_" + "0" * 24), ANN)
    town.unpublish(private, ANN)
    town.run(lambda ctx: delete_profile(ctx, ProfileRequest(private)), ANN)
    assert town.run(lambda ctx: ctx.find(FOLLOWER_QUEUES, private), ANN) is None
    assert town.run(lambda ctx: following.due_news(ctx, private), ANN) is None


def test_what_another_worker_did_first_is_left_alone(town: Town, public: str) -> None:
    town.subscribe(public, BOB)
    town.report(ANN, public)
    task = town.run(lambda ctx: following.due_news(ctx, public), ANN)
    assert task is not None
    town.tell()
    assert town.run(lambda ctx: following.subscriber(ctx, task), BOB) is None
    assert town.run(lambda ctx: following.subscriber(ctx, task), CYD) is None
    town.report(ANN, public)
    before = town.run(lambda ctx: ctx.value(FOLLOWER_QUEUES, public), ANN)
    town.run(lambda ctx: following.advance(ctx, task, None), ANN)
    assert town.run(lambda ctx: ctx.value(FOLLOWER_QUEUES, public), ANN) == before
    town.run(lambda ctx: ctx.tx.documents.delete(FOLLOWER_QUEUES, public), ANN)
    town.run(lambda ctx: following.advance(ctx, task, None), ANN)
    assert town.run(lambda ctx: ctx.find(FOLLOWER_QUEUES, public), ANN) is None


# -- before it is deleted ----------------------------------------------------------------------


def test_what_goes_with_a_profile_is_said_before_it_goes(town: Town, public: str) -> None:
    second = public_profile(town)
    for reader in (BOB, CYD):
        town.subscribe(public, reader)
    town.subscribe(second, "wsp_d")
    town.report(ANN, public, audio=True)
    town.report(ANN, public)
    town.report(ANN, second)

    def foreseen(profile: str, tenant: str = ANN) -> Any:
        request = publications.ChosenProfile(profile)
        return town.units(lambda ctx: publications.foresee_deletion(ctx, request), tenant)

    deletion = json.loads(foreseen(public).raw)
    assert deletion == {"name": "Ports", "reports": 2, "recordings": 1, "subscribers": 2}
    with pytest.raises(Problem) as failure:
        foreseen(public, BOB)
    assert failure.value.type.code == "NOT_FOUND"
    assert town.operations["deleteProfile"].foresees == "foreseeDeletion"
