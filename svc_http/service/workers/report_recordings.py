"""Records reports as audio, and removes audio files that no report needs any more.

Rule 1: no transaction is open while a program speaks or a file is stored; the recording is
        measured, stored and then named by a row in one unit of work, so that a killed process
        leaves a report without a recording or with a whole one.
Rule 2: a report is claimed before it is spoken, so that any number of workers speak it once. The
        claim is renewed while that takes; the claim of a dead worker expires soon.
Rule 3: a file is removed only while no row of any tenant names it, and not while one is about to:
        whoever stores or removes a file must have the turn of its name, in all processes.
Rule 4: a few reports are spoken at once, in fair shares of workspaces: a slow voice holds up its
        own report only, and many reports of one workspace hold up no other's.
"""

import asyncio
from functools import partial
from pathlib import Path
from typing import Final

from attrs import frozen

from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, StoredRow, TenantRow
from svc_core.reports import speech_tasks as speaking
from svc_core.reports.audio import (
    AUDIO,
    FILE_CHECKS,
    FILE_LEASES,
    SPEECH_REQUESTS,
    Audio,
    FileLease,
    Recording,
    SpeechRequest,
)
from svc_core.reports.recordings import LEASE, cancel_check, end_lease, is_early, take_lease
from svc_core.reports.speech_tasks import SpeechTask
from svc_http.exchange.fair_shares import BOUNDS, Shares
from svc_http.outside.voices.speech_port import Speech, SpeechFailure, SpeechText
from svc_http.service.commits import Commits
from svc_http.service.service_units import OnFailure, Service
from svc_http.service.workers.claim_loop import CLAIM, Claim, ClaimLoop
from svc_http.service.workers.due_queue import DUE_MAX
from svc_http.stores.media.draft_files import measure
from svc_http.stores.media.media_port import Media
from svc_http.stores.media.sound import NoSound

LOOK_SECONDS: Final = 10.0
"""How often files are checked without a commit."""
GATHER_SECONDS: Final = 0.25
ROUND_MAX: Final = 16
"""Files checked in one round."""


@frozen
class Recorder:
    """A voice, and the media store for its recordings."""

    speech: Speech
    media: Media

    async def record(self, service: Service, tenant: str, task: SpeechTask) -> Audio | None:
        """Speak a report and attach the recording; None when its text changed meanwhile.

        Raises:
            SpeechFailure: no whole recording was made.
            OSError: the file cannot be stored.
        """
        with self.media.draft() as draft:
            await self.speech.say(SpeechText(task.text, task.language), draft)
            try:
                recording = await asyncio.to_thread(measure, draft)
            except NoSound as error:
                raise SpeechFailure(str(error)) from error
            turn = await self._keep(service, draft, recording)

        async def adopt(ctx: Context) -> Audio | None:
            if not is_early(turn, ctx.now):
                raise SpeechFailure("it took too long to keep the recording")
            return await speaking.attach_audio(
                ctx, task, recording, self.speech.voice(task.language)
            )

        audio = await service.write(tenant, adopt)
        if audio is not None:
            await service.system(lambda ctx: end_lease(ctx, turn, is_settled=True))
        return audio

    async def _keep(
        self, service: Service, draft: Path, recording: Recording
    ) -> StoredRow[FileLease]:
        """Store the file under a turn of its name, which lasts until a row names it."""
        turn = await service.system(lambda ctx: take_lease(ctx, recording.name))
        if turn is None:
            raise SpeechFailure("a file of the same sound is being kept or removed")
        try:
            await self.media.keep(draft, recording)
        except Exception:
            await service.system(lambda ctx: end_lease(ctx, turn, is_settled=False))
            raise
        return turn


