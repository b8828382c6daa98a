"""Which places are the same, whoever names them: their ids.

Rule 1: a place of GeoNames, by a source or by the shipped table, has the id of its number there.
        The table has countries, and large cities by their names in several languages.
Rule 2: any other has the id of its country, its first-level area and its folded name; one without
        a name that of its country. A place that has neither is known by its geometry alone: none.
Rule 3: the table says nothing that is not sure: of a city the country is told, and a position, or
        an area that the name tells, must not belie it.
"""

import zlib
from collections.abc import Mapping
from functools import cache
from math import cos, radians

from svc_core import data
from svc_core.base import ids

NEAR_DEGREES = 0.5
"""How far from the middle of a large city what is told of it may lie: some 55 km."""

Point = tuple[float, float]


def place_id_by_designator(scheme: str, value: str) -> str:
    """The id of the place with this designator."""
    return ids.derived_id("plc", "place", "", f"{scheme}:{value}")


def place_id_by_name(
    country: str | None, area: str | None, name: str, point: Point | None
) -> str | None:
    """The id of a place by its folded name, in which a country is not repeated.

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


def _is_near(left: Point, right: Point) -> bool:
    """Whether two positions lie as near as those of one city."""
    east = abs(left[0] - right[0]) * cos(radians(left[1]))  # no city is near the date line
    return max(east, abs(left[1] - right[1])) <= NEAR_DEGREES


@cache
def _table() -> Mapping[tuple[str, str], tuple[str, Point | None]]:
    """Numbers and positions by countries and names; a country has no name and no position."""
    table: dict[tuple[str, str], tuple[str, Point | None]] = {}
    for line in zlib.decompress(data.read("gazetteer.tsv.z")).decode().splitlines():
        number, country, *city = line.split("\t")
        centre = (float(city[1]), float(city[0])) if city else None
        for name in city[2].split("|") if city else [""]:
            table[country, name] = number, centre
    return table
