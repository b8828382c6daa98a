"""Queries OSINT events by area and time, as rows or as GeoJSON (Spec: Regional OSINT query)."""

from typing import Any

from attrs import evolve, frozen

from svc_core.base.unset import UNSET
from svc_core.contract import problem
from svc_core.contract.result import Page
from svc_core.intel.events import render
from svc_core.intel.events.model import OsintEvent
from svc_core.intel.events.operations import event_page
from svc_core.intel.folding.read_declarations import osint
from svc_core.operation.context import Context
from svc_core.operation.declaration import GEOJSON, JSON, Operation
from svc_core.operation.filters import Countries, MinSeverity, Providers, Types
from svc_core.operation.members import Cursor, Limit
from svc_core.operation.period import AreaFilter, Since, TimeFilter, Until, requested_interval


@frozen
class ListRegional:
    """Events of an area and a time, the latest first."""

    bbox: AreaFilter = UNSET
    datetime: TimeFilter = UNSET
    since: Since = UNSET
    until: Until = UNSET
    provider: Providers = UNSET
    type: Types = UNSET
    country: Countries = UNSET
    min_severity: MinSeverity = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


async def list_regional_osint(ctx: Context, request: ListRegional) -> Page[OsintEvent]:
    """A page of events; as features where that is asked for.

    Raises:
        Problem: CONFLICTING_PARAMETERS or INVALID_PARAMETER for a time that makes no sense.
    """
    span = requested_interval(request.datetime, request.since, request.until)
    page = await event_page(ctx, request, span)
    if ctx.format != GEOJSON.format:
        return page
    return evolve(page, rows=tuple(map(render.feature, page.rows)))


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    osint(
        "osint regional",
        "/osint/regional",
        list_regional_osint,
        columns=("id", "title", "occurredAt", "severity", "place.name", "place.countryCode"),
        summary="Query OSINT events by area and time",
        description=(
            "Events of an area (`bbox`) and a time (`datetime`), the latest first. With "
            "`format=geojson` or `Accept: application/geo+json` the page is a FeatureCollection "
            "(RFC 7946) whose `links` lead to the next one, as clients of OGC API Features "
            "expect. An event whose geometry is no point lies where the middle of the bounds of "
            "its first part is. Without `bbox` also events without coordinates are listed."
        ),
        media=(JSON, GEOJSON),
        fails=(problem.CONFLICTING_PARAMETERS,),
        timeless=True,
    ),
)
