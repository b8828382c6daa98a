"""Parses natural events of NASA's EONET: events with positions, or one feature per position.

An event without `closed` is open. Its measurement is the last one of its positions. Of severe
storms those are tropical cyclones that a centre which warns of nothing else reports, or whose title
begins with a class of such storms (WMO, Global Guide to Tropical Cyclone Forecasting).
"""

import re
from collections.abc import Iterator
from typing import Any

from svc_core.formats.hazards.event_fields import (
    SUMMARY_CHARS,
    event_kind,
    event_record,
    features,
    first_object,
    geometry,
    group_by,
    has_features,
    headline,
    is_empty,
    measures,
    optional_list,
)
from svc_core.formats.model import Contents, Metadata, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import (
    designator,
    moment,
    objects,
    place,
    record_list,
    rfc3339,
    text_member,
    web_url,
)

_USGS = re.compile(r"//earthquake\.usgs\.gov/earthquakes/eventpage/(\w+)")
_GDACS = re.compile(r"//(?:www\.)?gdacs\.org/.{0,300}[?&]eventtype=(\w+)")
_GDACS_ID = re.compile(r"[?&]eventid=(\d+)")
_CLASS_WORDS = 3  # of the longest class of storms in `event_types.tsv`


def _recognise(body: Body) -> bool:
    if body.has("events"):
        is_empty_list = body.json["events"] == [] and "EONET" in str(body.json.get("title"))
        return is_empty_list or _is_event(first_object(body.json["events"]))
    if is_empty(body):
        return not body.has("bbox") and not body.has("metadata")
    return _is_event(body.json) or has_features(body, "categories", "sources")


def _is_event(event: Any) -> bool:
    names = event.keys() if isinstance(event, dict) else ()
    return "categories" in names and ("geometry" in names or "geometries" in names)


def _parse(body: Body, _: Origin) -> Contents:
    document = body.whole_json()
    yield Metadata(title=text_member(document.get("title")))
    if document.get("type") in {"Feature", "FeatureCollection"}:
        events = group_by(features(document), lambda row: str(row["properties"]["id"]))
        yield from record_list(events, lambda fragments: _record(_join(fragments)))
    else:
        yield from record_list(
            document.get("events", [document]), _record, lambda event: event["id"]
        )


def _join(fragments: list[dict[str, Any]]) -> Any:
    """Joins the features of one event into the form that an event has outside GeoJSON."""
    positions = [position for fragment in fragments for position in _positions(fragment)]
    return fragments[0]["properties"] | {"geometry": positions}


def _positions(feature: dict[str, Any]) -> list[dict[str, Any]]:
    properties, shape = feature["properties"], feature["geometry"]
    dates = optional_list(properties.get("geometryDates"))
    if shape and shape["type"] in {"LineString", "MultiPoint"}:  # one place for each date
        points = zip(shape["coordinates"], dates, strict=True)
        return [{"type": "Point", "coordinates": point, "date": date} for point, date in points]
    return [{"date": next(iter(dates), None)} | properties | shape] if shape else []


def _record(event: dict[str, Any]) -> Record:
    positions = event.get("geometry") or event.get("geometries") or ()
    track = sorted(
        map(_position, positions),
        key=lambda position: (position["at"] or "", str(position["geometry"])),
    )
    last = track[-1] if track else {"at": None, "geometry": None}
    measures = [position["measurement"] for position in track if position["measurement"]]
    closed_at = moment(event.get("closed"))
    kinds = _kinds(event)
    return event_record(
        "eonet",
        text_member(event["id"]),
        {
            **kinds,
            "title": text_member(event.get("title")) or headline(kinds["type"]),
            "summary": text_member(event.get("description"), SUMMARY_CHARS),
            "occurredAt": track[0]["at"] if track else None,
            "endedAt": rfc3339(closed_at),
            "datePrecision": "instant",
            "place": place(geometry=last["geometry"]),
            "track": track,
            "measurements": measures[-1:],
            "designators": [
                designator("eonet", text_member(event["id"]), "eonet"),
                *_sources(event),
            ],
        },
        url=web_url(event.get("link")),
        stamp=max(filter(None, (closed_at, moment(last["at"]))), default=None),
        raw=event,
    )


def _kinds(event: dict[str, Any]) -> dict[str, str]:
    kinds = event_kind(
        "eonet", *(category["id"] for category in optional_list(event["categories"]))
    )
    words = (text_member(event.get("title")) or "").split()
    classes = [" ".join(words[:count]) for count in range(1, _CLASS_WORDS + 1)]
    for source in objects(event.get("sources")):
        alert = _GDACS.search(str(source.get("url")))
        classes += [str(source.get("id")), alert[1] if alert else ""]
    storm_kinds = event_kind(f"eonet {kinds['type']}", *classes)
    return kinds if storm_kinds["type"] == "other" else storm_kinds


def _sources(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Designators of the USGS and GDACS events that it repeats, from the URLs of its sources."""
    for url in (str(source.get("url")) for source in objects(event.get("sources"))):
        quake, alert, number = (form.search(url) for form in (_USGS, _GDACS, _GDACS_ID))
        if quake:
            yield designator("usgs", quake[1], "eonet")
        if alert and number:
            yield designator("gdacs", f"{alert[1].upper()}{number[1]}", "eonet")


def _position(position: dict[str, Any]) -> dict[str, Any]:
    date = rfc3339(moment(position.get("date")))
    value, unit = position.get("magnitudeValue"), position.get("magnitudeUnit")
    return {
        "at": date,
        "geometry": geometry(position),
        "measurement": next(iter(measures("eonet", value, unit, asOf=date)), None),
    }


EONET = make_format("eonet", _recognise, _parse)
