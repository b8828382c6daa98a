"""What stands out among values of indicators, and among events of one place."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from svc_core.analysis.deviation import apart, reached, spread
from svc_core.boxes import Box
from svc_core.intake.detectors import DETECTORS, Finding
from svc_core.intake.due import cell_of
from svc_core.operation import Context
from svc_core.resources.facts import Place
from svc_core.resources.finint import FININT, Indicator
from svc_core.resources.osint import OSINT_EVENTS, OsintEvent
from svc_core.resources.period import lying
from svc_core.resources.signal import (
    SignalEvidence,
    SignalWindow,
)

ROWS_MAX = 500  # of one cell
_HOUR = timedelta(hours=1)
_DIGITS = 4


# -- series of indicators ----------------------------------------------------------------------


async def of_series(ctx: Context, series: str) -> list[Finding]:
    """A newest value whose change is off the changes before it; the measure is by how much."""
    numbers = DETECTORS["indicatorSurprise"].numbers
    page = await ctx.tx.documents.scan(
        FININT, where={"series": (series,)}, limit=4 * numbers["samplesMax"]
    )
    newest: dict[str, Mapping[str, Any]] = {}
    for document in page.rows:  # of each period the newest vintage comes first
        told = json.loads(document.raw)
        newest.setdefault(told["period"], told)
    today = f"{ctx.now:%Y-%m-%d}"
    rows = [
        one
        for one in newest.values()
        if one["value"] is not None and one["status"] != "F" and one["periodStart"] <= today
    ]
    rows = rows[: numbers["samplesMax"] + 2]
    changes = [after["value"] - before["value"] for after, before in pairwise(rows)]
    if len(changes) <= numbers["samplesMin"]:
        return []
    usual = spread(changes[1:])
    z_score = usual.z_score(changes[0])
    threshold = reached(numbers["thresholds"], z_score)
    if z_score is None or threshold is None:
        return []
    row = FININT.decode(json.dumps(rows[0]).encode())
    return [_surprise(row, series, rows[1]["value"] + usual.mean, z_score, threshold)]


def _surprise(
    row: Indicator, series: str, expected: float, z_score: float, threshold: float
) -> Finding:
    start, end = (datetime.fromisoformat(f"{day}T00:00:00Z")
                  for day in (row.period_start, row.period_end))  # fmt: skip
    where = row.area.label or row.area.code
    return Finding(
        type="indicatorSurprise",
        key=f"{series}|{row.period}",
        title=f"{row.name}{f', {where}' if where else ''}: {row.value:g} in {row.period}",
        direction="up" if z_score > 0 else "down",
        measure=abs(z_score),
        evidence=SignalEvidence(
            row.value,
            round(expected, 6),
            round(z_score, _DIGITS),
            SignalWindow(start, end),
            threshold,
        ),
        detected_at=row.released_at or end,
        observation_ids=(row.id,),
        sources=row.sources,
        source_count=len({one.provider for one in row.sources}),
    )


# -- cells of the globe ------------------------------------------------------------------------


async def of_cell(ctx: Context, cell: str) -> list[Finding]:
    """Events of many types in one place and day, each of an article of its own.

    The measure is of how many types.
    """
    numbers = DETECTORS["convergence"].numbers
    west, south = map(int, cell.split(","))
    size = numbers["cellDegrees"]
    area = Box(west, south, west + size, south + size)
    page = await ctx.tx.documents.scan(
        OSINT_EVENTS, where={"cell": area.cells or ()}, box=lying(area), limit=ROWS_MAX
    )
    every = [OSINT_EVENTS.decode(row.raw) for row in page.rows]
    # The edges of a box belong to it; those in the north and east to the next cell.
    events = [one for one in every if cell_of(one) == cell and one.seen_at <= ctx.now]
    if not events:
        return []
    end = events[0].seen_at
    start = end - numbers["windowHours"] * _HOUR
    events = [one for one in events if one.seen_at > start]
    types = sorted(apart([(one.type, one.url or one.id) for one in events]))
    if len(types) < numbers["typesMin"]:
        return []
    return [_convergence(cell, events, types, SignalWindow(start, end))]


def _convergence(
    cell: str, events: Sequence[OsintEvent], types: Sequence[str], window: SignalWindow
) -> Finding:
    numbers = DETECTORS["convergence"].numbers
    west, south = map(int, cell.split(","))
    east, north = west + numbers["cellDegrees"], south + numbers["cellDegrees"]
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    countries = {one.place.country_code for one in events if one.place} - {None}
    place = Place(
        id=None,
        name=None,
        country_code=countries.pop() if len(countries) == 1 else None,
        admin1_code=None,
        geometry={"type": "Polygon", "coordinates": [ring]},
        precision="unknown",
    )
    refs = {ref.id: ref for one in events for ref in one.sources}
    return Finding(
        type="convergence",
        key=f"{cell}|{events[0].seen_at:%Y-%m-%d}",
        title=f"{len(types)} types of events within a degree: {', '.join(types[:5])}",
        measure=len(types),
        evidence=SignalEvidence(len(types), None, None, window, numbers["typesMin"]),
        detected_at=events[0].seen_at,
        place=place,
        sources=tuple(refs.values()),
        source_count=len({one.provider for one in events}),
        observation_ids=tuple(one.id for one in events),
        incident_ids=tuple(dict.fromkeys(one.incident_id for one in events if one.incident_id)),
    )
