"""MISP events: what happened, who is named in it, and the indicators by which it is detected.

Times are texts of seconds since 1970. An event that is not published yet is its authors' own.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any

from svc_core.formats.cyber.misp_clusters import told_of
from svc_core.formats.cyber.misp_names import Object, attributes, clusters, is_so, mentions
from svc_core.formats.model import Given, Record, Told, Unusable
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import declared
from svc_core.formats.reading.relations import relation
from svc_core.formats.reading.text import fold
from svc_core.formats.reading.values import (
    at,
    designator,
    midnight,
    millis,
    number,
    objects,
    records,
    required,
    text,
)

# Of `threat_level_id`, where 4 is undefined; of `analysis`: initial, ongoing, complete.
SEVERITIES = {"1": "high", "2": "medium", "3": "low"}
STATUSES = {"0": "emerging", "1": "active", "2": "closed"}
VALUE_CHARS = 1_000
BARE = ("info", "date", "threat_level_id", "analysis")


def _parse(body: Body, _: Given) -> Told:
    for one in _events(body):
        incident = next(records([one], _incident, lambda one: one["Event"]["info"]))
        yield incident
        if isinstance(incident, Record):
            yield from told_of(clusters(one["Event"]))
            marks = [each for each in attributes(one["Event"]) if is_so(each.get("to_ids"))]
            make = partial(_indicator, incident.key)
            yield from records(marks, make, lambda mark: mark["value"])


def _events(body: Body) -> list[Any]:
    """One event, alone or by its name, or those of an answer to a search."""
    found = body.json["response"] if body.has("response") else body.json
    if body.has(*BARE):
        found = {"Event": found}
    return found if isinstance(found, list) else [found]


def _incident(wrapped: Object) -> Record:
    event = wrapped["Event"]
    if str(event.get("published")).lower() in {"false", "0"}:
        raise Unusable("is not published")
    uuid, level = required(event.get("uuid"), "a uuid"), str(event.get("threat_level_id"))
    basis = {"provider": "misp", "scale": "threat_level_id", "value": level}
    said = {
        "title": required(text(event.get("info"), 500), "info"),
        "category": "cyber",
        "status": STATUSES.get(str(event.get("analysis"))),
        "severity": SEVERITIES.get(level),
        "severityBasis": basis if level in SEVERITIES else None,
        "startedAt": at(midnight(event.get("date"))),
        "datePrecision": "day",
        "designators": [designator("misp", uuid)],
        "entities": list({one["name"]: one for one in mentions(event)}.values()),
    }
    changed, published = _moment(event.get("timestamp")), _moment(event.get("publish_timestamp"))
    key = f"misp:{uuid}"
    return Record("incident", key, said, changed, record_id=uuid, published_at=published)


def _moment(seconds: object) -> datetime | None:
    found = number(seconds)
    return millis(found * 1_000) if found else None


def _indicator(event: str, one: Object) -> Iterator[Record]:
    """An indicator is known by what it is, so that two events about it meet."""
    kind, value = required(one["type"], "a type"), fold(str(required(one["value"], "a value")))
    # Rules of detectors are long, and begin alike.
    key = f"misp:{kind}={value if len(value) <= VALUE_CHARS else one['uuid']}"
    said = {"type": "indicator", "name": value[:VALUE_CHARS]}
    about = {"kind": kind, "category": one.get("category")}
    own: dict[str, Any] = {"stamp": _moment(one.get("timestamp")), "record_id": one.get("uuid")}
    yield Record("entity", key, said | {"description": text(one.get("comment"))}, **own)
    yield relation("indicates", (key, event), {"attributes": about}, **own)


MISP_EVENT = declared(
    "misp-event", lambda body: any("Event" in one for one in objects(_events(body))), _parse
)
