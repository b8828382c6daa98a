"""Countries: mledoze/countries and REST Countries 3.1 with their facts, and outlines as GeoJSON.

Both give a centre as latitude and longitude. Of an outline the box is kept that holds it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.codes import calling, currencies, language
from svc_core.sources.model import Format, Given, Record, Told, Unusable
from svc_core.sources.outlines import box
from svc_core.sources.values import countries, country, measurement, number, point, records, text

PROVIDER = "mledoze"
AREA_CODES = 4  # suffixes; a country with so many has the root for itself: +1, +7
KOSOVO = {"UNK": "XKX"}  # without a code of ISO: one of users in place of another


def _parse(body: Body, _: Given) -> Told:
    told = body.whole_json()
    if isinstance(told, dict) and told.get("type") == "FeatureCollection":
        yield from records(told["features"], _outlined, _code)
    else:
        yield from records(told if isinstance(told, list) else [told], _country, _code)


def _code(item: Mapping[str, Any]) -> str:
    return str((item.get("properties") or item)["cca2"]).strip().upper()


def record(code: object, said: Mapping[str, Any], provider_id: object = None) -> Record:
    """What is said of the country with this code.

    Raises:
        Unusable: there is no such country (any more).
    """
    alpha2 = country(code, "alpha2")
    if alpha2 is None:
        raise Unusable("has a code that ISO 3166-1 does not have")
    known = text(provider_id) or alpha2
    return Record("country", alpha2, {"countryCode": alpha2, **said}, record_id=known)


def numeric(code: object) -> str | None:
    """Three digits of ISO 3166-1 or M49; None for none, which some write as 0."""
    digits = str(code or "").strip().zfill(3)
    return None if digits == "000" else digits


def amount(metric: str, value: object, unit: str, provider: str) -> dict[str, Any] | None:
    """A measured amount; None for one that is not known, which some write as -1."""
    found = number(value)
    if found is None or found < 0:
        return None
    return measurement(metric, found, unit=unit, provider=provider)


def _country(item: Mapping[str, Any]) -> Record:
    name, dial, cca3 = item["name"], item.get("idd") or {}, text(item.get("cca3"))
    native = name.get("native", name.get("nativeName"))
    provider = "restcountries" if "population" in item else PROVIDER
    north, west = item.get("latlng") or (None, None)
    suffixes, borders = dial.get("suffixes") or [""], item.get("borders")
    ends = [""] if len(suffixes) >= AREA_CODES else suffixes
    told = {
        "provider": provider,
        "alpha3": KOSOVO.get(cca3 or "", cca3),
        "numeric": numeric(item.get("ccn3")),
        "name": text(name["common"]),
        "officialName": text(name.get("official")),
        "nativeNames": None if native is None else _native(native),
        "region": text(item.get("region")),
        "subregion": text(item.get("subregion")),
        "population": amount("population", item.get("population"), "1", provider),
        "area": amount("area", item.get("area"), "km2", provider),
        "centroid": point(west, north),
        "callingCodes": calling(",".join(f"{dial['root']}{end}" for end in ends)) if dial else None,
        "unMember": item.get("unMember"),
        "borders": None if borders is None else countries(KOSOVO.get(c, c) for c in borders),
    }
    lists: dict[str, Callable[[Any], list[str]]] = {
        "capital": list,
        "tld": list,
        "languages": lambda tags: [language(tag) for tag in tags],
        "currencies": currencies,
    }
    said = {name: make(item[name]) for name, make in lists.items() if item.get(name) is not None}
    return record(_code(item), told | said)


def _native(names: Mapping[str, Any]) -> dict[str, str]:
    return {language(tag): each["common"] for tag, each in names.items()}


def _outlined(feature: Mapping[str, Any]) -> Record:
    return record(_code(feature), {"bbox": box(feature["geometry"])})


def _is_countries(body: Body) -> bool:
    told = body.json
    if body.has("features") and told.get("type") == "FeatureCollection":
        told = told["features"]
    first = told[0] if isinstance(told, list) and told else told
    properties = first.get("properties") or first if isinstance(first, dict) else {}
    return isinstance(properties, dict) and "cca2" in properties


COUNTRIES = Format(
    id="countries",
    title="mledoze/countries, REST Countries 3.1, outlines",
    kind="snapshot",
    provider=PROVIDER,
    brings=("country",),
    recognise=_is_countries,
    parse=_parse,
    cadence_seconds=604_800,
    license="ODbL-1.0",
    attribution="mledoze/countries",
)
