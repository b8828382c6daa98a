"""Words: how text becomes the terms that are searched, weighed and compared.

Rule 1: the same function makes the terms of the index and of the question.
Rule 2: no language has to be known. Case, width and accents are folded, filler words of the five
languages dropped, and endings cut by Snowball, as English or by script, whatever the language.
Rule 3: scripts without spaces (Chinese, Japanese, Thai ...) become overlapping pairs of characters.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import snowballstemmer

from svc_core.text.words import stop_words_by_language

STOP_WORDS = frozenset[str]().union(*stop_words_by_language().values())

_WORDS_REMEMBERED = 65_536  # distinct words of about ten thousand items
_TERM_LENGTH_MAX = 64  # longer runs are encoded data, not words

_MENDED = (
    (re.compile(r"\b(?:USA|US|EE\.?\s?UU|U\.S\.)(?!\w)"), "usofa"),
    (re.compile(r"\bWHO\b"), "whoorg"),
    (re.compile(r"\b(?:AI|KI|IA)\b"), "aitech"),  # "ai" is a French verb
    (re.compile(r"\b(?:UN|U\.N\.)(?!\w)"), "unorg"),  # "un" is a filler of three languages
    (re.compile(r"\büber\b", re.IGNORECASE), " "),  # folded, it would be the company
    (re.compile(r"-elect\b", re.IGNORECASE), ""),  # a president-elect is no election
)
_DOTTED = re.compile(r"\b(?:[A-Z]\.){2,}")
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quelqu)['’](?=\w)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s\b")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_MARKS = re.compile(
    r"(?<=[a-z\u03b1-\u03c9])[\u0300-\u036f]+|[\u064b-\u065f\u0670\u0640\u200b-\u200f]"
)
_LIGATURES = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ё": "е"}
)
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
_TERM = re.compile(
    r"cve-\d{4}-\d{4,}"
    rf"|[{_UNSPACED}]+"
    r"|\d+(?:\.\d+)+"
    rf"|(?:(?![{_UNSPACED}])[^\W_]|[\u0900-\u0963\u0966-\u0dff])+"
)
_UNSPACED_START = re.compile(rf"[{_UNSPACED}]")


def fold(text: str) -> str:
    """`text` without case, width, accents and ligatures; letters of every script survive."""
    if text.isascii():
        return text.casefold()
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", bare).translate(_LIGATURES)


def tokens(text: str) -> list[str]:
    """The terms of `text` in order, repeats kept, filler words dropped. Linear in its length."""
    terms: list[str] = []
    for run in _TERM.findall(fold(_join_parts(text))):
        if _UNSPACED_START.match(run):
            terms.extend(_pairs(run))
        elif run not in STOP_WORDS and (len(run) > 1 or run.isdigit()):
            terms.append(stem(run[:_TERM_LENGTH_MAX]))
    return terms


def runs(terms: Sequence[str]) -> set[tuple[str, ...]]:
    """Every run of one to three terms."""
    return {
        tuple(terms[at : at + size]) for size in (1, 2, 3) for at in range(len(terms) - size + 1)
    }


def _join_parts(text: str) -> str:
    """Mend what punctuation splits: `U.S.`, `l’Europe`, `China's`, `O'Brien`, `12,000`."""
    for written, mended in _MENDED:
        text = written.sub(mended, text)
    text = _DOTTED.sub(lambda match: match[0].replace(".", ""), text)
    if "'" in text or "’" in text:
        text = _ELISION.sub("", _POSSESSIVE.sub("", text))
        text = _APOSTROPHE.sub("", text)
    return _THOUSANDS.sub("", text)


def _pairs(run: str) -> list[str]:
    return [run] if len(run) < 3 else [run[at : at + 2] for at in range(len(run) - 1)]


@lru_cache(maxsize=_WORDS_REMEMBERED)
def stem(word: str) -> str:
    """`word` (folded) without its endings: as Russian in Cyrillic script, else as English."""
    if len(word) < 4 or not word.isalpha():
        return word
    language = "russian" if "а" <= word[0] <= "я" else "english"
    # A stemmer keeps the word in hand in itself: no two threads may share one.
    return str(snowballstemmer.stemmer(language).stemWord(word))
