"""Places have one id, whoever names them."""

import json
import os
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from svc_core import data
from svc_core.formats.model import DocumentRefused, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.gazetteer import place_id_by_designator as designated
from svc_core.formats.reading.values import place, place_id
from svc_core.formats.table import FORMATS, read_document, recognise_format
from svc_core.intel.intake.kinds import KINDS

COLOGNE, PARIS = (designated("geonames", number) for number in ("2886242", "2988507"))
GERMANY = designated("geonames", "2921044")


def at(longitude: float, latitude: float) -> dict[str, Any]:
    return {"type": "Point", "coordinates": [longitude, latitude]}


@pytest.mark.parametrize(
    ("content", "id_"),
    [
        # Accents, case, width, alternate names, a country that is told twice.
        (("Köln", "DE", None), COLOGNE),
        (("KÖLN", "DE", None), COLOGNE),
        (("Ko\u0308ln", "DE", None), COLOGNE),
        (("Cologne", "DE", None), COLOGNE),
        (("Cologne,  Germany", "DE", None), COLOGNE),
        (("Cologne, Germany", None, None), COLOGNE),
        (("Cologne, Nordrhein-Westfalen, Germany", "DE", None, at(6.95, 50.93)), COLOGNE),
        (("Cologne", "DE", "DE-NW", at(7.0, 50.9)), COLOGNE),
        (("Paris", "FR", None), PARIS),
        # A country alone, by its code and by its names.
        ((None, "DE", None), GERMANY),
        (("Germany", "DE", None), GERMANY),
        (("Deutschland", "DE", None), GERMANY),
        (("germany", None, None), GERMANY),
        (("Germany", "DE", None, at(9, 50)), GERMANY),
        # Nothing but a position.
        ((None, None, None, at(9, 50)), None),
        ((None, None, None), None),
        ((", ", None, None, at(9, 50)), None),
    ],
)
def test_a_place_of_geonames_has_the_id_of_its_number(content: Any, id_: str | None) -> None:
    assert place_id(*content) == id_


LINE = {"type": "LineString", "coordinates": [[9, 50], [10, 51]]}


def test_what_is_not_surely_the_same_is_not() -> None:
    """Each of these is a place of its own, and none is a city or country of the table."""
    content: list[Any] = [
        ("Paris", None, None),  # in whatever country
        ("Paris", "US", None),
        ("Paris, Texas, United States", "US", None),
        ("Paris", "FR", "FR-HDF"),  # an area that the table does not tell
        ("Cologne", "DE", None, at(11.5, 48.1)),  # another one, as its position says
        ("Cologne, Bavaria, Germany", "DE", None),
        ("Cologne, Minnesota, United States", "US", None, at(-93.78, 44.77)),
        ("Springfield, Illinois, United States", "US", None, at(-89.64, 39.8)),
        ("Springfield, Missouri, United States", "US", None),
        ("Germany", "FR", None),  # some hamlet
        ("Georgia", None, None),  # a country, or a State
        ("Georgia", "US", None),
        (None, "DE", "DE-BY"),
        ("Bavaria", "DE", None),
        ("Bavaria", "DE", "DE-BY"),
        ("Banda Sea", None, None),
        ("Pacific Ocean", None, None),
        ("Mozambique, Malawi", "MZ", None),
    ]
    ids = [place_id(*item) for item in content]
    assert None not in ids
    assert len(set(ids)) == len(ids)
    index = {line.split("\t")[0] for line in _gazetteer()}
    assert not {designated("geonames", number) for number in index}.intersection(ids)


def _gazetteer() -> list[str]:
    return zlib.decompress(data.table_bytes("gazetteer.tsv.z")).decode().splitlines()


