"""Converts a subject to a STIX domain object.

Rule 1: the object is the same whichever export it is in, its own or one that refers to it.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from svc_core.ledger.stix.issuer import Issuer
from svc_core.ledger.stix.subject_state import SubjectState, payload_of, text_in
from svc_core.ledger.transfer.observables import observable
from svc_core.ledger.transfer.stix_ids import FIXED_TIME
from svc_core.ledger.transfer.stix_writer import Object

_CLASSES: Final = {"organization": "organization", "person": "individual", "group": "group"}
_DOMAIN_TYPES: Final = frozenset(
    {"threat-actor", "intrusion-set", "campaign", "malware", "tool", "infrastructure"}
    | {"vulnerability"}
)
_COUNTRY: Final = re.compile("([A-Z]{2})(?:-[A-Z0-9]{1,3})?")


def subject_id(issuer: Issuer, state: SubjectState) -> str:
    """Return the identifier of a subject's object."""
    return issuer.id(_shape(state)[0], state.subject)


def subject_label(state: SubjectState) -> str:
    """Return the label of a subject, or its identifier if it has none."""
    payload = _payload(state)
    return text_in(payload.get("label")) or state.subject


def subject_object(issuer: Issuer, state: SubjectState) -> Object:
    """Build a subject's object, with external references for designators without an object.

    A subject without records at the record time becomes an identity of unknown class.
    """
    type_, members = _shape(state)
    first = next(
        (record for record in state.records if record.id == state.subject),
        state.records[0] if state.records else None,
    )
    return issuer.stix_object(
        type_,
        (state.subject,),
        FIXED_TIME if first is None else first.recorded_at,
        state.newest or FIXED_TIME,
        name=subject_label(state),
        description=text_in(_payload(state).get("description")),
        external_references=_references(state),
        extensions=None if first is None else issuer.origin(first, "unverified"),
        **members,
    )


def _payload(state: SubjectState) -> Mapping[str, Any]:
    return payload_of(state.identity)


def _shape(state: SubjectState) -> tuple[str, dict[str, Any]]:
    """Return the STIX type of a subject, with the members that the type requires."""
    kind = text_in(_payload(state).get("type"))
    if kind == "event":
        return "incident", {}
    if kind == "malware":
        return "malware", {"is_family": True}
    if kind in _DOMAIN_TYPES:
        return kind, {}
    if kind == "location" and (country := _country(state)):
        # STIX 2.1, 4.10: a location has a region, a country or coordinates.
        return "location", {"country": country}
    return "identity", {"identity_class": _CLASSES.get(str(kind), "unknown")}


def _country(state: SubjectState) -> str | None:
    """Return the country of a location by the newest standing claim."""
    for statement in reversed(state.standing_statements):
        payload = payload_of(statement, "claim")
        value = payload.get("value")
        if isinstance(value, dict):
            value = value.get("country")
        elif text_in(payload.get("predicate")) not in {"country", "jurisdiction"}:
            continue
        match = _COUNTRY.fullmatch(value) if isinstance(value, str) else None
        if match is not None:
            return match[1]
    return None


def _references(state: SubjectState) -> list[Object]:
    names = set()
    for statement in state.standing_statements:
        payload = payload_of(statement, "designator")
        scheme, value = text_in(payload.get("scheme")), text_in(payload.get("value"))
        if scheme and value and observable(scheme, value) is None:
            names.add((scheme, value))
    return [{"source_name": scheme, "external_id": value} for scheme, value in sorted(names)]
