"""Prints answers: JSON for programs, tables and short lines for people."""

import json
import re
import sys
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

from svc_core.base import instants
from svc_core.operation.host import Progress, ProgressListener


def as_json(value: object) -> None:
    """Print one JSON value: on several lines for a person at a terminal, on one otherwise."""
    sys.stdout.write(json_text(value, 2 if sys.stdout.isatty() else None) + "\n")


def json_text(value: object, indent: int | None = None) -> str:
    """The JSON of a value; characters that steer a terminal are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def print_lines(*texts: str) -> None:
    """Print short lines."""
    sys.stdout.write("".join(f"{clean(text)}\n" for text in texts))


def print_text(text: str) -> None:
    """Print a text as it is, but to a terminal without what steers it."""
    sys.stdout.write(clean(text) if sys.stdout.isatty() else text)


def value(body: Any) -> Any:
    """The data of an answer without its envelope; a page with members of its own keeps them."""
    if not isinstance(body, dict) or "data" not in body or not body.keys() <= _ENVELOPE:
        return body
    meta = body.get("meta", {})
    own = {name: member for name, member in meta.items() if name not in _PAGING}
    if not own:
        return body["data"]
    return {"data": body["data"], **own, "more": body["links"]["next"] is not None}


_ENVELOPE = {"data", "meta", "links", "totalCount"}
_PAGING = {"pageCount", "count", "page"}


def print_answer(value: Any, group: str, columns: Sequence[str], notes: Sequence[str]) -> None:
    """Print the answer of a command: rows as a table, a resource as an outline."""
    members = value if isinstance(value, dict) else {"data": value}
    name = next((n for n, member in members.items() if columns and type(member) is list), None)
    if name is not None:
        empty = f"Nothing here. See: svc {group} --help"
        print_table(members[name], columns, empty, notes)
    outline({member: each for member, each in members.items() if member != name})


def answer_bytes(answer: Mapping[str, Any]) -> bytes:
    """The bytes of an answer, as they go into a file."""
    body = answer["body"]
    if not isinstance(body, str):
        return f"{json.dumps(value(body), ensure_ascii=False)}\n".encode()
    return b64decode(body) if answer["encoding"] == "base64" else body.encode()


def outline(value: Any, indent: str = "", names: Mapping[str, str] | None = None) -> None:
    """Print one resource: a short member a line, then those that have members, with these below.

    Unknown and empty ones are left out. A row within it is one line that begins with its title, or,
    where it is a link, with the titles of both ends, which `names` has by their ids.
    """
    names = dict(_names(value)) if names is None else names
    members = {name: member for name, member in value.items() if member not in _EMPTY}
    width = max(map(len, members), default=0)
    for name, member in sorted(members.items(), key=lambda pair: _has_parts(pair[1])):
        if not _has_parts(member):
            print_wrapped(f"{name.ljust(width)}  {_text(member)}", indent)
        elif isinstance(member, Mapping):
            _print_item(member, f"{name.ljust(width)}  ", indent, names)
        else:
            print_lines(f"{indent}{name.ljust(width)}  {len(member)}")
            for item in member:
                _print_item(item, "- ", f"{indent}  ", names)


def _print_item(item: Mapping[str, Any], lead: str, indent: str, names: Mapping[str, str]) -> None:
    """Print an object within a resource: its title and short members in a line, the rest below."""
    rest = {name: v for name, v in item.items() if v is not False and v not in _EMPTY}
    nested = {name: rest.pop(name) for name, v in item.items() if _has_parts(v)}
    if rest.keys() >= set(_ENDS):
        title = " \N{RIGHTWARDS ARROW} ".join(names.get(rest.pop(end), "?") for end in _ENDS)
    else:
        title = _cell(rest.pop(next((name for name in _TITLES if name in rest), ""), ""))
    parts = [f"{wire_words(n)}{'' if v is True else f' {_cell(v)}'}" for n, v in rest.items()]
    print_wrapped(lead + ": ".join(filter(None, (title, ", ".join(parts)))), indent)
    outline(nested, f"{indent}  ", names)


def print_wrapped(text: str, indent: str, hang: int = 2) -> None:
    """Print a text whose further lines are indented, at a terminal of any width."""
    width = get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    lines = wrap(text, width - len(indent) - hang, break_on_hyphens=False)
    print_lines(
        *(f"{indent}{' ' * hang if at else ''}{line}".rstrip() for at, line in enumerate(lines))
    )


_EMPTY: Any = (None, [], {}, "")
_TITLES = ("label", "title", "name", "value", "headline", "question", "statement", "text", "note")
"""The members that say what a row is; a row without them begins with its first member."""

_ENDS = ("sourceId", "targetId")
"""The members of a link that say what it connects."""


def _names(part: Any) -> Iterator[tuple[str, str]]:
    """The ids of all rows in a resource with the title of each."""
    if isinstance(part, Mapping):
        if isinstance(part.get("id"), str):
            yield part["id"], _cell(next((part[n] for n in _TITLES if part.get(n)), part["id"]))
        part = list(part.values())
    for member in part if isinstance(part, list) else ():
        yield from _names(member)


def _has_parts(member: Any) -> bool:
    """Whether a member has too much for a line: rows, or an object with members of its own."""
    if isinstance(member, Mapping):
        return any(isinstance(part, Mapping | list) and part for part in member.values())
    return isinstance(member, list) and any(isinstance(item, Mapping) for item in member)


def print_table(
    rows: Iterable[Mapping[str, Any]],
    columns: Sequence[str],
    empty: str,
    notes: Sequence[str] = (),
) -> None:
    """Print rows as a table of these members, with the notes of each row below it.

    `empty` says what to do when there are none.
    """
    members = list(rows)
    if not members:
        print_wrapped(empty, "")
        return
    from svc_http.run.cli.terminal_tables import Table  # noqa: PLC0415

    names = [name.rpartition(".")[2] for name in columns]
    anchor = next((number for number, name in enumerate(names) if name == "id"), 0)
    lines = [[_cell(_at(row, column)) or "-" for column in columns] for row in members]
    looks = [str([c for n, c in zip(names, o, strict=True) if n != "id"]) for o in lines]
    apart = _differing(members, looks) if {*names} & {*_TITLES} else {}
    table = Table(
        headings=[
            wire_words(n if names.count(n) == 1 else p) for n, p in zip(names, columns, strict=True)
        ],
        rows=lines,
        notes=[
            [cell for note in notes if (cell := _cell(_at(row, note) or ""))]
            + [f"{wire_words(name)}: {_cell(row.get(name)) or '-'}" for name in apart.get(look, ())]
            for row, look in zip(members, looks, strict=True)
        ],
        anchor=anchor,
    )
    width = get_terminal_size().columns if sys.stdout.isatty() else None
    if width is None or width >= TABLE_MIN:
        print_lines(*table.lines(width))
        return
    for row, texts in zip(table.rows, table.notes, strict=True):
        cells = dict(zip(table.headings, row, strict=True))
        print_lines(cells.pop(table.headings[table.anchor]))
        outline({name: cell for name, cell in cells.items() if cell != "-"}, "  ")
        for text in texts:
            print_wrapped(text, "  ")


def _differing(rows: Sequence[Mapping[str, Any]], looks: Sequence[str]) -> dict[str, list[str]]:
    """The first member that tells rows apart which look alike in a table, by how these look."""
    groups = defaultdict[str, list[Mapping[str, Any]]](list)
    names: dict[str, list[str]] = {}
    for row, look in zip(rows, looks, strict=True):
        groups[look].append(row)
    for look, alike in groups.items():
        texts = {name: {_cell(row.get(name)) for row in alike} for name in alike[0]}
        names[look] = [n for n in texts if n != "id" and 1 < len(alike) == len(texts[n])][:1]
    return names


def _at(row: Any, path: str) -> Any:
    """The member that a path like `health.status` leads to; of a list it is the last item's."""
    for name in path.split("."):
        row = row[-1] if isinstance(row, list) and row else row
        row = row.get(name) if isinstance(row, Mapping) else None
    return row


