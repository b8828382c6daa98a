"""The query string of a request: parsed into names and values, and written again in links."""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from attrs import frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem, describe
from svc_core.wire import InputFault

_HEX = frozenset("0123456789abcdefABCDEF")
_URL = "-._~:/?@!$'()*,;=+%"


@frozen
class QueryString:
    """A query string as it was sent, part by part, and its decoded names and values."""

    parts: tuple[str, ...]
    parameters: Mapping[str, str]

    def with_parameter(self, name: str, value: str) -> "QueryString":
        """The same query with this value of one parameter, which needs no escaping."""
        parts = [part for part, key in zip(self.parts, self.parameters, strict=True) if key != name]
        remaining = {key: text for key, text in self.parameters.items() if key != name}
        return QueryString((*parts, f"{name}={value}"), {**remaining, name: value})

    def __str__(self) -> str:
        return "&".join(self.parts)


NO_QUERY: Final = QueryString((), MappingProxyType({}))


@lru_cache(maxsize=4096)
def parse_query(query: str) -> QueryString:
    """Names and values of a query string, decoded as a form is.

    Raises:
        Problem: DUPLICATE_PARAMETER, or INVALID_PARAMETER for a broken escape, bytes that are not
            UTF-8 or a control character.
    """
    raw_parts = [part for part in query.split("&") if part]
    pairs = [_decode_pair(part) for part in raw_parts]
    # Counted in one pass: a target has room for thousands of names.
    times = Counter(name for name, _ in pairs)
    duplicates = sorted(name for name, count in times.items() if count > 1)
    if duplicates:
        faults = [InputFault(name, "is repeated") for name in duplicates]
        raise Problem(problem.DUPLICATE_PARAMETER, describe(faults))
    # A link repeats what was sent; characters that no URL holds (RFC 3986) are escaped in it.
    parts = tuple(quote(part, safe=_URL) for part in raw_parts)
    return QueryString(parts, MappingProxyType(dict(pairs)))


def _decode_pair(part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    return _decode(name, name), _decode(value, name)


def _decode(text: str, name: str) -> str:
    if "%" not in text and "+" not in text and text.isascii():
        return text
    raw = bytearray()
    rest = iter(text.replace("+", " "))
    for character in rest:
        if character != "%":
            raw += character.encode()
            continue
        pair = next(rest, "") + next(rest, "")
        if len(pair) != 2 or not _HEX.issuperset(pair):
            raise Problem(problem.INVALID_PARAMETER, f"{name}: holds a broken percent escape")
        raw.append(int(pair, 16))
    try:
        text_ = raw.decode()
    except UnicodeDecodeError as error:
        raise Problem(problem.INVALID_PARAMETER, f"{name}: is not UTF-8") from error
    if any(character < " " or character == "\x7f" for character in text_):
        raise Problem(problem.INVALID_PARAMETER, f"{name}: holds a control character")
    return text_
