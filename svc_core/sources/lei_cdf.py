"""GLEIF's golden copy in XML: legal entities (LEI-CDF 1 to 3) and relationships (RR-CDF).

A window: a golden copy is published in parts and in deltas, under the record count of the whole.
"""

from xml.etree.ElementTree import Element

from svc_core.sources import leis
from svc_core.sources.body import Body
from svc_core.sources.model import About, Given, Record, Rejection, Told
from svc_core.sources.values import moment, records

_HEADERS = ("LEIHeader", "Header")
_ROOTS = ("LEIData", "RelationshipData")


def _parse(body: Body, _: Given) -> Told:
    relations: list[Record | Rejection] = []
    for element in body.elements(*_HEADERS, "LEIRecord", "RelationshipRecord"):
        name = _name(element)
        if name in _HEADERS:
            yield About(stamp=moment(_text(_members(element), "ContentDate")))
        elif name == "LEIRecord":
            yield from records([element], _entity, lambda one: _text(_members(one), "LEI"))
        else:
            relations += records([element], _relation, _ends)
    yield from sorted(relations, key=leis.nearest_last)


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _members(element: Element | None, *path: str) -> dict[str, Element]:
    """What an element holds, or one down a path of local names, by local names."""
    found = {} if element is None else {_name(child): child for child in element}
    return _members(found.get(path[0]), *path[1:]) if path else found


def _text(members: dict[str, Element], name: str) -> str | None:
    found = members.get(name)
    return None if found is None else found.text


def _entity(record: Element) -> Record:
    members = _members(record)
    entity = _members(members["Entity"])
    others = [entity.get(f"{how}OtherEntityNames") for how in ("", "Transliterated")]
    names = [name.text for group in others if group is not None for name in group]
    facts = {
        "category": _text(entity, "EntityCategory"),
        "status": _text(entity, "EntityStatus"),
        "jurisdiction": _text(entity, "LegalJurisdiction"),
        "legalCountry": _text(_members(entity.get("LegalAddress")), "Country"),
        "country": _text(_members(entity.get("HeadquartersAddress")), "Country"),
        "created": _text(entity, "EntityCreationDate"),
        "expired": _text(entity, "EntityExpirationDate"),
    }
    return leis.entity(
        leis.code(_text(members, "LEI")),
        [_text(entity, "LegalName"), *names],
        facts,
        merged=bool(_members(entity.get("SuccessorEntity"))),
        stamp=moment(_text(_members(members.get("Registration")), "LastUpdateDate")),
    )


def _ends(record: Element) -> tuple[str | None, str | None]:
    told = _members(record, "Relationship")
    first, second = (_members(told.get(end)) for end in ("StartNode", "EndNode"))
    return _text(first, "NodeID"), _text(second, "NodeID")


def _relation(record: Element) -> Record:
    told = _members(record, "Relationship")
    stated = [_members(one) for one in told.get("RelationshipPeriods", ())]
    periods = {_text(period, "PeriodType"): period for period in stated}
    period = periods.get("RELATIONSHIP_PERIOD", {})
    return leis.relation(
        *_ends(record),
        _text(told, "RelationshipType"),
        status=_text(told, "RelationshipStatus"),
        since=_text(period, "StartDate"),
        until=_text(period, "EndDate"),
        stamp=moment(_text(_members(record, "Registration"), "LastUpdateDate")),
    )


LEI_CDF = leis.gleif_format(
    id="lei-cdf",
    title="GLEIF golden copy (LEI-CDF and RR-CDF)",
    recognise=lambda body: body.root in _ROOTS,
    parse=_parse,
)
