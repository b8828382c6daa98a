"""Finds outliers among the values of an indicator series, and among the events of one place."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from svc_core.base import instants
from svc_core.base.boxes import Box
from svc_core.formats.reading.values import place_id
from svc_core.intel.economy.indicator import FININT
from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.signals.detection_queue import cell_of
from svc_core.intel.signals.detectors import (
    DETECTORS,
    Judgement,
    signal_evidence,
    signal_id,
    signal_of,
)
from svc_core.intel.signals.deviation import highest_threshold, matched_names, spread
from svc_core.intel.signals.model import Signal
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.period import box_bounds
from svc_core.operation.source_members import Place

ROWS_MAX = 500  # of one cell
_HOUR = timedelta(hours=1)


# -- series of indicators ----------------------------------------------------------------------


async def series_signals(ctx: Context, series: str) -> Judgement:
    """The signals where a change of a series differs from its changes before.

    Those of the last days before its newest period, as older ones are over. The measure is the
    difference in standard deviations.
    """
    detector = DETECTORS["indicatorSurprise"]
    numbers = detector.numbers
    page = await ctx.tx.documents.scan(
        FININT, where={"series": (series,)}, limit=4 * numbers["samplesMax"]
    )
    newest: dict[str, Mapping[str, Any]] = {}
    for document in page.rows:  # of each period the newest vintage comes first
        members = json.loads(document.raw)
        newest.setdefault(members["period"], members)
    rows = [row for row in newest.values() if row["value"] is not None and row["status"] != "F"]
    ids = [signal_id(detector.type, f"{series}|{row['period']}") for row in newest.values()]
    ends = [date.fromisoformat(row["periodEnd"]) for row in rows]
    fresh = [end for end in ends if ends[0] - end < timedelta(hours=detector.hours)]
    chunks = (rows[at : at + numbers["samplesMax"] + 2] for at in range(len(fresh)))
    return Judgement([signal for chunk in chunks for signal in _surprise(series, chunk)], ids)


def _surprise(series: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[Signal]:
    """A signal where the change of the first of these values differs from the changes before."""
    numbers = DETECTORS["indicatorSurprise"].numbers
    changes = [after["value"] - before["value"] for after, before in pairwise(rows)]
    if len(changes) <= numbers["samplesMin"]:
        return
    usual = spread(changes[1:])
    z_score = usual.z_score(changes[0])
    threshold = highest_threshold(numbers["thresholds"], z_score)
    forecast = round(rows[1]["value"] + usual.mean, 6)
    figures = {f"{number:g}" for number in (rows[0]["value"], forecast)}
    if z_score is None or threshold is None or len(figures) == 1:
        return
    row = FININT.decode(json.dumps(rows[0]).encode())
    start, last = (datetime.fromisoformat(f"{day}T00:00:00Z")
                   for day in (row.period_start, row.period_end))  # fmt: skip
    end = row.released_at or last  # some values are known before their period is over
    area = row.area.label or row.area.code
    yield signal_of(
        "indicatorSurprise",
        f"{series}|{row.period}",
        f"{row.name}{f', {area}' if area else ''}: {row.value:g} in {row.period}",
        signal_evidence(
            rows[0]["value"], forecast, min(start, end), end,
            threshold=threshold, z_score=z_score,
        ),
        direction="up" if z_score > 0 else "down",
        measure=abs(z_score),
        observation_ids=(row.id,),
        sources=row.sources,
        source_count=len({source.provider for source in row.sources}),
    )  # fmt: skip


# -- cells of the globe ------------------------------------------------------------------------


async def cell_signals(ctx: Context, key: str) -> Judgement:
    """A signal where many types of events occur within one degree and one day (UTC), by both.

    Each counted type comes from an article of its own, so that one report does not count as
    several. The measure is the number of types.
    """
    cell, _, date_ = key.partition("|")
    numbers, ids = DETECTORS["convergence"].numbers, (signal_id("convergence", key),)
    west, south = map(int, cell.split(","))
    size = numbers["cellDegrees"]
    east, north = west + size, south + size
    area = Box(west, south, east, north)
    start = instants.parse(f"{date_}T00:00:00Z")
    span: Any = {"start": micros(start), "end": micros(start + numbers["windowHours"] * _HOUR) - 1}
    page = await ctx.tx.documents.scan(
        OSINT_EVENTS, where={"cell": area.cells or ()}, box=box_bounds(area), limit=ROWS_MAX, **span
    )
    rows = [OSINT_EVENTS.decode(row.raw) for row in page.rows]
    # The edges of a box belong to it; those in the north and east to the next cell.
    events = [event for event in rows if cell_of(event) == cell]
    types = sorted(matched_names([(event.type, event.url or event.id) for event in events]))
    if len(types) < numbers["typesMin"]:
        return Judgement((), ids)
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    countries = {event.place.country_code for event in events if event.place} - {None}
    country = countries.pop() if len(countries) == 1 else None
    signal = signal_of(
        "convergence",
        key,
        f"{len(types)} types of events within a degree: {', '.join(types[:5])}",
        signal_evidence(len(types), None, start, events[0].seen_at, threshold=numbers["typesMin"]),
        measure=len(types),
        place=Place(
            place_id(None, country, None),
            None,
            country,
            None,
            {"type": "Polygon", "coordinates": [ring]},
            "unknown",
        ),
        sources=list({ref.id: ref for event in events for ref in event.sources}.values()),
        source_count=len({event.provider for event in events}),
        observation_ids=[event.id for event in events],
        incident_ids=tuple(dict.fromkeys(row.incident_id for row in events if row.incident_id)),
    )
    return Judgement((signal,), ids)
