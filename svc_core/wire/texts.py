"""Reads typed values from the texts of paths, queries and header fields.

Rule: only the ASCII spelling that the documents show. `int()` also takes "١٢", "1_0" and " 5 ".
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from functools import cache
from typing import Any, get_args

from svc_core.base import boxes, instants
from svc_core.base.unset import Unset
from svc_core.wire import shapes
from svc_core.wire.document import NUMBER_MAX
from svc_core.wire.strict import constrained_hook, literal_hook, read_date, read_instant

TextReader = Callable[[str], Any]

_INTEGER = re.compile(r"-?0*[0-9]{1,16}")
_NUMBER = re.compile(r"-?[0-9]{1,16}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?")
_BOOLEANS = {"true": True, "false": False}


@cache  # Bounded: one for each declared parameter, and those are written in the source.
def reader(annotation: Any) -> TextReader:
    """A function from the text of a parameter to its value.

    It knows `str`, `int`, `float`, `bool`, `datetime`, `date`, `Interval`, `Box`, `Literal`,
    comma lists as `tuple[X, ...]`, and all of them in `Annotated` and `Maybe`. The function raises
    `ValueError` with the reason in words.

    Raises:
        TypeError: the annotation cannot travel as text.
    """
    inner, metadata = shapes.split_annotation(annotation)
    if metadata:
        read = reader(inner)
        hook = constrained_hook(annotation, lambda text, _: read(text))
        return lambda text: hook(text, inner)
    if shapes.is_union(annotation) and Unset in get_args(annotation):
        return reader(shapes.without(annotation, Unset))
    if shapes.is_literal(annotation):
        literal = literal_hook(annotation)
        return lambda text: literal(text, annotation)
    if shapes.is_tuple(annotation) and not shapes.items_of(annotation):
        return _list_of(reader(get_args(annotation)[0]))
    if annotation in _READERS:
        return _READERS[annotation]
    raise TypeError(f"{annotation!r} cannot travel as text.")


def _list_of(read: TextReader) -> TextReader:
    def read_list(text: str) -> tuple[Any, ...]:
        parts = text.split(",")
        if "" in parts:
            raise ValueError("must be a comma list without empty items")
        return tuple(read(part) for part in parts)

    return read_list


def _integer(text: str) -> int:
    if _INTEGER.fullmatch(text) is None or abs(number := int(text)) > NUMBER_MAX:
        raise ValueError("must be an integer")
    return number


def _number(text: str) -> float:
    if _NUMBER.fullmatch(text) is None or abs(number := float(text)) > NUMBER_MAX:
        raise ValueError("must be a decimal number")
    return number


def _boolean(text: str) -> bool:
    if text not in _BOOLEANS:
        raise ValueError("must be true or false")
    return _BOOLEANS[text]


def _instant(text: str) -> datetime:
    _check_plus(text)
    return read_instant(text)


def _check_plus(text: str) -> None:
    """In a query a bare `+` is a space, which is the commonest way to lose an offset."""
    if " " in text:
        raise ValueError("holds a space; percent-encode + as %2B")


def _interval(text: str) -> instants.Interval:
    _check_plus(text)
    try:
        return instants.parse_interval(text)
    except instants.InstantError as error:
        raise ValueError(
            "must be an instant or an interval of two, such as ../2026-01-31T00:00:00Z"
        ) from error


_READERS: dict[Any, TextReader] = {
    str: str,
    int: _integer,
    float: _number,
    bool: _boolean,
    datetime: _instant,
    date: read_date,
    instants.Interval: _interval,
    boxes.Box: boxes.parse_box,
}
