"""Makes records of STIX 2.0 and 2.1 objects; revoked and deprecated ones are kept and marked."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from svc_core.formats.cyber.cve_fields import CVE_ID, cve_record
from svc_core.formats.cyber.cve_members import CveMembers
from svc_core.formats.cyber.stix_keys import TYPES, Object, external_references, key_of, outer_key
from svc_core.formats.model import Members, Record
from svc_core.formats.reading.entity_keys import entity
from svc_core.formats.reading.markup_text import clip
from svc_core.formats.reading.relation_records import evidence_links, relation_record
from svc_core.formats.reading.values import (
    TextReader,
    day,
    designator,
    moment,
    number,
    require,
    rfc3339,
    strings,
    text_member,
    web_url,
)

IDENTITIES = {"individual": "person", "class": "sector"}
_MOTIVES = ("primary_motivation", "secondary_motivations", "personal_motivations")


def successors(
    objects: Iterable[Object], keys: Mapping[str, str | None]
) -> Mapping[str, str | None]:
    """The keys of the objects that replace revoked ones, by the ids of the revoked ones."""
    ties = (tie for tie in objects if tie.get("relationship_type") == "revoked-by")
    return {str(tie.get("source_ref")): keys.get(str(tie.get("target_ref"))) for tie in ties}


def object_records(
    keys: Mapping[str, str | None],
    new_keys: Mapping[str, str | None],
    read_text: TextReader,
    item: Object,
) -> Iterator[Record]:
    """The records of an object; none for types that become no row.

    `keys` are those of the objects of its bundle, `new_keys` those of their replacements.
    `read_text` reads descriptions: ATT&CK writes Markdown, STIX itself (2.1, 3.2) plain text.
    """
    kind, words = item["type"], read_text(item.get("description"))
    if kind == "relationship":
        refs = (item["source_ref"], item["target_ref"])
        ends = [key for ref in refs if (key := keys.get(ref, outer_key(ref)))]
        if len(ends) == len(refs):
            yield relation_record(
                item["relationship_type"], ends, _tie(item, words), **_source(item)
            )
    elif (key := key_of(item)) is not None:
        is_cve = CVE_ID.fullmatch(key)
        successor = new_keys.get(item["id"])
        yield _vulnerability(item, key, words) if is_cve else _entity(item, key, words, successor)


def _entity(item: Object, key: str, words: str | None, successor: str | None) -> Record:
    kind, own = item["type"], f"stix:{item['id']}"
    scheme, _, value = key.partition(":")
    label = item.get("name") or item.get("pattern") or (value if kind == "location" else None)
    name = require(text_member(label, 500), "a name")
    aliases = item.get("aliases", item.get("x_mitre_aliases"))
    members = {
        "type": IDENTITIES.get(item.get("identity_class", ""), TYPES[kind]),
        "name": name,
        "aliases": aliases if aliases is None else [a for a in strings(aliases) if a != name],
        "description": words,
        "revoked": item.get("revoked") is True,
        "deprecated": item.get("x_mitre_deprecated") is True,
    }
    if members["type"] in {"threatActor", "campaign"}:
        members |= {**_facet(item, value if scheme == "attack" else None), "replacedBy": successor}
    # The galaxies that MISP makes of ATT&CK keep the UUIDs of its objects.
    twins = [f"misp-galaxy:{item['id'].partition('--')[2]}"] if scheme == "attack" else ()
    pages = [ref.get("url") for ref in external_references(item) if ref.get("external_id") == value]
    return entity([key, own], members, twins, **_source(item), url=next(map(web_url, pages), None))


def _facet(item: Object, attack: str | None) -> Members:
    refs = [
        ref for ref in external_references(item) if ref.get("external_id") not in {None, "", attack}
    ]
    return {
        "attackId": attack,
        "motivations": [motive for kind in _MOTIVES for motive in strings(item.get(kind))] or None,
        "sophistication": item.get("sophistication"),
        "firstSeenDate": day(item.get("first_seen")),
        "lastSeenDate": day(item.get("last_seen")),
        "crossReferences": [
            {"provider": str(reference.get("source_name")), "id": str(reference["external_id"])}
            for reference in refs
        ],
    }


def _vulnerability(item: Object, cve: str, words: str | None) -> Record:
    own = f"stix:{item['id']}"
    designators = [designator("cve", cve), designator("stix", item["id"])]
    members: CveMembers = {"description": words, "designators": designators}
    return cve_record(cve, members, **_source(item), other_keys=(own,))


def _tie(item: Object, words: str | None) -> Members:
    confidence = number(item.get("confidence"))  # STIX 2.1, 3.2: 0 to 100
    is_revoked = item.get("revoked") is True or item.get("x_mitre_deprecated") is True
    return {
        "confidence": confidence and min(max(confidence, 0), 100) / 100,
        "validFrom": rfc3339(moment(item.get("start_time"))),
        "validTo": rfc3339(moment(item.get("stop_time"))),
        "attributes": {
            "description": words and clip(words, 2_000),
            "revoked": is_revoked,
        },
        "evidence": evidence_links(reference.get("url") for reference in external_references(item)),
    }


def _source(item: Object) -> dict[str, Any]:
    created_at = moment(item.get("created"))
    changed_at = moment(item.get("modified")) or created_at
    return {"stamp": changed_at, "record_id": item["id"], "published_at": created_at}
