"""GLEIF's golden copy in XML: legal entities (LEI-CDF 1 to 3) and relationships (RR-CDF).

A window: a golden copy is published in parts and in deltas, under the record count of the whole.
"""

from xml.etree.ElementTree import Element

from svc_core.sources import leis
from svc_core.sources.body import Body
from svc_core.sources.model import About, Given, Record, Rejection, Told
from svc_core.sources.values import moment, records

_HEADERS = ("LEIHeader", "Header")


def _parse(body: Body, _: Given) -> Told:
    relations: list[Record | Rejection] = []
    for element in body.elements(*_HEADERS, "LEIRecord", "RelationshipRecord"):
        for one in element.iter():
            one.tag = one.tag.rpartition("}")[2]
        if element.tag in _HEADERS:
            yield About(stamp=moment(element.findtext("ContentDate")))
        elif element.tag == "LEIRecord":
            yield from records([element], _entity, lambda one: one.findtext("LEI"))
        else:
            relations += records([element], _relation, lambda one: one.findtext(".//NodeID"))
    yield from sorted(relations, key=leis.nearest_last)


def _facts(record: Element, places: leis.Places) -> dict[str, str | None]:
    return {name: record.findtext(path) for name, (_, path) in places.items()}


def _entity(record: Element) -> Record:
    groups = ("OtherEntityNames", "TransliteratedOtherEntityNames")
    others = [name.text for group in groups for name in record.iterfind(f"Entity/{group}/*")]
    is_succeeded = record.find("Entity/SuccessorEntity/*") is not None
    return leis.entity(_facts(record, leis.ENTITY), others, is_succeeded=is_succeeded)


def _relation(record: Element) -> Record:
    return leis.relation(_facts(record, leis.RELATION))


LEI_CDF = leis.gleif_format(
    id="lei-cdf",
    title="GLEIF golden copy (LEI-CDF and RR-CDF)",
    recognise=lambda body: body.root in {"LEIData", "RelationshipData"},
    parse=_parse,
)
