"""The consolidated list of the Security Council of the United Nations, in XML.

Rule: quality tells aliases apart: `Low` ones are weak. `Good` ones, and the `a.k.a.` and `f.k.a.`
      of entities, are as good as names.
"""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from svc_core.sources.body import Body
from svc_core.sources.model import About, Format, Given, Record, Told, Unusable
from svc_core.sources.parties import identifier, sanction
from svc_core.sources.values import (
    countries_named,
    country_named,
    day,
    designator,
    moment,
    records,
    required,
    text,
)

PAGE = "https://main.un.org/securitycouncil/en/content/un-sc-consolidated-list"
_TYPES = {"INDIVIDUAL": "person", "ENTITY": "organization"}
_NAMES = ("FIRST_NAME", "SECOND_NAME", "THIRD_NAME", "FOURTH_NAME")
_PLACE = ("STREET", "CITY", "STATE_PROVINCE", "ZIP_CODE", "COUNTRY")
_MADE = re.compile(r"\bdateGenerated\s*=\s*[\"']([^\"']+)")


def _parse(body: Body, _: Given) -> Told:
    made = _MADE.search(body.head)
    yield About(moment(made and made[1]), "UN Security Council Consolidated List", PAGE)
    listed = body.elements(*_TYPES)
    yield from records(listed, _record, lambda one: _of(one, "DATAID") or _of(one, *_NAMES))


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _all(element: Element, *names: str) -> Iterator[Element]:
    """The children with one of these names, `_` before it standing for the kind of party."""
    kind = _local(element)
    wanted = {f"{kind}{name}" if name.startswith("_") else name for name in names}
    return (child for child in element if _local(child) in wanted)


def _of(element: Element, *names: str, parted: str = " ") -> str | None:
    """The texts of the children with these names, in the order of the names."""
    told = {_local(child): text(child.text) for child in reversed(element)}
    return parted.join(told[name] or "" for name in names if told.get(name)) or None


def _values(element: Element, name: str) -> list[str]:
    """The texts of `VALUE` in the children with this name."""
    return [told for one in _all(element, name) for v in one if (told := text(v.text))]


def _record(element: Element) -> Record:
    number = required(_of(element, "REFERENCE_NUMBER"), "REFERENCE_NUMBER")
    aliases = [(_of(a, "ALIAS_NAME"), _of(a, "QUALITY") or "") for a in _all(element, "_ALIAS")]
    strong = [name for name, quality in aliases if name and quality.lower() != "low"]
    weak = [name for name, quality in aliases if name and quality.lower() == "low"]
    addresses = [_of(one, *_PLACE, parted=", ") for one in _all(element, "_ADDRESS")]
    lived = [_of(one, "COUNTRY") for one in _all(element, "_ADDRESS")]
    born = [_of(one, *_PLACE, parted=", ") for one in _all(element, "_PLACE_OF_BIRTH")]
    said = {
        "type": _TYPES[_local(element)],
        "name": required(_of(element, *_NAMES), "a name"),
        "aliases": [*strong, *filter(None, [_of(element, "NAME_ORIGINAL_SCRIPT")])],
        "weakAliases": weak,
        "description": "; ".join(_values(element, "DESIGNATION")) or None,
        "designators": [designator("un-ref", number)],
        "countryCodes": countries_named([*_values(element, "NATIONALITY"), *lived]),
        "birthDates": [date for one in _all(element, "_DATE_OF_BIRTH") if (date := _date(one))],
        "birthPlaces": [one for one in born if one],
        "gender": (_of(element, "GENDER") or "").lower() or None,
        "addresses": [one for one in addresses if one],
        "identifiers": [_paper(one) for one in _all(element, "_DOCUMENT") if _of(one, "NUMBER")],
        "sanctions": [
            sanction(
                _of(element, "UN_LIST_TYPE"),
                "United Nations Security Council",
                "UN Security Council Consolidated List",
                listed=_day(_of(element, "LISTED_ON")),
                reason=_of(element, "COMMENTS1"),
                status="delisted" if _of(element, "DELISTED_ON") else "active",
            )
        ],
    }
    updated = filter(None, map(moment, _values(element, "LAST_DAY_UPDATED")))
    stamp = max(updated, default=moment(_of(element, "LISTED_ON")))
    return Record("entity", f"un-ref:{number}", said, stamp, record_id=_of(element, "DATAID"))


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


def _paper(element: Element) -> dict[str, object]:
    kind = _of(element, "TYPE_OF_DOCUMENT", "TYPE_OF_DOCUMENT2") or ""
    land = _of(element, "COUNTRY_OF_ISSUE") or _of(element, "ISSUING_COUNTRY")
    paper = "passport" if "passport" in kind.lower() else "nationalId"
    return identifier(paper, str(_of(element, "NUMBER")), country_named(land))


UN_SANCTIONS = Format(
    id="un-sanctions",
    title="UN Security Council Consolidated List",
    kind="snapshot",
    provider="un",
    brings=("entity",),
    recognise=lambda body: body.root == "CONSOLIDATED_LIST",
    parse=_parse,
    cadence_seconds=21_600,
    attribution="United Nations Security Council",
)
