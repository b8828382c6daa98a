"""Lays rows out as a table: in full for a file, fitted to a terminal by Rich.

Rule 1: a row takes one line, and what is wrong with it stands in full below it.
Rule 2: what is one word, such as an id, a time or a number, is shown whole or not at all; texts
        are cut with an ellipsis.
Rule 3: columns stand in the order of their weight: the last ones are left out first, and are
        named at the end. The one that names the row always stays.
"""

from collections.abc import Iterator, Sequence
from io import StringIO
from textwrap import wrap

from attrs import frozen
from rich.cells import cell_len, set_cell_size

GAP = "  "
INDENT = "    "
WORD_MAX = 32
"""The widest that is taken for one word: an id has 28."""
TEXT_MIN = 12
"""What is left of a text at least, or it is left out."""


@frozen
class Table:
    """Headings, rows of cells, the notes below each row, and the column that names a row."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[Sequence[str]]
    anchor: int = 0

    def lines(self, width: int | None) -> Iterator[str]:
        """The lines for a terminal of this width; None for a file."""
        columns = list(range(len(self.headings)))
        if width is None:
            lines = self._whole_lines()
        else:
            while len(columns) > 1 and sum(self._least(n) + 2 for n in columns) - 2 > width:
                columns.remove(next(n for n in reversed(columns) if n != self.anchor))
            lines = self._fitted_lines(columns, width)
        yield from lines[: -len(self.rows)]
        for line, notes in zip(lines[-len(self.rows) :], self.notes, strict=True):
            yield line
            for note in notes:
                yield from (f"{INDENT}{part}" for part in _note_lines(note, width))
        left_out = [name for n, name in enumerate(self.headings) if n not in columns]
        if left_out:
            text = f"Not shown at this width: {', '.join(left_out)}. --json has everything."
            yield from ("", *_note_lines(text, width))

    def _whole_lines(self) -> list[str]:
        table = (self.headings, *self.rows)
        sizes = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
        return [GAP.join(map(set_cell_size, row, sizes)).rstrip() for row in table]

    def _size(self, column: int) -> int:
        return max(cell_len(row[column]) for row in self.rows)

    def _is_text(self, column: int) -> bool:
        """Whether it may be cut; a word is shown whole, because it may be copied."""
        return self._size(column) > WORD_MAX or any(" " in row[column] for row in self.rows)

    def _least(self, column: int) -> int:
        """The room that a column needs; its heading takes several lines."""
        size = self._size(column)
        heading = max(map(len, self.headings[column].split()), default=0)
        return max(heading, min(size, TEXT_MIN) if self._is_text(column) else size)

    def _fitted_lines(self, columns: Sequence[int], width: int) -> list[str]:
        from rich import table  # noqa: PLC0415 - programs read it in full
        from rich.console import Console  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        grid = table.Table(box=None, padding=(0, len(GAP), 0, 0), pad_edge=False, header_style="")
        for n in columns:
            is_word = not self._is_text(n)
            words = self.headings[n].split()
            is_long = is_word and len(self.headings[n]) > self._size(n)
            grid.add_column(Text("\n".join(words) if is_long else " ".join(words)), no_wrap=is_word)
        for row in self.rows:
            grid.add_row(*(Text(row[n], no_wrap=True, overflow="ellipsis") for n in columns))
        console = Console(file=StringIO(), width=width, color_system=None)
        with console.capture() as text:
            console.print(grid)
        return [line.rstrip() for line in text.get().splitlines()]


def _note_lines(text: str, width: int | None) -> list[str]:
    return [text] if width is None else wrap(text, width - len(INDENT))
