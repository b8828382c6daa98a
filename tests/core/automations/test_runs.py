"""Runs: every happening in every state, when automations run, and who may look."""

import itertools
import json
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.automations import rules
from svc_core.automations import run_queue as running
from svc_core.automations.model import (
    RUNS,
    WORK,
    Automation,
    AutomationRun,
    RunOutput,
    RunStatus,
    Timetable,
)
from svc_core.automations.rules import ENDS, Happening
from svc_core.automations.run_queue import RunTask
from svc_core.outbox.model import EVENTS, RUN_FINISHED
from svc_core.testing.clock import START

HOURLY = {"frequency": "hourly"}
OUTPUT = RunOutput("Nothing.", ())
BEGIN_TIME, FREE = START + timedelta(minutes=1), START + timedelta(minutes=5)


# -- the states --------------------------------------------------------------------------------

STATES = {
    "queued": {"begin": "running", "succeed": None, "fail": "failed", "cancel": "cancelled"},
    "running": {"begin": "running", "succeed": "succeeded", "fail": "failed", "cancel": None},
    "succeeded": {"begin": None, "succeed": None, "fail": None, "cancel": None},
    "failed": {"begin": None, "succeed": None, "fail": None, "cancel": None},
    "cancelled": {"begin": None, "succeed": None, "fail": None, "cancel": None},
}


def run_in(status: Any) -> AutomationRun:
    return AutomationRun(
        id="run_" + "1" * 24,
        automation_id="aut_" + "1" * 24,
        owner_id="usr_" + "1" * 24,
        status=status,
        trigger="manual",
        instructions="What?",
        created_at=START,
        updated_at=START,
    )


@pytest.mark.parametrize(
    ("status", "happening"), [*itertools.product(get_args(RunStatus), get_args(Happening))]
)
def test_every_happening_in_every_state_is_decided(status: Any, happening: Any) -> None:
    before = run_in(status)
    after = rules.advance_run(before, happening, BEGIN_TIME)
    expected = STATES[status][happening]
    if expected is None:
        assert after is None
        return
    assert after is not None
    assert (after.status, after.updated_at) == (expected, BEGIN_TIME)
    moments = (after.started_at, after.finished_at)
    assert moments == ((BEGIN_TIME, None) if expected == "running" else (None, BEGIN_TIME))


def test_an_end_is_never_left() -> None:
    assert {status for status, _ in rules.STEPS}.isdisjoint(ENDS)
    assert set(rules.STEPS.values()) - ENDS == {"running"}


# -- schedules ---------------------------------------------------------------------------------


def test_an_automation_without_a_schedule_is_run_by_hand_alone(desk: Any) -> None:
    automation = desk.automation()
    assert (automation["schedule"], automation["nextRunAt"], automation["lastRun"]) == (
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (HOURLY, "2026-01-02T04:00:00Z"),
        ({"frequency": "daily", "timeOfDay": "07:30"}, "2026-01-02T07:30:00Z"),
        ({"frequency": "weekdays", "timeOfDay": "03:00"}, "2026-01-05T03:00:00Z"),
        ({"frequency": "weekly", "timeOfDay": "07:30", "day": 1}, "2026-01-05T07:30:00Z"),
        ({"frequency": "weekly", "timeOfDay": "07:30", "day": 7}, "2026-01-04T07:30:00Z"),
        ({"frequency": "monthly", "timeOfDay": "07:30", "day": 28}, "2026-01-28T07:30:00Z"),
        (
            {"frequency": "daily", "timeOfDay": "07:30", "timezone": "Asia/Tokyo"},
            "2026-01-02T22:30:00Z",
        ),
    ],
)
def test_the_next_run_is_that_of_the_schedule(desk: Any, schedule: Any, expected: str) -> None:
    assert desk.automation(schedule=schedule)["nextRunAt"] == expected


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"instructions": "ab"}, "/instructions"),
        ({"instructions": "   "}, "/instructions"),
        ({"projectId": "prj_" + "1" * 24}, "/projectId"),
        ({"schedule": {}}, "/schedule/frequency"),
        ({"schedule": {"frequency": "manual"}}, "/schedule/frequency"),
        ({"schedule": {"frequency": "daily"}}, "/schedule/timeOfDay"),
        ({"schedule": {**HOURLY, "timezone": "Mars/Base"}}, "/schedule/timezone"),
        ({"schedule": {**HOURLY, "day": 1}}, "/schedule/day"),
        ({"schedule": {"frequency": "weekly", "timeOfDay": "07:30", "day": 8}}, "/schedule/day"),
        ({"nextRunAt": None}, "/nextRunAt"),
    ],
)
def test_what_is_out_of_bounds_is_refused_by_its_place(desk: Any, body: Any, pointer: str) -> None:
    whole = {"name": "Look", "instructions": "What happened?", **body}
    refusal = desk.refusal_of("createAutomation", body=whole)
    assert (refusal.type.code, pointer in refusal.detail) == ("VALIDATION_FAILED", True)


