"""Makes scheduled reports when they are due.

Rule 1: the report and the next run are written in one unit of work, which checks that the due row
        is the one that was read: two workers never make the same report, and one that is killed
        leaves either none or a whole one with its next run.
Rule 2: a scheduled report covers the items read since the previous one, up to a run of the
        schedule. One report covers all runs that were missed.
Rule 3: a run waits until every item read before its end has been written.
"""

from datetime import datetime

import anyio

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import Overloaded, StorageUnavailable, StoredRow, TenantRow
from svc_core.reports.composition import SETTLING, Window, postpone, settle_run
from svc_core.reports.model import ReportRow
from svc_core.reports.profiles.model import DUE, Due
from svc_core.reports.profiles.operations import pass_over, report_end
from svc_core.reports.report_runs import compose_report
from svc_http.service.service_units import Service
from svc_http.service.workers.due_queue import DueQueue, RowKey, row_key

ROUND_SECONDS = 5.0
"""How often due profiles are searched."""

ROUND_PROFILES_MAX = 64
"""Profiles of one round."""


async def schedule_loop(service: Service, *, round_seconds: float = ROUND_SECONDS) -> None:
    """Make due reports for ever; it ends when it is cancelled.

    Raises:
        ExceptionGroup: some reports could not be made; the others of the round were.
    """
    queue = DueQueue(service, DUE)
    while True:
        if not await run_due(service, queue):
            await anyio.sleep(round_seconds)


async def run_due(service: Service, queue: DueQueue[Due] | None = None) -> tuple[ReportRow, ...]:
    """Make the reports that are due now, one after another; return those that were published.

    Workspaces take turns, which the `queue` remembers from round to round.

    Raises:
        ExceptionGroup: some could not be made; the others were.
        StorageUnavailable, Overloaded: the store does not answer; what is left stays due.
    """
    queue = queue or DueQueue(service, DUE)
    queue.is_shuffled = False
    ready = service.now() - SETTLING
    reports: list[ReportRow] = []
    failures: list[Exception] = []
    tried: set[RowKey] = set()
    while len(tried) < ROUND_PROFILES_MAX:
        row = await queue.take(tried, end=micros(ready))
        if row is None:
            break
        tried.add(row_key(row))
        try:
            report = await _run(service, row, ready)
            if report is not None:
                reports.append(report)
            else:
                queue.is_shuffled = True  # another worker was first
        except (StorageUnavailable, Overloaded):
            raise  # no profile's fault: it is due as soon as the store is back
        except Exception as failure:  # one profile's defect must not keep the others waiting
            await _put_off(service, row)
            failures.append(failure)
    if failures:
        raise ExceptionGroup("reports that could not be made", failures)
    return tuple(reports)


async def _run(service: Service, row: TenantRow[Due], ready: datetime) -> ReportRow | None:
    """Make one report; None where there is none to make, or another worker was first."""
    due = DUE.decode(row.document.raw)
    try:
        end, is_ours = await service.read(row.tenant, lambda ctx: _end(ctx, row.document, ready))
        if not is_ours:
            return None
        if end is None:
            await service.write(
                row.tenant, lambda ctx: pass_over(ctx, due.profile_id, row.document, ready)
            )
            return None
        window = Window(end, due.covered_until, "taken")
        report = await compose_report(service, row.tenant, due.profile_id, window)
        return await service.write(row.tenant, lambda ctx: settle_run(ctx, report, row.document))
    except Problem as refusal:
        if refusal.type is not problem.NOT_FOUND:
            raise
        return None  # the profile was deleted meanwhile


async def _end(ctx: Context, row: StoredRow[Due], ready: datetime) -> tuple[datetime | None, bool]:
    """The end of the due report, and whether its row is unchanged since it was read."""
    due = await ctx.if_unchanged(DUE, row)
    return (None, False) if due is None else (await report_end(ctx, due, ready), True)


async def _put_off(service: Service, row: TenantRow[Due]) -> None:
    profile_id = DUE.decode(row.document.raw).profile_id
    await service.write(row.tenant, lambda ctx: postpone(ctx, profile_id, row.document))
