"""Scores the relevance of items, selects the relevant ones, and decides whether there are any.

Rule 1: `soft = sum of idf * saturated frequency / (k1 + 1) / sum of idf of all query terms`: the
        share of the query that an item answers (BM25F; Robertson, Zaragoza 2009). Its meaning
        adds to that where it was compared (`Hit.match`).
Rule 2: `feedback` is the cosine of an item to the centroid of the best three (Rocchio 1971). A term
        counts less the more items of the window hold it: it tells them less apart.
Rule 3: an item is relevant where `match + weight * feedback` reaches a threshold, and its match
        half of the best one's, or its feedback 0.2.
Rule 4: whether there is an answer at all is judged over all items, by logistic regression: the best
        of hundreds of items always resembles the query somewhat.
        What leads with the only word of a query is surely about it, however common that is.
Rule 5: a query that lists subjects is answered subject by subject.
Rule 6: an office that a query describes is sought by the name of who holds it, as the items say.
Rule 7: a story of several publishers that has an item among the best three, and whose items have a
        feedback of 0.1 in the mean, is relevant as a whole: its reports say the same in other words
        (the cluster hypothesis; van Rijsbergen 1979). A wrong item seldom brings a large story.
ADR 50, ADR 52 and ADR 64 say what each number was measured against.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from heapq import nlargest
from itertools import repeat
from math import inf, log, sqrt
from operator import attrgetter, mul, truediv
from statistics import fmean
from typing import NamedTuple

from attrs import evolve, field, frozen

from svc_core.text.evidence import Reading
from svc_core.text.frequencies import Frequencies
from svc_core.text.query import Query

_K1, _B = 1.2, 0.75
_USUAL_LENGTH = 250  # the length of an item; a mean of those at hand would change with their number
_PHRASE_WEIGHT = 0.5  # a keyword or phrase in the item, on top of its terms' weight
_SYNONYM_WEIGHT = 0.7  # a synonym, compared with the term of the query itself
_LIKENESS, _FREE = 0.2, 1.0  # for each standard deviation of nearness above the free ones
NEAR = 2.5  # standard deviations that an item without a word of the query must exceed
_SEEDS, _SEED_SHARE, _SEED_POWER = 3, 0.5, 3
_CENTROID_TERMS, _LONE_FACTOR = 20, 0.15  # of the weight of a term that one item alone has
_WINDOW_PRIOR = 100  # items that hold no term; without them a small window's own subject would fade
_TOP_FULL = 0.3  # where the best item answers less of the query, feedback counts less
_MATCH_MIN, _FEEDBACK_FULL = 0.5, 0.2  # of the best item's match, or as near to the best three
_STORY_FEEDBACK = 0.1  # mean of the items of a story: below, only its own hits are relevant
_NEAREST = 5  # items whose mean nearness tells whether anything is near
_SCANT = 1.3  # odds below which the report says that little is about its subject
ABOUT = 0.3  # match of an item that is about a subject
NEAREST = 3  # misses that are reported where no item is relevant


@frozen
class _Basis:
    """How items are selected, by their words alone or with their meaning.

    `feedback` is its weight in the score, `threshold` what the score must reach. `weights` and
    `bias` are of a logistic regression that says whether a query has an answer: 2 % of those that
    have one are below 0. `sure` are the bias and weights of one that says whether an item is about
    the query, from the result of the first and its own score.
    """

    feedback: float
    threshold: float
    weights: tuple[float, ...]
    bias: float
    sure: tuple[float, float, float]


# The regression is fitted as `benchmarks/data/answers.py` does, on the five sets of ADR 60.
_WORDS = _Basis(3.5, 0.70, (2.31, 2.79, 2.88, 1.25, 2.16), -9.42, (-0.87, 0.42, 0.70))
_MEANING = _Basis(2.5, 0.85, (0.80, 1.52, 2.64, 0.72, 1.99, 1.86), -11.46, (-1.72, 0.26, 1.54))


class Nearness(NamedTuple):
    """How near an item is to a query in meaning: standard deviations of its cosine above a mean.

    `in_window` is among the items of the window, `in_general` among all news.
    """

    in_window: float
    in_general: float


@frozen
class Hit:
    """An item with its scores; `nearness` is None where its meaning was not compared.

    `soft` is the share of the query that it answers by its words, `head` the part of the query that
    its headline and lead hold, `rare` the part of the two heaviest terms that it holds; `top` is
    the best score of its subject, and `odds` are those that there is anything about this.
    `subjects` are those of the query that it is relevant to, the one that it matches best first.
    """

    reading: Reading
    soft: float
    head: float
    rare: float
    nearness: Nearness | None = None
    feedback: float = 0.0
    top: float = 1.0
    odds: float = 0.0
    subjects: tuple[str, ...] = ()

    @property
    def match(self) -> float:
        """The share of the query that it answers, with what its meaning adds."""
        near = 0.0 if self.nearness is None else self.nearness.in_window
        return self.soft + _LIKENESS * max(0.0, near - _FREE)

    @property
    def basis(self) -> _Basis:
        """How it is judged."""
        return _WORDS if self.nearness is None else _MEANING

    @property
    def score(self) -> float:
        """How relevant it is."""
        return round(self.match + self.basis.feedback * self.feedback, 9)

    @property
    def share(self) -> float:
        """How relevant it is beside the best item of its subject."""
        return self.score / self.top

    @property
    def sureness(self) -> float:
        """The log-odds that it is about the query, where its story is the most relevant one."""
        bias, odds, score = self.basis.sure
        return bias + odds * self.odds + score * self.score

    @property
    def margin(self) -> float:
        """How far the score is above the threshold that applies to it."""
        return round(self.score - self.basis.threshold, 9)

    def is_relevant(self, least: float) -> bool:
        """Whether it is about the query; `least` is the match that it needs."""
        is_near = self.nearness is not None and self.nearness.in_window > NEAR
        is_alike = self.match >= least or self.feedback >= _FEEDBACK_FULL
        return self.margin >= 0 and is_alike and (self.soft > 0 or is_near)


@frozen
class Ranking:
    """The relevant items, best first, and, where there are none, the nearest misses.

    `unmatched` are the subjects of a query of several that have no relevant item, as they were
    written. `subject` and `odds` are those of a query of one, `terms` what its items were found by.
    """

    hits: tuple[Hit, ...] = field(repr=False)
    nearest: tuple[Hit, ...] = field(repr=False)
    unmatched: tuple[str, ...] = ()
    odds: float = 0.0
    terms: frozenset[str] = field(default=frozenset(), repr=False)
    subject: str = ""

    @property
    def is_scant(self) -> bool:
        """Whether there is so little about the query that a reader should be told."""
        return bool(self.hits) and all(hit.odds < _SCANT for hit in self.hits)


def rank(
    query: Query,
    readings: Iterable[Reading],
    frequencies: Frequencies,
    nearness: Mapping[str, Nearness] | None = None,
    *,
    window_total: int = 0,
    by_part: Mapping[str, Mapping[str, Nearness]] | None = None,
) -> Ranking:
    """The items of `readings` that are relevant to a query, best first; ties by id.

    `window_total` is the number of items in the window; `readings` may leave out those that hold
    no term of the query: of these it finds the other items of a story, and those near in meaning.
    `nearness` is by item id (`svc_core.search.vector_likeness`). An item without one is judged by
    its words alone, with the threshold for that case. Items near in meaning seed the feedback, as
    items with the words do. `by_part` is the nearness to the parts of a query, by their texts.
    """
    items = [item for item in readings if not any(map(item.holds, query.exclusions))]
    items.sort(key=lambda reading: reading.evidence.id)
    query = query.with_holders([f"{item.evidence.title}\n{item.text}" for item in items])
    window = _Window(query, items, frequencies, max(window_total, len(items)))
    window.near, window.by_part = nearness or {}, by_part or {}
    subjects = _by_subject(query, window)
    relevant = _best(hit for subject in subjects for hit in _with_stories(subject, items))
    if not relevant:
        return Ranking((), _best(hit for subject in subjects for hit in subject.nearest)[:NEAREST])
    unmatched = tuple(text for row in subjects for text in row.unmatched)
    return Ranking(relevant, (), unmatched, terms=frozenset(query.terms))


def _best(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The best hit of each item, best first, with the subjects of all."""
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=attrgetter("margin")):
        others = best.get(hit.reading.evidence.id, hit).subjects
        subjects = tuple(dict.fromkeys((*hit.subjects, *others)))
        best[hit.reading.evidence.id] = evolve(hit, subjects=subjects)
    return tuple(sorted(best.values(), key=lambda hit: (-hit.margin, hit.reading.evidence.id)))


