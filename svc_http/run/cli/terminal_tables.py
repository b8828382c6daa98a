"""Lays rows out as text: a table, or on a narrow terminal a block for each row.

Rule 1: no line is wider than the terminal, and a row takes one line; without a width nothing is
        cut.
Rule 2: what is one word, such as an id, a time or a number, is shown whole or not at all; texts
        are cut with an ellipsis at their end, paths and addresses at their beginning.
Rule 3: columns stand in the order of their weight: the last ones are left out first, and are
        named at the end. The one that names the row always stays.
Rule 4: what is wrong with a row is told in full below it.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from attrs import frozen
from rich.cells import cell_len, chop_cells, set_cell_size

GAP = "  "
INDENT = "    "
WORD_MAX = 32
"""The widest that is taken for one word: an id has 28."""
TEXT_MIN = 12
"""What is left of a text at least, or it is left out."""
TABLE_MIN = 60
"""A terminal that is narrower has no room for two columns beside an id."""


@frozen
class Table:
    """Headings, rows of cells, and the notes below each row."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[Sequence[str]]
    anchor: int = 0
    """The column that names the row."""

    def lines(self, width: int | None) -> Iterator[str]:
        """The lines for a terminal of this width; None for a file."""
        if width is not None and width < TABLE_MIN:
            yield from self._blocks(width)
            return
        sizes = self._sizes(self.headings)
        if width is not None and sum(sizes.values()) + len(GAP) * (len(sizes) - 1) > width:
            sizes = self._fit(width)
        parts = [_wrap(self.headings[number], size) for number, size in sizes.items()]
        for heading in zip_longest(*parts, fillvalue=""):
            yield _line(heading, sizes.values())
        for row, notes in zip(self.rows, self.notes, strict=True):
            yield _line([row[number] for number in sizes], sizes.values())
            yield from _note_lines(notes, width)
        left_out = [name for number, name in enumerate(self.headings) if number not in sizes]
        if left_out:
            text = f"Not shown at this width: {', '.join(left_out)}. --json has everything."
            yield from ("", *_wrap(text, width))

    def _sizes(self, headings: Iterable[str]) -> dict[int, int]:
        """How wide each column is by itself."""
        return {
            number: max(len(heading), *(cell_len(row[number]) for row in self.rows))
            for number, heading in enumerate(headings)
        }

    def _is_text(self, number: int) -> bool:
        cells = [row[number] for row in self.rows]
        return not all(map(_is_word, cells))

    def _fit(self, width: int) -> dict[int, int]:
        """The columns that there is room for, each with its width; headings take several lines."""
        sizes = self._sizes(max(heading.split(), key=len, default="") for heading in self.headings)
        columns = list(sizes)
        texts = {n for n in columns if self._is_text(n)}
        least = {n: min(size, TEXT_MIN) if n in texts else size for n, size in sizes.items()}
        while len(columns) > 1 and sum(least[n] + len(GAP) for n in columns) - len(GAP) > width:
            columns.remove(next(n for n in reversed(columns) if n != self.anchor))
        widths = {n: least[n] for n in columns}
        spare = width + len(GAP) - sum(widths[n] + len(GAP) for n in columns)
        wide = sorted((n for n in columns if n in texts), key=lambda n: sizes[n])
        for columns_left, number in zip(range(len(wide), 0, -1), wide, strict=True):
            extra = min(sizes[number] - widths[number], spare // columns_left)
            widths[number] += extra
            spare -= extra
        return widths

    def _blocks(self, width: int) -> Iterator[str]:
        for row, notes in zip(self.rows, self.notes, strict=True):
            anchor = row[self.anchor]
            yield anchor if _is_word(anchor) else _cut(anchor, width)
            for number, cell in enumerate(row):
                if number == self.anchor or cell in ("", "-"):
                    continue
                heading = f"{GAP}{self.headings[number]}{GAP}"
                room = width - len(heading)
                if cell_len(cell) > room and _is_word(cell):
                    yield from (heading.rstrip(), INDENT + cell)
                else:
                    yield heading + _cut(cell, room)
            yield from _note_lines(notes, width)


def _line(cells: Iterable[str], sizes: Iterable[int]) -> str:
    fields = (
        set_cell_size(_cut(cell, size), size) for cell, size in zip(cells, sizes, strict=True)
    )
    return GAP.join(fields).rstrip()


def _is_word(text: str) -> bool:
    """Whether it is shown whole, because it may be copied."""
    return " " not in text and cell_len(text) <= WORD_MAX


def _cut(text: str, room: int) -> str:
    """The text in that room; a path or an address keeps its end, which tells it from others."""
    if cell_len(text) <= room:
        return text
    if " " in text or "/" not in text:
        return set_cell_size(text, max(room - 1, 0)).rstrip() + "…"
    return "…" + set_cell_size(text[::-1], max(room - 1, 0)).rstrip()[::-1]


def _note_lines(notes: Iterable[str], width: int | None) -> Iterator[str]:
    for note in filter(None, notes):
        room = None if width is None else width - len(INDENT)
        yield from (INDENT + line for line in _wrap(note, room))


def _wrap(text: str, room: int | None) -> Iterator[str]:
    """The text on lines of that many cells; `textwrap` counts characters."""
    if room is None:
        yield text
        return
    line = ""
    for word in text.split():
        for part in chop_cells(word, room):
            if line and cell_len(line) + 1 + cell_len(part) > room:
                yield line
                line = ""
            line = f"{line} {part}".strip()
    yield line
