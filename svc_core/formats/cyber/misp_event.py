"""Parses MISP events: an incident, the entities that it names, and its indicators.

Times are texts of seconds since 1970. An event that is not published yet is a private draft
of its authors and is left out.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any

from svc_core.formats.cyber import misp_names as names
from svc_core.formats.cyber.misp_clusters import cluster_records
from svc_core.formats.cyber.misp_names import Object
from svc_core.formats.model import Contents, Origin, Record, RecordRefused
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.markup_text import fold_space
from svc_core.formats.reading.relation_records import relation_record
from svc_core.formats.reading.severities import severity_members
from svc_core.formats.reading.values import (
    designator,
    epoch_moment,
    midnight,
    number,
    objects,
    record_list,
    require,
    rfc3339,
    text_member,
)

VALUE_CHARS = 1_000
EVENT_MEMBERS = ("info", "date", "threat_level_id", "analysis")


def _parse(body: Body, _: Origin) -> Contents:
    for wrapper in _events(body):
        incident = next(record_list([wrapper], _incident, lambda wrapper: wrapper["Event"]["info"]))
        yield incident
        if isinstance(incident, Record):
            event = wrapper["Event"]
            yield from cluster_records(names.event_clusters(event))
            marks = [mark for mark in names.attributes(event) if names.is_set(mark.get("to_ids"))]
            make = partial(_indicator, incident.key)
            yield from record_list(marks, make, lambda mark: mark["value"])


def _events(body: Body) -> list[Any]:
    """The events of a document: a bare or wrapped event, or the answer to a search."""
    events = body.json["response"] if body.has("response") else body.json
    if body.has(*EVENT_MEMBERS):
        events = {"Event": events}
    return events if isinstance(events, list) else [events]


def _incident(wrapper: Object) -> Record:
    event = wrapper["Event"]
    if str(event.get("published")).lower() in {"false", "0"}:
        raise RecordRefused("is not published")
    uuid, level = require(event.get("uuid"), "a uuid"), str(event.get("threat_level_id"))
    members = {
        "title": require(text_member(event.get("info"), 500), "info"),
        "category": "cyber",
        **severity_members("misp", "threat_level_id", level),
        "startedAt": rfc3339(midnight(event.get("date"))),
        "datePrecision": "day",
        "designators": [designator("misp", uuid)],
        "entities": list({row["name"]: row for row in names.event_mentions(event)}.values()),
    }
    stamp, release = _moment(event.get("timestamp")), _moment(event.get("publish_timestamp"))
    key = f"misp:{uuid}"
    return Record("incident", key, members, stamp, record_id=uuid, published_at=release)


def _moment(seconds: object) -> datetime | None:
    epoch = number(seconds)
    return epoch_moment(epoch * 1_000) if epoch else None


def _indicator(event: str, item: Object) -> Iterator[Record]:
    """The records of an indicator and of its relation to the incident.

    The key holds type and value, so that the indicators of two events meet.
    """
    kind, value = (
        require(item["type"], "a type"),
        fold_space(str(require(item["value"], "a value"))),
    )
    # Rules of detectors are long, and begin alike.
    key = f"misp:{kind}={value if len(value) <= VALUE_CHARS else item['uuid']}"
    members = {"type": "indicator", "name": value[:VALUE_CHARS]}
    traits = {"kind": kind, "category": item.get("category")}
    meta: dict[str, Any] = {"stamp": _moment(item.get("timestamp")), "record_id": item.get("uuid")}
    yield Record("entity", key, members | {"description": text_member(item.get("comment"))}, **meta)
    yield relation_record("indicates", (key, event), {"attributes": traits}, **meta)


MISP_EVENT = make_format(
    "misp-event", lambda body: any("Event" in wrapper for wrapper in objects(_events(body))), _parse
)
