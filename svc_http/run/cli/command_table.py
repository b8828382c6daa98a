"""Reads `commands.tsv`, the shipped table of every command with its flags and help page.

`svc` reads it in place of the operations themselves, whose import takes longer than a request to a
running server. A line has three cells, parted by tabs: the words of a command, the page of its help
and, of a command that is derived from an operation, its flags (`operation_commands.Command`).
`command_pages` writes the file.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("commands.tsv")
PURPOSES: Final = FILE.with_name("purposes.tsv")
"""The commands of `svc` by what people do with them; the pages of help are made from it."""

WRITE: Final = "python -m svc_http.run.cli.command_pages"
"""The command that writes the file again."""

EPILOGUE: Final = "Begin with: svc serve --demo"
"""The last line of the help of `svc` itself."""

HELP: Final = ("--help", "-h")
"""The flags that ask for a help page."""

ALIASES: Final = {"sources": "feeds", "status": "list", "indicators": "finint"}
"""Second names of groups and of their commands; an operation under one has no own command."""


@cache  # Bounded: one file.
def _lines() -> tuple[tuple[str, str, str], ...]:
    cells = (line.split("\t") for line in FILE.read_text("utf-8").splitlines())
    return tuple((words, page, command) for words, page, command in cells)


def primary_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """The first of the words that call a command of the table, which may be its second names."""
    firsts = {second: first for first, second in ALIASES.items()}
    names = {name for name, _, _ in _lines()}
    path: tuple[str, ...] = ()
    for word in words:
        name = next(
            (n for n in (word, firsts.get(word, word)) if " ".join((*path, n)) in names), None
        )
        if name is None:
            break
        path = (*path, name)
    return path


def help_page(words: tuple[str, ...]) -> Mapping[str, Any]:
    """The page of help of a command, a group, or of `svc` itself."""
    target = " ".join(words)
    page: Mapping[str, Any] = json.loads(next(text for name, text, _ in _lines() if name == target))
    return page


def verbs() -> Iterator[tuple[str, str, str]]:
    """The group, the verb and the unread cell of each derived command."""
    for words, _, command in _lines():
        if command:
            group, _, verb = words.partition(" ")
            yield group, verb, command
