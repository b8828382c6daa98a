"""Parses the consolidated sanctions list of the UN Security Council, in XML.

Rule: an alias of quality `Low` is weak. One of quality `Good`, and the `a.k.a.` and `f.k.a.` of an
      entity, is as good as a name.
"""

import re
from xml.etree.ElementTree import Element

from svc_core.formats.model import Contents, Members, Metadata, Origin, Record, RecordRefused
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.entity_keys import entity, identifier
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import (
    countries_named,
    country_named,
    day,
    moment,
    record_list,
    require,
    text_member,
)

LIST = "UN Security Council Consolidated List"
PAGE = "https://main.un.org/securitycouncil/en/content/un-sc-consolidated-list"
_TYPES = {"INDIVIDUAL": "person", "ENTITY": "organization"}
_NAMES = ("FIRST_NAME", "SECOND_NAME", "THIRD_NAME", "FOURTH_NAME")
_PLACE = ("STREET", "CITY", "STATE_PROVINCE", "ZIP_CODE", "COUNTRY")
_GENERATED_AT = re.compile(r"\bdateGenerated\s*=\s*[\"']([^\"']+)")


def _parse(body: Body, _: Origin) -> Contents:
    match = _GENERATED_AT.search(body.head)
    yield Metadata(moment(match and match[1]), LIST, PAGE)
    rows = body.elements(*_TYPES)
    yield from record_list(
        rows, _record, lambda item: _field(item, "DATAID") or _field(item, *_NAMES)
    )


def _elements(element: Element, *path: str) -> list[Element]:
    """The elements at a path of local names, in any name space."""
    return element.findall("/".join(f"{{*}}{name}" for name in path))


def _texts(element: Element, *path: str) -> list[str]:
    return [string for child in _elements(element, *path) if (string := text_member(child.text))]


def _field(element: Element, *names: str, separator: str = " ") -> str | None:
    """The texts of the children with these names, in the order of the names."""
    return separator.join(string for name in names for string in _texts(element, name)[:1]) or None


def _record(element: Element) -> Record:
    kind = element.tag.rpartition("}")[2]
    number = require(_field(element, "REFERENCE_NUMBER"), "REFERENCE_NUMBER")
    aliases, homes = _elements(element, f"{kind}_ALIAS"), _elements(element, f"{kind}_ADDRESS")
    weak = [item for item in aliases if str(_field(item, "QUALITY")).lower() == "low"]
    strong = [item for item in aliases if item not in weak]
    lands = [*_texts(element, "NATIONALITY", "VALUE"), *(_field(item, "COUNTRY") for item in homes)]
    papers = _elements(element, f"{kind}_DOCUMENT")
    members = {
        "type": _TYPES[kind],
        "name": require(_field(element, *_NAMES), "a name"),
        "aliases": [*_fields(strong, "ALIAS_NAME"), *_texts(element, "NAME_ORIGINAL_SCRIPT")],
        "weakAliases": _fields(weak, "ALIAS_NAME"),
        "description": "; ".join(_texts(element, "DESIGNATION", "VALUE")) or None,
        "countryCodes": countries_named(lands),
        "birthDates": [*filter(None, map(_date, _elements(element, f"{kind}_DATE_OF_BIRTH")))],
        "birthPlaces": _fields(_elements(element, f"{kind}_PLACE_OF_BIRTH"), *_PLACE),
        "gender": (_field(element, "GENDER") or "").lower() or None,
        "addresses": _fields(homes, *_PLACE),
        "identifiers": [_paper(paper) for paper in papers if _field(paper, "NUMBER")],
        "sanctions": [_listing(element)],
    }
    updates = filter(None, map(moment, _texts(element, "LAST_DAY_UPDATED", "VALUE")))
    stamp = max(updates, default=moment(_field(element, "LISTED_ON")))
    return entity([f"un-ref:{number}"], members, stamp=stamp, record_id=_field(element, "DATAID"))


def _fields(elements: list[Element], *names: str) -> list[str]:
    return [string for element in elements if (string := _field(element, *names, separator=", "))]


def _listing(element: Element) -> Members:
    return {
        "programId": _field(element, "UN_LIST_TYPE"),
        "authority": "United Nations Security Council",
        "listName": LIST,
        "listedDate": _day(_field(element, "LISTED_ON")),
        "reason": _field(element, "COMMENTS1"),
        "status": "delisted" if _field(element, "DELISTED_ON") else "active",
    }


def _date(element: Element) -> str | None:
    """A date as exact as stated: a day, a year, or an interval of years."""
    years = _field(element, "FROM_YEAR", "TO_YEAR", separator="/")
    return _day(_field(element, "DATE")) or _field(element, "YEAR") or years


def _day(string: str | None) -> str | None:
    """A date; None for the few that are written in another form."""
    try:
        return day(string)
    except RecordRefused:
        return None


def _paper(element: Element) -> Members:
    kind = _field(element, "TYPE_OF_DOCUMENT", "TYPE_OF_DOCUMENT2") or ""
    land = _field(element, "COUNTRY_OF_ISSUE") or _field(element, "ISSUING_COUNTRY")
    paper = "passport" if "passport" in kind.lower() else "nationalId"
    return identifier(paper, str(_field(element, "NUMBER")), country_named(land))


UN_SANCTIONS = make_format("un-sanctions", lambda body: body.root == "CONSOLIDATED_LIST", _parse)
