"""Makes the row of a relation from what its sources say."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from svc_core.base import ids
from svc_core.formats.cyber.cve_fields import CVE_ID
from svc_core.intel.folding.contributions import Contribution, Members
from svc_core.intel.folding.rules import Rules, live_contributions
from svc_core.intel.linking.references import id_of

RULES = Rules(precedence=("gleif", "lei-cdf", "attack", "stix", "ofac", "ftm", "ftm-delta"))

EVIDENCE_MAX = 20  # of one source: some techniques come with a hundred reports

_CYBER = frozenset({"attack", "stix", "misp-galaxy", "misp"})
"""Schemes whose keys name threat actors, malware, techniques and the like."""

_ENDS = ("source", "target")
_INCIDENT = re.compile("misp:[0-9A-Fa-f-]{36}")
_STIX = re.compile("relationship--[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z?)?)?)?")


def relation_row(members: Members, contributions: Sequence[Contribution]) -> Members | None:
    """The members of a relation's row; None where it lacks two different ends."""
    ends = [members[end] for end in _ENDS if members.get(end)]
    if len(set(ends)) < len(_ENDS):
        return None
    claims = sorted(live_contributions(contributions), key=lambda claim: claim.id)
    attributes = _attributes(claims) | members["attributes"]
    is_revoked = members["attributes"].get("revoked") is True
    attributes.pop("revoked", None)
    row = {
        **{name: members[name] for name in ("type", "directed")},
        "source": end_reference(ends[0]),
        "target": end_reference(ends[1]),
        "validFrom": _time(members.get("validFrom")),
        "validTo": _time(members.get("validTo")),
        "attributes": attributes,
        "evidence": [evidence for claim in claims for evidence in _evidence(claim)],
        "revoked": is_revoked,
        "surface": "cyber" if any(map(_is_cyber, ends)) else "economy",
        "providers": sorted({claim.ref["provider"] for claim in claims}),
        "stixId": next(filter(_STIX.fullmatch, (str(c.ref["recordId"]) for c in claims)), None),
    }
    return row | _confidence(members.get("confidence"), len(row["providers"]))


def end_reference(key: str) -> str:
    """The id of the incident or entity that the key of an end names."""
    if _INCIDENT.fullmatch(key):
        return ids.derived_id("inc", "incident", "", key)
    return id_of(key)


def _is_cyber(key: str) -> bool:
    return key.partition(":")[0] in _CYBER or CVE_ID.fullmatch(key) is not None


def _attributes(claims: Sequence[Contribution]) -> dict[str, Any]:
    """The attributes of all claims; where they differ the first by id counts."""
    return {name: value for c in reversed(claims) for name, value in c.said["attributes"].items()}


def _confidence(stated: float | None, count: int) -> dict[str, Any]:
    if stated is not None:
        return {"confidence": stated, "confidenceBasis": "provider"}
    return {"confidence": round(count / (count + 1), 3), "confidenceBasis": "sources"}


def _evidence(claim: Contribution) -> Iterator[Mapping[str, Any]]:
    """The pages where a source states it, else the address of its record."""
    pages = [page["url"] for page in claim.said.get("evidence") or ()] or [claim.ref["url"]]
    for url in pages[:EVIDENCE_MAX]:
        yield {"sourceId": claim.source, "observationId": None, "url": url}


def _time(text: object) -> str | None:
    """A valid year, month, day or instant, as precise as it is given; None for anything else."""
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        return None
    try:
        datetime.fromisoformat(text + "2000-01-01"[len(text) :])
    except ValueError:
        return None
    return text
