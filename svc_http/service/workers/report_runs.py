"""Makes one report: reads the evidence, composes without a transaction, publishes the result."""

from datetime import datetime

import anyio.to_thread

from svc_core.reports.composition import (
    ComposedReport,
    Window,
    compose,
    gather_material,
    publish_report,
)
from svc_core.reports.model import ReportRow
from svc_core.reports.rewrites import rewrite_report
from svc_core.reports.semantic_material import with_likeness
from svc_http.service.service_units import Service


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
    report = await compose_report(service, tenant, profile_id, window)
    return await service.write(tenant, lambda ctx: publish_report(ctx, report))


async def compose_report(
    service: Service, tenant: str, profile_id: str, window: Window | None
) -> ComposedReport:
    """Compose the report of a profile, ready to be published.

    Raises:
        Problem: NOT_FOUND.
    """
    material = await service.read(tenant, lambda ctx: gather_material(ctx, profile_id, window))
    material = await with_likeness(service, service.host, material)
    report = await anyio.to_thread.run_sync(compose, material, service.now())
    return await rewrite_report(service.host, material, report)
