"""Taking and concluding attempts, one case at a time (Spec: Events; States, Webhook)."""

import json
from datetime import timedelta
from typing import Any

import pytest

from svc_core.base import instants
from svc_core.outbox.model import EVENTS, QUEUES, WEBHOOKS, delivery_id
from svc_core.webhooks import delivery_queue as delivering
from svc_core.webhooks import rules
from svc_core.webhooks.rules import AttemptOutcome, attempt_outcome

OK = attempt_outcome(200, 12)
DOWN = attempt_outcome(500, 12)
GONE_OUTCOME = attempt_outcome(410, 12)
TIMEOUT = AttemptOutcome(None, "timeout", 10_000)


def test_an_attempt_is_written_before_it_is_made_and_its_end_after(yard: Any) -> None:
    hook = yard.webhook()["id"]
    event = yard.tell(hook)
    assert yard.delivery(hook, event.id).status == "pending"
    (task,) = yard.take(hook)
    assert (task.url, task.event, task.number) == ("https://hooks.example.com/svc", event, 1)
    delivery_ = yard.delivery(hook, event.id)
    assert delivery_.status == "delivering"
    assert [(row.id, row.number, row.finished_at) for row in delivery_.attempts] == [
        (task.attempt_id, 1, None)
    ]
    yard.forward(seconds=2)
    yard.conclude(task, OK)
    (attempt,) = yard.delivery(hook, event.id).attempts
    now = yard.house.clock.now()
    assert (attempt.started_at, attempt.finished_at) == (now - timedelta(seconds=2), now)
    assert (attempt.duration_ms, attempt.response_status, attempt.error) == (12, 200, None)
    last = yard.state(hook).last_delivery
    assert (last.event_id, last.status, last.response_status, last.at) == (
        event.id, "delivered", 200, now,
    )  # fmt: skip
    assert yard.queue(hook).wake_at is None


@pytest.mark.parametrize(
    ("result", "failures", "status", "error"),
    [
        (OK, 0, "enabled", None),
        (attempt_outcome(299, 1), 0, "enabled", None),
        (attempt_outcome(199, 1), 3, "enabled", "HTTP 199"),
        (attempt_outcome(301, 1), 3, "enabled", "HTTP 301"),
        (attempt_outcome(404, 1), 3, "enabled", "HTTP 404"),
        (DOWN, 3, "enabled", "HTTP 500"),
        (TIMEOUT, 3, "enabled", "timeout"),
        (GONE_OUTCOME, 3, "enabled", "HTTP 410"),
    ],
    ids=str,
)
def test_what_an_outcome_counts_for(
    yard: Any, result: AttemptOutcome, failures: int, status: str, error: str | None
) -> None:
    hook = yard.webhook()["id"]
    for _ in range(2):
        yard.tell(hook)
        yard.deliver(500)
    event = yard.tell(hook)
    (task,) = yard.take(hook)
    yard.conclude(task, result)
    after = yard.state(hook)
    assert (after.consecutive_failures, after.status) == (failures, status)
    assert (after.disabled_at is None) == (status == "enabled")
    assert yard.delivery(hook, event.id).attempts[0].error == error


def test_the_fifth_failure_in_a_row_disables_with_a_change_and_skips_the_rest(yard: Any) -> None:
    hook = yard.webhook()["id"]
    for _ in range(7):
        yard.tell(hook)
    assert len(yard.deliver(500)) == 5
    state = yard.state(hook)
    assert (state.status, state.consecutive_failures) == ("disabled", 5)
    assert state.disabled_at == yard.house.clock.now()
    assert yard.statuses(hook) == ["failed"] * 5 + ["skipped"] * 2
    changes = [row for row in yard.house.changes() if row["resourceId"] == hook]
    assert [change["changeType"] for change in changes] == ["created", "updated"]
    row_ = yard.run(lambda ctx: ctx.load(WEBHOOKS, hook))
    assert changes[-1]["version"] == row_.version


