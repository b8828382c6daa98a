"""Reports are spoken in the background: once, whole, and their files go with them."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access import plans
from svc_core.base.seals import Keyring
from svc_core.operation.context import Context
from svc_core.operation.executor import Site
from svc_core.operation.host import Host, silent
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, StorageUnavailable
from svc_core.outbox.model import QUEUES
from svc_core.reports import speech_tasks as speaking
from svc_core.reports.audio import AUDIO, FILE_CHECKS, FILE_LEASES, PIECES, SPEECH_REQUESTS
from svc_core.reports.model import REPORTS
from svc_core.reports.profiles import operations as profiles
from svc_core.reports.profiles.model import SUBSCRIPTIONS, ProfileInput
from svc_core.reports.recordings import LEASE, forget_reports, take_lease
from svc_core.reports.report_commands import Speaker
from svc_core.reports.report_runs import make_report
from svc_core.reports.speech_tasks import SpeechTask
from svc_core.testing.clock import CountingIds, FrozenClock
from svc_core.webhooks import delivery_queue as delivering
from svc_core.webhooks.operations import WEBHOOK_ROWS, NewWebhook
from svc_core.webhooks.rules import attempt_outcome
from svc_http.exchange.fair_shares import BOUNDS
from svc_http.outside.voices.speech_port import SpeechFailure, SpeechText
from svc_http.run.control import channel
from svc_http.run.control.operator import Operator
from svc_http.run.control.services import Voice as VoiceService
from svc_http.service.commits import Commits
from svc_http.service.service_units import Service
from svc_http.service.workers import claim_loop as claims
from svc_http.service.workers.deliveries import DeliveryRounds
from svc_http.service.workers.report_recordings import (
    CLAIM,
    Recorder,
    RecordingRounds,
    orphan_file_loop,
    remove_orphan_files,
)
from svc_http.settings import SettingsError
from svc_http.stores import MemoryStorage, SqliteStorage
from svc_http.stores.media.folder import MediaFiles
from svc_http.stores.media.pieces import MediaRows
from svc_http.stores.postgres import PostgresStorage
from tests.backends import NAMES, store_of
from tests.nursery import program

pytestmark = pytest.mark.anyio
SITE = Site("https://api.example")


class Voice:
    """A voice that says what it is told to, and notes what it was asked."""

    def __init__(self, sound: bytes) -> None:
        self.sound = sound
        self.scripts: list[SpeechText] = []
        self.failure: BaseException | None = None
        self.gate: asyncio.Event | None = None
        self.began = asyncio.Event()
        self.is_slow_with = ""

    def voice(self, language: str) -> str:
        return f"test {language}"

    async def say(self, words: SpeechText, out: Path) -> None:
        self.scripts.append(words)
        self.began.set()
        if self.gate is not None and words.text.startswith(self.is_slow_with):
            await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        out.write_bytes(self.sound)  # noqa: ASYNC240 - a few bytes


class House:
    """A store with a profile whose reports are to be spoken, and a voice."""

    def __init__(
        self, storage: Any, media: Any, sound: bytes, beside: "House | None" = None
    ) -> None:
        self.clock = FrozenClock() if beside is None else beside.clock
        self.ids = CountingIds(self.clock) if beside is None else beside.ids
        ring = Keyring({1: b"k" * 32}, 1)
        self.storage = storage
        self.service = Service(
            storage,
            self.ids,
            self.clock.now,
            ring,
            plans=plans.DEFAULT_PLANS,
            host=Host(has_voice=True),
        )
        self.voice = Voice(sound)
        self.media = media
        self.recorder = Recorder(self.voice, self.media)
        self.failures: list[BaseException] = []

    async def open(self) -> "House":
        home = await self.service.system(
            lambda ctx: accounts.create_workspace(
                ctx, name="a", plan="elite", plans=plans.DEFAULT_PLANS
            )
        )
        self.tenant = home.id
        profile = ProfileInput(name="Ports", topic="Cranes", frequency="manual")
        row = await self.service.write(
            self.tenant, lambda ctx: profiles.create_profile(ctx, profiles.CreateProfile(profile))
        )
        self.profile_id = row.location.rpartition("/")[2]
        await self.service.write(self.tenant, _include_audio)
        hook = NewWebhook("http://127.0.0.1:9/", secret="whsec_" + "QUJD" * 8)
        await self.service.write(self.tenant, lambda ctx: WEBHOOK_ROWS.create_row(ctx, hook))
        self.report_id = (await make_report(self.service, self.tenant, self.profile_id)).id
        return self

    async def want(self, name: str) -> None:
        """Have the report of one more profile spoken, which has this name."""
        request = profiles.CreateProfile(
            ProfileInput(name=name, topic="Cranes", frequency="manual")
        )
        profile = await self.service.write(
            self.tenant, lambda ctx: profiles.create_profile(ctx, request)
        )
        profile_id = profile.location.rpartition("/")[2]
        report = await make_report(self.service, self.tenant, profile_id)
        await self.service.write(self.tenant, lambda ctx: speaking.request_speech(ctx, report.id))

    async def deliveries(self) -> list[tuple[str, bool, str | None]]:
        """The events that are due are sent: of each its id and what it tells of audio."""
        events = []
        due = await self.storage.across(QUEUES, end=micros(self.clock.now()), limit=9)
        for row in due:
            take = partial(
                delivering.take_deliveries, webhook_id=row.document.id, snapshot=row.document
            )
            for task in await self.service.write(row.tenant, take):
                data = json.loads(task.event.body)["data"]
                events.append((task.event.id, data["hasAudio"], data["links"]["audio"]))
                end = partial(delivering.conclude, task=task, result=attempt_outcome(200, 1))
                await self.service.write(row.tenant, end)
        return events

    def rounds(self) -> RecordingRounds:
        return RecordingRounds(self.service, self.recorder, self.failures.append)

    async def speak(self) -> Any:
        rounds = self.rounds()
        try:
            recordings = await asyncio.gather(*await rounds.begin_due())
        finally:
            await rounds.give_back()
        return tuple(audio for audio in recordings if audio is not None)

    async def sweep(self) -> Any:
        return await remove_orphan_files(self.service, self.media)

    async def row(self) -> Any:
        row = await self.service.read(self.tenant, lambda ctx: ctx.load(REPORTS, self.report_id))
        return REPORTS.decode(row.raw)

    async def forget(self) -> None:
        await self.service.write(self.tenant, lambda ctx: forget_reports(ctx, self.profile_id))

    async def counts(self) -> tuple[int, int]:
        """How many files are in doubt, and how many turns stand."""
        turns = await self.storage.read(SYSTEM, lambda tx: tx.documents.scan(FILE_LEASES, limit=9))
        return len(await self.storage.across(FILE_CHECKS, limit=9)), len(turns.rows)

    async def has(self, name: str) -> bool:
        try:
            return await self.media.size(name) > 0
        except FileNotFoundError:
            return False

    def files(self) -> list[str]:
        return sorted(path.name for path in self.media.folder.rglob("*") if path.is_file())


async def _include_audio(ctx: Context) -> None:
    (row,) = (await ctx.tx.documents.scan(SUBSCRIPTIONS, limit=2)).rows
    before = SUBSCRIPTIONS.decode(row.raw)
    delivery = attrs.evolve(before.delivery, include_audio=True)
    await ctx.save(SUBSCRIPTIONS, before.id, attrs.evolve(before, delivery=delivery))


@pytest.fixture
async def house(tmp_path: Path, sounds: Any) -> AsyncIterator[House]:
    storage = MemoryStorage(catalog.COLLECTIONS)
    yield await House(storage, MediaFiles(tmp_path / "media"), sounds.wav(12_000)).open()
    await storage.close()


@asynccontextmanager
async def running(*work: Any) -> AsyncIterator[None]:
    tasks = [asyncio.ensure_future(item) for item in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


# -- speaking ----------------------------------------------------------------------------------


async def test_a_report_is_spoken_once_and_says_so(house: House) -> None:
    (audio,) = await house.speak()
    assert await house.speak() == ()
    (words,) = house.voice.scripts
    assert words.language == "en"
    assert words.text.startswith("Ports")
    assert (audio.voice, audio.recording.duration_seconds) == ("test en", 1.5)
    assert house.files() == [audio.recording.name]
    assert (await house.row()).has_audio
    assert await house.storage.across(SPEECH_REQUESTS, limit=9) == ()
    assert await house.storage.across(FILE_CHECKS, limit=9) == ()


async def test_two_workers_speak_it_once(house: House) -> None:
    audios = await asyncio.gather(house.speak(), house.speak(), house.speak())
    assert sorted(map(len, audios)) == [0, 0, 1]
    assert len(house.voice.scripts) == 1


async def test_a_failure_is_told_and_tried_again_later(house: House) -> None:
    house.voice.failure = SpeechFailure("no voice today")
    assert await house.speak() == ()
    assert await house.speak() == ()
    assert [str(failure) for failure in house.failures] == ["no voice today"]
    assert house.files() == []
    house.voice.failure = None
    house.clock.advance(60)
    assert len(await house.speak()) == 1


async def test_what_is_no_sound_is_a_failure(house: House) -> None:
    house.voice.sound = b"not a sound"
    assert await house.speak() == ()
    assert "neither WAV nor MP3" in str(house.failures[0])
    assert house.files() == []


async def test_a_full_disk_is_a_failure_like_any_other(house: House) -> None:
    house.voice.failure = OSError(28, "No space left on device")
    assert await house.speak() == ()
    assert len(house.failures) == 1
    (row,) = await house.storage.across(SPEECH_REQUESTS, limit=9)
    assert SPEECH_REQUESTS.decode(row.document.raw).attempts == 1


class Crash(BaseException):
    """The end of a process, as far as a test can have it."""


async def test_a_worker_that_died_is_followed_by_another(house: House) -> None:
    house.voice.failure = Crash()
    with pytest.raises(Crash):
        await house.speak()
    house.voice.failure = None
    assert await house.speak() == ()
    assert house.files() == []
    house.clock.advance(CLAIM.total_seconds())
    assert len(await house.speak()) == 1


async def test_a_worker_that_is_told_to_end_is_followed_at_once(house: House) -> None:
    house.voice.gate = asyncio.Event()
    ending = asyncio.create_task(house.speak())
    await house.voice.began.wait()
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert house.files() == []
    (wish,) = await house.storage.across(SPEECH_REQUESTS, limit=9)
    assert SPEECH_REQUESTS.decode(wish.document.raw).attempts == 0
    house.voice.gate = None
    assert len(await house.speak()) == 1


@pytest.mark.parametrize("fails", [False, True])
async def test_a_report_belongs_to_its_worker_for_as_long_as_it_speaks(
    house: House, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    monkeypatch.setattr(claims, "RENEW_SECONDS", 0.0)
    house.voice.gate = asyncio.Event()
    at_work = asyncio.create_task(house.speak())
    await house.voice.began.wait()
    if fails:
        storage = Refusing(house.storage)
        monkeypatch.setattr(house.service.storage, "write", storage.write)
        await storage.has_refused.wait()
    house.clock.advance(CLAIM.total_seconds())
    commits = Commits(house.storage)
    async with asyncio.timeout(60):
        while await house.storage.across(SPEECH_REQUESTS, end=micros(house.clock.now()), limit=9):
            await commits.after(commits.version, 0.1)
    assert await house.speak() == ()
    house.voice.gate.set()
    assert len(await at_work) == 1
    assert len(house.voice.scripts) == 1
    assert len(house.failures) == fails


class Refusing:
    """Refuses the first write that comes, as a store does that is away."""

    def __init__(self, storage: Any) -> None:
        self._write = storage.write
        self.has_refused = asyncio.Event()

    async def write(self, tenant: str, unit: Any) -> Any:
        if self.has_refused.is_set():
            return await self._write(tenant, unit)
        self.has_refused.set()
        raise StorageUnavailable("not now")


async def test_a_claim_that_has_lapsed_is_renewed_for_nobody_else(house: House) -> None:
    house.voice.failure = Crash()
    with pytest.raises(Crash):
        await house.speak()
    first = SpeechTask(house.report_id, "", "en", "", attempts=1)
    house.clock.advance(CLAIM.total_seconds())
    house.voice.failure, house.voice.gate = None, asyncio.Event()
    house.voice.began.clear()
    second = asyncio.create_task(house.speak())
    await house.voice.began.wait()
    (before,) = await house.storage.across(SPEECH_REQUESTS, limit=9)
    late = house.clock.now() + 2 * CLAIM
    await house.service.write(house.tenant, lambda ctx: speaking.renew_claim(ctx, first, late))
    assert await house.storage.across(SPEECH_REQUESTS, limit=9) == (before,)
    house.voice.gate.set()
    assert len(await second) == 1


PLACES = BOUNDS["recordings"].places


async def test_what_speaks_slowly_holds_up_no_other_workspace(house: House) -> None:
    """More of one workspace than there are places; half of these stay for others."""
    for _ in range(PLACES):
        await house.want("Slow")
    house.voice.gate, house.voice.is_slow_with = asyncio.Event(), "Slow"
    await house.forget()
    second = House(house.storage, house.media, house.voice.sound, beside=house)
    loop = house.rounds().run(Commits(house.storage))
    commits = Commits(house.storage)
    async with running(loop), asyncio.timeout(60):
        await house.voice.began.wait()
        await second.open()
        while not (await second.row()).has_audio:
            await commits.after(commits.version, 1.0)
        slow = [words for words in house.voice.scripts if words.text.startswith("Slow")]
        assert len(slow) == PLACES // 2
    wishes = [
        SPEECH_REQUESTS.decode(r.document.raw)
        for r in await house.storage.across(SPEECH_REQUESTS, limit=9)
    ]
    assert [(wish.attempts, wish.is_claimed) for wish in wishes] == [(0, False)] * PLACES


async def test_the_loop_hears_of_a_new_report(house: House) -> None:
    commits = Commits(house.storage)
    loop = house.rounds().run(commits)
    async with running(loop), asyncio.timeout(60):
        while not (await house.row()).has_audio:
            await commits.after(commits.version, 1.0)


# -- files that go -----------------------------------------------------------------------------


async def test_the_file_goes_with_its_report(house: House) -> None:
    (audio,) = await house.speak()
    assert await house.sweep() == ()
    await house.forget()
    assert await house.sweep() == (audio.recording.name,)
    assert house.files() == []
    assert await house.storage.across(FILE_CHECKS, limit=9) == ()
    assert await house.sweep() == ()


async def test_a_file_that_another_tenant_needs_stays(house: House) -> None:
    (audio,) = await house.speak()
    second = attrs.evolve(audio, report_id="rpt_" + "9" * 24)
    await house.service.write(
        "wsp_" + "b" * 24, lambda ctx: ctx.save(AUDIO, second.report_id, second)
    )
    await house.forget()
    assert await house.sweep() == ()
    assert house.files() == [audio.recording.name]
    assert await house.storage.across(FILE_CHECKS, limit=9) == ()


async def test_a_recording_of_a_report_that_went_meanwhile_goes_in_the_end(house: House) -> None:
    house.voice.gate = asyncio.Event()
    at_work = asyncio.create_task(house.speak())
    await house.voice.began.wait()
    await house.forget()
    house.voice.gate.set()
    assert await at_work == ()
    assert len(house.files()) == 1
    assert await house.sweep() == ()
    house.clock.advance(LEASE.total_seconds())
    assert len(await house.sweep()) == 1
    assert house.files() == []


async def test_the_sweep_hears_of_a_report_that_goes(house: House) -> None:
    await house.speak()
    commits = Commits(house.storage)
    async with (
        running(orphan_file_loop(house.service, house.media, commits)),
        asyncio.timeout(60),
    ):
        await house.forget()
        while await house.counts() != (0, 0):
            await commits.after(commits.version, 1.0)
    assert house.files() == []


# -- two servers over one store and one place --------------------------------------------------


class GatedMedia:
    """A place for recordings where what is named waits until it is let, and may fail."""

    def __init__(self, media: Any, method: str) -> None:
        self._media, self._method = media, method
        self.began, self.gate = asyncio.Event(), asyncio.Event()
        self.failure: Exception | None = None

    def __getattr__(self, name: str) -> Any:
        work = getattr(self._media, name)
        if name != self._method:
            return work

        async def late(*arguments: Any) -> Any:
            self.began.set()
            await self.gate.wait()
            if self.failure is not None:
                raise self.failure
            return await work(*arguments)

        return late


class Street:
    """Two servers: one speaks, and the other has known a report with the same sound."""

    def __init__(self, storage: Any, media: Any, sound: bytes) -> None:
        self.keeping, self.removing = GatedMedia(media, "keep"), GatedMedia(media, "remove")
        self.first = House(storage, self.keeping, sound)
        self.second = House(storage, self.removing, sound, self.first)
        self.clock = self.first.clock

    async def open(self) -> "Street":
        await self.second.open()
        (audio,) = await self.second.speak()
        self.name = audio.recording.name
        await self.first.open()
        return self

    def begin(self, work: Any) -> Any:
        return asyncio.create_task(work)


@pytest.fixture
async def street(media: Any, places: Any, sounds: Any) -> Street:
    return await Street(places.storage, media, sounds.wav(12_000)).open()


async def test_a_file_that_is_being_kept_is_not_swept_elsewhere(street: Street) -> None:
    await street.second.forget()
    speaking = street.begin(street.first.speak())
    await street.keeping.began.wait()
    street.removing.gate.set()
    assert await street.second.sweep() == ()
    street.keeping.gate.set()
    (audio,) = await speaking
    assert audio.recording.name == street.name
    assert await street.second.sweep() == ()
    assert await street.first.has(street.name)
    assert await street.first.counts() == (0, 0)


async def test_a_file_that_is_being_removed_elsewhere_is_kept_afterwards(street: Street) -> None:
    await street.second.forget()
    sweeping = street.begin(street.second.sweep())
    await street.removing.began.wait()
    street.keeping.gate.set()
    assert await street.first.speak() == ()
    assert "being kept or removed" in str(street.first.failures[0])
    street.removing.gate.set()
    assert await sweeping == (street.name,)
    assert not await street.first.has(street.name)
    street.clock.advance(60)
    assert len(await street.first.speak()) == 1
    assert await street.second.sweep() == ()
    assert await street.first.has(street.name)
    assert await street.first.counts() == (0, 0)


async def test_two_sweep_the_same_file_once(street: Street) -> None:
    await street.second.forget()
    sweeping = street.begin(street.second.sweep())
    await street.removing.began.wait()
    assert await street.first.sweep() == ()
    street.removing.gate.set()
    assert await sweeping == (street.name,)
    assert await street.first.counts() == (0, 0)


@pytest.mark.parametrize("wakes", [False, True])
async def test_who_keeps_a_file_for_too_long_names_it_no_more(street: Street, wakes: bool) -> None:
    speaking = street.begin(street.first.speak())
    await street.keeping.began.wait()
    await street.second.forget()
    street.clock.advance(LEASE.total_seconds())
    street.removing.gate.set()
    assert await street.second.sweep() == (street.name,)
    if not wakes:
        speaking.cancel()
        await asyncio.gather(speaking, return_exceptions=True)
    street.keeping.gate.set()
    if wakes:
        assert await speaking == ()
        assert "too long" in str(street.first.failures[0])
    assert not (await street.first.row()).has_audio
    street.clock.advance(60)
    assert len(await street.first.speak()) == 1
    assert await street.second.sweep() == ()
    assert await street.first.has(street.name)


async def test_a_file_that_cannot_be_kept_is_tried_again_and_leaves_nothing(
    street: Street,
) -> None:
    await street.second.forget()
    street.removing.gate.set()
    street.keeping.gate.set()
    await street.second.sweep()
    street.keeping.failure = OSError("no such bucket today")
    assert await street.first.speak() == ()
    assert [str(failure) for failure in street.first.failures] == ["no such bucket today"]
    assert await street.second.sweep() == (street.name,)
    assert await street.first.counts() == (0, 0)
    street.keeping.failure = None
    street.clock.advance(60)
    assert len(await street.first.speak()) == 1
    assert await street.first.has(street.name)


async def test_a_file_that_cannot_be_removed_is_removed_later(street: Street) -> None:
    await street.second.forget()
    street.removing.gate.set()
    street.removing.failure = OSError("no such bucket today")
    with pytest.raises(OSError, match="today"):
        await street.second.sweep()
    assert await street.second.sweep() == ()
    street.removing.failure = None
    street.clock.advance(LEASE.total_seconds())
    assert await street.second.sweep() == (street.name,)
    assert not await street.first.has(street.name)
    assert await street.first.counts() == (0, 0)


async def test_who_woke_too_late_removes_nothing(street: Street, monkeypatch: Any) -> None:
    await street.second.forget()
    across = street.second.storage.across

    async def slow(collection: Any, **options: Any) -> Any:
        rows = await across(collection, **options)
        if collection is AUDIO:
            street.clock.advance(LEASE.total_seconds())
        return rows

    monkeypatch.setattr(street.second.storage, "across", slow)
    street.removing.gate.set()
    assert await street.second.sweep() == ()
    assert await street.first.has(street.name)
    monkeypatch.undo()
    assert await street.second.sweep() == (street.name,)


async def test_nothing_of_a_file_is_left_in_the_store(street: Street) -> None:
    await street.second.forget()
    street.removing.gate.set()
    await street.second.sweep()
    storage = street.first.storage
    pieces = await storage.read(SYSTEM, lambda tx: tx.documents.scan(PIECES, limit=9))
    assert pieces.rows == ()


@pytest.fixture
def shared_dsn(postgres: Any) -> str:
    dsn: str = postgres.made_for(catalog.COLLECTIONS)
    return dsn


async def test_of_many_processes_one_has_the_turn(shared_dsn: str) -> None:
    stores = [
        await PostgresStorage.open(shared_dsn, catalog.COLLECTIONS, epoch=b"12345678")
        for _ in range(3)
    ]
    clock = FrozenClock()
    ids, ring = CountingIds(clock), Keyring({1: b"k" * 32}, 1)
    services = [Service(store, ids, clock.now, ring, plans=plans.DEFAULT_PLANS) for store in stores]
    for number in range(10):
        name = f"{number:064x}.mp3"
        lines = [
            service.system(lambda ctx, name=name: take_lease(ctx, name)) for service in services * 3
        ]
        turns = await asyncio.gather(*lines)
        assert sum(turn is not None for turn in turns) == 1
    for store in stores:
        await store.close()


# -- by hand -----------------------------------------------------------------------------------


async def by_hand(
    house: House, make_studio: Callable[[], Recorder] | None = None, **options: Any
) -> Any:
    """What the operation answers: its data, or the problem."""
    voice = VoiceService(house.service, make_studio or (lambda: house.recorder))
    host = attrs.evolve(house.service.host, providers={Speaker: voice})
    operator = Operator(attrs.evolve(house.service, host=host), lambda: SITE, house.failures.append)
    body = {"reportId": house.report_id, **options}
    reply = await operator.answer(channel.line({"operation": "speakReport", "body": body}), silent)
    answer = json.loads(reply)
    return answer["problem"] if "problem" in answer else answer["ok"]["body"]["data"]


async def test_a_report_is_spoken_by_hand_and_again_when_asked(house: House) -> None:
    first = await by_hand(house)
    assert (first["isNew"], first["durationSeconds"], first["voice"]) == (True, 1.5, "test en")
    assert (await by_hand(house))["isNew"] is False
    assert len(house.voice.scripts) == 1
    assert (await by_hand(house, again=True))["isNew"] is True
    assert len(house.voice.scripts) == 2
    assert await house.speak() == ()


def no_recorder() -> Recorder:
    raise SettingsError("no voice")


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        ("voice", "SERVICE_UNAVAILABLE"),
        ("settings", "SERVICE_UNAVAILABLE"),
        ("words", "RESOURCE_CONFLICT"),
    ],
)
async def test_what_cannot_be_spoken_by_hand_is_refused(
    house: House, failure: str, code: str
) -> None:
    if failure == "voice":
        house.voice.failure = SpeechFailure("no voice today")
    if failure == "words":
        house.voice.gate = asyncio.Event()
    work = asyncio.create_task(by_hand(house, no_recorder if failure == "settings" else None))
    if house.voice.gate is not None:
        async with asyncio.timeout(60):
            await house.voice.began.wait()
        await house.forget()
        house.voice.gate.set()
    assert (await work)["code"] == code
    assert house.failures == []


# -- the event that waits ----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("is_late", [False, True])
async def test_an_event_waits_for_its_recording_on_every_store(
    tmp_path: Path, sounds: Any, name: str, is_late: bool
) -> None:
    storage = store_of(name, catalog.COLLECTIONS)
    try:
        media = MediaFiles(tmp_path / "media")
        house = await House(storage, media, sounds.wav(12_000)).open()
        assert await house.deliveries() == []
        first = []
        if is_late:
            house.clock.advance(house.service.host.audio_wait.total_seconds())
            first = await house.deliveries()
        assert len(await house.speak()) == 1
        events = first + await house.deliveries()
        path = f"http://127.0.0.1:8000/api/v1/reports/{house.report_id}/audio"
        assert [event[1:] for event in events] == [(False, None) if is_late else (True, path)]
        assert await house.deliveries() == []
    finally:
        await storage.close()


async def test_a_webhook_is_woken_when_the_voice_is_done(house: House) -> None:
    commits = Commits(house.storage)
    sender = Sink()
    loops = [
        DeliveryRounds(house.service, sender, house.failures.append).run(commits),
        house.rounds().run(commits),
    ]
    async with asyncio.timeout(30), running(*loops):
        await sender.came.wait()
    assert house.failures == []
    assert json.loads(sender.body)["data"]["hasAudio"]


class Sink:
    """A receiver that takes one delivery."""

    def __init__(self) -> None:
        self.came = asyncio.Event()
        self.body = b""

    async def post(self, address: str, fields: dict[str, str], body: bytes, /) -> int:
        assert address.startswith("http://127.0.0.1")
        assert fields["X-Svc-Attempt"] == "1"
        self.body = body
        self.came.set()
        return 200


# -- kill -9 -----------------------------------------------------------------------------------

CRASH_SCRIPT = """\
import asyncio, os, sys
from pathlib import Path
from tests.http.speech.test_speaking import House, SqliteStorage, catalog
from tests.http.speech.test_speaking import MediaFiles, MediaRows

