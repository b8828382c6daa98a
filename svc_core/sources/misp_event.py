"""MISP events: what happened, who is named in it, and the indicators by which it is detected.

Times are texts of seconds since 1970. An event that is not published yet is its authors' own.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.misp_galaxy import TYPES, key_of, told_of
from svc_core.sources.model import Format, Given, Record, Told, Unusable
from svc_core.sources.relations import relation
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

SEVERITIES = {"1": "high", "2": "medium", "3": "low"}  # of `threat_level_id`; 4 is undefined
STATUSES = {
    "0": "emerging",
    "1": "active",
    "2": "closed",
}  # of `analysis`: initial, ongoing, complete
ROLES = {"threatActor": "actor", "sector": "target", "country": "target"}


def _parse(body: Body, _: Given) -> Told:
    events = _events(body)
    yield from records(events, _incident, lambda one: one["Event"]["info"])
    for event in (one["Event"] for one in objects(events) if _is_published(one.get("Event"))):
        yield from told_of(_clusters(event))
        marks = [one for one in _attributes(event) if one.get("to_ids") is True]
        yield from records(marks, partial(_indicator, _key(event)), lambda one: one["value"])


def _events(body: Body) -> list[Any]:
    """One event, or those of an answer to a search."""
    found = body.json["response"] if body.has("response") else body.json
    events = found if isinstance(found, list) else [found]
    return events if any("Event" in one for one in objects(events)) else []


def _is_published(event: Any) -> bool:
    return isinstance(event, dict) and str(event.get("published", 1)).lower() in {"true", "1"}


def _key(event: Object) -> str:
    return f"misp:{event.get('uuid')}"


def _incident(wrapped: Object) -> Record:
    event = wrapped["Event"]
    if not _is_published(event):
        raise Unusable("is not published")
    uuid, level = required(event.get("uuid"), "a uuid"), str(event.get("threat_level_id"))
    basis = {"provider": "misp", "scale": "threat_level_id", "value": level}
    return Record(
        "incident",
        _key(event),
        {
            "title": required(text(event.get("info"), 500), "info"),
            "category": "cyber",
            "status": STATUSES.get(str(event.get("analysis"))),
            "severity": SEVERITIES.get(level),
            "severityBasis": basis if level in SEVERITIES else None,
            "startedAt": at(midnight(event.get("date"))),
            "datePrecision": "day",
            "designators": [designator("misp", uuid)],
            "entities": [*map(_named, _clusters(event)), *_vulnerabilities(event)],
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
        (cluster, str(galaxy["type"]))
        for galaxy in objects(event.get("Galaxy"))
        if str(galaxy.get("type")) in TYPES
        for cluster in objects(galaxy.get("GalaxyCluster"))
    ]


def _named(named: tuple[Object, str]) -> Mapping[str, Any]:
    cluster, kind = named
    role = ROLES.get(TYPES[kind], "mentioned")
    return {"key": key_of(cluster, kind), "role": role, "name": text(cluster["value"], 500)}


def _attributes(event: Object) -> Iterator[Object]:
    """Those of the event and of its objects that were not taken back."""
    for holder in (event, *objects(event.get("Object"))):
        for one in objects(holder.get("Attribute")):
            if not (one.get("deleted") or holder.get("deleted")):
                yield one


def _vulnerabilities(event: Object) -> Iterator[Mapping[str, Any]]:
    told = (one.get("value") for one in _attributes(event) if one.get("type") == "vulnerability")
    for cve in dict.fromkeys(str(one).strip().upper() for one in told):
        if CVE_ID.fullmatch(cve):
            yield {"key": cve, "role": "mentioned", "name": cve}


def _indicator(event: str, one: Object) -> Iterator[Record]:
    """An indicator is known by what it is, so that two events about it meet."""
    kind, value = one["type"], required(text(one["value"], 1_000), "a value")
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
