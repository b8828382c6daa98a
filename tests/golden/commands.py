"""What `svc --help` says, of every group and every command.

One line for an option, however long, so that a longer word moves no other line.
"""

import io
import re
from collections.abc import Iterator
from typing import Any

from cyclopts import App
from rich.console import Console

from svc_http.run.cli.app import command_tree

_USAGE = re.compile(r"(?:^|(?<= ))(?:\[|--|[A-Z]).*")
"""What a line of usage asks for, after the name of the command."""


def texts() -> dict[str, str]:
    """A text for each group of commands, and one for the program itself."""
    pages: dict[str, list[str]] = {}
    # All of them before the first is told: those that stand by hand are loaded when they are met.
    for words, command in list(_walk(command_tree(), ())):
        file = f"commands/{words[0] if words else 'svc'}.txt"
        pages.setdefault(file, []).append(_help(words, command))
    return {file: "\n\n".join(texts_of_page) + "\n" for file, texts_of_page in pages.items()}


def _walk(command: App, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], App]]:
    yield words, command
    own = {name: command[name] for name in command if not name.startswith("-")}
    seen: set[int] = set()
    for name, child in own.items():
        if id(child) not in seen:  # it is told under its first name, which tells the others
            seen.add(id(child))
            yield from _walk(child, (*words, name))


def _help(words: tuple[str, ...], command: App) -> str:
    paper, before = Paper(), (command.help_formatter, command.help_format)
    command.help_formatter, command.help_format = paper, "plaintext"
    try:
        command.help_print([], console=Console(file=io.StringIO(), width=100, color_system=None))
    finally:  # commands are loaded once, for all who draw them
        command.help_formatter, command.help_format = before
    # The words before are those of the program that runs, which is another one here.
    usage = _USAGE.search(paper.usage)
    title = " ".join(("svc", *words, *([usage[0]] if usage else [])))
    return "\n".join((f"$ {title}", *paper.lines))


class Paper:
    """Takes down what a page of help says (`cyclopts.help.protocols.HelpFormatter`)."""

    def __init__(self) -> None:
        self.usage = ""
        self.lines: list[str] = []

    def __call__(self, _console: Console, _options: Any, panel: Any) -> None:
        if not panel.entries:
            return
        self.lines += ["", f"{panel.title}:"]
        is_parameter = panel.format == "parameter"
        for entry in panel.entries:
            labels = entry.display_labels_with_metavar if is_parameter else entry.display_labels
            notes = [
                f"[choices: {', '.join(entry.choices)}]" if entry.choices else "",
                f"[default: {entry.default}]" if entry.default is not None else "",
                "[required]" if entry.required else "",
            ]
            description = " ".join(filter(None, (_plain(entry.description), *notes)))
            self.lines.append(f"  {', '.join(labels)}: {description}")

    def render_usage(self, _console: Console, _options: Any, usage: Any) -> None:
        self.usage = _plain(usage)

    def render_description(self, _console: Console, _options: Any, description: Any) -> None:
        self.lines += ["", _plain(description)]


def _plain(text: Any) -> str:
    """What a text says, on one line."""
    parts = [getattr(text, "primary_renderable", text), *getattr(text, "texts", ())]
    return " ".join(" ".join(str(getattr(part, "plain", part or "")) for part in parts).split())
