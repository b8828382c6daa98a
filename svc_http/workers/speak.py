"""Speaks reports, and removes the recordings that no report needs any more.

Rule 1: no transaction is open while somebody speaks or a file is kept; the recording is measured,
        kept and then told of in one unit of work, so that a kill leaves a report silent or whole.
Rule 2: a report is claimed before it is spoken, so that any number of workers speak it once.
Rule 3: a file goes only while no row of any tenant names it, and not while one is about to: who
        keeps a file and who removes it take turns, in this process and in others.
"""

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

from attrs import frozen

from svc_core.operation import Context
from svc_core.ports import SYSTEM, Document, Owned
from svc_core.recordings import end_turn, is_early, take_turn, trust
from svc_core.reports import speaking
from svc_core.reports.speaking import Task
from svc_core.resources.audio import (
    AUDIO,
    DOUBTS,
    SPEAKING,
    TURNS,
    Audio,
    Recording,
    Speaking,
    Turn,
)
from svc_core.resources.members import micros
from svc_http.media.drafts import measure
from svc_http.media.port import Media
from svc_http.providers.sound import NoSound
from svc_http.providers.speech import SECONDS_MAX, Speech, SpeechFailed, Words
from svc_http.runtime.commits import Commits
from svc_http.runtime.service import Failed, Service

CLAIM: Final = timedelta(seconds=SECONDS_MAX + 60)
"""How long a report belongs to the worker that speaks it: its bound, and a minute for the disk."""
LOOK_SECONDS: Final = 30.0
"""How often the wishes are looked at when nothing was heard: retries, and claims of the dead."""
GATHER_SECONDS: Final = 0.25
ROUND_MAX: Final = 16
"""Rows read in one round."""


@frozen
class Recorder:
    """A voice, and where its recordings are kept."""

    speech: Speech
    media: Media

    async def record(self, service: Service, tenant: str, task: Task) -> Audio | None:
        """Speak a report and give it the recording; None when its words changed meanwhile.

        Raises:
            SpeechFailed: there is no whole recording.
            OSError: it cannot be kept.
        """
        with self.media.draft() as draft:
            await self.speech.say(Words(task.text, task.language), draft)
            try:
                recording = await asyncio.to_thread(measure, draft)
            except NoSound as silent:
                raise SpeechFailed(str(silent)) from silent
            turn = await self._keep(service, draft, recording)

        async def adopt(ctx: Context) -> Audio | None:
            if not is_early(turn, ctx.now):
                raise SpeechFailed("it took too long to keep the recording")
            return await speaking.adopt(ctx, task, recording, self.speech.voice(task.language))

        audio = await service.write(tenant, adopt)
        if audio is not None:
            await service.system(lambda ctx: end_turn(ctx, turn, is_settled=True))
        return audio

    async def _keep(self, service: Service, draft: Path, recording: Recording) -> Document[Turn]:
        """Keep the file in a turn that lasts until a row names it."""
        turn = await service.system(lambda ctx: take_turn(ctx, recording.name))
        if turn is None:
            raise SpeechFailed("a file of the same sound is being kept or removed")
        try:
            await self.media.keep(draft, recording)
        except Exception:
            await service.system(lambda ctx: end_turn(ctx, turn, is_settled=False))
            raise
        return turn


async def speak_loop(
    service: Service, recorder: Recorder, commits: Commits, failed: Failed
) -> None:
    """Speak what is wanted, for ever; cancelled, it gives back what it speaks.

    `failed` hears of what could not be spoken; each is tried again later, a few times.
    """
    work = partial(speak_due, service, recorder, failed)
    await commits.rounds(work, look_seconds=LOOK_SECONDS, gather_seconds=GATHER_SECONDS)


async def speak_due(service: Service, recorder: Recorder, failed: Failed) -> tuple[Audio, ...]:
    """Speak the reports that are due now, one after another; what was made."""
    due = await service.storage.across(SPEAKING, end=micros(service.now()), limit=ROUND_MAX)
    made = [await _speak(service, recorder, row, failed) for row in due]
    return tuple(audio for audio in made if audio is not None)


async def _speak(
    service: Service, recorder: Recorder, row: Owned[Speaking], failed: Failed
) -> Audio | None:
    until = service.now() + CLAIM
    task = await service.write(row.tenant, lambda ctx: speaking.claim(ctx, row.document, until))
    if task is None:
        return None
    try:
        return await recorder.record(service, row.tenant, task)
    except (SpeechFailed, OSError) as failure:
        failed(failure)
        await service.write(row.tenant, lambda ctx: speaking.put_off(ctx, task))
        return None
    except asyncio.CancelledError:
        await service.write(row.tenant, lambda ctx: speaking.give_back(ctx, task))
        raise


# -- what is no longer needed ------------------------------------------------------------------


async def sweep_loop(service: Service, media: Media, commits: Commits) -> None:
    """Remove files that nobody needs, soon after that is so; it ends by being cancelled."""
    await asyncio.to_thread(media.tidy)
    work = partial(sweep, service, media)
    await commits.rounds(work, look_seconds=LOOK_SECONDS, gather_seconds=GATHER_SECONDS)


async def sweep(service: Service, media: Media) -> tuple[str, ...]:
    """Look after the files that are in doubt now; the names of those that were removed."""
    now = micros(service.now())
    doubts = await service.storage.across(DOUBTS, end=now, limit=ROUND_MAX)
    over = await service.storage.read(
        SYSTEM, lambda tx: tx.documents.scan(TURNS, end=now, limit=ROUND_MAX)
    )
    told = [(row.tenant, DOUBTS.decode(row.document.raw).name) for row in doubts]
    left = {TURNS.decode(row.raw).name for row in over.rows} - {name for _, name in told}
    told += [(SYSTEM, name) for name in sorted(left)]
    gone = [await _settle(service, media, tenant, name) for tenant, name in told]
    return tuple(name for name in gone if name is not None)


async def _settle(service: Service, media: Media, tenant: str, name: str) -> str | None:
    """Remove a file unless a row names it. What fails is looked after when the turn is over."""
    turn = await service.system(lambda ctx: take_turn(ctx, name))
    if turn is None:
        return None
    if tenant != SYSTEM:
        await service.write(tenant, lambda ctx: trust(ctx, name))  # the turn stands for it
    named = await service.storage.across(AUDIO, where={"file": (name,)}, limit=1)
    if not named:
        if not is_early(turn, service.now()):
            return None
        await media.remove(name)
    await service.system(lambda ctx: end_turn(ctx, turn, is_settled=True))
    return None if named else name
