"""How answers look: JSON for programs, tables and short lines for people."""

import json
import sys
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from svc_core.host import Progress

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
    body, kind = answer["body"], answer["mediaType"]
    if not isinstance(body, str):
        return f"{json.dumps(body, ensure_ascii=False)}\n".encode()
    return b64decode(body) if kind == "application/octet-stream" else body.encode()


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
    for column, heading in zip(columns, headings(columns), strict=True):
        made.add_column(heading, no_wrap=column == "id", overflow="fold")
    for row in found:
        made.add_row(*(_text(_at(row, column)) for column in columns))
    console.print(made, markup=False, highlight=False)


def _at(row: Any, path: str) -> Any:
    """The member that a path like `health.status` leads to."""
    for name in path.split("."):
        row = row.get(name) if isinstance(row, Mapping) else None
    return row


def headings(columns: Sequence[str]) -> list[str]:
    """The words above columns: last names, or whole paths where two would read alike."""
    parted = [column.rpartition(".") for column in columns]
    times = Counter(name for _, _, name in parted)
    unclear = {parent for parent, _, name in parted if times[name] > 1}
    return [
        _words(column if parent in unclear else name)
        for column, (parent, _, name) in zip(columns, parted, strict=True)
    ]


def _words(path: str) -> str:
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
    return str(value)


class Bar:
    """A progress bar on stderr, at a terminal only, from the first news on."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tell(self, progress: Progress) -> None:
        """Show how far it is."""
        if not sys.stderr.isatty():
            return
        if self._bar is None:
            self._start()
        self._bar.update(
            self._task, completed=progress.done, total=progress.total, note=progress.note[-40:]
        )

    def _start(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - most commands are done at once
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn  # noqa: PLC0415
        from rich.progress import Progress as RichProgress  # noqa: PLC0415

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self._title, note="")
