"""Scores the relevance of items: BM25F, a cosine to the best items' centroid, and a cut-off.

`soft = sum of idf * saturated frequency / (k1 + 1) / sum of idf of all query terms`, 0 to 1: the
share of the query that the item answers (Robertson, Zaragoza 2009). `feedback` is the cosine of an
item to the centroid of the best two (Rocchio 1971). `score = soft + 3.5 * feedback`, relevant from
0.85 on.
ADR 24 says what each number was measured against.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log, sqrt
from typing import TypeVar

from attrs import field, frozen

from svc_core.text.evidence import Reading
from svc_core.text.frequencies import Frequencies
from svc_core.text.query import Query

_K1, _B = 1.2, 0.75
_USUAL_LENGTH = 250  # the length of an item; a mean of those at hand would change with their number
_PHRASE_WEIGHT = 0.5  # a keyword or phrase in the item, on top of its terms' weight
_SYNONYM_WEIGHT = 0.7  # a synonym, compared with the term of the query itself
_FEEDBACK, _CUT = 3.5, 0.85
_LIKENESS, _CUT_WITH_LIKENESS = 0.15, 1.1  # for each standard deviation; ADR 29
_SEEDS, _SEED_SHARE, _POWER = 2, 0.5, 3
_CENTROID_TERMS, _LONE_FACTOR = 20, 0.15  # of the weight of a term that one item alone has
_TOP_FULL = 0.3  # where the best item answers less of the question, feedback counts less
_Key = TypeVar("_Key")
NEAREST = 3  # misses that are reported where no item is relevant


@frozen
class Hit:
    """An item with its scores; `likeness` is None where its meaning was not compared."""

    reading: Reading
    score: float
    soft: float
    feedback: float
    likeness: float | None = None

    @property
    def margin(self) -> float:
        """How far the score is above the cut-off that applies to it."""
        return round(self.score - (_CUT if self.likeness is None else _CUT_WITH_LIKENESS), 9)


@frozen
class Ranking:
    """The relevant items, best first, and, where there are none, the nearest misses.

    `is_scant` says that little of what was ranked is about the query. `unmatched` are the subjects
    of a query of several that have no relevant item, as they were written.
    """

    hits: tuple[Hit, ...] = field(repr=False)
    nearest: tuple[Hit, ...] = field(repr=False)
    is_scant: bool = False
    unmatched: tuple[str, ...] = ()


def rank(
    query: Query,
    readings: Iterable[Reading],
    frequencies: Frequencies,
    likeness: Mapping[str, float] | None = None,
) -> Ranking:
    """The items of `readings` that are relevant to a query, best first; ties by id.

    `likeness` gives, by item id, how near its meaning is to the query: see
    `svc_core.search.vector_likeness`. An item without one is judged by its words alone, with the
    cut-off for that case. Items near in meaning seed the feedback, as items with the words do.
    """
    candidates = [item for item in readings if not any(map(item.holds, query.exclusions))]
    candidates.sort(key=lambda reading: reading.evidence.id)
    best: dict[str, Hit] = {}
    for part in query.parts or (query,):
        for hit in _hits(part, candidates, frequencies, likeness or {}):
            previous = best.get(hit.reading.evidence.id)
            if previous is None or hit.margin > previous.margin:
                best[hit.reading.evidence.id] = hit
    hits = sorted(best.values(), key=lambda hit: (-hit.margin, hit.reading.evidence.id))
    relevant = tuple(hit for hit in hits if hit.margin >= 0)
    return Ranking(relevant, () if relevant else tuple(hits[:NEAREST]))


def _hits(
    query: Query,
    candidates: Sequence[Reading],
    frequencies: Frequencies,
    likeness: Mapping[str, float],
) -> list[Hit]:
    shares = answer_shares(query, candidates, frequencies)
    near = [likeness.get(reading.evidence.id) for reading in candidates]
    scores = [soft + _LIKENESS * (like or 0.0) for soft, like in zip(shares, near, strict=True)]
    rows = [row for row in zip(candidates, scores, shares, near, strict=True) if row[1] > 0]
    feedback = _feedback([row[0] for row in rows], [row[1] for row in rows], frequencies)
    return [
        Hit(reading, round(score + _FEEDBACK * cosine, 9), share, cosine, like)
        for (reading, score, share, like), cosine in zip(rows, feedback, strict=True)
    ]


def answer_shares(
    query: Query, readings: Sequence[Reading], frequencies: Frequencies
) -> list[float]:
    """The share of the query that each item answers by its words, 0 to 1 (`soft`)."""
    idf = {term: frequencies.idf(term) * factor for term, factor in query.factors.items()}
    phrase_weights = {run: _PHRASE_WEIGHT * sum(map(frequencies.idf, run)) for run in query.phrases}
    total = sum(idf.values()) or sum(phrase_weights.values())
    synonyms = frozenset(term for _, runs in query.synonyms for run in runs for term in run)
    shares = []
    for reading in readings:
        norm = _K1 * (1 - _B + _B * reading.length / _USUAL_LENGTH)
        counts = _counts(query, synonyms, reading.counts)
        share = sum(idf[term] * count / (count + norm) for term, count in counts.items())
        share += sum(weight for run, weight in phrase_weights.items() if reading.holds(run))
        shares.append(min(1.0, share / total) if share else 0.0)
    return shares


def _counts(query: Query, synonyms: frozenset[str], counts: Mapping[str, int]) -> dict[str, float]:
    """The weighted frequency in an item of each query term, or of a synonym of it."""
    tally: dict[str, float] = {t: counts[t] for t in query.factors if t in counts}
    present = synonyms & counts.keys()
    if present:
        for run, names in query.synonyms:
            minima = (min(counts[term] for term in name) for name in names if present >= {*name})
            weight = _SYNONYM_WEIGHT * max(minima, default=0)
            for term in run if weight else ():
                tally[term] = max(weight, tally.get(term, 0))
    return tally


def _feedback(
    readings: Sequence[Reading], soft: Sequence[float], frequencies: Frequencies
) -> list[float]:
    """The cosine of each item to the centroid of the best items; 0 where no item scores."""
    top = max(soft, default=0.0)
    order = sorted(range(len(soft)), key=lambda row: -soft[row])
    seeds = [row for row in order[:_SEEDS] if soft[row] >= max(_SEED_SHARE * top, 1e-9)]
    weights = _Weights(frequencies)
    vectors = {row: weights.vector(readings[row]) for row in seeds}
    centroid = _centroid([((soft[row] / top) ** _POWER, vectors[row]) for row in seeds], readings)
    trust = min(1.0, top / _TOP_FULL) ** _POWER
    return [trust * weights.cosine(reading, centroid) for reading in readings]


def _centroid(
    seeds: Sequence[tuple[float, Mapping[str, float]]], readings: Sequence[Reading]
) -> dict[str, float]:
    """The heaviest terms of the seeds, at length 1; terms that only one item has weigh less."""
    total: dict[str, float] = {}
    for weight, vector in seeds:
        for term, value in vector.items():
            total[term] = total.get(term, 0.0) + weight * value
    weights: dict[str, float] = {}
    shared = 0
    for term in sorted(total, key=lambda term: (-total[term], term)):
        if shared == _CENTROID_TERMS:
            break
        is_shared = sum(term in reading.counts for reading in readings) > 1
        shared += is_shared
        weights[term] = total[term] * (1 if is_shared else _LONE_FACTOR)
    heaviest = sorted(weights, key=lambda term: (-weights[term], term))[:_CENTROID_TERMS]
    length = sqrt(sum(weights[term] ** 2 for term in heaviest)) or 1.0
    return {term: weights[term] / length for term in heaviest}


class _Memo(dict[_Key, float]):
    """A dictionary that computes a missing number and keeps it."""

    def __init__(self, compute: Callable[[_Key], float]) -> None:
        self._compute = compute

    def __missing__(self, key: _Key) -> float:
        value = self[key] = self._compute(key)
        return value


class _Weights:
    """Vectors of items: `(1 + ln count) * idf`, of length 1."""

    def __init__(self, frequencies: Frequencies) -> None:
        self._idf = frequencies.weights
        self._damping = _Memo[int](lambda count: 1 + log(count))

    def vector(self, item: Reading) -> dict[str, float]:
        idf, damping, length = self._idf, self._damping, self._length(item)
        return {term: idf[term] * damping[count] / length for term, count in item.counts.items()}

    def cosine(self, item: Reading, unit: Mapping[str, float]) -> float:
        idf, damping, counts = self._idf, self._damping, item.counts
        shared = ((term, weight) for term, weight in unit.items() if term in counts)
        product = sum(weight * idf[term] * damping[counts[term]] for term, weight in shared)
        return product / self._length(item) if product else 0.0

    def _length(self, item: Reading) -> float:
        idf, damping = self._idf, self._damping
        return sqrt(sum((idf[term] * damping[count]) ** 2 for term, count in item.counts.items()))
