"""The operations on incidents: list them, and read one with its area, track and articles."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final

from attrs import evolve, frozen

from svc_core import wire
from svc_core.base.unset import UNSET, Maybe, or_default
from svc_core.contract.result import Page, Single
from svc_core.intel.entities import directory
from svc_core.intel.events.rules import RULES
from svc_core.intel.folding.identity import contributions_of
from svc_core.intel.folding.read_declarations import SHARED, reading
from svc_core.intel.folding.rules import strongest_contribution
from svc_core.intel.folding.writing import by_row
from svc_core.intel.incidents.incident_signals import signals_about
from svc_core.intel.incidents.model import INCIDENTS, WORDS, Extra, Incident, ListIncidents
from svc_core.intel.news.model import NEWS
from svc_core.intel.news.operations import with_entities
from svc_core.operation.context import Context
from svc_core.operation.declaration import PATH, QUERY, Operation
from svc_core.operation.members import IncidentId
from svc_core.search.lists import Listing, single_of
from svc_core.search.ranked_rows import SearchKind
from svc_core.wire.constraints import Example, MaxLen

Row = Mapping[str, Any]
ARTICLES_MAX = 20
EVENTS_READ = 20  # for footprints and tracks, of the strongest members


# -- requests ----------------------------------------------------------------------------------


@frozen
class GetIncident:
    """One incident."""

    incident_id: Annotated[IncidentId, PATH]
    include: Annotated[Maybe[tuple[Extra, ...]], QUERY, MaxLen(3), Example(["track"])] = UNSET
    """`footprint`: the area; `track`: where it was when; `articles`: up to 20 items."""


# -- use cases ---------------------------------------------------------------------------------


async def current_incidents(ctx: Context, rows: Sequence[bytes]) -> tuple[bytes, ...]:
    """Rows of incidents with the entities that they name and the signals about them, as of now."""
    incidents = [json.loads(row) for row in rows]
    await directory.name_participants(ctx, incidents, "reference")
    about = await signals_about(ctx, incidents)
    return tuple(wire.to_bytes(row | {"signalIds": about.get(row["id"], [])}) for row in incidents)


LISTING = Listing(
    INCIDENTS,
    WORDS,
    look_ups={"entity": directory.entity_references},
    rarest=("cell", "country"),
    complete=current_incidents,
)
_SHOWN = "getIncident", "title", "category severity status", "inc"
INCIDENT_SEARCH: Final = SearchKind("incident", LISTING, *_SHOWN)


async def list_incidents(ctx: Context, request: ListIncidents) -> Page[Incident]:
    """What happened: each incident once, however many providers, publishers and rows report it. The
    values of one filter are alternatives; different filters must all match. `datetime` filters by
    `startedAt`; `bbox` selects incidents with coordinates. Rows without a value to sort by come
    last.
    """
    page = await LISTING.page(ctx, request)
    return evolve(page, rows=await _with_extras(ctx, page.rows, request.include))


async def get_incident(ctx: Context, request: GetIncident) -> Single[Incident]:
    """One incident. Where several incidents turned out to be one, all their ids answer with that
    one; `mergedIds` lists them.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await ctx.load_by_key(INCIDENTS, request.incident_id)
    rows = await current_incidents(ctx, [document.raw])
    (raw,) = await _with_extras(ctx, rows, request.include)
    return single_of(document, raw)


# -- what is added -----------------------------------------------------------------------------


async def _with_extras(
    ctx: Context, rows: Sequence[bytes], include: Maybe[Sequence[str]]
) -> tuple[bytes, ...]:
    """Rows of incidents with the members that are looked up where these are asked for."""
    for name, make in _EXTRAS.items():
        if name in or_default(include, ()):
            parts = [await make(ctx, json.loads(row)) for row in rows]
            pairs = zip(rows, parts, strict=True)
            rows = [b'%b,"%b":%b}' % (row[:-1], name.encode(), part) for row, part in pairs]
    return tuple(rows)


async def _strongest_member(ctx: Context, row: Row, member: str) -> bytes:
    """One member of its events, by the strongest source that states it; `null` where none does."""
    events = row["observationIds"][:EVENTS_READ]
    claims = by_row((await contributions_of(ctx, events)).values())
    for id_ in events:
        candidates = [c for c in claims.get(id_, ()) if c.said.get(member) and not c.gone]
        if candidates:
            return wire.to_bytes(strongest_contribution(RULES, candidates).said[member])
    return b"null"


async def _articles(ctx: Context, row: Row) -> bytes:
    stories = (row["id"], *row["mergedIds"])
    items = await ctx.tx.documents.scan(NEWS, where={"story": stories}, limit=ARTICLES_MAX)
    articles = await with_entities(ctx, [item.raw for item in items.rows])
    return b"[%b]" % b",".join(articles)


_EXTRAS: Mapping[Extra, Callable[[Context, Row], Awaitable[bytes]]] = {
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
    ),
    reading(
        "incidents show",
        "/incidents/{incidentId}",
        get_incident,
        scopes=SHARED,
        summary="Read an incident",
    ),
)
