"""Makes one report: reads the evidence, composes without a transaction, publishes the result."""

from functools import partial

from svc_core.operation.units import Units
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


async def make_report(
    work: Units, tenant: str, profile_id: str, window: Window | None = None
) -> ReportRow:
    """Make and publish the report of a profile, of the items in a window.

    Without one it covers the items read since the previous run of the schedule.

    Raises:
        Problem: NOT_FOUND.
    """
    report = await compose_report(work, tenant, profile_id, window)
    return await work.write(tenant, partial(publish_report, report=report))


async def compose_report(
    work: Units, tenant: str, profile_id: str, window: Window | None
) -> ComposedReport:
    """Compose the report of a profile, ready to be published.

    Raises:
        Problem: NOT_FOUND.
    """
    material = await work.read(
        tenant, partial(gather_material, profile_id=profile_id, window=window)
    )
    material = await with_likeness(work, work.host, material)
    report = await work.aside(partial(compose, material, work.now()))
    return await rewrite_report(work.host, material, report)
