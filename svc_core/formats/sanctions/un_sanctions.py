"""The consolidated list of the Security Council of the United Nations, in XML.

Rule: quality tells aliases apart: `Low` ones are weak. `Good` ones, and the `a.k.a.` and `f.k.a.`
      of entities, are as good as names.
"""

import re
from xml.etree.ElementTree import Element

from svc_core.formats.model import About, Contents, Given, Record, Said, Unusable
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.parties import entity, identifier
from svc_core.formats.reading.values import (
    countries_named,
    country_named,
    day,
    moment,
    records,
    require,
    text,
)

LIST = "UN Security Council Consolidated List"
PAGE = "https://main.un.org/securitycouncil/en/content/un-sc-consolidated-list"
_TYPES = {"INDIVIDUAL": "person", "ENTITY": "organization"}
_NAMES = ("FIRST_NAME", "SECOND_NAME", "THIRD_NAME", "FOURTH_NAME")
_PLACE = ("STREET", "CITY", "STATE_PROVINCE", "ZIP_CODE", "COUNTRY")
_MADE = re.compile(r"\bdateGenerated\s*=\s*[\"']([^\"']+)")


def _parse(body: Body, _: Given) -> Contents:
    made = _MADE.search(body.head)
    yield About(moment(made and made[1]), LIST, PAGE)
    listed = body.elements(*_TYPES)
    yield from records(listed, _record, lambda one: _of(one, "DATAID") or _of(one, *_NAMES))


def _all(element: Element, *path: str) -> list[Element]:
    """The elements at a path, in whatever name space."""
    return element.findall("/".join(f"{{*}}{name}" for name in path))


def _texts(element: Element, *path: str) -> list[str]:
    return [told for one in _all(element, *path) if (told := text(one.text))]


def _of(element: Element, *names: str, parted: str = " ") -> str | None:
    """The texts of the children with these names, in the order of the names."""
    return parted.join(one for name in names for one in _texts(element, name)[:1]) or None


def _record(element: Element) -> Record:
    kind = element.tag.rpartition("}")[2]
    number = require(_of(element, "REFERENCE_NUMBER"), "REFERENCE_NUMBER")
    aliases, lived = _all(element, f"{kind}_ALIAS"), _all(element, f"{kind}_ADDRESS")
    weak = [one for one in aliases if str(_of(one, "QUALITY")).lower() == "low"]
    strong = [one for one in aliases if one not in weak]
    lands = [*_texts(element, "NATIONALITY", "VALUE"), *(_of(one, "COUNTRY") for one in lived)]
    papers = _all(element, f"{kind}_DOCUMENT")
    said = {
        "type": _TYPES[kind],
        "name": require(_of(element, *_NAMES), "a name"),
        "aliases": [*_each(strong, "ALIAS_NAME"), *_texts(element, "NAME_ORIGINAL_SCRIPT")],
        "weakAliases": _each(weak, "ALIAS_NAME"),
        "description": "; ".join(_texts(element, "DESIGNATION", "VALUE")) or None,
        "countryCodes": countries_named(lands),
        "birthDates": [*filter(None, map(_date, _all(element, f"{kind}_DATE_OF_BIRTH")))],
        "birthPlaces": _each(_all(element, f"{kind}_PLACE_OF_BIRTH"), *_PLACE),
        "gender": (_of(element, "GENDER") or "").lower() or None,
        "addresses": _each(lived, *_PLACE),
        "identifiers": [_paper(one) for one in papers if _of(one, "NUMBER")],
        "sanctions": [_listing(element)],
    }
    updated = filter(None, map(moment, _texts(element, "LAST_DAY_UPDATED", "VALUE")))
    stamp = max(updated, default=moment(_of(element, "LISTED_ON")))
    return entity([f"un-ref:{number}"], said, stamp=stamp, record_id=_of(element, "DATAID"))


def _each(elements: list[Element], *names: str) -> list[str]:
    return [told for one in elements if (told := _of(one, *names, parted=", "))]


def _listing(element: Element) -> Said:
    return {
        "programId": _of(element, "UN_LIST_TYPE"),
        "authority": "United Nations Security Council",
        "listName": LIST,
        "listedDate": _day(_of(element, "LISTED_ON")),
        "reason": _of(element, "COMMENTS1"),
        "status": "delisted" if _of(element, "DELISTED_ON") else "active",
    }


def _date(element: Element) -> str | None:
    """As exact as it is told: a day, a year, or an interval of years."""
    years = _of(element, "FROM_YEAR", "TO_YEAR", parted="/")
    return _day(_of(element, "DATE")) or _of(element, "YEAR") or years


def _day(told: str | None) -> str | None:
    """A date; some were entered in other forms, which say nothing."""
    try:
        return day(told)
    except Unusable:
        return None


def _paper(element: Element) -> Said:
    kind = _of(element, "TYPE_OF_DOCUMENT", "TYPE_OF_DOCUMENT2") or ""
    land = _of(element, "COUNTRY_OF_ISSUE") or _of(element, "ISSUING_COUNTRY")
    paper = "passport" if "passport" in kind.lower() else "nationalId"
    return identifier(paper, str(_of(element, "NUMBER")), country_named(land))


UN_SANCTIONS = make_format("un-sanctions", lambda body: body.root == "CONSOLIDATED_LIST", _parse)
