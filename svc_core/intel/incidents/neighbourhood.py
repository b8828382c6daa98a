"""Finds related incidents: those of other providers that are alike in kind, time and place.

They are linked and never merged, as they have no identifier in common.

Rule 1: of hazards the same type within 24 hours and 100 km.
Rule 2: of conflict and unrest the same category on the same day within 0.1 degrees (11 km).
Rule 3: news of a hazard is related to hazards as these are to each other, from its first report on
        and at the place that it names, which may be a country.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from math import asin, cos, inf, radians, sin, sqrt
from typing import Any

from attrs import frozen

from svc_core.base.boxes import Box
from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.incidents.incident_members import PRESS, Member
from svc_core.intel.incidents.model import INCIDENTS
from svc_core.intel.incidents.rules import incident_place, incident_texts
from svc_core.intel.incidents.text_places import hazard_in_headlines
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.period import box_bounds
from svc_core.operation.source_members import Place, exact_point

RELATED_MAX = 20
PLACES_MAX = 5  # of one incident, around which others are sought
EVENTS_READ = 50
EARTH_KM, DEGREE_KM = 6_371.0, 111.2

Point = tuple[float, float]

_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1) // _MICROSECOND
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


@frozen
class _Probe:
    """What an incident is sought by: the kinds of event, and when and where they happened."""

    provider: str
    rule: _Rule
    kinds: tuple[str, ...]
    began_at: datetime
    place: Place

    @property
    def point(self) -> Point | None:
        """The position around which is sought; None where only the country is known."""
        return exact_point(self.place)


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
    for probe in list(_probes(group))[:PLACES_MAX]:
        for id_, km in await _near(ctx, probe, cache):
            if id_ != name:
                distances[id_] = min(km, distances.get(id_, km))
    if all(member.provider != PRESS for member in group):
        page = await ctx.tx.documents.scan(INCIDENTS, where={"hazard": (name,)}, limit=RELATED_MAX)
        distances |= {row.id: _HAZARDS.km for row in page.rows if row.id not in distances}
    return tuple(sorted(distances, key=lambda id_: (distances[id_], id_))[:RELATED_MAX])


async def news_around(ctx: Context, group: Sequence[Member]) -> list[str]:
    """The incidents of news that may tell of the hazards of a group."""
    ids: list[str] = []
    for probe in list(_probes(group))[:PLACES_MAX]:
        if probe.rule is _HAZARDS and probe.provider != PRESS:
            # An incident of news begins with the day of its first report.
            start, end = (micros(probe.began_at) + days * _DAY for days in (-2, 1))
            page = await ctx.tx.documents.scan(
                INCIDENTS, where={"provider": ("feed",), "category": ("disaster",)},
                ranges={"started": (start, end)}, limit=EVENTS_READ,
            )  # fmt: skip
            ids += [row.id for row in page.rows]
    return ids


async def _near(ctx: Context, probe: _Probe, cache: SpanCache) -> list[tuple[str, float]]:
    # In whole numbers, as a span may reach beyond the first year.
    rule, point = probe.rule, probe.point
    start, end = (micros(probe.began_at) + sign * (rule.span // _MICROSECOND) for sign in (-1, 1))
    peers = tuple(provider for provider in rule.providers if provider != probe.provider)
    scan = partial(
        ctx.tx.documents.scan, OSINT_EVENTS, start=start, end=end, ranges={"occurred": (start, end)}
    )
    if (peers, start, end) not in cache:
        cache[peers, start, end] = bool((await scan(where={"provider": peers}, limit=1)).rows)
    if not cache[peers, start, end]:
        return []
    clause: dict[str, Any] = {rule.name: probe.kinds, "provider": peers}
    if point is None:
        clause |= {"country": (str(probe.place.country_code),)}
        page = await scan(where=clause, limit=EVENTS_READ)
    else:
        area = around(point, rule.km)
        clause |= {} if area.cells is None else {"cell": area.cells}
        page = await scan(where=clause, box=box_bounds(area), limit=EVENTS_READ)
    events = [OSINT_EVENTS.decode(row.raw) for row in page.rows]
    kms = ((event.incident_id, _km(point, exact_point(event.place), rule)) for event in events)
    return [(id_, km) for id_, km in kms if id_ is not None and km <= rule.km]


def _km(point: Point | None, other: Point | None, rule: _Rule) -> float:
    """How far two places are apart; of a place that is known by its country alone, just enough."""
    if point is None:
        return rule.km
    return inf if other is None else distance_km(point, other)


def _probes(group: Sequence[Member]) -> Iterator[_Probe]:
    seen: set[object] = set()
    for member in group:
        rule, point, began_at = rule_of(member), exact_point(member.place), member.started_at
        key = (member.provider, member.type, point, began_at)
        if rule and point and member.place and began_at and key not in seen:
            seen.add(key)
            types = _STORMS if member.type in _STORMS else (member.type,)
            kinds = types if rule is _HAZARDS else member.categories
            yield _Probe(member.provider, rule, kinds, began_at, member.place)
    news = [member for member in incident_texts(group) if member.provider == PRESS]
    signs = [sign for member in news for sign in member.signs]
    hazard = hazard_in_headlines([member.title for member in news])
    place = incident_place(group) if hazard and signs else None
    if hazard and place and (exact_point(place) or place.country_code):
        types = _STORMS if hazard in _STORMS else (hazard,)
        yield _Probe(PRESS, _HAZARDS, types, min(signs), place)