def test_a_name_without_a_number_is_folded() -> None:
    for item, second in (
        (("Banda Sea", None, None), ("BANDA  sea", None, None, at(128, -5))),
        (("Saint-Étienne-du-Bois", "FR", None), ("saint-etienne-du-bois, France", None, None)),
        (("Bonn, Germany", "DE", None, LINE), ("Bonn", "DE", None)),
    ):
        assert place_id(*item) == place_id(*second) is not None
    assert place_id("Sana'a", "YE", None, at(44.2, 15.35)) != place_id("Sana'a", "YE", "YE-SN")


def test_a_city_reaches_as_far_north_as_it_does_east() -> None:
    """A degree of longitude is half as long in Oslo as at the equator."""
    oslo = place_id("Oslo", "NO", None)
    for (longitude, latitude), is_oslo in (
        ((11.6, 59.91), True), ((12.0, 59.91), False), ((10.75, 60.3), True),
        ((10.75, 60.6), False), ((-169.25, 59.91), False),
    ):  # fmt: skip
        assert (place_id("Oslo", "NO", None, at(longitude, latitude)) == oslo) == is_oslo


def test_a_number_of_a_source_is_that_of_the_table() -> None:
    text = place(name="Colonia", geonames="2886242", country_code="DE")
    assert text is not None
    assert text["id"] == COLOGNE == KINDS["place"].id_of_key("geonames:2886242")


def test_the_table_has_each_country_once_and_each_name_of_a_country_once() -> None:
    assert len(data.table_bytes("gazetteer.tsv.z")) <= 400_000
    rows = [line.split("\t") for line in _gazetteer()]
    countries = [row[1] for row in rows if len(row) == 2]
    assert len(set(countries)) == len(countries) >= 249
    names = [(row[1], name) for row in rows if len(row) > 2 for name in row[4].split("|")]
    assert len(set(names)) == len(names) > 50_000


# -- real documents ----------------------------------------------------------------------------

NAMING = ("acled", "gdacs", "gdacs-rss", "gdelt-events", "geonames", "reliefweb", "ucdp", "usgs")


@pytest.mark.needs("SVC_REAL_DATA")
def test_every_place_that_is_named_has_an_id_whatever_names_it() -> None:
    root = Path(os.environ["SVC_REAL_DATA"])  # noqa: TID251 - what the tests are given
    by_id: dict[str, set[tuple[Any, ...]]] = {}
    routes: Counter[tuple[str, str]] = Counter()
    numbers = {designated("geonames", line.split("\t")[0]) for line in _gazetteer()}
    for path in sorted(item for item in root.rglob("*") if item.is_file()):
        for format_, record in _records(path):
            place = record.members.get("place") if record.resource != "place" else record.members
            if not isinstance(place, dict) or "countryCode" not in place:
                continue
            id_, label = place["id"], place["name"] or place["countryCode"]
            assert (id_ is None) == (label is None), place
            route = "none" if id_ is None else "number" if id_ in numbers else "name"
            routes[format_, "number" if record.resource == "place" else route] += 1
            if id_ is not None:
                by_id.setdefault(id_, set()).add((place["countryCode"], place["name"]))
    assert {format_ for format_, _ in routes} >= {*NAMING} - {"acled"}
    # What has one id is named for one country.
    assert all(len({code for code, _ in content if code}) <= 1 for content in by_id.values())
    assert {route for _, route in routes} == {"none", "number", "name"}


def _records(path: Path) -> list[tuple[str, Record]]:
    try:
        body = Body(path.read_bytes())
        format_ = recognise_format(body)
        document = read_document(body, format_, Origin(name=path.name))
    except DocumentRefused:
        return []
    return [(format_.id, record) for record in document.records if isinstance(record, Record)]


assert set(NAMING) <= set(FORMATS)


# -- countries of Natural Earth ----------------------------------------------------------------

SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [4, 0], [4, 2], [0, 0]]]}


