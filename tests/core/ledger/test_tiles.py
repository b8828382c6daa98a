"""Tiles: one path for each, the widths of the format, and the bytes of the vectors."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.ledger.log.tiles import (
    Tile,
    TileError,
    entry_bytes,
)

VECTORS = json.loads(Path("tests/data/ledger/vectors.json").read_text("utf-8"))
SEALS = tuple(bytes.fromhex(seal) for seal in VECTORS["seals"])
HEADS = tuple(head.encode() for head in VECTORS["heads"])

PATHS = [
    # path, level, number, width
    ("tile/0/000", 0, 0, 256),
    ("tile/0/000.p/8", 0, 0, 8),
    ("tile/63/999.p/255", 63, 999, 255),
    ("tile/0/x001/000", 0, 1000, 256),
    ("tile/1/x001/x234/067", 1, 1_234_067, 256),
    ("tile/entries/273.p/112", None, 273, 112),
    ("tile/entries/x001/234.p/1", None, 1234, 1),
]


@pytest.mark.parametrize(("path", "level", "number", "width"), PATHS)
def test_a_path_names_its_tile(path, level, number, width):
    assert Tile.parse(path) == Tile(level, number, width)
    assert Tile(level, number, width).path == path


NO_PATHS = [
    "",
    "/tile/0/000",
    "tile/0/000/",
    "tile/0/0",
    "tile/0/x000",
    "tile/0/x000/001",
    "tile/0/001/234",
    "tile/00/000",
    "tile/64/000",
    "tile/-1/000",
    "tile/data/000",
    "tile/0/000.p/0",
    "tile/0/000.p/256",
    "tile/0/000.p/257",
    "tile/0/000.p/08",
    "tile/0/000.p",
    "tile/0/000.p/8\n",
    "tile/0/٠٠٠",
]


@pytest.mark.parametrize("path", NO_PATHS)
def test_another_spelling_names_nothing(path):
    with pytest.raises(TileError):
        Tile.parse(path)


@pytest.mark.parametrize("members", [(64, 0), (-1, 0), (0, -1), (0, 0, 0), (0, 0, 257)])
def test_a_tile_has_its_bounds(members):
    with pytest.raises(TileError):
        Tile(*members)


@given(st.builds(Tile, st.none() | st.integers(0, 63), st.integers(0, 10**15), st.integers(1, 256)))
def test_a_tile_and_its_path_name_each_other(tile):
    assert Tile.parse(tile.path) == tile


def test_the_bytes_are_those_of_the_vectors():
    tile = Tile.parse("tile/0/000.p/8")
    data = bytes.fromhex(VECTORS["tiles"][tile.path])
    assert b"".join(SEALS) == data
    tile = Tile.parse("tile/entries/000.p/8")
    data = bytes.fromhex(VECTORS["tiles"][tile.path])
    assert entry_bytes(HEADS) == data


def test_an_entry_has_a_length_of_two_bytes():
    assert entry_bytes([b"", b"x" * 65_535]) == b"\0\0\xff\xff" + b"x" * 65_535


def test_a_tile_is_in_a_tree_that_has_all_of_it():
    for tile, size in ((Tile(0, 0, 8), 8), (Tile(None, 1), 512), (Tile(1, 0, 2), 512)):
        assert tile.is_in(size)
        assert not tile.is_in(size - 1)


def test_a_tile_is_a_span_of_a_kept_level():
    assert Tile(2, 3, 7).span == (16, 768, 775)
    assert Tile(None, 1).span == (0, 256, 512)
