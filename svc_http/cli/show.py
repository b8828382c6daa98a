"""How answers look: JSON for programs, tables and short lines for people."""

import json
import re
import sys
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from svc_core.host import Progress, Tell

WIDTH_PIPED = 240
"""A table that goes to a file is not cut to the width of a screen that nobody sees."""


def as_json(value: object) -> None:
    """Print one JSON value: on several lines for a person at a terminal, on one otherwise."""
    indent = 2 if sys.stdout.isatty() else None
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=indent) + "\n")


def lines(*texts: str) -> None:
    """Print short lines."""
    sys.stdout.write("".join(f"{text}\n" for text in texts))


def value(body: Any) -> Any:
    """What an answer says without its envelope; a page with members of its own keeps them."""
    if not isinstance(body, dict) or "data" not in body or not body.keys() <= _ENVELOPE:
        return body
    meta = body.get("meta", {})
    own = {name: member for name, member in meta.items() if name not in _PAGING}
    if not own:
        return body["data"]
    return {"data": body["data"], **own, "more": body["links"]["next"] is not None}


_ENVELOPE = {"data", "meta", "links", "totalCount"}
_PAGING = {"pageCount", "count", "page"}


def answer(value: Any, columns: Sequence[str], group: str) -> None:
    """Print what an operation answered: rows as a table, a resource as an outline."""
    rows = value["data"] if isinstance(value, dict) and "data" in value else value
    if isinstance(rows, list):
        table(rows, columns, f"Nothing here. See: svc {group} --help")
        value = {} if rows is value else {n: one for n, one in value.items() if n != "data"}
    outline(value)


def content(answer: Mapping[str, Any]) -> bytes:
    """The bytes of an answer, as they go into a file."""
    body = answer["body"]
    if not isinstance(body, str):
        return f"{json.dumps(value(body), ensure_ascii=False)}\n".encode()
    return b64decode(body) if answer["encoding"] == "base64" else body.encode()


def outline(value: Any, indent: str = "") -> None:
    """Print one resource: a member a line, those of a member indented below it.

    Unknown and empty ones are left out.
    """
    shown = {name: member for name, member in value.items() if member not in (None, [], {}, "")}
    width = max(map(len, shown), default=0)
    for name, member in shown.items():
        if isinstance(member, Mapping) and not _is_flat(member):
            lines(f"{indent}{name}")
            outline(member, f"{indent}  ")
        elif isinstance(member, list) and isinstance(member[0], Mapping):
            for each in member:
                lines(f"{indent}{name}")
                outline(each, f"{indent}  ")
        else:
            lines(f"{indent}{name.ljust(width)}  {_text(member)}")


def _is_flat(value: Mapping[str, Any]) -> bool:
    return not any(isinstance(member, Mapping | list) for member in value.values())


def table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], empty: str) -> None:
    """Print rows as a table of these members; `empty` says what to do when there are none."""
    found = list(rows)
    if not found:
        lines(empty)
        return
    from rich.console import Console  # noqa: PLC0415 - most commands print a line
    from rich.table import Table  # noqa: PLC0415

    console = Console(width=None if sys.stdout.isatty() else WIDTH_PIPED)
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(_heading(column), no_wrap=column == "id", overflow="fold")
    for row in found:
        made.add_row(*(_text(_at(row, column)) for column in columns))
    console.print(made, markup=False, highlight=False)


def _at(row: Any, path: str) -> Any:
    """The member that a path like `health.status` leads to."""
    for name in path.split("."):
        row = row.get(name) if isinstance(row, Mapping) else None
    return row


def _heading(path: str) -> str:
    """The words above a column: `last delivery status`."""
    name = path.removesuffix("ISO").replace(".", " ")
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(member)}" for name, member in value.items())
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", str(value))


_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")
"""What would steer a terminal, but for the end of a line."""


@contextmanager
def bar(title: str) -> Iterator[Tell]:
    """A progress bar on stderr, at a terminal only, from the first news on."""
    with ExitStack() as stack:
        bars: list[Any] = []

        def tell(progress: Progress) -> None:
            if not sys.stderr.isatty():
                return
            if not bars:
                bars.append(stack.enter_context(_bar(title)))
            bars[0].update(0, completed=progress.done, total=progress.total, note=progress.note)

        yield tell


def _bar(title: str) -> Any:
    from rich import progress  # noqa: PLC0415 - most commands are done at once
    from rich.console import Console  # noqa: PLC0415

    made = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[note]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
    made.add_task(title, note="")
    return made
