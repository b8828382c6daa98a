"""Joins groups of items that report one large event, each in words of its own.

Average link leaves an event of dozens of items in many groups, as two of its reports may share
little. What they share with the core of the event tells that they belong to it.

1. The core of a group of `ITEMS_MIN` items are the terms that two fifths of them hold, each weighed
   by how much more often the group holds it than the other items of the window do.
2. Another group joins where its items hold enough of that core, by more than one term, and where
   the two are not further apart than a day. Two of `ITEMS_MIN` have to hold each other's core.
3. Where both have embedding vectors, these have to be alike, and less of 2 will do.
4. The pair that fits best is joined first, and then has a core of its own.

Rule 1: the order of the groups does not matter.

Development halves, pair F1 before and after: four events of 24 to 55 items among others .30, .74
(the largest in 17 groups, then in 5); ECB+ .93, .94, among other texts .93, .94; UCI, feeds: same.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime, timedelta
from heapq import nlargest
from itertools import chain
from math import log

from attrs import field, frozen

from svc_core.text.evidence import Reading
from svc_core.text.frequencies import Frequencies
from svc_core.text.meanings import Row, dot, total

ITEMS_MIN = 6  # with 4 ECB+ is the same, the large events .62
APART = timedelta(days=1)  # between two groups; without it persons of politics chain for years

_HOLDERS = 0.4  # the share of items that hold a term of the core
_TERMS_MIN, _TERMS_MAX = 3, 12
_COVER = 0.3  # of a core; at .35 the large events lose .03
_ALIKE = 0.2  # the mean cosine of two groups; without it persons of politics are one event
# How much of a core without the term that covers most, and how much of the other core back: of
# groups without vectors, and of those whose vectors are a witness, too. For the first .24 to .3
# back are the same; at .18 two elections of ECB+ are one event. Of the second, development sets say
# only that it does no harm (0 to .12 are the same); windows that were looked at gain .11.
_WITHOUT, _WITH = (0.15, 0.25), (0.1, 0.2)
_RARE = 6.0  # the weight (`idf`) of a term that tells all


@frozen(eq=False)
class _Group:
    """Some items by number, how many of them hold each term, their times, and their core; the sum
    of those vectors that they have, and how many.
    """

    members: list[int]
    counts: Mapping[str, int] = field(repr=False)
    span: tuple[datetime, datetime]
    core: Mapping[str, float]
    meaning: Row = field(repr=False)
    vectors: int

    def cover(self, core: Mapping[str, float]) -> tuple[float, float]:
        """How much of a core its items hold, and how much without the term that covers most."""
        counts, size = self.counts, len(self.members)
        parts = [core[term] * counts[term] / size for term in core if term in counts]
        total, whole = sum(core.values()), sum(parts)
        return whole / total, (whole - max(parts, default=0.0)) / total


def join_by_core(
    groups: Iterable[Sequence[int]],
    items: Sequence[Reading],
    frequencies: Frequencies,
    meanings: Sequence[Row],
) -> list[list[int]]:
    """The groups of some items, by number, of which those of one large event are joined."""
    terms = [frozenset(item.title + item.lead) for item in items]
    window = _Window(items, frequencies, terms, Counter(chain.from_iterable(terms)), meanings)
    alive = {window.group(sorted(members)) for members in groups}
    fits: dict[tuple[_Group, _Group], float] = {}
    fresh = set(alive)
    while True:
        pairs = [(group, other) for group in fresh if group.core for other in alive]
        pairs += [(other, group) for other in alive if other.core for group in fresh]
        fits |= {pair: fit for pair in pairs if (fit := window.fit(*pair))}
        if not fits:
            return sorted(group.members for group in alive)
        best = min(fits, key=lambda pair: (-fits[pair], pair[0].members, pair[1].members))
        fits = {pair: fit for pair, fit in fits.items() if not {*pair} & {*best}}
        fresh = {window.group(sorted(best[0].members + best[1].members))}
        alive = (alive - {*best}) | fresh


@frozen(eq=False)
class _Window:
    """The items among which groups are compared, and the terms of each."""

    items: Sequence[Reading]
    frequencies: Frequencies
    terms: Sequence[Set[str]]
    holders: Mapping[str, int]
    meanings: Sequence[Row]

    def group(self, members: list[int]) -> _Group:
        """A group of items with its core; one of few items, or of few such terms, has none."""
        counts = Counter(term for index in members for term in self.terms[index])
        times = [self.items[index].evidence.at for index in members]
        size, core = len(members), {}
        for term, count in counts.items() if size >= ITEMS_MIN else ():
            if count >= _HOLDERS * size:
                elsewhere = (self.holders[term] - count + 0.5) / (len(self.terms) - size + 10)
                rarity = min(1.0, self.frequencies.idf(term) / _RARE)
                core[term] = count / size * max(0.0, log(count / size / elsewhere)) * rarity
        heaviest = nlargest(_TERMS_MAX, filter(core.get, core), key=lambda term: (core[term], term))
        core = {term: core[term] for term in heaviest if len(heaviest) >= _TERMS_MIN}
        rows = [row for index in members if (row := self.meanings[index])]
        return _Group(members, counts, (min(times), max(times)), core, total(rows), len(rows))

    def fit(self, left: _Group, right: _Group) -> float:
        """How much of the core of a group another has; 0 where that is too little to join them."""
        gap = max(left.span[0], right.span[0]) - min(left.span[1], right.span[1])
        if left is right or gap > APART or left.core.keys().isdisjoint(right.counts.keys()):
            return 0.0
        vectors, (cover, rest) = left.vectors * right.vectors, right.cover(left.core)
        but_one, back = _WITH if vectors else _WITHOUT
        if cover < _COVER or rest < but_one:
            return 0.0
        if vectors and dot(left.meaning, right.meaning) < _ALIKE * vectors:
            return 0.0
        is_mutual = right.core and left.cover(right.core)[0] >= back
        is_small = len(right.members) < ITEMS_MIN
        return round(cover, 9) if is_mutual or is_small else 0.0
