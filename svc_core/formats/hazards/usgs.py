"""Parses earthquakes of the USGS: summary feeds, answers of its event service, single events.

The id of an event can change: its `ids` hold all that it ever had. An event leaves the feed by age
or by a lower magnitude, so only `status: deleted` means that it was withdrawn.
"""

from typing import Any

from svc_core.formats.hazards.event_fields import (
    event_kind,
    event_record,
    features,
    has_features,
    is_empty,
    measures,
)
from svc_core.formats.model import Contents, Metadata, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.severities import severity_members
from svc_core.formats.reading.values import (
    designator,
    epoch_moment,
    number,
    place,
    point,
    record_list,
    rfc3339,
    text_member,
    web_url,
)


def _recognise(body: Body) -> bool:
    meta = body.json.get("metadata") if is_empty(body) else None
    return has_features(body, "mag", "ids") or (isinstance(meta, dict) and "generated" in meta)


def _parse(body: Body, _: Origin) -> Contents:
    document = body.whole_json()
    meta = document.get("metadata") or {}
    yield Metadata(stamp=epoch_moment(meta.get("generated")), title=text_member(meta.get("title")))
    yield from record_list(features(document), _record, lambda event: event["id"])


def _record(event: dict[str, Any]) -> Record:
    properties = event["properties"]
    own_id = text_member(event.get("id")) or ""
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
        "title": text_member(properties.get("title"))
        or f"M {magnitude} - {properties.get('place')}",
        **event_kind("usgs", properties.get("type")),
        "occurredAt": rfc3339(epoch_moment(properties.get("time"))),
        "datePrecision": "instant",
        "place": location,
        **(
            severity_members("usgs", "pager", properties.get("alert"))
            or severity_members("usgs", "mmi", number(properties.get("mmi")))
            or severity_members("usgs", "magnitude", magnitude)
        ),
        "measurements": [
            *measures("usgs", magnitude, "M", basis=text_member(properties.get("magType"))),
            *measures("usgs", position[2], "km"),
        ],
        "designators": [designator("usgs", id_, "usgs") for id_ in ids],
    }


USGS = make_format("usgs", _recognise, _parse)
