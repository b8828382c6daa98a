"""Finds the keys of STIX objects, by which they meet the same things of other sources.

Rule 1: an id of ATT&CK names only an object of its kind: deprecated mitigations bear the id of the
        technique that they were for.
Rule 2: ATT&CK for ICS had a wiki of its own, which numbered groups and software again from 1.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from svc_core.formats.cyber.cve_fields import CVE_ID
from svc_core.formats.reading.values import country, objects

Object = dict[str, Any]

TYPES: Mapping[str, str] = {
    "intrusion-set": "threatActor", "threat-actor": "threatActor", "malware": "malware",
    "tool": "tool", "attack-pattern": "attackPattern", "campaign": "campaign",
    "course-of-action": "courseOfAction", "indicator": "indicator", "identity": "organization",
    "vulnerability": "vulnerability", "location": "country",
}  # fmt: skip
"""Kinds of entities by types of STIX objects."""

LETTERS: Mapping[str, str] = {
    "threatActor": "G", "malware": "S", "tool": "S", "attackPattern": "T", "campaign": "C",
    "courseOfAction": "M",
}  # fmt: skip
"""First letters of ATT&CK ids by kinds of entities."""

_WIKI = "collaborate.mitre.org"
_FINER = ("administrative_area", "city", "street_address", "postal_code", "latitude")
_NUMBER = re.compile(r"[0-9]{4}(\.[0-9]{3})?")


def key_of(item: Object) -> str | None:
    """The key of an object; None for types of objects that become no row."""
    id_, kind = item["id"], item.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        return None
    if kind == "location":
        code = None if any(map(item.get, _FINER)) else country(item.get("country"))
        return code and f"iso3166-1:{code}"
    if kind == "vulnerability":
        names = [*_external_ids(item, "cve"), str(item.get("name")).strip().upper()]
        return next((name for name in names if CVE_ID.fullmatch(name)), f"stix:{id_}")
    attack = attack_id(_external_ids(item, "mitre"), TYPES[kind])
    return f"attack:{attack}" if attack else f"stix:{id_}"


def outer_key(ref: str) -> str | None:
    """The key of an object outside the bundle, by its id; None for types that become no row."""
    return f"stix:{ref}" if ref.partition("--")[0] in TYPES else None


def external_references(item: Object) -> list[Object]:
    """The external references of an object."""
    return objects(item.get("external_references"))


def _external_ids(item: Object, source: str) -> Iterator[str]:
    for reference in external_references(item):
        id_ = str(reference.get("external_id") or "").strip().upper()
        is_renumbered = _WIKI in str(reference.get("url")) and not id_.startswith("T")
        if str(reference.get("source_name")).startswith(source) and not is_renumbered:
            yield id_


def attack_id(ids: Iterable[str], type_: str) -> str | None:
    """The first of these ids that is an ATT&CK id of this kind of entity."""
    letter = LETTERS.get(type_)
    return next((id_ for id_ in ids if id_[:1] == letter and _NUMBER.fullmatch(id_[1:])), None)
