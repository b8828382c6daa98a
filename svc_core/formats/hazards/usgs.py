"""Earthquakes of the USGS: the summary feeds, answers of the event service, one event in detail.

An event is re-keyed in place: its `ids` name all keys that it ever had. It leaves the feed by
ageing or by a lower magnitude, so that only `status: deleted` says that it is gone.
"""

from typing import Any

from svc_core.formats.hazards.events import (
    event_record,
    features,
    has_features,
    is_empty,
    kind,
    measured,
    severity,
)
from svc_core.formats.model import About, Given, Record, Told
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import declared
from svc_core.formats.reading.values import (
    at,
    designator,
    millis,
    number,
    place,
    point,
    records,
    text,
    web,
)


def _recognised(body: Body) -> bool:
    meta = body.json.get("metadata") if is_empty(body) else None
    return has_features(body, "mag", "ids") or (isinstance(meta, dict) and "generated" in meta)


def _parse(body: Body, _: Given) -> Told:
    told = body.whole_json()
    meta = told.get("metadata") or {}
    yield About(stamp=millis(meta.get("generated")), title=text(meta.get("title")))
    yield from records(features(told), _record, lambda event: event["id"])


def _record(event: dict[str, Any]) -> Record:
    told = event["properties"]
    own_id = text(event.get("id")) or ""
    ids = [one for one in (told.get("ids") or "").split(",") if one]
    gone = told.get("status") == "deleted"
    return event_record(
        "usgs",
        own_id,
        {} if gone else _said(event, told, list(dict.fromkeys([own_id, *ids]))),
        url=web(told.get("url")),
        stamp=millis(told.get("updated")),
        also=tuple(f"usgs:{one}" for one in ids),
        raw=event,
        gone=gone,
    )


def _said(event: dict[str, Any], told: dict[str, Any], ids: list[str]) -> dict[str, Any]:
    at_depth = [*((event.get("geometry") or {}).get("coordinates") or ()), None, None, None]
    magnitude = number(told.get("mag"))
    where = place(name=told.get("place"), geometry=point(at_depth[0], at_depth[1]))
    return {
        "title": text(told.get("title")) or f"M {magnitude} - {told.get('place')}",
        **kind("usgs", told.get("type")),
        "occurredAt": at(millis(told.get("time"))),
        "datePrecision": "instant",
        "place": where,
        **(
            severity("usgs", "pager", told.get("alert"))
            or severity("usgs", "sig", number(told.get("sig")))
            or severity("usgs", "magnitude", magnitude)
        ),
        "measurements": [
            *measured("usgs", magnitude, "M", basis=text(told.get("magType"))),
            *measured("usgs", at_depth[2], "km"),
        ],
        "designators": [designator("usgs", one, "usgs") for one in ids],
    }


USGS = declared("usgs", _recognised, _parse)
