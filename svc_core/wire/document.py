"""Parses JSON that strangers send (RFC 8259, narrowed).

The steps, in this order, so that a body with several faults always gets the same answer: one
byte-order mark is dropped, the bytes must be UTF-8, a linear scan bounds the depth before the
recursive parser sees it, the parser refuses what Python would let pass, and the strings must be
storable. A fault in a value is reported with its place, which takes a second parse.
"""

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import accumulate
from typing import Any, Final, Literal, NoReturn, TypeAlias

from svc_core.wire.faults import escape

Json: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None

DEPTH_MAX: Final = 64  # Spec: Limits leaves it open; no resource nests deeper than ten
NUMBER_MAX: Final = 2**53 - 1  # beyond it a double, which is what most readers have, loses digits
_DIGITS_MAX: Final = 17  # of "-9007199254740991"; `int` would take quadratic time over a megabyte
_NAME_SHOWN_MAX: Final = 64
_EXACT_CHARS_MAX: Final = 400  # no double needs more: 5e-324 written out has 326

# The closing quote is optional: a string that never ends is then taken to the end of the text at
# once. Otherwise the scan would start again at each quote in it, in quadratic time.
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_NO_BRACKET = re.compile(r"[^\[\]{}]+")
_ABSENT: Final = object()
_STEP: Final = {"[": 1, "{": 1, "]": -1, "}": -1}
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")

Kind = Literal["malformed", "duplicate", "encoding", "too-deep", "number", "precision"]


class JsonError(ValueError):
    """The bytes are not the JSON that is accepted here; `kind` says which rule they break."""

    def __init__(self, kind: Kind, message: str) -> None:
        """Refuse; `message` is a sentence without its full stop, or a place and a reason."""
        super().__init__(message)
        self.kind = kind

    def at(self, pointer: str) -> "JsonError":
        """The same fault with its place: a JSON Pointer (RFC 6901), or the whole body."""
        return JsonError(self.kind, f"{pointer or '(body)'}: {self}")


def decode_json(body: bytes, *, exact: bool = False) -> Json:
    """The one JSON value in `body`; `exact` refuses numbers that a double cannot give back.

    Raises:
        JsonError: the bytes are not UTF-8, not JSON, repeat a member, nest deeper than
            `DEPTH_MAX`, hold a number beyond `NUMBER_MAX`, U+0000 or an unpaired surrogate, or,
            where numbers are to be exact, one with more digits than a double keeps.
    """
    try:
        text = body.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        raise JsonError("encoding", "The body is not UTF-8") from error
    _check_depth(text)
    try:
        value = _decode(text, exact=exact)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise JsonError("malformed", f"The body is not JSON at {place}") from error
    # A raw NUL is refused by the parser and raw surrogates are not UTF-8: only escapes are left.
    if "\\u" in text and any(map(_UNSTORABLE.search, _strings(value))):
        place = next(
            pointer
            for pointer, item in _places(value)
            if isinstance(item, str) and _UNSTORABLE.search(item)
        )
        fault = JsonError("encoding", "holds U+0000 or an unpaired surrogate")
        raise fault.at(_UNSTORABLE.sub("?", place))
    return value


def _decode(text: str, *, exact: bool) -> Json:
    try:
        value: Json = _DECODERS[exact].decode(text)
    except JsonError:
        marks = _MARKING[exact].decode(text)
        raise next(
            fault.at(pointer) for pointer, fault in _places(marks) if isinstance(fault, JsonError)
        ) from None
    return value


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= DEPTH_MAX:
        return
    brackets = _NO_BRACKET.sub("", _STRING.sub("", text))
    if max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > DEPTH_MAX:
        raise JsonError("too-deep", f"The body nests deeper than {DEPTH_MAX} levels")


def _strings(value: Json) -> Iterator[str]:
    """Every string in `value`, the names of members included, in no order."""
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, dict):
            stack.extend(item)
            stack.extend(item.values())


def _places(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every value in `value`, the names of members included, with the pointers to them."""
    yield pointer, value
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _places(item, f"{pointer}/{number}")
    elif isinstance(value, dict):
        for name, item in value.items():
            step = f"{pointer}/{escape(name)}"
            yield step, name
            yield from _places(item, step)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    # Each name found takes its member away, so the first that finds none is a repeated one.
    duplicate = next(name for name, _ in pairs if members.pop(name, _ABSENT) is _ABSENT)
    # Written as JSON in ASCII, for the name may hold what no answer can carry.
    text = json.dumps(duplicate[:_NAME_SHOWN_MAX])
    raise JsonError("duplicate", f"the member {text} is sent more than once")


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS_MAX or abs(number := int(digits)) > NUMBER_MAX:
        raise _out_of_range()
    return number


def _decimal(digits: str) -> float:
    number = float(digits)
    if abs(number) > NUMBER_MAX:
        raise _out_of_range()
    return number


def _exact_decimal(digits: str) -> float:
    number = _decimal(digits)
    # Written out, a power of ten could take as much memory as its exponent says.
    if len(digits) > _EXACT_CHARS_MAX or Decimal(digits) != Decimal(repr(number)):
        raise JsonError("precision", f"has more digits than are kept: {number!r}")
    return number


def _out_of_range() -> JsonError:
    return JsonError("number", f"lies beyond ±{NUMBER_MAX}, so send it as a string")


def _constant(name: str) -> NoReturn:
    raise JsonError("malformed", f"{name} is not JSON")


def _plain_reader(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return read


def _marking_reader(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A reader that returns the fault in the place of the value that has it."""

    def read_or_fault(source: Any) -> Any:
        try:
            return read(source)
        except JsonError as fault:
            return fault

    return read_or_fault


def _decoder(
    exact: bool, wrap: Callable[[Callable[[Any], Any]], Callable[[Any], Any]]
) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=wrap(_members),
        parse_int=wrap(_integer),
        parse_float=wrap(_exact_decimal if exact else _decimal),
        parse_constant=_constant,
    )


_DECODERS = (_decoder(False, _plain_reader), _decoder(True, _plain_reader))
_MARKING = (_decoder(False, _marking_reader), _decoder(True, _marking_reader))
