"""Names as they are compared: folded, without legal forms."""

import re
from functools import cache

from svc_core import data
from svc_core.text.words import fold

NAMED_TYPES = frozenset(
    ["company", "organization", "government", "threatActor", "malware", "tool", "campaign"]
)
"""What a name in text may mean: an equal name is not an equal person, and a technique has words."""

_TAIL = re.compile(r"(?:\s[/\\][a-z]{2,8}|[/\\][a-z]{2,8}[/\\])[/\\]?\s*$")  # EDGAR: "/DE/", "/ADR"
_ABBREVIATED = re.compile(r"(?<=\b\w)[./](?=\w\b)")  # "S.p.A.", "A/S"
_APOSTROPHE = re.compile(r"['’`´]")
_NOT_WORD = re.compile(r"[\W_]+")
_UNCOMMON = re.compile(r"\d|[^\W\d_][a-z][A-Z]|^[a-z]+[A-Z]")
"""A digit or a capital inside: no ordinary word is written so."""
_FORM_WORDS_MAX = 5


def normal(name: str) -> str:
    """The words of a name without case, accents, legal forms and EDGAR's tails, joined by spaces.

    What is nothing but a legal form stays.
    """
    folded = _TAIL.sub("", fold(name)).replace("&", " and ")
    plain = _APOSTROPHE.sub("", _ABBREVIATED.sub("", folded))
    words = [word for word in _NOT_WORD.sub(" ", plain).split() if word != "and"]
    return " ".join(_bare(words) or words)


def is_telling(name: str, written: str) -> bool:
    """Whether a normalised name is more than a word: by its words, or by how it is written."""
    return " " in name or _UNCOMMON.search(written) is not None


def labels(name: str, type_: str) -> tuple[str, ...]:
    """How rows may write a name: its words, and of makers of products these in one.

    CPE writes vendors so, "paloaltonetworks".
    """
    words = normal(name)
    if type_ not in NAMED_TYPES or not words:
        return ()
    joined = words.replace(" ", "") if type_ in ("company", "organization") else words
    return tuple(dict.fromkeys((words, joined)))


def _bare(words: list[str]) -> list[str]:
    """Words without the legal forms at their end and at their beginning."""
    if words[:1] == ["the"]:
        words = words[1:]
    while size := _form(words, "tail"):
        words = words[:-size]
    return words[_form(words, "head") :]


def _form(words: list[str], place: str) -> int:
    """How many words of the longest legal form stand there, at least one other word beside."""
    for size in range(min(_FORM_WORDS_MAX, len(words) - 1), 0, -1):
        part = words[-size:] if place == "tail" else words[:size]
        if " ".join(part) in _forms(place):
            return size
    return 0


@cache
def _forms(place: str) -> frozenset[str]:
    rows = (line.split("\t") for line in data.lines("legal_forms.tsv"))
    return frozenset(form for at, _, forms in rows if at == place for form in forms.split("|"))