def test_every_fault_is_told_at_once(desk: Any) -> None:
    wrong = {
        "schedule": {"frequency": "daily", "timezone": "Mars/Base", "day": 3},
        "projectId": "prj_" + "1" * 24,
    }
    whole = {"name": "Look", "instructions": "What happened?", **wrong}
    automation_id = desk.automation()["id"]
    for case in (
        ("createAutomation", ""),
        ("replaceAutomation", automation_id),
        ("updateAutomation", automation_id),
    ):
        assert desk.refusal_of(*case, whole).detail == (
            "/schedule/timeOfDay: is required when it is daily; "
            "/schedule/day: has no meaning when it is daily; "
            "/schedule/timezone: must be an IANA time zone such as Europe/Paris; "
            "/projectId: is no project of yours"
        )


def test_a_patch_changes_the_schedule_member_by_member(desk: Any) -> None:
    automation = desk.automation(schedule={"frequency": "daily", "timeOfDay": "07:30"})
    id_ = automation["id"]
    reply = desk.ask("updateAutomation", id_, {"schedule": {"timezone": "Asia/Tokyo"}})
    assert reply["schedule"] == {
        "frequency": "daily", "timeOfDay": "07:30", "timezone": "Asia/Tokyo", "day": None,
    }  # fmt: skip
    assert reply["nextRunAt"] == "2026-01-02T22:30:00Z"
    back = desk.ask("updateAutomation", id_, {"schedule": {"timezone": None}})
    assert back["schedule"] == automation["schedule"]
    assert desk.ask("updateAutomation", id_, {"schedule": None})["nextRunAt"] is None
    body = {"schedule": {"timezone": "Asia/Tokyo"}}
    assert "/schedule/frequency" in desk.refusal_of("updateAutomation", id_, body).detail
    body = {"schedule": {"frequency": None}}
    assert "/schedule/frequency" in desk.refusal_of("updateAutomation", id_, body).detail


def test_only_another_schedule_is_counted_anew(desk: Any) -> None:
    automation = desk.automation(schedule=HOURLY)
    desk.house.clock.advance(7_200)
    renamed_row = desk.ask("updateAutomation", automation["id"], {"name": "Another"})
    assert renamed_row["nextRunAt"] == automation["nextRunAt"]  # it is due, and stays so
    body = {"schedule": {"frequency": "daily", "timeOfDay": "07:30"}}
    assert (
        desk.ask("updateAutomation", automation["id"], body)["nextRunAt"] == "2026-01-02T07:30:00Z"
    )


@given(
    st.sampled_from(["hourly", "daily", "weekdays", "weekly", "monthly"]),
    st.sampled_from(["UTC", "Europe/Paris", "America/St_Johns", "Pacific/Apia"]),
    st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)),
    st.times(),
)
def test_the_next_run_lies_ahead_and_follows_from_any_moment_before_it(
    frequency: Any, zone: str, now: datetime, time: Any
) -> None:
    timetable = Timetable(frequency, f"{time:%H:%M}", zone)
    automation = attrs.evolve(_automation(), schedule=timetable)
    upcoming = rules.next_due(automation, now)
    assert upcoming is not None
    assert now < upcoming <= now + timedelta(days=62)
    assert rules.next_due(automation, upcoming - timedelta(microseconds=1)) == upcoming
    assert rules.next_due(attrs.evolve(automation, status="archived"), now) is None


