"""Parses countries: facts of mledoze/countries and REST Countries 3.1, outlines as GeoJSON.

Natural Earth's features have facts and outlines. The first two give the centre as latitude and
longitude. Of an outline only the bounding box is kept.
"""

from collections.abc import Callable, Mapping
from typing import Any

from svc_core.formats.model import Contents, Origin, Record, RecordRefused
from svc_core.formats.places.natural_earth import is_land, land_code, land_members, lands
from svc_core.formats.places.outlines import box
from svc_core.formats.reading.codes import calling_codes, currencies, language_code
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import (
    amount,
    as_list,
    country,
    country_members,
    point,
    record_list,
    text_member,
)

PROVIDER = "mledoze"
AREA_CODES = 4  # suffixes; a country with so many has the root for itself: +1, +7
KOSOVO = {"UNK": "XKX"}  # without a code of ISO: one of users in place of another

_LISTS: dict[str, Callable[[Any], list[str]]] = {
    "capital": list,
    "tld": list,
    "languages": lambda tags: [language_code(tag) for tag in tags],
    "currencies": currencies,
    "borders": lambda codes: country_members(KOSOVO.get(code, code) for code in codes),
}
"""List members with their readers: an empty list states that there are none."""


def _items(page: Any) -> list[Any]:
    return as_list(page["features"] if isinstance(page, dict) and "features" in page else page)


def _properties(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return item.get("properties") or item


def _recognise(body: Body) -> bool:
    first = _items(body.json)[0]
    return "cca2" in _properties(first) or is_land(first)


def _parse(body: Body, _: Origin) -> Contents:
    items = _items(body.whole_json())
    if "cca2" in _properties(items[0]):
        yield from record_list(items, _country, lambda item: _properties(item)["cca2"])
    else:
        yield from record_list(lands(items), _land, lambda item: item["properties"])


def _land(feature: Mapping[str, Any]) -> Record:
    return country_record(land_code(feature), land_members(feature))


def country_record(code: object, members: Mapping[str, Any], provider_id: object = None) -> Record:
    """The record of the country with this alpha-2 code.

    Raises:
        RecordRefused: ISO 3166-1 has no such code, or no longer.
    """
    alpha2 = country(code, "alpha2")
    if alpha2 is None:
        raise RecordRefused("has a code that ISO 3166-1 does not have")
    id_ = text_member(provider_id) or alpha2
    return Record("country", alpha2, {"countryCode": alpha2, **members}, record_id=id_)


def numeric(code: object) -> str | None:
    """A numeric code of ISO 3166-1 or M49 in three digits; None for 0, which means no code."""
    digits = str(code or "").strip().zfill(3)
    return None if digits == "000" else digits


def _country(row: Mapping[str, Any]) -> Record:
    iso = _properties(row)["cca2"]
    return country_record(iso, {"bbox": box(row["geometry"])} if "geometry" in row else _facts(row))


def _facts(item: Mapping[str, Any]) -> dict[str, Any]:
    name, cca3 = item["name"], text_member(item.get("cca3"))
    native = name.get("native", name.get("nativeName"))
    provider = "restcountries" if "population" in item else PROVIDER
    north, west = item.get("latlng") or (None, None)
    measures = {"population": "1", "area": "km2"}
    return {
        "provider": provider,
        "alpha3": KOSOVO.get(cca3 or "", cca3),
        "numeric": numeric(item.get("ccn3")),
        "name": text_member(name["common"]),
        "officialName": text_member(name.get("official")),
        "nativeNames": native
        and {language_code(tag): label["common"] for tag, label in native.items()},
        "region": text_member(item.get("region")),
        "subregion": text_member(item.get("subregion")),
        **{m: amount(m, item.get(m), unit=unit, provider=provider) for m, unit in measures.items()},
        "centroid": point(west, north),
        "callingCodes": _calling(item.get("idd") or {}),
        "unMember": item.get("unMember"),
        **{key: make(item[key]) for key, make in _LISTS.items() if item.get(key) is not None},
    }


def _calling(dial: Mapping[str, Any]) -> list[str] | None:
    suffixes = dial.get("suffixes") or [""]
    ends = [""] if len(suffixes) >= AREA_CODES else suffixes
    return calling_codes(",".join(f"{dial['root']}{end}" for end in ends)) if dial else None


COUNTRIES = make_format("countries", _recognise, _parse)
