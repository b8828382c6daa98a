"""Countries and places: mledoze and REST Countries, outlines, country codes, GeoNames."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import FORMATS, Document, read_document, recognise_format

REAL = Path(os.environ.get("SVC_REAL_DATA", ""))  # noqa: TID251 - what the tests are given


def parse(format_: str, content: Any) -> Document:
    body = content.encode() if isinstance(content, str) else content
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    assert recognise_format(Body(body)).id == format_
    return read_document(Body(body), FORMATS[format_], Origin())


def item(format_: str, content: Any) -> dict[str, Any]:
    (record,) = parse(format_, content).records
    return dict(record.members)


# -- real documents ----------------------------------------------------------------------------

WHOLE = {
    "countries/mledoze_countries.json": ("countries", 250, {}),
    "countries/country-codes.csv": ("country-codes", 249, {}),
    "countries/fji.geo.json": ("countries", 1, {}),
    "countries/twn.geo.json": ("countries", 1, {}),
    "geonames/countryInfo.txt": (
        "geonames", 250, {"has a code that ISO 3166-1 does not have": 2},
    ),
    "geonames/cities_canada-usa_a.tsv": ("geonames", 1499, {}),
}  # fmt: skip

FACTS = [
    ("countries/mledoze_countries.json", "AF", "borders", ["IR", "PK", "TM", "UZ", "TJ", "CN"]),
    ("countries/mledoze_countries.json", "AF", "numeric", "004"),
    ("countries/mledoze_countries.json", "AF", "languages", ["prs", "ps", "tk"]),
    ("countries/mledoze_countries.json", "ZA", "capital",
     ["Pretoria", "Bloemfontein", "Cape Town"]),
    ("countries/mledoze_countries.json", "ZA", "centroid",
     {"type": "Point", "coordinates": [24, -29]}),
    ("countries/mledoze_countries.json", "XK", "alpha3", "XKX"),
    ("countries/mledoze_countries.json", "SJ", "area", None),
    ("countries/mledoze_countries.json", "US", "callingCodes", ["+1"]),
    ("countries/mledoze_countries.json", "AQ", "capital", []),
    ("countries/fji.geo.json", "FJ", "bbox", [177.026917, -20.67444, -178.19809, -12.48194]),
    ("countries/country-codes.csv", "ZA", "officialName", "Republic of South Africa"),
    ("countries/country-codes.csv", "NA", "currencies", ["NAD", "ZAR"]),
    ("countries/country-codes.csv", "AF", "m49", "004"),
    ("geonames/countryInfo.txt", "DO", "callingCodes", ["+1809", "+1829"]),
    ("geonames/countryInfo.txt", "GG", "callingCodes", ["+441481"]),
    ("geonames/countryInfo.txt", "XK", "numeric", None),
    ("geonames/countryInfo.txt", "ID", "alpha3", "IDN"),
    ("geonames/countryInfo.txt", "ZA", "population",
     {"metric": "population", "value": 49_000_000, "unit": "1", "provider": "geonames"}),
    ("geonames/cities_canada-usa_a.tsv", "geonames:4317639", "admin1Code", "US-LA"),
    ("geonames/cities_canada-usa_a.tsv", "geonames:5881791", "admin1Code", None),
]  # fmt: skip


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize("name", WHOLE)
def test_a_real_document_gives_every_country_and_place(name: str) -> None:
    format_, count, reasons = WHOLE[name]
    document = parse(format_, (REAL / name).read_bytes())
    assert len(document.records) == count
    assert {rejection.reason: rejection.count for rejection in document.rejections} == reasons


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize(("name", "key", "member", "expected"), FACTS)
def test_a_real_row_says_what_its_document_says(
    name: str, key: str, member: str, expected: Any
) -> None:
    document = parse(WHOLE[name][0], (REAL / name).read_bytes())
    assert next(row.members[member] for row in document.records if row.key == key) == expected


# -- mledoze and REST Countries ----------------------------------------------------------------


def country(**members: Any) -> dict[str, Any]:
    return {"cca2": "be", "cca3": "BEL", "name": {"common": "Belgium"}, **members}


MEMBERS = [
    ({}, "countryCode", "BE"),
    ({}, "borders", None),
    ({}, "callingCodes", None),
    ({}, "nativeNames", None),
    ({"borders": []}, "borders", []),
    ({"borders": ["UNK", "FRA", "???"]}, "borders", ["XK", "FR"]),
    ({"latlng": [50.8, 4]}, "centroid", {"type": "Point", "coordinates": [4, 50.8]}),
    ({"area": -1}, "area", None),
    ({"area": 0}, "area", {"metric": "area", "value": 0, "unit": "km2", "provider": "mledoze"}),
    ({"ccn3": "56"}, "numeric", "056"),
    ({"ccn3": ""}, "numeric", None),
    ({"currencies": {"EUR": {}, "GGP": {}}}, "currencies", ["EUR"]),
    ({"currencies": ["EUR"]}, "currencies", ["EUR"]),
    ({"languages": {"nld": "Dutch", "hif": "Hindi"}}, "languages", ["nl", "hif"]),
    ({"idd": {"root": "+3", "suffixes": ["2"]}}, "callingCodes", ["+32"]),
    ({"idd": {"root": "+1", "suffixes": ["809", "829"]}}, "callingCodes", ["+1809", "+1829"]),
    ({"idd": {"root": "+7", "suffixes": ["3", "4", "5", "8"]}}, "callingCodes", ["+7"]),
    ({"idd": {"root": "", "suffixes": []}}, "callingCodes", []),
    ({"subregion": ""}, "subregion", None),
    ({"name": {"common": "Belgium", "native": {"nld": {"common": "België"}}}}, "nativeNames",
     {"nl": "België"}),
    ({"name": {"common": "Belgium", "nativeName": {"fra": {"common": "Belgique"}}}}, "nativeNames",
     {"fr": "Belgique"}),
    ({"population": 11_825_551}, "population",
     {"metric": "population", "value": 11_825_551, "unit": "1", "provider": "restcountries"}),
]  # fmt: skip


@pytest.mark.parametrize(("members", "name", "expected"), MEMBERS)
def test_a_member_of_a_country(members: dict[str, Any], name: str, expected: Any) -> None:
    assert item("countries", [country(**members)]).get(name) == expected
    assert item("countries", country(**members)).get(name) == expected


@pytest.mark.parametrize(
    "damage", [{"cca2": "AN"}, {"cca2": None}, {"name": None}, {"latlng": [91, 4]}, {"area": "big"}]
)
def test_a_country_that_cannot_be_used_leaves_the_others(damage: dict[str, Any]) -> None:
    document = parse("countries", [country(), {**country(cca2="FR"), **damage}])
    assert ([row.key for row in document.records], document.rejection_count) == (["BE"], 1)


def ring(west: float, south: float, east: float, north: float) -> list[Any]:
    return [[[west, south], [east, south], [east, north], [west, north], [west, south]]]


BOXES = [
    ("Polygon", ring(1, 2, 3, 4), [1, 2, 3, 4]),
    ("MultiPolygon", [ring(1, 2, 3, 4), ring(-5, 0, 2, 1)], [-5, 0, 3, 4]),
    ("MultiPolygon", [ring(177, -20, 180, -16), ring(-180, -18, -178, -12)], [177, -20, -178, -12]),
    ("MultiPolygon", [ring(-170, 50, -65, 70), ring(172, 51, 180, 53)], [172, 50, -65, 70]),
    ("Polygon", ring(-180, -90, 180, -60), [-180, -90, 180, -60]),
]


@pytest.mark.parametrize(("kind", "coordinates", "expected"), BOXES)
def test_an_outline_gives_the_box_that_holds_it(kind: str, coordinates: Any, expected: Any) -> None:
    geometry = {"type": kind, "coordinates": coordinates}
    feature = {"type": "Feature", "properties": {"cca2": "fj"}, "geometry": geometry}
    content = {"type": "FeatureCollection", "features": [feature]}
    assert item("countries", content) == {"countryCode": "FJ", "bbox": expected}


# -- country-codes -----------------------------------------------------------------------------

HEAD = "official_name_en,ISO3166-1-Alpha-3,ISO3166-1-Alpha-2,ISO3166-1-numeric,M49,Dial"
HEAD += ",ISO4217-currency_alphabetic_code,Languages,Capital,CLDR display name,TLD"


def test_a_row_of_country_codes_in_any_order_of_columns() -> None:
    row = item(
        "country-codes", f'{HEAD}\n"",PRI,PR,630,,"1-787,1-939"," USD","en, es",,Puerto Rico, \n'
    )
    assert row["name"] == "Puerto Rico"
    assert row["m49"] is row["capital"] is row["tld"] is row["region"] is None
    assert row["callingCodes"] == ["+1787", "+1939"]
    assert (row["currencies"], row["languages"]) == (["USD"], ["en", "es"])


def test_a_code_of_nobody_is_counted() -> None:
    text = f"{HEAD}\nSark,,,680,680\nNamibia,NAM,NA,516,516\n"
    document = parse("country-codes", text)
    assert [row.key for row in document.records] == ["NA"]
    assert [(rejection.count, rejection.sample) for rejection in document.rejections] == [
        (1, "Sark")
    ]


# -- GeoNames ----------------------------------------------------------------------------------

BELGIUM = "BE\tBEL\t056\tBE\tBelgium\tBrussels\t30510\t11403000\tEU\t.be\tEUR\tEuro\t32\t####\t^x$"


@pytest.mark.parametrize(
    "content",
    [
        f"{BELGIUM}\tnl-BE,fr-BE\t2802361\tDE,NL\t\n",
        f"# notes\twith a tab\n#\n#ISO\tISO3\n\n{BELGIUM}\tnl-BE,fr-BE\t2802361\tDE,NL\n",
        "ISO\tISO3\tISO-Numeric\n" + f"{BELGIUM}\tnl-BE,fr-BE\t2802361\tDE,NL\t\r\n",
    ],
)
def test_countries_of_geonames_with_and_without_notes(content: str) -> None:
    row = item("geonames", content)
    assert (row["name"], row["borders"], row["tld"]) == ("Belgium", ["DE", "NL"], [".be"])
    assert row["languages"] == ["nl-BE", "fr-BE"]


def place(*cells: str) -> str:
    id_, name, north, west, class_, code, in_country, admin1 = cells
    head = f"{id_}\t{name}\t{name}\t\t{north}\t{west}\t{class_}\t{code}\t{in_country}\t\t{admin1}"
    return f"{head}\t\t\t\t7\t\t5\tEtc/UTC\t2024-02-29\n"


PLACES = [
    (("1", "A", "51.2", "4.4", "P", "PPL", "BE", "VLG"), ("BE", "BE-VLG", "locality")),
    (("1", "A", "51.2", "4.4", "P", "PPL", "EC", "09"), ("EC", None, "locality")),
    (("1", "A", "51.2", "4.4", "A", "ADM1", "US", "DC"), ("US", "US-DC", "admin1")),
    (("1", "A", "51.2", "4.4", "A", "PCLI", "FJ", "00"), ("FJ", None, "country")),
    (("1", "A", "51.2", "4.4", "T", "VLC", "", ""), (None, None, "exact")),
]


@pytest.mark.parametrize(("cells", "expected"), PLACES)
def test_a_place_of_geonames(cells: tuple[str, ...], expected: tuple[Any, ...]) -> None:
    (record,) = parse("geonames", "geonameid" + "\tx" * 18 + "\n" + place(*cells)).records
    members = record.members
    assert (members["countryCode"], members["admin1Code"], members["precision"]) == expected
    assert members["geometry"] == {"type": "Point", "coordinates": [4.4, 51.2]}
    assert (record.key, str(record.stamp)) == ("geonames:1", "2024-02-29 00:00:00+00:00")


def test_a_place_off_the_globe_is_never_turned_round() -> None:
    content = place("1", "A", "4.4", "151.2", "P", "PPL", "BE", "") + place(
        "2", "B", "151.2", "4.4", "P", "PPL", "BE", ""
    )
    document = parse("geonames", content + "3\tcut off\n")
    assert [record.key for record in document.records] == ["geonames:1"]
    assert document.rejection_count == 2
