"""Parses earthquakes of the USGS: summary feeds, answers of its event service, single events.

The id of an event can change: its `ids` hold all that it ever had. An event leaves the feed by age
or by a lower magnitude, so only `status: deleted` means that it was withdrawn.
"""

from typing import Any

from svc_core.formats.hazards.events import (
    event_record,
    features,
    has_features,
    is_empty,
    kind,
    measures,
    severity,
)
from svc_core.formats.model import About, Contents, Given, Record
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import (
    at,
    designator,
    epoch_moment,
    number,
    place,
    point,
    records,
    text,
    web_url,
)


def _recognise(body: Body) -> bool:
    meta = body.json.get("metadata") if is_empty(body) else None
    return has_features(body, "mag", "ids") or (isinstance(meta, dict) and "generated" in meta)


def _parse(body: Body, _: Given) -> Contents:
    document = body.whole_json()
    meta = document.get("metadata") or {}
    yield About(stamp=epoch_moment(meta.get("generated")), title=text(meta.get("title")))
    yield from records(features(document), _record, lambda event: event["id"])


def _record(event: dict[str, Any]) -> Record:
    properties = event["properties"]
    own_id = text(event.get("id")) or ""
    ids = [id_ for id_ in (properties.get("ids") or "").split(",") if id_]
    is_deleted = properties.get("status") == "deleted"
    return event_record(
        "usgs",
        own_id,
        {} if is_deleted else _members(event, properties, list(dict.fromkeys([own_id, *ids]))),
        url=web_url(properties.get("url")),
        stamp=epoch_moment(properties.get("updated")),
        other_keys=tuple(f"usgs:{id_}" for id_ in ids),
        raw=event,
        is_withdrawn=is_deleted,
    )


def _members(event: dict[str, Any], properties: dict[str, Any], ids: list[str]) -> dict[str, Any]:
    position = [*((event.get("geometry") or {}).get("coordinates") or ()), None, None, None]
    magnitude = number(properties.get("mag"))
    location = place(name=properties.get("place"), geometry=point(position[0], position[1]))
    return {
        "title": text(properties.get("title")) or f"M {magnitude} - {properties.get('place')}",
        **kind("usgs", properties.get("type")),
        "occurredAt": at(epoch_moment(properties.get("time"))),
        "datePrecision": "instant",
        "place": location,
        **(
            severity("usgs", "pager", properties.get("alert"))
            or severity("usgs", "sig", number(properties.get("sig")))
            or severity("usgs", "magnitude", magnitude)
        ),
        "measurements": [
            *measures("usgs", magnitude, "M", basis=text(properties.get("magType"))),
            *measures("usgs", position[2], "km"),
        ],
        "designators": [designator("usgs", id_, "usgs") for id_ in ids],
    }


USGS = make_format("usgs", _recognise, _parse)
