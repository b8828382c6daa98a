"""Writes the table of commands from the catalogue and from the commands written by hand.

    python -m svc_http.run.cli.command_pages

writes it anew; `svc` reads the table alone (`command_table`). A test holds the two equal.
"""

import io
from collections.abc import Iterator
from typing import Any

from cyclopts import App
from rich.console import Console

from svc_core.base.compact import compact_text
from svc_core.catalog import LOCAL_OPERATIONS, OPERATIONS
from svc_http.run.cli.app import command_tree
from svc_http.run.cli.command_derivation import command_of, commanded
from svc_http.run.cli.command_table import FILE
from svc_http.run.cli.files import write_whole
from svc_http.run.cli.operation_commands import Command, Flag


def command_table_lines() -> Iterator[str]:
    """The lines of the table, built from the present catalogue."""
    tree = command_tree()
    every = list(_walk(tree, ()))
    pages = {words: _page(tree, words) for words in every}
    commands = {
        (operation.group, operation.verb): command_of(operation)
        for operation in commanded((*OPERATIONS, *LOCAL_OPERATIONS))
    }
    for words in [*commands, *(words for words in pages if words not in commands)]:
        cell = compact_text(_members(commands[words])) if words in commands else ""
        yield f"{' '.join(words)}\t{compact_text(pages[words])}\t{cell}"


def _members(part: Command | Flag) -> dict[str, Any]:
    """The members of a command or a flag that are not as usual, but for its help."""
    usual = {**part._field_defaults, "doc": part.doc}
    members = {
        name: v for name, v in part._asdict().items() if name not in usual or usual[name] != v
    }
    if isinstance(part, Command):
        members["flags"] = [_members(flag) for flag in part.flags]
    return members


def _walk(command: App, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield words
    seen: set[int] = set()
    for name in command:
        child = command[name]
        if not name.startswith("-") and id(child) not in seen:
            seen.add(id(child))
            yield from _walk(child, (*words, name))


def _page(root: App, words: tuple[str, ...]) -> dict[str, Any]:
    """What cyclopts says of a command, to be drawn by `help_pages`."""
    paper = _Paper()
    setattr(root, "help_formatter", paper)  # noqa: B010 - its own type names a literal for each
    root.help_print(words, console=Console(file=io.StringIO(), color_system=None))
    usual = " ".join(("svc", *words))
    if not paper.usage.startswith(usual):
        raise AssertionError(f"the usage of {usual} begins otherwise: {paper.usage}")
    return {
        "usage": paper.usage,
        "text": paper.text,
        "isGroup": paper.is_group,
        "panels": paper.panels,
    }


class _Paper:
    """Takes down what a page of help says (`cyclopts.help.protocols.HelpFormatter`)."""

    def __init__(self) -> None:
        self.usage = ""
        self.text = ""
        self.panels: list[tuple[str, list[Any]]] = []
        self.is_group = True

    def __call__(self, _console: Console, _options: Any, panel: Any) -> None:
        if panel.entries:
            is_parameter = panel.format == "parameter"
            rows = [(_parameter if is_parameter else _verb)(entry) for entry in panel.entries]
            self.is_group &= not is_parameter
            title = ": ".join(filter(None, (panel.title, _source(panel.description))))
            self.panels.append((title, rows))

    def render_usage(self, _console: Console, _options: Any, usage: Any) -> None:
        self.usage = usage.plain.strip()

    def render_description(self, _console: Console, _options: Any, description: Any) -> None:
        self.text = _source(description)


def _parameter(entry: Any) -> tuple[str, str]:
    notes = [f"[choices: {', '.join(entry.choices)}]"] if entry.choices else []
    notes += [f"[default: {entry.default}]"] if entry.default is not None else []
    notes += ["[required]"] if entry.required else []
    label = " ".join(entry.display_labels_with_metavar)
    return label, " ".join(filter(None, (_source(entry.description), *notes)))


def _verb(entry: Any) -> tuple[str, str]:
    name, *aliases = entry.all_options
    return f"{name} ({', '.join(aliases)})" if aliases else name, _source(entry.description)


def _source(text: Any) -> str:
    """The words of a description, without the marks of Markdown."""
    primary = getattr(text, "primary_renderable", text)
    words = getattr(primary, "markup", getattr(primary, "plain", primary or ""))
    return str(words).strip().replace("`", "")


def write_command_table() -> None:
    """Replace the shipped table with one built from the present catalogue."""
    write_whole(FILE, [f"{line}\n".encode() for line in command_table_lines()])


if __name__ == "__main__":
    write_command_table()
