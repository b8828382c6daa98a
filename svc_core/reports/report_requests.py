"""Makes reports on request, within the bounds of a workspace.

Rule 1: a workspace makes a few reports at once and some more in any hour, however many processes
        serve it: a request is written in the workspace's row before its report is composed.
Rule 2: composing holds no transaction; the report is written whole or not at all, and published
        like one of the schedule, which it does not move.
Rule 3: a request that its process did not live to end holds its place for `HELD_MAX` at most.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from math import ceil
from typing import Annotated, Any, Final

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Created
from svc_core.operation.context import Context
from svc_core.operation.declaration import BODY, PATH, Operation, Unit
from svc_core.operation.members import ProfileId
from svc_core.operation.ports import Collection
from svc_core.operation.units import WorkContext
from svc_core.reports.model import REPORTS, ReportRow
from svc_core.reports.profiles.model import FOLLOWS, PROFILES
from svc_core.reports.profiles.operations import PROFILE_ROWS
from svc_core.wire.constraints import Example

HELD_MAX: Final = timedelta(minutes=5)
"""Many times what a report takes, even where a model rewrites it."""
HOUR: Final = timedelta(hours=1)
YEARS: Final = range(1970, 2200)
"""In which a period may end: it may have to begin an interval of the schedule earlier."""
NEXT_SECONDS: Final = 5
"""When to come back while as many are being made as may be: most take less."""


# -- the bounds of a workspace -----------------------------------------------------------------


@frozen
class ReportRequest:
    """One request for a report; `until` is when it loses its place, None once it has ended."""

    id: str
    at: datetime
    until: datetime | None


@frozen
class ReportRequests:
    """The requests for reports of the last hour, in a workspace."""

    items: tuple[ReportRequest, ...] = ()


REPORT_REQUESTS: Collection[ReportRequests] = Collection(
    name="report_requests", model=ReportRequests, prefix="", order=lambda _: 0
)
"""One row a workspace."""
_ROW: Final = "now"


def admitted(
    items: Sequence[ReportRequest], item: ReportRequest, *, at_once: int, per_hour: int
) -> tuple[ReportRequest, ...]:
    """The requests that count from now on, with another one; `per_hour` of 0 bounds nothing.

    Raises:
        Problem: RATE_LIMITED, with the time until there is room.
    """
    now = item.at
    active = [other for other in items if other.until is not None and other.until > now]
    # A clock that was set back by more makes nobody wait for longer.
    hour = [other for other in items if abs(now - other.at) < HOUR]
    if len(active) >= at_once:
        detail = f"A workspace makes {at_once} reports at once, and they are being made."
        raise _later(detail, NEXT_SECONDS)
    if per_hour and len(hour) >= per_hour:
        end = sorted(other.at for other in hour)[-per_hour] + HOUR
        detail = f"A workspace makes {per_hour} reports an hour on request."
        raise _later(detail, min(ceil((end - now).total_seconds()), 3_600))
    return (*(other for other in items if other in active or (per_hour and other in hour)), item)


def _later(detail: str, seconds: int) -> Problem:
    step = "Wait for Retry-After, or read the profile's newest report: GET /reports?profileId=..."
    fields = {"Retry-After": str(seconds)}
    return Problem(problem.RATE_LIMITED, detail, fields, resolution=step)


async def _begin(ctx: Context, profile_id: str, item: ReportRequest) -> None:
    if await ctx.find(FOLLOWS, profile_id) is not None:
        raise problem.foreign_resource()
    await ctx.load(PROFILES, profile_id)
    row = await ctx.find(REPORT_REQUESTS, _ROW) or ReportRequests()
    at_once, per_hour = ctx.host.reports_at_once, ctx.host.reports_per_hour
    items = admitted(row.items, item, at_once=at_once, per_hour=per_hour)
    await ctx.save(REPORT_REQUESTS, _ROW, ReportRequests(items))


async def _end(ctx: Context, item: ReportRequest) -> None:
    row = await ctx.find(REPORT_REQUESTS, _ROW) or ReportRequests()
    ended = attrs.evolve(item, until=None)
    items = tuple(ended if other.id == item.id else other for other in row.items)
    await ctx.save(REPORT_REQUESTS, _ROW, ReportRequests(items))


# -- making one --------------------------------------------------------------------------------


@frozen
class ReportPeriod:
    """The time whose items a report covers, by their own dates; without any, up to now.

    An `end` without a `start` reaches back to the first item; a `start` without an `end` reaches
    to now.
    """

    start: datetime | None = None
    """Only items dated from then on."""
    end: datetime | None = None
    """Only items dated up to then."""


@frozen
class GenerateReport:
    """A report about a profile, now."""

    profile_id: Annotated[ProfileId, PATH]
    body: Annotated[ReportPeriod, BODY] = ReportPeriod()


@frozen
class MadeReport(ReportRow):
    """A report, and whether it was made now."""

    is_new: Annotated[bool, Example(True)] = True
    """False where it was there already."""


@asynccontextmanager
async def _composed(ctx: WorkContext, request: GenerateReport) -> AsyncIterator[Any]:
    """The report, ready to be published, while the request holds a place of its workspace."""
    from svc_core.reports import composition  # noqa: PLC0415 - loads what composes on first use
    from svc_core.reports.report_runs import compose_report  # noqa: PLC0415 - see above

    body, work, tenant, window = request.body, ctx.work, ctx.actor.tenant, None
    if body.start is not None and body.start >= (body.end or ctx.now):
        step = "Send a `start` that is before the `end`, or before now where there is no `end`."
        raise Problem(problem.VALIDATION_FAILED, "/start: must be before the end", resolution=step)
    if (body.end or ctx.now).year not in YEARS:
        step = f"Send an `end` between {YEARS[0]} and {YEARS[-1]}, or none."
        raise Problem(problem.VALIDATION_FAILED, "/end: no year of a report", resolution=step)
    if body.start is not None or body.end is not None:
        window = composition.Window(body.end or ctx.now, body.start, "published")
    item = ReportRequest(ctx.ids.random(8).hex(), ctx.now, ctx.now + HELD_MAX)
    await work.write(tenant, partial(_begin, profile_id=request.profile_id, item=item))
    try:
        async with work.turn(tenant):
            report = await compose_report(work, tenant, request.profile_id, window)
        yield report
    finally:
        await work.write(tenant, partial(_end, item=item))


async def generate_report(ctx: Context, request: GenerateReport) -> Created[MadeReport]:  # noqa: ARG001 - composed before
    """Covers one interval of the schedule (at least 48 hours) up to now, or the items dated in the
    period that is sent, and is announced like a report of the schedule, which stays as it is. Where
    it would only repeat a report that there is, that one is the answer and `isNew` is false. A
    workspace makes two at once and 20 an hour, unless the operator sets others; beyond that the
    answer is 429 with `Retry-After`.
    """
    from svc_core.reports.composition import store_report  # noqa: PLC0415 - see above

    row, is_new = await store_report(ctx, ctx.ahead)
    document, members = await ctx.load(REPORTS, row.id), wire.to_json(row)
    raw = wire.to_bytes({**members, "isNew": is_new})  # type: ignore[dict-item]
    return Created(raw, document.tag, str(REPORTS.address(row.id)))


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    PROFILE_ROWS.operation(
        "reports generate",
        "POST /profiles/{profileId}/reports",
        "Make a report now",
        generate_report,
        unit=Unit("write", prepared=_composed),
        idempotency="optional",
        target=None,
        examples={"body": {"start": "2026-01-24T00:00:00Z", "end": "2026-01-31T00:00:00Z"}},
    ),
)
