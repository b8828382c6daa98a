"""Writes canonical JSON (RFC 8785) and its SHA-256: equal values have equal bytes.

Rule 1: the bytes are those of RFC 8785; what it and I-JSON (RFC 7493) cannot carry is refused.
Rule 2: the fast path gives the bytes of the exact one or steps aside. It takes only graphs of
        exactly dict, list, str, bool, None and int. For those the C encoder of the standard
        library writes the same digits and the same escapes, and its order of keys, by code point,
        differs from the order by UTF-16 unit only where a key holds a character beyond U+FFFF.
"""

import re
from hashlib import sha256
from math import isfinite
from typing import Any, Final, NoReturn

from svc_core.base import compact

DEPTH_MAX: Final = 64
"""Nested arrays and objects; the depth that the reader of requests takes as well."""
INTEGER_MAX: Final = 2**53 - 1
"""RFC 7493, 2.2: beyond it an integer does not survive a reader that holds numbers as doubles."""

_ESCAPE = re.compile(r'[\x00-\x1f"\\]')
_SHORT_ESCAPES = {"\b": "b", "\t": "t", "\n": "n", "\f": "f", "\r": "r", '"': '"', "\\": "\\"}


class CanonicalError(ValueError):
    """The value has no canonical form."""


def dumps(value: object) -> bytes:
    """The RFC 8785 bytes of a JSON value. Tuples are arrays; subclasses count as their base.

    Raises:
        CanonicalError: it holds a number that is not finite, an integer beyond 2^53-1, an unpaired
            surrogate, a key that is no text, another type, or more than 64 levels.
    """
    content = plain_bytes(value, DEPTH_MAX)
    return dumps_exactly(value) if content is None else content


def plain_bytes(value: object, levels: int) -> bytes | None:
    """The canonical bytes by the fast path, or None where the value needs the exact one.

    The fast path takes arrays and objects without floats, with at most `levels` levels and no
    character beyond U+FFFF: nearly every value.

    Raises:
        CanonicalError: it holds an unpaired surrogate.
    """
    if not _is_plain(value, levels - 1):
        return None
    text = _fast_text(value)
    # A character beyond U+FFFF is the only one that takes two UTF-16 units.
    if text.isascii() or len(_encode(text, "utf-16-le")) == 2 * len(text):
        return text.encode()
    return None


def dumps_exactly(value: object) -> bytes:
    """The canonical bytes, written step by step as the RFC says: slow, and the test of `dumps`.

    Raises:
        CanonicalError: as `dumps`.
    """
    return _encode(_exact_text(value, DEPTH_MAX), "utf-8")


def canonical_digest(value: object) -> bytes:
    """The SHA-256 of the canonical bytes, 32 bytes.

    Raises:
        CanonicalError: as `dumps`.
    """
    return sha256(dumps(value)).digest()


def hex_digest(value: object) -> str:
    """The SHA-256 of the canonical bytes, 64 hex digits.

    Raises:
        CanonicalError: as `dumps`.
    """
    return sha256(dumps(value)).hexdigest()


# -- the fast path -----------------------------------------------------------------------------


def _refuse(value: object) -> NoReturn:
    raise AssertionError(f"{type(value)} has passed the guard")


_fast_text = compact.compact_encoder(sort_keys=True, default=_refuse)


def _is_plain(value: Any, depth: int) -> bool:
    """Whether the fast path may take this array or object. It costs one call per container."""
    if type(value) is dict:
        for key in value:
            if type(key) is not str:
                return False
        value = value.values()
    elif type(value) is not list:
        return False
    for item in value:
        kind = type(item)
        if kind is str or item is None or kind is bool:
            continue
        if kind is int:
            if not -INTEGER_MAX <= item <= INTEGER_MAX:
                return False
        elif not depth or not _is_plain(item, depth - 1):
            return False
    return True


# -- the exact path ----------------------------------------------------------------------------


def _exact_text(value: object, depth: int) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return _number(value)
    if not isinstance(value, dict | list | tuple):
        raise CanonicalError(f"JSON has no type for {type(value).__name__}.")
    if not depth:
        raise CanonicalError(f"The value is nested more than {DEPTH_MAX} levels deep.")
    if isinstance(value, dict):
        members = sorted(value.items(), key=_utf16)
        return f"{{{','.join(f'{_string(k)}:{_exact_text(v, depth - 1)}' for k, v in members)}}}"
    return f"[{','.join(_exact_text(item, depth - 1) for item in value)}]"


def _utf16(member: tuple[object, object]) -> bytes:
    # RFC 8785, 3.2.3: property names are sorted as arrays of UTF-16 code units.
    if not isinstance(member[0], str):
        raise CanonicalError(f"A key is text in JSON, not {type(member[0]).__name__}.")
    return _encode(member[0], "utf-16-be")


def _string(text: str) -> str:
    # An enumeration of texts counts as its text, however it prefers to be formatted.
    return f'"{_ESCAPE.sub(_escape, str.__str__(text))}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return f"\\{_SHORT_ESCAPES.get(character) or f'u{ord(character):04x}'}"


def _integer(value: int) -> str:
    if not -INTEGER_MAX <= value <= INTEGER_MAX:
        raise CanonicalError("An integer beyond 2^53-1 must be sent as text (RFC 7493, 2.2).")
    return int.__repr__(value)


def _number(value: float) -> str:
    """The number as ECMAScript writes it (Number::toString), which RFC 8785, 3.2.2.3 demands.

    Python and ECMAScript choose the same shortest digits; only the layout differs.
    """
    if not isfinite(value):
        raise CanonicalError("JSON has no number for NaN and the infinities.")
    if value == 0:
        return "0"
    mantissa, _, exponent = float.__repr__(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    return ("-" if value < 0 else "") + _layout(digits.rstrip("0"), point)


def _layout(digits: str, point: int) -> str:
    """The value 0.`digits` * 10^`point` in the forms of ECMA-262, Number::toString, steps 6-10."""
    if len(digits) <= point <= 21:
        return digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{tail}e{point - 1:+d}"


def _encode(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        raise CanonicalError("Text with an unpaired surrogate has no UTF-8 form.") from error