def _with_stories(ranking: Ranking, items: Sequence[Reading]) -> list[Hit]:
    """The relevant items of a subject, and all items of the stories that it brings."""
    hits = {hit.reading.evidence.id: hit for hit in ranking.nearest}
    brought: list[Hit] = []
    for story in {hit.reading.evidence.story for hit in ranking.hits[:_SEEDS]} - {None}:
        members = [item for item in items if item.evidence.story == story]
        rows = [hits.get(item.evidence.id) or Hit(item, 0.0, 0.0, 0.0) for item in members]
        publishers = {item.evidence.publisher for item in members}
        if len(publishers) > 1 and fmean(row.feedback for row in rows) >= _STORY_FEEDBACK:
            brought += (evolve(row, odds=ranking.odds) for row in rows)
    top = max((hit.score for hit in ranking.hits), default=1.0)
    subjects = (ranking.subject,)
    return [evolve(hit, top=top, subjects=subjects) for hit in (*brought, *ranking.hits)]


def _by_subject(query: Query, window: "_Window") -> list[Ranking]:
    """The rankings of the subjects of a query, each with all its hits as the nearest."""
    whole = _answer(query, window)
    parts = [ranking for part in query.parts for ranking in _by_subject(part, window)]
    if query.is_list or _are_several(whole, parts):
        return parts
    ids = {hit.reading.evidence.id for hit in whole.hits}
    strange = (part for part in parts if not part.hits and ids and ids.isdisjoint(_about(part)))
    return [evolve(whole, unmatched=(*whole.unmatched, *(part.subject for part in strange)))]


