"""Derives the ids of places, so that one place has the same id in every source.

Rule 1: a place of GeoNames has an id made of its GeoNames number, which a source or the table
        table gives. The table holds countries, and large cities by names in several languages.
Rule 2: any other place has an id made of its country, its first-level area and its folded name; one
        without a name has that of its country. A place with neither has no id, only a geometry.
Rule 3: the table is used only where it is certain: the country of a city must be stated, and no
        position and no area in the name may contradict the table.
"""

import zlib
from collections.abc import Mapping
from functools import cache
from math import cos, radians

from svc_core import data
from svc_core.base import ids

NEAR_DEGREES = 0.5
"""How far from the centre of a large city a position may lie: about 55 km."""

Point = tuple[float, float]


def place_id_by_designator(scheme: str, value: str) -> str:
    """The id of the place that has this designator."""
    return ids.derived_id("plc", "place", "", f"{scheme}:{value}")


def place_id_by_name(
    country: str | None, area: str | None, name: str, point: Point | None
) -> str | None:
    """The id of a place by its folded name, which does not repeat the country.

    `point` is its longitude and latitude.
    """
    if not (country or name):
        return None
    city, within, _ = name.partition(", ")
    number, centre = _table().get((country or "", city), (None, None))
    is_sure = not (area or within) if centre is None or point is None else _is_near(centre, point)
    if number is not None and is_sure:
        return place_id_by_designator("geonames", number)
    return place_id_by_designator("name", f"{country or ''}|{area or ''}|{name}")


def city_centre(country: str, name: str) -> Point | None:
    """The position of the large city of a country that has this folded name; None for none."""
    return _table().get((country, name), ("", None))[1]


def _is_near(left: Point, right: Point) -> bool:
    """Whether two positions lie near enough to be in one city."""
    east = abs(left[0] - right[0]) * cos(radians(left[1]))  # no city is near the date line
    return max(east, abs(left[1] - right[1])) <= NEAR_DEGREES


@cache
def _table() -> Mapping[tuple[str, str], tuple[str, Point | None]]:
    """GeoNames numbers and positions by country and name; both are empty for a country itself."""
    table: dict[tuple[str, str], tuple[str, Point | None]] = {}
    for line in zlib.decompress(data.table_bytes("gazetteer.tsv.z")).decode().splitlines():
        number, country, *city = line.split("\t")
        centre = (float(city[1]), float(city[0])) if city else None
        for name in city[2].split("|") if city else [""]:
            table[country, name] = number, centre
    return table
