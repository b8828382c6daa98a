"""Natural events of NASA's EONET: one event with a series of positions, or one feature for each.

An event without `closed` is open. What was measured of it last is its measurement.
"""

import re
from collections.abc import Iterator
from typing import Any

from svc_core.formats.hazards.events import (
    SUMMARY_CHARS,
    event_record,
    features,
    first,
    geometry,
    grouped,
    has_features,
    headline,
    is_empty,
    kind,
    listed,
    measured,
)
from svc_core.formats.model import About, Given, Record, Told
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import declared
from svc_core.formats.reading.values import (
    at,
    designator,
    moment,
    objects,
    place,
    records,
    text,
    web,
)

_USGS = re.compile(r"//earthquake\.usgs\.gov/earthquakes/eventpage/(\w+)")
_GDACS = re.compile(r"//(?:www\.)?gdacs\.org/.*[?&]eventtype=(\w+)")
_GDACS_ID = re.compile(r"[?&]eventid=(\d+)")


def _recognised(body: Body) -> bool:
    if body.has("events"):
        is_empty_list = body.json["events"] == [] and "EONET" in str(body.json.get("title"))
        return is_empty_list or _is_event(first(body.json["events"]))
    if is_empty(body):
        return not body.has("bbox") and not body.has("metadata")
    return _is_event(body.json) or has_features(body, "categories", "sources")


def _is_event(told: Any) -> bool:
    names = told.keys() if isinstance(told, dict) else ()
    return "categories" in names and ("geometry" in names or "geometries" in names)


def _parse(body: Body, _: Given) -> Told:
    told = body.whole_json()
    yield About(title=text(told.get("title")))
    if told.get("type") in {"Feature", "FeatureCollection"}:
        events = grouped(features(told), lambda one: str(one["properties"]["id"]))
        yield from records(events, lambda fragments: _record(_joined(fragments)))
    else:
        yield from records(told.get("events", [told]), _record, lambda event: event["id"])


def _joined(fragments: list[dict[str, Any]]) -> Any:
    """The event that features tell, as the plain form tells it."""
    positions = [one for fragment in fragments for one in _positions(fragment)]
    return fragments[0]["properties"] | {"geometry": positions}


def _positions(feature: dict[str, Any]) -> list[dict[str, Any]]:
    told, shape = feature["properties"], feature["geometry"]
    dates = listed(told.get("geometryDates"))
    if shape and shape["type"] in {"LineString", "MultiPoint"}:  # one place for each date
        points = zip(shape["coordinates"], dates, strict=True)
        return [{"type": "Point", "coordinates": one, "date": date} for one, date in points]
    return [{"date": next(iter(dates), None)} | told | shape] if shape else []


def _record(event: dict[str, Any]) -> Record:
    positions = event.get("geometry") or event.get("geometries") or ()
    track = sorted(
        map(_position, positions), key=lambda one: (one["at"] or "", str(one["geometry"]))
    )
    last = track[-1] if track else {"at": None, "geometry": None}
    known = [one["measurement"] for one in track if one["measurement"]]
    closed = moment(event.get("closed"))
    kinds = kind("eonet", *(one["id"] for one in listed(event["categories"])))
    return event_record(
        "eonet",
        text(event["id"]),
        {
            **kinds,
            "title": text(event.get("title")) or headline(kinds["type"]),
            "summary": text(event.get("description"), SUMMARY_CHARS),
            "occurredAt": track[0]["at"] if track else None,
            "endedAt": at(closed),
            "datePrecision": "instant",
            "place": place(geometry=last["geometry"]),
            "track": track,
            "measurements": known[-1:],
            "designators": [designator("eonet", text(event["id"]), "eonet"), *_others(event)],
        },
        url=web(event.get("link")),
        stamp=max(filter(None, (closed, moment(last["at"]))), default=None),
        raw=event,
    )


def _others(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of others that it was made of, by the addresses of its sources."""
    for url in (str(one.get("url")) for one in objects(event.get("sources"))):
        quake, alert, number = (form.search(url) for form in (_USGS, _GDACS, _GDACS_ID))
        if quake:
            yield designator("usgs", quake[1], "eonet")
        if alert and number:
            yield designator("gdacs", f"{alert[1].upper()}{number[1]}", "eonet")


def _position(told: dict[str, Any]) -> dict[str, Any]:
    date = at(moment(told.get("date")))
    value, unit = told.get("magnitudeValue"), told.get("magnitudeUnit")
    return {
        "at": date,
        "geometry": geometry(told),
        "measurement": next(iter(measured("eonet", value, unit, asOf=date)), None),
    }


EONET = declared("eonet", _recognised, _parse)
