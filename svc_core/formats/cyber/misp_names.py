"""What an event of MISP names: in its tags, its clusters and its attributes."""

import re
from collections.abc import Iterator
from typing import Any

from svc_core.formats.cyber.misp_keys import key_of, type_of
from svc_core.formats.cyber.vulnerabilities import CVE_ID
from svc_core.formats.reading.values import objects, text

Object = dict[str, Any]

ROLES = {"threatActor": "actor", "sector": "target", "country": "target"}

_TAG = re.compile(r'misp-galaxy:([a-z0-9-]+)="(.+?)(?: - ([A-Z][0-9.]+))?"')


def is_so(flag: object) -> bool:
    """Whether a flag is set, which is a word or a digit in some exports."""
    return str(flag).lower() in {"true", "1"}


def clusters(event: Object) -> list[tuple[Object, str]]:
    """Its clusters that are entities, each with the kind of its galaxy."""
    kinds = [(one, str(one.get("type"))) for one in objects(event.get("Galaxy"))]
    held = [(one, kind) for one, kind in kinds if type_of(kind)]
    return [(each, kind) for one, kind in held for each in objects(one.get("GalaxyCluster"))]


def mentions(event: Object) -> Iterator[Object]:
    """What tags, clusters and attributes name; feeds of MISP have the tags alone."""
    tags = (_TAG.fullmatch(str(one.get("name"))) for one in objects(event.get("Tag")))
    for tag in (one for one in tags if one is not None and type_of(one[1])):
        yield _mention(tag[3] and f"attack:{tag[3]}", tag[1], tag[2])
    for cluster, kind in clusters(event):
        key = key_of(cluster, kind)
        yield _mention(key, kind, cluster["value"].removesuffix(f" - {key.partition(':')[2]}"))
    for one in attributes(event):
        cve = str(one.get("value")).strip().upper()
        if one.get("type") == "vulnerability" and CVE_ID.fullmatch(cve):
            yield _mention(cve, "vulnerability", cve)


def _mention(key: str | None, kind: str, name: str) -> Object:
    role = ROLES.get(type_of(kind) or "", "mentioned")
    return {"key": key, "role": role, "name": text(name, 500)}


def attributes(event: Object) -> list[Object]:
    """Those of the event and of its objects that were not taken back."""
    holders = (event, *_standing(event.get("Object")))
    return [one for holder in holders for one in _standing(holder.get("Attribute"))]


def _standing(listed: object) -> list[Object]:
    return [one for one in objects(listed) if not is_so(one.get("deleted"))]
