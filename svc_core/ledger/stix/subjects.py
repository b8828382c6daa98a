"""A subject as a STIX domain object.

Rule 1: the object is the same whichever export it is in, its own or one that refers to it.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from svc_core.ledger.exchange.ids import FIXED_TIME
from svc_core.ledger.exchange.observables import observable
from svc_core.ledger.stix.issuer import Issuer
from svc_core.ledger.stix.subject_state import Known, Object, said, text

_CLASSES: Final = {"organization": "organization", "person": "individual", "group": "group"}
_DOMAIN_TYPES: Final = frozenset(
    {"threat-actor", "intrusion-set", "campaign", "malware", "tool", "infrastructure"}
    | {"vulnerability"}
)
_COUNTRY: Final = re.compile("([A-Z]{2})(?:-[A-Z0-9]{1,3})?")


def subject_id(issuer: Issuer, known: Known) -> str:
    """The identifier of the object that a subject is."""
    return issuer.id(_shape(known)[0], known.subject)


def name_of(known: Known) -> str:
    """What people call the subject, or its identifier where that is not known."""
    payload = _payload(known)
    return text(payload.get("label")) or known.subject


def subject_object(issuer: Issuer, known: Known) -> Object:
    """The subject with every name that STIX has no object for.

    One of which nothing is visible at the record time is an identity of an unknown class.
    """
    type_, members = _shape(known)
    first = next(
        (each for each in known.records if each.id == known.subject),
        known.records[0] if known.records else None,
    )
    return issuer.made(
        type_,
        (known.subject,),
        FIXED_TIME if first is None else first.recorded_at,
        known.newest or FIXED_TIME,
        name=name_of(known),
        description=text(_payload(known).get("description")),
        external_references=_references(known),
        extensions=None if first is None else issuer.origin(first, "unverified"),
        **members,
    )


def _payload(known: Known) -> Mapping[str, Any]:
    return said(known.identity)


def _shape(known: Known) -> tuple[str, dict[str, Any]]:
    """The STIX type of a subject with the members that the type asks for."""
    stated = text(_payload(known).get("type"))
    if stated == "event":
        return "incident", {}
    if stated == "malware":
        return "malware", {"is_family": True}
    if stated in _DOMAIN_TYPES:
        return stated, {}
    if stated == "location" and (country := _country(known)):
        # STIX 2.1, 4.10: a location has a region, a country or coordinates.
        return "location", {"country": country}
    return "identity", {"identity_class": _CLASSES.get(str(stated), "unknown")}


def _country(known: Known) -> str | None:
    """The country that the newest standing claim puts a location in."""
    for each in reversed(known.standing_statements):
        payload = said(each, "claim")
        value = payload.get("value")
        if isinstance(value, dict):
            value = value.get("country")
        elif text(payload.get("predicate")) not in {"country", "jurisdiction"}:
            continue
        match = _COUNTRY.fullmatch(value) if isinstance(value, str) else None
        if match is not None:
            return match[1]
    return None


def _references(known: Known) -> list[Object]:
    names = set()
    for each in known.standing_statements:
        payload = said(each, "designator")
        scheme, value = text(payload.get("scheme")), text(payload.get("value"))
        if scheme and value and observable(scheme, value) is None:
            names.add((scheme, value))
    return [{"source_name": scheme, "external_id": value} for scheme, value in sorted(names)]
