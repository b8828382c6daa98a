"""Tiles: one path for each, the widths of the format, and the bytes of the vectors."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.ledger.tiles import (
    Tile,
    TileError,
    entry_bytes,
    hash_bytes,
    read_entries,
    read_hashes,
    tiles_of,
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
    assert hash_bytes(SEALS) == data
    assert read_hashes(tile, data) == SEALS
    tile = Tile.parse("tile/entries/000.p/8")
    data = bytes.fromhex(VECTORS["tiles"][tile.path])
    assert entry_bytes(HEADS) == data
    assert read_entries(tile, data) == HEADS


def test_bytes_of_another_width_are_refused():
    tile = Tile(0, 0, 8)
    for data in (b"", hash_bytes(SEALS)[:-1], hash_bytes(SEALS[:7])):
        with pytest.raises(TileError, match=r"^The tile has 256 bytes\.$"):
            read_hashes(tile, data)
    data = entry_bytes(HEADS)
    for cut in (b"", data[:-1], data + b"\0", data + b"\0\0", entry_bytes(HEADS[:7])):
        with pytest.raises(TileError, match=r"^The tile has 8 whole entries\.$"):
            read_entries(tile, cut)


def test_an_entry_has_a_length_of_two_bytes():
    assert read_entries(Tile(None, 0, 2), entry_bytes([b"", b"x" * 65_535])) == (b"", b"x" * 65_535)
    with pytest.raises(TileError, match=r"^An entry has at most 65535 bytes\.$"):
        entry_bytes([b"x" * 65_536])


SIZES = [
    # size, the last tile of each level (70,000 and 256 are the examples of the format)
    (0, []),
    (1, ["tile/0/000.p/1"]),
    (256, ["tile/0/000", "tile/1/000.p/1"]),
    (70_000, ["tile/0/273.p/112", "tile/1/001.p/17", "tile/2/000.p/1"]),
]


@pytest.mark.parametrize(("size", "paths"), SIZES)
def test_a_tree_ends_in_these_tiles(size, paths):
    assert [tile.path for tile in tiles_of(size)] == paths


@given(st.integers(1, 2**40))
def test_the_last_tiles_are_in_the_tree_and_one_hash_more_is_not(size):
    for tile in tiles_of(size):
        assert tile.is_in(size)
        following = (
            Tile(tile.level, tile.number + 1, 1)
            if tile.width == 256
            else Tile(tile.level, tile.number, tile.width + 1)
        )
        assert not following.is_in(size)


def test_a_tile_is_a_span_of_a_kept_level():
    assert Tile(2, 3, 7).span == (16, 768, 775)
    assert Tile(None, 1).span == (0, 256, 512)