def land(*, shape: Any = SQUARE, **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": shape}


def lands(*features: Any) -> dict[str, Record]:
    body = Body(json.dumps({"type": "FeatureCollection", "features": features}).encode())
    assert recognise_format(body).id == "countries"
    return {r.key: r for r in read_document(body, FORMATS["countries"], Origin()).records}


FRANCE = {"ISO_A2": "-99", "ISO_A3": "-99", "ADM0_A3": "FRA", "NAME_LONG": "France"}


@pytest.mark.parametrize(
    ("properties", "code"),
    [
        (FRANCE | {"ISO_A2_EH": "FR", "ISO_A3_EH": "FRA"}, "FR"),
        (FRANCE | {"ISO_A3_EH": "FRA"}, "FR"),
        ({name.lower(): value for name, value in FRANCE.items()} | {"iso_a3_eh": "FRA"}, "FR"),
        ({"ADMIN": "Taiwan", "ISO_A2": "CN-TW", "ISO_A2_EH": "TW"}, "TW"),
        ({"ADMIN": "Norway", "ISO_A2": "NO", "ISO_A3": "NOR"}, "NO"),
        ({"name": "Norway", "ISO3166-1-Alpha-2": "NO", "ISO3166-1-Alpha-3": "NOR"}, "NO"),
        ({"NAME": "Kosovo", "ISO_A2": "-99", "ADM0_A3": "KOS"}, "XK"),
        ({"NAME": "N. Cyprus", "ISO_A2": "-99", "ADM0_A3": "CYN"}, None),
    ],
)
def test_a_country_of_natural_earth_has_the_code_of_iso(
    properties: dict[str, Any], code: str | None
) -> None:
    assert list(lands(land(**properties))) == ([code] if code else [])


def test_a_country_of_natural_earth_has_its_facts_and_its_box() -> None:
    record = lands(
        land(
            **FRANCE, ISO_A2_EH="FR", ISO_A3_EH="FRA", ISO_N3="-99", ISO_N3_EH="250", POP_EST=6e7,
            FORMAL_EN="French Republic", REGION_UN="Europe", SUBREGION="Western Europe",
        )
    )["FR"]  # fmt: skip
    members = dict(record.members)
    assert members.pop("population")["value"] == 60_000_000
    assert members == {
        "countryCode": "FR", "provider": "natural-earth", "alpha3": "FRA", "numeric": "250",
        "name": "France", "officialName": "French Republic", "region": "Europe",
        "subregion": "Western Europe", "bbox": [0, 0, 4, 2],
    }  # fmt: skip


@pytest.mark.parametrize("step", [1, -1])
def test_an_island_of_a_country_is_not_the_country(step: int) -> None:
    island = land(NAME="Isle", ADM0_A3="CLP", ISO_A2="FR")
    features = [land(**FRANCE, ISO_A2_EH="FR"), island][::step]
    assert lands(*features)["FR"].members["name"] == "France"
    # A feature that cannot be read leaves the others.
    assert list(lands(features[0], None, *features[1:])) == ["FR"]


@pytest.mark.parametrize("kind", ["Geo unit", "Geo subunit"])
def test_a_part_of_a_country_is_not_the_country(kind: str) -> None:
    whole = {"TYPE": "Country", "ADMIN": "United Kingdom", "ADM0_A3": "GBR", "ISO_A2_EH": "GB"}
    part = land(**whole | {"TYPE": kind, "NAME_LONG": "England"})
    assert not lands(part)
    # The name of the country precedes that of the land.
    records = lands(land(**whole, NAME_LONG="Great Britain"), part)
    assert {code: record.members["name"] for code, record in records.items()} == {
        "GB": "United Kingdom"
    }


@pytest.mark.parametrize(
    "feature",
    [
        land(NAME="Paris", ISO_A2="FR", ADM0_A3="FRA", shape=at(2.35, 48.85)),
        land(name="Provence", iso_a2="FR", adm0_a3="FRA", adm1_code="FRA-1"),
        land(name="Park"),
        land(ISO_A2="FR"),
        land(),
    ],
)
def test_other_features_are_no_countries(feature: dict[str, Any]) -> None:
    with pytest.raises(DocumentRefused):
        recognise_format(Body(json.dumps({"features": [feature]}).encode()))
