"""Makes records of the clusters of MISP galaxies, from galaxies or from events that quote them.

A member of `meta` may be a text in one cluster and a list in the next.
"""

from collections.abc import Iterable
from typing import Any

from svc_core.formats.cyber.misp_keys import Cluster, cluster_key, type_of
from svc_core.formats.cyber.stix_keys import attack_id
from svc_core.formats.model import Contents, Members, Record
from svc_core.formats.reading.entity_keys import entity
from svc_core.formats.reading.relation_records import relation_record
from svc_core.formats.reading.values import (
    countries_named,
    country,
    objects,
    record_list,
    require,
    strings,
    text_member,
)

# Estimative language, as the taxonomy of that name gives its ranges: their middles.
CONFIDENCES = {
    "almost-certain": 0.97, "very-likely": 0.87, "likely": 0.67, "roughly-even-chance": 0.5,
    "unlikely": 0.32, "very-unlikely": 0.13, "almost-no-chance": 0.03,
}  # fmt: skip

_HUNDREDTHS = {str(percent) for percent in range(101)}
_MUTUAL = {"similar", "related-to", "overlaps", "linked-to", "associated-with"}


def cluster_records(clusters: list[tuple[Any, str]]) -> Contents:
    """The entities of clusters, each with its kind of galaxy, and the relations between them."""
    yield from record_list(clusters, _entity, lambda pair: pair[0]["value"])
    for cluster, kind in clusters:
        if isinstance(cluster, dict):
            links = [(link, cluster, kind) for link in objects(cluster.get("related"))]
            yield from record_list(links, _relation, lambda triple: triple[1]["value"])


def _entity(pair: tuple[Cluster, str]) -> Record:
    cluster, kind = pair
    key, meta, type_ = cluster_key(cluster, kind), cluster.get("meta") or {}, type_of(kind)
    name = require(text_member(cluster.get("value"), 500), "a name")
    synonyms = strings(meta.get("synonyms"))
    attack_ids = [synonym for synonym in synonyms if attack_id([synonym], str(type_))]
    # Some clusters are two groups of ATT&CK in one, and are neither of them.
    attack_key = f"attack:{attack_ids[0]}" if len(attack_ids) == 1 else key
    own_key = f"misp-galaxy:{cluster['uuid']}" if cluster.get("uuid") else key
    duplicates = filter(_is_same, objects(cluster.get("related")))
    twins = [f"misp-galaxy:{link['dest-uuid']}" for link in duplicates]
    members = {
        "type": type_,
        "name": name.removesuffix(f" - {key.partition(':')[2]}"),
        "aliases": [synonym for synonym in synonyms if synonym not in {name, *attack_ids}] or None,
        "description": text_member(cluster.get("description")),
        "topics": strings(meta.get("cfr-type-of-incident")) or None,
    }
    if type_ == "threatActor":
        attack = next((ref for ref in (key, attack_key) if ref.startswith("attack:")), ":")
        members |= {"attackId": attack.partition(":")[2] or None, **_facet(meta)}
    return entity([key, attack_key, own_key], members, twins, record_id=cluster.get("uuid") or name)


def _is_same(link: dict[str, Any]) -> bool:
    """Whether a link states almost certainly that both clusters are the same thing."""
    is_sure = _confidence(strings(link.get("tags"))) == CONFIDENCES["almost-certain"]
    return is_sure and link.get("type") == "similar" and bool(link.get("dest-uuid"))


def _relation(triple: tuple[Cluster, Cluster, str]) -> Record:
    link, cluster, kind = triple
    type_, ends = link["type"], (cluster_key(cluster, kind), f"misp-galaxy:{link['dest-uuid']}")
    members = {"confidence": _confidence(strings(link.get("tags")))}
    is_directed = type_ not in _MUTUAL
    return relation_record(
        type_, ends, members, is_directed=is_directed, record_id=cluster.get("uuid")
    )


def _confidence(tags: Iterable[str]) -> float | None:
    words = (tag.partition("likelihood-probability=")[2].strip('"') for tag in tags)
    return next((CONFIDENCES[word] for word in words if word in CONFIDENCES), None)


def _facet(meta: dict[str, Any]) -> Members:
    victims = [*strings(meta.get("cfr-suspected-victims")), *strings(meta.get("suspected-victims"))]
    sectors = [*strings(meta.get("cfr-target-category")), *strings(meta.get("targeted-sector"))]
    code = next(filter(None, map(country, strings(meta.get("country")))), None)
    share = next(iter(strings(meta.get("attribution-confidence"))), "")
    confidence = int(share) / 100 if share in _HUNDREDTHS else None
    return {
        "country": code and {"code": code, "basis": "attribution", "confidence": confidence},
        "motivations": strings(meta.get("motive")) or None,
        "targetCountries": countries_named(victims) or None,
        "targetSectors": list(dict.fromkeys(sectors)) or None,
    }
