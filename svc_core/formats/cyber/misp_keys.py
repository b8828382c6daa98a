"""Finds the key and the kind of entity of clusters of MISP galaxies."""

import re
from typing import Any

from svc_core.formats.cyber.stix_keys import TYPES, attack_id
from svc_core.formats.model import RecordRefused
from svc_core.formats.reading.values import country, strings

Cluster = dict[str, Any]

_KINDS = {
    "threatActor": "groups microsoft-activity-group 360net-threat-actor",
    "malware": "software malpedia ransomware rat banker botnet backdoor stealer android",
    "tool": "exploit-kit tds rmm",
    "attackPattern": "technique techniques attck4fraud",
    "campaign": "campaigns",
    "organization": "producer surveillance-vendor intelligence-agency",
    "country": "country target-information",
    "sector": "sector cert-eu-govsector",
    "vulnerability": "branded-vulnerability",
}
_TYPES = {**TYPES, **{kind: type_ for type_, kinds in _KINDS.items() for kind in kinds.split()}}
_MADE_FROM = re.compile(
    r"mitre-((enterprise|entreprise|mobile|pre)-attack-|ics-|atlas-)?|tidal-|cmtmf-"
)


def type_of(kind: str) -> str | None:
    """The kind of entity in a kind of galaxy; None for galaxies without entities."""
    return _TYPES.get(_MADE_FROM.sub("", kind, 1))


def cluster_key(cluster: Cluster, kind: str) -> str:
    """The key of a cluster: its ATT&CK id, its country code, else its own UUID.

    Raises:
        RecordRefused: its galaxy holds nothing that is an entity.
    """
    type_, meta = type_of(kind), cluster.get("meta") or {}
    if type_ is None:
        raise RecordRefused(f"is of a galaxy that holds no entities: {kind[:60]}")
    attack = attack_id(strings(meta.get("external_id")), type_)
    codes = map(country, strings(meta.get("ISO") or meta.get("iso-code")))
    if attack is not None:
        return f"attack:{attack}"
    own = f"misp-galaxy:{cluster.get('uuid') or cluster['value']}"
    return next((f"iso3166-1:{code}" for code in codes if code), own)
