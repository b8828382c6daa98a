"""Parses a word of a command line into a JSON value, by the form of its flag.

Instants are RFC 3339, members in seconds are spans, an object of texts is KEY=VALUE, and what is no
text, number or list of these is JSON. What a form needs is imported when a value of it was typed.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

HINTS: Final[Mapping[str, str]] = {
    "ahead": " RFC 3339, or a span from now such as 24h.",
    "instant": " RFC 3339.",
    "integer": " A whole number.",
    "number": " A number.",
    "seconds": " Such as 90s, 15m, 24h or 7d.",
    "json": " As JSON.",
}
"""What the help of a flag adds to its description, by its form."""


def parse_word(form: str, word: Any) -> Any:
    """The JSON value of what was typed.

    Raises:
        ValueError: it does not have the form.
    """
    return _READERS[form](word)


def _same(word: Any) -> Any:
    return word


def _pairs(words: Iterable[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for word in words:
        name, is_pair, value = word.partition("=")
        if not name or not is_pair or name in pairs:
            raise ValueError(f"must be KEY=VALUE, each key once, not {word!r}")
        pairs[name] = value
    return pairs


def _integer(word: str) -> int:
    if re.fullmatch("[+-]?[0-9]{1,19}", word) is None:
        raise ValueError("must be a whole number")
    return int(word)


def _number(word: str) -> float:
    if not math.isfinite(number := float(word)):
        raise ValueError("must be a number")
    return number


def _tag(word: str) -> str:
    return word if word == "*" or word.startswith('"') else f'"{word}"'


def _file(word: str) -> str:
    """The path as the server understands it, which runs in another folder."""
    # An empty text, as from a variable that is not set, is not this folder.
    return word if "://" in word or not word.strip() else str(Path(word).absolute())


def _typed_instant(reader: str) -> Callable[[str], Any]:
    """A function of `typed_instants`, which is loaded where a moment was typed, with the clock."""

    def read(word: str) -> Any:
        return getattr(import_module("svc_http.run.cli.typed_instants"), reader)(word)

    return read


_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "text": _same,
    "switch": _same,
    "tag": _tag,
    "file": _file,
    "pairs": _pairs,
    "integer": _integer,
    "number": _number,
    "json": json.loads,
    "seconds": _typed_instant("seconds"),
    "ahead": _typed_instant("instant_or_offset"),
    "instant": _typed_instant("rfc3339_instant"),
}
