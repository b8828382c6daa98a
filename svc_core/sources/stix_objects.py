"""Objects of STIX 2.0 and 2.1 as rows. What is revoked or deprecated is kept and says so."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from svc_core.sources.model import Record
from svc_core.sources.relations import relation
from svc_core.sources.stix_keys import TYPES, Object, key_of, references, unseen
from svc_core.sources.values import (
    at,
    day,
    designator,
    moment,
    number,
    required,
    several,
    text,
    web,
)
from svc_core.sources.vulnerabilities import CVE_ID, record

IDENTITIES = {"individual": "person", "class": "sector"}


def rows(keys: Mapping[str, str | None], one: Object) -> Iterator[Record]:
    """What an object says; nothing if no row is of its kind. `keys` are those of its bundle."""
    if one["type"] == "relationship":
        ends = [keys.get(ref, unseen(ref)) for ref in (one["source_ref"], one["target_ref"])]
        if ends[0] and ends[1]:
            yield _relation(one, ends[0], ends[1])
    elif (key := key_of(one)) is not None:
        yield _vulnerability(one, key) if CVE_ID.fullmatch(key) else _entity(one, key)


def _entity(one: Object, key: str) -> Record:
    kind, id_ = one["type"], one["id"]
    scheme, _, value = key.partition(":")
    named = one.get("name") or one.get("pattern") or (value if kind == "location" else None)
    name = required(text(named, 500), "a name")
    said = {
        "type": IDENTITIES.get(one.get("identity_class", ""), TYPES[kind]),
        "name": name,
        "aliases": _aliases(one, name),
        "description": text(one.get("description")),
        "designators": _designators(dict.fromkeys([key, f"stix:{id_}"])),
        "revoked": one.get("revoked") is True,
        "deprecated": one.get("x_mitre_deprecated") is True,
    }
    if said["type"] in {"threatActor", "campaign"}:
        said |= _facet(one, value if scheme == "attack" else None)
    # The galaxies that MISP makes of ATT&CK keep the UUIDs of its objects.
    more = (f"stix:{id_}", f"misp-galaxy:{id_.partition('--')[2]}")
    also = more if scheme == "attack" else tuple(each for each in more[:1] if each != key)
    pages = [each.get("url") for each in references(one) if each.get("external_id") == value]
    url = next(map(web, pages), None)
    return Record("entity", key, said, **_stamped(one), also=also, url=url)


def _aliases(one: Object, name: str) -> list[str] | None:
    told = one.get("aliases", one.get("x_mitre_aliases"))
    return None if told is None else [each for each in several(told) if each != name]


def _designators(keys: Iterable[str]) -> list[dict[str, Any]]:
    return [designator(*key.split(":", 1)) for key in keys]


def _facet(one: Object, attack: str | None) -> dict[str, Any]:
    kinds = ("primary_motivation", "secondary_motivations", "personal_motivations")
    return {
        "attackId": attack,
        "motivations": [each for kind in kinds for each in several(one.get(kind))] or None,
        "sophistication": one.get("sophistication"),
        "firstSeenDate": day(one.get("first_seen")),
        "lastSeenDate": day(one.get("last_seen")),
        "crossReferences": [
            {"provider": str(each.get("source_name")), "id": str(each["external_id"])}
            for each in references(one)
            if each.get("external_id") not in {None, "", attack}
        ],
    }


def _vulnerability(one: Object, cve: str) -> Record:
    keys = (f"cve:{cve}", f"stix:{one['id']}")
    said = {"description": text(one.get("description")), "designators": _designators(keys)}
    return record(cve, said, **_stamped(one), also=keys[1:])


def _relation(one: Object, source: str, target: str) -> Record:
    confidence = number(one.get("confidence"))  # STIX 2.1, 3.2: 0 to 100
    return relation(
        one["relationship_type"],
        source,
        target,
        confidence=None if confidence is None else min(max(confidence, 0), 100) / 100,
        valid=(at(moment(one.get("start_time"))), at(moment(one.get("stop_time")))),
        attributes={
            "description": text(one.get("description"), 2_000),
            "revoked": one.get("revoked") is True or one.get("x_mitre_deprecated") is True,
        },
        evidence=(each.get("url") for each in references(one)),
        **_stamped(one),
    )


def _stamped(one: Object) -> dict[str, Any]:
    created = moment(one.get("created"))
    changed = moment(one.get("modified")) or created
    return {"stamp": changed, "record_id": one["id"], "published_at": created}
