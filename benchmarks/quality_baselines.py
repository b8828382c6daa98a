"""What our figures stand beside: BM25 with one threshold, and average link at one cut.

Both as plain as they come: whole folded words, frequencies of the set that is judged. Their
thresholds are the best for the `dev` halves.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from svc_core.text.evidence import EvidenceTexts
from svc_core.text.words import fold_case, terms

K1, B = 1.2, 0.75
OF_BEST, OF_QUERY = 0.7, 0.1
LINK = 0.1


class Bm25:
    """Documents ranked by BM25; chosen is what reaches a share of the best and of the query."""

    def __init__(self, items: Sequence[EvidenceTexts]) -> None:
        """Index some items."""
        self.counts = {
            item.id: Counter(terms(fold_case(f"{item.title} {item.text}"), item.primary_language))
            for item in items
        }
        self.text_counts = Counter(term for counts in self.counts.values() for term in counts)
        lengths = [counts.total() for counts in self.counts.values()]
        self.usual = sum(lengths) / len(lengths)

    def idf(self, term: str) -> float:
        """How rare a term is."""
        holders = self.text_counts[term]
        return math.log(1 + (len(self.counts) - holders + 0.5) / (holders + 0.5))

    def find(
        self, question: str, language: str, best: float = OF_BEST, query: float = OF_QUERY
    ) -> set[str]:
        """The ids of what is chosen."""
        words_ = set(terms(fold_case(question), language))
        scores = {name: self._score(counts, words_) for name, counts in self.counts.items()}
        top = max(scores.values())
        score_max = (K1 + 1) * sum(map(self.idf, words_))
        least = max(best * top, query * score_max)
        return {name for name, score in scores.items() if score >= least > 0}

    def _score(self, counts: Counter[str], words_: set[str]) -> float:
        room = K1 * (1 - B + B * counts.total() / self.usual)
        return sum(
            self.idf(term) * counts[term] * (K1 + 1) / (counts[term] + room)
            for term in words_
            if term in counts
        )


def average_link(items: Sequence[EvidenceTexts], cut: float = LINK) -> list[list[str]]:
    """Groups by average link over cosines of headline and first sixty words."""
    near = _cosines([_counts(item) for item in items])
    groups = {at: [at] for at in range(len(items))}
    sums: dict[int, dict[int, float]] = {at: dict(near[at]) for at in groups}
    heap = [
        (-value, left, right)
        for left in sums
        for right, value in sums[left].items()
        if left < right
    ]
    heapq.heapify(heap)
    fresh = len(items)
    while heap and -heap[0][0] >= cut:
        _, left, right = heapq.heappop(heap)
        if left not in groups or right not in groups:
            continue
        groups[fresh] = groups.pop(left) + groups.pop(right)
        sums_: dict[int, float] = defaultdict(float)
        for old in (left, right):
            for third, value in sums.pop(old).items():
                if third in groups:
                    sums_[third] += value
        sums[fresh] = dict(sums_)
        for third, value in sums_.items():
            sums[third][fresh] = value
            mean = value / (len(groups[fresh]) * len(groups[third]))
            heapq.heappush(heap, (-mean, third, fresh))
        fresh += 1
    return [[items[at].id for at in group] for group in groups.values()]


def _counts(item: EvidenceTexts) -> Counter[str]:
    return Counter(
        [
            *terms(item.title, item.primary_language),
            *terms(item.text[:800], item.primary_language)[:60],
        ]
    )


def _cosines(counts_of_items: Sequence[Counter[str]]) -> list[Mapping[int, float]]:
    counts_of_terms = Counter(term for counts in counts_of_items for term in counts)
    holders: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for at, counts in enumerate(counts_of_items):
        vector = {
            term: (1 + math.log(count)) * math.log(len(counts_of_items) / counts_of_terms[term])
            for term, count in counts.items()
        }
        length = math.sqrt(sum(value * value for value in vector.values())) or 1.0
        for term, value in vector.items():
            holders[term].append((at, value / length))
    near: list[dict[int, float]] = [defaultdict(float) for _ in counts_of_items]
    for weights in holders.values():
        for place, (item, value) in enumerate(weights):
            for right, like in weights[place + 1 :]:
                near[item][right] += value * like
                near[right][item] += value * like
    return list(near)