@pytest.mark.parametrize("results", [[OK], [DOWN], [DOWN] * 4, [DOWN, TIMEOUT, OK, DOWN]], ids=str)
def test_an_attempt_that_does_not_disable_changes_nothing_that_people_set(
    yard: Any, results: list[AttemptOutcome]
) -> None:
    house = yard.house
    hook = yard.webhook()["id"]
    path = {"webhookId": hook}
    before = dict(house.send("getWebhook", path=path).headers)["ETag"]
    changes = house.changes()
    for outcome in results:
        yard.tell(hook)
        (task,) = yard.take(hook)
        yard.conclude(task, outcome)
    after = house.send("getWebhook", path=path)
    (row,) = house.rows("listWebhooks")
    assert json.loads(after.body)["data"] == row
    assert row["lastDelivery"]["eventId"] == task.event.id
    assert row["consecutiveFailures"] == yard.state(hook).consecutive_failures
    assert dict(after.headers)["ETag"] == before
    assert (yard.version(hook), house.changes()) == (1, changes)
    body = {"description": "Night desk"}
    changed_row = house.send("updateWebhook", path=path, body=body, if_match=before)
    assert json.loads(changed_row.body)["data"] == {
        **row,
        **body,
        "updatedAt": instants.render(house.clock.now()),
    }


def test_what_was_counted_is_forgotten_without_a_change_where_nothing_was_disabled(
    yard: Any,
) -> None:
    hook = yard.webhook()["id"]
    for _ in range(4):
        yard.tell(hook)
    yard.deliver(500)
    assert yard.enable(hook)["data"]["consecutiveFailures"] == 0
    assert yard.version(hook) == 1
    for _ in range(6):
        yard.tell(hook)
    assert len(yard.deliver(500)) == 5
    assert yard.newest_change(hook) == yard.version(hook) == 2


def test_an_event_that_nobody_is_told_is_not_kept(yard: Any) -> None:
    event = yard.tell()
    assert yard.run(lambda ctx: ctx.tx.documents.get(EVENTS, event.id)) is None


def test_who_acts_on_a_row_that_changed_takes_nothing(yard: Any) -> None:
    hook = yard.webhook()["id"]
    yard.tell(hook)
    (row,) = yard.due()
    yard.tell(hook)
    assert yard.take(hook, row.document) == ()
    (row,) = yard.due()
    assert len(yard.take(hook, row.document)) == 2
    assert yard.take(hook, row.document) == ()
    assert yard.take("whk_" + "0" * 24) == ()


def test_what_a_dead_worker_held_is_attempted_again_first_under_a_new_id(yard: Any) -> None:
    hook = yard.webhook()["id"]
    event = yard.tell(hook)
    (lost_tasks,) = yard.take(hook)
    until = yard.house.clock.now() + rules.HOLD
    yard.forward(seconds=1)
    later = yard.tell(hook)
    assert [task.event.id for task in yard.take(hook)] == [later.id]
    yard.forward(seconds=(until - yard.house.clock.now()).total_seconds())
    (row,) = yard.due()
    (again,) = yard.take(hook, row.document)
    assert (again.event, again.number) == (event, 2)
    assert again.attempt_id != lost_tasks.attempt_id
    assert again.event.body == lost_tasks.event.body
    assert yard.conclude(lost_tasks, DOWN) is None
    assert yard.state(hook).consecutive_failures == 0
    yard.conclude(again, OK)
    first, second = yard.delivery(hook, event.id).attempts
    assert (first.finished_at, second.error) == (None, None)
    assert yard.delivery(hook, event.id).status == "delivered"


def test_attempts_of_a_webhook_whose_queue_is_gone_are_put_back_nowhere(yard: Any) -> None:
    yard.run(lambda ctx: delivering.requeue(ctx, "whk_" + "0" * 24, {"att_1"}))
    assert yard.across(QUEUES, None) == ()


def test_what_was_held_of_a_webhook_that_is_told_no_more_is_not_sent_by_the_next_server(
    yard: Any,
) -> None:
    disabled_hook, deleted_hook = yard.webhook()["id"], yard.webhook()["id"]
    for _ in range(2):
        yard.tell(disabled_hook, deleted_hook)
    first, _ = yard.take(disabled_hook)
    yard.disable(disabled_hook)
    yard.conclude(first, DOWN)
    yard.take(deleted_hook)
    yard.house.send("deleteWebhook", path={"webhookId": deleted_hook})
    assert yard.restart() == {disabled_hook, deleted_hook}
    assert yard.deliver() == []
    assert yard.statuses(disabled_hook) == ["failed", "skipped"]
    assert yard.waiting(deleted_hook) == set()
    assert yard.due() == ()