class RecordingRounds(ClaimLoop[SpeechRequest, Audio | None]):
    """The reports that one process speaks, or will speak as soon as there is a place."""

    queue = SPEECH_REQUESTS
    look_seconds = 10.0
    gather_seconds = 0.25
    claim_index = "is_claimed"

    def __init__(self, service: Service, recorder: Recorder, on_failure: OnFailure) -> None:
        super().__init__(service, on_failure)
        self._recorder = recorder
        self._shares: Shares[asyncio.Future[None]] = Shares(BOUNDS["recordings"])

    async def free(self, ctx: Context, id_: str) -> None:
        """Queue again the report that a process had claimed which has ended."""
        await speaking.release_claim(ctx, id_)

    async def take_over(self) -> int:
        """End the turns of files of the previous process, and free the reports that it claimed."""
        turns_before = micros(self._service.now() + LEASE) - 1
        turns = await self._service.storage.read(
            SYSTEM, lambda tx: tx.documents.scan(FILE_LEASES, end=turns_before, limit=DUE_MAX)
        )
        for turn in turns.rows:
            await self._service.system(partial(end_lease, lease=turn, is_settled=False))
        return await super().take_over()

    async def attend(self, row: TenantRow[SpeechRequest]) -> Audio | None:
        """Speak a report, when there is a place for its workspace."""
        async with self._shares.turn(row.tenant):
            until = self._service.now() + CLAIM
            take = partial(speaking.claim_speech, row=row.document, until=until)
            task = await self._service.write(row.tenant, take)
            return None if task is None else await self._record(row.tenant, task)

    async def _record(self, tenant: str, task: SpeechTask) -> Audio | None:
        service = self._service
        claim = Claim(
            tenant,
            renew=partial(speaking.renew_claim, task=task),
            release=partial(speaking.return_claim, task=task),
        )
        async with claim.held(service, self._on_failure):
            try:
                return await self._recorder.record(service, tenant, task)
            except (SpeechFailure, OSError) as failure:
                self._on_failure(failure)
                await service.write(tenant, partial(speaking.retry_later, task=task))
                return None


# -- what is no longer needed ------------------------------------------------------------------


async def orphan_file_loop(service: Service, media: Media, commits: Commits) -> None:
    """Remove unneeded files for ever; it ends when it is cancelled."""
    await asyncio.to_thread(media.tidy)
    work = partial(remove_orphan_files, service, media)
    await commits.rounds(work, look_seconds=LOOK_SECONDS, gather_seconds=GATHER_SECONDS)


async def remove_orphan_files(service: Service, media: Media) -> tuple[str, ...]:
    """Check the files that may be unneeded now; return the names of those that were removed."""
    now = micros(service.now())
    doubtful = await service.storage.across(FILE_CHECKS, end=now, limit=ROUND_MAX)
    expired = await service.storage.read(
        SYSTEM, lambda tx: tx.documents.scan(FILE_LEASES, end=now, limit=ROUND_MAX)
    )
    names = [(row.tenant, FILE_CHECKS.decode(row.document.raw).name) for row in doubtful]
    orphans = {FILE_LEASES.decode(row.raw).name for row in expired.rows} - {
        name for _, name in names
    }
    names += [(SYSTEM, name) for name in sorted(orphans)]
    files = [await _remove_orphan(service, media, tenant, name) for tenant, name in names]
    return tuple(name for name in files if name is not None)


async def _remove_orphan(service: Service, media: Media, tenant: str, name: str) -> str | None:
    """Remove a file unless a row names it; after a failure it is checked again later."""
    turn = await service.system(lambda ctx: take_lease(ctx, name))
    if turn is None:
        return None
    if tenant != SYSTEM:
        await service.write(tenant, lambda ctx: cancel_check(ctx, name))  # the turn stands for it
    rows = await service.storage.across(AUDIO, where={"file": (name,)}, limit=1)
    if not rows:
        if not is_early(turn, service.now()):
            return None
        await media.remove(name)
    await service.system(lambda ctx: end_lease(ctx, turn, is_settled=True))
    return None if rows else name
