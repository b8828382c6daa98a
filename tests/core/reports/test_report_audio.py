"""A report's audio: read, made in steps, forgotten whole (Spec: Report, audio facet)."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import attrs
import pytest

from svc_core.base import drive, passes
from svc_core.base.unset import UNSET
from svc_core.operation.context import Context
from svc_core.operation.host import Host
from svc_core.operation.ports import SYSTEM, StoredRow
from svc_core.reports import composition as reports
from svc_core.reports import operations
from svc_core.reports import speech_tasks as speaking
from svc_core.reports.audio import (
    AUDIO,
    FILE_CHECKS,
    FILE_LEASES,
    SPEECH_REQUESTS,
    FileLease,
    Recording,
    SpeechRequest,
)
from svc_core.reports.model import REPORTS
from svc_core.reports.profiles.model import SUBSCRIPTIONS
from svc_core.reports.recordings import LEASE, end_lease, forget_reports, is_early, take_lease
from svc_core.reports.speech_tasks import ATTEMPTS_MAX, SpeechTask

TENANT = "wsp_a"
SHA256 = "ab" * 32
RECORDING = Recording(f"{SHA256}.mp3", "audio/mpeg", 1_000, SHA256, 12.345)
VOICE = "espeak-ng en"


class Stage:
    """A house with a profile and its report."""

    def __init__(self, house: Any, *, speaks: bool = True, include_audio: bool = True) -> None:
        self.house = house
        self.host = Host(has_voice=speaks)
        self.profile_id = str(house.profile(TENANT)["id"])
        self.deliver(include_audio=include_audio)
        self.report_id = self.publish()

    def run(self, usecase: Callable[[Context], Any]) -> Any:
        return self.house.run(lambda ctx: usecase(attrs.evolve(ctx, host=self.host)), TENANT)

    def deliver(self, *, include_audio: bool, status: Any = "active") -> None:
        async def write(ctx: Context) -> None:
            rows = await ctx.tx.documents.scan(SUBSCRIPTIONS, limit=1)
            before = SUBSCRIPTIONS.decode(rows.rows[0].raw)
            delivery = attrs.evolve(before.delivery, include_audio=include_audio)
            await ctx.save(
                SUBSCRIPTIONS, before.id, attrs.evolve(before, delivery=delivery, status=status)
            )

        self.run(write)

    def publish(self, digest: str | None = None) -> str:
        material = self.run(lambda ctx: reports.gather_material(ctx, self.profile_id))
        report = reports.compose(material, self.house.clock.now())
        if digest is not None:
            facets = attrs.evolve(report.facets, digest=digest)
            report = attrs.evolve(report, facets=facets, repeats=None)
        return str(self.run(lambda ctx: reports.publish_report(ctx, report)).id)

    def get(self, collection: Any, id_: str) -> Any:
        row = self.run(lambda ctx: ctx.tx.documents.get(collection, id_))
        return None if row is None else collection.decode(row.raw)

    def wish(self) -> StoredRow[SpeechRequest] | None:
        row: StoredRow[SpeechRequest] | None = self.run(
            lambda ctx: ctx.tx.documents.get(SPEECH_REQUESTS, self.report_id)
        )
        return row

    def claim(self, seen: StoredRow[SpeechRequest] | None = None) -> SpeechTask | None:
        wish = seen or self.wish()
        assert wish is not None
        until = self.house.clock.now() + timedelta(minutes=5)
        task: SpeechTask | None = self.run(lambda ctx: speaking.claim_speech(ctx, wish, until))
        return task

    def adopt(self, recording: Recording = RECORDING, task: SpeechTask | None = None) -> Any:
        task = task or self.run(lambda ctx: speaking.speech_task(ctx, self.report_id))
        return self.run(lambda ctx: speaking.attach_audio(ctx, task, recording, VOICE))

    def doubts(self) -> list[Any]:
        rows = drive.run(self.house.store.across(FILE_CHECKS, limit=10))
        return [FILE_CHECKS.decode(row.document.raw) for row in rows]

    def read(self, operation: str = "getReportAudio", **parts: Any) -> Any:
        return self.house.send(operation, path={"reportId": self.report_id}, **parts)


@pytest.fixture
def stage(house: Any) -> Stage:
    return Stage(house)


# -- reading -----------------------------------------------------------------------------------


def test_a_report_without_audio_is_told_from_no_report(stage: Stage) -> None:
    def code(report_id: str, tenant: str = TENANT) -> str:
        path = {"reportId": report_id}
        return str(stage.house.refusal("getReportAudio", path=path, tenant=tenant).type.code)

    assert code(stage.report_id) == "AUDIO_NOT_AVAILABLE"
    assert code("rpt_" + "0" * 24) == "NOT_FOUND"
    stage.adopt()
    assert code(stage.report_id, "wsp_b") == "NOT_FOUND"


def test_the_facet_tells_the_file_and_where_it_is(stage: Stage) -> None:
    audio = stage.adopt()
    reply = stage.read()
    assert (reply.status, reply.media_type) == (200, "application/json")
    body = json.loads(reply.body)
    address, _, query = body.pop("url").partition("?")
    assert address == f"https://api.example/media/{RECORDING.name}"
    now = stage.house.clock.now()
    assert query == passes.issue(stage.house.keyring, RECORDING.name, now).query
    assert body == {
        "id": audio.id,
        "mimeType": "audio/mpeg",
        "sizeBytes": 1_000,
        "sha256": SHA256,
        "durationSeconds": 12.345,
        "voice": VOICE,
        "createdAt": body["createdAt"],
        "duration": 12.345,
    }
    assert datetime.fromisoformat(body["createdAt"]) == now


def test_the_old_name_of_the_duration_ends_with_the_window(stage: Stage) -> None:
    stage.adopt()

    def facet(*, aliases: bool) -> Any:
        return stage.run(
            lambda ctx: operations.audio_facet(attrs.evolve(ctx, aliases=aliases), stage.report_id)
        )

    assert facet(aliases=True).duration == facet(aliases=True).duration_seconds
    assert facet(aliases=False).duration is UNSET


def test_a_redirect_leads_to_the_file(stage: Stage) -> None:
    stage.adopt()
    url = json.loads(stage.read().body)["url"]
    reply = stage.read(query="redirect=true")
    assert (reply.status, reply.media_type, reply.body) == (302, None, b"")
    assert reply.headers == (("Location", url),)
    assert stage.read(query="redirect=false").status == 200


def test_the_answer_is_kept_by_its_tag_for_as_long_as_its_address_is_the_same(
    stage: Stage,
) -> None:
    stage.adopt()
    tag = dict(stage.read().headers)["ETag"]
    assert stage.read(if_none_match=tag).status == 304
    stage.house.clock.advance(passes.STEP_SECONDS)
    again = stage.read(if_none_match=tag)
    assert again.status == 200
    assert dict(again.headers)["ETag"] != tag


def test_a_cdn_has_the_files_under_their_names(stage: Stage) -> None:
    stage.adopt()
    host = Host(media_base_url="https://cdn.example/audio")

    stage.house.host = host
    reply = stage.read("getReportAudio", query="redirect=true")
    assert dict(reply.headers)["Location"] == f"https://cdn.example/audio/{RECORDING.name}"


def test_the_report_may_be_read_with_its_audio(stage: Stage) -> None:
    silent = stage.read("getReport", query="include=audio")
    assert json.loads(silent.body)["data"]["audio"] is None
    assert not silent.fleeting
    stage.adopt()
    reply = stage.read("getReport", query="include=audio")
    assert reply.fleeting
    assert json.loads(reply.body)["data"]["audio"] == json.loads(stage.read().body)
    tag = dict(reply.headers)["ETag"]
    repeat = stage.read("getReport", query="include=audio", if_none_match=tag)
    assert (repeat.status, repeat.fleeting) == (304, True)
    assert "audio" not in json.loads(stage.read("getReport").body)["data"]


# -- the row -----------------------------------------------------------------------------------


def test_the_row_tells_of_its_audio_once_it_is_there_and_so_does_the_change_feed(
    stage: Stage,
) -> None:
    row = stage.get(REPORTS, stage.report_id)
    assert (row.has_audio, row.links.audio) == (False, None)
    before = len(stage.house.changes(TENANT))
    stage.adopt()
    row = stage.get(REPORTS, stage.report_id)
    assert row.has_audio
    assert row.links.audio == f"/api/v1/reports/{stage.report_id}/audio"
    (change,) = stage.house.changes(TENANT)[before:]
    assert (change["changeType"], change["resourceType"]) == ("updated", "report")
    assert (change["resourceId"], change["version"]) == (stage.report_id, 2)


def test_a_new_recording_takes_the_place_of_the_old_one_whose_file_goes(stage: Stage) -> None:
    first = stage.adopt()
    new_recording = attrs.evolve(RECORDING, name="cd" * 32 + ".wav", sha256="cd" * 32)
    second = stage.adopt(new_recording)
    assert second.id != first.id
    assert stage.get(AUDIO, stage.report_id) == second
    assert [doubt.name for doubt in stage.doubts()] == [RECORDING.name]


def test_the_same_recording_again_is_in_nobodys_doubt(stage: Stage) -> None:
    assert stage.adopt() == stage.adopt()
    assert stage.doubts() == []


def test_a_report_that_is_made_again_has_no_audio_of_its_old_words(stage: Stage) -> None:
    stage.adopt()
    assert stage.publish(digest="other") == stage.report_id
    assert stage.get(AUDIO, stage.report_id) is None
    assert not stage.get(REPORTS, stage.report_id).has_audio
    assert [doubt.name for doubt in stage.doubts()] == [RECORDING.name]
    assert stage.wish() is not None


def test_a_recording_of_old_words_is_not_taken(stage: Stage) -> None:
    task = stage.run(lambda ctx: speaking.speech_task(ctx, stage.report_id))
    stage.publish(digest="other")
    assert stage.adopt(task=task) is None
    assert stage.get(AUDIO, stage.report_id) is None


def test_audio_is_forgotten_with_its_report(stage: Stage) -> None:
    task = stage.run(lambda ctx: speaking.speech_task(ctx, stage.report_id))
    stage.adopt()
    stage.run(lambda ctx: forget_reports(ctx, stage.profile_id))
    assert stage.get(AUDIO, stage.report_id) is None
    assert stage.wish() is None
    (doubt,) = stage.doubts()
    assert (doubt.name, doubt.look_at) == (RECORDING.name, stage.house.clock.now())
    assert stage.adopt(task=task) is None
    stage.run(lambda ctx: speaking.retry_later(ctx, attrs.evolve(task, attempts=1)))
    assert stage.wish() is None


# -- turns -------------------------------------------------------------------------------------


def turn_of(house: Any) -> StoredRow[FileLease] | None:
    turn: StoredRow[FileLease] | None = house.run(
        lambda ctx: take_lease(ctx, RECORDING.name), SYSTEM
    )
    return turn


def end(house: Any, turn: StoredRow[FileLease], *, is_settled: bool) -> None:
    house.run(lambda ctx: end_lease(ctx, turn, is_settled=is_settled), SYSTEM)


def test_a_file_is_kept_or_removed_by_one_at_a_time(house: Any) -> None:
    turn = turn_of(house)
    assert turn is not None
    assert turn_of(house) is None
    end(house, turn, is_settled=True)
    assert turn_of(house) is not None


def test_a_turn_that_was_not_ended_is_over_in_time(house: Any) -> None:
    first = turn_of(house)
    house.clock.advance(LEASE.total_seconds() - 1)
    assert turn_of(house) is None
    house.clock.advance(1)
    second = turn_of(house)
    assert first is not None
    assert second is not None
    end(house, first, is_settled=True)  # the dead one wakes up
    assert turn_of(house) is None
    end(house, second, is_settled=True)
    assert turn_of(house) is not None


def test_a_turn_that_failed_leaves_the_file_to_be_looked_after_at_once(house: Any) -> None:
    turn = turn_of(house)
    assert turn is not None
    end(house, turn, is_settled=False)
    assert FILE_LEASES.decode(turn.raw).until > house.clock.now()
    (row,) = house.run(lambda ctx: ctx.tx.documents.scan(FILE_LEASES, limit=2), SYSTEM).rows
    assert FILE_LEASES.decode(row.raw).until == house.clock.now()
    assert turn_of(house) is not None


def test_only_the_first_half_of_a_turn_is_for_what_cannot_be_undone(house: Any) -> None:
    turn = turn_of(house)
    assert turn is not None
    half = LEASE / 2
    assert is_early(turn, house.clock.now() + half - timedelta(microseconds=1))
    assert not is_early(turn, house.clock.now() + half)


# -- the wish ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("speaks", "include_audio", "status", "is_wanted"),
    [
        (True, True, "active", True),
        (False, True, "active", False),
        (True, False, "active", False),
        (True, True, "paused", False),
    ],
)
def test_a_report_is_spoken_where_its_subscriber_wants_it_and_somebody_can(
    house: Any, speaks: bool, include_audio: bool, status: str, is_wanted: bool
) -> None:
    stage = Stage(house, speaks=speaks, include_audio=False)
    assert stage.wish() is None
    stage.deliver(include_audio=include_audio, status=status)
    stage.publish(digest="other")
    assert (stage.wish() is not None) == is_wanted


def test_two_workers_never_have_the_same_report(stage: Stage) -> None:
    seen = stage.wish()
    task = stage.claim(seen)
    assert task is not None
    assert (task.report_id, task.language, task.attempts) == (stage.report_id, "en", 1)
    assert task.text.startswith("Ports")
    assert stage.claim(seen) is None
    wish = SPEECH_REQUESTS.decode(stage.wish().raw)  # type: ignore[union-attr]
    assert wish.due_at == stage.house.clock.now() + timedelta(minutes=5)


def test_a_wish_is_fulfilled_once(stage: Stage) -> None:
    seen = stage.wish()
    task = stage.claim()
    assert stage.adopt(task=task) is not None
    assert stage.wish() is None
    assert stage.claim(seen) is None


def test_what_fails_is_tried_later_each_time_and_then_given_up(stage: Stage) -> None:
    waits = []
    for _ in range(ATTEMPTS_MAX):
        task = stage.claim()
        assert task is not None
        stage.run(lambda ctx, task=task: speaking.retry_later(ctx, task))
        wish = stage.wish()
        if wish is not None:
            due = SPEECH_REQUESTS.decode(wish.raw).due_at
            waits.append((due - stage.house.clock.now()) / timedelta(minutes=1))
    assert waits == [1, 4, 16, 64]
    assert stage.wish() is None


def test_a_worker_that_is_late_puts_nothing_off(stage: Stage) -> None:
    late = stage.claim()
    now = stage.claim()
    assert late is not None
    assert now is not None
    before = stage.wish()
    for task in (late, attrs.evolve(late, attempts=ATTEMPTS_MAX)):
        stage.run(lambda ctx, task=task: speaking.retry_later(ctx, task))
    stage.run(lambda ctx: speaking.return_claim(ctx, late))
    assert stage.wish() == before


@pytest.mark.parametrize("end", [speaking.retry_later, speaking.return_claim])
def test_a_claim_that_has_ended_is_not_renewed(stage: Stage, end: Any) -> None:
    task = stage.claim()
    stage.run(lambda ctx: end(ctx, task))
    before = stage.wish()
    stage.run(lambda ctx: speaking.renew_claim(ctx, task, ctx.now))
    assert stage.wish() == before


def test_a_report_that_kills_its_workers_is_given_up(stage: Stage) -> None:
    for _ in range(ATTEMPTS_MAX):
        assert stage.claim() is not None
    assert stage.claim() is None
    assert stage.wish() is None
