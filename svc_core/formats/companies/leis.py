"""Legal entities and who consolidates whom, as GLEIF tells of them in JSON and in XML."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from svc_core.formats.model import Record, Said
from svc_core.formats.reading import parties, relations
from svc_core.formats.reading.identifiers import lei
from svc_core.formats.reading.parties import designator_keys
from svc_core.formats.reading.values import countries, day, moment, require, text

_TYPES = {
    **dict.fromkeys(("GENERAL", "BRANCH", "SOLE_PROPRIETOR"), "company"),
    "RESIDENT_GOVERNMENT_ENTITY": "government",
}
_CHANGED = ("registration/lastUpdateDate", "Registration/LastUpdateDate")
_PERIOD = "Relationship/RelationshipPeriods/RelationshipPeriod[{*}PeriodType='RELATIONSHIP_PERIOD']"

Named = Iterable[tuple[str, object]]
"""Designators, by scheme and value."""

Places = Mapping[str, tuple[str, str]]
"""Where the facts of a record stand in the JSON, and where in the XML."""

ENTITY: Places = {
    "lei": ("lei", "LEI"),
    "name": ("entity/legalName/name", "Entity/LegalName"),
    "category": ("entity/category", "Entity/EntityCategory"),
    "status": ("entity/status", "Entity/EntityStatus"),
    "jurisdiction": ("entity/jurisdiction", "Entity/LegalJurisdiction"),
    "legalCountry": ("entity/legalAddress/country", "Entity/LegalAddress/Country"),
    "country": ("entity/headquartersAddress/country", "Entity/HeadquartersAddress/Country"),
    "created": ("entity/creationDate", "Entity/EntityCreationDate"),
    "expired": ("entity/expiration/date", "Entity/EntityExpirationDate"),
    "changed": _CHANGED,
}
RELATION: Places = {
    "child": ("relationship/startNode/id", "Relationship/StartNode/NodeID"),
    "parent": ("relationship/endNode/id", "Relationship/EndNode/NodeID"),
    "kind": ("relationship/type", "Relationship/RelationshipType"),
    "status": ("relationship/status", "Relationship/RelationshipStatus"),
    "since": ("period/startDate", f"{_PERIOD}/StartDate"),
    "until": ("period/endDate", f"{_PERIOD}/EndDate"),
    "changed": _CHANGED,
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
"""Types of edges, with what level or role of the second end they are about."""

_PAGE = "https://search.gleif.org/#/record/"
_JURISDICTION = re.compile("[A-Z]{2}(?:-[A-Z0-9]{1,3})?")


def code(value: object) -> str:
    """A LEI with right check digits.

    Raises:
        Unusable: it is none.
    """
    return require(lei(value), "a LEI with right check digits")


def entity(
    told: Mapping[str, Any],
    others: Iterable[object],
    bics: Iterable[object] = (),
    *,
    is_succeeded: bool,
) -> Record:
    """The legal entity of these facts; `others` are its names beside the legal one."""
    number, legal = code(told["lei"]), require(text(told["name"]), "a legal name")
    home = text(told["jurisdiction"]) or ""
    status = _STATUSES.get(str(told["status"]), "unknown")
    validity = {"from": day(told["created"]), "to": day(told["expired"])}
    names = dict.fromkeys(map(text, others))
    said = {
        "type": _TYPES.get(str(told["category"]), "organization"),
        "name": legal,
        "aliases": [name for name in names if name and name != legal],
        "jurisdiction": home if _JURISDICTION.fullmatch(home) else None,
        "registered": parties.registered(legal, home or None) if status == "active" else None,
        "countryCodes": countries([home[:2], told["legalCountry"], told["country"]]),
        "status": "merged" if is_succeeded and status == "inactive" else status,
        "validity": validity if any(validity.values()) else None,
    }
    return record(number, said, [("bic", bic) for bic in bics], stamp=moment(told["changed"]))


def record(number: str, said: Said, named: Named, *, stamp: datetime | None = None) -> Record:
    """What is said of the legal entity with this LEI, `named` being its other designators."""
    names, url = designator_keys([("lei", number), *named]), _PAGE + number
    return parties.entity(names, said, provider="gleif", stamp=stamp, record_id=number, url=url)


def relation(told: Mapping[str, Any]) -> Record:
    """What consolidates, manages or heads what, both known by their LEI.

    Raises:
        Unusable: one has none, as those that GLEIF knows by other numbers only.
    """
    ends = [code(told[end]) for end in ("child", "parent")]
    kind, level = require(_RELATIONS.get(str(told["kind"])), "a kind of relation that is known")
    said = {
        "confidence": 1.0,
        "validFrom": day(told.get("since")),
        "validTo": day(told.get("until")),
        "attributes": {"level": level, "status": str(told.get("status") or "ACTIVE").lower()},
    }
    keys, stamp = [f"lei:{end}" for end in ends], moment(told.get("changed"))
    url = _PAGE + ends[0]
    return relations.relation(kind, keys, said, stamp=stamp, record_id="/".join(ends), url=url)


def nearest_last(one: object) -> bool:
    """Sorts direct relations behind others, so that of two between the same ends they stay."""
    return isinstance(one, Record) and one.said["attributes"]["level"] == "direct"
