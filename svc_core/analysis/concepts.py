"""Concepts: one language-neutral term for the many words that mean a country or a subject.

Rule 1: a concept is written with letters alone and begins with `qq`, which no word does, so that it
can live beside words in any index.
Rule 2: the word lists are read on first use, so that importing the package stays cheap.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType

from attrs import frozen

from svc_core.analysis._tables import rows
from svc_core.analysis.tokens import tokens

_PHRASE_TERMS_MAX = 4
_COMPOUND_MIN, _PART_MIN = 12, 7  # shorter parts stand in words they have nothing to do with
_COMPOUNDS_REMEMBERED = 16_384


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
        found.extend(named or _compound(terms[at]))
        at += size
    return found


def is_known(terms: tuple[str, ...]) -> bool:
    """Whether the word lists hold exactly this run of terms."""
    return terms in _lexicon()


def is_askable(terms: tuple[str, ...]) -> bool:
    """Whether a question in these terms asks for the whole concept, not for a name within it."""
    return terms in _lexicon() and terms not in _names()


@lru_cache(maxsize=_COMPOUNDS_REMEMBERED)
def _compound(term: str) -> tuple[str, ...]:
    """The concepts of a long word by its first or last part ("Datenschutzuntersuchung")."""
    if len(term) < _COMPOUND_MIN or not term.isalpha():
        return ()
    words = _lexicon()
    cuts = range(_PART_MIN, len(term) - 2)
    parts = [*(term[:cut] for cut in reversed(cuts)), *(term[-cut:] for cut in reversed(cuts))]
    return next((words[part,] for part in parts if (part,) in words), ())


def country_concept(code: str) -> str:
    """The concept of a country by its ISO code."""
    return f"qqc{code.casefold()}"


@cache
def countries() -> Mapping[str, Country]:
    """Every country of the gazetteer by its ISO code."""
    from svc_core.analysis._countries import COUNTRIES  # noqa: PLC0415 - read on first use

    return MappingProxyType({row[0]: Country(*row[:4]) for row in rows(COUNTRIES)})


@cache
def region_members(concept: str) -> tuple[str, ...]:
    """The concepts of the countries in a region (given by its concept), else nothing."""
    return tuple(
        country_concept(country.code)
        for country in countries().values()
        if f"qqr{country.region}" == concept
    )


@cache
def related(concept: str) -> tuple[str, ...]:
    """Narrower subjects that answer a question for a wider one: an arrest, for an investigation."""
    from svc_core.analysis._synonyms import NARROWER  # noqa: PLC0415 - see Rule 2

    table = {f"qqs{wide}": narrow.split() for wide, narrow in rows(NARROWER)}
    return tuple(f"qqs{name}" for name in table.get(concept, ()))


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


@cache
def _names() -> frozenset[tuple[str, ...]]:
    """The runs that the word lists mark as names within a concept."""
    return frozenset(tuple(tokens(phrase)) for _, phrase in _entries() if phrase.startswith("-"))


def _entries() -> Iterator[tuple[str, str]]:
    from svc_core.analysis._countries import COUNTRIES, REGIONS  # noqa: PLC0415 - see Rule 2
    from svc_core.analysis._synonyms import SUBJECTS  # noqa: PLC0415 - see Rule 2

    for code, name, _, _, words in rows(COUNTRIES):
        yield from _phrases(country_concept(code), f"{name.replace(' ', '_')} {words}")
    for code, name, words in rows(REGIONS):
        yield from _phrases(f"qqr{code}", f"{name.replace(' ', '_')} {words}")
    for subject, words in rows(SUBJECTS):
        yield from _phrases(f"qqs{subject}", words)


def _phrases(concept: str, words: str) -> Iterable[tuple[str, str]]:
    return ((concept, phrase.replace("_", " ")) for phrase in words.split())
