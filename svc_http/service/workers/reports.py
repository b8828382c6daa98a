"""Makes a report: reads the evidence, composes without a transaction, writes the whole."""

from datetime import datetime

import anyio.to_thread

from svc_core.reports.likening import likened
from svc_core.reports.making import Finished, Window, compose, gather, publish
from svc_core.reports.model import ReportRow
from svc_core.reports.rewriting import rewritten
from svc_http.service.service import Service


async def make_report(
    service: Service,
    tenant: str,
    profile_id: str,
    *,
    start: datetime | None = None,
    end: datetime | None = None,
) -> ReportRow:
    """The report of a profile, from the items whose own dates lie from `start` to `end`.

    Without either it covers what was taken in since the run of the schedule before now; with one
    of them the other is open, which is the first item or now.

    Raises:
        Problem: NOT_FOUND.
    """
    window = None
    if start is not None or end is not None:
        window = Window(end or service.now(), start, "published")
    report = await composed(service, tenant, profile_id, window)
    return await service.write(tenant, lambda ctx: publish(ctx, report))


async def composed(
    service: Service, tenant: str, profile_id: str, window: Window | None
) -> Finished:
    """A report that is ready to be published.

    Raises:
        Problem: NOT_FOUND.
    """
    material = await service.read(tenant, lambda ctx: gather(ctx, profile_id, window))
    material = await likened(service, service.host, material)
    report = await anyio.to_thread.run_sync(compose, material, service.now())
    return await rewritten(service.host, material, report)
