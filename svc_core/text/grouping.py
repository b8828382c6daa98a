"""Groups items by the event that they report, and the items of an event by its developments.

1. An item is a vector of the terms of its headline and lead: `(1 + ln tf) * idf`, less for terms
   that much of the window holds and for those that no other item of it holds.
2. Items are joined while their groups' mean likeness is high (average link; Sokal, Michener 1958):
   the developments. As vectors are summed, that mean is one product of two sums.
3. Terms are weighed anew, a development counted as one item: what a big event says eighty times
   becomes telling again, and a name that unrelated items hold does not.
4. Each item borrows from its nearest neighbours, so that two headlines without a common word meet
   through a third, and items are joined as before: the events.
   Where items have embedding vectors (`meanings`), these are borrowed likewise, and count as much.
5. Events that hold the core of a large one are joined with it (`event_cores`).

Rule 1: the order of the items does not matter, and their ids only where likenesses are equal.
Rule 2: only neighbours are joined, and neighbours lie within `SPAN` of each other. Items without a
        date are compared by the time at which they were retrieved.
Rule 3: the work by words grows with the number of items: each is compared by its rarest terms, and
        with a bounded number of other items.

The figures are pair precision / recall / F1 on the development halves of UCI (headlines), of ECB+
(articles) and of labelled stories of feeds, in a store that holds these items and nothing else.
Those beside the smaller constants were measured before a development counted as one item.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from heapq import heappop, heappush, nlargest
from itertools import chain
from math import log
from operator import itemgetter
from types import MappingProxyType

from attrs import define, field

from svc_core.text.event_cores import join_by_core
from svc_core.text.evidence import EvidenceTexts, Reading
from svc_core.text.extracts import sum_of, unit, unit_cosine
from svc_core.text.frequencies import Frequencies
from svc_core.text.meanings import Row, borrowed, centred, dot, near_pairs, total

SPAN = timedelta(days=5)
"""How far apart the dates of two items of one development may lie; an event may go on longer."""

EVENT_CUT = 0.63
"""UCI 1.00/.86, among 600 other headlines .85/.75, ECB+ .98/.89, feeds .88/.62. At .6 and .66 the
mean F1 over these and two more sets is up to .02 less."""

DEVELOPMENT_CUT = 0.35
"""Likeness of what items say themselves, nothing borrowed. Of pairs together .93 (UCI), .99 (ECB+)
and .97 (feeds) are of one event. At .25 the precision of events falls by .02."""

PART_CUT = 0.16
"""Likeness of what items of a stored event say themselves, below which one heading does not hold
two parts of it. Of pairs together in three windows .97, .94 and .81 are of one event, .97, .89 and
.70 without; parted are .19, .02 and .03 of those of one event, most of the first set's in three of
a hundred items. From .12 to .2 more are parted of either kind."""

SPREAD = 20
"""Foreign items that a window is assumed to hold besides its own, so that what three items have in
common is not taken for what everything has. With 10 the same figures; with 30 and more a name that
30 unrelated items hold joins most of them."""

_TITLE = 2.0  # 1 loses .02 on ECB+, 3 loses .06 on the feeds
_FADING = 20.0  # terms that more than a twentieth hold fade out; without: feeds .66 for .74
# The weight of a term that only one item has; with 1 feeds .65, UCI .81; with 0.3 feeds .71.
_LONE_FACTOR = 0.5
# The heaviest terms of a vector: with 20 own ones ECB+ loses .03, with 40 in all .01 to .03.
_OWN_MAX, _BLEND_MAX = 40, 60
_NEIGHBOURS = 6  # 5 loses .02 on ECB+, 8 gives .02 less precision with foreign headlines
_LIKE_MIN = 0.1  # 0.15 instead: feeds .68 for .74
# Items that hold the rarest terms of an item, counted once a term; half as many for developments.
# 2,000 and all are the same; at 400 ECB+ loses .05.
_COMPARISONS_MAX = 1_000
_RETRY_SHARE = 0.5  # of the cut: two groups less alike are not compared again

# A cosine that leaves the likeness by words as it is: groups join where the mean of both is .6. The
# stories of a few days have pair F1 .78; where it is .55 they have .73, at .62 .75.
_MEANING = 0.57

NO_VECTORS: Mapping[str, bytes] = MappingProxyType({})

_Vector = Mapping[str, float]
_Near = Sequence[tuple[float, int]]


def group_readings(
    items: Sequence[Reading], frequencies: Frequencies, vectors: Mapping[str, bytes] = NO_VECTORS
) -> list[list[list[Reading]]]:
    """The events in some items, each as its developments; every item is in exactly one.

    `vectors` are the packed embedding vectors of items by id, all of one model. Events and
    developments are in the order of their first items' ids. A form is alone.
    """
    copies, bags, parts = _developments([item for item in items if not item.is_form], frequencies)
    readings = [copy[0] for copy in copies]
    words = _vectors(bags, parts, frequencies)
    near = _neighbours(readings, words, _COMPARISONS_MAX)
    blends = [_blend(words, index, neighbours) for index, neighbours in enumerate(near)]
    meanings = centred([vectors.get(reading.evidence.id, b"") for reading in readings])
    pairs = [*_pairs(near), *near_pairs(meanings)]
    pairs = [(left, right) for left, right in pairs
             if _meets(readings[left].evidence, readings[right].evidence)]  # fmt: skip
    events_ = _Groups(blends, EVENT_CUT, borrowed(meanings, near)).along(pairs)
    part_of = {index: number for number, part in enumerate(parts) for index in part}
    events = [
        [[copy for index in part for copy in copies[index]] for part in _parts(event, part_of)]
        for event in join_by_core(events_, readings, frequencies, meanings)
    ]
    events += [[[item]] for item in items if item.is_form]
    return sorted(events, key=lambda event: event[0][0].evidence.id)


def heading_parts(items: Sequence[Reading], frequencies: Frequencies) -> list[list[list[Reading]]]:
    """The items of an event in parts that one heading can hold, the largest first, each as its
    developments.

    Here nothing is borrowed, and a term is weighed as if the event were a single item: what joined
    items of one theme (two trials, two leaks) by way of others is no witness.
    """
    by_id = sorted(items, key=lambda item: item.evidence.id)
    bags = [_bag(reading) for reading in by_id]
    table = _as_units(_holders(bags), dict.fromkeys(chain(*bags), 1), len(bags) - 1, frequencies)
    vectors = _weighed(bags, table.idf)
    parts = _Groups(vectors, PART_CUT).along(_pairs(_neighbours(by_id, vectors, _COMPARISONS_MAX)))
    groups = [[by_id[index] for index in part] for part in sorted(parts, key=len, reverse=True)]
    return [
        [[copy for index in part for copy in copies[index]] for part in developments]
        for copies, _, developments in (_developments(group, frequencies) for group in groups)
    ]


def _developments(
    items: Iterable[Reading], frequencies: Frequencies
) -> tuple[list[list[Reading]], list[dict[str, float]], list[list[int]]]:
    """Items in the order of their ids, those with the same words as one; the terms of each, and
    their developments by number."""
    copies = _copies(sorted(items, key=lambda item: item.evidence.id))
    bags = [_bag(copy[0]) for copy in copies]
    words = _vectors(bags, [[index] for index in range(len(bags))], frequencies)
    near = _neighbours([copy[0] for copy in copies], words, _COMPARISONS_MAX // 2)
    return copies, bags, _Groups(words, DEVELOPMENT_CUT).along(_pairs(near))


def _copies(readings: Iterable[Reading]) -> list[list[Reading]]:
    """Groups of items with the same words at about the same time; a group counts as one item."""
    groups: list[list[Reading]] = []
    last: dict[tuple[tuple[str, ...], ...], int] = {}
    for reading in readings:
        words = (reading.title, reading.lead)
        place = last.get(words, -1)
        if place >= 0 and any(words) and _meets(groups[place][0].evidence, reading.evidence):
            groups[place].append(reading)
        else:
            last[words] = len(groups)
            groups.append([reading])
    return groups


def _parts(event: Iterable[int], part_of: Mapping[int, int]) -> list[list[int]]:
    """The developments of an event, in the order of their first items."""
    parts: dict[int, list[int]] = {}
    for index in event:
        parts.setdefault(part_of[index], []).append(index)
    return list(parts.values())


def _vectors(
    bags: Sequence[Mapping[str, float]], groups: Sequence[Sequence[int]], store: Frequencies
) -> list[_Vector]:
    """The vectors of items, weighted as if all items of one group were a single item."""
    items = _holders(bags)
    units = _holders(set().union(*(bags[index] for index in group)) for group in groups)
    total = len(groups) + SPREAD
    table = _as_units(items, units, len(bags) - len(groups), store)
    weights = {
        term: table.idf(term)
        * min(1.0, log(total / holders) / log(_FADING))
        * (_LONE_FACTOR if items[term] == 1 else 1.0)
        for term, holders in units.items()
    }
    return _weighed(bags, weights.__getitem__)


def _as_units(
    items: Mapping[str, int], units: Mapping[str, int], repeats: int, store: Frequencies
) -> Frequencies:
    """The frequencies of a store where groups of its items count as one item each."""
    counts = {term: max(0, store.counts.get(term, 0) - items[term] + units[term]) for term in units}
    return Frequencies(max(0, store.total - repeats), counts, base=store.base)


def _weighed(bags: Iterable[Mapping[str, float]], weight: Callable[[str], float]) -> list[_Vector]:
    return [
        _unit({term: (1 + log(count)) * weight(term) for term, count in counts.items()}, _OWN_MAX)
        for counts in bags
    ]


def _bag(reading: Reading) -> dict[str, float]:
    counts: dict[str, float] = {}
    for terms, weight in ((reading.title, _TITLE), (reading.lead, 1.0)):
        for term in terms:
            counts[term] = counts.get(term, 0.0) + weight
    return counts


def _unit(vector: _Vector, terms_max: int) -> _Vector:
    """The heaviest terms of a vector in the order of their weights, with length 1."""
    return unit(dict(sorted(vector.items(), key=itemgetter(1), reverse=True)[:terms_max]))


def _neighbours(
    readings: Sequence[Reading], vectors: Sequence[_Vector], comparisons_max: int
) -> list[list[tuple[float, int]]]:
    """For each item the nearest others with their likeness, by the rarest terms of both."""
    near: list[list[tuple[float, int]]] = [[] for _ in vectors]
    window = _holders(vectors)
    before: dict[str, list[tuple[int, float]]] = {}
    for index, vector in enumerate(vectors):
        likenesses: dict[int, float] = {}
        budget = comparisons_max
        for term in sorted(vector, key=lambda term: (window[term], term)):
            budget -= window[term]
            if budget < 0:
                break
            postings, own_weight = before.setdefault(term, []), vector[term]
            for neighbour, weight in postings:
                likenesses[neighbour] = likenesses.get(neighbour, 0.0) + own_weight * weight
            postings.append((index, own_weight))
        evidence = readings[index].evidence
        for neighbour, likeness in likenesses.items():
            if likeness >= _LIKE_MIN and _meets(evidence, readings[neighbour].evidence):
                near[index].append((likeness, neighbour))
                near[neighbour].append((likeness, index))
    return [nlargest(_NEIGHBOURS, neighbours) for neighbours in near]


def _pairs(near: Sequence[_Near]) -> Iterator[tuple[int, int]]:
    return ((index, other) for index, neighbours in enumerate(near) for _, other in neighbours)


def _holders(vectors: Iterable[Iterable[str]]) -> Counter[str]:
    """How many items contain each term."""
    return Counter(chain.from_iterable(vectors))


def _meets(left: EvidenceTexts, right: EvidenceTexts) -> bool:
    """Whether two items are close enough in time to report the same event."""
    if left.published_at is not None and right.published_at is not None:
        return abs(left.published_at - right.published_at) <= SPAN
    return abs(left.retrieved_at - right.retrieved_at) <= SPAN


def _blend(vectors: Sequence[_Vector], index: int, near: _Near) -> _Vector:
    """The vector of an item plus what it borrows from its nearest neighbours."""
    shares = [(1.0, index), *near]
    parts = ({t: like * w for t, w in vectors[at].items()} for like, at in shares)
    return _unit(sum_of(parts), _BLEND_MAX)


@define(eq=False)
class _Groups:
    """Groups of items by number: first each item alone, then one more group for each join.

    `sums` are of vectors of words, `meanings` of those of meaning, `counts` of the latter.
    """

    sums: list[_Vector]
    cut: float
    meanings: list[Row] = field(factory=list)
    _counts: list[int] = field(init=False)
    _members: list[list[int]] = field(init=False)
    _partners: list[set[int]] = field(init=False)
    _inactive: set[int] = field(init=False, factory=set)
    _queue: list[tuple[float, int, int]] = field(init=False, factory=list)

    def __attrs_post_init__(self) -> None:
        self.sums = list(self.sums)
        self.meanings = self.meanings or [()] * len(self.sums)
        self._counts = [bool(meaning) for meaning in self.meanings]
        self._members = [[index] for index in range(len(self.sums))]
        self._partners = [set() for _ in self.sums]

    def along(self, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
        """Join the two most similar groups, of those that these pairs of items lead to, until none
        reaches the cut; returns the groups.
        """
        for left, right in pairs:
            self._compare(left, right)
        while self._queue:
            _, left, right = heappop(self._queue)
            if left not in self._inactive and right not in self._inactive:
                self._join(left, right)
        survivors = (group for key, group in enumerate(self._members) if key not in self._inactive)
        return sorted(map(sorted, survivors))

    def _compare(self, left: int, right: int) -> None:
        """Record how alike two groups are, where that is enough to join or compare them again: by
        words and, of the items that have vectors, by meaning.
        """
        if right in self._partners[left]:
            return
        whole = unit_cosine(self.sums[left], self.sums[right])
        if vectors := self._counts[left] * self._counts[right]:
            whole += dot(self.meanings[left], self.meanings[right]) - _MEANING * vectors
        likeness = round(whole / (len(self._members[left]) * len(self._members[right])), 9)
        if likeness < self.cut * _RETRY_SHARE:
            return
        self._partners[left].add(right)
        self._partners[right].add(left)
        if likeness >= self.cut:
            heappush(self._queue, (-likeness, min(left, right), max(left, right)))

    def _join(self, left: int, right: int) -> None:
        self.sums.append(sum_of((self.sums[left], self.sums[right])))
        self._counts.append(self._counts[left] + self._counts[right])
        self.meanings.append(total([self.meanings[left], self.meanings[right]]))
        self._members.append(self._members[left] + self._members[right])
        self._partners.append(set())
        self._inactive.update((left, right))
        for third in sorted((self._partners[left] | self._partners[right]) - self._inactive):
            self._compare(len(self.sums) - 1, third)
