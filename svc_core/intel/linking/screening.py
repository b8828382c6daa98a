"""Compares many parties with all entities in one pass: the parties are indexed, entities stream by.

Rule 1: an entity is near a party that has a designator of it, or where common words weigh at least
        half of both names together. Words that sound equal are equal.
Rule 2: only the nearest entities of each party are kept and compared in full, so time and memory
        depend on the parties, however many entities share a word.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import heappush, heappushpop

from svc_core.intel.linking.matching import SCORE_MIN, NameMatch, Party, compare
from svc_core.intel.linking.similarity import rarity, sound_key

NEAREST_MAX = 12
"""The most entities that are compared in full with one party: 40 us each."""

_SHARES_MIN, _SHARE_MIN = 1.0, 0.3
"""The least sum of the shares that common words have in both names; the least share of words not
yet looked up for which new names are still admitted."""
_CERTAIN = 3.0  # a designator in common: above all shares


def _mark(word: str) -> str:
    """The index key of a word: its sound, or its spelling where it has too few consonants."""
    key = sound_key(word)
    return f"0{key}" if key else word


def _shares(words: Sequence[str]) -> dict[str, float]:
    """The index keys of a name, each with the share of the name's weight that its word has.

    Weights are squares of rarity, so that a usual word alone brings no name near. The words
    written as one are a key of the whole name.
    """
    weights = {_mark(word): rarity(word) ** 2 for word in words}
    total = sum(weights.values())
    shares = {key: weight / total for key, weight in weights.items()}
    return {**shares, f"={''.join(words)}": 1.0}


def index_tokens(party: Party) -> dict[str, float]:
    """The tokens that index a party's names in a text index, each with the rarity of its word."""
    words = {word for names in (party.names, party.weak) for name in names.words for word in name}
    return {f"~{_mark(word)}": rarity(word) for word in sorted(words)}


class Screening:
    """Collects the nearest entities of each party while entities stream by."""

    def __init__(self, queries: Sequence[Party]) -> None:
        """Index the parties."""
        self._queries = queries
        self._names: list[int] = []
        self._words: dict[str, dict[int, float]] = {}
        self._numbers: dict[str, list[int]] = defaultdict(list)
        self._nearest: list[list[tuple[float, int, str, Party]]] = [[] for _ in queries]
        for i, query in enumerate(queries):
            for number in query.designators:
                self._numbers[number].append(i)
            for words in query.names.words:
                for key, share in _shares(words).items():
                    self._words.setdefault(key, {})[len(self._names)] = share
                self._names.append(i)

    def offer(self, id_: str, candidate: Party) -> None:
        """Offer an entity: each party that it is near keeps it, up to the nearest few."""
        near = {i: _CERTAIN for key in candidate.designators for i in self._numbers.get(key, ())}
        for names in (candidate.names, candidate.weak):
            for words in names.words:
                for i, share in self._neighbours(_shares(words)):
                    near[i] = max(share, near.get(i, 0.0))
        for i, share in near.items():
            self._keep(i, share, id_, candidate)

    def candidates(self, index: int, limit: int) -> list[tuple[str, Party, NameMatch]]:
        """The best matches of one party, at most `limit`; of equal scores the lower id first."""
        matches = {}
        for _, _, id_, candidate in self._nearest[index]:
            match = compare(self._queries[index], candidate)
            if match is not None and match.score >= SCORE_MIN:
                matches[id_] = (id_, candidate, match)
        return sorted(matches.values(), key=lambda row: (-row[2].score, row[0]))[:limit]

    def _neighbours(self, marks: dict[str, float]) -> Iterator[tuple[int, float]]:
        """The indexed names near a name with these marks, with the sum of both shares.

        The rarest marks are looked up first; once little is left, usual marks only add to names
        that were already reached.
        """
        by_count = sorted((len(self._words[key]), key) for key in marks if key in self._words)
        shares: dict[int, float] = {}
        rest = sum(marks[key] for _, key in by_count)
        for _, key in by_count:
            share, names = marks[key], self._words[key]
            for name in names if rest >= _SHARE_MIN else shares.keys() & names.keys():
                shares[name] = shares.get(name, 0.0) + share + names[name]
            rest -= share
        for name, total in shares.items():
            if total >= _SHARES_MIN:
                yield self._names[name], total

    def _keep(self, index: int, share: float, id_: str, candidate: Party) -> None:
        item = (share, -int(id_[4:], 16), id_, candidate)  # of equal ones the lower id is nearer
        push = heappush if len(self._nearest[index]) < NEAREST_MAX else heappushpop
        push(self._nearest[index], item)
