"""Makes records of legal entities and of their relations from facts of GLEIF, JSON or XML."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from svc_core.formats.designators.schemes import well_formed
from svc_core.formats.model import Members, Record
from svc_core.formats.reading import entity_keys as parties
from svc_core.formats.reading import relation_records as relations
from svc_core.formats.reading.entity_keys import designator_keys
from svc_core.formats.reading.values import country_members, day, moment, require, text_member

_TYPES = {
    **dict.fromkeys(("GENERAL", "BRANCH", "SOLE_PROPRIETOR"), "company"),
    "RESIDENT_GOVERNMENT_ENTITY": "government",
}
_CHANGE_DATE = ("registration/lastUpdateDate", "Registration/LastUpdateDate")
_PERIOD = "Relationship/RelationshipPeriods/RelationshipPeriod[{*}PeriodType='RELATIONSHIP_PERIOD']"

Designators = Iterable[tuple[str, object]]
"""Designators as pairs of scheme and value."""

FactPaths = Mapping[str, tuple[str, str]]
"""Paths to the facts of a record: the first in JSON, the second in XML."""

ENTITY: FactPaths = {
    "lei": ("lei", "LEI"),
    "name": ("entity/legalName/name", "Entity/LegalName"),
    "category": ("entity/category", "Entity/EntityCategory"),
    "status": ("entity/status", "Entity/EntityStatus"),
    "jurisdiction": ("entity/jurisdiction", "Entity/LegalJurisdiction"),
    "legalCountry": ("entity/legalAddress/country", "Entity/LegalAddress/Country"),
    "country": ("entity/headquartersAddress/country", "Entity/HeadquartersAddress/Country"),
    "created": ("entity/creationDate", "Entity/EntityCreationDate"),
    "expired": ("entity/expiration/date", "Entity/EntityExpirationDate"),
    "changed": _CHANGE_DATE,
}
RELATION: FactPaths = {
    "child": ("relationship/startNode/id", "Relationship/StartNode/NodeID"),
    "parent": ("relationship/endNode/id", "Relationship/EndNode/NodeID"),
    "kind": ("relationship/type", "Relationship/RelationshipType"),
    "status": ("relationship/status", "Relationship/RelationshipStatus"),
    "since": ("period/startDate", f"{_PERIOD}/StartDate"),
    "until": ("period/endDate", f"{_PERIOD}/EndDate"),
    "changed": _CHANGE_DATE,
}
_STATUSES = {"ACTIVE": "active", "INACTIVE": "inactive"}
_RELATIONS = {
    "IS_DIRECTLY_CONSOLIDATED_BY": ("subsidiaryOf", "direct"),
    "IS_ULTIMATELY_CONSOLIDATED_BY": ("subsidiaryOf", "ultimate"),
    "IS_INTERNATIONAL_BRANCH_OF": ("associate", "branch"),
    "IS_FUND-MANAGED_BY": ("associate", "fundManager"),
    "IS_SUBFUND_OF": ("associate", "umbrellaFund"),
    "IS_FEEDER_TO": ("associate", "masterFund"),
}
"""Types of relations by those of GLEIF, each with the level or the role of its second end."""

_PAGE = "https://search.gleif.org/#/record/"
_JURISDICTION = re.compile("[A-Z]{2}(?:-[A-Z0-9]{1,3})?")


def require_lei(value: object) -> str:
    """Returns a LEI that must be well formed, with right check digits.

    Raises:
        RecordRefused: it is not.
    """
    return require(well_formed("lei", value), "a LEI with right check digits")


def legal_entity(
    facts: Mapping[str, Any],
    other_names: Iterable[object],
    bics: Iterable[object] = (),
    *,
    is_succeeded: bool,
) -> Record:
    """The record of a legal entity; `other_names` are its names beside the legal one."""
    code, legal = require_lei(facts["lei"]), require(text_member(facts["name"]), "a legal name")
    home = text_member(facts["jurisdiction"]) or ""
    status = _STATUSES.get(str(facts["status"]), "unknown")
    validity = {"from": day(facts["created"]), "to": day(facts["expired"])}
    names = dict.fromkeys(map(text_member, other_names))
    members = {
        "type": _TYPES.get(str(facts["category"]), "organization"),
        "name": legal,
        "aliases": [name for name in names if name and name != legal],
        "jurisdiction": home if _JURISDICTION.fullmatch(home) else None,
        "registered": parties.register_key(legal, home or None) if status == "active" else None,
        "countryCodes": country_members([home[:2], facts["legalCountry"], facts["country"]]),
        "status": "merged" if is_succeeded and status == "inactive" else status,
        "validity": validity if any(validity.values()) else None,
    }
    return lei_record(code, members, [("bic", bic) for bic in bics], stamp=moment(facts["changed"]))


def lei_record(
    number: str, members: Members, designators: Designators, *, stamp: datetime | None = None
) -> Record:
    """The record of the entity with this LEI; `designators` are those beside the LEI."""
    names, url = designator_keys([("lei", number), *designators]), _PAGE + number
    return parties.entity(names, members, provider="gleif", stamp=stamp, record_id=number, url=url)


def lei_relation(facts: Mapping[str, Any]) -> Record:
    """The record of a relation between two entities: consolidation, management or headship.

    Raises:
        RecordRefused: an end has no LEI, as those that GLEIF knows by other numbers only.
    """
    ends = [require_lei(facts[end]) for end in ("child", "parent")]
    kind, level = require(_RELATIONS.get(str(facts["kind"])), "a kind of relation that is known")
    members = {
        "confidence": 1.0,
        "validFrom": day(facts.get("since")),
        "validTo": day(facts.get("until")),
        "attributes": {"level": level, "status": str(facts.get("status") or "ACTIVE").lower()},
    }
    keys, stamp = [f"lei:{end}" for end in ends], moment(facts.get("changed"))
    url = _PAGE + ends[0]
    return relations.relation_record(
        kind, keys, members, stamp=stamp, record_id="/".join(ends), url=url
    )


def nearest_last(item: object) -> bool:
    """A sort key that puts direct relations last, so that they replace ultimate ones."""
    return isinstance(item, Record) and item.members["attributes"]["level"] == "direct"