def _automation() -> Automation:
    return Automation(
        id="aut_" + "1" * 24,
        owner_id="usr_" + "1" * 24,
        name="Look",
        instructions="What?",
        schedule=None,
        project_id=None,
        created_at=START,
        updated_at=START,
    )


# -- running by hand ---------------------------------------------------------------------------


def begin(desk: Any, automation_id: str) -> RunTask:
    """Take and begin the run of an automation."""

    async def unit(ctx: Any) -> RunTask:
        task = await running.take_run(ctx, automation_id, "me", ctx.now + timedelta(seconds=30))
        assert task is not None
        assert await running.begin_run(ctx, task) is not None
        return task

    task: RunTask = desk.house.run(unit, "wsp_a")
    return task


def finish(desk: Any, task: RunTask) -> Any:
    return desk.house.run(lambda ctx: running.end_run(ctx, task, "succeed", output=OUTPUT), "wsp_a")


def test_a_run_is_accepted_with_where_to_look(desk: Any) -> None:
    automation = desk.automation()
    reply = desk.reply("runAutomation", automation["id"])
    run = json.loads(reply.body)["data"]
    assert (reply.status, run["status"], run["trigger"]) == (202, "queued", "manual")
    location = f"/api/v1/automations/{automation['id']}/runs/{run['id']}"
    assert dict(reply.headers)["Location"] == f"https://api.example{location}"
    path = {"runId": run["id"]}
    view = desk.reply("getAutomationRun", automation["id"], path=path)
    assert json.loads(view.body)["data"] == run
    assert dict(view.headers)["ETag"] == dict(reply.headers)["ETag"]
    assert desk.ask("getAutomation", automation["id"])["lastRun"] == {
        "id": run["id"], "status": "queued", "trigger": "manual",
        "startedAt": None, "finishedAt": None,
    }  # fmt: skip
    rows = desk.house.changes()
    (row,) = [row for row in rows if row["resourceType"] == "automationRun"]
    assert row["links"] == {"self": location}


def test_one_run_at_a_time_and_none_of_an_archived_one(desk: Any) -> None:
    id_ = desk.automation()["id"]
    desk.ask("runAutomation", id_)
    assert desk.code("runAutomation", id_) == "RUN_IN_PROGRESS"
    task = begin(desk, id_)
    assert desk.code("runAutomation", id_) == "RUN_IN_PROGRESS"
    assert finish(desk, task)
    desk.ask("runAutomation", id_)
    desk.ask("archiveAutomation", id_)
    assert desk.code("runAutomation", id_) == "AUTOMATION_ARCHIVED"
    desk.ask("restoreAutomation", id_)
    desk.house.clock.advance(1)
    desk.ask("runAutomation", id_)
    states = [row["status"] for row in desk.ask("listAutomationRuns", id_)]
    assert sorted(states) == ["cancelled", "queued", "succeeded"]
    only = desk.ask("listAutomationRuns", id_, query="status=queued,cancelled")
    assert {row["status"] for row in only} == {"queued", "cancelled"}


def test_archiving_cancels_what_has_not_begun_and_stops_the_schedule(desk: Any) -> None:
    id_ = desk.automation(schedule=HOURLY)["id"]
    desk.ask("runAutomation", id_)
    archived_row = desk.ask("archiveAutomation", id_)
    assert (archived_row["status"], archived_row["nextRunAt"]) == ("archived", None)
    assert archived_row["lastRun"]["status"] == "cancelled"
    desk.house.clock.advance(86_400)
    assert take(desk, id_) is None
    active_row = desk.ask("restoreAutomation", id_)
    assert active_row["nextRunAt"] == "2026-01-03T04:00:00Z"
    changes = desk.changes()
    desk.ask("restoreAutomation", id_)
    assert desk.changes() == changes


