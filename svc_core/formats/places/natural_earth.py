"""Reads the features of Natural Earth's countries: codes, names, population and outline.

Rule 1: a code of -99 is none. Natural Earth has its own for lands that ISO 3166-1 has in another,
        so the code that it calls that of `EH` (Esri and Hong Kong) precedes the one that it shows.
Rule 2: of several features of one country that with the code of the whole is the country; an
        island of it is not. Editions differ in the case of names, and extracts have few of them.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from svc_core.formats.model import FAULTS, RecordRefused
from svc_core.formats.places.outlines import box
from svc_core.formats.reading.values import amount, country, text_member

PROVIDER = "natural-earth"

_ALPHA2 = ("iso_a2_eh", "iso_a2", "iso3166-1-alpha-2")
_ALPHA3 = ("iso_a3_eh", "iso_a3", "iso3166-1-alpha-3")
_NAMES = ("admin", "name_long", "name")
_PARTS = frozenset({"adm1_code", "iso_3166_2"})  # of provinces, which name their country too
_UNITS = frozenset({"geo unit", "geo subunit"})  # England, with the codes of the whole
_SHAPES = frozenset({"Polygon", "MultiPolygon"})  # a capital is a point
_KOSOVO = "KOS"  # which has no code of ISO

Feature = Mapping[str, Any]


def is_land(feature: Any) -> bool:
    """Whether a GeoJSON feature is a country of Natural Earth."""
    names = {name.casefold() for name in feature["properties"]}
    is_named = not names.isdisjoint(_NAMES) and not names.isdisjoint((*_ALPHA2, *_ALPHA3))
    return is_named and names.isdisjoint(_PARTS) and feature["geometry"]["type"] in _SHAPES


def lands(features: Iterable[Feature]) -> list[Feature]:
    """The features, those that are whole countries last (Rule 2)."""
    return sorted(features, key=_is_whole)


def land_code(feature: Feature) -> str | None:
    """The ISO 3166-1 alpha-2 code of a feature (Rule 1); None where it has none."""
    columns = _columns(feature)
    codes = [country(columns.get(name), "alpha2") for name in _ALPHA2]
    codes += [country(columns.get(name), "alpha3") for name in _ALPHA3]
    return next(filter(None, codes), "XK" if columns.get("adm0_a3") == _KOSOVO else None)


def land_members(feature: Feature) -> dict[str, Any]:
    """The members of a country that a feature states.

    Raises:
        RecordRefused: the feature is a part of a country.
    """
    columns = _columns(feature)
    if str(columns.get("type")).casefold() in _UNITS:
        raise RecordRefused("is a part of a country")

    def first(*names: str) -> str | None:
        return text_member(next((columns[name] for name in names if name in columns), None))

    return {
        "provider": PROVIDER,
        "alpha3": first(*_ALPHA3),
        "numeric": first("iso_n3_eh", "iso_n3"),
        "name": first(*_NAMES),
        "officialName": first("formal_en"),
        "region": first("region_un"),
        "subregion": first("subregion"),
        "population": amount("population", columns.get("pop_est"), unit="1", provider=PROVIDER),
        "bbox": box(feature["geometry"]),
    }


def _columns(feature: Feature) -> dict[str, Any]:
    """What is known of a feature, by its names in lower case."""
    pairs = feature["properties"].items()
    return {name.casefold(): value for name, value in pairs if value not in (-99, "-99", None, "")}


def _is_whole(feature: Feature) -> bool:
    with suppress(*FAULTS):  # its record says what is wrong
        own_code = country(_columns(feature).get("adm0_a3"), "alpha3")
        return own_code is not None and own_code == land_code(feature)
    return False
