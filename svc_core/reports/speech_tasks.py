"""Gives a report its audio: claim the text, have it spoken elsewhere, attach the recording.

Rule 1: speaking holds no transaction: `claim_speech` or `speech_task` reads the text, and
        `attach_audio` writes the audio, the report's row and their change in one unit of work.
        Killed anywhere, a report has no audio or a complete one.
Rule 2: a claim lapses unless its worker renews it, and is counted before the work, so that two
        workers never speak the same report at once, and a report that kills its workers is given
        up after a few attempts.
Rule 3: audio is of the words that were read: a report that was made again meanwhile gets none.
"""

from datetime import datetime, timedelta
from typing import Any, Final

import attrs
from attrs import field, frozen

from svc_core.base import ids
from svc_core.operation.context import Context
from svc_core.operation.ports import BASE_V1, StoredRow
from svc_core.reports import rules
from svc_core.reports.audio import AUDIO, SPEECH_REQUESTS, Audio, Recording, SpeechRequest
from svc_core.reports.model import FACETS, REPORTS
from svc_core.reports.recordings import announce, cancel_check, forget_audio, give_up

# The states of a speech request. One row for each report that waits for audio, due at `due_at`:
#
#   none --request_speech--> waiting --claim_speech--> claimed --attach_audio--> none (has audio)
#                               ^                         |---retry_later---> waiting, later
#                               |                         |---return_claim--> waiting, not counted
#                               |                         |---release_claim-> waiting, counted
#                               \--------- lapse ---------/
#   waiting or claimed, after `ATTEMPTS_MAX` attempts --give_up--> none (the event goes out)
#
# A claim is not a lock: it is the row with `is_claimed` and a due time in the future. Its number of
# attempts identifies the holder, for each claim raises it: `renew_claim`, `retry_later` and
# `return_claim` act only while the row still has the attempt of their task, so that a worker whose
# claim lapsed cannot touch the claim of its successor. `attach_audio` needs no claim: the digest
# decides. Whoever brings a recording of the words that the report still has may attach it, and a
# second one replaces the first; the words are spoken twice, which costs time but no correctness.
# Counting before the work is what ends the loop of a report that kills its worker every time.
ATTEMPTS_MAX: Final = 5
"""Attempts before a report stays silent: five failures over five hours are due to its words."""
RETRY_MIN: Final = timedelta(minutes=1)


@frozen
class SpeechTask:
    """A report to be spoken; `digest` identifies the words that it had."""

    report_id: str
    text: str = field(repr=False)
    language: str
    digest: str
    attempts: int = 0


async def request_speech(ctx: Context, report_id: str) -> None:
    """Request the audio of a report, unless that is requested already."""
    report, wish = await ctx.find(REPORTS, report_id), await ctx.find(SPEECH_REQUESTS, report_id)
    if report is not None and wish is None:
        await ctx.save(SPEECH_REQUESTS, report_id, SpeechRequest(report_id, ctx.now))


async def speech_task(ctx: Context, report_id: str) -> SpeechTask:
    """The task of speaking a report.

    Raises:
        Problem: NOT_FOUND.
    """
    row = await ctx.value(REPORTS, report_id)
    facets = await ctx.value(FACETS, report_id)
    script = rules.audio_text(row, facets)
    return SpeechTask(report_id, script.text, row.language, facets.digest)


async def claim_speech(
    ctx: Context, row: StoredRow[SpeechRequest], until: datetime
) -> SpeechTask | None:
    """Claim a due request for this worker alone until then, and give its task.

    None when another worker was first, or when the request is given up.
    """
    wish = await ctx.if_unchanged(SPEECH_REQUESTS, row)
    if wish is None:
        return None
    if wish.attempts >= ATTEMPTS_MAX:
        await give_up(ctx, wish.report_id)
        return None
    lease = attrs.evolve(wish, due_at=until, attempts=wish.attempts + 1, is_claimed=True)
    await ctx.save(SPEECH_REQUESTS, wish.report_id, lease)
    return attrs.evolve(await speech_task(ctx, wish.report_id), attempts=lease.attempts)


async def renew_claim(ctx: Context, task: SpeechTask, until: datetime) -> None:
    """Extend a claim until then, unless it has lapsed and is another worker's."""
    await _change_claim(ctx, task, due_at=until)


async def release_claim(ctx: Context, report_id: str) -> None:
    """Release the claim of a dead worker at once; the attempt counts.

    Only for a process that has the store to itself and has begun nothing yet.
    """
    wish = await ctx.value(SPEECH_REQUESTS, report_id)
    await ctx.save(SPEECH_REQUESTS, report_id, attrs.evolve(wish, due_at=ctx.now, is_claimed=False))


async def _claim_of(ctx: Context, task: SpeechTask) -> SpeechRequest | None:
    """The request behind a task, while the task still holds its claim."""
    wish = await ctx.find(SPEECH_REQUESTS, task.report_id)
    is_its = wish is not None and wish.is_claimed and wish.attempts == task.attempts
    return wish if is_its else None


async def _change_claim(ctx: Context, task: SpeechTask, **members: Any) -> None:
    """Write these members of the request, while the task still holds its claim."""
    wish = await _claim_of(ctx, task)
    if wish is not None:
        await ctx.save(SPEECH_REQUESTS, task.report_id, attrs.evolve(wish, **members))


async def retry_later(ctx: Context, task: SpeechTask) -> None:
    """Retry a failed task later, each time later; the last failure ends it."""
    if task.attempts < ATTEMPTS_MAX:
        wait = RETRY_MIN * 4 ** (task.attempts - 1)
        await _change_claim(ctx, task, due_at=ctx.now + wait, is_claimed=False)
    elif await _claim_of(ctx, task) is not None:
        await give_up(ctx, task.report_id)


async def return_claim(ctx: Context, task: SpeechTask) -> None:
    """Release a claim at once, as if it had never been taken."""
    attempts = task.attempts - 1
    await _change_claim(ctx, task, due_at=ctx.now, attempts=attempts, is_claimed=False)


async def attach_audio(
    ctx: Context, task: SpeechTask, recording: Recording, voice: str
) -> Audio | None:
    """Attach a stored recording to its report; None when the report's words changed.

    The row says so from now on, with its change record, and so does the event that waits for it.
    """
    row = await ctx.find(REPORTS, task.report_id)
    facets = await ctx.find(FACETS, task.report_id)
    if row is None or facets is None or facets.digest != task.digest:
        return None
    path = f"{BASE_V1}/reports/{row.id}/audio"
    await announce(ctx, row.id, path)
    await forget_audio(ctx, task.report_id)
    audio = Audio(
        id=ids.derived_id("aud", "audio", task.report_id, recording.name),
        report_id=task.report_id,
        recording=recording,
        voice=voice,
        created_at=ctx.now,
    )
    await ctx.save(AUDIO, task.report_id, audio)
    await cancel_check(ctx, recording.name)
    links = attrs.evolve(row.links, audio=path)
    await ctx.save(REPORTS, row.id, attrs.evolve(row, has_audio=True, links=links))
    return audio
