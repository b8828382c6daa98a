"""Finds the entities that a MISP event names in its tags, clusters and attributes."""

import re
from collections.abc import Iterator
from typing import Any

from svc_core.formats.cyber.cve_fields import CVE_ID
from svc_core.formats.cyber.misp_keys import cluster_key, type_of
from svc_core.formats.reading.values import objects, text_member

Object = dict[str, Any]

ROLES = {"threatActor": "actor", "sector": "target", "country": "target"}

_TAG = re.compile(r'misp-galaxy:([a-z0-9-]+)="(.+?)(?: - ([A-Z][0-9.]+))?"')


def is_set(flag: object) -> bool:
    """Whether a flag is set; some exports write it as a word or a digit."""
    return str(flag).lower() in {"true", "1"}


def event_clusters(event: Object) -> list[tuple[Object, str]]:
    """The clusters of an event that are entities, each with its kind of galaxy."""
    kinds = [(galaxy, str(galaxy.get("type"))) for galaxy in objects(event.get("Galaxy"))]
    galaxies = [(galaxy, kind) for galaxy, kind in kinds if type_of(kind)]
    return [(item, kind) for row, kind in galaxies for item in objects(row.get("GalaxyCluster"))]


def event_mentions(event: Object) -> Iterator[Object]:
    """The entities that an event mentions; MISP feeds have only tags, the API also clusters."""
    tags = (_TAG.fullmatch(str(tag.get("name"))) for tag in objects(event.get("Tag")))
    for tag in (match for match in tags if match is not None and type_of(match[1])):
        yield _mention(tag[3] and f"attack:{tag[3]}", tag[1], tag[2])
    for cluster, kind in event_clusters(event):
        key = cluster_key(cluster, kind)
        yield _mention(key, kind, cluster["value"].removesuffix(f" - {key.partition(':')[2]}"))
    for attribute in attributes(event):
        cve = str(attribute.get("value")).strip().upper()
        if attribute.get("type") == "vulnerability" and CVE_ID.fullmatch(cve):
            yield _mention(cve, "vulnerability", cve)


def _mention(key: str | None, kind: str, name: str) -> Object:
    role = ROLES.get(type_of(kind) or "", "mentioned")
    return {"key": key, "role": role, "name": text_member(name, 500)}


def attributes(event: Object) -> list[Object]:
    """The attributes of an event and of its objects, without deleted ones."""
    holders = (event, *_current_items(event.get("Object")))
    return [item for holder in holders for item in _current_items(holder.get("Attribute"))]


def _current_items(items: object) -> list[Object]:
    return [item for item in objects(items) if not is_set(item.get("deleted"))]
