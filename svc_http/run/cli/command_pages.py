"""Writes the table of commands from the catalogue and from the commands written by hand.

    python -m svc_http.run.cli.command_pages

writes it anew; `svc` reads the table alone (`command_table`). A test holds the two equal.
"""

import io
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from cyclopts import App
from rich.console import Console

from svc_core.catalog import LOCAL_OPERATIONS, OPERATIONS
from svc_http.run.cli.app import command_tree
from svc_http.run.cli.command_derivation import command_of
from svc_http.run.cli.command_table import FILE
from svc_http.run.cli.files import write_whole
from svc_http.run.cli.operation_commands import Command, Flag


def command_table_lines() -> Iterator[str]:
    """The lines of the table, built from the present catalogue."""
    every = list(_walk(command_tree(), ()))
    # Each by the tree that its own command line makes, where others say less of themselves.
    pages = {words: _page(command_tree([*words, "--help"]), words) for words in every}
    rows = [row for page in pages.values() for _, own in page["panels"] for row in own]
    counts = Counter(map(_json, rows))
    shared: dict[str, Any] = {}
    for text, count in counts.items():
        row = json.loads(text)
        if count > 1 and counts.get(_json(shared.get(row[0])), 0) < count:
            shared[row[0]] = row
    commands = {
        (operation.group, operation.verb): command_of(operation)
        for operation in (*OPERATIONS, *LOCAL_OPERATIONS)
        if operation.verb
    }
    yield f"\t{_json(shared)}\t"
    for words in [*commands, *(words for words in pages if words not in commands)]:
        page = pages[words]
        panels = [
            [title, [row[0] if shared.get(row[0]) == row else row for row in rows]]
            for title, rows in page["panels"]
        ]
        cell = _json(_members(commands[words])) if words in commands else ""
        yield f"{' '.join(words)}\t{_json({**page, 'panels': panels})}\t{cell}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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
        "isGroup": all(title == "Commands" for title, _ in paper.panels),
        "panels": paper.panels,
    }


class _Paper:
    """Takes down what a page of help says (`cyclopts.help.protocols.HelpFormatter`)."""

    def __init__(self) -> None:
        self.usage = ""
        self.text = ""
        self.panels: list[tuple[str, list[Any]]] = []

    def __call__(self, _console: Console, _options: Any, panel: Any) -> None:
        if panel.entries:
            is_parameter = panel.format == "parameter"
            rows = [(_parameter if is_parameter else _verb)(entry) for entry in panel.entries]
            self.panels.append((panel.title, rows))

    def render_usage(self, _console: Console, _options: Any, usage: Any) -> None:
        self.usage = usage.plain.strip()

    def render_description(self, _console: Console, _options: Any, description: Any) -> None:
        self.text = _source(description)


def _parameter(entry: Any) -> list[Any]:
    notes = [f"[choices: {', '.join(entry.choices)}]"] if entry.choices else []
    notes += [f"[default: {entry.default}]"] if entry.default is not None else []
    label = " ".join(entry.display_labels_with_metavar)
    return [label, _source(entry.description), notes, bool(entry.required)]


def _verb(entry: Any) -> list[Any]:
    name, *aliases = entry.all_options
    label = f"{name} ({', '.join(aliases)})" if aliases else name
    return [label, _source(entry.description), [], False]


def _source(text: Any) -> str:
    """The words of a description, with their backticks."""
    primary = getattr(text, "primary_renderable", text)
    return str(getattr(primary, "markup", getattr(primary, "plain", primary or ""))).strip()


def write_command_table() -> None:
    """Replace the shipped table with one built from the present catalogue."""
    write_whole(FILE, [f"{line}\n".encode() for line in command_table_lines()])


if __name__ == "__main__":
    write_command_table()
