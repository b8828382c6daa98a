"""Giving a report its voice: take the text, have it spoken elsewhere, take the recording in.

Rule 1: speaking holds no transaction: `claim` or `ask` reads the text, `adopt` writes the audio,
        the report's row and their change in one unit of work. Killed anywhere, a report has no
        audio or a whole one.
Rule 2: a claim is for a while, is renewed while its worker lives, and is counted before the work,
        so that two workers never speak the same report at once, and one that kills its worker is
        given up after a few attempts.
Rule 3: audio is of the words that were read: a report that was made again meanwhile keeps none.
"""

from datetime import datetime, timedelta
from typing import Final

import attrs
from attrs import field, frozen

from svc_core.base import ids
from svc_core.operation.context import Context
from svc_core.operation.ports import BASE_V1, Document
from svc_core.reports import rules
from svc_core.reports.audio import AUDIO, SPEAKING, Audio, Recording, Speaking
from svc_core.reports.model import FACETS, REPORTS
from svc_core.reports.recordings import announce, forget_audio, give_up, trust

ATTEMPTS_MAX: Final = 5
"""Then the report stays silent: what fails five times over five hours fails for its words."""
RETRY_MIN: Final = timedelta(minutes=1)


@frozen
class Task:
    """A report to be spoken; `digest` names the words that it had."""

    report_id: str
    text: str = field(repr=False)
    language: str
    digest: str
    attempts: int = 0


async def want(ctx: Context, report_id: str) -> None:
    """Have a report spoken, as soon as somebody has a voice for it, where that is not so yet."""
    report, wish = await ctx.find(REPORTS, report_id), await ctx.find(SPEAKING, report_id)
    if report is not None and wish is None:
        await ctx.save(SPEAKING, report_id, Speaking(report_id, ctx.now))


async def ask(ctx: Context, report_id: str) -> Task:
    """The task of speaking a report.

    Raises:
        Problem: NOT_FOUND.
    """
    row = await ctx.value(REPORTS, report_id)
    facets = await ctx.value(FACETS, report_id)
    script = rules.audio_text(row, facets)
    return Task(report_id, script.text, row.language, facets.digest)


async def claim(ctx: Context, seen: Document[Speaking], until: datetime) -> Task | None:
    """The task of a wish that is due, for this worker alone until then.

    None when another worker was first, or when the wish is given up.
    """
    wish = await ctx.unchanged(SPEAKING, seen)
    if wish is None:
        return None
    if wish.attempts >= ATTEMPTS_MAX:
        await give_up(ctx, wish.report_id)
        return None
    lease = attrs.evolve(wish, due_at=until, attempts=wish.attempts + 1, is_claimed=True)
    await ctx.save(SPEAKING, wish.report_id, lease)
    return attrs.evolve(await ask(ctx, wish.report_id), attempts=lease.attempts)


async def renew(ctx: Context, task: Task, until: datetime) -> None:
    """Keep a claim until then, unless it has lapsed and is another worker's."""
    wish = await _claim_of(ctx, task)
    if wish is not None:
        await ctx.save(SPEAKING, task.report_id, attrs.evolve(wish, due_at=until))


async def take_over(ctx: Context, report_id: str) -> None:
    """Let others speak a report at once whose worker is dead; the attempt counts.

    Only for a process that has the store to itself and has begun nothing yet.
    """
    wish = await ctx.value(SPEAKING, report_id)
    await ctx.save(SPEAKING, report_id, attrs.evolve(wish, due_at=ctx.now, is_claimed=False))


async def _claim_of(ctx: Context, task: Task) -> Speaking | None:
    """The wish of a task, while it is the task's."""
    wish = await ctx.find(SPEAKING, task.report_id)
    is_its = wish is not None and wish.is_claimed and wish.attempts == task.attempts
    return wish if is_its else None


async def put_off(ctx: Context, task: Task) -> None:
    """Try a task that failed again later, each time later; the last failure ends it."""
    wish = await _claim_of(ctx, task)
    if wish is None:
        return
    if task.attempts >= ATTEMPTS_MAX:
        await give_up(ctx, task.report_id)
        return
    wait = RETRY_MIN * 4 ** (task.attempts - 1)
    again = attrs.evolve(wish, due_at=ctx.now + wait, is_claimed=False)
    await ctx.save(SPEAKING, task.report_id, again)


async def give_back(ctx: Context, task: Task) -> None:
    """Let others speak a report at once, as if it had not been claimed."""
    wish = await _claim_of(ctx, task)
    if wish is not None:
        again = attrs.evolve(wish, due_at=ctx.now, attempts=wish.attempts - 1, is_claimed=False)
        await ctx.save(SPEAKING, task.report_id, again)


async def adopt(ctx: Context, task: Task, recording: Recording, voice: str) -> Audio | None:
    """Give the report its recording, which stands in its place; None when its words changed.

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
    await trust(ctx, recording.name)
    links = attrs.evolve(row.links, audio=path)
    await ctx.save(REPORTS, row.id, attrs.evolve(row, has_audio=True, links=links))
    return audio
