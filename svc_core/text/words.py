"""Turns text into the terms that are searched, weighed and compared.

Rule 1: the same function makes the terms of an item, of a question and of a story.
Rule 2: case, width and accents are folded; a word of letters is cut to its first six, in every
        language, a shorter one loses the s of its plural; what has a digit stays whole.
Rule 3: stop words of the text's own language are dropped, but never a word in capitals ("WHO",
        "US") in a text that is not itself mostly capitals.
Rule 4: scripts without spaces (Chinese, Japanese, Thai ...) become overlapping pairs of characters.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

from svc_core import data

_LETTERS = 6  # of a word: measured against stems and 5 or 7 letters, see ADR 24
LENGTH_MAX = 64  # longer runs are encoded data, not words
_PLURAL = re.compile(r"(?<=[a-z]{2}[^sui])s$")  # ports, but not virus, paris, glass, gas
_CACHE_SIZE = 16_384  # words of about a thousand items
_CAPITALS_SHARE, _SHOUTED_MIN = 0.5, 4  # words: fewer in capitals may all be acronyms

_INITIALISM = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_CONTRACTION = re.compile(r"(?:n['’]t|['’](?:s|d|m|ll|re|ve))\b", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_MARKS = re.compile(
    r"(?<=[a-z\u03b1-\u03c9])[\u0300-\u036f]+|[\u064b-\u065f\u0670\u0640\u200b-\u200f]"
)
_LIGATURES = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ё": "е"}
)
UNSPACED_CHARS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
_WORD = re.compile(
    r"[Cc][Vv][Ee]-\d{4}-\d{4,}"
    rf"|[{UNSPACED_CHARS}]+"
    r"|\d+(?:\.\d+)+"
    rf"|(?:[^\W_{UNSPACED_CHARS}]|[\u0300-\u036f\u0900-\u0963\u0966-\u0dff])+"
)
_NUMBERED = re.compile(r"([^\W\d_]+(?:\d[^\W\d_]+)?)\d+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
UNSPACED = re.compile(rf"[{UNSPACED_CHARS}]")


def fold_case(text: str) -> str:
    """`text` without case, width, accents and ligatures; letters of every script survive."""
    if text.isascii():
        return text.casefold()
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", bare).translate(_LIGATURES)


def terms(
    text: str,
    language: str | None = None,
    *,
    whole: bool = False,
    stops: frozenset[str] | None = None,
) -> list[str]:
    """The terms of `text` in order, repeats kept. Linear in its length.

    `language` is a BCP 47 tag; its stop words are dropped, those of English where it is unknown,
    or `stops` in their place.
    With `whole`, words are not cut to six letters, which is how names are compared.
    """
    tokens: list[str] = []
    stops = stop_words(language) if stops is None else stops
    spellings = raw_words(text)
    is_shouted = _is_shouted(spellings)
    for word in spellings:
        folded_word, term, is_acronym = _folded(word)
        if term is None:
            if UNSPACED.match(word):
                tokens.extend(_pairs(folded_word))
        elif (is_acronym and not is_shouted) or folded_word not in stops:
            tokens.append(folded_word[:LENGTH_MAX] if whole else term)
    return tokens


@lru_cache(_CACHE_SIZE)
def _folded(word: str) -> tuple[str, str | None, bool]:
    """A word folded, its term, and whether it is in capitals; without a term in other scripts."""
    folded_word = fold_case(word)
    is_term = len(folded_word) > 1 or folded_word.isdigit()
    is_acronym = len(word) > 1 and word.isupper()
    if UNSPACED.match(word) or not (is_term or is_acronym):
        return folded_word, None, False
    return folded_word, term_of(folded_word), is_acronym


def spans(text: str) -> Iterator[tuple[int, int, str]]:
    """The terms of `text` with their start and end in code points, stop words included.

    What only punctuation splits (`U.S.`, `12,000`) is not mended.
    """
    for match in _WORD.finditer(text):
        start, end = match.span()
        if UNSPACED.match(match[0]) and end - start > 2:
            pairs = range(start, end - 1)
            yield from ((index, index + 2, fold_case(text[index : index + 2])) for index in pairs)
        else:
            yield start, end, term_of(fold_case(match[0]))


def raw_words(text: str) -> list[str]:
    """The words of `text` as they are written, whole."""
    return _WORD.findall(_rejoin(text))


def split_words(text: str) -> list[str]:
    """The words of `text`, folded and whole."""
    return [_folded(word)[0] for word in raw_words(text)]


def word_parts(word: str) -> list[str]:
    """The words, folded, within a word as it is written: those that capitals part ("muddy" and
    "water" of "MuddyWater"), in ASCII, and one without the number at its end ("log4j" of "Log4j2").
    """
    if word.isalpha() and word[1:].islower():  # as most are: nothing parts it
        return []
    numbered = _NUMBERED.fullmatch(word)
    humps = _HUMP.findall(word) if word.isascii() and word.isalpha() else ()
    parts = numbered.groups() if numbered else humps
    return [fold_case(part) for part in parts if 2 < len(part) < len(word)]


@lru_cache(_CACHE_SIZE)
def term_of(word: str) -> str:
    """The term of a folded word."""
    if not word.isalpha():
        return word[:LENGTH_MAX]
    return _PLURAL.sub("", word) if len(word) <= _LETTERS else word[:_LETTERS]


def stop_words(language: str | None) -> frozenset[str]:
    """The stop words of a language (BCP 47); those of English where none are known."""
    lists = stop_words_by_language()
    return lists.get((language or "en").split("-")[0].lower(), lists["en"])


@cache
def stop_words_by_language() -> Mapping[str, frozenset[str]]:
    """Every list of stop words by its language."""
    rows = data.table_rows("stopwords.tsv")
    return {language: frozenset(words.split()) for language, words in rows}


def has_run(texts: Iterable[Sequence[str]], run: Sequence[str]) -> bool:
    """Whether a run of terms stands side by side in one of the texts, stop words not counted."""
    return any(
        tuple(text[start : start + len(run)]) == tuple(run)
        for text in texts
        for start in range(len(text) - len(run) + 1)
    )


def _rejoin(text: str) -> str:
    """Mend what punctuation splits: `U.S.`, `China's`, `isn't`, `12,000`."""
    text = _INITIALISM.sub(lambda match: match[0].replace(".", ""), text)
    if "'" in text or "’" in text:
        text = _CONTRACTION.sub("", text)
    return _THOUSANDS.sub("", text)


def _is_shouted(words: list[str]) -> bool:
    letters = [word for word in words if word[0].isalpha()]
    capitals = sum(word.isupper() for word in letters)
    return len(letters) >= _SHOUTED_MIN and capitals > _CAPITALS_SHARE * len(letters)


def _pairs(run: str) -> list[str]:
    return [run] if len(run) < 3 else [run[start : start + 2] for start in range(len(run) - 1)]
