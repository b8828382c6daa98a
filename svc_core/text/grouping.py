"""Which items tell one event, and which of those one development of it.

1. An item is a vector of the terms of its headline and lead: `(1 + ln tf) * idf`, less for terms
   that much of the window holds and for those that no other item of it holds.
2. Items are joined while their groups' mean likeness is high (average link; Sokal, Michener 1958):
   the developments. As vectors are summed, that mean is one product of two sums.
3. Terms are weighed anew, a development counted as one item: what a big event says eighty times
   becomes telling again, and a name that unrelated items hold does not.
4. Each item borrows from its nearest neighbours, so that two headlines without a common word meet
   through a third, and items are joined as before: the events.

Rule 1: the order of the items does not matter.
Rule 2: only neighbours are joined, and neighbours lie within `SPAN` of each other. Items without a
        date are held against others by when they were taken in.
Rule 3: the work grows with the number of items: each looks at its rarest terms first, and at a
        bounded number of other items.

The figures are pair precision / recall / F1 on the development halves of UCI (headlines), of ECB+
(articles) and of labelled stories of feeds, in a store that holds these items and nothing else.
Those beside the smaller constants were taken before developments counted as one.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from heapq import heappop, heappush, nlargest
from math import log, sqrt
from operator import itemgetter

from attrs import define, field

from svc_core.text.evidence import Evidence, Reading
from svc_core.text.frequencies import Frequencies

SPAN = timedelta(days=5)
"""How far apart the dates of two items of one development may lie; an event may go on longer."""

EVENT_CUT = 0.63
"""UCI 1.00/.86, among 600 other headlines .85/.75, ECB+ .98/.89, feeds .88/.62. At .6 and .66 the
mean F1 over these and two more sets is up to .02 less."""

DEVELOPMENT_CUT = 0.35
"""Likeness of what items say themselves, nothing borrowed. Of pairs together .93 (UCI), .99 (ECB+)
and .97 (feeds) are of one event. At .25 the precision of events falls by .02."""

SPREAD = 20
"""Other items that a window is taken to have beside its own, so that what three items have in
common is not taken for what everything has. With 10 the same figures; with 30 and more a name that
30 unrelated items hold joins most of them."""

_TITLE = 2.0  # 1 loses .02 on ECB+, 3 loses .06 on the feeds
_FADING = 20.0  # terms that more than a twentieth hold fade out; without: feeds .66 for .74
_LONE = 0.5  # of a term that one item alone holds; 1 instead: feeds .65, UCI .81; 0.3: feeds .71
_OWN, _BORROWED = 40, 60  # heaviest terms kept; 20 own ones lose .03 on ECB+, 40 in all .01-.03
_NEIGHBOURS = 6  # 5 loses .02 on ECB+, 8 gives .02 less precision with foreign headlines
_LIKE_MIN = 0.1  # 0.15 instead: feeds .68 for .74
_LOOKS = 200  # earlier items that an item is held against, half for developments; 150 lose .01
_APART = 0.5  # of the cut: groups less alike are not held against each other again

_Vector = Mapping[str, float]
_Near = Sequence[tuple[float, int]]


def grouped(held: Sequence[Reading], frequencies: Frequencies) -> list[list[list[Reading]]]:
    """The events of some items, each as its developments; every item is in exactly one.

    Events and developments are in the order of their first items' ids.
    """
    copies = _copies(sorted(held, key=lambda one: one.evidence.id))
    readings = [same[0] for same in copies]
    counted = [_counts(one) for one in readings]
    alone = [[at] for at in range(len(readings))]
    vectors = _vectors(counted, alone, frequencies)
    near = _neighbours(readings, vectors, _LOOKS // 2)
    parts = _linked(vectors, near, DEVELOPMENT_CUT)
    vectors = _vectors(counted, parts, frequencies)
    near = _neighbours(readings, vectors, _LOOKS)
    lent = [_lent(vectors, at, close) for at, close in enumerate(near)]
    part_of = {at: number for number, part in enumerate(parts) for at in part}
    return [
        [[copy for at in part for copy in copies[at]] for part in _split(event, part_of)]
        for event in _linked(lent, near, EVENT_CUT)
    ]


def _copies(held: Iterable[Reading]) -> list[list[Reading]]:
    """Items that say the same in the same words at one time: one item, however many carry it."""
    found: list[list[Reading]] = []
    last: dict[tuple[tuple[str, ...], ...], int] = {}
    for one in held:
        words = (one.title, one.lead)
        at = last.get(words, -1)
        if at >= 0 and any(words) and _meets(found[at][0].evidence, one.evidence):
            found[at].append(one)
        else:
            last[words] = len(found)
            found.append([one])
    return found


def _split(event: Iterable[int], part_of: Mapping[int, int]) -> list[list[int]]:
    """The developments of an event, in the order of their first items."""
    parts: dict[int, list[int]] = {}
    for at in event:
        parts.setdefault(part_of[at], []).append(at)
    return list(parts.values())


def _vectors(
    counted: Sequence[Mapping[str, float]], groups: Sequence[Sequence[int]], store: Frequencies
) -> list[_Vector]:
    """The vectors of items by their counts, where those of one group count as one item."""
    items = _holders(counted)
    told = _holders(set().union(*(counted[at] for at in group)) for group in groups)
    total = len(groups) + SPREAD
    again = len(counted) - len(groups)
    counts = {term: max(0, store.counts.get(term, 0) - items[term] + told[term]) for term in told}
    table = Frequencies(max(0, store.total - again), counts, behind=store.behind)
    weights = {
        term: table.idf(term)
        * min(1.0, log(total / holders) / log(_FADING))
        * (_LONE if items[term] == 1 else 1.0)
        for term, holders in told.items()
    }
    return [
        _unit({term: (1 + log(count)) * weights[term] for term, count in counts.items()}, _OWN)
        for counts in counted
    ]


def _counts(reading: Reading) -> dict[str, float]:
    counts: dict[str, float] = {}
    for terms, weight in ((reading.title, _TITLE), (reading.lead, 1.0)):
        for term in terms:
            counts[term] = counts.get(term, 0.0) + weight
    return counts


def _unit(vector: _Vector, most: int) -> _Vector:
    """The heaviest terms of a vector in the order of their weights, with length 1."""
    kept = sorted(vector.items(), key=itemgetter(1), reverse=True)[:most]
    length = sqrt(sum([weight * weight for _, weight in kept])) or 1.0
    return {term: weight / length for term, weight in kept}


def _neighbours(
    held: Sequence[Reading], vectors: Sequence[_Vector], looks: int
) -> list[list[tuple[float, int]]]:
    """For each item the nearest others with their likeness."""
    near: list[list[tuple[float, int]]] = [[] for _ in vectors]
    window = _holders(vectors)
    before: dict[str, list[tuple[int, float]]] = {}
    for at, vector in enumerate(vectors):
        like: dict[int, float] = {}
        left = looks
        for term in sorted(vector, key=window.__getitem__):
            found, mine = before.setdefault(term, []), vector[term]
            if len(found) <= left:
                left -= len(found)
                for other, weight in found:
                    like[other] = like.get(other, 0.0) + mine * weight
            found.append((at, mine))
        evidence = held[at].evidence
        for other, likeness in like.items():
            if likeness >= _LIKE_MIN and _meets(evidence, held[other].evidence):
                near[at].append((likeness, other))
                near[other].append((likeness, at))
    return [nlargest(_NEIGHBOURS, close) for close in near]


def _holders(vectors: Iterable[Iterable[str]]) -> dict[str, int]:
    """How many items hold each term."""
    found: dict[str, int] = {}
    for vector in vectors:
        for term in vector:
            found[term] = found.get(term, 0) + 1
    return found


def _meets(one: Evidence, other: Evidence) -> bool:
    """Whether two items are near enough in time to tell the same."""
    if one.published_at is not None and other.published_at is not None:
        return abs(one.published_at - other.published_at) <= SPAN
    return abs(one.retrieved_at - other.retrieved_at) <= SPAN


def _lent(vectors: Sequence[_Vector], at: int, near: _Near) -> _Vector:
    """An item's vector with what it borrows from its neighbours."""
    total = dict(vectors[at])
    for likeness, other in near:
        for term, weight in vectors[other].items():
            total[term] = total.get(term, 0.0) + likeness * weight
    return _unit(total, _BORROWED)


