"""The events of all providers in one list, and one of them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from attrs import evolve, frozen

from svc_core.boxes import Box
from svc_core.constraints import Doc, Example, Ge, Le, MaxLen, Pattern
from svc_core.instants import Interval
from svc_core.intake.taking import strongest_of, survivor
from svc_core.operation import PATH, QUERY, Context, Operation
from svc_core.osint import render
from svc_core.ports import Bounds
from svc_core.resources.facts import SEVERITIES, Severity
from svc_core.resources.members import Cursor, Limit, ObservationId, micros
from svc_core.resources.osint import CONFIDENCE_STEPS, OSINT_EVENTS, Category, OsintEvent
from svc_core.resources.period import ALL_TIMES, Area, UpdatedSince, When, after, cells, lying
from svc_core.result import One, Page
from svc_core.unset import UNSET, Maybe, Unset, given

READ = frozenset({"osint:read"})
VALUES_MAX = 50  # of one filter: each is a walk of its own

Where = Mapping[str, Maybe[tuple[str, ...]]]

Providers = Annotated[
    Maybe[tuple[Annotated[str, Pattern("[a-z][a-z0-9-]{0,39}", "a provider such as usgs")], ...]],
    QUERY,
    MaxLen(VALUES_MAX),
    Doc("Comma list of providers."),
    Example(["usgs", "gdacs"]),
]
Types = Annotated[
    Maybe[tuple[Annotated[str, Pattern("[A-Za-z0-9-]{1,64}", "a type of event")], ...]],
    QUERY,
    MaxLen(VALUES_MAX),
    Doc("Comma list of types."),
    Example(["earthquake", "flood"]),
]
Countries = Annotated[
    Maybe[tuple[Annotated[str, Pattern("[A-Za-z]{2}", "an ISO 3166-1 alpha-2 code")], ...]],
    QUERY,
    MaxLen(VALUES_MAX),
    Doc("Comma list of ISO 3166-1 alpha-2 codes."),
    Example(["EC", "CL"]),
]
MinSeverity = Annotated[
    Maybe[Severity], QUERY, Doc("Only what is at least as grave."), Example("medium")
]
Include = Annotated[
    Maybe[tuple[Literal["raw"], ...]],
    QUERY,
    MaxLen(1),
    Doc("`raw`: with the record that the strongest source of the event published."),
]
Sort = Literal["occurredAt", "updatedAt", "severity"]

_ORDERS: Mapping[Sort, str | None] = {
    "occurredAt": None,
    "updatedAt": "updated",
    "severity": "gravity",
}


# -- requests ----------------------------------------------------------------------------------


@frozen
class ListEvents:
    """Events of every provider."""

    provider: Providers = UNSET
    type: Types = UNSET
    category: Annotated[
        Maybe[tuple[Category, ...]],
        QUERY,
        MaxLen(VALUES_MAX),
        Doc("Comma list of categories."),
        Example(["disaster", "conflict"]),
    ] = UNSET
    country: Countries = UNSET
    severity: Annotated[
        Maybe[tuple[Severity, ...]],
        QUERY,
        MaxLen(VALUES_MAX),
        Doc("Comma list of severities."),
        Example(["high", "critical"]),
    ] = UNSET
    min_severity: MinSeverity = UNSET
    min_confidence: Annotated[
        Maybe[float], QUERY, Ge(0), Le(1), Doc("Only what is at least as certain."), Example(0.5)
    ] = UNSET
    bbox: Area = UNSET
    datetime: When = UNSET
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


def upper(codes: Maybe[tuple[str, ...]]) -> Maybe[tuple[str, ...]]:
    """Country codes as rows have them."""
    return codes if isinstance(codes, Unset) else tuple(code.upper() for code in codes)


def grave(
    chosen: Maybe[tuple[Severity, ...]], least: Maybe[Severity]
) -> Maybe[tuple[Severity, ...]]:
    """The severities that are meant by both filters."""
    if isinstance(least, Unset):
        return chosen
    enough = SEVERITIES[SEVERITIES.index(least) :]
    return tuple(one for one in given(chosen, enough) if one in enough)


def happening(span: Interval, area: Maybe[Box]) -> Bounds:
    """The bounds of events of a time and an area; of all times also those without one."""
    box = lying(area)
    if span == ALL_TIMES:
        return {"box": box}
    low = None if span.start is None else micros(span.start)
    high = None if span.end is None else micros(span.end)
    # The order is bounded as well, so that the walk begins where the time ends.
    return {"start": low, "end": high, "ranges": {"occurred": (low, high)}, "box": box}


def _bounds(request: ListEvents) -> Bounds:
    bounds = happening(given(request.datetime, ALL_TIMES), request.bbox)
    ranges = dict(bounds.get("ranges") or {})
    recorded = after(request.updated_since)
    if recorded is not None:
        ranges["updated"] = recorded
    if not isinstance(request.min_confidence, Unset):
        ranges["confidence"] = (round(request.min_confidence * CONFIDENCE_STEPS), None)
    return {**bounds, "ranges": ranges}


# -- use cases ---------------------------------------------------------------------------------


async def list_events(ctx: Context, request: ListEvents) -> Page[OsintEvent]:
    """A page of events."""
    page = await ctx.page(
        OSINT_EVENTS,
        # Of filters that many rows have, the first is walked.
        where={
            "cell": cells(request.bbox),
            "country": upper(request.country),
            "type": request.type,
            "provider": request.provider,
            "category": request.category,
            "severity": grave(request.severity, request.min_severity),
        },
        order=_ORDERS[request.sort],
        after=request.cursor,
        limit=request.limit,
        **_bounds(request),
    )
    if isinstance(request.include, Unset):
        return page
    ids = [render.id_of(row) for row in page.rows]
    told = await strongest_of(ctx, "osintEvent", ids)
    raws = [told[id_].raw if id_ in told else None for id_ in ids]
    return evolve(page, rows=tuple(map(render.with_raw, page.rows, raws)))


async def get_event(ctx: Context, request: GetEvent) -> One[OsintEvent]:
    """One event; the id of one that another took up names that other.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await ctx.load(OSINT_EVENTS, await survivor(ctx, request.event_id))
    if isinstance(request.include, Unset):
        return One(document.raw, document.tag)
    told = (await strongest_of(ctx, "osintEvent", [document.id])).get(document.id)
    # What a source published may change in what the row does not tell.
    tag = (*document.tag, 0 if told is None else told.digest)
    return One(render.with_raw(document.raw, told and told.raw), tag)


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        id="listOsintEvents",
        group="osint",
        tag="OSINT",
        verb="events",
        columns=("id", "title", "occurredAt", "severity", "provider", "type"),
        method="GET",
        path="/osint/events",
        summary="List OSINT events",
        description=(
            "Events of every provider of situation data: disasters, conflicts, unrest and more. "
            "The values of one filter are alternatives; different filters must all match. "
            "`bbox` has only events with coordinates, `datetime` only those whose `occurredAt` is "
            "known, and of `updatedSince` the instant itself is not included. Rows without what "
            "they are sorted by come last."
        ),
        request=ListEvents,
        response=Page[OsintEvent],
        run=list_events,
        scopes=READ,
        timeless=True,
    ),
    Operation(
        id="getOsintEvent",
        group="osint",
        tag="OSINT",
        verb="event",
        method="GET",
        path="/osint/events/{eventId}",
        summary="Read an OSINT event",
        description=(
            "One event, as the lists and the change feed name it. The id of an event that turned "
            "out to be another one answers with that other, under its own `id`."
        ),
        request=GetEvent,
        response=One[OsintEvent],
        run=get_event,
        scopes=READ,
        timeless=True,
    ),
)
