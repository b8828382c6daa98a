"""Finds what words of four languages have in common: synonym, opposite, meaning or country."""

import re
import zlib
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import chain, zip_longest
from typing import Final

from svc_core import data
from svc_core.text.country_names import names_by_code
from svc_core.text.words import LENGTH_MAX, fold_case, term_of, terms

DICTIONARIES: Final = frozenset({"de", "fr", "es"})
WORDS_MAX: Final = 16_384  # whose meanings and parts are at hand: those of about a thousand items
# The ending of an English word, where at least three letters stay.
_ENDING: Final = re.compile(r"(?<=\w{3})(?:i?ng|ings|i?ed|i?es|s|ly|ers?|e|y)$")
_PART_MIN: Final = 3  # letters of a part; the last has one more


@cache
def _table() -> Mapping[str, frozenset[str]]:
    """English terms, each with what it shares with others: a synonym, or a side of opposites."""
    table: defaultdict[str, set[str]] = defaultdict(set)
    for line in zlib.decompress(data.table_bytes("synonyms.tsv.z")).decode().splitlines():
        key, words = line.split("\t")
        for word in words.split():
            table[word].add(key if key[0] in "+-" else f"={key}")  # no word or number is one
    return {word: frozenset(row) for word, row in table.items()}


@cache
def _dictionary(language: str) -> Mapping[str, str]:
    """What each form is a form of, a line each: how common the word is, the word, its meanings."""
    table: dict[str, str] = {}
    for line in zlib.decompress(data.table_bytes(f"dictionary.{language}.z")).decode().splitlines():
        head, changes, meanings = line.split("\t")
        rows = (head[1 : len(head) - int(row[0], 36)] + row[1:] for row in changes.split())
        for form in (head[1:], *rows):
            table[form] = f"{table.get(form, '')}{head} {meanings}\n"
    return table


def _entries(word: str, language: str) -> list[list[str]]:
    return [row[1:].split() for row in _dictionary(language).get(word, "").splitlines()]


@lru_cache(WORDS_MAX)
def lemmas(word: str, language: str) -> tuple[str, ...]:
    """The words, as they stand in a dictionary, that a folded word of German, French or Spanish is
    a form of, the commonest first; a compound's by its last part. None where unknown.
    """
    is_known = language in DICTIONARIES and word in _dictionary(language)
    last = (word,) if is_known else compound_parts(word, language)[-1:]
    return tuple(word.removesuffix(end) + row[0] for end in last for row in _entries(end, language))


@lru_cache(WORDS_MAX)
def english_words(word: str, language: str) -> tuple[str, ...]:
    """The English words, folded and whole, that a folded word of German, French or Spanish means,
    the best first; a compound's are those of its parts. None where unknown.
    """
    rows = [row[1:] for base in lemmas(word, language) for row in _entries(base, language)]
    if not any(rows):
        rows = [[*english_words(part, language)] for part in compound_parts(word, language)]
    return tuple(dict.fromkeys(filter(None, chain.from_iterable(zip_longest(*rows)))))


@lru_cache(WORDS_MAX)
def compound_parts(word: str, language: str) -> tuple[str, ...]:
    """The words that a folded German word is put together from, if any; the last is its head.

    They are commoner than itself, by the geometric mean of their frequencies (Koehn, Knight 2003):
    the fewest words of the dictionary, of these the commonest.
    """
    table = _dictionary(language) if language == "de" and len(word) <= LENGTH_MAX else {}
    rareness = ord(table.get(word, "~")[0])
    ways: list[tuple[int, float, tuple[str, ...]]] = []
    for end in range(_PART_MIN, len(word) - _PART_MIN):
        for link in ("", "s", "es", "n", "en") if word[end:] in table else ():
            if word.endswith(link, _PART_MIN, end):
                first = word[: end - len(link)]
                front = (first,) if first in table else compound_parts(first, language)
                parts = (*front, word[end:])
                rare = sum(ord(table[p][0]) for p in parts) / len(parts)
                ways += [(len(parts), rare, parts)] if front and rare < rareness else []
    return min(ways)[-1] if ways else ()


def related_keys(folded: str, term: str, language: str | None) -> frozenset[str]:
    """What a word may be found by: its term, its synonyms, its English meanings, its parts."""
    language, folded = language or "en", folded[:LENGTH_MAX]
    stem = _ENDING.sub("", folded) if language == "en" else folded
    forms = {term, stem[:6], f"{stem}e"[:6]} if language == "en" else ()
    own = (key for form in forms for key in _table().get(form, ()))
    meanings = [(term_of(word), _ENDING.sub("", word)) for word in english_words(folded, language)]
    sides = (key for word, _ in meanings for key in _table().get(word, ()) if key[0] in "+-")
    words = (folded, *compound_parts(folded, language))
    bases = (f"~{base}" for word in words for base in lemmas(word, language))
    english = (key for word, stem in meanings for key in (word, f"~{stem}"))
    return frozenset({term, f"~{stem}"}).union(own, bases, english, sides)


def opposite_keys(keys: frozenset[str]) -> frozenset[str]:
    """What the opposites of a word with some keys are found by."""
    return frozenset("-+"[key[0] == "-"] + key[1:] for key in keys if key[0] in "+-")


@cache
def _countries() -> Mapping[tuple[str, ...], str]:
    """The codes of countries by the terms of their names and of the codes themselves."""
    rows = names_by_code().items()
    pairs = [(tuple(terms(name)), code) for code, names in rows for name in names]
    names = {run: f"@{code}" for run, code in reversed(pairs)}  # the first of two has the name
    return names | {(fold_case(code),): f"@{code}" for code, _ in rows}


def country_of(run: tuple[str, ...]) -> str | None:
    """The key of the country that some terms name, or a code of two letters does."""
    return _countries().get(run)
