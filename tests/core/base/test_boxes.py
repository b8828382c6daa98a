"""Bounding boxes as RFC 7946 means them, at the antimeridian above all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import boxes
from svc_core.base.boxes import Box, BoxError

# Quarters of a degree: exact in binary, so that sums are exact as well.
LONGITUDES = st.integers(-720, 720).map(lambda quarters: quarters / 4)
LATITUDES = st.integers(-360, 360).map(lambda quarters: quarters / 4)
BOXES = st.builds(
    lambda west, east, lats: Box(west, min(lats), east, max(lats)),
    LONGITUDES,
    LONGITUDES,
    st.tuples(LATITUDES, LATITUDES),
)


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("10,-5,20,5", Box(10, -5, 20, 5)),
        ("-180,-90,180,90", Box(-180, -90, 180, 90)),
        ("4.25,51.1,4.5,51.30", Box(4.25, 51.1, 4.5, 51.3)),
        ("177,-20,-178,-16", Box(177, -20, -178, -16)),
        ("5,1,5,1", Box(5, 1, 5, 1)),
        ("007,0,8,0.5", Box(7, 0, 8, 0.5)),
        ("-0,-0,0,0", Box(0, 0, 0, 0)),
    ],
)
def test_four_degrees_are_read(text, box):
    assert boxes.parse_box(text) == box
    assert str(boxes.parse_box("-0.0,-0,0,0").west) == "0.0"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *(
            (text, "four decimal numbers")
            for text in (
                "", "1,2,3", "1,2,3,4,5", "1,2,3,4,5,6", "1,2,3,", "1,2,,4", ",,,", "1;2;3;4",
                "nan,1,2,3", "inf,1,2,3", "Infinity,1,2,3", "1e999,1,2,3", "1e1,1,2,3",
                "+1,1,2,3", " 1,1,2,3", "1,1,2,3 ", "1,1,2,3\n", "1_0,1,2,3", "٥,1,2,3",
                "1.,1,2,3", ".5,1,2,3", "0x1,1,2,3", "1000,1,2,3", f"1.{'1' * 21},1,2,3",
            )
        ),
        ("180.001,0,1,1", "west and east from -180 to 180"),
        ("0,0,-181,1", "west and east from -180 to 180"),
        ("0,-90.5,1,1", "south and north from -90 to 90"),
        ("0,0,1,91", "south and north from -90 to 90"),
        ("10,5,20,1", "its south at or below its north"),
    ],
)  # fmt: skip
def test_everything_else_is_refused_with_the_reason(text, why):
    with pytest.raises(BoxError, match=why):
        boxes.parse_box(text)


@pytest.mark.parametrize(
    ("box", "width", "parts"),
    [
        # The example of RFC 7946, 5.2: Fiji, five degrees wide.
        (Box(177, -20, -178, -16), 5, (Box(177, -20, 180, -16), Box(-180, -20, -178, -16))),
        (Box(-178, -20, 177, -16), 355, (Box(-178, -20, 177, -16),)),
        (Box(-180, 0, 180, 1), 360, (Box(-180, 0, 180, 1),)),
        (Box(180, 0, -180, 1), 0, (Box(180, 0, 180, 1), Box(-180, 0, -180, 1))),
        (Box(5, 0, 5, 1), 0, (Box(5, 0, 5, 1),)),
        (Box(1, 0, 0, 1), 359, (Box(1, 0, 180, 1), Box(-180, 0, 0, 1))),
    ],
)
def test_a_box_over_the_antimeridian_is_the_union_of_two(box, width, parts):
    assert (box.width, box.parts) == (width, parts)
    assert box.crosses_antimeridian == (len(parts) == 2)


@pytest.mark.parametrize(
    ("box", "inside", "outside"),
    [
        (Box(177, -20, -178, -16), [(179, -18), (-179, -18), (180, -16)], [(0, -18), (176, -18)]),
        (Box(170, 0, 180, 1), [(180, 0), (-180, 0)], [(-179, 0), (169, 0), (175, 2)]),
        (Box(-180, 0, -170, 1), [(180, 0), (-180, 1)], [(179, 0)]),
        (Box(180, 0, -180, 1), [(180, 0), (-180, 0)], [(179, 0), (-179, 0), (0, 0)]),
        (Box(5, 0, 5, 1), [(5, 0), (5, 1)], [(5.5, 0), (5, -1)]),
    ],
)
def test_positions_lie_inside_or_outside(box, inside, outside):
    assert all(box.contains(*position) for position in inside)
    assert not any(box.contains(*position) for position in outside)


@given(BOXES)
def test_a_box_is_what_its_text_says(box):
    assert boxes.parse_box(f"{box.west},{box.south},{box.east},{box.north}") == box


@given(BOXES, LONGITUDES, LATITUDES)
def test_inside_is_as_far_east_of_the_west_as_the_box_is_wide(box, longitude, latitude):
    # Another reckoning: walk east from the west side; a full turn leads to where it began.
    distance = (longitude - box.west) % 360
    within = distance <= box.width
    assert box.contains(longitude, latitude) == (within and box.south <= latitude <= box.north)


@given(BOXES)
def test_parts_never_cross_and_are_as_wide_as_the_whole(box):
    assert not any(part.crosses_antimeridian for part in box.parts)
    assert sum(part.width for part in box.parts) == box.width


@given(st.text(alphabet="0123456789.,-+eE naif", max_size=30))
def test_a_text_is_a_box_on_the_globe_or_refused(text):
    try:
        box = boxes.parse_box(text)
    except BoxError:
        return
    assert -180 <= min(box.west, box.east) <= max(box.west, box.east) <= 180
    assert -90 <= box.south <= box.north <= 90


@given(BOXES, LONGITUDES, LATITUDES)
def test_what_lies_in_a_box_lies_in_one_of_its_cells(
    box: Box, longitude: float, latitude: float
) -> None:
    if box.cells is not None and box.contains(longitude, latitude):
        assert not {*boxes.cells_of(longitude, latitude)}.isdisjoint(box.cells)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("8.4,47.2,8.7,47.5", 2),
        ("5,45,15,55", 20),
        ("-20,-35,50,35", 6),
        ("179.9,0,-179.9,0.1", 2),
        ("180,0,180,0", 1),
        ("-180,-90,180,90", None),
    ],
)
def test_a_box_needs_few_cells(text: str, count: int | None) -> None:
    cells = boxes.parse_box(text).cells
    assert (cells and len(cells)) == count


def test_a_position_is_in_one_cell_of_each_size() -> None:
    assert len(boxes.cells_of(8.5, 47.3)) == len(boxes.CELL_DEGREES)
    assert boxes.cells_of(180, 0) == boxes.cells_of(-180, 0)
