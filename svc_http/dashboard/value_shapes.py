"""Says how JSON values are shown: each shape has a name, and a template shows what has it.

Rule 1: null is unknown, an empty list is none, and what is absent is not shown.
Rule 2: designators are short texts; other objects in a list make a table.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from svc_core.base import instants
from svc_core.base.unset import UNSET
from svc_http.dashboard.captions import caption_of

Row = Mapping[str, Any]

LINE_LENGTH: Final = 160
"""A longer text has a place of its own."""
COLUMNS_MAX: Final = 6

_WORDED: Final = re.compile(
    "(status|state|type|category|kind|frequency|trigger|role|precision|basis|visibility|provider)$",
    re.IGNORECASE,
)
"""Members with a word of a short list."""
_NAMES: Final = "title name question label identity.label headline cveId handle url"
"""Members, or their paths, that a resource is called by: the first that it has."""
_SHAPES: Final[Mapping[type, str]] = {bool: "flag", int: "number", float: "number"}


def value_shape(value: Any, name: str) -> str:
    """The shape of the value of a member."""
    if value is UNSET or name == "severity":
        shape = "absent" if value is UNSET else "severity"
    elif value is None or value in ([], {}, ""):
        shape = "unknown" if value is None else "none"
    elif isinstance(value, str):
        shape = _text_shape(value, name)
    elif isinstance(value, list):
        is_table = any(isinstance(item, Mapping) and "scheme" not in item for item in value)
        shape = "table" if is_table else "chips"
    else:
        shape = _SHAPES.get(type(value), "object")
    return shape


def _text_shape(text: str, name: str) -> str:
    if _WORDED.search(name):
        return "word"
    if text.startswith(("https://", "http://")):
        return "link"
    if moment_of(text) is not None:
        return "instant"
    return "long" if len(text) > LINE_LENGTH or "\n" in text else "text"


def moment_of(text: str) -> datetime | None:
    """The instant that a text names, if it does."""
    try:
        return instants.parse(text)
    except instants.InstantError:
        return None


def member_at(row: Any, path: str) -> Any:
    """The member at a path with dots: `UNSET` where the row has none, None where it is null.

    Of a list it is that of the last item.
    """
    for part in path.split("."):
        row = row[-1] if isinstance(row, list) and row else row
        if row is None:
            return None
        row = row.get(part, UNSET) if isinstance(row, Mapping) else UNSET
    return row


def short_text(value: Any) -> str:
    """A value in a few words: of an object its name, of a designator scheme and value."""
    if not isinstance(value, Mapping):
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if "scheme" in value:
        return f"{value['scheme']}:{value.get('value')}"
    return title_of(value) or json.dumps(value, ensure_ascii=False)


def names_within(value: Any) -> dict[str, str]:
    """What the objects with an id are called that stand in a list somewhere in an answer."""
    if isinstance(value, Mapping):
        own = {value["id"]: title_of(value)} if isinstance(value.get("id"), str) else {}
        parts: Sequence[Any] = tuple(value.values())
    else:
        own, parts = {}, value if isinstance(value, list) else ()
    return own | {id_: name for part in parts for id_, name in names_within(part).items()}


def title_of(row: Row, default: str = "") -> str:
    """What a resource is called; without a name by its id, unless there is something better."""
    names = (*(member_at(row, name) for name in _NAMES.split()), default, row.get("id"))
    return next((name for name in names if isinstance(name, str) and name), "")


def shown_columns(rows: Sequence[Row], paths: Sequence[str] = ()) -> list[str]:
    """The members that a table shows: these paths, else those of the rows that have a line each.

    An id beside other members is where its row leads, and no column.
    """
    names = paths or dict.fromkeys(name for row in rows for name in row)
    flat = (
        name
        for name in names
        if paths or all(value_shape(row.get(name), name) not in {"table", "object"} for row in rows)
    )
    columns = [name for name in flat if name != "id" or len(names) == 1]
    return columns if paths else columns[:COLUMNS_MAX]


def anchor_of(row: Row, columns: Sequence[str]) -> str:
    """The column from which a row leads to its page: that of its title, else the first."""
    title = title_of(row)
    return next((path for path in columns if title and member_at(row, path) == title), columns[0])


def headings_of(rows: Sequence[Row], columns: Sequence[str]) -> list[tuple[str, str, str, bool]]:
    """Of each column its path, the last name in that, its heading, and whether it holds numbers.

    A heading is of the last name of a path, or, where another column has it, of all of it.
    """
    names = [path.rpartition(".")[2] for path in columns]
    headings = []
    for path, name in zip(columns, names, strict=True):
        shapes = {value_shape(member_at(row, path), name) for row in rows}
        is_number = "number" in shapes and shapes <= {"number", "unknown", "absent"}
        label = caption_of(name if names.count(name) == 1 else path)
        headings.append((path, name, label, is_number))
    return headings
