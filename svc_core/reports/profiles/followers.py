"""Delivers news of public profiles to their followers, and ends subscriptions to closed ones.

Rule 1: a subscription, and the row that finds it among those of all tenants (`FOLLOWS`), are rows
        of the subscriber, written together.
Rule 2: news are queued in the unit that causes them, which waits for nobody. Each subscriber gets
        them in a short unit of its own tenant, which records that: killed at any point, whoever
        comes next continues, and nobody gets anything twice.
Rule 3: the news of one profile are delivered one after another, in the order they happened.
Rule 4: with a profile that is deleted, or private again, all subscriptions of others to it end.
        They are looked for again after `GRACE`: some may have been committed at the same time.
"""

from datetime import timedelta
from typing import Final

import attrs
from attrs import frozen

from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import StoredRow
from svc_core.reports.model import FACETS, REPORTS, ReportFacets, ReportRow
from svc_core.reports.profiles.model import (
    FOLLOWER_QUEUES,
    FOLLOWS,
    PROFILE_DELIVERIES,
    PROFILES,
    SUBSCRIPTIONS,
    FollowerQueue,
    News,
    Profile,
    Subscription,
    place_of,
)

NEWS_MAX: Final = 500
"""News in a queue; of more, as where no worker runs for weeks, the oldest are dropped."""
GRACE: Final = timedelta(minutes=1)
"""A delay that is longer than any unit of work."""


async def note_news(ctx: Context, report_id: str, version: int = 0) -> None:
    """Queue news of a report for the followers of its profile, where that is public."""
    row = await ctx.find(REPORTS, report_id)
    profile = await ctx.find(PROFILES, "" if row is None else row.profile_id)
    if profile is not None and profile.visibility == "public":
        before = await ctx.find(FOLLOWER_QUEUES, profile.id) or FollowerQueue(profile.id)
        news = dict.fromkeys((*before.news, News(report_id, version, ctx.now)))
        after = attrs.evolve(before, news=tuple(news))
        await ctx.save(
            FOLLOWER_QUEUES, profile.id, _next(after) if after.news[NEWS_MAX:] else after
        )


async def end_all(ctx: Context, profile: Profile) -> None:
    """Queue the end of all subscriptions of others to a profile that is private or deleted."""
    if profile.visibility == "public":
        before = await ctx.find(FOLLOWER_QUEUES, profile.id) or FollowerQueue(profile.id)
        news = News(None, 0, ctx.now), News(None, 1, ctx.now + GRACE)
        queue = FollowerQueue(profile.id, before.number + len(before.news), news)
        await ctx.save(FOLLOWER_QUEUES, profile.id, queue)


def _next(queue: FollowerQueue) -> FollowerQueue:
    """The queue without the first of its news."""
    return FollowerQueue(queue.profile_id, queue.number + 1, queue.news[1:])


# -- for workers -------------------------------------------------------------------------------


@frozen
class FollowerTask:
    """The first news of a profile's queue, with the report that they are about."""

    tenant: str
    queue: FollowerQueue
    news: News
    is_public: bool
    report: StoredRow[ReportRow] | None
    facets: ReportFacets | None

    @property
    def after(self) -> tuple[int, str, str]:
        """The follower that was served last, as a position among those of all profiles."""
        return (place_of(self.queue.profile_id), *self.queue.after)

    def ends(self, subscription: Subscription) -> bool:
        """Whether a subscription ends: also where the profile is public again meanwhile."""
        return not self.is_public or (
            self.news.version == 0 and subscription.created_at <= self.news.at
        )


async def due_news(ctx: Context, profile_id: str) -> FollowerTask | None:
    """The news of a profile that are due; None where another worker was first."""
    queue = await ctx.find(FOLLOWER_QUEUES, profile_id)
    if queue is None or FOLLOWER_QUEUES.order(queue) > micros(ctx.now):
        return None
    profile, news = await ctx.find(PROFILES, profile_id), queue.news[0]
    is_public = profile is not None and profile.visibility == "public"
    report = await ctx.tx.documents.get(REPORTS, news.report_id or "")
    facets = await ctx.find(FACETS, news.report_id or "")
    return FollowerTask(ctx.actor.tenant, queue, news, is_public, report, facets)


async def subscriber(ctx: Context, task: FollowerTask) -> Subscription | None:
    """The subscription of a tenant that has not had these news; None where there is none.

    It counts as served from now on; where the news end it, it has ended.
    """
    profile_id, number = task.queue.profile_id, task.queue.number
    follow = await ctx.find(FOLLOWS, profile_id)
    if follow is None or follow.tenant != task.tenant or follow.told >= number:
        return None
    subscription = await ctx.value(SUBSCRIPTIONS, follow.subscription_id)
    if task.news.report_id is not None:
        await ctx.save(FOLLOWS, profile_id, attrs.evolve(follow, told=number))
        return subscription if subscription.created_at <= task.news.at else None
    if task.ends(subscription):
        await ctx.tx.documents.delete(FOLLOWS, profile_id)
        await ctx.tx.documents.delete(PROFILE_DELIVERIES, profile_id)
        await ctx.remove(SUBSCRIPTIONS, subscription.id)
    return None


async def advance(ctx: Context, task: FollowerTask, after: tuple[str, str] | None) -> None:
    """Move on to the follower after this one, or, without one, to the next news."""
    queue = await ctx.find(FOLLOWER_QUEUES, task.queue.profile_id)
    if queue is None or queue.number != task.queue.number:
        return
    queue = attrs.evolve(queue, after=after) if after else _next(queue)
    if queue.news or task.is_public:
        await ctx.save(FOLLOWER_QUEUES, queue.profile_id, queue)
    else:
        await ctx.tx.documents.delete(FOLLOWER_QUEUES, queue.profile_id)