def test_attempts_of_a_webhook_that_was_disabled_meanwhile_count_no_more_for_disabling(
    yard: Any,
) -> None:
    hook = yard.webhook()["id"]
    for _ in range(3):
        yard.tell(hook)
    first, second, third = yard.take(hook)
    yard.conclude(first, DOWN)
    yard.disable(hook)
    disabled_at = yard.state(hook).disabled_at
    yard.forward(seconds=1)
    yard.conclude(second, DOWN)
    yard.conclude(third, OK)
    state = yard.state(hook)
    assert (state.status, state.disabled_at) == ("disabled", disabled_at)
    assert yard.statuses(hook) == ["failed", "failed", "delivered"]
    yard.enable(hook)
    state = yard.state(hook)
    assert (state.status, state.disabled_at, state.consecutive_failures) == ("enabled", None, 0)


def test_what_a_dead_worker_held_of_a_disabled_webhook_is_skipped(yard: Any) -> None:
    hook = yard.webhook()["id"]
    yard.tell(hook)
    yard.tell(hook)
    first, _ = yard.take(hook)
    yard.disable(hook)
    yard.conclude(first, DOWN)
    assert yard.due() == ()
    yard.forward(seconds=31)
    assert yard.deliver() == []
    assert yard.statuses(hook) == ["failed", "skipped"]
    assert yard.queue(hook).wake_at is None


def test_many_that_wait_for_a_disabled_webhook_are_skipped_in_bounded_steps(
    yard: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "SKIPPED_AT_ONCE", 3)
    hook = yard.webhook()["id"]
    for _ in range(9):
        yard.tell(hook)
    (first, *_) = yard.take(hook)
    yard.disable(hook)
    yard.conclude(first, DOWN)
    assert yard.statuses(hook).count("skipped") == 3
    assert yard.deliver() == []
    assert yard.statuses(hook).count("skipped") == 4
    yard.forward(seconds=31)
    assert yard.deliver() == []
    assert sorted(yard.statuses(hook)) == ["failed"] + ["skipped"] * 8


def test_what_waits_for_a_deleted_webhook_is_never_sent(
    yard: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "SKIPPED_AT_ONCE", 3)
    hook = yard.webhook()["id"]
    for _ in range(9):
        yard.tell(hook)
    (first, *_) = yard.take(hook)
    yard.house.send("deleteWebhook", path={"webhookId": hook})
    assert yard.conclude(first, OK) is None
    assert yard.deliver() == []
    assert yard.waiting(hook) == set()
    assert yard.due() == ()
    assert yard.run(lambda ctx: ctx.tx.documents.get(QUEUES, hook)) is None


def test_a_delivery_remembers_its_newest_attempts(yard: Any) -> None:
    hook = yard.webhook()["id"]
    event = yard.tell(hook)
    yard.deliver()
    for _ in range(25):
        yard.redeliver(hook, event.id)
        yard.deliver()
    numbers = [attempt.number for attempt in yard.delivery(hook, event.id).attempts]
    assert numbers == list(range(7, 27))


# -- forgetting --------------------------------------------------------------------------------


def purge(yard: Any, *deliveries: tuple[str, str]) -> None:
    ids = [delivery_id(webhook_id, event_id) for webhook_id, event_id in deliveries]
    yard.run(lambda ctx: delivering.purge(ctx, ids))


def test_an_event_is_forgotten_with_its_last_delivery(yard: Any) -> None:
    first, two = yard.webhook()["id"], yard.webhook()["id"]
    event = yard.tell(first, two)
    purge(yard, (first, event.id))
    assert len(yard.deliver()) == 1
    assert yard.run(lambda ctx: ctx.tx.documents.get(EVENTS, event.id)) is not None
    purge(yard, (two, event.id), (two, event.id))
    assert yard.run(lambda ctx: ctx.tx.documents.get(EVENTS, event.id)) is None
    assert yard.statuses(two) == []


def test_an_attempt_whose_delivery_was_forgotten_ends_all_the_same(yard: Any) -> None:
    hook = yard.webhook()["id"]
    events = [yard.tell(hook), yard.tell(hook)]
    after, lost_tasks = yard.take(hook)
    purge(yard, *((hook, event.id) for event in events))
    assert yard.conclude(after, DOWN).consecutive_failures == 1
    yard.forward(seconds=31)
    assert yard.deliver() == []
    assert yard.conclude(lost_tasks, DOWN) is None
    assert yard.queue(hook).holds == ()


def test_a_task_tells_no_secret(yard: Any) -> None:
    webhook = yard.webhook()
    yard.tell(webhook["id"])
    (task,) = yard.take(webhook["id"])
    assert task.keys
    assert "keys" not in repr(task)
    assert repr(task.keys[0]) not in repr(task)