def test_a_run_that_has_begun_goes_on_in_an_archived_automation(desk: Any) -> None:
    id_ = desk.automation(schedule=HOURLY)["id"]
    desk.ask("runAutomation", id_)
    task = begin(desk, id_)
    archived_row = desk.ask("archiveAutomation", id_)
    assert archived_row["lastRun"]["status"] == "running"
    assert finish(desk, task)
    assert desk.ask("getAutomation", id_)["lastRun"]["status"] == "succeeded"
    desk.house.clock.advance(86_400)
    assert take(desk, id_) is None


def test_others_of_the_workspace_see_neither_automation_nor_run(desk: Any) -> None:
    id_ = desk.automation()["id"]
    run = desk.ask("runAutomation", id_)
    desk.house.user = desk.ben
    for operation in ("getAutomation", "archiveAutomation", "runAutomation", "listAutomationRuns"):
        assert desk.code(operation, id_) == "NOT_FOUND"
    assert desk.code("getAutomationRun", id_, path={"runId": run["id"]}) == "NOT_FOUND"
    second_id = desk.automation()["id"]
    assert desk.code("getAutomationRun", second_id, path={"runId": run["id"]}) == "NOT_FOUND"
    assert desk.changes() == [("automation", "created")]
    desk.house.user = desk.ann
    assert desk.code("getAutomationRun", second_id, path={"runId": run["id"]}) == "NOT_FOUND"
    second = desk.automation()["id"]
    assert desk.code("getAutomationRun", second, path={"runId": run["id"]}) == "NOT_FOUND"


def test_an_automation_stands_in_a_project_of_its_owner(desk: Any) -> None:
    project = desk.project()["id"]
    automation = desk.automation(projectId=project)
    assert automation["projectId"] == project
    assert desk.ask("updateAutomation", automation["id"], {"projectId": None})["projectId"] is None
    assert (
        desk.ask("updateAutomation", automation["id"], {"projectId": project})["projectId"]
        == project
    )
    desk.house.user = desk.ben
    body = {"name": "His", "instructions": "What?", "projectId": project}
    assert "/projectId" in desk.refusal_of("createAutomation", body=body).detail


def test_lists_are_newest_first_and_filtered(desk: Any) -> None:
    ids = []
    for number in range(3):
        desk.house.clock.advance(1)
        ids.append(desk.automation(name=f"A{number}")["id"])
    desk.ask("archiveAutomation", ids[1])
    assert [row["id"] for row in desk.ask("listAutomations")] == ids[::-1]
    archived_row = desk.ask("listAutomations", query="status=archived")
    assert [row["id"] for row in archived_row] == [ids[1]]


# -- the worker's part -------------------------------------------------------------------------


def take(desk: Any, id_: str, holder: str = "me", seconds: float = 30) -> RunTask | None:
    async def unit(ctx: Any) -> RunTask | None:
        return await running.take_run(ctx, id_, holder, ctx.now + timedelta(seconds=seconds))

    task: RunTask | None = desk.house.run(unit, "wsp_a")
    return task


def test_what_is_due_is_queued_once_for_all_the_runs_that_were_missed(desk: Any) -> None:
    id_ = desk.automation(schedule=HOURLY)["id"]
    assert take(desk, id_) is None
    desk.house.clock.advance(5 * 3_600)
    task = take(desk, id_)
    assert task is not None
    assert task.run.trigger == "schedule"
    row = desk.ask("getAutomation", id_)
    assert (row["nextRunAt"], row["lastRun"]["status"]) == ("2026-01-02T09:00:00Z", "queued")
    assert take(desk, id_, "another") is None
    assert len(desk.ask("listAutomationRuns", id_)) == 1


def test_who_no_longer_has_a_run_writes_nothing_of_it(desk: Any) -> None:
    id_ = desk.automation()["id"]
    desk.ask("runAutomation", id_)
    first = begin(desk, id_)
    desk.house.clock.advance(31)
    second = take(desk, id_, "another")
    assert second is not None
    before = desk.changes()

    async def late(ctx: Any) -> list[object]:
        await running.release_run(ctx, first, ctx.now)
        return [
            await running.renew_run(ctx, first, FREE),
            await running.begin_run(ctx, first),
            await running.end_run(ctx, first, "succeed", output=OUTPUT),
        ]

    assert desk.house.run(late, "wsp_a") == [False, None, False]
    assert desk.changes() == before
    assert desk.house.run(lambda ctx: running.renew_run(ctx, second, FREE), "wsp_a")
    assert finish(desk, second)


