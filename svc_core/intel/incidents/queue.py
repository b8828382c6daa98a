"""Queues incidents to be folded again: those that a row belongs to, before and after each write.

They are queued in `INCIDENTS_DUE` by the unit of work that writes the row, so none is missed.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from svc_core.base import ids
from svc_core.formats.model import Record
from svc_core.intel.entities.vulnerability import Cve
from svc_core.intel.events.model import OSINT_EVENTS, home_incident
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.kind import RowChange
from svc_core.intel.folding.model import Source
from svc_core.intel.incidents.model import INCIDENTS, INCIDENTS_DUE, IncidentDue
from svc_core.operation.context import Context

EXPOSED_MAX = 500
"""Incidents of the vulnerabilities of one unit that are folded again at once."""


async def note_incident(ctx: Context, incidents: Iterable[str]) -> None:
    """Queue these incidents to be folded again."""
    for id_ in sorted(set(incidents)):
        await ctx.save(INCIDENTS_DUE, id_, IncidentDue(id_, ctx.now))


# -- events ------------------------------------------------------------------------------------


async def queue_event_incidents(ctx: Context, changes: Sequence[RowChange]) -> None:
    """Queue the incidents of written events."""
    rows = [row for change in changes for row in (change.before, change.after) if row is not None]
    keys = (row.incident_id for row in rows if row.incident_id)
    await note_incident(ctx, {*keys, *map(home_incident, rows)})


# -- news --------------------------------------------------------------------------------------


async def queue_story_incidents(ctx: Context, changes: Sequence[RowChange]) -> None:
    """Queue the incidents of the stories of written news items."""
    rows = (row for change in changes for row in (change.before, change.after) if row is not None)
    await note_incident(ctx, (row.story_id for row in rows if row.story_id is not None))


# -- vulnerabilities ---------------------------------------------------------------------------


async def queue_exposed_incidents(ctx: Context, changes: Sequence[RowChange]) -> None:
    """Queue the incidents of vulnerabilities whose entry in KEV or score changed."""
    names = [
        (change.after or change.before).id
        for change in changes
        if _exposure(change.before) != _exposure(change.after)
    ]
    rows = ctx.every(INCIDENTS, EXPOSED_MAX, where={"entity": tuple(names)})
    await note_incident(ctx, [row.id async for row in rows] if names else ())


def _exposure(cve: Cve | None) -> Any:
    return cve and (cve.entry, cve.score)


# -- what makes no rows of its own -------------------------------------------------------------


def mention_row(key: str) -> str:
    """The row under which mentions of one event are stored, by the event's or a mention's key."""
    return ids.derived_id("obs", "mention", "", key.partition("|")[0])


def mention_of(_: Source, record: Record) -> str:
    """The row under which a record that mentions an event is stored."""
    return mention_row(record.key)


async def follow_reports(ctx: Context, claims: Sequence[Contribution]) -> None:
    """Queue the incidents that written reports are about."""
    await note_incident(ctx, (claim.row for claim in claims))


async def follow_mentions(ctx: Context, claims: Sequence[Contribution]) -> None:
    """Queue the incidents of events that written mentions are about."""
    keys = {claim.key.partition("|")[0] for claim in claims}
    rows = [ids.derived_id("obs", "osintEvent", "", key) for key in keys]
    events = await ctx.find_many(OSINT_EVENTS, rows)
    await note_incident(ctx, (event.incident_id for event in events.values() if event.incident_id))
