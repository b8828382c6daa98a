"""The `Scheme` of a designator, and the helper that builds its readers from a pattern."""

import re
from collections.abc import Callable

from attrs import frozen


@frozen
class Scheme:
    """An identifier scheme: its name, a description, an example, and the reader of its values.

    `read` gives the normalised value of a text without outer white space and control characters.
    It raises `ValueError` with the reason in words, and nothing else.
    """

    name: str
    doc: str
    example: str
    read: Callable[[str], str]


def matcher(pattern: str, reason: str, fold: Callable[[str], str] = str) -> Callable[[str], str]:
    """Build a reader that accepts texts which, after `fold`, match the whole pattern."""
    regex = re.compile(pattern, re.ASCII)

    def read(text: str) -> str:
        candidate = fold(text)
        if regex.fullmatch(candidate) is None:
            raise ValueError(reason)
        return candidate

    return read
