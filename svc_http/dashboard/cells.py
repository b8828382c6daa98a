"""Says how a JSON value is shown: each shape of value has a kind, and a template for each kind.

Rule 1: null is unknown, an empty list is none, and what is absent is not shown.
Rule 2: an id leads to the page of its row; an address of the web is a link.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from svc_core.base import instants
from svc_http.dashboard.captions import caption_of, word_caption

CHIPS_MAX: Final = 6
TEXT_LENGTH: Final = 160
"""A longer text has a place of its own."""

_WORDED: Final = re.compile(
    "(status|state|type|category|kind|frequency|trigger|role|precision|basis|visibility|provider)$",
    re.IGNORECASE,
)
"""Members with a word of a short list."""
_NAMES: Final = ("name", "label", "title", "id")
_LINK: Final = re.compile("https?://")

AddressOf = Callable[[str, str], str]
"""The address of the row that a member names by its id; empty where there is no page of it."""


@frozen
class ValueCell:
    """A value and how it is shown; one with an `href` is a link."""

    kind: str
    value: Any = None
    href: str = ""


def value_cell(value: Any, name: str, address_of: AddressOf) -> ValueCell:
    """How a value is shown where there is room for a line: in a table, or beside a label."""
    if name == "severity" and (value is None or isinstance(value, str)):
        return ValueCell("severity", value)
    if value is None or value in ([], {}):
        return ValueCell("unknown" if value is None else "none")
    if isinstance(value, list):
        texts = tuple(map(short_text, value))
        return ValueCell("chips", (texts[:CHIPS_MAX], len(texts[CHIPS_MAX:])))
    if isinstance(value, bool | int | float):
        kind = "share" if name == "confidence" else "number"
        return ValueCell("flag" if isinstance(value, bool) else kind, value)
    return _text_cell(short_text(value), name, address_of)


def _text_cell(text: str, name: str, address_of: AddressOf) -> ValueCell:
    if _LINK.match(text):
        return ValueCell("link", text, text)
    try:
        return ValueCell("instant", instants.parse(text))
    except instants.InstantError:
        pass
    if _WORDED.search(name):
        return ValueCell("word", word_caption(text))
    href = address_of(name, text)
    kind = "long" if len(text) > TEXT_LENGTH or "\n" in text else "text"
    return ValueCell("id" if href else kind, text, href)


def short_text(value: Any) -> str:
    """A value in a few words: of an object its name, of a designator scheme and value."""
    if not isinstance(value, Mapping):
        return "—" if value is None else str(value)
    if "scheme" in value and "value" in value:
        return f"{value['scheme']}:{value['value']}"
    for name in _NAMES:
        if isinstance(value.get(name), str):
            return str(value[name])
    parts = (
        f"{caption_of(name)} {short_text(item)}" for name, item in value.items() if item is not None
    )
    return ", ".join(parts)
