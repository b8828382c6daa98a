"""Bounding boxes on the globe (RFC 7946, 5): four degrees as text, and what lies inside them.

Rule 1: west, south, east, north, in decimal degrees (WGS 84). Six numbers, with heights, are
        refused: nothing here has a height.
Rule 2: a west greater than its east is no mistake: the box crosses the antimeridian.
Rule 3: 180 and -180 are the same meridian. From -180 to 180 is the whole world, from 180 to -180
        a line, and so is a box whose sides are equal.
"""

import re
from typing import Final

from attrs import frozen

LONGITUDE_MAX: Final = 180.0
LATITUDE_MAX: Final = 90.0

# Twenty decimals are more than a double holds; an exponent is not what people write degrees with.
_DEGREES = re.compile(r"-?[0-9]{1,3}(?:\.[0-9]{1,20})?")
FORM: Final = ",".join([_DEGREES.pattern] * 4)
"""The form of a box as a regular expression; it does not check that the degrees exist."""


class BoxError(ValueError):
    """The text is no bounding box."""


# -- cells -------------------------------------------------------------------------------------

CELL_DEGREES: Final = (45.0, 11.25, 2.8125, 0.703125)
"""The sides of cells, coarse to fine, each a quarter of the one before: the finest are some 78 km,
so that a city is in a few of them."""
CELLS_MAX: Final = 40
"""Cells of an area: one four times as wide and high as its cells touches 25, a strip more."""


def cells_of(longitude: float, latitude: float) -> tuple[str, ...]:
    """The cells that a position lies in, one of each size; 180 and -180 are one meridian."""
    return tuple(
        _cell(size, int((longitude + 180) // size), int((latitude + 90) // size))
        for size in CELL_DEGREES
    )


def _cell(size: float, column: int, row: int) -> str:
    return f"{CELL_DEGREES.index(size)}.{column % round(360 / size)}.{row}"


@frozen
class Box:
    """An area between two meridians and two parallels, its edges included."""

    west: float
    south: float
    east: float
    north: float

    @property
    def crosses_antimeridian(self) -> bool:
        """Whether going east from `west` to `east` passes the meridian of 180 degrees."""
        return self.west > self.east

    @property
    def width(self) -> float:
        """Degrees of longitude from `west` eastwards to `east`: 0 to 360."""
        span = self.east - self.west
        return span + 2 * LONGITUDE_MAX if span < 0 else span

    @property
    def parts(self) -> tuple["Box", ...]:
        """Boxes that do not cross the antimeridian and together are this one: one or two."""
        if not self.crosses_antimeridian:
            return (self,)
        return (
            Box(self.west, self.south, LONGITUDE_MAX, self.north),
            Box(-LONGITUDE_MAX, self.south, self.east, self.north),
        )

    @property
    def cells(self) -> tuple[str, ...] | None:
        """The cells of one size that cover the box: the finest size that takes at most `CELLS_MAX`.

        None where even the coarsest size takes more.
        """
        for size in reversed(CELL_DEGREES):
            first = int((self.west + 180) // size)
            last = int((self.east + 180 + 360 * self.crosses_antimeridian) // size)
            rows = range(int((self.south + 90) // size), int((self.north + 90) // size) + 1)
            columns = range(first, last + 1)
            if len(columns) * len(rows) <= CELLS_MAX:
                cells = (_cell(size, column, row) for column in columns for row in rows)
                return tuple(dict.fromkeys(cells))
        return None

    def contains(self, longitude: float, latitude: float) -> bool:
        """Whether a position lies in the box, its edges included."""
        if not self.south <= latitude <= self.north:
            return False
        # The one meridian with two names is asked for by both.
        names = (longitude, -longitude) if abs(longitude) == LONGITUDE_MAX else (longitude,)
        return any(part.west <= name <= part.east for part in self.parts for name in names)


def parse_box(text: str) -> Box:
    """The box that `west,south,east,north` names.

    Raises:
        BoxError: there are not four decimal numbers, one is beyond the globe, or the south lies
            north of the north.
    """
    sides = text.split(",")
    if len(sides) != 4 or not all(map(_DEGREES.fullmatch, sides)):
        raise BoxError("must be four decimal numbers: west,south,east,north")
    west, south, east, north = (float(side) + 0.0 for side in sides)  # -0 is 0
    if max(abs(west), abs(east)) > LONGITUDE_MAX:
        raise BoxError("must have west and east from -180 to 180")
    if max(abs(south), abs(north)) > LATITUDE_MAX:
        raise BoxError("must have south and north from -90 to 90")
    if south > north:
        raise BoxError("must have its south at or below its north")
    return Box(west, south, east, north)
