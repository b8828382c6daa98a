"""Makes one report: reads the evidence, composes without a transaction, publishes the result."""

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
    """Make and publish the report of a profile, of items published from `start` to `end`.

    Without both it covers the items read since the previous run of the schedule. If one is missing,
    the report starts with the first item, or ends now.

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
    """Compose the report of a profile, ready to be published.

    Raises:
        Problem: NOT_FOUND.
    """
    material = await service.read(tenant, lambda ctx: gather(ctx, profile_id, window))
    material = await likened(service, service.host, material)
    report = await anyio.to_thread.run_sync(compose, material, service.now())
    return await rewritten(service.host, material, report)
