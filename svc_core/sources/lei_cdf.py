"""GLEIF's golden copy in XML: legal entities (LEI-CDF 1 to 3) and relationships (RR-CDF).

A window: a golden copy is published in parts and in deltas, under the record count of the whole.
"""

from xml.etree.ElementTree import Element

from svc_core.sources import leis
from svc_core.sources.body import Body
from svc_core.sources.model import About, Format, Given, Record, Rejection, Told
from svc_core.sources.values import moment, records

_HEADERS = ("LEIHeader", "Header")
_ROOTS = ("LEIData", "RelationshipData")


def _parse(body: Body, _: Given) -> Told:
    relations: list[Record | Rejection] = []
    for element in body.elements(*_HEADERS, "LEIRecord", "RelationshipRecord"):
        name = _name(element)
        if name in _HEADERS:
            yield About(stamp=moment(_text(element, "ContentDate")))
        elif name == "LEIRecord":
            yield from records([element], _entity, lambda one: _text(one, "LEI"))
        else:
            relations += records([element], _relation, _ends)
    yield from sorted(relations, key=leis.nearest_last)


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _find(element: Element | None, *path: str) -> Element | None:
    """The first element down a path of local names, in the name space of the first."""
    for name in path:
        if element is None:
            return None
        space = element.tag[: element.tag.find("}") + 1]
        element = element.find(space + name)
    return element


def _text(element: Element | None, *path: str) -> str | None:
    found = _find(element, *path)
    return None if found is None else found.text


def _entity(record: Element) -> Record:
    entity = _find(record, "Entity")
    names = [
        name
        for group in ("OtherEntityNames", "TransliteratedOtherEntityNames")
        for name in _find(entity, group) or ()
    ]
    successors = _text(entity, "SuccessorEntity", "SuccessorLEI")
    facts = {
        "category": _text(entity, "EntityCategory"),
        "status": _text(entity, "EntityStatus"),
        "jurisdiction": _text(entity, "LegalJurisdiction"),
        "legalCountry": _text(entity, "LegalAddress", "Country"),
        "country": _text(entity, "HeadquartersAddress", "Country"),
        "created": _text(entity, "EntityCreationDate"),
        "expired": _text(entity, "EntityExpirationDate"),
    }
    return leis.entity(
        leis.code(_text(record, "LEI")),
        [_text(entity, "LegalName"), *(name.text for name in names)],
        facts,
        merged=bool(successors or _text(entity, "SuccessorEntity", "SuccessorEntityName")),
        stamp=moment(_text(record, "Registration", "LastUpdateDate")),
    )


def _ends(record: Element) -> tuple[str | None, str | None]:
    told = _find(record, "Relationship")
    return _text(told, "StartNode", "NodeID"), _text(told, "EndNode", "NodeID")


def _relation(record: Element) -> Record:
    told = _find(record, "Relationship")
    periods = {
        _text(period, "PeriodType"): period for period in _find(told, "RelationshipPeriods") or ()
    }
    period = periods.get("RELATIONSHIP_PERIOD")
    return leis.relation(
        *_ends(record),
        _text(told, "RelationshipType"),
        status=_text(told, "RelationshipStatus"),
        since=_text(period, "StartDate"),
        until=_text(period, "EndDate"),
        stamp=moment(_text(record, "Registration", "LastUpdateDate")),
    )


LEI_CDF = Format(
    id="lei-cdf",
    title="GLEIF golden copy (LEI-CDF and RR-CDF)",
    kind="window",
    provider="gleif",
    brings=("entity", "relation"),
    recognise=lambda body: body.root in _ROOTS,
    parse=_parse,
    cadence_seconds=86_400,
    license=leis.LICENSE,
    attribution=leis.ATTRIBUTION,
)
