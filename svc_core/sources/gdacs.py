"""Disaster alerts of GDACS: the lists of its API and its RSS feeds tell the same events.

The API tells an event in about six features (its centre, circles, cones and lines); a number of 0
without a unit is none. Dates without a zone are UTC.
"""

import re
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.model import Format, Given, Record, Told, Unusable
from svc_core.sources.osint import (
    SUMMARY_CHARS,
    counted,
    features,
    first,
    geometry,
    grouped,
    has_features,
    headline,
    is_empty,
    kind,
    measured,
    severity,
)
from svc_core.sources.values import (
    at,
    country,
    designator,
    moment,
    place,
    records,
    required,
    text,
    web,
)

_DEPTH = re.compile(r"Depth:\s*([\d.]+)\s*km", re.IGNORECASE)


def event(told: dict[str, Any], position: Any, footprint: Any, raw: Any) -> Record:
    """What an alert says, by the names that its API and its feeds share."""
    own_id = "".join(required(text(told[name]), name).upper() for name in ("eventtype", "eventid"))
    measure, url = told.get("severitydata") or {}, told.get("url")
    depth = _DEPTH.search(str(measure.get("severitytext")))
    others = {"glide": told.get("glide")}
    if told.get("source") == "NEIC":
        others["usgs"] = told.get("sourceid")
    page = web(url.get("report") if isinstance(url, dict) else url)
    where = place(
        name=_name(told.get("country")),
        country_code=country(
            told.get("iso3") or first(told.get("affectedcountries")).get("iso3"), "alpha3"
        ),
        geometry=position,
    )
    said = {
        **kind("glide", told["eventtype"]),
        "summary": text(told.get("htmldescription") or told.get("description"), SUMMARY_CHARS),
        "occurredAt": at(moment(told.get("fromdate"))),
        "endedAt": None if _is_true(told.get("iscurrent")) else at(moment(told.get("todate"))),
        "datePrecision": "instant",
        "reportedAt": at(moment(told.get("dateadded"))),
        "place": where,
        "footprint": footprint,
        **severity("gdacs", "alertLevel", told.get("alertlevel")),
        "measurements": [
            *measured("gdacs", measure.get("severity"), measure.get("severityunit")),
            *measured("gdacs", depth and depth[1], "km"),
            *counted("gdacs", told, alertScore="alertscore"),
        ],
        "designators": [
            designator("gdacs", own_id, "gdacs"),
            *(designator(scheme, value, "gdacs") for scheme, value in others.items() if value),
        ],
        "url": page,
    }
    title = _name(told.get("name")) or headline(said["type"], (), where)
    return Record(
        "osintEvent",
        f"gdacs:{own_id}",
        {"title": title, **said},
        stamp=moment(told.get("datemodified") or told.get("pubDate")),
        record_id=own_id,
        url=page,
        published_at=moment(told.get("pubDate")),
        raw=raw,
    )


def _name(told: object) -> str | None:
    return (text(told) or "").rstrip(", ") or None  # a country without a name leaves its comma


def _is_true(told: object) -> bool:
    return str(told).casefold() == "true"


# -- the API -----------------------------------------------------------------------------------


def _is_api(body: Body) -> bool:
    # Of its empty lists, the null `bbox` is all that tells them.
    is_list = is_empty(body) and body.has("bbox") and not body.has("metadata")
    return is_list or has_features(body, "eventtype", "eventid")


def _parse_api(body: Body, _: Given) -> Told:
    events = grouped(features(body.whole_json()), _event_name)
    yield from records(events, _of_features, lambda event: _event_name(event[0]))


def _event_name(feature: dict[str, Any]) -> str:
    told = feature["properties"]
    return f"{told['eventtype']}{told['eventid']}"


def _of_features(fragments: list[dict[str, Any]]) -> Record:
    fragments.sort(key=lambda one: str(one["properties"].get("datemodified") or ""), reverse=True)
    newest = fragments[0]["properties"]
    centre = next((one for one in fragments if _class(one) == "Point_Centroid"), fragments[0])
    place_of = centre.get("geometry") or {}
    is_point = place_of.get("type") == "Point"
    episode = [
        one["geometry"]
        for one in fragments
        if _class(one).startswith("Poly_")
        and one["properties"].get("episodeid") == newest.get("episodeid")
    ]
    return event(newest, geometry(place_of) if is_point else None, _footprint(episode), centre)


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


GDACS = Format(
    id="gdacs",
    title="GDACS disaster alerts (API, GeoJSON)",
    kind="window",
    provider="gdacs",
    brings=("osintEvent",),
    recognise=_is_api,
    parse=_parse_api,
    cadence_seconds=900,
    attribution="Global Disaster Alert and Coordination System, GDACS",
)
