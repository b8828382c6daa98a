"""Objects of STIX 2.0 and 2.1 as rows. What is revoked or deprecated is kept and says so."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from svc_core.formats.cyber.stix_keys import TYPES, Object, key_of, references, unseen
from svc_core.formats.cyber.vulnerabilities import CVE_ID, record
from svc_core.formats.model import Record, Said
from svc_core.formats.reading.parties import entity
from svc_core.formats.reading.relations import evidence, relation
from svc_core.formats.reading.values import (
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

IDENTITIES = {"individual": "person", "class": "sector"}
_MOTIVES = ("primary_motivation", "secondary_motivations", "personal_motivations")


def successors(
    objects: Iterable[Object], keys: Mapping[str, str | None]
) -> Mapping[str, str | None]:
    """The keys of what stands in the place of revoked objects, by the ids of those."""
    ties = (one for one in objects if one.get("relationship_type") == "revoked-by")
    return {str(one.get("source_ref")): keys.get(str(one.get("target_ref"))) for one in ties}


def rows(
    keys: Mapping[str, str | None], after: Mapping[str, str | None], one: Object
) -> Iterator[Record]:
    """What an object says; nothing if no row is of its kind.

    `keys` are those of its bundle, and `after` those of what stands in the place of its objects.
    """
    if one["type"] == "relationship":
        refs = (one["source_ref"], one["target_ref"])
        ends = [key for ref in refs if (key := keys.get(ref, unseen(ref)))]
        if len(ends) == len(refs):
            yield relation(one["relationship_type"], ends, _tie(one), **_stamped(one))
    elif (key := key_of(one)) is not None:
        is_cve = CVE_ID.fullmatch(key)
        yield _vulnerability(one, key) if is_cve else _entity(one, key, after.get(one["id"]))


def _entity(one: Object, key: str, after: str | None) -> Record:
    kind, own = one["type"], f"stix:{one['id']}"
    scheme, _, value = key.partition(":")
    named = one.get("name") or one.get("pattern") or (value if kind == "location" else None)
    name = required(text(named, 500), "a name")
    aliases = one.get("aliases", one.get("x_mitre_aliases"))
    said = {
        "type": IDENTITIES.get(one.get("identity_class", ""), TYPES[kind]),
        "name": name,
        "aliases": aliases if aliases is None else [a for a in several(aliases) if a != name],
        "description": text(one.get("description")),
        "revoked": one.get("revoked") is True,
        "deprecated": one.get("x_mitre_deprecated") is True,
    }
    if said["type"] in {"threatActor", "campaign"}:
        said |= {**_facet(one, value if scheme == "attack" else None), "replacedBy": after}
    # The galaxies that MISP makes of ATT&CK keep the UUIDs of its objects.
    also = [f"misp-galaxy:{one['id'].partition('--')[2]}"] if scheme == "attack" else ()
    pages = [each.get("url") for each in references(one) if each.get("external_id") == value]
    return entity([key, own], said, also, **_stamped(one), url=next(map(web, pages), None))


def _facet(one: Object, attack: str | None) -> Said:
    others = [each for each in references(one) if each.get("external_id") not in {None, "", attack}]
    return {
        "attackId": attack,
        "motivations": [each for kind in _MOTIVES for each in several(one.get(kind))] or None,
        "sophistication": one.get("sophistication"),
        "firstSeenDate": day(one.get("first_seen")),
        "lastSeenDate": day(one.get("last_seen")),
        "crossReferences": [
            {"provider": str(each.get("source_name")), "id": str(each["external_id"])}
            for each in others
        ],
    }


def _vulnerability(one: Object, cve: str) -> Record:
    own, words = f"stix:{one['id']}", text(one.get("description"))
    known = [designator("cve", cve), designator("stix", one["id"])]
    said = {"description": words, "designators": known}
    return record(cve, said, **_stamped(one), also=(own,))


def _tie(one: Object) -> Said:
    confidence = number(one.get("confidence"))  # STIX 2.1, 3.2: 0 to 100
    gone = one.get("revoked") is True or one.get("x_mitre_deprecated") is True
    return {
        "confidence": confidence and min(max(confidence, 0), 100) / 100,
        "validFrom": at(moment(one.get("start_time"))),
        "validTo": at(moment(one.get("stop_time"))),
        "attributes": {"description": text(one.get("description"), 2_000), "revoked": gone},
        "evidence": evidence(each.get("url") for each in references(one)),
    }


def _stamped(one: Object) -> dict[str, Any]:
    created = moment(one.get("created"))
    changed = moment(one.get("modified")) or created
    return {"stamp": changed, "record_id": one["id"], "published_at": created}