async def main(folder, at, kind):
    storage = SqliteStorage.open(folder / "svc.db", catalog.COLLECTIONS, epoch=b"12345678")
    media = MediaFiles(folder / "media") if kind == "folder" else MediaRows(storage)
    house = await House(storage, media, (folder / "sound").read_bytes()).open()
    print(house.tenant, house.report_id, flush=True)
    if at == "speaking":
        house.voice.gate = asyncio.Event()
        task = asyncio.create_task(house.speak())
        await house.voice.began.wait()
        os.kill(os.getpid(), 9)
    if at == "kept":
        keep = media.keep
        async def kill(draft, recording):
            await keep(draft, recording)
            os.kill(os.getpid(), 9)
        media.keep = kill
    await house.speak()
    os.kill(os.getpid(), 9)

asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
"""


@pytest.mark.parametrize("kind", ["folder", "rows"])
@pytest.mark.parametrize("at", ["speaking", "kept", "adopted"])
async def test_a_kill_leaves_no_audio_or_a_whole_one(
    tmp_path: Path, sounds: Any, at: str, kind: str
) -> None:
    sound = sounds.wav(12_000)
    (tmp_path / "sound").write_bytes(sound)
    child = program(CRASH_SCRIPT, tmp_path, at, kind)
    out, err = await asyncio.to_thread(child.communicate, 60)
    assert child.returncode == -signal.SIGKILL, err
    storage = SqliteStorage.open(tmp_path / "svc.db", catalog.COLLECTIONS, epoch=b"12345678")
    media = MediaFiles(tmp_path / "media") if kind == "folder" else MediaRows(storage)
    house = House(storage, media, sound)
    house.tenant, house.report_id = out.split()
    try:
        await _whole_or_silent(house, at)
    finally:
        await storage.close()


async def _whole_or_silent(house: House, at: str) -> None:
    is_whole = at == "adopted"
    events = await house.deliveries()
    assert len(events) == is_whole  # else its event waits
    assert (await house.row()).has_audio == is_whole
    audio = await house.service.read(house.tenant, lambda ctx: ctx.find(AUDIO, house.report_id))
    assert (audio is not None) == is_whole
    house.clock.advance(1)
    await house.rounds().take_over()
    audios = await house.speak()
    assert len(audios) == (0 if is_whole else 1)
    events += await house.deliveries()
    path = f"http://127.0.0.1:8000/api/v1/reports/{house.report_id}/audio"
    assert [event[1:] for event in events] == [(True, path)]
    assert await house.deliveries() == []
    assert (await house.row()).has_audio
    recordings = await house.storage.across(AUDIO, end=micros(house.clock.now()), limit=9)
    (name,) = [AUDIO.decode(row.document.raw).recording.name for row in recordings]
    house.clock.advance(LEASE.total_seconds())
    assert await house.sweep() == ()
    assert await house.counts() == (0, 0)
    assert await house.media.read(name, range(10**6)) == house.voice.sound