def _are_several(whole: Ranking, parts: Sequence[Ranking]) -> bool:
    """Whether what may be a list of subjects is one.

    Its best item is about one part alone; and so are those of two parts, or the whole does not find
    the best item of a part.
    """
    ids = {hit.reading.evidence.id for hit in whole.hits}
    best = [hit.reading.evidence.id for part in parts for hit in part.hits[:1]]
    about = list(map(_about, parts))
    first = [hit.reading.evidence.id for hit in whole.nearest[:1]]
    alone = [sum(id_ in row for row in about) < 2 for id_ in (*first, *best)]
    return all(alone[:1]) and (not ids.issuperset(best) or sum(alone[1:]) > 1)


def _about(ranking: Ranking) -> set[str]:
    """The ids of the items that are about a subject."""
    return {hit.reading.evidence.id for hit in ranking.nearest if hit.match >= ABOUT}


class _Window:
    """The items that are ranked, of `total` that there are."""

    def __init__(
        self, query: Query, items: Sequence[Reading], table: Frequencies, total: int
    ) -> None:
        self.terms, self.items, self.frequencies, self.total = query.terms, items, table, total
        self.distinction = cache(self._distinction)
        self.near: Mapping[str, Nearness] = {}
        self.by_part: Mapping[str, Mapping[str, Nearness]] = {}

    def _distinction(self, term: str) -> float:
        """How well a term tells items of the window apart, 0 to 1.

        Items that are not at hand hold no term of the query; any other term they hold as often as
        what else is stored.
        """
        holders: float = sum(term in item.counts for item in self.items)
        others = self.frequencies.total - len(self.items)
        if term not in self.terms and others > 0:
            elsewhere = max(0, self.frequencies.counts.get(term, 0) - holders)
            holders += (self.total - len(self.items)) * elsewhere / others
        if holders < 2:
            return _LONE_FACTOR
        size = self.total + 1 + _WINDOW_PRIOR
        return max(0.0, log(size / holders) / log(size))

    def vector(self, item: Reading) -> dict[str, float]:
        """The vector of an item: `(1 + ln count) * idf`, of length 1."""
        idf, length = self.frequencies.weights, self._length(item)
        return {term: idf[term] * (1 + log(n)) / length for term, n in item.counts.items()}

    def cosine(self, item: Reading, unit: Mapping[str, float]) -> float:
        """The cosine of the vector of an item and that of some terms, of length 1."""
        idf, counts = self.frequencies.weights, item.counts
        shared = ((term, weight) for term, weight in unit.items() if term in counts)
        product = sum(weight * idf[term] * (1 + log(counts[term])) for term, weight in shared)
        return product / self._length(item) if product else 0.0

    def _length(self, item: Reading) -> float:
        idf = self.frequencies.weights
        return sqrt(sum((idf[term] * (1 + log(n))) ** 2 for term, n in item.counts.items()))


def _answer(query: Query, window: _Window) -> Ranking:
    """The ranking of one subject; `nearest` are all hits.

    Where the items that are judged by words or those by meaning hold an answer, there is one.
    """
    hits = _best(_hits(query, window))
    odds = -inf
    for basis in {hit.basis for hit in hits}:
        rows = [hit for hit in hits if hit.basis is basis]
        features = answer_features(query, rows, window.frequencies)
        odds = max(odds, basis.bias + sum(map(mul, basis.weights, features)))
    top = max((hit.match for hit in hits), default=0.0)
    relevant = tuple(
        evolve(hit, odds=inf if hit.head and len(window.terms) == 1 else odds)
        for hit in hits
        if odds >= 0 and hit.is_relevant(_MATCH_MIN * top)
    )
    return Ranking(relevant, hits, () if relevant else (query.text,), odds, subject=query.text)