def wire_words(name: str) -> str:
    """A name of the wire as people write it: `last delivery status`."""
    parts = re.sub("(?<=[a-z0-9])(?=[A-Z])", " ", name.removesuffix("ISO").replace(".", " "))
    return parts.lower()


def _cell(value: Any) -> str:
    """A value on one line; an instant to the minute, or at a terminal by how long ago it is."""
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        if not sys.stdout.isatty():
            return f"{value[:16]}Z"
        from svc_http import system  # noqa: PLC0415 - programs need no clock

        seconds = (instants.parse(value) - system.now()).total_seconds()
        minutes = int(abs(seconds) // 60)
        if minutes >= 24 * 60:
            return f"{value[:16]}Z"
        span = f"{minutes // 60} h" if minutes >= 60 else f"{minutes} min"
        return f"in {span}" if seconds > 0 else f"{span} ago"
    return " ".join(_text(value).split())


_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, Mapping) and value.keys() == _REJECTION:
        example = value["sample"] and f" ({_text(value['sample'])})"
        return f"{value['count']} {wire_words(value['reason'])}{example}"
    if isinstance(value, Mapping):
        members = {name: member for name, member in value.items() if member not in _EMPTY}
        return ", ".join(f"{name} {_text(member)}" for name, member in members.items())
    return clean(str(value))


def clean(text: str) -> str:
    """The text with the control characters that would steer a terminal replaced, and without those
    that turn the order in which a line is read."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", _ORDER.sub("", text))


_REJECTION = {"reason", "count", "sample"}
"""Rows of a document that were left out; the reason is a code."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
"""What would steer a terminal, but for tabs and the end of a line."""

_ORDER = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What tells in which direction a text runs (Unicode, UAX 9): with it a name can look like another
one."""

_STEERING = re.compile(rf"[\x7f-\x9f\u2028\u2029]|{_ORDER.pattern}")
"""Of both what JSON would not escape."""


TABLE_MIN = 60
"""A terminal that is narrower has no room for two columns beside an id."""


@contextmanager
def bar(title: str) -> Iterator[ProgressListener]:
    """Progress bars on stderr, one for each unit, at a terminal only, from the first news on."""
    with ExitStack() as stack:
        bars: list[Any] = []
        tasks: dict[str, Any] = {}

        def tell(progress: Progress) -> None:
            if not sys.stderr.isatty():
                return
            if not bars:
                bars.append(stack.enter_context(_bars()))
            if progress.unit not in tasks:
                tasks[progress.unit] = bars[0].add_task(progress.unit or title, total=None, note="")
            bars[0].update(
                tasks[progress.unit],
                completed=progress.done,
                total=progress.total or None,
                note=progress.note,
            )

        yield tell


def _bars() -> Any:
    from rich import progress  # noqa: PLC0415 - most commands are done at once
    from rich.console import Console  # noqa: PLC0415

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[note]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
