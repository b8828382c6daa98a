"""Decides which capitals are read as a word (NATO) and which letter by letter (C-V-E).

Rule 1: two or three letters, and what cannot be pronounced, are spelled; the rest are words.
Rule 2: the tables hold only what that rule gets wrong, or what is spelled in capitals throughout.
Rule 3: a paragraph in capitals throughout is emphasis; only what is surely spelled is spelled, and
        what has no vowel.
"""

import re

from svc_core.text.tables import spoken

_SPELLED_OUT = frozenset(spoken("spelled_out"))
_WORDS = frozenset(spoken("word"))
_CAPITALS = re.compile(
    r"(?:(?<=[a-z0-9])(-)|(?<!\w))([A-Z]{2,8})(?:(s|'s)(?!\w))?(?![A-Za-z_]|'[A-Za-z])(-(?=[A-Za-z]))?"
)
_APOSTROPHE_S = "'s"  # of a plural as well: `A-P-Is` would be read as a word
_DOLLARS = re.compile(r" dollars?\b")
_PAIR = re.compile(r"\b([A-Z]{1,4})\s?&\s?([A-Z]{1,4})\b")
_NUMBERED_NAME = re.compile(r"(?<![\w-])([A-Z]{1,5})-?([0-9]{1,4})([A-Z]?)([0-9]{0,2})(?![\w])")
_WORD = re.compile(r"[^\W\d_]{2,}")
_UNSAYABLE = re.compile(
    r"^(?:(?=.{4,5}$)(?:.*(?:[^AEIOUY]{4}|[AEIOU]{3}|[^AEIOUY]{3}$|Q(?!U))"
    r"|(?!S[CPT][HLR]|CHR|THR)[^AEIOUY]{3})|[^AEIOU]+$)"
)
_NO_VOWEL = re.compile("[^AEIOUY]+")
_SHOUTED_MIN = 3  # capitals in a row may be a name; a paragraph of them is emphasis
_LETTERS_SPELLED_MAX = 3


def say_capitals(text: str) -> str:
    """Acronyms letter by letter, or as the word that they are."""
    if text.islower():
        return text
    text = _PAIR.sub(lambda match: f"{'-'.join(match[1])} and {'-'.join(match[2])}", text)
    text = _NUMBERED_NAME.sub(_say_numbered, text)
    is_shouted = _is_shouted(text)
    return _CAPITALS.sub(lambda match: _say_acronym(match, is_shouted=is_shouted), text)


def _is_shouted(text: str) -> bool:
    words: list[str] = _WORD.findall(text)
    loud = sum(word.isupper() for word in words)
    return loud >= _SHOUTED_MIN and loud * 2 > len(words)


def _say_acronym(match: re.Match[str], *, is_shouted: bool) -> str:
    word, ending = match[2], match[3] or ""
    before, after = (" " if match[1] else ""), (" " if match[4] else "")
    if word == "US" and not ending and _DOLLARS.match(match.string, match.end()):
        return match[0]
    if _is_spelled(word, is_shouted=is_shouted):
        return f"{before}{'-'.join(word)}{_APOSTROPHE_S if ending else ''}{after}"
    if is_shouted:
        return match[0].replace(word, word.capitalize())
    return match[0]


def _is_spelled(word: str, *, is_shouted: bool) -> bool:
    if word in _SPELLED_OUT:
        return not (is_shouted and word in ("IT", "WHO"))
    if word in _WORDS:
        return False
    if is_shouted:
        return len(word) >= _SHOUTED_MIN and word != "MRS" and _NO_VOWEL.fullmatch(word) is not None
    return len(word) <= _LETTERS_SPELLED_MAX or _UNSAYABLE.search(word) is not None


def _say_numbered(match: re.Match[str]) -> str:
    """`G7` is `G-7`, `H5N1` is `H-5-N-1`, `CO2` is `C-O-2`; `F-16` and `COVID-19` stand."""
    letters, digits, letter, suffix = match.groups()
    if len(letters) > 1 and not _is_spelled(letters, is_shouted=False):
        return match[0]
    return "-".join(part for part in ("-".join(letters), digits, letter, suffix) if part)
