"""Clusters of MISP galaxies: actors, malware, tools, sectors, and how sure who relates them is.

A member of `meta` is text in one cluster and a list in the next.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.model import Format, Given, Record, Told, Unusable
from svc_core.sources.relations import relation
from svc_core.sources.stix import attack_id
from svc_core.sources.values import (
    countries_named,
    country,
    designator,
    number,
    objects,
    records,
    required,
    several,
    text,
)

TYPES: Mapping[str, str] = {
    kind: type_
    for type_, kinds in {
        "threatActor": "threat-actor mitre-intrusion-set mitre-enterprise-attack-intrusion-set "
        "mitre-mobile-attack-intrusion-set mitre-pre-attack-intrusion-set tidal-groups "
        "microsoft-activity-group 360net-threat-actor intelligence-agency",
        "malware": "mitre-malware mitre-enterprise-attack-malware mitre-mobile-attack-malware "
        "malpedia ransomware rat banker botnet backdoor stealer cryptominers android malware "
        "tidal-software",
        "tool": "tool mitre-tool mitre-enterprise-attack-tool mitre-mobile-attack-tool "
        "exploit-kit tds rmm",
        "attackPattern": "mitre-attack-pattern mitre-enterprise-attack-attack-pattern "
        "mitre-mobile-attack-attack-pattern mitre-pre-attack-attack-pattern tidal-technique",
        "courseOfAction": "mitre-course-of-action mitre-enterprise-attack-course-of-action "
        "mitre-mobile-attack-course-of-action preventive-measure",
        "campaign": "tidal-campaigns mitre-campaign",
        "organization": "producer surveillance-vendor",
        "country": "country target-information",
        "sector": "sector",
    }.items()
    for kind in kinds.split()
}
"""Kinds of entities by those of galaxies."""

# Estimative language, as the taxonomy of that name gives its ranges: their middles.
CONFIDENCES = {
    "almost-certain": 0.97,
    "very-likely": 0.87,
    "likely": 0.67,
    "roughly-even-chance": 0.5,
    "unlikely": 0.32,
    "very-unlikely": 0.13,
    "almost-no-chance": 0.03,
}

_MUTUAL = {"similar", "related-to", "overlaps", "linked-to", "associated-with"}


def _parse(body: Body, _: Given) -> Told:
    galaxy = body.whole_json()
    yield from told_of([(one, galaxy["type"]) for one in galaxy["values"]])


def told_of(clusters: list[tuple[Any, str]]) -> Told:
    """What clusters, each of a kind of galaxy, say: entities, and relations between them."""
    related = [
        (one, cluster, kind)
        for cluster, kind in clusters
        if isinstance(cluster, dict)
        for one in objects(cluster.get("related"))
    ]
    yield from records(clusters, lambda told: _entity(*told), lambda told: told[0]["value"])
    yield from records(related, lambda told: _related(*told), lambda told: told[1]["value"])


def key_of(cluster: dict[str, Any], kind: str) -> str:
    """By what a cluster is known: its id in ATT&CK, the code of its country, else its own."""
    meta = cluster.get("meta") or {}
    attack = attack_id(several(meta.get("external_id")), TYPES[kind])
    if attack is not None:
        return f"attack:{attack}"
    code = next(filter(None, map(country, several(meta.get("ISO") or meta.get("iso-code")))), None)
    if code is not None:
        return f"iso3166-1:{code}"
    return f"misp-galaxy:{cluster.get('uuid') or cluster['value']}"


def _entity(cluster: dict[str, Any], kind: str) -> Record:
    if kind not in TYPES:
        raise Unusable(f"is of a galaxy that holds no entities: {kind[:60]}")
    key, meta, uuid = key_of(cluster, kind), cluster.get("meta") or {}, cluster.get("uuid")
    name = required(text(cluster.get("value"), 500), "a name")
    scheme, _, value = key.partition(":")
    said = {
        "type": TYPES[kind],
        "name": name.removesuffix(f" - {value}"),
        "aliases": [one for one in several(meta.get("synonyms")) if one != name] or None,
        "description": text(cluster.get("description")),
        "designators": [designator(scheme, value)],
        "topics": several(meta.get("cfr-type-of-incident")) or None,
    }
    if TYPES[kind] == "threatActor":
        said |= _facet(meta, value if scheme == "attack" else None)
    own = f"misp-galaxy:{uuid}"
    return Record("entity", key, said, also=() if own == key else (own,), record_id=uuid or name)


def _related(one: dict[str, Any], cluster: dict[str, Any], kind: str) -> Record:
    return relation(
        one["type"],
        key_of(cluster, kind),
        f"misp-galaxy:{one['dest-uuid']}",
        directed=one["type"] not in _MUTUAL,
        confidence=next(_confidences(several(one.get("tags"))), None),
        record_id=cluster.get("uuid"),
    )


def _facet(meta: dict[str, Any], attack: str | None) -> dict[str, Any]:
    victims = [*several(meta.get("cfr-suspected-victims")), *several(meta.get("suspected-victims"))]
    sectors = [*several(meta.get("cfr-target-category")), *several(meta.get("targeted-sector"))]
    code = next(filter(None, map(country, several(meta.get("country")))), None)
    share = next(map(number, several(meta.get("attribution-confidence"))), None)
    sure = share / 100 if share is not None and 0 <= share <= 100 else None
    return {
        "attackId": attack,
        "country": code and {"code": code, "basis": "attribution", "confidence": sure},
        "motivations": several(meta.get("motive")) or None,
        "targetCountries": countries_named(victims) or None,
        "targetSectors": list(dict.fromkeys(sectors)) or None,
    }


def _confidences(tags: list[str]) -> Iterator[float]:
    for tag in tags:
        words = tag.partition("likelihood-probability=")[2].strip('"')
        if words in CONFIDENCES:
            yield CONFIDENCES[words]


MISP_GALAXY = Format(
    id="misp-galaxy",
    title="MISP galaxy clusters",
    kind="window",
    provider="misp-galaxy",
    brings=("entity", "relation"),
    recognise=lambda body: (
        body.has("type", "values", "uuid") and isinstance(body.json["values"], list)
    ),
    parse=_parse,
    cadence_seconds=86_400,
    license="CC0-1.0 or BSD-2-Clause",
    attribution="MISP Project",
)
