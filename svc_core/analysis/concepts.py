"""Concepts: one language-neutral term for the many words that mean a country or a subject.

Rule 1: a concept is written with letters alone and begins with `qq`, which no word does, so that it
can live beside words in any index.
Rule 2: the word lists are read on first use, so that importing the package stays cheap.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from attrs import frozen

from svc_core.analysis.tokens import tokens
from svc_core.text.tables import rows

_PHRASE_TERMS_MAX = 4


@frozen
class Country:
    """A country: ISO 3166-1 alpha-2 code, English name, capital and two-letter region."""

    code: str
    name: str
    capital: str
    region: str


def concepts(terms: Sequence[str]) -> list[str]:
    """The concepts named by `terms` (from `tokens`), in order, one for each mention."""
    words, heads = _lexicon(), _heads()
    found: list[str] = []
    at = 0
    while at < len(terms):
        size, named = _longest(terms, at, heads.get(terms[at], 0), words)
        found.extend(named)
        at += size
    return found


def is_known(terms: tuple[str, ...]) -> bool:
    """Whether the word lists hold exactly this run of terms."""
    return terms in _lexicon()


def country_concept(code: str) -> str:
    """The concept of a country by its ISO code."""
    return f"qqc{code.casefold()}"


@cache
def countries() -> Mapping[str, Country]:
    """Every country of the gazetteer by its ISO code."""
    from svc_core.analysis._countries import COUNTRIES  # noqa: PLC0415 - read on first use

    return MappingProxyType({row[0]: Country(*row[:4]) for row in rows(COUNTRIES)})


def _longest(
    terms: Sequence[str], at: int, size: int, words: Mapping[tuple[str, ...], tuple[str, ...]]
) -> tuple[int, tuple[str, ...]]:
    for length in range(min(size, len(terms) - at), 0, -1):
        named = words.get(tuple(terms[at : at + length]))
        if named:
            return length, named
    return 1, ()


@cache
def _heads() -> Mapping[str, int]:
    """The longest phrase that begins with each first word."""
    heads: dict[str, int] = {}
    for phrase in _lexicon():
        heads[phrase[0]] = max(heads.get(phrase[0], 0), len(phrase))
    return heads


@cache
def _lexicon() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Every phrase of the word lists, as terms, with the concepts that it names."""
    found: dict[tuple[str, ...], list[str]] = {}
    for concept, phrase in _entries():
        terms = tuple(tokens(phrase))
        if 0 < len(terms) <= _PHRASE_TERMS_MAX and concept not in found.setdefault(terms, []):
            found[terms].append(concept)
    return {phrase: tuple(named) for phrase, named in found.items()}


def _entries() -> Iterator[tuple[str, str]]:
    from svc_core.analysis._countries import COUNTRIES, REGIONS  # noqa: PLC0415 - see Rule 2

    for code, name, _, _, words in rows(COUNTRIES):
        yield from _phrases(country_concept(code), f"{name.replace(' ', '_')} {words}")
    for code, name, words in rows(REGIONS):
        yield from _phrases(f"qqr{code}", f"{name.replace(' ', '_')} {words}")


def _phrases(concept: str, words: str) -> Iterable[tuple[str, str]]:
    return ((concept, phrase.replace("_", " ")) for phrase in words.split())
