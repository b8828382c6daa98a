"""Removes the reports of deleted profiles, and what is older than it is kept, in small units.

Each unit of work is whole, so any number of workers may do this, and one that is killed leaves the
rest to the next. A profile whose reports cannot be removed does not delay the others.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final, TypeVar

from svc_core.access import audit
from svc_core.agent import threads
from svc_core.agent.threads import THREADS
from svc_core.automations.model import OVER, RUNS
from svc_core.automations.run_queue import RUN_RETENTION, remove_runs
from svc_core.intel.intake.row_retention import ENDING, end_rows
from svc_core.operation.members import micros
from svc_core.operation.ports import Collection, TenantRow
from svc_core.reports.profiles.model import LEAVING, Leaving
from svc_core.reports.recordings import forget_reports
from svc_http.service.commits import Commits
from svc_http.service.service_units import OnFailure, Service
from svc_http.service.workers.due_queue import DueQueue, RowKey, row_key

T = TypeVar("T")

LOOK_SECONDS: Final = 30.0
"""How often due rows are read without a commit, for what other processes left."""
GATHER_SECONDS: Final = 0.1
ROUND_MAX: Final = 16
"""Due rows that are looked at for the next turn."""
REMOVED_MAX: Final = 200
"""Old rows that are removed in one round: some hundredths of a second of the writer."""


async def retention_loop(service: Service, commits: Commits, on_failure: OnFailure) -> None:
    """Remove the reports of deleted profiles for ever; it ends when it is cancelled."""
    work = partial(remove_orphan_reports, service, on_failure)
    await commits.rounds(work, look_seconds=LOOK_SECONDS, gather_seconds=GATHER_SECONDS)


async def remove_orphan_reports(service: Service, on_failure: OnFailure) -> None:
    """Remove the reports of every deleted profile; `on_failure` gets what could not be removed."""

    async def step(row: TenantRow[Leaving]) -> None:
        await service.write(row.tenant, partial(forget_reports, profile_id=row.document.id))

    await process_due(service, LEAVING, step, on_failure)


async def process_due(
    service: Service,
    collection: Collection[T],
    step: Callable[[TenantRow[T]], Awaitable[object]],
    on_failure: OnFailure,
) -> None:
    """Call `step` for the due rows of all tenants by turns, again and again until no row is due.

    A row whose step fails is left for the next call; `on_failure` gets the failure.
    """
    queue, broken = DueQueue(service, collection), set[RowKey]()
    while (row := await queue.take(broken, ROUND_MAX)) is not None:
        try:
            await step(row)
        except Exception as failure:  # what is broken of one must not stop the others
            broken.add(row_key(row))
            on_failure(failure)


async def forget_threads(service: Service) -> None:
    """Remove the conversations of every account that are older than the retention of the host."""
    age = service.host.thread_retention
    end = micros(service.now() - age) - 1
    while expired := await service.storage.across(THREADS, end=end, limit=ROUND_MAX):
        for row in expired:
            unit = partial(threads.forget_thread, id_=row.document.id, retention=age)
            while await service.write(row.tenant, unit):
                continue


async def forget_acts(service: Service) -> None:
    """Remove rows of the audit log that are older than the retention of the host."""
    for collection in audit.COLLECTIONS:
        remove = partial(audit.remove_acts, collection=collection)
        await remove_old(service, collection, service.host.audit_retention, remove)


async def forget_runs(service: Service, age: timedelta = RUN_RETENTION) -> int:
    """Remove the runs of automations that are over and older than this; return how many."""
    return await remove_old(service, RUNS, age, remove_runs, {"status": OVER})


async def forget_readings(service: Service) -> None:
    """End the news items and events that are older than the retention of the host."""
    for name in ENDING.keys() & service.host.retention.keys():
        await end_rows(service, name, service.host.retention[name])


async def remove_old(
    service: Service,
    collection: Collection[Any],
    age: timedelta,
    remove: Callable[..., Awaitable[None]],
    where: Mapping[str, tuple[str, ...]] | None = None,
) -> int:
    """Remove the rows of all tenants that are older than `age`, some in a unit; return how many.

    `remove` is called with a context and the `ids` of one tenant.
    """
    end, count = micros(service.now() - age) - 1, 0
    across = partial(service.storage.across, collection, end=end, where=where, limit=REMOVED_MAX)
    while expired := await across():
        ids: dict[str, list[str]] = {}
        for row in expired:
            ids.setdefault(row.tenant, []).append(row.document.id)
        for tenant, part in ids.items():
            await service.write(tenant, partial(remove, ids=part))
        count += len(expired)
    return count
