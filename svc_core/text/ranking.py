"""How much an item is about a query: BM25F, a cosine to the best items' centroid, and one cut.

`soft = sum of idf * saturated frequency / (k1 + 1) / sum of idf of all that was asked`, 0..1: the
share of what was asked (Robertson, Zaragoza 2009). `feedback` is the cosine of an item to the
centroid of the best two (Rocchio 1971). `score = soft + 3.5 * feedback`, chosen from 0.85 on.
ADR 24 tells what each number was measured against.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log, sqrt
from typing import TypeVar

from attrs import field, frozen

from svc_core.text.evidence import Reading
from svc_core.text.frequencies import Frequencies
from svc_core.text.query import Query

_K1, _B = 1.2, 0.75
_USUAL = 250  # the length of an item; a mean of those at hand would change with their number
_PHRASE = 0.5  # a keyword or phrase that is held, beside its terms' weight
_OTHER_NAME = 0.7  # another name of what was asked for, beside that one
_FEEDBACK, _CUT = 3.5, 0.85
_LIKENESS, _CUT_WITH_LIKENESS = 0.15, 1.1  # for each standard deviation; ADR 29
_SEEDS, _SEED_SHARE, _POWER = 2, 0.5, 3
_CENTROID_TERMS, _LONE = 20, 0.15  # of the weight of a term that one item alone has
_TOP_FULL = 0.3  # where the best item answers less of the question, feedback counts less
_Key = TypeVar("_Key")
NEAREST = 3  # misses that are named where nothing is found


@frozen
class Hit:
    """An item and why it has its place; `likeness` is null where its meaning was not looked at."""

    reading: Reading
    score: float
    soft: float
    feedback: float
    likeness: float | None = None

    @property
    def margin(self) -> float:
        """How far it is above the cut of items that were judged as it was."""
        return round(self.score - (_CUT if self.likeness is None else _CUT_WITH_LIKENESS), 9)


@frozen
class Ranking:
    """What is about a query, best first, and, where nothing is, what comes nearest."""

    chosen: tuple[Hit, ...] = field(repr=False)
    nearest: tuple[Hit, ...] = field(repr=False)


def rank(
    query: Query,
    held: Iterable[Reading],
    frequencies: Frequencies,
    likeness: Mapping[str, float] | None = None,
) -> Ranking:
    """The items of `held` that are about a query; ties by id.

    `likeness` says by ids how near items come to the query (`svc_core.search.embeddings`). An item
    that it lacks was not looked at: it is judged by its words, with the cut that goes with them.
    What is near is what feedback begins with, as what holds the words is.
    """
    looked = [one for one in held if not any(one.holds(run) for run in query.excluded)]
    looked.sort(key=lambda one: one.evidence.id)
    best: dict[str, Hit] = {}
    for part in query.parts or (query,):
        for hit in _hits(part, looked, frequencies, likeness or {}):
            known = best.get(hit.reading.evidence.id)
            if known is None or hit.margin > known.margin:
                best[hit.reading.evidence.id] = hit
    hits = sorted(best.values(), key=lambda hit: (-hit.margin, hit.reading.evidence.id))
    chosen = tuple(hit for hit in hits if hit.margin >= 0)
    return Ranking(chosen, () if chosen else tuple(hits[:NEAREST]))


def _hits(
    query: Query,
    looked: Sequence[Reading],
    frequencies: Frequencies,
    likeness: Mapping[str, float],
) -> list[Hit]:
    shares = answers(query, looked, frequencies)
    near = [likeness.get(one.evidence.id) for one in looked]
    asked = [soft + _LIKENESS * (like or 0.0) for soft, like in zip(shares, near, strict=True)]
    at = [at for at, share in enumerate(asked) if share > 0]
    fed = _feedback([looked[one] for one in at], [asked[one] for one in at], frequencies)
    return [
        Hit(looked[one], round(asked[one] + _FEEDBACK * like, 9), shares[one], like, near[one])
        for one, like in zip(at, fed, strict=True)
    ]


def answers(query: Query, held: Sequence[Reading], frequencies: Frequencies) -> list[float]:
    """What share of the question each item answers by its words, 0..1 (`soft`)."""
    idf = {term: frequencies.idf(term) * factor for term, factor in query.asked.items()}
    raising = {run: _PHRASE * sum(map(frequencies.idf, run)) for run in query.phrases}
    asked = sum(idf.values()) or sum(raising.values())
    wanted = frozenset(term for _, runs in query.others for run in runs for term in run)
    found = []
    for one in held:
        norm = _K1 * (1 - _B + _B * one.length / _USUAL)
        counts = _counts(query, wanted, one.counts)
        share = sum(idf[term] * count / (count + norm) for term, count in counts.items())
        share += sum(weight for run, weight in raising.items() if one.holds(run))
        found.append(min(1.0, share / asked) if share else 0.0)
    return found


def _counts(query: Query, wanted: frozenset[str], counts: Mapping[str, int]) -> dict[str, float]:
    """How often an item has what was asked, or what means the same."""
    found: dict[str, float] = {t: counts[t] for t in query.asked if t in counts}
    named = wanted & counts.keys()
    if named:
        for run, others in query.others:
            held = (min(counts[term] for term in other) for other in others if named >= {*other})
            most = _OTHER_NAME * max(held, default=0)
            for term in run if most else ():
                found[term] = max(most, found.get(term, 0))
    return found


def _feedback(
    held: Sequence[Reading], soft: Sequence[float], frequencies: Frequencies
) -> list[float]:
    """The cosine of each item to the centroid of the best; 0 where nothing can be built on."""
    top = max(soft, default=0.0)
    ranked = sorted(range(len(soft)), key=lambda at: -soft[at])
    seeds = [at for at in ranked[:_SEEDS] if soft[at] >= max(_SEED_SHARE * top, 1e-9)]
    weights = _Weights(frequencies)
    vectors = {at: weights.vector(held[at]) for at in seeds}
    centroid = _centroid([((soft[at] / top) ** _POWER, vectors[at]) for at in seeds], held)
    trust = min(1.0, top / _TOP_FULL) ** _POWER
    return [trust * weights.cosine(one, centroid) for one in held]


def _centroid(
    seeds: Sequence[tuple[float, Mapping[str, float]]], held: Sequence[Reading]
) -> dict[str, float]:
    """The heaviest terms of the seeds, less of those that one item alone has; its length is 1."""
    total: dict[str, float] = {}
    for weight, vector in seeds:
        for term, value in vector.items():
            total[term] = total.get(term, 0.0) + weight * value
    weighed: dict[str, float] = {}
    shared = 0
    for term in sorted(total, key=lambda term: (-total[term], term)):
        if shared == _CENTROID_TERMS:
            break
        is_shared = sum(term in one.counts for one in held) > 1
        shared += is_shared
        weighed[term] = total[term] * (1 if is_shared else _LONE)
    heaviest = sorted(weighed, key=lambda term: (-weighed[term], term))[:_CENTROID_TERMS]
    length = sqrt(sum(weighed[term] ** 2 for term in heaviest)) or 1.0
    return {term: weighed[term] / length for term in heaviest}


class _Kept(dict[_Key, float]):
    """What is computed once for each key."""

    def __init__(self, compute: Callable[[_Key], float]) -> None:
        self._compute = compute

    def __missing__(self, key: _Key) -> float:
        value = self[key] = self._compute(key)
        return value


class _Weights:
    """Vectors of items: `(1 + ln count) * idf`, of length 1."""

    def __init__(self, frequencies: Frequencies) -> None:
        self._idf = frequencies.weights
        self._damped = _Kept[int](lambda count: 1 + log(count))

    def vector(self, one: Reading) -> dict[str, float]:
        idf, damped, length = self._idf, self._damped, self._length(one)
        return {term: idf[term] * damped[count] / length for term, count in one.counts.items()}

    def cosine(self, one: Reading, unit: Mapping[str, float]) -> float:
        idf, damped, counts = self._idf, self._damped, one.counts
        shared = ((term, weight) for term, weight in unit.items() if term in counts)
        product = sum(weight * idf[term] * damped[counts[term]] for term, weight in shared)
        return product / self._length(one) if product else 0.0

    def _length(self, one: Reading) -> float:
        idf, damped = self._idf, self._damped
        return sqrt(sum((idf[term] * damped[count]) ** 2 for term, count in one.counts.items()))
