"""Names as they are compared: folded, without legal forms."""

import re
import unicodedata
from typing import Protocol

_TAIL = re.compile(r"\s*/[a-z]{2,3}/?\s*$")
_NOT_WORD = re.compile(r"[^\w]+")
_FORMS = frozenset(
    ["inc", "incorporated", "corp", "corporation", "co", "company", "ltd", "limited", "llc",
     "plc", "sa", "nv", "ag", "gmbh", "se", "spa", "oyj", "ab", "as", "bv", "kk", "lp", "llp"]
)  # fmt: skip


class Named(Protocol):
    """Whose name it is."""

    @property
    def type(self) -> str:
        """What it is."""
        ...


def normal(name: str) -> str:
    """The words of a name in lower case, without the legal form and `/DE/` tails."""
    folded = _TAIL.sub("", unicodedata.normalize("NFKC", name).casefold())
    words = _NOT_WORD.sub(" ", folded.replace("'", "")).split()
    while len(words) > 1 and words[-1] in _FORMS:
        words.pop()
    return " ".join(words)


def label(name: str, owner: Named) -> str | None:
    """The normalised name where text that has it may mean its owner; None where it may not."""
    words = normal(name)
    return f"{owner.type}:{words}" if len(words.split()) > 1 else None
