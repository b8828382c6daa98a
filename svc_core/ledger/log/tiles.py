"""Tiles: paths and contents of the immutable files of a log (C2SP tlog-tiles).

Rule 1: a path has one spelling. What is spelt otherwise names nothing.
Rule 2: a tile of hashes holds those of one kept level of the tree, 256 to a tile; one at the right
        edge is partial, and its width stands in its path.
Rule 3: an entry is a record's head: the bytes that its leaf hash is made of.
"""

import re
from collections.abc import Sequence
from typing import Final, Self

from attrs import frozen

from svc_core.ledger.log.proofs import Span

WIDTH: Final = 256
HEIGHT: Final = 8
LEVEL_MAX: Final = 63

_PATH = re.compile(
    r"tile/(entries|0|[1-9][0-9]?)/((?:x[0-9]{3}/){0,6}[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?"
)


class TileError(ValueError):
    """A path does not name a tile, or the bytes are not those of one."""


@frozen
class Tile:
    """One tile: 256 hashes of a level, or 256 entries if `level` is None; a short one is partial.

    Raises:
        TileError: a member is out of its bounds.
    """

    level: int | None
    number: int
    width: int = WIDTH

    def __attrs_post_init__(self) -> None:
        if not (0 <= (self.level or 0) <= LEVEL_MAX and self.number >= 0):
            raise TileError(f"A tile has a level from 0 to {LEVEL_MAX} and a number from 0.")
        if not 1 <= self.width <= WIDTH:
            raise TileError(f"A tile has a width from 1 to {WIDTH}.")

    @classmethod
    def parse(cls, path: str) -> Self:
        """Parse a path such as `tile/0/x001/234.p/8` or `tile/entries/000`.

        Raises:
            TileError: the path does not name a tile.
        """
        match = _PATH.fullmatch(path)
        if match is None:
            raise TileError("The path is no tile's.")
        level, number, width = match.groups()
        tile = cls(
            None if level == "entries" else int(level),
            int(re.sub("[x/]", "", number)),
            WIDTH if width is None else int(width),
        )
        if tile.path != path:
            raise TileError("The path spells its tile otherwise than all do.")
        return tile

    @property
    def path(self) -> str:
        """The path of the tile below the log's own URL, without a slash in front."""
        digits = str(self.number)
        digits = digits.zfill(-(-len(digits) // 3) * 3)
        groups = [digits[start : start + 3] for start in range(0, len(digits), 3)]
        segments = "/".join([f"x{group}" for group in groups[:-1]] + groups[-1:])
        suffix = "" if self.width == WIDTH else f".p/{self.width}"
        return f"tile/{'entries' if self.level is None else self.level}/{segments}{suffix}"

    @property
    def span(self) -> Span:
        """The hashes of the tree in the tile; for a tile of entries, their leaf hashes."""
        start = self.number * WIDTH
        return Span(HEIGHT * (self.level or 0), start, start + self.width)

    def is_in(self, size: int) -> bool:
        """Whether a tree of `size` leaves contains the whole tile."""
        return self.span.end <= size >> self.span.level


def entry_bytes(entries: Sequence[bytes]) -> bytes:
    """Encode a tile of entries: each entry after its length as a big-endian uint16.

    The head of a record has less than a kibibyte, so two bytes always do.
    """
    return b"".join(len(entry).to_bytes(2, "big") + entry for entry in entries)
