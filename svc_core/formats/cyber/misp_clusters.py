"""Clusters of MISP galaxies as rows: alone, or in the events that name them.

A member of `meta` is text in one cluster and a list in the next.
"""

from collections.abc import Iterable
from typing import Any

from svc_core.formats.cyber.misp_keys import Cluster, key_of, type_of
from svc_core.formats.cyber.stix_keys import attack_id
from svc_core.formats.model import Record, Said, Told
from svc_core.formats.reading.parties import entity
from svc_core.formats.reading.relations import relation
from svc_core.formats.reading.values import (
    countries_named,
    country,
    objects,
    records,
    required,
    several,
    text,
)

# Estimative language, as the taxonomy of that name gives its ranges: their middles.
CONFIDENCES = {
    "almost-certain": 0.97, "very-likely": 0.87, "likely": 0.67, "roughly-even-chance": 0.5,
    "unlikely": 0.32, "very-unlikely": 0.13, "almost-no-chance": 0.03,
}  # fmt: skip

_HUNDREDTHS = {str(one) for one in range(101)}
_MUTUAL = {"similar", "related-to", "overlaps", "linked-to", "associated-with"}


def told_of(clusters: list[tuple[Any, str]]) -> Told:
    """What clusters, each of a kind of galaxy, say: entities, and relations between them."""
    yield from records(clusters, _entity, lambda told: told[0]["value"])
    for cluster, kind in clusters:
        if isinstance(cluster, dict):
            related = [(one, cluster, kind) for one in objects(cluster.get("related"))]
            yield from records(related, _related, lambda told: told[1]["value"])


def _entity(told: tuple[Cluster, str]) -> Record:
    cluster, kind = told
    key, meta, type_ = key_of(cluster, kind), cluster.get("meta") or {}, type_of(kind)
    name = required(text(cluster.get("value"), 500), "a name")
    synonyms = several(meta.get("synonyms"))
    named = [one for one in synonyms if attack_id([one], str(type_))]
    # Some clusters are two groups of ATT&CK in one, and are neither of them.
    alone = f"attack:{named[0]}" if len(named) == 1 else key
    own = f"misp-galaxy:{cluster['uuid']}" if cluster.get("uuid") else key
    others = filter(_is_same, objects(cluster.get("related")))
    same = [f"misp-galaxy:{one['dest-uuid']}" for one in others]
    said = {
        "type": type_,
        "name": name.removesuffix(f" - {key.partition(':')[2]}"),
        "aliases": [one for one in synonyms if one not in {name, *named}] or None,
        "description": text(cluster.get("description")),
        "topics": several(meta.get("cfr-type-of-incident")) or None,
    }
    if type_ == "threatActor":
        attack = next((one for one in (key, alone) if one.startswith("attack:")), ":")
        said |= {"attackId": attack.partition(":")[2] or None, **_facet(meta)}
    return entity([key, alone, own], said, same, record_id=cluster.get("uuid") or name)


def _is_same(related: dict[str, Any]) -> bool:
    """Whether it is the same thing, as far as anybody can say so."""
    sure = _confidence(several(related.get("tags"))) == CONFIDENCES["almost-certain"]
    return sure and related.get("type") == "similar" and bool(related.get("dest-uuid"))


def _related(told: tuple[Cluster, Cluster, str]) -> Record:
    one, cluster, kind = told
    type_, ends = one["type"], (key_of(cluster, kind), f"misp-galaxy:{one['dest-uuid']}")
    said = {"confidence": _confidence(several(one.get("tags")))}
    points = type_ not in _MUTUAL
    return relation(type_, ends, said, directed=points, record_id=cluster.get("uuid"))


def _confidence(tags: Iterable[str]) -> float | None:
    words = (tag.partition("likelihood-probability=")[2].strip('"') for tag in tags)
    return next((CONFIDENCES[one] for one in words if one in CONFIDENCES), None)


def _facet(meta: dict[str, Any]) -> Said:
    victims = [*several(meta.get("cfr-suspected-victims")), *several(meta.get("suspected-victims"))]
    sectors = [*several(meta.get("cfr-target-category")), *several(meta.get("targeted-sector"))]
    code = next(filter(None, map(country, several(meta.get("country")))), None)
    share = next(iter(several(meta.get("attribution-confidence"))), "")
    sure = int(share) / 100 if share in _HUNDREDTHS else None
    return {
        "country": code and {"code": code, "basis": "attribution", "confidence": sure},
        "motivations": several(meta.get("motive")) or None,
        "targetCountries": countries_named(victims) or None,
        "targetSectors": list(dict.fromkeys(sectors)) or None,
    }
