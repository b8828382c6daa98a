"""Speaks reports, and removes the recordings that no report needs any more.

Rule 1: no transaction is open while somebody speaks; the recording is measured, put in its place
        and told of in one unit of work, so that a kill leaves a report silent or whole.
Rule 2: a report is claimed before it is spoken, so that any number of workers speak it once.
Rule 3: a file goes only while no row of any tenant names it, and not while one is about to.
"""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Final

from attrs import frozen

from svc_core.operation import Context
from svc_core.ports import Owned
from svc_core.recordings import trust
from svc_core.reports import speaking
from svc_core.reports.speaking import Task
from svc_core.resources.audio import AUDIO, DOUBTS, SPEAKING, Audio, Doubt, Recording, Speaking
from svc_core.resources.members import micros
from svc_http.media.files import Media
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
                recording = await asyncio.to_thread(self.media.measure, draft)
            except NoSound as silent:
                raise SpeechFailed(str(silent)) from silent
            voice = self.speech.voice(task.language)
            await service.write(tenant, partial(_expect, recording))
            async with self.media.settling:
                await asyncio.to_thread(self.media.keep, draft, recording)
                return await service.write(
                    tenant, lambda ctx: speaking.adopt(ctx, task, recording, voice)
                )


async def _expect(recording: Recording, ctx: Context) -> None:
    await speaking.expect_file(ctx, recording.name)


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
    doubts = await service.storage.across(DOUBTS, end=micros(service.now()), limit=ROUND_MAX)
    gone = [await _settle(service, media, row) for row in doubts]
    return tuple(name for name in gone if name is not None)


async def _settle(service: Service, media: Media, row: Owned[Doubt]) -> str | None:
    name = DOUBTS.decode(row.document.raw).name
    async with media.settling:
        named = await service.storage.across(AUDIO, where={"file": (name,)}, limit=1)
        if not named:
            await asyncio.to_thread(media.remove, name)
        await service.write(row.tenant, lambda ctx: trust(ctx, name))
    return None if named else name
