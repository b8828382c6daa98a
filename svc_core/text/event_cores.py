"""Joins groups of items that report one large event, each in words of its own.

Average link leaves an event of dozens of items in many groups, as two of its reports may share
little. What they share with the core of the event tells that they belong to it.

1. The core of a group of `ITEMS_MIN` items are the terms that two fifths of them hold, each weighed
   by how much more often the group holds it than the other items of the window do.
2. Another group joins where its items hold enough of that core, by more than one term, and where
   the two are not further apart than a day. Two that both have a core have to agree on it both
   ways, and most items of the two together have to hold three of its telling terms.
3. The pair that fits best is joined first, and then has a core of its own.

Rule 1: the order of the groups does not matter.

Development halves, pair F1 before and after: four events of 24 to 55 items among others .30, .74
(the largest in 17 groups, then in 5); ECB+ .93, .94, among other texts .93, .94; UCI, feeds: same.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from heapq import nlargest
from math import log

from attrs import define, field, frozen

from svc_core.text.evidence import Reading
from svc_core.text.frequencies import Frequencies

ITEMS_MIN = 6  # with 4 ECB+ is the same, the large events .62
APART = timedelta(days=1)  # between two groups; without it persons of politics chain for years

_HOLDERS, _TERMS_MAX = 0.4, 12  # the share of items that hold a term of the core, and how many
_COVER = 0.3  # of a core; at .35 the large events lose .03
_COVER_BUT_ONE = 0.15  # of it without the term that covers most
_COVER_BACK = 0.25  # .24 to .3 are the same; at .18 two elections of ECB+ are one event
_TERMS_MIN, _UNION = 3, 0.6  # so many telling terms in this share of the items of both
_TELLING, _RARE = 2.0, 6.0  # weights (`idf`) of a term that tells something, of one that tells all


@frozen(eq=False)
class _Group:
    """Some items by number, how many of them hold each term, and the weights of their core."""

    members: Sequence[int]
    counts: Mapping[str, int] = field(repr=False)
    core: Mapping[str, float]

    def cover(self, core: Mapping[str, float]) -> tuple[float, float]:
        """How much of a core its items hold, and how much without the term that covers most."""
        parts = [
            weight * self.counts.get(term, 0) / len(self.members) for term, weight in core.items()
        ]
        total = sum(core.values())
        return sum(parts) / total, (sum(parts) - max(parts)) / total


def join_by_core(
    groups: Iterable[Sequence[int]], items: Sequence[Reading], frequencies: Frequencies
) -> list[list[int]]:
    """The groups of some items, by number, of which those of one large event are joined."""
    window = _Window(items, frequencies)
    alive = {window.group(sorted(members)) for members in groups}
    fits: dict[tuple[_Group, _Group], float] = {}
    fresh = [group for group in alive if group.core]
    by_term: dict[str, set[_Group]] = {}
    for group in alive:
        _note(group, by_term)
    while True:
        pairs = [(group, other) for group in fresh for other in _near(group, by_term) & alive]
        pairs += [(other, group) for group in fresh for other in alive if other.core]
        for left, right in pairs:
            if left is not right and (fit := window.fit(left, right)):
                fits[left, right] = fit
        if not fits:
            return sorted(list(group.members) for group in alive)
        best = min(fits, key=lambda pair: (-fits[pair], pair[0].members, pair[1].members))
        fits = {pair: fit for pair, fit in fits.items() if not {*pair} & {*best}}
        joint = window.group(sorted([*best[0].members, *best[1].members]))
        alive = (alive - {*best}) | {joint}
        fresh = [joint] if joint.core else []
        _note(joint, by_term)


def _note(group: _Group, by_term: dict[str, set[_Group]]) -> None:
    for term in group.counts:
        by_term.setdefault(term, set()).add(group)


def _near(group: _Group, by_term: Mapping[str, set[_Group]]) -> set[_Group]:
    """The groups that hold a term of a group's core."""
    return set().union(*(by_term[term] for term in group.core))


@define(eq=False)
class _Window:
    """The items among which groups are compared."""

    items: Sequence[Reading]
    frequencies: Frequencies
    _terms: list[frozenset[str]] = field(init=False)
    _holders: Counter[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._terms = [frozenset(item.title + item.lead) for item in self.items]
        self._holders = Counter(term for terms in self._terms for term in terms)

    def group(self, members: Sequence[int]) -> _Group:
        """A group of items with its core; one of few items, or of few such terms, has none."""
        counts = Counter(term for index in members for term in self._terms[index])
        size, core = len(members), {}
        if size >= ITEMS_MIN:
            others = len(self._terms) - size + 10
            for term, count in counts.items():
                if count >= _HOLDERS * size:
                    share = count / size
                    elsewhere = (self._holders[term] - count + 0.5) / others
                    rarity = min(1.0, self.frequencies.idf(term) / _RARE)
                    core[term] = share * max(0.0, log(share / elsewhere)) * rarity
        heaviest = nlargest(_TERMS_MAX, core, key=lambda term: (core[term], term))
        weights = {term: core[term] for term in heaviest if core[term] > 0}
        return _Group(members, counts, weights if len(weights) >= _TERMS_MIN else {})

    def fit(self, left: _Group, right: _Group) -> float:
        """How much of the core of a group another has; 0 where that is too little to join them."""
        cover, rest = right.cover(left.core)
        if cover < _COVER or rest < _COVER_BUT_ONE or not self._meet(left, right):
            return 0.0
        if len(right.members) >= ITEMS_MIN:
            if not right.core or left.cover(right.core)[0] < _COVER_BACK:
                return 0.0
            telling = {term for term in left.core if self.frequencies.idf(term) >= _TELLING}
            union = [*left.members, *right.members]
            held = sum(len(telling & self._terms[index]) >= _TERMS_MIN for index in union)
            if held < _UNION * len(union):
                return 0.0
        return round(cover, 9)

    def _meet(self, left: _Group, right: _Group) -> bool:
        spans = [
            [self.items[index].evidence.at for index in side.members] for side in (left, right)
        ]
        return max(map(min, spans)) - min(map(max, spans)) <= APART
