"""The help of a command, laid out from its page in the table of commands.

The parser of command lines takes five times as long: it reads Markdown and the types of every
parameter for it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any, Final

from svc_http.run.cli import command_table
from svc_http.run.cli.command_table import EPILOGUE, HELP

WIDTH_MAX: Final = 100
"""Longer lines are hard to read."""

MEANING_COLUMN: Final = 28
"""Where the text about a command or an option begins; a longer name has a line of its own."""


def page_text(arguments: Sequence[str]) -> str | None:
    """The help that a command line asks for; None where it asks for something else."""
    words = [word for word in arguments if word not in HELP]
    typed = [*takewhile(lambda word: not word.startswith("-"), words)]
    names = command_table.primary_words(tuple(typed))
    page = command_table.help_page(names)
    is_asked = len(words) < len(arguments) or (page["isGroup"] and words == typed)
    if not is_asked or (page["isGroup"] and len(typed) > len(names)):
        return None
    usage = page["usage"].replace(" ".join(names), " ".join(typed[: len(names)]), 1)
    drawing = draw({**page, "usage": usage}, min(get_terminal_size().columns, WIDTH_MAX))
    return drawing if names else f"{drawing}\n{EPILOGUE}\n"


def draw(page: Mapping[str, Any], width: int) -> str:
    """The page on lines of so many cells."""
    return "\n".join([*_lines(page, width), ""])


def _lines(page: Mapping[str, Any], width: int) -> Iterator[str]:
    yield from wrap(f"Usage: {page['usage']}", width)
    for paragraph in page["text"].split("\n\n"):
        yield from ("", *wrap(paragraph, width, break_on_hyphens=False))
    labels = [label for _, rows in page["panels"] for label, _ in rows]
    column = min(MEANING_COLUMN, max(map(len, labels), default=0) + 4)
    for title, rows in page["panels"]:
        yield from ("", *wrap(title if ":" in title else f"{title}:", width))
        for label, meaning in rows:
            yield from _row(label, meaning, width, column)


def _row(label: str, meaning: str, width: int, column: int) -> Iterator[str]:
    indent = " " * column
    first = f"  {label}  ".ljust(column)
    if len(first) > column:
        yield from wrap(label, width, initial_indent="  ", subsequent_indent="    ")
        first = indent
    yield from wrap(
        meaning, width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    )
