"""The operations that list and read OSINT events of all providers."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from attrs import evolve, frozen

from svc_core.base.unset import UNSET, Unset
from svc_core.contract.result import Page, Single
from svc_core.intel.events import render
from svc_core.intel.events.model import OSINT_EVENTS, WORDS, IncludeRaw, ListEvents, OsintEvent
from svc_core.intel.events.rules import RULES
from svc_core.intel.folding.identity import survivor
from svc_core.intel.folding.read_declarations import osint
from svc_core.intel.folding.writing import strongest_of
from svc_core.operation.context import Context
from svc_core.operation.declaration import PATH, Operation
from svc_core.operation.members import ObservationId
from svc_core.search.lists import Listing, single_of
from svc_core.search.ranked_rows import SearchKind

LISTING = Listing(OSINT_EVENTS, rarest=("cell", "country", "type"))
_SHOWN = "getOsintEvent", "title", "type severity place.name", "obs"
EVENT_SEARCH: Final = SearchKind("event", Listing(OSINT_EVENTS, WORDS), *_SHOWN)


@frozen
class GetEvent:
    """One event."""

    event_id: Annotated[ObservationId, PATH]
    include: IncludeRaw = UNSET


# -- use cases ---------------------------------------------------------------------------------


async def list_osint_events(ctx: Context, request: ListEvents) -> Page[OsintEvent]:
    """Events of every provider of situation data: disasters, conflicts, unrest and more. The values
    of one filter are alternatives; different filters must all match. `bbox` selects events with
    coordinates, `datetime` events whose `occurredAt` is known; `updatedSince` excludes the instant
    itself. Rows without a value to sort by come last.
    """
    page = await LISTING.page(ctx, request)
    if isinstance(request.include, Unset):
        return page
    return evolve(page, rows=await _with_records(ctx, page.rows))


async def get_osint_event(ctx: Context, request: GetEvent) -> Single[OsintEvent]:
    """One event, as the lists and the change feed name it. Where several events
    turned out to be one, all their ids answer with that one.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await ctx.load(OSINT_EVENTS, await survivor(ctx, request.event_id))
    if isinstance(request.include, Unset):
        return Single(document.raw, document.tag)
    (raw,) = await _with_records(ctx, [document.raw])
    return single_of(document, raw)


async def _with_records(ctx: Context, rows: Sequence[bytes]) -> tuple[bytes, ...]:
    """The rows of events, each with the record that its strongest source published."""
    ids = list(map(render.event_id_of, rows))
    strongest = await strongest_of(ctx, RULES, ids)
    raws = (strongest[id_].raw if id_ in strongest else None for id_ in ids)
    return tuple(map(render.with_raw, rows, raws))


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    osint(
        "osint events",
        "/osint/events",
        list_osint_events,
        columns=("id", "title", "occurredAt", "severity", "provider", "type"),
        summary="List OSINT events",
        timeless=True,
    ),
    osint(
        "osint event",
        "/osint/events/{eventId}",
        get_osint_event,
        summary="Read an OSINT event",
        timeless=True,
    ),
)
