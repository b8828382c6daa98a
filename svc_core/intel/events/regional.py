"""Queries OSINT events by area and time, as rows or as GeoJSON (Spec: Regional OSINT query)."""

from typing import Any

from attrs import evolve

from svc_core.contract import problem
from svc_core.contract.result import Page
from svc_core.intel.events import render
from svc_core.intel.events.model import ListRegional, OsintEvent
from svc_core.intel.events.operations import LISTING
from svc_core.intel.folding.read_declarations import osint
from svc_core.operation.context import Context
from svc_core.operation.declaration import GEOJSON, JSON, Operation
from svc_core.operation.period import requested_interval


async def list_regional_osint(ctx: Context, request: ListRegional) -> Page[OsintEvent]:
    """Events of an area (`bbox`) and a time (`datetime`), the latest first. With `format=geojson`
    or `Accept: application/geo+json` the page is a FeatureCollection (RFC 7946) whose `links` lead
    to the next one, as clients of OGC API Features expect. An event whose geometry is no point lies
    where the middle of the bounds of its first part is. Without `bbox` also events without
    coordinates are listed.

    Raises:
        Problem: CONFLICTING_PARAMETERS or INVALID_PARAMETER for a time that makes no sense.
    """
    span = requested_interval(request.datetime, request.since, request.until)
    page = await LISTING.page(ctx, evolve(request, datetime=span))
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
        media=(JSON, GEOJSON),
        fails=(problem.CONFLICTING_PARAMETERS,),
        timeless=True,
    ),
)
