"""The operations that list and read OSINT events of all providers."""

from typing import Annotated, Any, Literal

from attrs import evolve, frozen

from svc_core.base.instants import Interval
from svc_core.base.unset import UNSET, Maybe, Unset, or_default
from svc_core.contract.result import Page, Single
from svc_core.intel.events import render
from svc_core.intel.events.model import CONFIDENCE_STEPS, OSINT_EVENTS, Categories, OsintEvent
from svc_core.intel.events.rules import RULES
from svc_core.intel.folding.identity import survivor
from svc_core.intel.folding.read_declarations import osint
from svc_core.intel.folding.writing import strongest_of
from svc_core.operation.context import Context
from svc_core.operation.declaration import PATH, QUERY, Operation
from svc_core.operation.filters import (
    Countries,
    FilterValues,
    MinConfidence,
    MinSeverity,
    Providers,
    Range,
    Types,
    at_least,
    present_ranges,
    sent_filters,
)
from svc_core.operation.members import Cursor, Limit, ObservationId
from svc_core.operation.period import (
    ALL_TIMES,
    AreaFilter,
    TimeFilter,
    UpdatedSince,
    box_bounds,
    cell_filter,
    range_after,
    time_bounds,
)
from svc_core.operation.source_members import SEVERITIES, Severity
from svc_core.wire.constraints import Doc, Example, MaxLen

Include = Annotated[
    Maybe[tuple[Literal["raw"], ...]],
    QUERY,
    MaxLen(1),
    Doc("`raw`: with the record that the strongest source of the event published."),
]
Sort = Literal["occurredAt", "updatedAt", "severity"]

_ORDERS = {"updatedAt": "updated", "severity": "gravity"}


# -- requests ----------------------------------------------------------------------------------


@frozen
class ListEvents:
    """Events of every provider."""

    provider: Providers = UNSET
    type: Types = UNSET
    category: Categories = UNSET
    country: Countries = UNSET
    severity: Annotated[
        FilterValues[Severity], Doc("Comma list of severities."), Example(["high", "critical"])
    ] = UNSET
    min_severity: MinSeverity = UNSET
    min_confidence: MinConfidence = UNSET
    bbox: AreaFilter = UNSET
    datetime: TimeFilter = UNSET
    updated_since: UpdatedSince = UNSET
    sort: Annotated[Sort, QUERY, Doc("What comes first: the latest, or the gravest.")] = (
        "occurredAt"
    )
    include: Include = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class GetEvent:
    """One event."""

    event_id: Annotated[ObservationId, PATH]
    include: Include = UNSET


# -- rules -------------------------------------------------------------------------------------


def severity_filter(
    severities: Maybe[tuple[Severity, ...]], least: Maybe[Severity]
) -> Maybe[tuple[Severity, ...]]:
    """The severities that two filters allow together: a list of severities, and a least one."""
    if isinstance(least, Unset):
        return severities
    upper = SEVERITIES[SEVERITIES.index(least) :]
    return tuple(severity for severity in or_default(severities, upper) if severity in upper)


async def event_page(
    ctx: Context, request: Any, span: Interval, *, order: str | None = None, **ranges: Range | None
) -> Page[OsintEvent]:
    """A page of the events that match the filters of a request; absent filters match all."""
    edges = time_bounds(span)
    if span != ALL_TIMES:
        # The order is bounded as well, so that the scan begins where the time span ends.
        ranges["occurred"] = (edges["start"], edges["end"])
    return await ctx.page(
        OSINT_EVENTS,
        # The store scans the index of the first filter here, so the most selective come first.
        where={
            "cell": cell_filter(request.bbox),
            **sent_filters(request, "country", "type", "provider", "category"),
            "severity": severity_filter(getattr(request, "severity", UNSET), request.min_severity),
        },
        order=order,
        after=request.cursor,
        limit=request.limit,
        **(edges | {"ranges": present_ranges(**ranges), "box": box_bounds(request.bbox)}),
    )


# -- use cases ---------------------------------------------------------------------------------


async def list_osint_events(ctx: Context, request: ListEvents) -> Page[OsintEvent]:
    """A page of events."""
    page = await event_page(
        ctx,
        request,
        or_default(request.datetime, ALL_TIMES),
        order=_ORDERS.get(request.sort),
        updated=range_after(request.updated_since),
        confidence=at_least(request.min_confidence, CONFIDENCE_STEPS),
    )
    if isinstance(request.include, Unset):
        return page
    ids = [render.event_id_of(row) for row in page.rows]
    strongest = await strongest_of(ctx, RULES, ids)
    raws = [strongest[id_].raw if id_ in strongest else None for id_ in ids]
    return evolve(page, rows=tuple(map(render.with_raw, page.rows, raws)))


async def get_osint_event(ctx: Context, request: GetEvent) -> Single[OsintEvent]:
    """One event; the id of one that another took up names that other.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await ctx.load(OSINT_EVENTS, await survivor(ctx, request.event_id))
    if isinstance(request.include, Unset):
        return Single(document.raw, document.tag)
    strongest = (await strongest_of(ctx, RULES, [document.id])).get(document.id)
    # The published record may change in members that the row does not show, so the tag has its
    # digest too.
    tag = (*document.tag, 0 if strongest is None else strongest.digest)
    return Single(render.with_raw(document.raw, strongest and strongest.raw), tag)


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    osint(
        "osint events",
        "/osint/events",
        list_osint_events,
        columns=("id", "title", "occurredAt", "severity", "provider", "type"),
        summary="List OSINT events",
        description=(
            "Events of every provider of situation data: disasters, conflicts, unrest and more. "
            "The values of one filter are alternatives; different filters must all match. "
            "`bbox` has only events with coordinates, `datetime` only those whose `occurredAt` is "
            "known, and of `updatedSince` the instant itself is not included. Rows without what "
            "they are sorted by come last."
        ),
        timeless=True,
    ),
    osint(
        "osint event",
        "/osint/events/{eventId}",
        get_osint_event,
        summary="Read an OSINT event",
        description=(
            "One event, as the lists and the change feed name it. The id of an event that turned "
            "out to be another one answers with that other, under its own `id`."
        ),
        timeless=True,
    ),
)
