"""Parses disaster alerts from the GeoJSON lists of the GDACS API.

An event is split into about six features: its centre, circles, cones and lines.
"""

from typing import Any

from svc_core.formats.hazards.event_fields import (
    features,
    geometry,
    group_by,
    has_features,
    is_empty,
)
from svc_core.formats.hazards.gdacs_alert import alert
from svc_core.formats.model import Contents, Origin, Record, RecordRefused
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import record_list

CENTRE = "Point_Centroid"


def _recognise(body: Body) -> bool:
    # Of its empty lists, the null `bbox` is all that tells them.
    is_list = is_empty(body) and body.has("bbox") and not body.has("metadata")
    return is_list or has_features(body, "eventtype", "eventid")


def _parse(body: Body, _: Origin) -> Contents:
    events = group_by(features(body.whole_json()), _event_name)
    yield from record_list(events, _record, lambda event: _event_name(event[0]))


def _event_name(feature: dict[str, Any]) -> str:
    properties = feature["properties"]
    return f"{properties['eventtype']}{properties['eventid']}"


def _record(fragments: list[dict[str, Any]]) -> Record:
    fragments.sort(key=_rank, reverse=True)
    newest = fragments[0]["properties"]
    centre = next((fragment for fragment in fragments if _class(fragment) == CENTRE), fragments[0])
    centroid = centre.get("geometry") or {}
    is_point = centroid.get("type") == "Point"
    episode = [
        fragment["geometry"]
        for fragment in fragments
        if _class(fragment).startswith("Poly_")
        and fragment["geometry"]
        and fragment["properties"].get("episodeid") == newest.get("episodeid")
    ]
    return alert(newest, geometry(centroid) if is_point else None, _footprint(episode), centre)


def _rank(feature: dict[str, Any]) -> tuple[str, bool, str]:
    """Sorts features by date; of equally late ones the centre comes last."""
    class_ = _class(feature)
    return str(feature["properties"].get("datemodified") or ""), class_ == CENTRE, class_


def _class(feature: dict[str, Any]) -> str:
    return str(feature["properties"].get("Class"))


def _footprint(polygons: list[dict[str, Any]]) -> dict[str, Any] | None:
    try:
        shapes = [geometry(polygon) for polygon in polygons]
    except RecordRefused:  # circles over the antimeridian run beyond 180 degrees
        return None
    parts = [
        part
        for geo in shapes
        for part in (geo["coordinates"] if geo["type"] == "MultiPolygon" else [geo["coordinates"]])
    ]
    if len(parts) < 2:
        return {"type": "Polygon", "coordinates": parts[0]} if parts else None
    return {"type": "MultiPolygon", "coordinates": parts}


GDACS = make_format("gdacs", _recognise, _parse)
