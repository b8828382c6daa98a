"""The operations on incidents: list them, and read one with its area, track and articles."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Annotated, Any, Literal

from attrs import evolve, frozen

from svc_core import wire
from svc_core.base.unset import UNSET, Maybe, Unset, or_default
from svc_core.contract.result import Page, Single
from svc_core.intel.entities import directory
from svc_core.intel.events.model import CONFIDENCE_STEPS, Categories
from svc_core.intel.events.rules import RULES
from svc_core.intel.folding.identity import contributions_of
from svc_core.intel.folding.read_declarations import SHARED, reading
from svc_core.intel.folding.rules import strongest_contribution
from svc_core.intel.folding.writing import by_row
from svc_core.intel.incidents.incident_signals import signals_about
from svc_core.intel.incidents.model import INCIDENTS, WORDS, Incident, Status
from svc_core.intel.news.model import NEWS, mentions, with_all_members
from svc_core.operation.context import Context
from svc_core.operation.declaration import PATH, QUERY, Operation
from svc_core.operation.filters import (
    Countries,
    FilterValues,
    MinConfidence,
    MinSeverity,
    Providers,
    at_least,
    present_ranges,
    sent_filters,
)
from svc_core.operation.members import Cursor, EntityId, IncidentId, Limit
from svc_core.operation.period import (
    AreaFilter,
    TimeFilter,
    UpdatedSince,
    box_bounds,
    cell_filter,
    range_after,
    time_bounds,
)
from svc_core.operation.source_members import SEVERITIES
from svc_core.search import lists
from svc_core.wire.constraints import Doc, Example, Ge, MaxLen

ARTICLES_MAX = 20
EVENTS_READ = 20  # for footprints and tracks, of the strongest members

Include = Literal["footprint", "track", "articles"]
_ORDERS = {"startedAt": "started", "severity": "gravity", "updatedAt": "updated"}


# -- requests ----------------------------------------------------------------------------------


@frozen
class ListIncidents:
    """Incidents of every kind."""

    category: Categories = UNSET
    status: Annotated[FilterValues[Status], Doc("Statuses."), Example(["emerging", "active"])] = (
        UNSET
    )
    min_severity: MinSeverity = UNSET
    min_confidence: MinConfidence = UNSET
    entity_id: Annotated[FilterValues[EntityId], Doc("Comma list of entities that take part.")] = (
        UNSET
    )
    provider: Providers = UNSET
    min_sources: Annotated[Maybe[int], QUERY, Ge(1), Doc("Publishers at least.")] = UNSET
    country: Countries = UNSET
    bbox: AreaFilter = UNSET
    datetime: TimeFilter = UNSET
    updated_since: UpdatedSince = UNSET
    q: lists.Q = UNSET
    sort: Annotated[
        Maybe[Literal["lastSeenAt", "startedAt", "severity", "updatedAt"]],
        QUERY,
        Doc("What comes first: the latest, or the gravest."),
    ] = UNSET
    include: lists.Include = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class GetIncident:
    """One incident."""

    incident_id: Annotated[IncidentId, PATH]
    include: Annotated[
        Maybe[tuple[Include, ...]],
        QUERY,
        MaxLen(3),
        Doc("`footprint`: the area; `track`: where it was when; `articles`: up to 20 items."),
        Example(["track"]),
    ] = UNSET


# -- use cases ---------------------------------------------------------------------------------


async def list_incidents(ctx: Context, request: ListIncidents) -> Page[Incident]:
    """A page of incidents."""
    clause: dict[str, Maybe[tuple[str, ...]]] = {
        "cell": cell_filter(request.bbox),
        **sent_filters(request, "country", "category", "status", "provider"),
    }
    if not isinstance(request.min_severity, Unset):
        clause["severity"] = SEVERITIES[SEVERITIES.index(request.min_severity) :]
    if not isinstance(request.entity_id, Unset):
        clause["entity"] = await directory.entity_references(ctx, request.entity_id)
    span = time_bounds(request.datetime)
    query = lists.RowQuery[Incident](
        where=clause,
        order=_ORDERS.get(or_default(request.sort, "")),
        is_sorted=not isinstance(request.sort, Unset),
        binding={"entity": or_default(request.entity_id, ())},
        bounds={
            "ranges": present_ranges(
                updated=range_after(request.updated_since),
                confidence=at_least(request.min_confidence, CONFIDENCE_STEPS),
                publishers=at_least(request.min_sources),
                started=None
                if isinstance(request.datetime, Unset)
                else (span["start"], span["end"]),
            ),
            "box": box_bounds(request.bbox),
        },
    )
    page = await lists.list_page(ctx, INCIDENTS, WORDS, request, query)
    return evolve(page, rows=await current_incidents(ctx, page.rows))


async def current_incidents(ctx: Context, rows: Sequence[bytes]) -> tuple[bytes, ...]:
    """Rows of incidents with the entities that they name and the signals about them, as of now."""
    incidents = [json.loads(row) for row in rows]
    await directory.name_participants(ctx, incidents, "reference")
    about = await signals_about(ctx, incidents)
    return tuple(wire.to_bytes(row | {"signalIds": about.get(row["id"], [])}) for row in incidents)


async def get_incident(ctx: Context, request: GetIncident) -> Single[Incident]:
    """One incident; an id that it took up names it too.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await ctx.load_by_key(INCIDENTS, request.incident_id)
    row = INCIDENTS.decode(document.raw)
    extras = {name: await _EXTRAS[name](ctx, row) for name in or_default(request.include, ())}
    (raw,) = await current_incidents(ctx, [document.raw])
    raw = b"".join([raw[:-1], *(b',"%b":%b' % (n.encode(), v) for n, v in extras.items()), b"}"])
    # Entities, items and tracks may change where the row does not.
    return Single(raw, (*document.tag, sha256(raw).hexdigest()[:16]))


