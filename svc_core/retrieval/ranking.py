"""How much an item is about a query: BM25F, a cosine to the best items' centroid, and one cut.

`soft = sum of idf * saturated frequency / (k1 + 1) / sum of idf of all that was asked`, 0..1: the
share of what was asked (Robertson, Zaragoza 2009). `feedback` is the cosine of an item to the
centroid of the best three (Rocchio 1971). `score = soft + 1.2 * feedback`, chosen from 0.45 on.
"""

from collections.abc import Mapping, Sequence
from math import log, sqrt

from attrs import field, frozen

from svc_core.retrieval.query import Query
from svc_core.text.evidence import Reading
from svc_core.text.frequencies import Frequencies

_TITLE, _LEAD, _REST = 3.0, 2.0, 1.0
_K1, _B = 1.2, 0.75
_FEEDBACK = 1.2
_CUT = 0.45
LIKENESS_FREE = 2.0  # standard deviations above what items come near to a question
_LIKENESS, _CUT_WITH_LIKENESS = 0.15, 0.6
_SEEDS, _SEED_SHARE, _SEED_MIN = 3, 0.5, 0.2
_CENTROID_TERMS, _CENTROID_ITEMS = 20, 2
_TOP_FULL = 0.3
NEAREST = 3  # misses that are named where nothing is found


@frozen
class Hit:
    """An item and why it has its place; `likeness` is null where no embeddings were asked."""

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
    held: Sequence[Reading],
    frequencies: Frequencies,
    likeness: Mapping[str, float] | None = None,
) -> Ranking:
    """The items of `held` that are about a query; ties by id.

    `likeness` says by ids how near items come to the query (`svc_core.embeddings`). An item that it
    lacks was not looked at: it is judged by its words, with the cut that goes with them.
    """
    idf = {term: frequencies.idf(term) * factor for term, factor in query.terms.items()}
    counted = [_counts(reading) for reading in held]
    soft = _soft(idf, counted)
    near = [(likeness or {}).get(reading.evidence.id) for reading in held]
    asked = [
        lexical + _LIKENESS * max(0.0, (one or 0.0) - LIKENESS_FREE)
        for lexical, one in zip(soft, near, strict=True)
    ]
    feedback = _feedback(idf, counted, asked, frequencies)
    hits = [
        Hit(reading, round(score + _FEEDBACK * like, 9), lexical, like, one)
        for reading, score, lexical, like, one in zip(
            held, asked, soft, feedback, near, strict=True
        )
        if score > 0
    ]
    hits.sort(key=lambda hit: (-hit.margin, hit.reading.evidence.id))
    chosen = tuple(hit for hit in hits if hit.margin >= 0)
    return Ranking(chosen, () if chosen else tuple(hits[:NEAREST]))


def _counts(reading: Reading) -> dict[str, float]:
    """How often an item has each term, by the weight of the place where it stands."""
    counts: dict[str, float] = {}
    places = (reading.title, _TITLE), (reading.lead, _LEAD), (reading.rest, _REST)
    for place, weight in places:
        for term in place:
            counts[term] = counts.get(term, 0.0) + weight
    return counts


def _soft(idf: Mapping[str, float], counted: Sequence[Mapping[str, float]]) -> list[float]:
    asked = sum(idf.values())
    lengths = [sum(counts.values()) for counts in counted]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    found = []
    for counts, length in zip(counted, lengths, strict=True):
        norm = _K1 * (1 - _B + _B * length / (mean or 1.0))
        held = (
            weight * counts[term] / (counts[term] + norm)
            for term, weight in idf.items()
            if term in counts
        )
        found.append(sum(held) / asked if asked else 0.0)
    return found


def _feedback(
    idf: Mapping[str, float],
    counted: Sequence[Mapping[str, float]],
    soft: Sequence[float],
    frequencies: Frequencies,
) -> list[float]:
    """The cosine of each item to the centroid of the best; 0 where nothing can be built on."""
    top = max(soft, default=0.0)
    known = sum(weight for term, weight in idf.items() if any(term in c for c in counted))
    asked = sum(idf.values())
    least = max(_SEED_SHARE * top, _SEED_MIN * known / asked if asked else 1.0)
    ranked = sorted(range(len(soft)), key=lambda at: -soft[at])
    seeds = [at for at in ranked[:_SEEDS] if soft[at] >= least > 0]
    if not seeds:
        return [0.0] * len(counted)
    vectors = [
        _vector(counts, frequencies) if value > 0 else {}
        for counts, value in zip(counted, soft, strict=True)
    ]
    centroid = _centroid([(soft[at], vectors[at]) for at in seeds], vectors)
    trust = min(1.0, top / _TOP_FULL)
    return [
        trust * sum(weight * vector.get(term, 0.0) for term, weight in centroid.items())
        for vector in vectors
    ]


def _centroid(
    seeds: Sequence[tuple[float, Mapping[str, float]]], vectors: Sequence[Mapping[str, float]]
) -> dict[str, float]:
    total: dict[str, float] = {}
    for weight, vector in seeds:
        for term, value in vector.items():
            total[term] = total.get(term, 0.0) + weight * value
    held: dict[str, int] = {}
    for vector in vectors:
        for term in vector:
            held[term] = held.get(term, 0) + 1
    shared = [term for term in total if held.get(term, 0) >= _CENTROID_ITEMS]
    heaviest = sorted(shared, key=lambda term: (-total[term], term))[:_CENTROID_TERMS]
    return _unit({term: total[term] for term in heaviest})


def _vector(counts: Mapping[str, float], frequencies: Frequencies) -> dict[str, float]:
    return _unit({term: (1 + log(count)) * frequencies.idf(term) for term, count in counts.items()})


def _unit(vector: Mapping[str, float]) -> dict[str, float]:
    length = sqrt(sum(weight * weight for weight in vector.values())) or 1.0
    return {term: weight / length for term, weight in vector.items()}
