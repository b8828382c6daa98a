"""Disaster alerts of GDACS, as the lists of its API tell them.

An event is about six features there: its centre, circles, cones and lines.
"""

from typing import Any

from svc_core.formats.hazards.events import features, geometry, grouped, has_features, is_empty
from svc_core.formats.hazards.gdacs_alert import alert
from svc_core.formats.model import Given, Record, Told, Unusable
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import declared
from svc_core.formats.reading.values import records

CENTRE = "Point_Centroid"


def _recognised(body: Body) -> bool:
    # Of its empty lists, the null `bbox` is all that tells them.
    is_list = is_empty(body) and body.has("bbox") and not body.has("metadata")
    return is_list or has_features(body, "eventtype", "eventid")


def _parse(body: Body, _: Given) -> Told:
    events = grouped(features(body.whole_json()), _event_name)
    yield from records(events, _record, lambda event: _event_name(event[0]))


def _event_name(feature: dict[str, Any]) -> str:
    told = feature["properties"]
    return f"{told['eventtype']}{told['eventid']}"


def _record(fragments: list[dict[str, Any]]) -> Record:
    fragments.sort(key=_rank, reverse=True)
    newest = fragments[0]["properties"]
    centre = next((one for one in fragments if _class(one) == CENTRE), fragments[0])
    place_of = centre.get("geometry") or {}
    is_point = place_of.get("type") == "Point"
    episode = [
        one["geometry"]
        for one in fragments
        if _class(one).startswith("Poly_")
        and one["geometry"]
        and one["properties"].get("episodeid") == newest.get("episodeid")
    ]
    return alert(newest, geometry(place_of) if is_point else None, _footprint(episode), centre)


def _rank(feature: dict[str, Any]) -> tuple[str, bool, str]:
    """The latest counts, and of equally late ones the centre."""
    class_ = _class(feature)
    return str(feature["properties"].get("datemodified") or ""), class_ == CENTRE, class_


def _class(feature: dict[str, Any]) -> str:
    return str(feature["properties"].get("Class"))


def _footprint(polygons: list[dict[str, Any]]) -> dict[str, Any] | None:
    try:
        told = [geometry(one) for one in polygons]
    except Unusable:  # circles over the antimeridian run beyond 180 degrees
        return None
    parts = [
        part
        for one in told
        for part in (one["coordinates"] if one["type"] == "MultiPolygon" else [one["coordinates"]])
    ]
    if len(parts) < 2:
        return {"type": "Polygon", "coordinates": parts[0]} if parts else None
    return {"type": "MultiPolygon", "coordinates": parts}


GDACS = declared("gdacs", _recognised, _parse)