def test_a_run_that_is_interrupted_again_and_again_fails(desk: Any) -> None:
    id_ = desk.automation()["id"]
    run = desk.ask("runAutomation", id_)
    for _ in range(rules.ATTEMPTS_MAX):
        begin(desk, id_)
        desk.house.clock.advance(31)
    task = take(desk, id_)
    assert desk.house.run(lambda ctx: running.begin_run(ctx, task), "wsp_a") is None
    view = desk.ask("getAutomationRun", id_, path={"runId": run["id"]})
    assert view["status"] == "failed"
    assert view["error"] == {"code": "INTERNAL_ERROR", "detail": "It was interrupted 3 times."}
    desk.ask("runAutomation", id_)


def test_a_beginning_that_is_given_back_does_not_count(desk: Any) -> None:
    id_ = desk.automation()["id"]
    desk.ask("runAutomation", id_)
    for _ in range(rules.ATTEMPTS_MAX + 2):
        task = begin(desk, id_)
        desk.house.run(lambda ctx, task=task: running.release_run(ctx, task, ctx.now), "wsp_a")
    assert finish(desk, begin(desk, id_))


def test_what_a_server_before_had_is_free_at_once(desk: Any) -> None:
    id_ = desk.automation()["id"]
    desk.ask("runAutomation", id_)
    begin(desk, id_)
    assert take(desk, id_, "another") is None
    for _ in range(2):
        desk.house.run(lambda ctx: running.free_run(ctx, id_), "wsp_a")
    assert take(desk, id_, "another") is not None


# -- telling webhooks --------------------------------------------------------------------------


def test_a_webhook_that_chose_it_is_told_of_every_end(desk: Any) -> None:
    hooks, deaf = desk.house.webhook(events=[RUN_FINISHED]), desk.house.webhook()
    id_ = desk.automation(name="Look")["id"]
    first = desk.ask("runAutomation", id_)
    desk.house.clock.advance(1)
    finish(desk, begin(desk, id_))
    desk.ask("runAutomation", id_)
    desk.ask("archiveAutomation", id_)
    path = {"webhookId": hooks["id"]}
    deliveries = desk.ask("listDeliveries", path=path)
    assert [row["eventType"] for row in deliveries] == [RUN_FINISHED] * 2
    event = desk.house.run(lambda ctx: ctx.tx.documents.scan(EVENTS, limit=10), "wsp_a")
    bodies = [json.loads(json.loads(row.raw)["body"]) for row in event.rows]
    data = next(row["data"] for row in bodies if row["data"]["status"] == "succeeded")
    assert data == {
        "runId": first["id"],
        "automationId": id_,
        "projectId": None,
        "name": "Look",
        "status": "succeeded",
        "trigger": "manual",
        "startedAt": "2026-01-02T03:04:06Z",
        "finishedAt": "2026-01-02T03:04:06Z",
        "links": {
            "self": f"http://127.0.0.1:8000/api/v1/automations/{id_}/runs/{first['id']}",
            "automation": f"http://127.0.0.1:8000/api/v1/automations/{id_}",
        },
    }
    assert {row["data"]["status"] for row in bodies} == {"succeeded", "cancelled"}
    assert desk.ask("listDeliveries", path={"webhookId": deaf["id"]}) == []


def test_rows_and_work_are_as_the_worker_reads_them(desk: Any) -> None:
    """What is stored can be read again, as every process does."""
    id_ = desk.automation(schedule=HOURLY)["id"]
    desk.ask("runAutomation", id_)
    begin(desk, id_)

    async def read(ctx: Any) -> list[int]:
        return [len((await ctx.tx.documents.scan(row, limit=9)).rows) for row in (RUNS, WORK)]

    assert desk.house.run(read, "wsp_a") == [1, 1]
