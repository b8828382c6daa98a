"""Writes JSON without white space, by the standard library's C encoder, which is built once.

`json.dumps` with separators of its own builds an encoder on every call, which costs more than
encoding a small value.
"""

from collections.abc import Callable
from json import encoder as json_encoder
from typing import Any, Final, NoReturn


def compact_encoder(
    *,
    ascii_only: bool = False,
    sort_keys: bool = False,
    default: Callable[[Any], Any] | None = None,
) -> Callable[[object], str]:
    """A function from a JSON value to its compact text.

    `default` turns what is no JSON value into one, or raises; without it that is a TypeError. The
    function raises ValueError for a number that is infinite or not a number. It does not look for
    values that hold themselves.
    """
    make: Any = json_encoder.c_make_encoder  # type: ignore[attr-defined]  # typeshed lacks it
    escape = json_encoder.encode_basestring_ascii if ascii_only else json_encoder.encode_basestring
    chunks = make(None, default or _refuse, escape, None, ":", ",", sort_keys, False, False)
    join = "".join
    return lambda value: join(chunks(value, 0))


def _refuse(value: object) -> NoReturn:
    raise TypeError(f"{type(value).__name__} has no JSON form")


compact_text: Final = compact_encoder()
"""The compact text of a JSON value."""
ascii_text: Final = compact_encoder(ascii_only=True)
"""The same in pure ASCII, with everything else escaped."""
