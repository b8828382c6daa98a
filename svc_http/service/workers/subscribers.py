"""Informs subscribers of public profiles about new reports, and ends subscriptions that are over.

Each subscriber is informed in a unit of work of their own workspace, some at a time, so that a
profile with thousands of subscribers delays neither a writer nor the other profiles. Any number of
workers may do this, and one that is killed leaves the rest to the next.
"""

from functools import partial
from typing import Final

from svc_core.operation.ports import Overloaded, StorageUnavailable, TenantRow
from svc_core.reports.notices import inform
from svc_core.reports.profiles import followers as following
from svc_core.reports.profiles.model import FOLLOWER_QUEUES, FOLLOWS, FollowerQueue
from svc_core.reports.speech_tasks import request_speech
from svc_http.service.commits import Commits
from svc_http.service.service_units import OnFailure, Service
from svc_http.service.workers.retention import GATHER_SECONDS, process_due

LOOK_SECONDS: Final = 10.0
"""How often due rows are read without a commit, for what other processes left."""
AT_ONCE: Final = 50
"""Subscribers informed before another profile has its turn: a quarter of a second."""


async def subscriber_loop(service: Service, commits: Commits, on_failure: OnFailure) -> None:
    """Inform subscribers for ever; it ends when it is cancelled."""
    work = partial(inform_subscribers, service, on_failure)
    await commits.rounds(work, look_seconds=LOOK_SECONDS, gather_seconds=GATHER_SECONDS)


async def inform_subscribers(service: Service, on_failure: OnFailure) -> None:
    """Inform all subscribers that are due; `on_failure` gets the failure of each that cannot be."""
    await process_due(
        service, FOLLOWER_QUEUES, partial(_inform_batch, service, on_failure), on_failure
    )


async def _inform_batch(
    service: Service, on_failure: OnFailure, row: TenantRow[FollowerQueue]
) -> None:
    task = await service.read(row.tenant, partial(following.due_news, profile_id=row.document.id))
    if task is None:
        return
    place = task.after
    rows = await service.storage.across(FOLLOWS, after=place, end=place[0], limit=AT_ONCE)
    is_wanted = False
    for subscriber in rows:
        try:
            is_wanted |= await service.write(subscriber.tenant, partial(inform, task=task))
        except (StorageUnavailable, Overloaded):
            raise  # the subscribers are informed when the store is back
        except Exception as failure:  # one subscriber's defect must not keep the others waiting
            on_failure(failure)
    if is_wanted and task.report is not None:
        await service.write(row.tenant, partial(request_speech, report_id=task.report.id))
    after = (rows[-1].tenant, rows[-1].document.id) if len(rows) == AT_ONCE else None
    await service.write(row.tenant, partial(following.advance, task=task, after=after))
