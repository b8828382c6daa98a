"""Normal forms of names for comparison: folded, without punctuation and legal forms."""

import re
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from svc_core import data
from svc_core.text.frequencies import background
from svc_core.text.words import fold_case, stop_words, term_of

NAMED_TYPES = frozenset(
    ["company", "organization", "government", "threatActor", "malware", "tool", "campaign"]
)
"""Types of entities that a name in text may mean. Persons share names, and techniques are called by
ordinary words, so neither is among them."""

_TAIL = re.compile(r"(\s?)[/\\]\s?[a-z]{2,8}([/\\]?)\s*$")
"""A suffix by which EDGAR distinguishes filers of one name: "/DE/", " /ADR", "INC/NY"."""
_ABBREVIATION = re.compile(r"(?<=\b\w)[./](?=\w\b)")  # "S.p.A.", "A/S"
_APOSTROPHE = re.compile(r"['’`´]")
_NOT_WORD = re.compile(r"[\W_]+")
_UNCOMMON = re.compile(r"\A(?=.*?\d)(?=.*?[^\W\d_])|[^\W\d_][a-z][A-Z]|^[a-z]+[A-Z]")
_FORM_WORDS_MAX = 5
_CACHE_SIZE = 16_384  # names of about three thousand items


@lru_cache(maxsize=_CACHE_SIZE)
def normal_name(name: str) -> str:
    """A name without case, accents, legal forms and EDGAR's suffix, its words joined by spaces.

    A name that is nothing but a legal form stays as it is.
    """
    text = _without_tail(fold_case(name)).replace("&", " and ")
    plain = _APOSTROPHE.sub("", _ABBREVIATION.sub("", text))
    plain = _joined_forms().sub(" ", plain).strip() or plain
    words = [word for word in _NOT_WORD.sub(" ", plain).split() if word != "and"]
    return " ".join(_without_forms(words) or words)


def _without_tail(name: str) -> str:
    """A folded name without EDGAR's tail; "TCP/IP" has none."""
    tail = _TAIL.search(name)
    if tail is None:
        return name
    before = name[: tail.start()]
    last = _NOT_WORD.sub(" ", before).split()[-1:]
    return before if any(tail.groups()) or _forms("tail").issuperset(last) else name


_ORDER_ALPHABET = " 0123456789abcdefghijklmnopqrstuvwxyz"
_ORDER_BASE: Final = 38  # letters of other scripts come last
_ORDER_CHARS: Final = 12  # as many as a number of 64 bits holds beside one bit
NAME_ORDERS: Final[int] = _ORDER_BASE**_ORDER_CHARS


def name_order(name: str) -> int:
    """The place of a name in the alphabet, from 0 to below `NAME_ORDERS`: by the first twelve of
    its letters, digits and blanks, without case and accents."""
    words = " ".join(_NOT_WORD.sub(" ", fold_case(name)).split())
    place = 0
    for char in words[:_ORDER_CHARS].ljust(_ORDER_CHARS):
        place = place * _ORDER_BASE + _ORDER_ALPHABET.find(char) % _ORDER_BASE
    return place


def is_uncommon(spelling: str) -> bool:
    """Whether a name has a digit or a capital inside, as no ordinary word has."""
    return _UNCOMMON.search(spelling) is not None


def is_ordinary(word: str) -> bool:
    """Whether a word is usual in text of any topic: at least one of 500 items has it."""
    return background().counts.get(term_of(word), 0) > 0 or word in stop_words("en")


def labels(name: str, type_: str) -> tuple[str, ...]:
    """The forms under which rows may name an entity: its normal name, and for companies and
    organizations also in one word, as CPE writes vendors ("paloaltonetworks").
    """
    words = normal_name(name)
    if type_ not in NAMED_TYPES or not words:
        return ()
    compact = words.replace(" ", "") if type_ in ("company", "organization") else words
    return tuple(dict.fromkeys((words, compact)))


def _without_forms(words: list[str]) -> list[str]:
    """Words without the legal forms at their end and at their beginning."""
    if words[:1] == ["the"]:
        words = words[1:]
    while size := _form_size(words, "tail"):
        words = words[:-size]
    return words[_form_size(words, "head") :]


def _form_size(words: list[str], place: str) -> int:
    """How many words the longest legal form at that end has, with at least one other word left."""
    if not words or words[-1 if place == "tail" else 0] not in _edges(place):
        return 0
    for size in range(min(_FORM_WORDS_MAX, len(words) - 1), 0, -1):
        part = words[-size:] if place == "tail" else words[:size]
        if " ".join(part) in _forms(place):
            return size
    return 0


@cache
def _forms(place: str) -> frozenset[str]:
    groups = (
        forms.split("|") for side, _, forms in data.table_rows("legal_forms.tsv") if side == place
    )
    return frozenset(chain.from_iterable(groups))


@cache
def _joined_forms() -> re.Pattern[str]:
    """Legal forms of scripts without spaces, the longest first."""
    forms = sorted(map(fold_case, _forms("joined")), key=len, reverse=True)
    return re.compile("|".join(forms))


@cache
def _edges(place: str) -> frozenset[str]:
    """The outermost words of all legal forms: a quick test before the search for one."""
    return frozenset(form.split()[-1 if place == "tail" else 0] for form in _forms(place))
