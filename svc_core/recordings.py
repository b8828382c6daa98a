"""What goes with a report, and what becomes of its recording: for every feature that removes one.

Rule: a file has a row before it exists, with a time to look whether any row still needs it,
so that no file is forgotten, whatever was interrupted.
"""

from datetime import timedelta

from svc_core import ids
from svc_core.operation import Context
from svc_core.resources.audio import AUDIO, DOUBTS, SPEAKING, Doubt
from svc_core.resources.report import FACETS, REPORTS

FORGET_AT_ONCE = 100  # rows read at a time while a profile's reports are removed


async def doubt(ctx: Context, name: str, after: timedelta = timedelta(0)) -> None:
    """Have a file looked after: it goes unless a row names it by then."""
    id_ = ids.derived_id("med", "media", "", name)
    before, look_at = await ctx.find(DOUBTS, id_), ctx.now + after
    if before is not None:
        look_at = max(look_at, before.look_at)
    await ctx.save(DOUBTS, id_, Doubt(name, look_at))


async def trust(ctx: Context, name: str) -> None:
    """Have a file looked after no more: a row names it."""
    await ctx.tx.documents.delete(DOUBTS, ids.derived_id("med", "media", "", name))


async def forget_audio(ctx: Context, report_id: str) -> None:
    """Forget a report's audio and the wish for it; the file goes soon after."""
    await ctx.tx.documents.delete(SPEAKING, report_id)
    gone = await ctx.tx.documents.delete(AUDIO, report_id)
    if gone is not None:
        await doubt(ctx, AUDIO.decode(gone.raw).recording.name)


async def forget_reports(ctx: Context, profile_id: str) -> None:
    """Remove every report of a profile, each with a tombstone in the change feed."""
    while True:
        found = await ctx.tx.documents.scan(
            REPORTS, where={"profile_id": (profile_id,)}, limit=FORGET_AT_ONCE
        )
        for row in found.rows:
            await ctx.remove(REPORTS, row.id)
            await ctx.remove(FACETS, row.id)
            await forget_audio(ctx, row.id)
        if not found.more:
            return