# -- what is added -----------------------------------------------------------------------------


async def _strongest_member(ctx: Context, row: Incident, member: str) -> bytes:
    """One member of its events, by the strongest source that states it; `null` where none does."""
    events = row.observation_ids[:EVENTS_READ]
    claims = by_row((await contributions_of(ctx, events)).values())
    for id_ in events:
        candidates = [c for c in claims.get(id_, ()) if c.said.get(member) and not c.gone]
        if candidates:
            return wire.to_bytes(strongest_contribution(RULES, candidates).said[member])
    return b"null"


async def _articles(ctx: Context, row: Incident) -> bytes:
    stories = tuple(row.keys)
    items = await ctx.tx.documents.scan(NEWS, where={"story": stories}, limit=ARTICLES_MAX)
    refs = [mentions(NEWS.decode(item.raw)) for item in items.rows]
    items_ = await directory.with_mentions(
        ctx, [with_all_members(item.raw) for item in items.rows], refs
    )
    return b"[%b]" % b",".join(items_)


_EXTRAS: Mapping[Include, Callable[[Context, Incident], Awaitable[bytes]]] = {
    "footprint": partial(_strongest_member, member="footprint"),
    "track": partial(_strongest_member, member="track"),
    "articles": _articles,
}


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "incidents list",
        "/incidents",
        list_incidents,
        scopes=SHARED,
        columns=("id", "title", "category", "status", "severity", "startedAt", "sourceCount"),
        summary="List incidents",
        description=(
            "What happened: each incident once, however many providers, publishers and rows tell "
            "of it. The values of one filter are alternatives; different filters must all match. "
            "`datetime` is about `startedAt`, `bbox` has only incidents with coordinates. Rows "
            "without what they are sorted by come last."
        ),
    ),
    reading(
        "incidents show",
        "/incidents/{incidentId}",
        get_incident,
        scopes=SHARED,
        summary="Read an incident",
        description=(
            "One incident. An id of an incident that turned out to be another one answers with "
            "that other, under its own `id`; `mergedIds` lists them."
        ),
    ),
)
