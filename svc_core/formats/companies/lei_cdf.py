"""Parses GLEIF's golden copy in XML: legal entities (LEI-CDF 1 to 3), relationships (RR-CDF).

A window: a golden copy is published in parts and in deltas, under the record count of the whole.
"""

from xml.etree.ElementTree import Element

from svc_core.formats.companies import leis
from svc_core.formats.model import Contents, Metadata, Origin, Record, Rejection
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import moment, record_list

_HEADERS = ("LEIHeader", "Header")


def _parse(body: Body, _: Origin) -> Contents:
    relations: list[Record | Rejection] = []
    for element in body.elements(*_HEADERS, "LEIRecord", "RelationshipRecord"):
        name = element.tag.rpartition("}")[2]
        if name in _HEADERS:
            yield Metadata(stamp=moment(_text(element, "ContentDate")))
        elif name == "LEIRecord":
            yield from record_list([element], _entity, lambda item: _text(item, "LEI"))
        else:
            relations += record_list([element], _relation, lambda item: _facts(item, leis.RELATION))
    yield from sorted(relations, key=leis.nearest_last)


def _find(element: Element, path: str) -> Element | None:
    """The element at a path of local names, None where there is none."""
    space, node = element.tag[: element.tag.find("}") + 1], element
    for name in path.split("/"):  # quicker than the whole path at once
        step = node.find(space + name)
        if step is None:
            return None
        node = step
    return node


def _text(element: Element, path: str) -> str | None:
    node = _find(element, path)
    return None if node is None else node.text


def _facts(record: Element, places: leis.FactPaths) -> dict[str, str | None]:
    return {name: _text(record, path) for name, (_, path) in places.items()}


def _entity(record: Element) -> Record:
    groups = ("OtherEntityNames", "TransliteratedOtherEntityNames")
    elements = [_find(record, f"Entity/{group}") for group in groups]
    other_names = [name.text for group in elements if group is not None for name in group]
    is_succeeded = _find(record, "Entity/SuccessorEntity/*") is not None
    return leis.legal_entity(_facts(record, leis.ENTITY), other_names, is_succeeded=is_succeeded)


def _relation(record: Element) -> Record:
    return leis.lei_relation(_facts(record, leis.RELATION))


LEI_CDF = make_format("lei-cdf", lambda body: body.root in {"LEIData", "RelationshipData"}, _parse)
