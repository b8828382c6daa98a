"""The event of a report that is to be spoken waits for its recording (Spec: Events)."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import attrs
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from svc_core.base import instants
from svc_core.operation.context import Context
from svc_core.operation.host import Host
from svc_core.outbox.model import EVENTS
from svc_core.reports import composition as reports
from svc_core.reports import notices
from svc_core.reports import speech_tasks as speaking
from svc_core.reports.audio import SPEECH_REQUESTS, Recording
from svc_core.reports.model import FACETS, REPORTS
from svc_core.reports.recordings import forget_reports
from svc_core.reports.report_commands import TriggerReport, trigger_report
from svc_core.reports.speech_tasks import ATTEMPTS_MAX, SpeechTask
from svc_core.testing.clock import START
from svc_core.webhooks import rules
from svc_core.webhooks.rules import attempt_outcome
from tests.core.webhooks.test_events import finish, prefer, subscription_of, take_in

TENANT = "wsp_a"
WAIT = timedelta(minutes=10)
SHA256 = "ab" * 32
RECORDING = Recording(f"{SHA256}.mp3", "audio/mpeg", 1_000, SHA256, 12.345)


class Stage:
    """A workspace with a webhook, a profile whose subscriber wants audio, and a voice."""

    def __init__(self, yard: Any, *, speaks: bool = True, include_audio: bool = True) -> None:
        self.yard, self.house = yard, yard.house
        self.host = Host(has_voice=speaks, audio_wait=WAIT)
        take_in(self.house)
        self.profile = self.house.profile(topic="Strikes at European ports")
        prefer(self.house, self.profile, delivery={"includeAudio": include_audio})
        self.hook = yard.webhook()["id"]

    def run(self, usecase: Callable[[Context], Any]) -> Any:
        return self.house.run(lambda ctx: usecase(attrs.evolve(ctx, host=self.host)), TENANT)

    def publish(self, digest: str | None = None) -> str:
        report = finish(self.house, self.profile["id"])
        if digest is not None:
            report = attrs.evolve(
                report, facets=attrs.evolve(report.facets, digest=digest), repeats=None
            )
        return str(self.run(lambda ctx: reports.publish_report(ctx, report)).id)

    def ask(self, report_id: str) -> SpeechTask:
        task: SpeechTask = self.run(lambda ctx: speaking.speech_task(ctx, report_id))
        return task

    def adopt(self, report_id: str, task: SpeechTask | None = None) -> Any:
        task = task or self.ask(report_id)
        return self.run(lambda ctx: speaking.attach_audio(ctx, task, RECORDING, "voice"))

    def claim(self, report_id: str) -> SpeechTask | None:
        snapshot = self.run(lambda ctx: ctx.load(SPEECH_REQUESTS, report_id))
        task: SpeechTask | None = self.run(
            lambda ctx: speaking.claim_speech(ctx, snapshot, ctx.now)
        )
        return task

    def send_due(self, status: int = 200) -> list[Any]:
        """The data of what is sent now."""
        return [json.loads(task.event.body)["data"] for task in self.yard.deliver(status)]


@pytest.fixture
def stage(yard: Any) -> Stage:
    return Stage(yard)


def audio_of(data: Any) -> tuple[bool, str | None]:
    return data["hasAudio"], data["links"]["audio"]


def path(report_id: str) -> str:
    return f"http://127.0.0.1:8000/api/v1/reports/{report_id}/audio"


def test_the_event_is_there_with_the_report_and_is_sent_with_its_recording(stage: Stage) -> None:
    report = stage.publish()
    assert stage.yard.statuses(stage.hook) == ["pending"]
    assert stage.send_due() == []
    stage.yard.forward(seconds=60)
    stage.adopt(report)
    (data,) = stage.send_due()
    assert audio_of(data) == (True, path(report))
    assert stage.send_due() == []
    row = stage.run(lambda ctx: ctx.value(REPORTS, report))
    facets = stage.run(lambda ctx: ctx.value(FACETS, report))
    members = subscription_of(stage.house, stage.profile)
    subscription = stage.run(lambda ctx: notices.subscription_to(ctx, members["profileId"]))
    origin = stage.host.origin
    assert data == notices.notice(row, facets, subscription, origin=origin, aliases=True)


@pytest.mark.parametrize(("speaks", "include_audio"), [(False, True), (True, False)])
def test_who_wants_no_audio_or_can_have_none_waits_for_nothing(
    yard: Any, speaks: bool, include_audio: bool
) -> None:
    stage = Stage(yard, speaks=speaks, include_audio=include_audio)
    stage.publish()
    (data,) = stage.send_due()
    assert audio_of(data) == (False, None)


def test_the_change_feed_waits_for_nothing(stage: Stage) -> None:
    report = stage.publish()
    assert report in {row["resourceId"] for row in stage.house.changes(TENANT)}


def test_the_wait_is_over_to_the_microsecond_and_later_audio_changes_nothing(stage: Stage) -> None:
    report = stage.publish()
    stage.yard.forward(seconds=WAIT.total_seconds() - 1e-6)
    assert (stage.yard.due(), stage.send_due()) == ((), [])
    stage.yard.forward(seconds=1e-6)
    (data,) = stage.send_due(500)
    assert audio_of(data) == (False, None)
    stage.adopt(report)
    event = stage.yard.deliveries(stage.hook)[0].event_id
    stage.yard.redeliver(stage.hook, event)
    (again,) = stage.send_due()
    assert again == data


def test_audio_that_comes_after_the_wait_is_not_told_where_nothing_was_sent_either(
    stage: Stage,
) -> None:
    report = stage.publish()
    stage.yard.forward(seconds=WAIT.total_seconds())
    stage.adopt(report)
    (data,) = stage.send_due()
    assert audio_of(data) == (False, None)


def test_a_recording_that_failed_for_good_is_waited_for_no_longer(stage: Stage) -> None:
    report = stage.publish()
    for _ in range(ATTEMPTS_MAX):
        assert stage.send_due() == []
        task = stage.claim(report)
        stage.run(lambda ctx, task=task: speaking.retry_later(ctx, task))
    (data,) = stage.send_due()
    assert audio_of(data) == (False, None)


def test_a_report_that_kills_its_speakers_is_waited_for_no_longer(stage: Stage) -> None:
    report = stage.publish()
    for _ in range(ATTEMPTS_MAX):
        stage.claim(report)
    assert stage.send_due() == []
    assert stage.claim(report) is None
    assert len(stage.send_due()) == 1


@pytest.mark.parametrize("end", ["made again", "deleted"])
def test_a_report_whose_words_are_gone_is_waited_for_no_longer(stage: Stage, end: str) -> None:
    report = stage.publish()
    task = stage.ask(report)
    if end == "deleted":
        stage.run(lambda ctx: forget_reports(ctx, stage.profile["id"]))
    else:
        assert stage.publish(digest="other") == report
    (data,) = stage.send_due()
    assert audio_of(data) == (False, None)
    assert stage.adopt(report, task) is None
    assert stage.send_due() == []
    if end == "made again":
        stage.adopt(report)
        (data,) = stage.send_due()
        assert audio_of(data) == (True, path(report))


def test_later_events_and_other_webhooks_are_not_held_up(stage: Stage) -> None:
    second_hook = stage.yard.webhook()["id"]
    stage.publish()
    for _ in range(7):
        stage.yard.tell(stage.hook, second_hook)
    assert len(stage.send_due()) == 14
    assert delivery_counts(stage, stage.hook) == {"delivered": 7, "pending": 1}
    assert (
        stage.yard.queue(stage.hook).wake_at
        == stage.yard.deliveries(stage.hook)[-1].created_at + WAIT
    )


def delivery_counts(stage: Stage, hook: str) -> dict[str, int]:
    statuses = stage.yard.statuses(hook)
    return {status: statuses.count(status) for status in set(statuses)}


def test_every_webhook_of_the_subscription_is_told_the_same(stage: Stage) -> None:
    second_hook = stage.yard.webhook()["id"]
    report = stage.publish()
    stage.adopt(report)
    tasks = stage.yard.deliver()
    assert {task.webhook_id for task in tasks} == {stage.hook, second_hook}
    assert len({task.event.body for task in tasks}) == 1


def test_a_body_that_was_sent_stays_when_its_recording_comes_in_time(stage: Stage) -> None:
    """A webhook that is disabled and enabled in the meantime is told at once by a person."""
    second_hook = stage.yard.webhook()["id"]
    report = stage.publish()
    (event,) = {row.event_id for row in stage.yard.deliveries(stage.hook)}
    stage.yard.disable(stage.hook)
    stage.yard.tell(stage.hook)
    stage.send_due()
    stage.yard.enable(stage.hook)
    assert stage.yard.delivery(stage.hook, event).status == "skipped"
    stage.yard.redeliver(stage.hook, event)
    (first,) = stage.send_due()
    assert audio_of(first) == (False, None)
    stage.adopt(report)
    (second,) = stage.send_due()
    assert second == first
    assert stage.yard.delivery(second_hook, event).status == "delivered"


def test_what_waits_for_a_webhook_that_goes_is_never_sent(stage: Stage) -> None:
    report = stage.publish()
    stage.house.send("deleteWebhook", path={"webhookId": stage.hook})
    assert stage.send_due() == []
    stage.adopt(report)
    assert stage.send_due() == []
    assert stage.yard.due() == ()


def test_a_report_that_is_told_of_by_hand_waits_for_nothing(stage: Stage) -> None:
    report = stage.publish()
    stage.run(lambda ctx: trigger_report(ctx, TriggerReport(report)))
    (data,) = stage.send_due()
    assert audio_of(data) == (False, None)


def test_an_event_of_the_version_before_is_read_and_sent(stage: Stage) -> None:
    event = stage.yard.tell(stage.hook)
    members: Any = json.loads(EVENTS.record(event).raw)
    assert members.pop("waitsUntil") is None
    raw = json.dumps(members).encode()
    assert EVENTS.decode(raw) == event
    assert EVENTS.record(event).keys == {"waits_for": None}
    assert stage.send_due() == [json.loads(event.body)["data"]]


def test_deprecated_members_end_to_the_millisecond() -> None:
    end = START + timedelta(hours=1)
    host = Host(aliases_until=end)
    assert host.has_aliases(end - timedelta(milliseconds=1))
    assert not host.has_aliases(end)
    assert Host().has_aliases(end)


# -- whatever happens ----------------------------------------------------------------------------


class AudioEventMachine(RuleBasedStateMachine):
    """Reports, recordings, failures, attempts and time in any order: one event has one body."""

    yard_factory: Callable[[], Any]

    def __init__(self) -> None:
        super().__init__()
        self.stage = Stage(type(self).yard_factory())
        self.hooks = [self.stage.hook, self.stage.yard.webhook()["id"]]
        self.bodies: dict[str, set[str]] = {}
        self.reports: list[str] = []
        self.published: dict[str, Any] = {}
        self.recorded: dict[str, Any] = {}

    @rule()
    def publish(self) -> None:
        now = self.stage.house.clock.now()
        before = set(self._subjects())
        report = self.stage.publish(digest=instants.render(now) + str(len(self.reports)))
        self.reports.append(report)
        subjects = self._subjects()
        for second in before:
            if subjects[second] == report:
                self.recorded.setdefault(second, None)  # its words are gone
        self.published |= dict.fromkeys(set(subjects) - before, now)

    def _subjects(self) -> dict[str, str]:
        """The report of every event; there is none where both webhooks were disabled."""
        deliveries = [row for hook in self.hooks for row in self.stage.yard.deliveries(hook)]
        return {row.event_id: row.subject for row in deliveries}

    @rule(data=st.data())
    def adopt(self, data: Any) -> None:
        if not self.reports:
            return
        report = data.draw(st.sampled_from(self.reports))
        self.stage.adopt(report)
        now, subjects = self.stage.house.clock.now(), self._subjects()
        for event, at in self.published.items():
            if subjects[event] == report and now < at + WAIT:
                self.recorded.setdefault(event, now)

    @rule(status=st.sampled_from([200, 200, 500]))
    def deliver(self, status: int) -> None:
        self._note(self.stage.yard.deliver(status))

    @rule(at=st.integers(0, 1))
    def take_and_die(self, at: int) -> None:
        self._note(self.stage.yard.take(self.hooks[at]))

    @rule(seconds=st.sampled_from([1, 31, 299, 300, 600]))
    def forward(self, seconds: int) -> None:
        self.stage.yard.forward(seconds=seconds)

    @rule(at=st.integers(0, 1))
    def enable(self, at: int) -> None:
        self.stage.yard.enable(self.hooks[at])

    @rule(at=st.integers(0, 1), data=st.data())
    def redeliver(self, at: int, data: Any) -> None:
        hook = self.hooks[at]
        ended_rows = [
            row
            for row in self.stage.yard.deliveries(hook)
            if row.status in {"delivered", "failed", "skipped"}
        ]
        if ended_rows and self.stage.yard.state(hook).status == "enabled":
            row = data.draw(st.sampled_from(ended_rows))
            self.stage.yard.redeliver(hook, row.event_id)

    def _note(self, tasks: Any) -> None:
        for task in tasks:
            self.bodies.setdefault(task.event.id, set()).add(task.event.body)

    @invariant()
    def one_event_has_one_body(self) -> None:
        assert all(len(bodies) == 1 for bodies in self.bodies.values())

    @invariant()
    def what_a_body_tells_was_so_when_its_wait_ended(self) -> None:
        for event, (body,) in self.bodies.items():
            if json.loads(body)["data"]["hasAudio"]:
                assert self.recorded[event] is not None

    def teardown(self) -> None:
        """In the end every event was sent to both, or skipped."""
        for hook in self.hooks:
            self.stage.yard.enable(hook)
        self.stage.yard.forward(seconds=WAIT.total_seconds())
        for _ in range(3):
            self.deliver(200)
            self.stage.yard.forward(seconds=31)
        for hook in self.hooks:
            assert set(self.stage.yard.statuses(hook)) <= {"delivered", "failed", "skipped"}
            assert self.stage.yard.queue(hook).wake_at is None
        self.one_event_has_one_body()


def test_one_event_has_one_body_whatever_happens(yard_factory: Callable[[], Any]) -> None:
    machine = type("Told", (AudioEventMachine,), {"yard_factory": staticmethod(yard_factory)})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=25, stateful_step_count=25, deadline=None)
    )


def test_a_waiting_delivery_wakes_its_queue_when_it_may_be_taken(stage: Stage) -> None:
    now = stage.house.clock.now()
    queue = stage.yard.queue(stage.hook)
    later = now + timedelta(seconds=5)
    assert rules.with_wake_time(queue, now, later).wake_at == later
    assert rules.with_wake_time(queue, later, now).wake_at == later
    assert rules.with_wake_time(queue, now, None).wake_at is None
    assert attempt_outcome(410, 1).error == "HTTP 410"
