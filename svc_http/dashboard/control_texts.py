"""Turns JSON values into the texts that stand in controls of a form, and back.

Rule 1: what cannot be read as it should be goes on as it was typed, so that the operation refuses
        it in its own words; only JSON and pairs, which have no other form, are refused here.
Rule 2: instants stand in a control as UTC without its letter (HTML, 2.3.5.7).
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from svc_core import wire
from svc_core.base import instants
from svc_core.base.compact import compact_text
from svc_core.base.unset import Unset

_LOCAL: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?", re.ASCII)
_LOCAL_LENGTH: Final = len("2026-01-31T09:30:00.000")
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


class ControlError(ValueError):
    """The text does not have the form that its control needs; the message says which."""


def as_text(value: Any) -> str:
    """A single value as a text."""
    return value if isinstance(value, str) else compact_text(value)


# -- into a control ----------------------------------------------------------------------------


def value_texts(kind: str, value: Any) -> tuple[str, ...]:
    """What stands in a control of this kind for a JSON value; nothing for null or left out."""
    if value is None or isinstance(value, Unset) or value in ((), [], {}):
        return ()
    if kind == "check":
        return ("true",) if value else ()
    if kind == "pairs":
        return tuple(f"{name}={word}" for name, word in value.items())
    if kind == "json":
        return (json.dumps(value, ensure_ascii=False, indent=1),)
    texts = tuple(map(as_text, value)) if isinstance(value, list | tuple) else (as_text(value),)
    if kind == "span":
        unit, size = next(row for row in _UNITS if value % row[1] == 0)
        texts = (f"{value // size}{unit}",)
    elif kind == "instant":
        texts = tuple(text.removesuffix("Z")[:_LOCAL_LENGTH] for text in texts)
    return texts


# -- out of a control --------------------------------------------------------------------------


def control_words(kind: str, texts: tuple[str, ...]) -> tuple[str, ...]:
    """The words in a control: the lines of one with several, else its texts; blank ones left out.

    Chosen words and the parts of an area or an interval may be one text, as in a query; parts keep
    their places.
    """
    if kind in {"lines", "picks", "pairs"}:
        texts = tuple(line for text in texts for line in text.splitlines())
    elif kind in {"choices", "box", "interval"}:
        texts = tuple(word for text in texts for word in re.split("[,/]", text))
    words = tuple(text.strip() for text in texts)
    if kind == "interval":
        words = tuple("" if word == ".." else word.removesuffix("Z") for word in words)
    is_whole = kind in {"box", "interval"} and any(words)
    return words if is_whole else tuple(word for word in words if word)


def query_text(kind: str, words: tuple[str, ...]) -> str:
    """The value of a query parameter."""
    match kind:
        case "instant":
            return _instant(words[0])
        case "interval":
            return "/".join(_instant(word) or ".." for word in words)
        case "span":
            return as_text(_seconds(words[0]))
        case "lines":
            return ",".join(part.strip() for word in words for part in word.split(","))
    return ",".join(words)


def json_value(kind: str, words: tuple[str, ...], *, is_json: bool) -> wire.Json:
    """The JSON value of the words in a control.

    Raises:
        ControlError: they are no JSON, or no pairs.
    """
    if kind in {"lines", "choices", "picks"}:
        return [_typed(word, is_json=is_json) for word in words]
    return _READERS[kind](words) if kind in _READERS else _typed(words[0], is_json=is_json)


def _instant(text: str) -> str:
    match = _LOCAL.fullmatch(text)
    return text if match is None else f"{text}{'' if match[1] else ':00'}Z"


def _seconds(text: str) -> int | str:
    span = instants.span(text)
    return text if span is None else int(span.total_seconds())


def _typed(word: str, *, is_json: bool) -> wire.Json:
    try:
        return wire.decode_json(word.encode()) if is_json else word
    except wire.JsonError:
        return word


def _pairs(words: tuple[str, ...]) -> dict[str, wire.Json]:
    pairs: dict[str, wire.Json] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not name or not sign or name in pairs:
            raise ControlError("must be NAME=VALUE on each line, each name once")
        pairs[name] = value
    return pairs


def _json(words: tuple[str, ...]) -> wire.Json:
    try:
        return wire.decode_json("\n".join(words).encode(), exact=True)
    except wire.JsonError as fault:
        raise ControlError(f"must be JSON: {fault}") from fault


_READERS: Final[Mapping[str, Callable[[tuple[str, ...]], wire.Json]]] = {
    "pairs": _pairs,
    "json": _json,
    "check": lambda words: words != (),
    "span": lambda words: _seconds(words[0]),
    "instant": lambda words: _instant(words[0]),
}
