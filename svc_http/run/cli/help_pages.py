"""The help of a command, drawn from its page in the table of commands.

It is what cyclopts and rich draw, to the byte where output is no terminal, in a fifth of their
time: they read Markdown and the types of every parameter for it. A test compares the two for every
page. What is asked for in another way than by a command and `--help`, and colours that somebody
chose, are left to them.
"""

import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from svc_http.run.cli import command_table
from svc_http.run.cli.command_table import EPILOGUE, HELP

_COLOUR_VARIABLES: Final = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")
"""Variables by which people choose colours."""

Ink = tuple[str, str]
"""A text, and for each of its characters the letter of a style; a space is none."""

_CODES: Final = {"b": "1", "n": "36", "m": "1;31", "c": "1;36;40", "d": "38;5;246", "r": "31"}
"""Bold, names, the mark of what is required, code, notes, and the note that it is required, as
SGR parameters (ECMA-48, 8.3.117)."""
_FEW: Final = {**_CODES, "d": "37"}
"""The same at a terminal of eight colours."""


def page_text(arguments: Sequence[str]) -> str | None:
    """The help that a command line asks for; None where it asks for something else."""
    *before, last = [*arguments] or [""]
    words = (*before, *(() if last in {*HELP, ""} else (last,)))
    names = command_table.primary_words(words)
    page = command_table.help_page(names)
    is_asked = last in HELP or (page is not None and page["isGroup"])
    if page is None or not is_asked or not _is_usual():
        return None
    usage = page["usage"].replace(" ".join(names), " ".join(words), 1)
    return draw({**page, "usage": usage}, _width(), _codes() if sys.stdout.isatty() else {})


def _is_usual() -> bool:
    is_plain = not sys.stdout.isatty() or os.environ.get("TERM", "") not in {"dumb", "unknown"}
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    return is_plain and is_unicode and os.environ.keys().isdisjoint(_COLOUR_VARIABLES)


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit():
        return int(columns)
    for number in (0, 1, 2):
        try:
            return os.get_terminal_size(number).columns or 80
        except OSError:
            continue
    return 80


def _codes() -> Mapping[str, str]:
    """The codes that the terminal understands, as far as it says."""
    has_many = os.environ.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}
    name = os.environ.get("TERM", "").strip().lower().rpartition("-")[2]
    return _CODES if has_many or name in {"256color", "kitty"} else _FEW


def draw(page: Mapping[str, Any], width: int, codes: Mapping[str, str]) -> str:
    """The page on lines of so many cells; without codes it has no colour."""
    lines = list(_lines(page, width))
    return "".join(_paint(line, codes) + "\n" for line in lines)


def _lines(page: Mapping[str, Any], width: int) -> Iterator[Ink]:
    yield from _wrap_ink(_plain(f"Usage: {page['usage']}", "b"), width)
    yield _plain("")
    *before, last = [line for part in _paragraphs(page["text"], width) for line in part]
    # As Markdown is drawn: only lines of words that others follow reach to the margin.
    yield from (_pad(line, width) if line[0] else line for line in before)
    yield last
    yield _plain("")
    for title, rows in page["panels"]:
        yield from _panel(title, rows, width)
    yield _plain("")
    yield _plain(EPILOGUE)


def _paragraphs(text: str, width: int) -> Iterator[list[Ink]]:
    for number, part in enumerate(text.split("\n\n")):
        gap = [_plain("")] if number else []
        yield gap + list(_wrap_ink(_markdown(" ".join(part.split())), width))


def _panel(title: str, rows: Sequence[Any], width: int) -> Iterator[Ink]:
    inner = width - 4
    label_max = math.ceil(width * 0.35)
    labels = [list(_label_lines(row[0], label_max)) for row in rows]
    size = max(len(line) for lines in labels for line in lines)
    has_mark = any(row[3] for row in rows)
    before = 3 if has_mark else 0
    room = inner - before - size - 2
    yield _plain(f"╭─ {title} ".ljust(width - 1, "─") + "╮")
    for (_, text, notes, is_required), label in zip(rows, labels, strict=True):
        cells = list(_cell(text, notes, room, is_required=is_required))
        for number in range(max(len(label), len(cells))):
            mark = _plain("*  " if is_required and not number else "   ", "m")
            name = _plain(label[number] if number < len(label) else "", "n")
            cell = cells[number] if number < len(cells) else _plain("")
            parts = [*([mark] if has_mark else []), _pad(name, size + 2), _pad(cell, room)]
            yield _concat([_plain("│ "), *parts, _plain(" │")])
    yield _plain("╰" + "─" * (width - 2) + "╯")


def _label_lines(label: str, width: int) -> Iterator[str]:
    """The words of a label on lines of that width, all but the first indented."""
    line = ""
    for word in label.split():
        longer = f"{line} {word}" if line.strip() else line + word
        if len(longer) <= width:
            line = longer
            continue
        if line.strip():
            yield line
            line = "  "
        rest = word
        while len(line) + len(rest) > width:
            room = max(width - len(line), 1)
            yield line + rest[:room]
            line, rest = "  ", rest[room:]
        line += rest
    yield line


def _cell(text: str, notes: Sequence[str], width: int, *, is_required: bool) -> Iterator[Ink]:
    """A description, with its notes from its last line on."""
    *lines, last = _wrap_ink(_markdown(" ".join(text.split())), width)
    yield from lines
    parts = [last, *(_plain(note, "d") for note in notes)]
    parts += [_plain("[required]", "r")] if is_required else []
    shown_parts = [part for part in parts if part[0]]
    pieces = [piece for part in shown_parts for piece in (_plain(" "), part)][1:]
    yield from _wrap_ink(_concat(pieces), width)


# -- lines -------------------------------------------------------------------------------------


def _plain(text: str, style: str = " ") -> Ink:
    return text, style * len(text)


def _markdown(text: str) -> Ink:
    """A text whose words between backticks are code."""
    parts = re.split("`([^`]*)`", text)
    return _concat([_plain(part, "c" if number % 2 else " ") for number, part in enumerate(parts)])


def _concat(parts: Sequence[Ink]) -> Ink:
    return "".join(text for text, _ in parts), "".join(styles for _, styles in parts)


def _pad(line: Ink, width: int) -> Ink:
    return _concat([line, _plain(" " * (width - len(line[0])))])


def _wrap_ink(line: Ink, width: int) -> Iterator[Ink]:
    """The text on lines of that width, as rich breaks them: between words, or within a long one."""
    text, styles = line
    starts, column = [0], 0
    for match in re.finditer(r"\s*\S+\s*", text):
        word = match[0]
        if column + len(word.rstrip()) <= width:
            column += len(word)
        elif len(word) > width:
            pieces = range(match.start(), match.end(), width)
            starts += [start for start in pieces if start]
            column = match.end() - pieces[-1]
        else:
            starts += [match.start()] if match.start() else []
            column = len(word)
    for start, after in zip(starts, [*starts[1:], len(text)], strict=True):
        place = slice(start, min(after, start + width))  # what stands beyond is white space
        yield text[place], styles[place]


def _paint(line: Ink, codes: Mapping[str, str]) -> str:
    text, styles = line
    if not codes:
        return text
    runs = []
    place = 0
    for style, group in groupby(styles):
        size = len(list(group))
        run = text[place : place + size]
        place += size
        runs.append(run if style == " " else f"\x1b[{codes[style]}m{run}\x1b[0m")
    return "".join(runs)
