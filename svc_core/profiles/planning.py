"""When a profile's next report is due: written with whatever moves it.

A due row is the scheduler's claim on a run: each change of the plan gives it a new version, so
that a worker which acted on the one before writes nothing.
"""

from datetime import datetime

import attrs

from svc_core.operation import Context
from svc_core.ports import Document
from svc_core.profiles import rules
from svc_core.resources.profile import DUE, PROFILES, SUBSCRIPTIONS, Due, Profile, Subscription


async def plan(ctx: Context, profile: Profile, subscription: Subscription) -> None:
    """Plan the next run of a profile from now on; none while nobody wants it."""
    last = await due_of(ctx, profile.id)
    await ctx.save(DUE, profile.id, rules.due(profile, subscription, last, ctx.now))


async def run_end(ctx: Context, due: Due, ready: datetime) -> datetime | None:
    """Where the report of a due profile ends; None where it has nothing to tell.

    Raises:
        Problem: NOT_FOUND when the profile was deleted.
    """
    profile = PROFILES.decode((await ctx.load(PROFILES, due.profile_id)).raw)
    return rules.run_end(profile, due, ready)


async def pass_over(ctx: Context, profile_id: str, seen: Document[Due], ready: datetime) -> None:
    """Plan the run after `ready` where the one that was planned has nothing to tell.

    `seen` is the due row that the worker acted on; nothing is written when it has changed.
    """
    document = await ctx.tx.documents.get(DUE, profile_id)
    if document is None or document.version != seen.version:
        return
    profile = PROFILES.decode((await ctx.load(PROFILES, profile_id)).raw)
    before = DUE.decode(document.raw)
    upcoming = rules.after(profile, before, ready)
    await ctx.save(DUE, profile_id, attrs.evolve(before, next_run_at=upcoming))


async def due_of(ctx: Context, profile_id: str) -> Due | None:
    """The due row of a profile."""
    document = await ctx.tx.documents.get(DUE, profile_id)
    return None if document is None else DUE.decode(document.raw)


async def subscription_of(ctx: Context, profile_id: str) -> Subscription:
    """The subscription that came with a profile."""
    found = await ctx.tx.documents.scan(SUBSCRIPTIONS, where={"profile_id": (profile_id,)}, limit=1)
    return SUBSCRIPTIONS.decode(found.rows[0].raw)
