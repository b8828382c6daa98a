"""Counts how common terms are: how many items contain each term, of how many.

Rule 1: counts are those of every stored item of any age (the store's, or the tenant's for what is
        the tenant's own), not of the items that a search found: there every word of the subject
        would be common.
Rule 2: the counts of a background table are added, as if so many more items were stored; a large
        store outweighs it.
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import chain
from math import log

from attrs import field, frozen

from svc_core import data
from svc_core.text.words import stop_words, stop_words_by_language

STEPS = 5  # of a tenfold
BACKGROUND_ITEMS = 500  # with 2,000 paraphrases gain 0.02 and Time loses 0.02 (ADR 24)
BACKGROUND_WORDS = 300  # of an item


def _default_base() -> "Frequencies | None":
    return background()


@frozen
class Frequencies:
    """How many items contain each term: `counts[term]` of `total`; `version` names the state.

    `base` is the table whose counts are added; None is this table alone.
    """

    total: int = 0
    counts: Mapping[str, int] = field(factory=dict, repr=False)
    version: str = "0"
    base: "Frequencies | None" = field(factory=_default_base, repr=False)

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """The weight of each term (`idf`); the weights of terms in the table are cached."""
        return _Weights(self)

    def idf(self, term: str) -> float:
        """The weight of a term: `ln(1 + (N - df + 0.5) / (df + 0.5))`, above 0."""
        holders, total = self.counts.get(term, 0), self.total
        if self.base is not None:
            holders += self.base.counts.get(term, 0)
            total += self.base.total
        return log(1 + (max(total, holders) - holders + 0.5) / (holders + 0.5))

    @classmethod
    def of(cls, items: Iterable[Iterable[str]], version: str = "0") -> "Frequencies":
        """The table of some items' terms, each term counted once per item."""
        terms = [*map(set, items)]
        return cls(len(terms), Counter(chain.from_iterable(terms)), version)


class _Weights(dict[str, float]):
    """The weights of terms, computed when they are first used."""

    def __init__(self, table: Frequencies) -> None:
        super().__init__()
        self._table = table

    def __missing__(self, term: str) -> float:
        weight = self._table.idf(term)
        if term in self._table.counts:  # a query may hold any term: cache only the table's
            self[term] = weight
        return weight


@cache
def background() -> Frequencies:
    """The frequencies that apply while nothing is stored yet.

    Half of its items count as English, the others as in the language that uses a term most. Of
    items of `BACKGROUND_WORDS` words, `1 - (1 - share) ** words` contain a term. Stop words are
    left out, outside English those of every language: they would make acronyms common ("UN").
    """
    english: dict[str, float] = {}
    foreign: dict[str, float] = {}
    foreign_stops = frozenset[str]().union(*stop_words_by_language().values())
    for language, step, terms in shares():
        share = 1 - (1 - 10 ** (-step / STEPS)) ** BACKGROUND_WORDS
        table, stops = (english, stop_words("en")) if language == "en" else (foreign, foreign_stops)
        for term in terms:
            if term not in stops:
                table[term] = max(table.get(term, 0.0), share)
    counts = {
        term: round(BACKGROUND_ITEMS / 2 * (english.get(term, 0.0) + foreign.get(term, 0.0)))
        for term in [*english, *foreign]
    }
    return Frequencies(BACKGROUND_ITEMS, counts, base=None)


def shares() -> Iterator[tuple[str, int, list[str]]]:
    """Each language, step and terms: `10 ** (-step / STEPS)` is a term's share of its words."""
    for line in zlib.decompress(data.table_bytes("frequencies.tsv.z")).decode().splitlines():
        language, step, terms = line.split("\t")
        yield language, int(step), terms.split(" ")