def answer_features(query: Query, hits: Sequence[Hit], table: Frequencies) -> tuple[float, ...]:
    """What tells whether a query has an answer: the most that any item has of each, the weight of
    the query, and how near the nearest are. A share of many rare words is less likely by chance,
    and so are several items that are near; to meaning no word is rare."""
    maxima = map(max, zip(*map(_evidence_of, hits), strict=True))
    near = nlargest(_NEAREST, (hit.nearness.in_window for hit in hits if hit.nearness))
    size = len(query.factors) or 1 if near else _query_weight(query, table)
    return (*maxima, log(1 + size), *([fmean(near)] if near else ()))


def _evidence_of(hit: Hit) -> tuple[float, ...]:
    if hit.nearness is None:
        return hit.soft, hit.head, sqrt(hit.soft * hit.feedback), hit.rare
    return hit.nearness.in_general, hit.head, hit.match, hit.rare


def _query_weight(query: Query, table: Frequencies) -> float:
    """The weight of all terms of a query, or of its phrases where it has no others."""
    weights = [table.idf(term) * factor for term, factor in query.factors.items()]
    phrases = (_PHRASE_WEIGHT * table.idf(term) for run in query.phrases for term in run)
    return sum(weights) or sum(phrases) or 1.0


def _hits(query: Query, window: _Window) -> list[Hit]:
    shares = answer_shares(query, window.items, window.frequencies)
    near = window.by_part.get(query.text, window.near)
    rows = (
        Hit(reading, *share, near.get(reading.evidence.id))
        for reading, share in zip(window.items, shares, strict=True)
    )
    hits = [hit for hit in rows if hit.match > 0]
    top = max((hit.match for hit in hits), default=0.0)
    order = sorted(hits, key=lambda hit: -hit.match)
    seeds = [hit for hit in order[:_SEEDS] if hit.match >= _SEED_SHARE * top]
    centroid = _centroid([((hit.match / top) ** _SEED_POWER, hit.reading) for hit in seeds], window)
    trust = min(1.0, top / _TOP_FULL)
    return [evolve(hit, feedback=trust * window.cosine(hit.reading, centroid)) for hit in hits]


def answer_shares(
    query: Query, readings: Sequence[Reading], frequencies: Frequencies
) -> list[tuple[float, float, float]]:
    """The share of the query that each item answers by its words, 0 to 1 (`soft`), the share that
    its headline and lead hold, and the share of the two heaviest terms that it holds."""
    idf = {term: frequencies.idf(term) * factor for term, factor in query.factors.items()}
    rare = sorted(idf, key=lambda term: (-idf[term], term))[:2]
    phrase_weights = {run: _PHRASE_WEIGHT * sum(map(frequencies.idf, run)) for run in query.phrases}
    total = _query_weight(query, frequencies)
    totals = total, total, sum(map(idf.__getitem__, rare)) or total
    synonyms = frozenset(term for _, runs in query.synonyms for run in runs for term in run)
    shares = []
    for reading in readings:
        norm = _K1 * (1 - _B + _B * reading.length / _USUAL_LENGTH)
        counts = _counts(query, synonyms, reading.counts)
        soft = sum(idf[term] * count / (count + norm) for term, count in counts.items())
        places = dict.fromkeys((*reading.title, *reading.lead), 1) if counts else {}
        head = sum(map(idf.__getitem__, _counts(query, synonyms, places)))
        held = sum(idf[term] for term in rare if term in counts)
        phrases = sum(phrase_weights[run] for run in phrase_weights if reading.holds(run))
        sums = (part + phrases for part in (soft, head, held))
        soft, head, held = map(min, map(truediv, sums, totals), repeat(1.0))
        shares.append((soft, head, held))
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


def _centroid(seeds: Sequence[tuple[float, Reading]], window: _Window) -> dict[str, float]:
    """The heaviest terms of the seeds, at length 1."""
    total: dict[str, float] = {}
    for weight, reading in seeds:
        for term, value in window.vector(reading).items():
            total[term] = total.get(term, 0.0) + weight * value
    order = sorted(total, key=lambda term: (-total[term], term))[: 4 * _CENTROID_TERMS]
    weights = {term: total[term] * window.distinction(term) for term in order}
    heaviest = sorted(weights, key=lambda term: (-weights[term], term))[:_CENTROID_TERMS]
    length = sqrt(sum(weights[term] ** 2 for term in heaviest)) or 1.0
    return {term: weights[term] / length for term in heaviest}
