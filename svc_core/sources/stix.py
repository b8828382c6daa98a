"""Bundles of STIX 2.0 and 2.1: the releases of MITRE ATT&CK, and what others publish.

Rule 1: objects are read one by one, never a bundle as a unit: it may break rules of STIX that its
        objects keep (those of ATT&CK do).
Rule 2: what is revoked or deprecated is kept and says so.
Rule 3: an id of ATT&CK names only an object of its kind: deprecated mitigations bear the id of the
        technique that they were for.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.model import MEBI, About, Format, Given, Record, Told
from svc_core.sources.relations import relation
from svc_core.sources.values import (
    at,
    country,
    day,
    designator,
    moment,
    number,
    objects,
    records,
    required,
    text,
    web,
)
from svc_core.sources.vulnerabilities import CVE_ID

Object = dict[str, Any]

TYPES: Mapping[str, str] = {
    "intrusion-set": "threatActor",
    "threat-actor": "threatActor",
    "malware": "malware",
    "tool": "tool",
    "attack-pattern": "attackPattern",
    "campaign": "campaign",
    "course-of-action": "courseOfAction",
    "indicator": "indicator",
    "vulnerability": "vulnerability",
    "identity": "organization",
    "location": "country",
}
"""Kinds of entities by those of objects."""

LETTERS: Mapping[str, str] = {
    "threatActor": "G",
    "malware": "S",
    "tool": "S",
    "attackPattern": "T",
    "campaign": "C",
    "courseOfAction": "M",
}
"""How ids of ATT&CK begin, by kinds of entities."""

IDENTITIES = {"individual": "person", "class": "sector"}

_NUMBER = re.compile(r"[0-9]{4}(\.[0-9]{3})?")

_OWN_BY = "identity--c78cb6e5-0c4b-4611-8297-d1b8b55e40b5"  # The MITRE Corporation, of ATT&CK


def _parse(body: Body, _: Given) -> Told:
    told = body.whole_json().get("objects") or ()
    plain = objects(told)
    whole = next((one for one in plain if one.get("type") == "x-mitre-collection"), {})
    yield About(moment(whole.get("modified")), text(whole.get("name"), 300))
    keys = {one["id"]: _key(one) for one in plain if isinstance(one.get("id"), str)}
    yield from records(told, partial(_records, keys), lambda one: one["id"])


def _records(keys: Mapping[str, str | None], one: Object) -> Iterator[Record]:
    if one["type"] == "relationship":
        ends = [keys.get(ref, _unseen(ref)) for ref in (one["source_ref"], one["target_ref"])]
        if ends[0] and ends[1]:
            yield _relation(one, ends[0], ends[1])
    elif (key := keys[one["id"]]) is not None:
        yield _vulnerability(one, key) if CVE_ID.fullmatch(key) else _entity(one, key)


# -- keys --------------------------------------------------------------------------------------


def _key(one: Object) -> str | None:
    """By what an object is known; None for kinds that no row has."""
    id_, kind = one["id"], one.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        return None
    if kind == "location":
        code = None if one.get("city") else country(one.get("country"))
        return code and f"iso3166-1:{code}"
    if kind == "vulnerability":
        names = [*_external(one, "cve"), str(one.get("name")).strip().upper()]
        return next((name for name in names if CVE_ID.fullmatch(name)), f"stix:{id_}")
    attack = attack_id(_external(one, "mitre"), TYPES[kind])
    return f"attack:{attack}" if attack else f"stix:{id_}"


def _unseen(ref: str) -> str | None:
    """The key of an object that is not in the bundle."""
    return f"stix:{ref}" if ref.partition("--")[0] in TYPES else None


def _references(one: Object) -> list[Object]:
    return objects(one.get("external_references"))


def _external(one: Object, source: str) -> Iterator[str]:
    for reference in _references(one):
        if str(reference.get("source_name")).startswith(source) and reference.get("external_id"):
            yield str(reference["external_id"]).strip().upper()


def attack_id(ids: Iterable[str], type_: str) -> str | None:
    """The first id that ATT&CK gives to entities of this kind."""
    letter = LETTERS.get(type_)
    return next((one for one in ids if one[:1] == letter and _NUMBER.fullmatch(one[1:])), None)


# -- rows --------------------------------------------------------------------------------------


def _entity(one: Object, key: str) -> Record:
    kind, id_ = one["type"], one["id"]
    name = required(text(one.get("name") or one.get("pattern"), 500), "a name")
    scheme, _, value = key.partition(":")
    named = dict.fromkeys([(scheme, value), ("stix", id_)])
    said = {
        "type": IDENTITIES.get(one.get("identity_class", ""), TYPES[kind]),
        "name": name,
        "aliases": _aliases(one, name),
        "description": text(one.get("description")),
        "designators": [designator(*each) for each in named],
        "revoked": one.get("revoked") is True,
        "deprecated": one.get("x_mitre_deprecated") is True,
    }
    if said["type"] in {"threatActor", "campaign"}:
        said |= _facet(one, value if scheme == "attack" else None)
    # The galaxies that MISP makes of ATT&CK keep the UUIDs of its objects.
    also = (f"stix:{id_}", *([f"misp-galaxy:{id_.partition('--')[2]}"] * (scheme == "attack")))
    pages = [one_.get("url") for one_ in _references(one) if one_.get("external_id") == value]
    url = next(map(web, pages), None)
    return Record("entity", key, said, **_stamped(one), also=also, url=url)


def _aliases(one: Object, name: str) -> list[str] | None:
    told = one.get("aliases", one.get("x_mitre_aliases"))
    return None if told is None else [each for each in map(str, told) if each != name]


def _facet(one: Object, attack: str | None) -> dict[str, Any]:
    motives = [one.get("primary_motivation"), *(one.get("secondary_motivations") or ())]
    return {
        "attackId": attack,
        "motivations": [*filter(None, motives), *(one.get("personal_motivations") or ())] or None,
        "sophistication": one.get("sophistication"),
        "firstSeenDate": day(one.get("first_seen")),
        "lastSeenDate": day(one.get("last_seen")),
        "crossReferences": [
            {"provider": str(each.get("source_name")), "id": str(each["external_id"])}
            for each in _references(one)
            if each.get("external_id") not in {None, "", attack}
        ],
    }


def _vulnerability(one: Object, cve: str) -> Record:
    said = {
        "cveId": cve,
        "description": text(one.get("description")),
        "designators": [designator("cve", cve), designator("stix", one["id"])],
    }
    return Record("cve", cve, said, **_stamped(one), also=(f"stix:{one['id']}",))


def _relation(one: Object, source: str, target: str) -> Record:
    confidence = number(one.get("confidence"))  # STIX 2.1, 3.2: 0 to 100
    return relation(
        one["relationship_type"],
        source,
        target,
        directed=one["relationship_type"] not in {"related-to", "duplicate-of"},
        confidence=None if confidence is None else min(max(confidence, 0), 100) / 100,
        valid=(at(moment(one.get("start_time"))), at(moment(one.get("stop_time")))),
        attributes={
            "description": text(one.get("description"), 2_000),
            "revoked": one.get("revoked") is True or one.get("x_mitre_deprecated") is True,
        },
        evidence=(each.get("url") for each in _references(one)),
        **_stamped(one),
    )


def _stamped(one: Object) -> dict[str, Any]:
    created = moment(one.get("created"))
    changed = moment(one.get("modified")) or created
    return {"stamp": changed, "record_id": one["id"], "published_at": created}


# -- formats -----------------------------------------------------------------------------------


def _is_bundle(body: Body) -> bool:
    if not isinstance(body.json, dict):
        return False
    first = next(iter(objects(body.json.get("objects"))), {})
    # A TAXII envelope holds objects under the same name, and has no type.
    return body.json.get("type") == "bundle" or "--" in str(first.get("id"))


def _is_attack(body: Body) -> bool:
    """Most objects are ATT&CK's own: reports of others quote some of them."""
    held = objects(body.json.get("objects")) if _is_bundle(body) else []
    return sum(map(_is_own, held)) * 2 > len(held)


def _is_own(one: Object) -> bool:
    return (
        one.get("created_by_ref") == _OWN_BY
        or any(name.startswith("x_mitre_") for name in one)
        or any(str(each.get("source_name")).startswith("mitre") for each in _references(one))
    )


BRINGS = ("entity", "relation", "cve")

ATTACK = Format(
    id="attack",
    title="MITRE ATT&CK (STIX 2)",
    kind="snapshot",
    provider="mitre-attack",
    brings=BRINGS,
    recognise=_is_attack,
    parse=_parse,
    cadence_seconds=86_400,
    license="ATT&CK terms of use: royalty-free, with attribution",
    attribution="© The MITRE Corporation. Reproduced with the permission of MITRE.",
    bytes_max=128 * MEBI,  # Enterprise has 50 MB
)

STIX = Format(
    id="stix",
    title="STIX 2.0 and 2.1 bundle",
    kind="window",
    provider=None,
    brings=BRINGS,
    recognise=lambda body: _is_bundle(body) and not _is_attack(body),
    parse=_parse,
)