def _linked(vectors: Sequence[_Vector], near: Sequence[_Near], cut: float) -> list[list[int]]:
    """The groups of vectors, joined along neighbours while they are alike in the mean."""
    groups = _Groups(list(vectors), cut)
    for at, close in enumerate(near):
        for _, other in close:
            groups.compare(at, other)
    return groups.joined()


@define(eq=False)
class _Groups:
    """Groups of items by number: first the items themselves, then each pair that was joined."""

    sums: list[_Vector]
    cut: float
    _members: list[list[int]] = field(init=False)
    _beside: list[set[int]] = field(init=False)
    _gone: set[int] = field(init=False, factory=set)
    _alike: list[tuple[float, int, int]] = field(init=False, factory=list)

    def __attrs_post_init__(self) -> None:
        self._members = [[at] for at in range(len(self.sums))]
        self._beside = [set() for _ in self.sums]

    def compare(self, one: int, other: int) -> None:
        """Note how alike two groups are, if they are."""
        if other in self._beside[one]:
            return
        size = len(self._members[one]) * len(self._members[other])
        likeness = round(_dot(self.sums[one], self.sums[other]) / size, 9)
        if likeness < self.cut * _APART:
            return
        self._beside[one].add(other)
        self._beside[other].add(one)
        if likeness >= self.cut:
            heappush(self._alike, (-likeness, min(one, other), max(one, other)))

    def joined(self) -> list[list[int]]:
        """Join the two that are most alike as long as there are any; what each group holds."""
        while self._alike:
            _, one, other = heappop(self._alike)
            if one not in self._gone and other not in self._gone:
                self._join(one, other)
        whole = (held for at, held in enumerate(self._members) if at not in self._gone)
        return sorted(map(sorted, whole))

    def _join(self, one: int, other: int) -> None:
        few, many = sorted((self.sums[one], self.sums[other]), key=len)
        total = dict(many)
        for term, weight in few.items():
            total[term] = total.get(term, 0.0) + weight
        self.sums.append(total)
        self._members.append(self._members[one] + self._members[other])
        self._beside.append(set())
        self._gone.update((one, other))
        for third in sorted((self._beside[one] | self._beside[other]) - self._gone):
            self.compare(len(self.sums) - 1, third)


def _dot(one: _Vector, other: _Vector) -> float:
    few, many = (one, other) if len(one) <= len(other) else (other, one)
    return sum([weight * many[term] for term, weight in few.items() if term in many])
