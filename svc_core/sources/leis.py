"""Legal entities and who consolidates whom, as GLEIF tells of them in JSON and in XML."""

import re
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any

from svc_core.sources.identifiers import lei
from svc_core.sources.model import Format, Record
from svc_core.sources.values import countries, day, designator, required, text

gleif_format = partial(
    Format,
    kind="window",
    provider="gleif",
    brings=("entity", "relation"),
    cadence_seconds=86_400,
    license="CC0-1.0",
    attribution="GLEIF",
)

_TYPES = {
    "GENERAL": "company",
    "BRANCH": "company",
    "SOLE_PROPRIETOR": "company",
    "FUND": "organization",
    "RESIDENT_GOVERNMENT_ENTITY": "government",
    "INTERNATIONAL_ORGANIZATION": "organization",
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

_JURISDICTION = re.compile("[A-Z]{2}(?:-[A-Z0-9]{1,3})?")


def code(value: object) -> str:
    """A LEI with right check digits.

    Raises:
        Unusable: it is none.
    """
    return required(lei(value), "a LEI with right check digits")


def page(number: str) -> str:
    """The public page of a legal entity."""
    return f"https://search.gleif.org/#/record/{number}"


def entity(
    number: str,
    names: Iterable[object],
    facts: dict[str, Any],
    *,
    bics: Iterable[object] = (),
    merged: bool = False,
    stamp: datetime | None = None,
) -> Record:
    """A legal entity, the first of its names the legal one; `facts` are texts as GLEIF says them.

    They are `category`, `status`, `jurisdiction`, `legalCountry`, `country`, `created`, `expired`.
    """
    legal, *others = (text(name) for name in names)
    told = text(facts.get("jurisdiction")) or ""
    home = told if _JURISDICTION.fullmatch(told) else None
    status = _STATUSES.get(str(facts.get("status")), "unknown")
    validity = {"from": day(facts.get("created")), "to": day(facts.get("expired"))}
    said = {
        "type": _TYPES.get(str(facts.get("category")), "organization"),
        "name": required(legal, "a legal name"),
        "aliases": [name for name in dict.fromkeys(others) if name and name != legal],
        "designators": [
            designator("lei", number, "gleif"),
            *(designator("bic", bic, "gleif") for bic in bics if bic),
        ],
        "jurisdiction": home,
        "countryCodes": countries([told[:2], facts.get("legalCountry"), facts.get("country")]),
        "status": "merged" if merged and status == "inactive" else status,
        "validity": validity if any(validity.values()) else None,
    }
    return Record("entity", f"lei:{number}", said, stamp=stamp, record_id=number, url=page(number))


def relation(
    child: object,
    parent: object,
    kind: object,
    *,
    status: object = None,
    since: object = None,
    until: object = None,
    stamp: datetime | None = None,
) -> Record:
    """What consolidates, manages or heads what, both known by their LEI.

    Raises:
        Unusable: one has none, as those that GLEIF knows by other numbers only.
    """
    source, target = code(child), code(parent)
    type_, level = required(_RELATIONS.get(str(kind)), "a kind of relation that is known")
    ends = {"source": f"lei:{source}", "target": f"lei:{target}"}
    return Record(
        "relation",
        f"{type_}|{ends['source']}|{ends['target']}",
        {
            "type": type_,
            **ends,
            "directed": True,
            "confidence": 1.0,
            "validFrom": day(since),
            "validTo": day(until),
            "attributes": {"level": level, "status": str(status or "ACTIVE").lower()},
        },
        stamp=stamp,
        record_id=f"{source}/{target}",
        url=page(source),
    )


def nearest_last(one: object) -> bool:
    """Sorts direct relations behind others, so that of two between the same ends they stay."""
    return isinstance(one, Record) and one.said.get("attributes", {}).get("level") == "direct"
