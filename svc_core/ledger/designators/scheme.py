"""What a scheme of designators is, and the one way in which its readers refuse."""

import re
from collections.abc import Callable

from attrs import frozen


@frozen
class Scheme:
    """A way in which the world names things: its name, what it names, an example, its reader.

    `read` gives the normalised value of a text without outer white space and control characters.
    It raises `ValueError` with the reason in words, and nothing else.
    """

    name: str
    doc: str
    example: str
    read: Callable[[str], str]


def matcher(pattern: str, reason: str, fold: Callable[[str], str] = str) -> Callable[[str], str]:
    """A reader that passes the texts which match as a whole after they were folded."""
    regex = re.compile(pattern, re.ASCII)

    def read(text: str) -> str:
        candidate = fold(text)
        if regex.fullmatch(candidate) is None:
            raise ValueError(reason)
        return candidate

    return read
