"""Finds related incidents: those of other providers that are alike in kind, time and place.

They are linked and never merged, as they have no identifier in common.

Rule 1: of hazards the same type within 24 hours and 100 km.
Rule 2: of conflict and unrest the same category on the same day within 0.1 degrees (11 km).
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from math import asin, cos, radians, sin, sqrt
from typing import Any

from attrs import frozen

from svc_core.base.boxes import Box
from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.incidents.incident_members import EARLIEST, Member
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.period import box_bounds
from svc_core.operation.source_members import exact_point

RELATED_MAX = 20
PLACES_MAX = 5  # of one incident, around which others are sought
EVENTS_READ = 50
EARTH_KM, DEGREE_KM = 6_371.0, 111.2

Point = tuple[float, float]

_MICROSECOND = timedelta(microseconds=1)
_STORMS = ("storm", "tropicalCyclone")
"""What one provider calls the one, and another the other."""


@frozen
class _Rule:
    """Which member events must have in common, and how near they must be in time and space."""

    name: str
    providers: tuple[str, ...]
    span: timedelta
    km: float


_HAZARDS = _Rule("type", ("usgs", "gdacs", "eonet", "reliefweb"), timedelta(hours=24), 100.0)
_VIOLENCE = _Rule("category", ("acled", "ucdp", "gdelt"), timedelta(0), 11.12)


def rule_of(member: Member) -> _Rule | None:
    """The rule by which a member may be related to others; None for members without one."""
    if not {"conflict", "unrest"}.isdisjoint(member.categories):
        return _VIOLENCE if member.provider in _VIOLENCE.providers else None
    return _HAZARDS if member.provider in _HAZARDS.providers and member.type != "other" else None


def distance_km(left: Point, right: Point) -> float:
    """The great-circle distance of two positions (longitude, latitude) in km, by Haversine."""
    (west, south), (east, north) = [tuple(map(radians, point)) for point in (left, right)]
    half = sin((north - south) / 2) ** 2
    half += cos(south) * cos(north) * sin((east - west) / 2) ** 2
    return 2 * EARTH_KM * asin(sqrt(min(1.0, half)))


def around(point: Point, km: float) -> Box:
    """A box that holds every position within `km` of a point; near a pole, all longitudes."""
    longitude, latitude = point
    high = km / DEGREE_KM
    south, north = max(-90.0, latitude - high), min(90.0, latitude + high)
    narrow = cos(radians(max(abs(south), abs(north))))
    wide = high / narrow if narrow > high / 180 else 180.0
    if wide >= 180:
        return Box(-180.0, south, 180.0, north)
    west, east = longitude - wide, longitude + wide
    return Box(
        west + 360 if west < -180 else west, south, east - 360 if east > 180 else east, north
    )


SpanCache = dict[Any, bool]
"""Whether there are events of certain providers in a span of time, by (providers, start, end)."""


async def related_incidents(
    ctx: Context, name: str, group: Sequence[Member], cache: SpanCache
) -> tuple[str, ...]:
    """The ids of incidents related to the one called `name`, the nearest first."""
    distances: dict[str, float] = {}
    for member, rule, point in list(_probes(group))[:PLACES_MAX]:
        for id_, km in await _near(ctx, member, rule, point, cache):
            if id_ != name:
                distances[id_] = min(km, distances.get(id_, km))
    return tuple(sorted(distances, key=lambda id_: (distances[id_], id_))[:RELATED_MAX])


async def _near(
    ctx: Context, member: Member, rule: _Rule, point: Point, cache: SpanCache
) -> list[tuple[str, float]]:
    # In whole numbers, as a span may reach beyond the first year.
    began_at = member.started_at or EARLIEST
    start, end = (micros(began_at) + sign * (rule.span // _MICROSECOND) for sign in (-1, 1))
    peers = tuple(provider for provider in rule.providers if provider != member.provider)
    scan = partial(
        ctx.tx.documents.scan, OSINT_EVENTS, start=start, end=end, ranges={"occurred": (start, end)}
    )
    if (peers, start, end) not in cache:
        cache[peers, start, end] = bool((await scan(where={"provider": peers}, limit=1)).rows)
    if not cache[peers, start, end]:
        return []
    area = around(point, rule.km)
    cells = {} if area.cells is None else {"cell": area.cells}
    types = _STORMS if member.type in _STORMS else (member.type,)
    clause = {**cells, rule.name: types if rule is _HAZARDS else member.categories}
    page = await scan(where=clause | {"provider": peers}, box=box_bounds(area), limit=EVENTS_READ)
    events = [OSINT_EVENTS.decode(row.raw) for row in page.rows]
    places = [(event.incident_id, exact_point(event.place)) for event in events]
    kms = [
        (id_, distance_km(point, to)) for id_, to in places if id_ is not None and to is not None
    ]
    return [(id_, km) for id_, km in kms if km <= rule.km]


def _probes(group: Sequence[Member]) -> Iterator[tuple[Member, _Rule, Point]]:
    seen: set[object] = set()
    for member in group:
        rule = rule_of(member)
        point = exact_point(member.place)
        key = (member.provider, member.type, point, member.started_at)
        if rule is not None and point is not None and member.started_at and key not in seen:
            seen.add(key)
            yield member, rule, point
