"""MISP events: what happened, who is named in it, and the indicators by which it is detected.

Times are texts of seconds since 1970. An event that is not published yet is its authors' own.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.misp_clusters import key_of, told_of, type_of
from svc_core.sources.model import Format, Given, Record, Told, Unusable
from svc_core.sources.relations import relation
from svc_core.sources.text import fold
from svc_core.sources.values import (
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
from svc_core.sources.vulnerabilities import CVE_ID

Object = dict[str, Any]

# Of `threat_level_id`, where 4 is undefined; of `analysis`: initial, ongoing, complete.
SEVERITIES = {"1": "high", "2": "medium", "3": "low"}
STATUSES = {"0": "emerging", "1": "active", "2": "closed"}
ROLES = {"threatActor": "actor", "sector": "target", "country": "target"}
BARE = {"info", "date", "threat_level_id", "analysis"}

_TAG = re.compile(r'misp-galaxy:([a-z0-9-]+)="(.+?)(?: - ([A-Z][0-9.]+))?"')


def _parse(body: Body, _: Given) -> Told:
    for one in _events(body):
        incident = next(records([one], _incident, lambda one: one["Event"]["info"]))
        yield incident
        if isinstance(incident, Record):
            yield from told_of(_clusters(one["Event"]))
            marks = [each for each in _attributes(one["Event"]) if each.get("to_ids") is True]
            make = partial(_indicator, incident.key)
            yield from records(marks, make, lambda mark: mark["value"])


def _events(body: Body) -> list[Any]:
    """One event, alone or by its name, or those of an answer to a search."""
    found = body.json["response"] if body.has("response") else body.json
    if BARE.issubset(found if isinstance(found, dict) else ()):
        return [{"Event": found}]
    events = found if isinstance(found, list) else [found]
    return events if any("Event" in one for one in objects(events)) else []


def _incident(wrapped: Object) -> Record:
    event = wrapped["Event"]
    if str(event.get("published")).lower() in {"false", "0"}:
        raise Unusable("is not published")
    uuid, level = required(event.get("uuid"), "a uuid"), str(event.get("threat_level_id"))
    basis = {"provider": "misp", "scale": "threat_level_id", "value": level}
    return Record(
        "incident",
        f"misp:{uuid}",
        {
            "title": required(text(event.get("info"), 500), "info"),
            "category": "cyber",
            "status": STATUSES.get(str(event.get("analysis"))),
            "severity": SEVERITIES.get(level),
            "severityBasis": basis if level in SEVERITIES else None,
            "startedAt": at(midnight(event.get("date"))),
            "datePrecision": "day",
            "designators": [designator("misp", uuid)],
            "entities": list({one["name"]: one for one in _named(event)}.values()),
        },
        stamp=_moment(event.get("timestamp")),
        record_id=uuid,
        published_at=_moment(event.get("publish_timestamp")),
    )


def _moment(seconds: object) -> datetime | None:
    found = number(seconds)
    return millis(found * 1_000) if found else None


def _clusters(event: Object) -> list[tuple[Object, str]]:
    return [
        (cluster, str(galaxy.get("type")))
        for galaxy in objects(event.get("Galaxy"))
        for cluster in objects(galaxy.get("GalaxyCluster"))
        if type_of(str(galaxy.get("type")))
    ]


def _named(event: Object) -> Iterator[Object]:
    """What tags, clusters and attributes name; feeds of MISP have the tags alone."""
    tags = (_TAG.fullmatch(str(one.get("name"))) for one in objects(event.get("Tag")))
    for tag in (one for one in tags if one is not None and type_of(one[1])):
        yield _mention(tag[3] and f"attack:{tag[3]}", tag[1], tag[2])
    for cluster, kind in _clusters(event):
        key = key_of(cluster, kind)
        yield _mention(key, kind, cluster["value"].removesuffix(f" - {key.partition(':')[2]}"))
    for one in _attributes(event):
        cve = str(one.get("value")).strip().upper()
        if one.get("type") == "vulnerability" and CVE_ID.fullmatch(cve):
            yield _mention(cve, "vulnerability", cve)


def _mention(key: str | None, kind: str, name: str) -> Object:
    role = ROLES.get(type_of(kind) or "", "mentioned")
    return {"key": key, "role": role, "name": text(name, 500)}


def _attributes(event: Object) -> list[Object]:
    """Those of the event and of its objects that were not taken back."""
    holders = [event, *(one for one in objects(event.get("Object")) if not one.get("deleted"))]
    held = [one for holder in holders for one in objects(holder.get("Attribute"))]
    return [one for one in held if not one.get("deleted")]


def _indicator(event: str, one: Object) -> Iterator[Record]:
    """An indicator is known by what it is, so that two events about it meet."""
    kind, value = one["type"], required(fold(str(one["value"]))[:1_000], "a value")
    key = f"misp:{kind}={value}"
    said = {"type": "indicator", "name": value, "description": text(one.get("comment"))}
    about = {"kind": kind, "category": one.get("category")}
    own: dict[str, Any] = {"stamp": _moment(one.get("timestamp")), "record_id": one.get("uuid")}
    yield Record("entity", key, said, **own)
    yield relation("indicates", key, event, attributes=about, **own)


MISP_EVENT = Format(
    id="misp-event",
    title="MISP event",
    kind="window",
    provider="misp",
    brings=("incident", "entity", "relation"),
    recognise=lambda body: bool(_events(body)),
    parse=_parse,
)
