"""Values as text whose difference a person can read: members in the order in which they are served.

What fits on a line stands on one line, so that an inserted member is an inserted line.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

WIDTH = 100


def pretty(value: Any) -> str:
    """JSON in lines, ended by LF."""
    return "\n".join(_lines(value, WIDTH)) + "\n"


def _lines(value: Any, room: int) -> list[str]:
    if not value or not isinstance(value, dict | list):
        return [json.dumps(value, ensure_ascii=False)]
    if isinstance(value, dict):
        start, end = "{}"
        members = [_label(name, _lines(member, room - 1)) for name, member in value.items()]
    else:
        start, end = "[]"
        members = [_lines(item, room - 1) for item in value]
    if all(len(lines) == 1 for lines in members):
        line = f"{start}{', '.join(lines[0] for lines in members)}{end}"
        if len(line) <= room:
            return [line]
    for lines in members[:-1]:
        lines[-1] += ","
    return [start, *(f" {line}" for lines in members for line in lines), end]


def _label(name: str, lines: list[str]) -> list[str]:
    lines[0] = f"{json.dumps(name, ensure_ascii=False)}: {lines[0]}"
    return lines


def changes(before: Any, after: Any, pointer: str = "") -> Iterator[str]:
    """What makes the second value of the first, one line each: a JSON Pointer and both values."""
    if json.dumps(before) == json.dumps(after):
        return  # most of a document; equal values may have another order, texts have not
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _members(before, after, pointer)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, pair in enumerate(zip(before, after, strict=True)):
            yield from changes(*pair, f"{pointer}/{place}")
    else:
        yield f"{pointer or '/'}: {_short(before)} -> {_short(after)}"


def _members(before: Mapping[str, Any], after: Mapping[str, Any], pointer: str) -> Iterator[str]:
    for name in before:
        if name not in after:
            yield f"{pointer}/{_token(name)}: {_short(before[name])} -> nothing"
    shared = [name for name in before if name in after]
    if shared != [name for name in after if name in before]:
        yield f"{pointer or '/'}: another order, {' '.join(after)}"
    for name, value in after.items():
        if name in before:
            yield from changes(before[name], value, f"{pointer}/{_token(name)}")
        else:
            yield f"{pointer}/{_token(name)}: nothing -> {_short(value)}"


def _token(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
